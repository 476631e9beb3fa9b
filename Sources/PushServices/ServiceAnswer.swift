/// The parts of an answer to a request that decide what it means.
public struct ServiceAnswer: Hashable, Sendable {
    /// Whether an answer carries the id of the push.
    public enum Identity: Hashable, Sendable {
        case missing, other, own
    }

    /// The HTTP status.
    public var status: Int
    /// The service's reason; blank when it gave none.
    public var reason: String
    /// Where the id in the answer comes from.
    public var id: Identity
    /// Whether the body was cut off, or is not what a service writes.
    public var isCutOff: Bool
    /// Whether it has an id under which the service keeps what it took
    /// (`PushService.plainlyAccepts`, `AnswerDetails.receipt`).
    public var hasReceipt: Bool

    /// An answer.
    public init(
        status: Int, reason: String = "", id: Identity = .missing, isCutOff: Bool = false, hasReceipt: Bool = false
    ) {
        self.status = status
        self.reason = reason
        self.id = id
        self.isCutOff = isCutOff
        self.hasReceipt = hasReceipt
    }

    /// Whether HTTP itself says that nothing acted on the request: a redirection, or a proxy that
    /// demands credentials (RFC 9110, sections 15.4 and 15.5.8). No push service answers so.
    public var wasNotPassedOn: Bool { (300...399).contains(status) || status == 407 }

    /// What it means if it is not among the answers that the service documents: one rule for all
    /// services.
    ///
    /// A service says why it refuses a push. What has no reason, and not the push's own id either,
    /// is from something in front of it and says nothing about the push; with a reason, it is one
    /// that the service added later.
    var undocumentedMeaning: AnswerMeaning {
        if wasNotPassedOn { return .notTheService }
        if isCutOff { return .maybeTaken }
        let isFromService = !reason.isEmpty || id == .own
        switch status {
        // Whatever counted the bytes: this request is too large for it.
        case 413: return isFromService ? .rejectedLikeAll : .rejected
        case 429: return .retry(.quota)
        // Something in front of the service may have passed the push on.
        case 500...: return .maybeTaken
        // These are about the sender and the path, which are the same for all pushes.
        case 401, 403, 404, 405: return isFromService ? .stop : .notTheService
        case 400..<500: return isFromService ? .rejectedLikeAll : .notTheService
        // Unexpected: 1xx, other 2xx.
        default: return .notTheService
        }
    }
}

/// What an answer means for the pushes of a request and for the run. No answer says more than it
/// says: about this request, about the settings, or about a device that it names.
public enum AnswerMeaning: Hashable, Sendable {
    /// The service accepted the push.
    case accepted
    /// The target is dead, and the service named it. `blamesSettings`: if many are refused this
    /// way, environment or topic is wrong, not the targets.
    case invalidTarget(blamesSettings: Bool)
    /// Permanently refused, this push only.
    case rejected
    /// Permanently refused, for a reason that may lie in the campaign: as every other push would
    /// be, if the run has not had a single one accepted, and otherwise this push only.
    case rejectedLikeAll
    /// Refused because of the settings, as every other push would be: the run stops if it has not
    /// had a single push accepted, or once enough targets in a row are refused so. If others are
    /// accepted in between, this push only is refused.
    case stop
    /// The same for a setting that only some targets need: only a repetition stops the run.
    case stopIfRepeated
    /// Refused because a quota of the day is used up, as every other push is until there is another
    /// one: the run stops, whatever was accepted before, and rejects no push.
    case usedUp
    /// Refused for now; try again later.
    case retry(Retry)
    /// The service did nothing because of another target of the request. Send again at once,
    /// without the targets that the answer settled, or divided if it settled none; this does not
    /// count as an attempt. If the request has a single target, the push is refused permanently,
    /// and a text that several targets do not get on their own is at fault itself.
    case split
    /// Something in front of the service answered, the answer was cut off before its reason, or the
    /// service failed at the request: it may have accepted the push.
    case maybeTaken
    /// Something other than the service answers in its place. It settles no push: the run stops as
    /// for `stop`, or the push is tried again.
    case notTheService
    /// The service dealt with the request, but does not say what it did with this push, which is
    /// not sent again.
    case untold

    /// What a push that was refused for now waits for.
    public enum Retry: Hashable, Sendable {
        /// This device gets too many pushes; the others are not affected.
        case deviceBusy
        /// The service has trouble, which affects all other pushes, too.
        case serviceBusy
        /// The sender has used up what it may send for now: nothing more is sent until its time,
        /// which the answer says or which grows with each such answer. This does not count as an
        /// attempt.
        case quota
        /// The service has trouble and closes the connection: try again on another one.
        case serviceLeaves
        /// The service has trouble at this server, or serves the app at another one: try again
        /// there, if it has one, on another connection.
        case otherServer
        /// The connection was idle for too long: try again on another one, at once.
        case connectionIdle
        /// The credential expired: try again at once, with a new one and on another connection.
        case credentialExpired
    }

