import Base

/// How fast pushes may leave: the campaign's pace, the pace that several runs share, and what the service takes at present.
extension DeliveryMachine {
    /// When the next push may leave as far as time is concerned, in monotonic nanoseconds; nil for at once.
    var nextPaceTime: Int64? {
        let next = max(pacer?.nextTime ?? .min, throttle.nextTime ?? .min, paceShare?.nextTime ?? .min, nextProbeTime)
        return next == .min ? nil : next
    }

    /// When the next push may be tried while they are tried one at a time: far away while one is.
    private var nextProbeTime: Int64 { serviceHealth.probes == 0 ? .min : inFlightCount > 0 ? .max / 2 : probeAt }

    /// Whether a push may leave now; counts it if so.
    mutating func takePace(at nanoseconds: Int64) -> Bool {
        guard nextProbeTime <= nanoseconds, pacer?.mayTake(at: nanoseconds) ?? true, throttle.nextTime.map({ $0 <= nanoseconds }) ?? true
        else { return false }
        // Last, as what was taken from others cannot be given back.
        guard paceShare?.take(at: nanoseconds) ?? true else { return false }
        _ = pacer?.take(at: nanoseconds)
        throttle.take(at: nanoseconds)
        return true
    }

    /// The service took a push, whatever became of it: so it is not overloaded.
    mutating func noteTaken(_ push: Int, at now: Moment) {
        guard canary.isOver else { return }
        throttle.noteTaken(submittedAt: pushes[push].submitted, at: now.nanoseconds)
    }

    /// The service had no time for a push. The canary is too few to tell.
    mutating func noteOverload(_ push: Int, at now: Moment) {
        guard canary.isOver else { return }
        throttle.noteRefused(lastWindow: &pushes[push].refusedInWindow, submittedAt: pushes[push].submitted, at: now.nanoseconds)
    }
}
