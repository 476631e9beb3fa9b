import Base

/// Notices when the service as a whole has trouble. Then the whole audience does not use up its
/// attempts, and no push fails while none is taken.
///
/// A push is *taken* when the service accepts it or refuses it for good.
struct ServiceHealth {
    /// How many refusals in a row mean trouble.
    private static let threshold = 100
    /// How many pushes are tried at a time while there is trouble.
    static let pushesTriedInTrouble = 100
    /// How many pushes may fail in a row although none was taken since they were first sent: the
    /// cause may be their devices.
    private static let toleratedFailures = 3
    /// After this many doubtful answers in a row pushes are tried one at a time; after the first
    /// one as long as no push was ever taken. Each may reach a device without Volley ever learning
    /// of it.
    private static let toleratedDoubts = 10

    private var refusalsInARow = 0
    private var failuresInARow = 0
    private var doubtsInARow = 0
    /// How many of the doubtful answers in a row were to pushes that left after the one before had
    /// come. Those that were on their way together, on a connection that was cut for example, count
    /// once. The wait before the next push is tried grows with it.
    private(set) var doubtfulTries = 0
    private var doubtedAt = Int64.min
    private var takenAt: Int64?
    /// When the trouble began, in monotonic nanoseconds.
    private(set) var troubleSince: Int64?
    /// Since when a push is kept that would otherwise have failed, or pushes are tried one at a
    /// time: monotonic nanoseconds.
    private var outageSince: Int64?

    /// Since when the service has apparently taken nothing, in monotonic nanoseconds; nil while it
    /// takes pushes.
    var lastsSince: Int64? {
        guard let troubleSince, let outageSince else { return troubleSince ?? outageSince }
        return min(troubleSince, outageSince)
    }

    /// How many answers in a row indicate that pushes should be tried one at a time; 0 while they
    /// need not be.
    var probes: Int { max(0, doubtsInARow - (takenAt == nil ? 0 : Self.toleratedDoubts)) }

    mutating func taken(at nanoseconds: Int64) {
        answered()
        takenAt = nanoseconds
        failuresInARow = 0
        outageSince = nil
    }

    /// Notes that the service is up, though it did not take this push.
    mutating func answered() {
        refusalsInARow = 0
        doubtsInARow = 0
        doubtfulTries = 0
        troubleSince = nil
    }

    mutating func refused(at nanoseconds: Int64) {
        refusalsInARow += 1
        if refusalsInARow >= Self.threshold, troubleSince == nil { troubleSince = nanoseconds }
    }

    /// Notes a push that was refused, or answered by something that cannot speak for the service:
    /// the service may have taken it.
    /// - Parameter submittedAt: when the push left, in monotonic nanoseconds.
    mutating func doubted(submittedAt: Int64, at nanoseconds: Int64) {
        refused(at: nanoseconds)
        doubtsInARow += 1
        if submittedAt > doubtedAt { (doubtfulTries, doubtedAt) = (doubtfulTries + 1, nanoseconds) }
        if probes > 0, outageSince == nil { outageSince = nanoseconds }
    }

    /// Does not count a time in which nothing was tried as the service's trouble.
    mutating func excuse(_ nanoseconds: Int64) {
        troubleSince = troubleSince.map { $0 + nanoseconds }
        outageSince = outageSince.map { $0 + nanoseconds }
    }

    /// Returns whether a push may fail after its attempts are used up, and counts it if so.
    /// - Parameter firstSubmitted: when its first attempt began, in monotonic nanoseconds.
    mutating func mayFail(firstSubmitted: Int64, at nanoseconds: Int64) -> Bool {
        let hasCompany = takenAt.map { $0 < firstSubmitted && failuresInARow >= Self.toleratedFailures } ?? true
        guard !hasCompany, troubleSince == nil else {
            outageSince = outageSince ?? nanoseconds
            return false
        }
        failuresInARow += 1
        return true
    }
}

/// The first pushes of a run, which go ahead of all others: what is wrong with a campaign as a
/// whole shows in their answers before the rest is on its way.
///
/// A push of the canary is awaited until the service has answered it (accepted, refused, or try
/// again later), until it is settled in any other way, or until its answer is overdue. A push that
/// was lost with its connection and is sent again is still awaited, as often as it may be tried.
struct Canary {
    /// Enough answers for the alarms about shares of answers to judge.
    static let usualSize = 100

