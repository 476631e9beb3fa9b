import Base
import PushServices

extension DeliveryMachine {
    /// Stops the run because it would be wrong to go on. Nothing more is submitted; what is in
    /// flight is awaited for a bounded time.
    mutating func stop(_ cause: StopCause, at now: Moment) {
        begin(.stopped(cause), reason: .stopped, at: now)
    }

    /// Stops the run because of what the service answered.
    mutating func stopForService(_ stop: ServiceStop, at now: Moment) {
        self.stop(.service(settings.service.name, stop), at: now)
    }

    /// Ends the run because another thread requested it.
    /// - Parameter reason: the reason recorded for what is then unsent.
    mutating func interrupt(_ reason: OwnReason = .interrupted, at now: Moment) {
        begin(.interrupted, reason: reason, at: now)
    }

    private mutating func begin(_ end: RunEnd, reason: OwnReason, at now: Moment) {
        guard ending == nil, self.end == nil else { return }
        ending = Ending(
            end: end, reason: reason,
            drainsUntil: now.nanoseconds + Int64(nanosecondsFromSeconds: settings.drainSeconds))
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
        settleKept(at: now)
    }

    /// Settles the pushes of a request that will not be submitted (again).
    mutating func settleUnsent(_ request: Int, at now: Moment) {
        let slot = pushes[request]
        if slot.mayBeDelivered {
            settle(request, .unknown, reason: slot.reason, at: now)
        } else if let ending {
            // Also if the service refused it for now: it does not have the push, and resuming the
            // run tries again.
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
        settleKeptAtEnd(at: now)
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

/// The brakes that stop a run that goes wrong: the canary, the alarms about shares of answers, and
/// the campaign's own limits.
extension DeliveryMachine {
    // MARK: Canary

    /// Whether the canary lets the next push leave. Pushes that were submitted before belong to the
    /// canary, or were released from it, and those of an earlier process never wait for it: one of
    /// its own may be queued behind them.
    var canaryAllowsNext: Bool {
        if canary.isOver || canary.hasCapacity || !again.isEmpty { return true }
        return fresh.first.map { pushes[$0].isCanary || pushes[$0].refusals > 0 || pushes[$0].isOfEarlierProcess }
            ?? true
    }

    /// Counts a request that goes out as part of the canary if there is room: the first pushes are
    /// the canary.
    mutating func admitToCanary(_ request: Int) {
        guard belongsToCanary(request) else { return }
        pushes[request].isCanary = true
        canary.admit(Int(pushes[request].count))
    }

    /// Returns whether a request belongs to the canary, as far as its pushes fit.
    func belongsToCanary(_ request: Int) -> Bool {
        // A push that the canary released after many refusals does not join it again, nor does one
        // of an earlier process.
        canary.hasCapacity && !pushes[request].isCanary && pushes[request].attempts == 0
            && pushes[request].refusals == 0
            && !pushes[request].isOfEarlierProcess
    }

    /// Releases a request from the canary: other pushes no longer wait for it.
    mutating func resolveCanary(_ request: Int) {
        guard pushes[request].isCanary else { return }
        pushes[request].isCanary = false
        canary.resolve(Int(pushes[request].count))
    }

    // MARK: The gate

    /// Notes whether requests may be submitted. While they may not, what is in flight continues,
    /// and nothing counts as the service's trouble. Called before `advance`, which decides what to
    /// submit.
    mutating func noteGate(isOpen: Bool, at now: Moment) {
        guard isOpen == (gateClosedSince != nil) else { return }
        if let since = gateClosedSince { serviceHealth.excuse(now.nanoseconds - since) }
        gateClosedSince = isOpen ? nil : now.nanoseconds
    }

    // MARK: Judging

    /// Judges the canary once it is over, and the whole run by the campaign's limits. Called before
    /// anything is submitted, so that everything known by then decides about the next push.
    mutating func judge(at now: Moment) {
        guard ending == nil, !isExpired, openPushes > 0 || !isSourceEnded else { return }
        if canary.isDueForJudgement() {
            if tokenHealth.isBad { stopForBadTokens(at: now) }
            if rejectionHealth.isBad { stopForRejections(at: now) }
        }
        judgeByLimits(at: now)
    }

    private mutating func judgeByLimits(at now: Moment) {
        guard let limits = settings.stopLimits else { return }
        let total = tally + tallyOfOthers + earlierTally
        guard total != judgedTally else { return }
        judgedTally = total
        let answers = total.answers
        guard answers >= limits.after else { return }
        for outcome in StopLimits.outcomes {
            guard let limit = limits.shares[outcome], limit.isPassed(by: total[outcome], of: answers) else { continue }
            let passed = ExceededLimit(
                outcome: outcome, count: total[outcome], answers: answers, limit: limit,
                lastReason: lastReasons[outcome])
            return stop(.limit(service: settings.service.name, passed), at: now)
        }
    }

    mutating func stopForRejections(at now: Moment) {
        stopForService(.mostRejected(lastReason: lastReasons.rejected), at: now)
    }

    mutating func stopForBadTokens(at now: Moment) {
        stopForService(.mostTargetsRefused(lastReason: lastReasons.badToken), at: now)
    }
}

/// The latest reasons, for messages about why a run stops.
struct RecentReasons {
    var invalidToken = ""
    /// The latest of those that blame the run rather than the token.
    var badToken = ""
    var rejected = ""
    var failed = ""

    /// The latest reason for an outcome that may have a limit.
    subscript(outcome: Outcome) -> String {
        switch outcome {
        case .invalidToken: invalidToken
        case .rejected: rejected
        default: failed
        }
    }
}
