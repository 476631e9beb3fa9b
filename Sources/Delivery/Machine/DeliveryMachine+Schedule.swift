import Base

extension DeliveryMachine {
    /// Time passed, or events came: everything that is due now.
    mutating func advance(to now: Moment) {
        guard end == nil else { return }
        noteStall(at: now)
        expireIfDue(at: now)
        while let push = waiting.removeDue(by: now.nanoseconds) {
            pushes[push].state = .ready
            again.append(push)
        }
        checkTimeouts(at: now)
        checkHealth(at: now)
        stopIfTroubleLasts(at: now)
        judge(at: now)
        if ending == nil, !isExpired {
            submitReady(at: now)
            openIfNeeded(at: now)
        } else {
            settleNewcomers(at: now)
        }
        finishIfDone(at: now)
    }

    /// When `advance` must be called again even if nothing happens: monotonic nanoseconds, nil for never.
    func nextWake(after now: Moment) -> Int64? {
        guard end == nil else { return nil }
        var wake = min(waiting.earliest ?? .max, ending?.drainsUntil ?? .max)
        if ending == nil, wantsConnection, reconnectAt > now.nanoseconds { wake = min(wake, reconnectAt) }
        if ending == nil, !fresh.isEmpty || !again.isEmpty {
            if let next = nextPaceTime, nextPushIsAllowed {
                if connectionWithRoom() != nil { wake = min(wake, next) }
                // With a slow pace a connection is opened only shortly before it is needed.
                let opening = next - Int64(nanosecondsFromSeconds: settings.connectTimeoutSeconds)
                if opening > now.nanoseconds { wake = min(wake, opening) }
            }
        }
        if let deadline = settings.deadline, !isExpired, ending == nil {
            let milliseconds = max(0, min(deadline.epochMilliseconds - now.wall.epochMilliseconds, 86_400_000))
            wake = min(wake, now.nanoseconds + milliseconds * 1_000_000)
        }
        for connection in connections where connection.state != .closed {
            wake = min(wake, max(min(timeout(of: connection), healthCheck(of: connection)), timeoutsResumeAt))
        }
        return wake == .max ? nil : wake
    }

    /// A loop that was held up (the one who records fell behind, the machine slept) must read what arrived meanwhile before it may judge
    /// that answers are missing.
    private mutating func noteStall(at now: Moment) {
        if let lastAdvance, now.nanoseconds - lastAdvance > 1_000_000_000 { timeoutsResumeAt = now.nanoseconds + 1_000_000_000 }
        lastAdvance = now.nanoseconds
    }

    private mutating func settleNewcomers(at now: Moment) {
        while let push = fresh.removeFirst() { settleUnsent(push, at: now) }
        while let push = again.removeFirst() { settleUnsent(push, at: now) }
    }

    // MARK: Submitting

    private mutating func submitReady(at now: Moment) {
        while !fresh.isEmpty || !again.isEmpty {
            guard nextPushIsAllowed, let connection = connectionWithRoom() else { return }
            guard takePace(at: now.nanoseconds) else { return }
            // Those tried before come first: they are the oldest, and the number of pushes in doubt stays small.
            guard let push = again.removeFirst() ?? fresh.removeFirst() else { return }
            submit(push, on: connection, at: now)
        }
    }

    /// The canary goes first, and while the service has trouble only a few pushes are in the middle of their attempts.
    var nextPushIsAllowed: Bool {
        guard canaryAllowsNext else { return false }
        guard serviceHealth.troubleSince != nil, again.isEmpty else { return true }
        return openPushes - fresh.count < ServiceHealth.pushesTriedInTrouble
    }

    private mutating func submit(_ push: Int, on connection: Int, at now: Moment) {
        admitToCanary(push)
        let newest = connections[connection].add(push, at: now.nanoseconds)
        // It would be the server's turn to leave.
        if requestBudget.isUsed(by: connections[connection].submitted) { drain(connection) }
        pushes[push].beginAttempt(on: connection, behind: newest, at: now.nanoseconds)
        if newest >= 0 { pushes[Int(newest)].next = Int32(push) }
        inFlightCount += 1
        actions.append(.submit(push: push, connection: connection))
    }

    /// Takes a push off its connection; returns the connection. The push is nowhere until the caller queues or settles it.
    mutating func takeOff(_ push: Int) -> Int {
        let (connection, previous, next) = pushes[push].leaveConnection()
        if previous >= 0 { pushes[Int(previous)].next = next }
        if next >= 0 { pushes[Int(next)].previous = previous }
        connections[connection].remove(previous: previous, next: next)
        inFlightCount -= 1
        return connection
    }

    func oldest(on connection: Int) -> Int? {
        let push = connections[connection].oldest
        return push < 0 ? nil : Int(push)
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

    /// When the oldest push in flight, or the connection attempt, has waited for long enough.
    private func timeout(of connection: ConnectionSlot) -> Int64 {
        if connection.state == .opening { return connection.lastProgress + Int64(nanosecondsFromSeconds: settings.connectTimeoutSeconds) }
        guard connection.oldest >= 0 else { return .max }
        return pushes[Int(connection.oldest)].submitted + Int64(nanosecondsFromSeconds: settings.answerTimeoutSeconds)
    }

    private mutating func timedOut(_ connection: Int, at now: Moment) {
        if connections[connection].state == .opening {
            actions.append(.close(connection: connection))
            return connectionFailed(connection, .unreachable("no connection within \(settings.connectTimeoutSeconds) s"), at: now)
        }
        guard let push = oldest(on: connection) else { return }
        if connections[connection].lastProgress <= pushes[push].submitted {
            // Not a word since this push: the connection is dead, whatever TCP believes.
            actions.append(.close(connection: connection))
            connectionLost(connection, cause: "no answer within \(settings.answerTimeoutSeconds) s", at: now)
        } else {
            actions.append(.abandon(push: push, connection: connection))
            resolveCanary(push)
            answerLost(push, reason: .noAnswer, at: now)
        }
    }

    /// Everything in flight there will not be answered.
    mutating func loseAllInFlight(on connection: Int, reason: OwnReason, at now: Moment) {
        if connections[connection].inFlight > 0 { window.lost(afterAnswers: connections[connection].answers) }
        while let push = oldest(on: connection) {
            _ = takeOff(push)
            resolveLost(push, reason: reason, at: now)
        }
    }

    private mutating func stopIfTroubleLasts(at now: Moment) {
        guard let since = serviceHealth.lastsSince else { return }
        let lasted = now.nanoseconds - since
        guard lasted > Int64(nanosecondsFromSeconds: settings.retry.maximumTotalSeconds) else { return }
        stopForService(.outage(lastReason: lastServiceReason, seconds: Double(lasted) / 1e9), at: now)
    }
}
