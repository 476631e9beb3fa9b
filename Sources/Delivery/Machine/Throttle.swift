/// Slows a run down while the service takes less than it is sent, and lets it recover: multiplicative decrease, additive increase (AIMD; Chiu and Jain,
/// "Analysis of the Increase and Decrease Algorithms for Congestion Avoidance").
///
/// What the service refuses for now (429 TooManyRequests for many devices, 503, REFUSED_STREAM) is judged over windows of a second. When too much of what
/// was sent came back, the rate falls to what was taken; with every window without it rises by a twentieth of that. Refusals that come as often however slowly
/// one sends have other causes: the old rate is taken up again, and slowing down is tried anew only after a rest. When nothing at all is taken, that is an
/// outage, which `ServiceHealth` sees to.
struct Throttle {
    private static let windowNanoseconds: Int64 = 1_000_000_000
    /// Few answers are judged together with those of later windows, for so long at most.
    private static let longestWindowNanoseconds: Int64 = 10_000_000_000
    private static let fewestAnswers = 20
    /// So many refusals, if they are most of the answers, are not looked at for a whole second.
    private static let urgentRefusals = 100
    private static let shortestWindowNanoseconds: Int64 = 250_000_000
    /// One device that is hit too often is no reason to be slower for all others.
    private static let fewestDevices = 10
    /// A share of refusals that is no reason to slow down, and one at which the rate may still rise.
    private static let toleratedShare = 0.05, calmShare = 0.02
    /// The rate falls by at least a tenth.
    private static let mildestFactor = 0.9
    /// What a window without refusals adds, as a share of the rate after the fall; twice as much after so many of them in a row.
    private static let growth = 0.05, windowsUntilDoubled = 10
    /// Slowing down has helped when the share of refusals fell to this part of what it was, or the share of what is taken rose by as much.
    private static let helpfulPart = 0.75
    private static let worseFactor = 1.25
    /// Once there is a limit, one bad window (the beginning of an outage, say) lowers it to no less than this part.
    private static let steepestFactor = 0.1
    private static let slowest = 1.0, slowestStep = 0.5
    /// Above this part of the rate from before the first fall there is no limit any more.
    private static let freedom = 1.25
    private static let shortestRest: Int64 = 5_000_000_000, longestRest: Int64 = 300_000_000_000
    private static let catchUpNanoseconds = 5_000_000.0

    /// Pushes a second; nil while there is no limit.
    private(set) var rate: Double?
    /// The window's number, by which a device that is refused twice in it is counted once.
    private(set) var window: Int32 = 1

    private var nextIdeal: Double?
    private var windowStart: Int64?
    private var taken = 0, refused = 0
    /// Answers to what was submitted before the rate last fell say nothing of the present one.
    private var changedAt = Int64.min
    private var originalRate = 0.0
    private var step = 0.0
    private var calmWindows = 0
    /// The fall that has yet to show that it helps: the share of refusals and the rate before it.
    private var trial: (share: Double, rate: Double?)?
    private var restsUntil = Int64.min
    private var rest = shortestRest

    // MARK: What the service says

    /// The service took a push, whatever it thought of it.
    mutating func noteTaken(submittedAt: Int64, at nanoseconds: Int64) {
        guard submittedAt >= changedAt else { return }
        taken += 1
        judgeIfDue(at: nanoseconds)
    }

    /// The service had no time for a push.
    /// - Parameter lastWindow: the window in which this push was refused before.
    mutating func noteRefused(lastWindow: inout Int32, submittedAt: Int64, at nanoseconds: Int64) {
        guard submittedAt >= changedAt else { return }
        if lastWindow != window { refused += 1 }
        lastWindow = window
        judgeIfDue(at: nanoseconds)
    }

    private mutating func judgeIfDue(at nanoseconds: Int64) {
        guard let start = windowStart else {
            windowStart = nanoseconds
            return
        }
        let length = nanoseconds - start
        guard length >= Self.windowNanoseconds || isUrgent && length >= Self.shortestWindowNanoseconds else { return }
        let answers = taken + refused
        guard answers >= Self.fewestAnswers || length >= Self.longestWindowNanoseconds else { return }
        judge(seconds: Double(length) / 1e9, at: nanoseconds)
        (taken, refused) = (0, 0)
        windowStart = nil
        window &+= 1
    }

    /// Most of what is sent comes back: each second more costs many pushes an attempt.
    private var isUrgent: Bool { refused >= Self.urgentRefusals && refused > taken }

    private mutating func judge(seconds: Double, at nanoseconds: Int64) {
        // An outage says nothing of any rate, nor of whether the last fall has helped.
        guard taken > 0 else { return }
        let answers = Double(taken + refused)
        let share = refused < Self.fewestDevices ? 0 : Double(refused) / answers
        if let trial {
            self.trial = nil
            let hasHelped = share <= trial.share * Self.helpfulPart || (1 - share) * Self.helpfulPart >= 1 - trial.share
            // A share that is much worse than before is news, no sign that the rate does not matter.
            let isAsBefore = share <= trial.share * Self.worseFactor
            guard hasHelped || !isAsBefore || share <= Self.toleratedShare else { return goBack(to: trial.rate, at: nanoseconds) }
            rest = Self.shortestRest
        }
        if share > Self.toleratedShare {
            calmWindows = 0
            if nanoseconds >= restsUntil { slowDown(share, answersPerSecond: answers / seconds, at: nanoseconds) }
        } else if share <= Self.calmShare {
            speedUp(seconds)
        }
    }

    private mutating func slowDown(_ share: Double, answersPerSecond: Double, at nanoseconds: Int64) {
        trial = (share, rate)
        if rate == nil { originalRate = answersPerSecond }
        let factor = min(Self.mildestFactor, max(1 - share, rate == nil ? 0 : Self.steepestFactor))
        let lowered = max(Self.slowest, (rate ?? answersPerSecond) * factor)
        rate = lowered
        step = max(Self.slowestStep, Self.growth * lowered)
        changedAt = nanoseconds
    }

    private mutating func speedUp(_ seconds: Double) {
        guard let rate else { return }
        calmWindows += 1
        if calmWindows % Self.windowsUntilDoubled == 0 { step *= 2 }
        let raised = rate + step * seconds
        self.rate = raised < originalRate * Self.freedom ? raised : nil
    }

    private mutating func goBack(to rate: Double?, at nanoseconds: Int64) {
        self.rate = rate
        changedAt = nanoseconds
        restsUntil = nanoseconds + rest
        rest = min(2 * rest, Self.longestRest)
    }

    // MARK: When pushes may leave

    /// When the next push may leave, in monotonic nanoseconds; nil for at once.
    var nextTime: Int64? {
        guard rate != nil else { return nil }
        return nextIdeal.map { Int64(($0 - Self.catchUpNanoseconds).rounded(.up)) }
    }

    /// A push leaves.
    mutating func take(at nanoseconds: Int64) {
        guard let rate else {
            nextIdeal = nil
            return
        }
        let now = Double(nanoseconds)
        nextIdeal = max(nextIdeal ?? now, now) + 1e9 / rate
    }
}
