@testable import PostgresRuns

/// What befalls a `MemberWorld`.
extension MemberWorld {
    mutating func trouble() {
        // Trouble ends, or nothing would show that the run does.
        guard now < 200, truth.overAt == nil else { return }
        lastTrouble = now
        let alive = members.indices.filter { !members[$0].isGone && !members[$0].isFenced }
        if let member = alive.randomElement(using: &random) { strike(member, of: alive.count) }
        at(now + between(1, 40), .trouble)
    }

    private mutating func strike(_ member: Int, of alive: Int) {
        switch Int.random(in: 0..<9, using: &random) {
        case 0:
            doom(member)
            if alive < 3 || chance(0.5) { join() }
        case 1:
            counts[.freezes] += 1
            members[member].frozenUntil = now + between(0.5, 60)
            tell("\(members[member].name) is frozen until \(members[member].frozenUntil)")
            hold(member)
        case 2: members[member].frozenUntil = now + between(0.1, 3)
        case 3:
            counts[.outages] += 1
            goAway(for: between(1, 60))
        case 4, 5: prepareTakeover()
        case 6:
            counts[.departures] += 1
            members[member].isLeaving = true
            if member == home { wasHomeEnded = true }
            if alive < 3 || chance(0.5) { join() }
        case 7: giveOrder()
        default: if alive < 5 { join() }
        }
    }

    /// Somebody looks after a run that nobody sends.
    mutating func watchman() {
        guard truth.overAt == nil else { return }
        if members.allSatisfy({ $0.isGone || $0.isFenced || $0.isLeaving }) {
            if tables.state == .stopped {
                if members.allSatisfy(\.isGone) {
                    resumeAtHome()
                    truth.overAt = now
                }
            } else {
                join()
            }
        }
        if tables.state == .paused, now > lastTrouble + 30 { order(.sending) }
        at(now + 15, .watchman)
    }

    mutating func goAway(for seconds: Double) {
        let from = max(now, awayUntil)
        awayUntil = max(awayUntil, now + seconds)
        if from < awayUntil { outageTimes.append(from...awayUntil) }
    }

    /// Kills a member. What it had just sent may get through when it is about to be declared dead.
    mutating func doom(_ member: Int) {
        guard !members[member].isGone else { return }
        counts[.deaths] += 1
        if member == home { wasHomeEnded = true }
        tell("\(members[member].name) is killed")
        if members[member].hasJoined, !members[member].isFenced {
            work(member)
            record(member)
        }
        hold(member)
        members[member].isGone = true
    }

    /// Holds what a member has under way, for as long as others wait before they declare it dead.
    mutating func hold(_ member: Int) {
        guard chance(0.5) else { return }
        let statements = statements
        let held = queue.remove { event in
            guard case .begin(let id) = event else { return false }
            return statements[id].member == member && statements[id].needsShare
        }
        for event in held {
            guard case .begin(let id) = event else { continue }
            self.statements[id].execution = between(0.1, 6)
            at(now + MemberWatch.silenceSeconds + between(-2, 3), event)
        }
    }

    // MARK: - Orders

    private mutating func giveOrder() {
        counts[.orders] += 1
        if tables.state == .sending, chance(0.15) { return order(.cancelled) }
        order(.paused)
        let resumption = now + between(1, 30)
        lastTrouble = resumption
        at(resumption, .goOn)
    }

    /// A person's order. It is committed and acknowledged at once; what cannot be reached is ordered nothing.
    mutating func order(_ state: SharedTables.State) {
        if now < awayUntil {
            if state == .sending { at(awayUntil + 0.1, .goOn) }
            return
        }
        guard tables.state == .sending || tables.state == .paused, tables.state != state else { return }
        tables.state = state
        tables.version += 1
        if state == .cancelled { truth.cancelledAt = now }
    }

    // MARK: - A standby takes over

    /// One that lags forgets what is committed from now until it takes over.
    private mutating func prepareTakeover() {
        guard !isTakeoverPending else { return }
        isTakeoverPending = true
        standby = chance(0.6) ? tables : nil
        at(standby == nil ? now : now + between(0.01, 6), .takeover)
    }

    mutating func takeOver() {
        guard truth.overAt == nil else { return }
        isTakeoverPending = false
        counts[.takeovers] += 1
        lastTrouble = max(lastTrouble, now)
        incarnation += 1
        // Two that lag within seconds, so that the stop itself is forgotten, are not played.
        if let standby, truth.noticedAt == nil {
            noteForgotten(standby)
            tables = standby
        }
        standby = nil
        // The table that is not logged, and everybody's locks.
        rollCall = RollCall()
        for member in members.indices {
            sharers[member] = []
            owners[member] = nil
        }
        blocked = []
        goAway(for: chance(0.5) ? between(0.2, 4) : between(4, 40))
        tell("a standby takes over that knows \(tables.next) leased, \(tables.settledCount) settled; reachable at \(awayUntil)")
        // Machines that share a rack with the database.
        if chance(0.4), let member = members.indices.filter({ !members[$0].isGone }).randomElement(using: &random) {
            doom(member)
            join()
        }
    }
}
