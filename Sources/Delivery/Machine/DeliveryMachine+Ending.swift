import Base
import PushServices

extension DeliveryMachine {
    /// Stops the run because it would be wrong to go on. Nothing more is submitted; what is in flight is awaited for a bounded time.
    mutating func stop(_ cause: StopCause, at now: Moment) {
        begin(.stopped(cause), reason: .stopped, at: now)
    }

    /// Stops the run because of what the service answered.
    mutating func stopForService(_ stop: ServiceStop, at now: Moment) { self.stop(.service(settings.service.name, stop), at: now) }

    /// Ends the run because another thread asked for it.
    /// - Parameter reason: the reason recorded for what is then unsent.
    mutating func interrupt(_ reason: OwnReason = .interrupted, at now: Moment) {
        begin(.interrupted, reason: reason, at: now)
    }

    private mutating func begin(_ end: SendEnd, reason: OwnReason, at now: Moment) {
        guard ending == nil, self.end == nil else { return }
        ending = Ending(
            end: end, reason: reason, drainsUntil: now.nanoseconds + Int64(nanosecondsFromSeconds: settings.drainSeconds))
        settleAllNotInFlight(at: now)
    }

    /// Once the deadline has passed, settles everything that is not in flight.
    mutating func expireIfDue(at now: Moment) {
        guard let deadline = settings.deadline, now.wall >= deadline, ending == nil else { return }
        isExpired = true
        settleAllNotInFlight(at: now)
    }

    private mutating func settleAllNotInFlight(at now: Moment) {
        while let request = removeUntried() { settleUnsent(request, at: now) }
        while let request = again.removeFirst() { settleUnsent(request, at: now) }
        for request in waiting.removeAll() { settleUnsent(request, at: now) }
        settleUnnamed(at: now)
    }

    /// Settles the pushes of a request that will not be submitted (again).
    mutating func settleUnsent(_ request: Int, at now: Moment) {
        let slot = pushes[request]
        if slot.mayBeDelivered {
            settle(request, .unknown, reason: slot.reason, at: now)
        } else if let ending {
            // Also if the service refused it for now: it does not have the push, and resuming the run tries again.
            settle(request, .unsent, reason: ending.reason.rawValue, at: now)
        } else if slot.attempts > 0 {
            settle(request, .failed, reason: slot.reason, at: now)
        } else {
            settle(request, .unsent, reason: OwnReason.expired.rawValue, at: now)
        }
    }

    /// Ends the run once everything is settled, or once answers have been awaited long enough.
    mutating func finishIfDone(at now: Moment) {
        guard end == nil else { return }
        if let ending, inFlightCount > 0 {
            guard now.nanoseconds >= ending.drainsUntil else { return }
            for connection in connections.indices where connections[connection].inFlight > 0 {
                loseAllInFlight(on: connection, reason: .noAnswer, at: now)
            }
        }
        guard openPushes == 0, isSourceEnded else { return }
        for connection in connections.indices where connections[connection].state != .closed { close(connection) }
        end = ending?.end ?? .finished
    }
}
