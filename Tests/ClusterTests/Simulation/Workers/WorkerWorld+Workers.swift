@testable import Cluster

/// The processes of a `WorkerWorld`: what each of their threads does.
extension WorkerWorld {
    mutating func tick(_ worker: Int) {
        guard workers[worker].hasJoined else { return enter(worker) }
        if workers[worker].waiting[2] == nil, now - workers[worker].lastBeat >= 1 { beat(worker) }
        guard !workers[worker].isFenced else { return }
        runErrand(worker)
        submit(worker)
        work(worker)
        record(worker)
    }

    /// A transaction of its own: the worker's row, and its presence in this epoch of the database.
    private mutating func enter(_ worker: Int) {
        guard now >= awayUntil else { return }
        guard tables.state != .ended, tables.state != .stopped else {
            if worker == host { file.take(tables, of: incarnation) }
            return workers[worker].isGone = true
        }
        while tables.rows.count <= worker { tables.rows.append(SharedTables.Row(exists: false)) }
        tables.rows[worker] = SharedTables.Row()
        epochs += 1
        let epoch = recoveryBarrier.look(new: epochs, at: now)
        recoveryBarrier.join(workers[worker].name)
        workers[worker].isSurvivor = recoveryBarrier.isSurvivorConfirmed || breakage == .newcomersSurvivor
        tables.rows[worker].isSurvivor = workers[worker].isSurvivor
        noteJoin(worker)
        if incarnation == 0 { truth.founders.insert(worker) }
        workers[worker].hasJoined = true
        workers[worker].comparedEpoch = epoch
        workers[worker].lookedIncarnation = incarnation
        truth.beatAt[worker] = now
    }

    private mutating func beat(_ worker: Int) {
        workers[worker].lastBeat = now
        workers[worker].beats += 1
        let name = workers[worker].name
        if breakage != .comparesLate {
            workers[worker].memory.beatBegins(of: name, acknowledged: workers[worker].acknowledged)
        }
        let used = breakage == .partRaisedEarly ? workers[worker].part : self.used(worker)
        let state = workers[worker]
        let wants =
            state.mayWork && (state.seen.isCanaryOver || state.seen.isCanary)
            && (!state.toSubmit.isEmpty || state.leasedRange != nil || state.claiming != nil || tables.next < audience
                || !tables.returned.isEmpty)
        let isJudged = state.seen.isCanary && state.isIdle && state.leasedRange == nil && state.claiming == nil
        let beat = Beat(
            number: state.beats, used: used, wants: wants, confirms: state.comparedEpoch,
            isSurvivor: state.isSurvivor, acknowledged: state.acknowledged,
            judgesCanary: isJudged
                && (state.seen.answered >= Self.canarySize || tables.next == audience && tables.returned.isEmpty),
            isDone: state.seen.state == .cancelled && state.isIdle, start: now)
        send(.beat(beat), from: worker, thread: 2)
    }

    /// What the others have to leave it, as `SharedPace.used` tells it.
    private func used(_ worker: Int) -> Int {
        max(workers[worker].part, workers[worker].recent.reduce(0) { now - $1.at < 1 ? $0 + $1.count : $0 })
    }

    mutating func work(_ worker: Int) {
        let state = workers[worker]
        guard state.waiting[0] == nil, state.mayWork, now >= state.workWaitsUntil, state.gate.isOpen(at: now) else {
            return
        }
        if case .unsure = state.claims.state {
            // Asked again.
        } else if !state.toSubmit.isEmpty {
            return
        }
        if state.claiming == nil, var leasedRange = state.leasedRange {
            workers[worker].claiming = leasedRange.take(Int.random(in: 1...8, using: &random))
            workers[worker].leasedRange = leasedRange.range.isEmpty ? nil : leasedRange
        }
        if let claiming = workers[worker].claiming {
            let number = number(of: worker, \.claims)
            send(.claim(number: number, claiming), from: worker, thread: 0)
        } else {
            send(.lease(most: Int.random(in: 5...40, using: &random)), from: worker, thread: 0)
        }
    }

    private mutating func number(of worker: Int, _ thread: WritableKeyPath<SimulatedWorker, JournalNumbers>) -> Int64 {
        if breakage == .retryWithoutNumber, case .unsure(let number) = workers[worker][keyPath: thread].state {
            // As if it had never been written.
            var other = JournalNumbers()
            while other.confirmed < number {
                _ = other.take()
                other.acknowledged()
            }
            workers[worker][keyPath: thread] = other
        }
        return workers[worker][keyPath: thread].take()
    }

    /// Hands pushes to the wire, as fast as its part of the pace allows.
    private mutating func submit(_ worker: Int) {
        guard !workers[worker].toSubmit.isEmpty, workers[worker].mayWork, workers[worker].gate.isOpen(at: now) else {
            return
        }
        let moment = now
        workers[worker].recent.removeAll { moment - $0.at >= 1 }
        let room = workers[worker].part - workers[worker].recent.reduce(0) { $0 + $1.count }
        let part = workers[worker].toSubmit.prefix(max(0, room))
        guard !part.isEmpty else { return }
        workers[worker].toSubmit.removeFirst(part.count)
        workers[worker].recent.append((now, part.count))
        workers[worker].lastSubmission = now
        workers[worker].inFlight += part.count
        noteSubmission(part.map(\.id), by: worker)
        for (id, _) in part {
            if chance(0.95) { truth.accepted[id] = true }
            at(now + between(0.02, chance(0.02) ? 15 : 0.5), .outcome(worker: worker, id: id))
        }
    }

    mutating func record(_ worker: Int) {
        guard workers[worker].waiting[1] == nil else { return }
        if workers[worker].recording == nil {
            if !workers[worker].outcomes.isEmpty {
                workers[worker].recording = .outcomes(workers[worker].outcomes)
                workers[worker].outcomes = []
            } else if !workers[worker].toSubmit.isEmpty, workers[worker].isEnding {
                workers[worker].recording = .unsent(workers[worker].toSubmit)
                workers[worker].toSubmit = []
            }
        }
        guard let recording = workers[worker].recording else { return }
        let number = number(of: worker, \.records)
        send(.record(number: number, recording), from: worker, thread: 1)
    }

    // MARK: - What is done once

    private mutating func runErrand(_ worker: Int) {
        let state = workers[worker]
        guard state.waiting[3] == nil, now >= state.errandWaitsUntil else { return }
        if state.missing > 0, state.seen.state != .stopped {
            send(.stop(missing: state.missing), from: worker, thread: 3)
        } else if state.seen.isCoordinator, !state.seen.isReopened,
            state.seen.isCalm || state.seen.isUnwitnessedCancellation
        {
            send(.reopen, from: worker, thread: 3)
        } else if state.seen.isCoordinator, state.seen.canEnd || breakage == .endsUnconditionally, state.isIdle {
            send(.end, from: worker, thread: 3)
        } else if state.mayLeave, state.isIdle, breakage == .leavesAtOnce || now - state.lastSubmission >= 1 {
            send(.leave, from: worker, thread: 3)
        }
    }
}

extension SimulatedWorker {
    /// It submits nothing more, and gives back what it has claimed.
    var isEnding: Bool { mayLeave || seen.state == .cancelled }
    /// After a cancel it stays until the end is recorded: others may have died, and a worker has to
    /// notice.
    var mayLeave: Bool { isLeaving || missing > 0 || seen.state == .stopped }
}
