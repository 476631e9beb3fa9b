/// Why a run stopped before its end: a fact with its values. The sentence about it is made where it is shown.
public enum StopCause: Hashable, Sendable {
    /// What a push service, by its name in run files, answered.
    case service(String, ServiceStop)
    /// No connection to a push service, by its name in run files, can be had any more.
    case connection(service: String, ConnectionStop)
    /// More answers were of an outcome than the campaign's `delivery.stop_when` allows.
    case limit(service: String, PassedLimit)
    /// The run's records, or the right to send it.
    case ledger(LedgerStop)
    /// Nothing more was sent, for want of something of this machine: an error's words.
    case notSent(String)
    /// Ctrl-C or SIGTERM.
    case interrupted
    /// `volley cancel`.
    case cancelled
    /// In words only: an error's, or those that an older version recorded.
    case described(String)
}

/// What a push service answered when a run stopped.
public enum ServiceStop: Hashable, Sendable {
    /// A push was refused as all others would be.
    /// - clockLagSeconds: by which this machine's clock is behind the server's; nil when they agree, or nobody knows.
    case refused(reason: String, status: Int, clockLagSeconds: Double?)
    /// A client certificate is taken no longer.
    case certificateExpired(reason: String)
    /// A signed token is called expired, and the service takes no newer one yet.
    /// - ageSeconds: of the token, by a clock that does not jump; nil when nobody knows.
    case tokenExpired(ageSeconds: Double?, clockLagSeconds: Double?)
    /// Something else answers in the service's place.
    case notTheService(status: Int)
    /// The server speaks another protocol than the service.
    case notHTTP2(endpoint: String)
    /// The service took nothing for so long.
    case outage(lastReason: String, seconds: Double)
    /// Most targets are refused, while the run is sent.
    case mostTargetsRefused(lastReason: String)
    /// Most targets were refused, at the run's end.
    case targetsRefused(reason: String, TargetRefusals)
    /// Most pushes are refused for good.
    case mostRejected(lastReason: String)
}

/// Refusals that blame settings, at a run's end.
public struct TargetRefusals: Hashable, Sendable {
    /// Targets that were refused so.
    public var refused: Int
    /// Answers among which that was counted, at least `refused`.
    public var answers: Int
    /// These are the answers since others were accepted.
    public var isSinceOthersWereAccepted: Bool
    /// Pushes that were accepted, in all.
    public var accepted: Int

    /// - Parameter evidence: blames the settings.
    public init(_ evidence: RunEvidence) {
        let blaming = evidence.settingsEvidence ?? evidence.all
        self.init(
            refused: blaming.ambiguous, answers: blaming.answers, isSinceOthersWereAccepted: blaming != evidence.all,
            accepted: evidence.all.accepted)
    }

    /// Refusals.
    public init(refused: Int, answers: Int, isSinceOthersWereAccepted: Bool, accepted: Int) {
        self.refused = refused
        self.answers = answers
        self.isSinceOthersWereAccepted = isSinceOthersWereAccepted
        self.accepted = accepted
    }
}

/// Why no connection can be had, each with the cause that the system or a library gave.
public enum ConnectionStop: Hashable, Sendable {
    /// The server's certificate is not to be trusted.
    case serverNotTrusted(endpoint: String, cause: String)
    /// The server refused the client certificate during the handshake.
    case certificateRefused(endpoint: String, cause: String)
    /// This machine's own settings cannot work.
    case misconfigured(endpoint: String, cause: String)
    /// The proxy asks for other credentials.
    case proxyCredentials(proxy: String, cause: String)
    /// The proxy does not allow this server.
    case proxyForbids(proxy: String, endpoint: String, cause: String)
    /// The proxy's certificate is not to be trusted.
    case proxyNotTrusted(proxy: String, cause: String)
    /// None of the attempts got through.
    case unreachable(Destination, attempts: Int, cause: String)
    /// It was there once.
    case lost(Destination, cause: String)

    /// Where a connection leads.
    public struct Destination: Hashable, Sendable {
        /// `host:port`.
        public var endpoint: String
        /// `host:port` of the proxy on the way; nil for none.
        public var proxy: String?
        /// The server may refuse a client certificate by closing the connection.
        public var usesCertificate: Bool

        /// A destination.
        public init(endpoint: String, proxy: String?, usesCertificate: Bool) {
            self.endpoint = endpoint
            self.proxy = proxy
            self.usesCertificate = usesCertificate
        }
    }
}

/// A limit of `delivery.stop_when`, and what passed it.
public struct PassedLimit: Hashable, Sendable {
    /// `invalidToken`, `rejected` or `failed`.
    public var outcome: Outcome
    /// Answers of this outcome.
    public var count: Int
    /// All answers.
    public var answers: Int
    /// What the campaign allows.
    public var limit: StopShare
    /// The service's last reason of this outcome.
    public var lastReason: String

    /// A limit that was passed.
    public init(outcome: Outcome, count: Int, answers: Int, limit: StopShare, lastReason: String) {
        self.outcome = outcome
        self.count = count
        self.answers = answers
        self.limit = limit
        self.lastReason = lastReason
    }
}

/// What became of a run's records, or of the right to send it.
public enum LedgerStop: Hashable, Sendable {
    /// The record cannot be read or written: an error's words.
    case unusable(String)
    /// How it ended could not be recorded.
    case endNotRecorded(String)
    /// Outcomes could not be recorded.
    case recordingFailed(String)
    /// Claims could not be noted beside the run.
    case claimNotNoted(String)
    /// Recipients could not be read or claimed.
    case readingFailed(String)
    /// That it began could not be noted beside it.
    case beginNotNoted
    /// Another process took over while this one stood still.
    case takenOver
    /// The run's file was removed or replaced.
    case fileLost(String, during: RunActivity)
    /// A file that the run's account needs was removed or replaced.
    case accountFileLost(String, during: RunActivity)
    /// The lock was removed, and another process took it: an error's words.
    case lockLost(String, during: RunActivity)
    /// The process that sent it is gone.
    case processGone
}

/// What a process does with a run that it may send.
public enum RunActivity: String, CaseIterable, Hashable, Sendable {
    case sending, paused, waiting
}