    /// Whether the service accepted the push or refused it permanently.
    public var isFinal: Bool {
        switch self {
        case .accepted, .invalidTarget, .rejected, .rejectedLikeAll, .stop, .stopIfRepeated, .usedUp: true
        case .retry, .split, .maybeTaken, .notTheService, .untold: false
        }
    }

    /// Whether the service says that it gets too many pushes at a time. For a single push, 429 does
    /// not tell whether the device gets too many or the service.
    public func isOverload(status: Int) -> Bool {
        switch self {
        case .retry(.deviceBusy): true
        case .retry(.serviceBusy), .maybeTaken: status == 503
        default: false
        }
    }
}

/// A reason that a service documents, and what it means.
struct DocumentedAnswer: Sendable {
    /// The HTTP statuses with which it comes.
    let statuses: ClosedRange<Int>
    /// As run files have it: a code, a word, or what the service says of a target.
    let reason: String
    let meaning: AnswerMeaning
    /// What the report says about it.
    let explanation: String
    /// What to check when this answer stops a run.
    let advice: String?
    /// What `doctor` learns from this answer.
    let probe: ProbeMeaning
    let mayBeClock: Bool

    init(
        _ statuses: ClosedRange<Int>, _ reason: String, _ meaning: AnswerMeaning, explanation: String,
        advice: String? = nil,
        probe: ProbeMeaning, mayBeClock: Bool = false
    ) {
        self.statuses = statuses
        self.reason = reason
        self.meaning = meaning
        self.explanation = explanation
        self.advice = advice
        self.probe = probe
        self.mayBeClock = mayBeClock
    }

    /// A word that comes with one status.
    init(
        _ status: Int, _ reason: String, _ meaning: AnswerMeaning, explanation: String, advice: String? = nil,
        probe: ProbeMeaning,
        mayBeClock: Bool = false
    ) {
        self.init(
            status...status, reason, meaning, explanation: explanation, advice: advice, probe: probe,
            mayBeClock: mayBeClock)
    }

    /// A number that comes with one status.
    init(
        _ status: Int, _ code: Int, _ meaning: AnswerMeaning, explanation: String, advice: String? = nil,
        probe: ProbeMeaning,
        mayBeClock: Bool = false
    ) {
        self.init(
            status...status, String(code), meaning, explanation: explanation, advice: advice, probe: probe,
            mayBeClock: mayBeClock)
    }

    /// The lowest of its statuses, which for most is the only one.
    var status: Int { statuses.lowerBound }

    /// What the report says.
    var words: ReasonWords { ReasonWords(explanation: explanation, meaning: meaning, mayBeClock: mayBeClock) }
}

/// The reasons that a service documents, each once.
struct AnswerTable: Sendable {
    private let byReason: [String: DocumentedAnswer]
    /// Those that only dead targets cause, in the order of the rows.
    let gone: [String]
    /// Those that blame a target, although wrong settings cause them for all targets.
    let blaming: Set<String>

    init(_ rows: [DocumentedAnswer]) {
        byReason = Dictionary(uniqueKeysWithValues: rows.map { ($0.reason, $0) })
        gone = rows.filter { $0.meaning == .invalidTarget(blamesSettings: false) }.map(\.reason)
        blaming = Set(rows.filter { $0.meaning == .invalidTarget(blamesSettings: true) }.map(\.reason))
    }

    /// The row of a reason, whatever its status.
    subscript(reason: String) -> DocumentedAnswer? { byReason[reason] }

    /// The row of a reason, if it came with a status of its own.
    subscript(status: Int, reason: String) -> DocumentedAnswer? {
        guard let row = byReason[reason], row.statuses.contains(status) else { return nil }
        return row
    }
}

extension ProbeMeaning {
    /// What a status says without a reason, with most services.
    init(status: Int) {
        self =
            switch status {
            case 200: .fine
            case 401, 403: .wrongCredentials
            case 429, 500...: .busy
            default: .notTheService
            }
    }
}

/// Advice that several services give. It must not lead to a plan for all again: the devices of
/// other services would get the push twice.
extension DocumentedAnswer {
    /// What follows where the message is wrong: the end of a sentence.
    static let planAgain =
        "plan again without those whom this run has reached: a run keeps the message that it was planned with."
    static let correctContent = "Correct the campaign's content, and \(planAgain)"
    static let correctAppKey =
        "A run keeps the app key and the region that it was planned with: if one of them was wrong, correct it and resume the run, which then says "
        + "how to reach the rest."
}
