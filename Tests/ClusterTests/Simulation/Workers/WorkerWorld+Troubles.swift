@testable import Cluster

/// What befalls a `WorkerWorld`.
extension WorkerWorld {
    mutating func trouble() {
        // Trouble ends, or nothing would show that the run does.
        guard now < 200, truth.overAt == nil else { return }
        lastTrouble = now
        let alive = workers.indices.filter { !workers[$0].isGone && !workers[$0].isFenced }
        if let worker = alive.randomElement(using: &random) { strike(worker, of: alive.count) }
        at(now + between(1, 40), .trouble)
    }

    private mutating func strike(_ worker: Int, of alive: Int) {
        switch Int.random(in: 0..<9, using: &random) {
        case 0:
            doom(worker)
            if alive < 3 || chance(0.5) { join() }
        case 1:
            counts[.freezes] += 1
            workers[worker].frozenUntil = now + between(0.5, 60)
            tell("\(workers[worker].name) is frozen until \(workers[worker].frozenUntil)")
            hold(worker)
        case 2: workers[worker].frozenUntil = now + between(0.1, 3)
        case 3:
            counts[.outages] += 1
            goAway(for: between(1, 60))
        case 4, 5: prepareTakeover()
        case 6:
            counts[.departures] += 1
            workers[worker].isLeaving = true
            if worker == host { wasHostEnded = true }
            if alive < 3 || chance(0.5) { join() }
        case 7: giveOrder()
        default: if alive < 5 { join() }
        }
    }

    /// A process looks after a run that no worker sends.
    mutating func watchman() {
        guard truth.overAt == nil else { return }
        if workers.allSatisfy({ $0.isGone || $0.isFenced || $0.isLeaving }) {
            if tables.state == .stopped {
                if workers.allSatisfy(\.isGone) {
                    resumeAtHost()
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

    /// Kills a worker. What it had just sent may get through when it is about to be declared dead.
    mutating func doom(_ worker: Int) {
        guard !workers[worker].isGone else { return }
        counts[.deaths] += 1
        if worker == host { wasHostEnded = true }
        tell("\(workers[worker].name) is killed")
        if workers[worker].hasJoined, !workers[worker].isFenced {
            work(worker)
            record(worker)
        }
        hold(worker)
        workers[worker].isGone = true
    }

    /// Holds what a worker has under way, for as long as others wait before they declare it dead.
    mutating func hold(_ worker: Int) {
        guard chance(0.5) else { return }
        let statements = statements
        let held = queue.remove { event in
            guard case .begin(let id) = event else { return false }
            return statements[id].worker == worker && statements[id].needsShare
        }
        for event in held {
            guard case .begin(let id) = event else { continue }
            self.statements[id].execution = between(0.1, 6)
            at(now + WorkerWatch.silenceSeconds + between(-2, 3), event)
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

    /// A person's order. It is committed and acknowledged at once; what cannot be reached is
    /// ordered nothing.
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
        recoveryBarrier = RecoveryBarrier()
        for worker in workers.indices {
            sharers[worker] = []
            owners[worker] = nil
        }
        blocked = []
        goAway(for: chance(0.5) ? between(0.2, 4) : between(4, 40))
        tell(
            "a standby takes over that knows \(tables.next) leased, \(tables.settledCount) settled; reachable at \(awayUntil)"
        )
        // Machines that share a rack with the database.
        if chance(0.4), let worker = workers.indices.filter({ !workers[$0].isGone }).randomElement(using: &random) {
            doom(worker)
            join()
        }
    }
}
