/// How sending a run, or a part of it, ended.
public enum RunEnd: Hashable, Sendable {
    /// Every push is settled.
    case finished
    /// It would have been wrong to continue. What was not on the wire is unsent.
    case stopped(StopCause)
    /// Ctrl-C or SIGTERM; of a part of a run, also a pause or the beginning of quiet hours. A
    /// person resumes an interrupted run.
    case interrupted
    /// `volley cancel`. A part of a run is interrupted then.
    case cancelled
}

/// Why a run stopped before its end: a fact with its values. The sentence about it is made where it
/// is shown.
public enum StopCause: Hashable, Sendable {
    /// An answer of a push service, which is named as in run files.
    case service(String, ServiceStop)
    /// No connection to a push service is possible any more. The service is named as in run files.
    case connection(service: String, ConnectionStop)
    /// More answers had an outcome than the campaign's `delivery.stop_when` allows.
    case limit(service: String, ExceededLimit)
    /// Some of the run's services stopped, and the others were sent to until their end.
    case services(PartialStop)
    /// A problem with the run's records, or with the right to send it.
    case ledger(LedgerStop)
    /// Nothing more was sent, because this machine lacks something: an error's words.
    case notSent(String)
    /// Ctrl-C or SIGTERM.
    case interrupted
    /// `volley cancel`.
    case cancelled
    /// A person looked at the plan and did not approve it; with the name and what was said.
    case rejected(by: String, reason: String)
    /// Known only in words: an error's, or those that an older version recorded.
    case described(String)
}

extension StopCause {
    /// Whether the store can no longer tell which recipients were sent a push
    /// (`LedgerStop.isForgetting`).
    public var isForgetting: Bool { if case .ledger(let stop) = self { stop.isForgetting } else { false } }

    /// Whether it concerns one service only, so that the others of a run can go on.
    public var isOfService: Bool {
        switch self {
        case .service, .connection, .limit: true
        case .services, .ledger, .notSent, .interrupted, .cancelled, .rejected, .described: false
        }
    }
}

extension StopCause {
    /// Until when the service takes no pushes, as it said; nil when it did not, and in a run that
    /// stopped for other reasons.
    public var heldUntil: Timestamp? { if case .service(_, .quotaUsedUp(_, let until)) = self { until } else { nil } }
}

/// The services of a run that stopped while others went on.
public struct PartialStop: Hashable, Sendable {
    /// A service, named as in run files, and why it stopped.
    public struct Stop: Hashable, Sendable {
        /// The service's name.
        public var service: String
        /// Why it stopped.
        public var cause: StopCause

        /// A stop.
        public init(service: String, cause: StopCause) { (self.service, self.cause) = (service, cause) }
    }

    /// Those that stopped, in the order of the run's services.
    public var stopped: [Stop]
    /// Those that were sent to until their end, named as in run files.
    public var finished: [String]

    /// A partial stop.
    public init(stopped: [Stop], finished: [String]) { (self.stopped, self.finished) = (stopped, finished) }
}

/// The answer of a push service that stopped a run.
public enum ServiceStop: Hashable, Sendable {
    /// A push was refused, as all others would be.
    /// - clockLagSeconds: how far this machine's clock is behind the server's; nil if they agree,
    ///   or if it is unknown.
    case refused(reason: String, status: Int, clockLagSeconds: Double?)
    /// A client certificate is no longer accepted.
    case certificateExpired(reason: String)
    /// What volley.yaml names cannot be used, so no request was made to the service: a missing
    /// file, for example.
    /// - because: an error's words, which end without a full stop or with a remedy.
    case credentialsUnusable(because: String)
    /// The service calls a signed token expired, but does not accept a newer one yet.
    /// - ageSeconds: the token's age, by a clock that does not jump; nil if unknown.
    case tokenExpired(ageSeconds: Double?, clockLagSeconds: Double?)
    /// The service refuses to give out names for requests, without which none leaves.
    case namesRefused(reason: String, status: Int)
    /// No name was given out for this long.
    case namesMissing(lastTrouble: String, seconds: Double)
    /// The server that gives out tokens refuses to give another one.
    case tokenRefused(reason: String, status: Int, clockLagSeconds: Double?)
    /// No token was given out for this long.
    case tokenMissing(lastTrouble: String, seconds: Double)
    /// Something else answers in place of the service.
    case notTheService(status: Int)
    /// The server does not speak the service's protocol.
    case notHTTP2(endpoint: String)
    /// The service accepted nothing for this long.
    case outage(lastReason: String, seconds: Double)
    /// The quota is used up for longer than a run waits; the service says until when.
    case quotaUsedUp(reason: String, until: Timestamp)
    /// Most targets are refused, while the run is being sent.
    case mostTargetsRefused(lastReason: String)
    /// Most targets were refused, at the end of the run.
    case targetsRefused(reason: String, TargetRefusals)
    /// Most pushes are permanently refused.
    case mostRejected(lastReason: String)
}

/// Refusals that point at the settings, at the end of a run.
public struct TargetRefusals: Hashable, Sendable {
    /// Targets that were refused.
    public var refused: Int
    /// The answers among which they were counted, at least `refused`.
    public var answers: Int
    /// Whether these are only the answers since other pushes were accepted.
    public var isSinceOthersWereAccepted: Bool
    /// All pushes that were accepted.
    public var accepted: Int

