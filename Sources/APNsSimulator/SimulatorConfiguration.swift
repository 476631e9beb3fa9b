public import Cryptography

/// How the simulator behaves.
public struct SimulatorConfiguration: Sendable {
    /// A loopback port; 0 for a free one.
    public var port = 0
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

/// What goes wrong, on purpose.
///
/// Besides these, tokens with certain first eight digits always meet their fate (`TokenRules`), so that any export with such tokens shows
/// every kind of outcome in its report.
public struct SimulatorFaults: Sendable {
    /// Tokens that get a fixed answer (lower-case hex): `400 BadDeviceToken`, `410 Unregistered`, ….
    public var answers: [String: SimulatedAnswer] = [:]
    /// Streams allowed once the first push was accepted.
    public var streamLimit = 1000
    /// Streams allowed before that. With a client certificate the full limit holds at once.
    public var firstStreamLimit = 1
    /// After so many rejections on a connection the stream limit falls back to `firstStreamLimit`, until the next accepted push; 0 for
    /// never.
    public var streamLimitFallsBackAfterRejections = 0
    /// Answers are held back this long.
    public var latencyMilliseconds = 0
    /// Every n-th push that would be accepted is answered 429, 503 or 500 instead; 0 for never.
    public var tooManyRequestsEvery = 0, unavailableEvery = 0, internalErrorEvery = 0
    /// Every n-th push is accepted but never answered; 0 for never.
    public var silentEvery = 0
    /// Every n-th push that would be accepted is reset with REFUSED_STREAM, unprocessed; 0 for never.
    public var refusedStreamEvery = 0
    /// After so many pushes on a connection it is closed with GOAWAY: the last of them is the last stream that was processed. 0 for never.
    public var goAwayEvery = 0
    /// After so many pushes on a connection it is cut without a word, the last of them accepted and unanswered; 0 for never.
    public var disconnectEvery = 0
    /// After so many rejections on a connection (4xx but for 410 and 429, which are no error of the sender) it is closed with GOAWAY; 0 for
    /// never. APNs does the same after a number that Apple does not publish.
    public var rejectionsBeforeGoAway = 1000
    /// A connection without a request for so long is closed with GOAWAY and the reason IdleTimeout, in seconds; 0 for never.
    public var idleTimeoutSeconds = 0
    /// Header retry-after in seconds on 429 and 503; nil for none.
    public var retryAfterSeconds: Int?

    /// None.
    public init() {}
}

/// A fixed answer for a token.
public struct SimulatedAnswer: Hashable, Sendable {
    /// HTTP status.
    public var status: Int
    /// APNs' reason; empty for 200.
    public var reason: String
    /// How many pushes get it before the token works; nil for always.
    public var times: Int?

    /// A fixed answer.
    public init(status: Int, reason: String, times: Int? = nil) {
        self.status = status
        self.reason = reason
        self.times = times
    }
}
