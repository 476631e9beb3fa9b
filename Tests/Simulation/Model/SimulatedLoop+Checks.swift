import Base

@testable import Delivery

/// What must hold for a loop whatever happened: counts after every turn, the whole state from time
/// to time.
extension SimulatedLoop {
    func checkTurn(at now: Moment) {
        if machine.openPushes + settledCount != addedCount {
            campaign.violate(
                .accounts, "\(addedCount) were added, \(settledCount) settled, \(machine.openPushes) are held")
        }
        var inFlight = 0
        var used = 0
        for (index, connection) in machine.connections.enumerated() {
            if connection.state == .open || connection.state == .opening { used += 1 }
            if index < peers.count { inFlight += peers[index].inFlight }
            if connection.state == .retiring, connection.inFlight == 0 {
                campaign.violate(.connectionUse, "connection \(index) is drained, and not closed")
            }
        }
        // A connection that is half used up has its successor ready.
        if machine.requestBudget.known != nil {
            knewBudget = true
            campaign.tally.note(.budgetKnown)
        }
        let most = knewBudget ? 2 * settings.connections : settings.connections
        if machine.serviceHealth.probes > 0 { campaign.tally.note(.probing) }
        if used > most { campaign.violate(.connectionUse, "\(used) connections, of \(settings.connections)") }
        if let endsSince, now.nanoseconds - endsSince >= Int64(settings.drainSeconds * 1e9) {
            if machine.isSourceEnded, machine.end == nil {
                campaign.violate(.ends, "it does not end although its time is over")
            }
        } else if inFlight != machine.inFlightCount {
            campaign.violate(.accounts, "\(inFlight) are in flight, the machine says \(machine.inFlightCount)")
        }
        if used > 1 { campaign.tally.note(.secondConnection) }
        if machine.credentialPendingSince != nil {
            campaign.tally.note(.tokenAwaited)
            if used > 0 { campaign.violate(.connectionUse, "\(used) connections, and no token for them") }
        }
        if machine.serviceHealth.troubleSince != nil { campaign.tally.note(.troubled) }
        if isScanDue() { scan(at: now) }
    }

    /// Looks through everything.
    func scan(at now: Moment) {
        var held = 0
        var inFlight = [Int](repeating: 0, count: machine.connections.count)
        for (index, push) in machine.pushes.enumerated() where push.state != .free {
            held += 1
            guard push.state == .inFlight else { continue }
            inFlight[Int(push.connection)] += 1
            if index >= wires.count || wires[index].state == .idle || wires[index].recipient != push.recipient {
                campaign.violate(.accounts, "recipient \(push.recipient) is said to be in flight")
            }
        }
        if held != machine.openPushes {
            campaign.violate(.accounts, "\(held) pushes are held, the machine says \(machine.openPushes)")
        }
        for (index, connection) in machine.connections.enumerated() {
            checkLinks(of: connection, count: inFlight[index])
            checkDeadlines(with: connection, index, at: now)
        }
    }

    private func checkLinks(of connection: ConnectionSlot, count: Int) {
        var linked = 0
        var push = connection.oldest
        var before: Int32 = -1
        while push >= 0, linked <= count {
            if machine.pushes[Int(push)].previous != before {
                return campaign.violate(.accounts, "the pushes in flight are linked wrongly")
            }
            linked += 1
            (before, push) = (push, machine.pushes[Int(push)].next)
        }
        if linked != count || connection.inFlight != count || connection.newest != before {
            campaign.violate(.accounts, "\(count) are in flight, \(linked) linked, \(connection.inFlight) counted")
        }
    }

    /// A silent connection gets a PING and is given up; an answer that does not come is not awaited
    /// forever.
    private func checkDeadlines(with connection: ConnectionSlot, _ index: Int, at now: Moment) {
        guard index < peers.count, peers[index].phase == .open, peers[index].inFlight > 0, machine.end == nil else {
            return
        }
        guard now.nanoseconds >= machine.timeoutsResumeAt else { return }
        let since = max(peers[index].lastSign, peers[index].lastSubmission, machine.timeoutsResumeAt)
        let longest = settings.pingAfterSeconds + settings.pingTimeoutSeconds + 1.5
        if Double(now.nanoseconds - since) / 1e9 > longest {
            campaign.violate(.health, "connection \(index) has been silent for \(longest) s")
        }
        let oldest = wires.reduce(Int64.max) { $1.state != .idle && $1.connection == index ? min($0, $1.sentAt) : $0 }
        let answerSeconds = settings.answerTimeoutSeconds + 1.5
        if oldest < now.nanoseconds, Double(now.nanoseconds - oldest) / 1e9 > answerSeconds {
            campaign.violate(.health, "an answer on connection \(index) is awaited for longer than \(answerSeconds) s")
        }
    }

    /// The machine wants to sleep: nothing may be due before it wakes.
    func checkSleep(until end: Int64, at now: Moment) {
        if let earliest = machine.waiting.earliest, machine.ending == nil {
            if earliest <= now.nanoseconds { campaign.violate(.awake, "it sleeps while a retry is due") }
            if earliest + campaign.clock.asleep < end - 1000 {
                campaign.violate(.awake, "it sleeps beyond the next retry")
            }
        }
        guard machine.ending == nil, !machine.isExpired, !machine.fresh.isEmpty || !machine.again.isEmpty else {
            return
        }
        // The campaign wakes it when there is one.
        guard machine.credentialPendingSince == nil, !machine.nextWaitsForNames else { return }
        let due = max(now.nanoseconds, nextStep ?? 0)
        guard machine.nextPushIsAllowed, due + campaign.clock.asleep < end - 1000 || due == now.nanoseconds else {
            return
        }
        var hasHope = false
        for (index, connection) in machine.connections.enumerated()
        where connection.state == .open || connection.state == .opening {
            hasHope = true
            guard connection.state == .open, index < peers.count, peers[index].phase == .open else { continue }
            let limit = peers[index].isWarm ? min(machine.window.limit, peers[index].toldLimit) : 1
            if peers[index].inFlight < limit, peers[index].toldRoom > 0 {
                campaign.violate(
                    .awake,
                    "it sleeps while \(machine.fresh.count + machine.again.count) pushes could leave on connection \(index)"
                )
            }
        }
        if !hasHope, machine.reconnectAt <= now.nanoseconds {
            campaign.violate(.awake, "it sleeps with pushes to send and no connection")
        }
    }

