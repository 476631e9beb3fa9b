import Base
import PushServices

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

/// How long nothing leaves because the service said that the sender has used up its quota: a value.
///
/// The service says how long, or the wait is `RetryPolicy.firstQuotaSeconds`, which doubles with
/// each hold that helped nothing. When a hold is over, one push at a time shows whether the service
/// takes pushes again.
struct QuotaHold {
    private static let longestSeconds = 3600.0
    /// A quota is for a day at most; with two hours for what clocks and time zones disagree about.
    private static let longestAskedSeconds = 26.0 * 3600
    /// Several senders must not come back at the same moment.
    private static let jitter = 0.0...0.2, jitterOfAsked = 0.0...0.02

    /// When the hold ends, in monotonic nanoseconds; nil for none. It stays until a push has shown
    /// that the hold is over.
    private(set) var until: Int64?
    /// Whether the service named that end itself.
    private(set) var isAsked = false
    /// Since when nothing could leave for the quota: monotonic nanoseconds; nil while another loop,
    /// or another process, was told.
    private(set) var since: Int64?
    private let firstSeconds: Double
    private var holdsInARow = 0
    private var beganAt = Int64.min

    /// - Parameter firstSeconds: the first wait, where the service does not say how long.
    init(firstSeconds: Double) { self.firstSeconds = firstSeconds }

    /// Notes that a push was refused for the quota. Those that left before the hold began only
    /// prolong it, if the service requests it.
    /// - Parameters:
    ///   - retryAfterSeconds: the wait that the service requests; nil without one.
    ///   - submittedAt: when the push left, in monotonic nanoseconds.
    mutating func refused(submittedAt: Int64, retryAfterSeconds: Double?, random: inout SplitMix, at nanoseconds: Int64)
    {
        since = since ?? nanoseconds
        let asked = retryAfterSeconds.map { min($0, Self.longestAskedSeconds) }
        if until != nil, submittedAt <= beganAt {
            if let asked { prolong(nanoseconds + Int64(nanosecondsFromSeconds: asked), isAsked: true) }
            return
        }
        holdsInARow += 1
        beganAt = nanoseconds
        let own = min(Self.longestSeconds, firstSeconds * Double(1 << min(holdsInARow - 1, 10)))
        let factor = 1 + Double.random(in: asked == nil ? Self.jitter : Self.jitterOfAsked, using: &random)
        prolong(nanoseconds + Int64(nanosecondsFromSeconds: (asked ?? own) * factor), isAsked: asked != nil)
    }

    private mutating func prolong(_ end: Int64, isAsked asked: Bool) {
        guard end > until ?? .min else { return }
        (until, isAsked) = (end, asked)
    }

    /// Notes that the service took a push as the last one that it takes for a while.
    mutating func spent(forSeconds seconds: Double, at nanoseconds: Int64) {
        since = since ?? nanoseconds
        prolong(nanoseconds + Int64(nanosecondsFromSeconds: min(seconds, Self.longestAskedSeconds)), isAsked: true)
    }

    /// Notes that another loop of the sender was told to wait. Only a loop that was refused itself
    /// may lose its patience.
    mutating func join(until end: Int64, at nanoseconds: Int64) {
        guard end > nanoseconds, end > until ?? .min else { return }
        until = end
    }

    /// Notes that the service dealt with a push that left after the hold.
    mutating func taken(submittedAt: Int64) {
        if let until, submittedAt >= until { self = QuotaHold(firstSeconds: firstSeconds) }
    }
}

extension DeliveryMachine {
    /// When the quota lets the next push leave, in monotonic nanoseconds; far in the future while
    /// one is on its way to try it.
    var nextQuotaTime: Int64 { quota.until.map { inFlightCount > 0 ? .max / 2 : $0 } ?? .min }

    /// Keeps a request, and everything else, until the quota allows more. The attempt does not
    /// count.
    mutating func holdForQuota(_ request: Int, _ answer: Answer, at now: Moment) {
        quota.refused(
            submittedAt: pushes[request].submitted, retryAfterSeconds: answer.retryAfterSeconds, random: &random,
            at: now.nanoseconds)
        for share in paceArbiter { share.restartRamp() }
        lastServiceReason = "\(answer.status) \(answer.reason)"
        pushes[request].attempts -= 1
        guard ending == nil, !isExpired, let until = quota.until else { return settleUnsent(request, at: now) }
        wait(request, until: now.adding(nanoseconds: max(0, until - now.nanoseconds)))
    }

    /// When waiting for the quota has lasted too long, in monotonic nanoseconds: as long as any
    /// outage. A hold that was known before the run was resumed, or that another loop was told of,
    /// has no such end.
    var quotaDeadline: Int64? {
        quota.since.map { $0 + Int64(nanosecondsFromSeconds: settings.retry.maximumTotalSeconds) }
    }

    mutating func stopIfQuotaStaysUsedUp(at now: Moment) {
        guard let since = quota.since, let end = quotaDeadline, ending == nil else { return }
        if quota.isAsked, let until = quota.until, until > end, until > now.nanoseconds {
            let moment = now.adding(nanoseconds: until - now.nanoseconds).wall
            // Records know whole seconds.
            return stopForService(
                .quotaUsedUp(reason: lastServiceReason, until: Timestamp(epochSeconds: moment.epochSeconds + 1)),
                at: now)
        }
        guard now.nanoseconds > end else { return }
        stopForService(.outage(lastReason: lastServiceReason, seconds: Double(now.nanoseconds - since) / 1e9), at: now)
    }
}
