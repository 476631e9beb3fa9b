public import Cryptography

/// How the simulator behaves.
public struct SimulatorConfiguration: Sendable {
    /// A loopback port; 0 for a free one.
    public var port = 0
    /// The server's certificate; nil for one that is made for `localhost`, 127.0.0.1 and ::1 at every start, with an authority of its own.
    public var certificate: IssuedCertificate?
    /// Keys that may sign provider tokens.
    public var keys: [TrustedKey] = []
    /// Whether a client certificate (from the simulator's own authority, or `clientAuthorityFile`) may stand in for a provider token.
    public var acceptsClientCertificates = true
    /// A PEM with the authority of client certificates; nil accepts any certificate that TLS can read.
    public var clientAuthorityFile: String?
    /// Bundle ids that exist; empty accepts every well-formed topic.
    public var topics: [String] = []
    /// Tokens (lower-case hex) that belong to one bundle id: a push under another is answered DeviceTokenNotForTopic. All others belong to
    /// every topic.
    public var tokenTopics: [String: String] = [:]
    /// How far the 20-minute rule for provider tokens reaches.
    public var tokenUpdateScope = TokenUpdateScope.connection
    /// Writes a line per request; nil for none. The lines hold whole device tokens, on purpose: they are what a test measures a sender
    /// against.
    public var ledgerFile: String?
    /// Whether the lines of `ledgerFile` hold the payloads too.
    public var recordsPayloads = false
    /// What goes wrong.
    public var faults = SimulatorFaults()

    /// A well-behaved simulator on a free port.
    public init() {}
}

/// Across what a second provider token of the same key, issued less than 20 minutes after the first, is answered
/// TooManyProviderTokenUpdates.
public enum TokenUpdateScope: Hashable, Sendable {
    /// Among the pushes of one connection: what a sender that was stopped and started again within 20 minutes must be able to pass.
    case connection
    /// Among all pushes that a simulator ever sees: for checking that one process keeps one history of tokens for all its connections.
    case simulator
}

/// A public key that may sign provider tokens.
public struct TrustedKey: Sendable {
    /// Header `kid`.
    public var keyID: String
    /// Claim `iss`.
    public var teamID: String
    /// Verifies the signature.
    public var key: VerificationKey

    /// A trusted key.
    public init(keyID: String, teamID: String, key: VerificationKey) {
        self.keyID = keyID
        self.teamID = teamID
        self.key = key
    }
}
