import Base
import PushServices

extension DeliveryMachine {
    /// Does everything that is due now, after time has passed or events have come.
    mutating func advance(to now: Moment) {
        guard end == nil else { return }
        noteStall(at: now)
        expireIfDue(at: now)
        while let request = waiting.removeDue(by: now.nanoseconds) {
            pushes[request].state = .ready
            again.append(request)
        }
        checkTimeouts(at: now)
        checkHealth(at: now)
        stopIfTroubleLasts(at: now)
        judge(at: now)
        if ending == nil, !isExpired {
            if nameRule == .none { submitReady(at: now) } else { submitNamed(at: now) }
            openIfNeeded(at: now)
        } else {
            settleNewcomers(at: now)
        }
        finishIfDone(at: now)
    }

    /// Returns when `advance` must be called again even if nothing happens, in monotonic
    /// nanoseconds; nil for never.
    func nextWake(after now: Moment) -> Int64? {
        guard end == nil else { return nil }
        var wake = min(waiting.earliest ?? .max, ending?.drainsUntil ?? .max)
        if ending == nil, wantsConnection, reconnectAt > now.nanoseconds { wake = min(wake, reconnectAt) }
        if ending == nil, !fresh.isEmpty || !again.isEmpty {
            if let next = nextPaceTime, nextPushIsAllowed {
                if connectionWithRoom() != nil, !nextWaitsForNames { wake = min(wake, nextStepTime ?? next) }
                // With a slow pace, a connection is opened only shortly before it is needed.
                let opening = next - Int64(nanosecondsFromSeconds: settings.connectTimeoutSeconds)
                if opening > now.nanoseconds { wake = min(wake, opening) }
            }
        }
        if let deadline = settings.deadline, !isExpired, ending == nil {
            let milliseconds = max(0, min(deadline.epochMilliseconds - now.wall.epochMilliseconds, 86_400_000))
            wake = min(wake, now.nanoseconds + milliseconds * 1_000_000)
        }
        if ending == nil, let end = credentialDeadline { wake = min(wake, end + 1) }
        if ending == nil, let end = quotaDeadline { wake = min(wake, end + 1) }
        if ending == nil, let end = nameDeadline { wake = min(wake, end + 1) }
        for connection in connections where connection.state != .closed {
            wake = min(wake, max(min(timeout(of: connection), healthCheck(of: connection)), timeoutsResumeAt))
        }
        return wake == .max ? nil : wake
    }

    /// Suspends timeouts after a stall. A loop that was held up (recording fell behind, or the
    /// machine slept) must read what arrived in that time before it may judge that answers are
    /// missing.
    private mutating func noteStall(at now: Moment) {
        if let lastAdvance, now.nanoseconds - lastAdvance > 1_000_000_000 {
            timeoutsResumeAt = now.nanoseconds + 1_000_000_000
        }
        lastAdvance = now.nanoseconds
    }

    private mutating func settleNewcomers(at now: Moment) {
        while let request = removeUntried() { settleUnsent(request, at: now) }
        while let request = again.removeFirst() { settleUnsent(request, at: now) }
    }

    // MARK: Submitting

    private mutating func submitReady(at now: Moment) {
        while let next = again.first ?? fresh.first {
            guard nextPushIsAllowed, let connection = connectionWithRoom() else { return }
            if dropRefusedText(of: next, at: now) { continue }
            guard takePace(for: next, at: now.nanoseconds), let request = removeNext() else { return }
            submit(request, on: connection, at: now)
        }
    }

    /// Whether another push may leave: the gate is open, the canary goes first, and while the
    /// service has trouble only a few pushes are tried at a time.
    var nextPushIsAllowed: Bool {
        guard gateClosedSince == nil, canaryAllowsNext else { return false }
        guard serviceHealth.troubleSince != nil, again.isEmpty else { return true }
        return openPushes - untriedPushes < ServiceHealth.pushesTriedInTrouble
    }

