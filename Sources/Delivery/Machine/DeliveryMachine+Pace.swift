import Base
import PushServices

/// How fast pushes may leave: the campaign's pace, the pace that several runs share, and what the service takes at present.
extension DeliveryMachine {
    /// When the next push may leave as far as time is concerned, in monotonic nanoseconds; nil for at once.
    var nextPaceTime: Int64? {
        let next = max(pacer?.nextTime ?? .min, throttle.nextTime ?? .min, paceShare?.nextTime ?? .min, nextProbeTime)
        return next == .min ? nil : next
    }

    /// When the next push may be tried while they are tried one at a time: far away while one is.
    private var nextProbeTime: Int64 { serviceHealth.probes == 0 ? .min : inFlightCount > 0 ? .max / 2 : probeAt }

    /// Whether a request may leave now; counts it if so.
    mutating func takePace(for request: Int, at nanoseconds: Int64) -> Bool {
        // Asked one by one: in a single condition the whole machine would be copied for each request.
        if serviceHealth.probes > 0, nextProbeTime > nanoseconds { return false }
        if let pacer, !pacer.mayTake(at: nanoseconds) { return false }
        if let next = throttle.nextTime, next > nanoseconds { return false }
        let count = batching.paceUnit == .targets ? Int(pushes[request].count) : 1
        // Last, as what was taken from others cannot be given back.
        guard paceShare?.take(count, at: nanoseconds) ?? true else { return false }
        _ = pacer?.take(count, at: nanoseconds)
        throttle.take(at: nanoseconds)
        return true
    }

    /// The service took a request, whatever became of it: so it is not overloaded.
    mutating func noteTaken(_ request: Int, at now: Moment) {
        guard canary.isOver else { return }
        throttle.noteTaken(submittedAt: pushes[request].submitted, at: now.nanoseconds)
    }

    /// The service had no time for a request. The canary is too few to tell.
    mutating func noteOverload(_ request: Int, at now: Moment) {
        guard canary.isOver else { return }
        throttle.noteRefused(
            lastWindow: &pushes[request].refusedInWindow, submittedAt: pushes[request].submitted, at: now.nanoseconds)
    }
}
