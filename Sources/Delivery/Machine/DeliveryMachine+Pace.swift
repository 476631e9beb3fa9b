import Base
import PushServices

/// How fast pushes may leave: the campaign's pace, the pace that several runs share, and what the
/// service takes at the moment.
extension DeliveryMachine {
    /// When pace and throttle let the next push leave, in monotonic nanoseconds; nil if at once.
    var nextPaceTime: Int64? {
        let next = max(ownPaceTime ?? .min, throttle.nextTime ?? .min, nextProbeTime, nextQuotaTime)
        return next == .min ? nil : next
    }

    /// When the paces let the next push leave, in monotonic nanoseconds; nil if at once.
    var ownPaceTime: Int64? {
        var next: Int64?
        if let pacer {
            next = pacer.nextTime(for: (again.first ?? fresh.first).map { count($0, as: batching.paceUnit) } ?? 1)
        }
        for share in paceArbiter { if let time = share.nextTime { next = max(next ?? time, time) } }
        return next
    }

    /// What a request counts for.
    private func count(_ request: Int, as unit: Batching.PaceUnit) -> Int {
        unit == .targets ? Int(pushes[request].count) : 1
    }

    /// When the next push may be tried while pushes are tried one at a time; far in the future
    /// while one is in flight.
    var nextProbeTime: Int64 { serviceHealth.probes == 0 ? .min : inFlightCount > 0 ? .max / 2 : probeAt }

    /// Returns whether a request may leave now, and counts it if so.
    mutating func takePace(for request: Int, at nanoseconds: Int64) -> Bool {
        if serviceHealth.probes > 0, nextProbeTime > nanoseconds { return false }
        if quota.until != nil, nextQuotaTime > nanoseconds { return false }
        let own = count(request, as: batching.paceUnit)
        if let pacer, !pacer.mayTake(own, at: nanoseconds) { return false }
        if let next = throttle.nextTime, next > nanoseconds { return false }
        guard takeShares(for: request, at: nanoseconds) else { return false }
        _ = pacer?.take(own, at: nanoseconds)
        throttle.take(at: nanoseconds)
        return true
    }

    /// Takes from all shared paces, or from none but by an accident: what is taken cannot be given
    /// back, and another sender may take in between. Then the pace is missed by a request, and
    /// never exceeded.
    private mutating func takeShares(for request: Int, at nanoseconds: Int64) -> Bool {
        guard paceArbiter.count > 1 else {
            return paceArbiter.allSatisfy { $0.take(count(request, as: $0.unit), at: nanoseconds) }
        }
        for (place, share) in paceArbiter.enumerated() {
            guard share.mayTake(count(request, as: share.unit), at: nanoseconds) else {
                sharesReadySinceNanoseconds[place] = nil
                return false
            }
            sharesReadySinceNanoseconds[place] = sharesReadySinceNanoseconds[place] ?? nanoseconds
        }
        defer { sharesReadySinceNanoseconds = [:] }
        for (place, share) in paceArbiter.enumerated() {
            let held = nanoseconds - (sharesReadySinceNanoseconds[place] ?? nanoseconds)
            guard share.take(count(request, as: share.unit), at: nanoseconds, heldNanoseconds: held) else {
                return false
            }
        }
        if let next = paceArbiter.compactMap(\.nextTime).max(), next < Pacer.never {
            for share in paceArbiter { share.rest(until: next) }
        }
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