    mutating func submit(_ request: Int, on connection: Int, at now: Moment) {
        admitToCanary(request)
        let newest = connections[connection].add(request, at: now.nanoseconds)
        // After this request the server would close the connection.
        if requestBudget.isUsed(by: connections[connection].submitted) { drain(connection) }
        pushes[request].beginAttempt(on: connection, behind: newest, at: now.nanoseconds)
        if newest >= 0 { pushes[Int(newest)].next = Int32(request) }
        inFlightCount += 1
        actions.append(.submit(request: request, connection: connection))
    }

    /// Takes a request off its connection and returns the connection. The request is nowhere until
    /// the caller queues or settles it.
    mutating func takeOff(_ request: Int) -> Int {
        let (connection, previous, next) = pushes[request].leaveConnection()
        if previous >= 0 { pushes[Int(previous)].next = next }
        if next >= 0 { pushes[Int(next)].previous = previous }
        connections[connection].remove(previous: previous, next: next)
        inFlightCount -= 1
        return connection
    }

    /// Returns the request that has been in flight longest on a connection; nil for none.
    func oldest(on connection: Int) -> Int? {
        let request = connections[connection].oldest
        return request < 0 ? nil : Int(request)
    }

    // MARK: Timeouts

    private mutating func checkTimeouts(at now: Moment) {
        guard now.nanoseconds >= timeoutsResumeAt else { return }
        for connection in connections.indices {
            while now.nanoseconds >= timeout(of: connections[connection]), connections[connection].state != .closed {
                timedOut(connection, at: now)
            }
        }
    }

    /// Returns when the oldest request in flight, or the connection attempt, times out.
    private func timeout(of connection: ConnectionSlot) -> Int64 {
        if connection.state == .opening {
            return connection.lastProgress + Int64(nanosecondsFromSeconds: settings.connectTimeoutSeconds)
        }
        guard connection.oldest >= 0 else { return .max }
        return pushes[Int(connection.oldest)].submitted + Int64(nanosecondsFromSeconds: settings.answerTimeoutSeconds)
    }

    private mutating func timedOut(_ connection: Int, at now: Moment) {
        if connections[connection].state == .opening {
            actions.append(.close(connection: connection))
            return connectionFailed(
                connection, .unreachable("no connection within \(settings.connectTimeoutSeconds) s"), at: now)
        }
        guard let request = oldest(on: connection) else { return }
        if connections[connection].lastProgress <= pushes[request].submitted {
            // Nothing was heard since this request was sent: the connection is dead, whatever TCP
            // believes.
            actions.append(.close(connection: connection))
            connectionLost(connection, cause: "no answer within \(settings.answerTimeoutSeconds) s", at: now)
        } else {
            actions.append(.abandon(request: request, connection: connection))
            resolveCanary(request)
            answerLost(request, reason: .noAnswer, at: now)
        }
    }

    /// Handles everything in flight on a connection as lost: it will not be answered.
    mutating func loseAllInFlight(on connection: Int, reason: OwnReason, at now: Moment) {
        if connections[connection].inFlight > 0 { window.lost(afterAnswers: connections[connection].answers) }
        while let request = oldest(on: connection) {
            _ = takeOff(request)
            resolveLost(request, reason: reason, at: now)
        }
    }

    private mutating func stopIfTroubleLasts(at now: Moment) {
        stopIfCredentialStaysAway(at: now)
        stopIfQuotaStaysUsedUp(at: now)
        stopIfNamesStayAway(at: now)
        guard let since = serviceHealth.lastsSince else { return }
        let lasted = (gateClosedSince ?? now.nanoseconds) - since
        guard lasted > Int64(nanosecondsFromSeconds: settings.retry.maximumTotalSeconds) else { return }
        stopForService(.outage(lastReason: lastServiceReason, seconds: Double(lasted) / 1e9), at: now)
    }
}

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