    private let size: Int
    private var admitted = 0
    /// How many answers are still missing.
    private(set) var awaited = 0
    private(set) var isJudged = false

    /// - Parameter size: pushes that go ahead; 0 for none, which is over at once.
    init(size: Int) {
        self.size = size
        isJudged = size == 0
    }

    /// Whether all of it has been sent and nothing is awaited any more.
    var isOver: Bool { admitted == size && awaited == 0 }

    /// How many more pushes belong to it.
    var capacity: Int { size - admitted }

    /// Whether one more push belongs to it.
    var hasCapacity: Bool { admitted < size }

    mutating func admit(_ pushes: Int) {
        admitted += pushes
        awaited += pushes
    }

    mutating func resolve(_ pushes: Int) { awaited -= pushes }

    /// Returns true once, when the canary is over.
    mutating func isDueForJudgement() -> Bool {
        guard isOver, !isJudged else { return false }
        isJudged = true
        return true
    }
}

/// Watches the share of answers that are bad in some way: tokens that the service calls bad, or
/// pushes that it refuses for good. Some are normal in any list. If most are bad, something else is
/// wrong, and going on would get the connections closed and a whole audience written off.
struct ShareAlarm {
    /// The number of answers from which on the share is judged; later over windows of `windowSize`.
    private static let firstJudgement = 100
    private static let windowSize = 1000

    private var answers: Int
    private var bad: Int

    /// - Parameters:
    ///   - answers: answers counted before, fewer than a window.
    ///   - bad: how many of them were bad.
    init(answers: Int = 0, bad: Int = 0) { (self.answers, self.bad) = (answers, bad) }

    /// Whether most of the counted answers are bad. It needs fewer answers than an alarm, for the
    /// end of the canary, where some answers may be missing.
    var isBad: Bool { answers >= Self.firstJudgement / 2 && bad * 2 > answers }

    /// Counts one answer for several pushes; true if the run must stop.
    mutating func isAlarming(afterBad isBad: Bool, pushes: Int32) -> Bool {
        var isAlarming = false
        for _ in 0..<pushes where self.isAlarming(afterBad: isBad) { isAlarming = true }
        return isAlarming
    }

    /// Counts an answer; true if the run must stop.
    mutating func isAlarming(afterBad isBad: Bool) -> Bool {
        answers += 1
        if isBad { bad += 1 }
        let alarm = isBad && answers >= Self.firstJudgement && bad * 2 > answers
        if answers == Self.windowSize {
            // Halved, not forgotten: the next window is judged from its first answer.
            answers /= 2
            bad /= 2
        }
        return alarm
    }
}

/// The outcomes of pushes with a final answer from the service, counted for the campaign's own
/// limits (`delivery.stop_when`).
struct AnswerTally: Hashable, Sendable {
    var accepted = 0
    var invalidToken = 0
    var rejected = 0
    var failed = 0

    /// The number of all answers. A push that is unknown or unsent has none.
    var answers: Int { accepted + invalidToken + rejected + failed }

    mutating func count(_ outcome: Outcome) {
        switch outcome {
        case .accepted: accepted += 1
        case .invalidToken: invalidToken += 1
        case .rejected: rejected += 1
        case .failed: failed += 1
        case .unknown, .unsent: break
        }
    }

    subscript(outcome: Outcome) -> Int {
        switch outcome {
        case .accepted: accepted
        case .invalidToken: invalidToken
        case .rejected: rejected
        case .failed: failed
        case .unknown, .unsent: 0
        }
    }

    static func + (left: AnswerTally, right: AnswerTally) -> AnswerTally {
        AnswerTally(
            accepted: left.accepted + right.accepted, invalidToken: left.invalidToken + right.invalidToken,
            rejected: left.rejected + right.rejected, failed: left.failed + right.failed)
    }
}

extension AnswerTally {
    /// Creates a tally from earlier counts.
    init(_ outcomes: [Outcome: Int]) {
        self.init(
            accepted: outcomes[.accepted, default: 0], invalidToken: outcomes[.invalidToken, default: 0],
            rejected: outcomes[.rejected, default: 0], failed: outcomes[.failed, default: 0])
    }
}
