import Base
import PushServices

/// How fast pushes may leave: the campaign's pace, the pace that several runs share, and what the service takes at the moment.
extension DeliveryMachine {
    /// When pace and throttle let the next push leave, in monotonic nanoseconds; nil if at once.
    var nextPaceTime: Int64? {
        let next = max(pacer?.nextTime ?? .min, throttle.nextTime ?? .min, paceShare?.nextTime ?? .min, nextProbeTime, nextQuotaTime)
        return next == .min ? nil : next
    }

    /// When the next push may be tried while pushes are tried one at a time; far in the future while one is in flight.
    var nextProbeTime: Int64 { serviceHealth.probes == 0 ? .min : inFlightCount > 0 ? .max / 2 : probeAt }

    /// Returns whether a request may leave now, and counts it if so.
    mutating func takePace(for request: Int, at nanoseconds: Int64) -> Bool {
        // Separate statements: a single condition would copy the whole machine for each request.
        if serviceHealth.probes > 0, nextProbeTime > nanoseconds { return false }
        if quota.until != nil, nextQuotaTime > nanoseconds { return false }
        if let pacer, !pacer.mayTake(at: nanoseconds) { return false }
        if let next = throttle.nextTime, next > nanoseconds { return false }
        let count = batching.paceUnit == .targets ? Int(pushes[request].count) : 1
        // Last: what is taken from the shared pace cannot be given back.
        guard paceShare?.take(count, at: nanoseconds) ?? true else { return false }
        _ = pacer?.take(count, at: nanoseconds)
        throttle.take(at: nanoseconds)
        return true
    }

    /// Notes that the service took a request, accepted or not: it is not overloaded.
    mutating func noteTaken(_ request: Int, at now: Moment) {
        quota.taken(submittedAt: pushes[request].submitted)
        guard canary.isOver else { return }
        throttle.noteTaken(submittedAt: pushes[request].submitted, at: now.nanoseconds)
    }

    /// Notes that the service was too busy for a request. The canary is too small to tell.
    mutating func noteOverload(_ request: Int, at now: Moment) {
        guard canary.isOver else { return }
        throttle.noteRefused(
            lastWindow: &pushes[request].refusedInWindow, submittedAt: pushes[request].submitted, at: now.nanoseconds)
    }
}
