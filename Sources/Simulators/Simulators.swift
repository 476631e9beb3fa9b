public import Base
public import Cryptography

/// The stand-ins for push services. They do not use `PushServices`: the judge must not share tables
/// with the code that it judges.
public enum Simulators {
    /// All stand-ins. This is the only place that lists them.
    public static let all = [StandIn.apns, .fcm, .getui, .jpush, .rongcloud]

    /// The stand-in for the service of apps when their project does not name one.
    public static let standard = all[0]

    /// The stand-in for the service with this name; nil if no service has it.
    public static func named(_ service: String) -> StandIn? { all.first { $0.service == service } }
}

/// What a sender without a credential of its own shows a stand-in.
public enum StandInCredential: Sendable {
    /// A key that signs provider tokens, with its key ID and team ID.
    case signingKey(keyID: String, teamID: String)
    /// A service account for a project.
    case serviceAccount(project: String)
    /// A secret text for an app, with the public names that belong to it: all by their keys in
    /// volley.yaml, in the order of the account.
    case secret(app: StandInName, names: [StandInName], key: String)
}

/// A public name of an app that exists at a stand-in.
public struct StandInName: Hashable, Sendable {
    /// Its key in volley.yaml.
    public let key: String
    /// The name.
    public let value: String

    /// A name.
    public init(_ key: String, _ value: String) {
        self.key = key
        self.value = value
    }
}

/// A kind of simulator, with its description for people.
public struct StandIn: Sendable {
    /// The name of the service that it stands in for.
    public let service: String
    /// The service's name in sentences.
    public let displayName: String
    /// How it treats credentials and targets, in whole sentences.
    public let rules: String
    /// The credential that it trusts when the project has none.
    public let credential: StandInCredential
    /// The file that this credential is written to.
    public let keyFile: String
    /// Whether targets that differ only in upper and lower case are the same.
    public let ignoresCase: Bool
    /// Its answers for targets that no longer exist, and for targets that never existed; nil for a
    /// service that never says so.
    public let gone: SimulatedAnswer?, unknown: SimulatedAnswer?
    /// Whether it counts what it takes in a minute, and may be told how much
    /// (`IssuerSettings.messagesPerMinute`).
    public var isLimited = false
    /// Whether its refusals have details that may be missing (`IssuerSettings.errorDetails`).
    public var mayLackDetails = false
    /// Whether it keeps audiences: tags, and everyone (`SimulatorConfiguration.takesTags`,
    /// `broadcastsPerDay`).
    public var hasOwnAudiences = false
    /// Whether it limits pushes to everyone and to tags in a minute
    /// (`SimulatorConfiguration.broadcastsPerMinute`).
    public var limitsBroadcastsPerMinute = false
    /// Whether it gives out tokens for a time.
    public var givesOutTokens = false
    /// Whether it keeps texts of lists, and may be told when to forget them
    /// (`IssuerSettings.listsPerTask`).
    public var keepsTasks = false
    /// Whether its limit of streams rises with the first accepted push, a connection ends after
    /// many refusals, and clients may show certificates, as at APNs alone.
    var guardsConnections = false
    /// Makes the rules for a server at a port. They belong to the server's thread.
    let makeRules: @Sendable (_ configuration: SimulatorConfiguration, _ port: Int) -> sending any ServiceRules

    /// Makes a certificate authority and a server certificate unless the configuration has one,
    /// binds the port and starts serving.
    /// - Throws: a `Diagnostic` if the port is in use, the ledger cannot be written, or no thread
    ///   can be started.
    public func start(_ configuration: SimulatorConfiguration) throws(Diagnostic) -> ServiceSimulator {
        var configuration = configuration
        if !guardsConnections {
            configuration.faults.firstStreamLimit = configuration.faults.streamLimit
            configuration.faults.rejectionsBeforeGoAway = 0
            configuration.acceptsClientCertificates = false
        }
        let settled = configuration
        return try ServiceSimulator(settled) { makeRules(settled, $0) }
    }

    /// The key ID and team ID of the signing key that it trusts; empty if it trusts another kind of
    /// credential.
    public var keyID: String { signingKeyNames.keyID }
    /// See `keyID`.
    public var teamID: String { signingKeyNames.teamID }

    private var signingKeyNames: (keyID: String, teamID: String) {
        if case .signingKey(let keyID, let teamID) = credential { (keyID, teamID) } else { ("", "") }
    }
}

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