    /// - Parameter evidence: points at the settings.
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

/// Why no connection is possible, with the cause that the system or a library gave.
public enum ConnectionStop: Hashable, Sendable {
    /// The server's certificate is not trusted.
    case serverNotTrusted(endpoint: String, cause: String)
    /// The server refused the client certificate during the handshake.
    case certificateRefused(endpoint: String, cause: String)
    /// This machine's own settings cannot work.
    case misconfigured(endpoint: String, cause: String)
    /// The proxy requires other credentials.
    case proxyCredentials(proxy: String, cause: String)
    /// The proxy does not allow this server.
    case proxyForbids(proxy: String, endpoint: String, cause: String)
    /// The proxy's certificate is not trusted.
    case proxyNotTrusted(proxy: String, cause: String)
    /// None of the attempts got through.
    case unreachable(Destination, attempts: Int, cause: String)
    /// There was a connection before.
    case lost(Destination, cause: String)

    /// Where a connection leads.
    public struct Destination: Hashable, Sendable {
        /// `host:port`.
        public var endpoint: String
        /// `host:port` of the proxy in between; nil for none.
        public var proxy: String?
        /// Whether a client certificate is used: the server may refuse one by closing the
        /// connection.
        public var usesCertificate: Bool

        /// A destination.
        public init(endpoint: String, proxy: String?, usesCertificate: Bool) {
            self.endpoint = endpoint
            self.proxy = proxy
            self.usesCertificate = usesCertificate
        }
    }
}

/// A limit of `delivery.stop_when`, and the answers that passed it.
public struct ExceededLimit: Hashable, Sendable {
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

/// What happened to a run's records, or to the right to send it.
public enum LedgerStop: Hashable, Sendable {
    /// The record cannot be read or written: an error's words.
    case unusable(String)
    /// The end of the run could not be recorded.
    case endNotRecorded(String)
    /// Outcomes could not be recorded.
    case recordingFailed(String)
    /// Claims could not be noted next to the run.
    case claimNotNoted(String)
    /// Recipients could not be read or claimed.
    case readingFailed(String)
    /// The beginning of the run could not be noted next to it.
    case beginNotNoted
    /// Another process took over while this one was suspended.
    case takenOver
    /// The run's file was removed or replaced.
    case fileLost(String, during: RunActivity)
    /// A file that the run's records need was removed or replaced.
    case accountFileLost(String, during: RunActivity)
    /// The lock was removed, and another process took it: an error's words.
    case lockLost(String, during: RunActivity)
    /// The process that sent it is gone.
    case processGone
    /// The store that machines share has forgotten entries that it had confirmed: how many, as far
    /// as is known.
    case forgotten(entries: Int)
    /// The store's database restarted, and no process that had sent before was left to tell whether
    /// something is missing in it.
    case unwitnessed

    /// Whether the store can no longer tell which recipients were sent a push. If the run
    /// continues, it does so without the store.
    public var isForgetting: Bool {
        switch self {
        case .forgotten, .unwitnessed: true
        case .unusable, .endNotRecorded, .recordingFailed, .claimNotNoted, .readingFailed, .beginNotNoted, .takenOver,
            .fileLost,
            .accountFileLost, .lockLost, .processGone:
            false
        }
    }
}

/// What a process does while it has the right to send a run.
public enum RunActivity: String, CaseIterable, Hashable, Sendable {
    case sending, paused, waiting
}

/// How large the share of answers with a bad outcome may become before a run stops: a campaign's
/// `delivery.stop_when`.
///
/// ```swift
/// var limits = StopLimits()
/// limits.shares[.rejected] = StopShare(millionths: 20_000)
/// let stops = limits.isPassed(by: [.accepted: 950, .rejected: 50])  // true
/// ```
public struct StopLimits: Hashable, Sendable {
    /// How many answers are needed if the campaign names no number.
    public static let usualAnswers = 1000

    /// The limits, for `invalidToken`, `rejected` and `failed`; no limit for the others. A run
    /// stops when a share is greater.
    public var shares: [Outcome: StopShare] = [:]
    /// The number of answers before the limit applies, at least 1.
    public var after = usualAnswers

    /// No limits yet.
    public init() {}

    /// Whether the answers exceed a limit, if there are enough of them.
    public func isPassed(by outcomes: [Outcome: Int]) -> Bool {
        let answers = [.accepted, .invalidToken, .rejected, .failed].reduce(0) { $0 + outcomes[$1, default: 0] }
        return answers >= after && shares.contains { $0.value.isPassed(by: outcomes[$0.key, default: 0], of: answers) }
    }

    /// The outcomes that may have a limit.
    public static let outcomes: [Outcome] = [.invalidToken, .rejected, .failed]
}

/// A share in millionths, so that no rounding decides whether it is passed.
public struct StopShare: Hashable, Sendable, CustomStringConvertible {
    /// 1 (0.0001 %) to 1,000,000 (100 %).
    public var millionths: Int

    /// A share in millionths.
    public init(millionths: Int) { self.millionths = millionths }

    /// Whether `part` of `whole` is more than this share.
    public func isPassed(by part: Int, of whole: Int) -> Bool { part * 1_000_000 > millionths * whole }

    /// As written in a campaign: `20%`, `0.5%`.
    public var description: String {
        let whole = millionths / 10_000
        var decimals = String(10_000 + millionths % 10_000).dropFirst()
        while decimals.last == "0" { decimals.removeLast() }
        return decimals.isEmpty ? "\(whole)%" : "\(whole).\(decimals)%"
    }
}