    /// When the next request must leave or be named, in monotonic nanoseconds; nil for at once. One
    /// without a name that waits for the pace and is not full leaves behind all whose names are on
    /// their way, and is named only early enough for that: a name would close it to pushes that may
    /// still join it.
    private var nextStep: Int64? {
        guard let next = machine.again.first ?? machine.fresh.first, let leaves = machine.nextPaceTime else {
            return nil
        }
        let mayGrow = machine.nameRule == .calls && !machine.isSourceEnded && machine.mayJoin(next)
        guard mayGrow, machine.ownPaceTime != nil, machine.lacksName(next) else { return leaves }
        let others = Int64(Double(machine.unnamed.count) * 1e9 / settings.slowestPace)
        return max(leaves + others - machine.namingLead.nanoseconds, machine.nextQuotaTime, machine.nextProbeTime)
    }

    /// The loop has ended.
    func checkEnd(_ end: RunEnd) {
        scan(at: campaign.clock.moment)
        if machine.openPushes != 0 {
            campaign.violate(.settlesOnce, "\(machine.openPushes) pushes are not settled at the end")
        }
        switch end {
        case .finished: if endsSince != nil { campaign.violate(.stops, "it finished, and was told to stop") }
        case .cancelled: campaign.violate(.stops, "a loop cannot tell a cancellation from any other request to stop")
        case .interrupted:
            if !campaign.loopGroup.control.isInterrupted { campaign.violate(.stops, "nobody interrupted it") }
        case .stopped(let cause):
            if !hasCauseToStop(cause) { campaign.violate(.stops, "it stopped without a cause: \(cause)") }
        }
        if case .stopped = end, !causes.isPlain {
            campaign.tally.note(causes.badTokens > 50 || causes.rejections > 50 ? .alarmed : .stoppedForConnections)
        }
        for connection in peers.indices where peers[connection].phase != .closed {
            campaign.violate(.connectionUse, "connection \(connection) was left open")
        }
    }

    private func hasCauseToStop(_ cause: StopCause) -> Bool {
        if causes.isPlain || causes.mayBeLikeAll { return true }
        if settings.stopLimits != nil, case .limit = cause { return true }
        if causes.fruitless >= settings.fruitlessConnectionLimit || causes.busy >= 100 { return true }
        if causes.busy > 0, case .service(_, .outage) = cause { return true }
        if causes.busy > 0, cause.heldUntil != nil { return true }
        if causes.hasAwaitedNamesInVain, case .service(_, .namesMissing) = cause { return true }
        if causes.hasAwaitedTokenInVain, case .service(_, .tokenMissing) = cause { return true }
        // At the end of the canary, half of it is enough to judge.
        return causes.badTokens > 25 || causes.rejections > 25 || causes.fruitless > 1
    }
}

extension SimulatedCampaign {
    /// Everything that was claimed in this epoch must be somewhere.
    func checkAccounts() {
        guard !isKilled, violation == nil else { return }
        var known = account.recordedCount + unrecorded.count + source.queuedCount + source.hand.count
        for loop in loops { known += loop.machine.openPushes + loop.machine.settlements.count }
        if known != account.claimedCount {
            violate(.accounts, "\(account.claimedCount) are claimed, \(known) of them somewhere")
        }
    }

    /// Compares the report with the server's ledger, recipient by recipient.
    func checkReport() {
        for recipient in account.members {
            let fate = fates[recipient]
            guard let outcome = account.reported(recipient) else {
                violate(.settlesOnce, "recipient \(recipient) has no outcome")
                continue
            }
            if outcome == .accepted, fate.accepted == 0 {
                violate(.ledger, "recipient \(recipient) is accepted, and was not")
            }
            if outcome != .accepted, fate.accepted > 0, !fate.wasEverInDoubt {
                violate(.ledger, "recipient \(recipient) is \(outcome), and was accepted")
            }
            if fate.mayHaveArrived, [.rejected, .failed, .unsent].contains(outcome) {
                violate(.stillInDoubt, "recipient \(recipient) is \(outcome), and may have got the push")
            }
            if [.rejected, .failed, .unsent].contains(outcome), fate.accepted > 0 {
                violate(.ledger, "recipient \(recipient) is \(outcome), and was accepted")
            }
            if fate.accepted > 1, nature.naming != nil, !fate.mayComeTwice {
                violate(.recognized, "recipient \(recipient) was accepted \(fate.accepted) times")
            }
            if fate.accepted > 1, !nature.settings.resendsUnknown || !fate.wasEverInDoubt {
                violate(.notSentAgain, "recipient \(recipient) was accepted \(fate.accepted) times")
            }
        }
    }

    func finishTally() {
        for recipient in fates.indices { tally.note(outcome(of: recipient) ?? .unsent) }
        let end =
            switch judgedEnd {
            case .finished: 0
            case .stopped: 1
            case .interrupted, .cancelled: 2
            }
        tally.noteEnd(end, after: clock.now - 1000 * Span.second)
    }
}
