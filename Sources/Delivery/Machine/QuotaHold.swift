import Base
import PushServices

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
