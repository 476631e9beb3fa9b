public import Cryptography

/// The settings of the simulator.
public struct SimulatorConfiguration: Sendable {
    /// The loopback port; 0 for a free one.
    public var port = 0
    /// The server's certificate; nil makes one for `localhost`, 127.0.0.1 and ::1 at every start,
    /// with a new authority.
    public var certificate: IssuedCertificate?
    /// The keys that may sign provider tokens.
    public var keys: [TrustedKey] = []
    /// Whether a client certificate may replace a provider token. `clientAuthorityFile` says which
    /// certificates are accepted.
    public var acceptsClientCertificates = true
    /// A PEM file with the authority of client certificates; nil accepts any certificate that TLS
    /// can read.
    public var clientAuthorityFile: String?
    /// The bundle ids that exist; empty accepts every well-formed topic.
    public var topics: [String] = []
    /// Device tokens (lower-case hex) that belong to one bundle id: a push under another gets
    /// DeviceTokenNotForTopic. All other tokens belong to every topic.
    public var tokenTopics: [String: String] = [:]
    /// The scope of the 20-minute rule for provider tokens.
    public var tokenUpdateScope = TokenUpdateScope.connection
    /// The file that gets a line per request; nil for none. The lines contain whole device tokens
    /// on purpose: tests compare a sender's results with them.
    public var ledgerFile: String?
    /// Whether the lines of `ledgerFile` contain the payloads too.
    public var recordsPayloads = false
    /// The secrets that may send, where a service gives apps a secret text.
    public var secrets: [TrustedSecret] = []
    /// Whether every well-formed id is a broadcast channel, and not only those that were made here.
    public var knowsAllChannels = false
    /// Whether the apps have paid for what a service gives only to apps that have.
    public var isPaid = false
    /// Whether apps that have not paid may send to tags, where a service may give them only to apps
    /// that have.
    public var takesTags = true
    /// How many pushes to everyone (with Getui also to tags) are taken in a day, where a service
    /// limits them; nil for as many as the service takes.
    public var broadcastsPerDay: Int?
    /// The same for a minute; 0 for any number.
    public var broadcastsPerMinute: Int?
    /// What only simulators of services have that give out tokens.
    public var issuer = IssuerSettings()
    /// Whether the simulator speaks HTTP/1.1 alone, where its service also speaks HTTP/2.
    public var speaksOnlyHTTP1 = false
    /// The faults.
    public var faults = SimulatorFaults()

    /// A well-behaved simulator on a free port.
    public init() {}
}

/// The scope of the 20-minute rule: where a second provider token of the same key, issued less than
/// 20 minutes after the first, gets TooManyProviderTokenUpdates.
public enum TokenUpdateScope: Hashable, Sendable {
    /// Among the pushes of one connection. A sender that is restarted within 20 minutes must pass
    /// this.
    case connection
    /// Among all pushes that a simulator sees. This checks that one process keeps one history of
    /// tokens for all its connections.
    case simulator
}

/// A secret text that a service gave an app.
public struct TrustedSecret: Hashable, Sendable {
    /// What the service calls the app: what volley.yaml names first in its account.
    public var app: String
    /// Public names that belong to the secret, by their keys in volley.yaml.
    public var names: [String: String]
    /// A secret.
    public var secret: String

    /// A trusted secret.
    public init(app: String, names: [String: String] = [:], secret: String) {
        self.app = app
        self.names = names
        self.secret = secret
    }
}

/// A public key that may sign provider tokens.
public struct TrustedKey: Sendable {
    /// The header `kid`.
    public var keyID: String
    /// The claim `iss`.
    public var teamID: String
    /// The public key that verifies the signature.
    public var key: VerificationKey

    /// A trusted key.
    public init(keyID: String, teamID: String, key: VerificationKey) {
        self.keyID = keyID
        self.teamID = teamID
        self.key = key
    }
}
