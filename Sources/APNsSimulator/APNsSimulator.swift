public import Base
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
    /// Writes a line per request; nil for none.
    public var ledgerFile: String?
    /// What goes wrong.
    public var faults = SimulatorFaults()

    /// A well-behaved simulator on a free port.
    public init() {}
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
public struct SimulatorFaults: Sendable {
    /// Tokens that get a fixed answer (lower-case hex): `400 BadDeviceToken`, `410 Unregistered`, ….
    public var answers: [String: SimulatedAnswer] = [:]
    /// Streams allowed once the first push was accepted.
    public var streamLimit = 1000
    /// Streams allowed before that.
    public var firstStreamLimit = 1
    /// Answers are held back this long.
    public var latencyMilliseconds = 0
    /// Every n-th push that would be accepted is answered 429, 503 or 500 instead; 0 for never.
    public var tooManyRequestsEvery = 0, unavailableEvery = 0, internalErrorEvery = 0
    /// Every n-th push is accepted but never answered; 0 for never.
    public var silentEvery = 0
    /// After so many pushes on a connection it is closed with GOAWAY; 0 for never.
    public var goAwayEvery = 0
    /// After so many pushes on a connection it is cut without a word; 0 for never.
    public var disconnectEvery = 0
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

/// What a simulator saw, in figures.
public struct LedgerSummary: Hashable, Sendable {
    /// Requests that were answered or swallowed.
    public var requests = 0
    /// Requests accepted, answered or not.
    public var accepted = 0
    /// Distinct tokens among the accepted.
    public var acceptedTokens = 0
    /// Tokens accepted more than once under different apns-ids, and under the same.
    public var repeatedTokens = 0, repeatedIDs = 0
    /// Refusals by reason.
    public var reasons: [String: Int] = [:]
    /// The most requests accepted in any second of the clock.
    public var peakPerSecond = 0

    /// Nothing seen.
    public init() {}
}

/// A strict stand-in for APNs on a loopback port, on a thread of its own.
public final class APNsSimulator: Sendable {
    /// Makes a certificate authority and a server certificate for `localhost`, 127.0.0.1 and ::1, binds the port and starts serving.
    /// - Throws: a `Diagnostic`: the port is taken, the ledger cannot be written.
    public init(_ configuration: SimulatorConfiguration) throws(Diagnostic) { fatalError("skeleton") }
    /// The port it listens on.
    public var port: Int { fatalError("skeleton") }
    /// The authority's certificate, PEM.
    public var certificateAuthorityPEM: String { fatalError("skeleton") }
    /// What it saw so far.
    public var summary: LedgerSummary { fatalError("skeleton") }
    /// Closes all connections, writes the ledger to its end, and waits for the thread.
    public func stop() -> LedgerSummary { fatalError("skeleton") }
}
