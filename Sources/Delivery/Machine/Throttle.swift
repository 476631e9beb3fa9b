/// Slows a run down while the service takes less than it is sent, and lets it recover:
/// multiplicative decrease, additive increase (AIMD; Chiu and Jain, "Analysis of the Increase and
/// Decrease Algorithms for Congestion Avoidance").
///
/// What the service refuses for now (429 TooManyRequests for many devices, 503, REFUSED_STREAM) is
/// judged over windows of a second. When the service refuses too large a share, the rate falls to
/// what it took. With every window without such refusals the rate rises by a twentieth of that. If
/// refusals stay as frequent at a lower rate, they have another cause: the old rate is restored,
/// and slowing down is tried again only after a rest. If the service takes nothing at all, that is
/// an outage, which `ServiceHealth` handles.
struct Throttle {
    private static let windowNanoseconds: Int64 = 1_000_000_000
    /// The longest that too few answers wait to be judged together with later ones.
    private static let longestWindowNanoseconds: Int64 = 10_000_000_000
    private static let fewestAnswers = 20
    /// With this many refusals, if they are most of the answers, the window is judged before its
    /// second is over.
    private static let urgentRefusals = 100
    private static let shortestWindowNanoseconds: Int64 = 250_000_000
    /// A single device that gets too many pushes is not a reason to slow down for all others.
    private static let fewestDevices = 10
    /// The largest share of refusals that does not slow the run down, and the largest at which the
    /// rate may still rise.
    private static let toleratedShare = 0.05, calmShare = 0.02
    /// The rate falls by at least a tenth.
    private static let mildestFactor = 0.9
    /// What a window without refusals adds, as a share of the rate after the fall, and the number
    /// of such windows after which that doubles.
    private static let growth = 0.05, windowsUntilDoubled = 10
    /// Slowing down has helped if the share of refusals fell to this part of what it was, or the
    /// share taken rose by as much.
    private static let helpfulPart = 0.75
    private static let worseFactor = 1.25
    /// Once there is a limit, one bad window, such as the beginning of an outage, lowers it to no
    /// less than this part.
    private static let steepestFactor = 0.1
    private static let slowest = 1.0, slowestStep = 0.5
    /// Above this multiple of the rate before the first fall the limit is lifted.
    private static let freedom = 1.25
    private static let shortestRest: Int64 = 5_000_000_000, longestRest: Int64 = 300_000_000_000
    private static let catchUpNanoseconds = 5_000_000.0

    /// Pushes a second; nil while there is no limit.
    private(set) var rate: Double?
    /// The window's number, so that a push refused twice in a window counts once.
    private(set) var window: Int32 = 1

    private var nextIdeal: Double?
    private var windowStart: Int64?
    private var taken = 0, refused = 0
    /// When the rate last changed. Answers to what was submitted before say nothing about the
    /// present rate.
    private var changedAt = Int64.min
    private var originalRate = 0.0
    private var step = 0.0
    private var calmWindows = 0
    /// The share of refusals and the rate before the last fall, while that fall has yet to show
    /// that it helps.
    private var trial: (share: Double, rate: Double?)?
    private var restsUntil = Int64.min
    private var rest = shortestRest

    // MARK: What the service says

    /// Notes that the service took a push, whether it accepted it or refused it for good.
    mutating func noteTaken(submittedAt: Int64, at nanoseconds: Int64) {
        guard submittedAt >= changedAt else { return }
        taken += 1
        judgeIfDue(at: nanoseconds)
    }

    /// Notes that the service was too busy for a push.
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

    /// Whether the service refuses most pushes, so that each further second costs many of them an
    /// attempt.
    private var isUrgent: Bool { refused >= Self.urgentRefusals && refused > taken }

    private mutating func judge(seconds: Double, at nanoseconds: Int64) {
        // An outage says nothing about a rate, nor about whether the last fall has helped.
        guard taken > 0 else { return }
        let answers = Double(taken + refused)
        let share = refused < Self.fewestDevices ? 0 : Double(refused) / answers
        if let trial {
            self.trial = nil
            let hasHelped = share <= trial.share * Self.helpfulPart || (1 - share) * Self.helpfulPart >= 1 - trial.share
            // A share that is much worse than before is a new problem, not a sign that the rate
            // does not matter.
            let isAsBefore = share <= trial.share * Self.worseFactor
            guard hasHelped || !isAsBefore || share <= Self.toleratedShare else {
                return goBack(to: trial.rate, at: nanoseconds)
            }
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

    /// When the next push may leave, in monotonic nanoseconds; nil if at once.
    var nextTime: Int64? {
        guard rate != nil else { return nil }
        return nextIdeal.map { Int64(($0 - Self.catchUpNanoseconds).rounded(.up)) }
    }

    /// Counts a push that leaves.
    mutating func take(at nanoseconds: Int64) {
        guard let rate else {
            nextIdeal = nil
            return
        }
        let now = Double(nanoseconds)
        nextIdeal = max(nextIdeal ?? now, now) + 1e9 / rate
    }
}
