@testable import Cluster

/// What the processes of a `WorkerWorld` make of answers.
extension WorkerWorld {
    mutating func answered(_ id: Int) {
        let statement = statements[id]
        let worker = statement.worker
        // Given up before.
        guard workers[worker].waiting[statement.thread] == id else { return }
        workers[worker].waiting[statement.thread] = nil
        switch (statement.request, statement.answer) {
        case (_, .dead):
            // Its next beat tells whether it was declared dead, or forgotten.
            counts[.fences] += 1
            workers[worker].isFenced = true
        case (.lease, .leased(let leasedRange)):
            workers[worker].leasedRange = leasedRange
            if leasedRange == nil { workers[worker].workWaitsUntil = now + 1 }
        case (.lease, _): workers[worker].workWaitsUntil = now + 0.5
        case (.claim(_, let leasedRange), .done):
            workers[worker].claims.acknowledged()
            workers[worker].claiming = nil
            workers[worker].toSubmit += leasedRange.range.map { ($0, leasedRange.redo) }
        case (.claim, .notYours):
            counts[.refusals] += 1
            workers[worker].claims.lost()
            workers[worker].claiming = nil
            workers[worker].leasedRange = nil
        case (.claim, _):
            workers[worker].claims.lost()
            workers[worker].workWaitsUntil = now + 0.5
        case (.record, .done):
            workers[worker].records.acknowledged()
            workers[worker].recording = nil
        case (.record, _): workers[worker].records.lost()
        case (.beat(let beat), .beat(let answer)): beaten(statement, beat, answer)
        case (.leave, .done): workers[worker].isGone = true
        case (.stop, _): workers[worker].seen.state = .stopped
        case (.leave, _), (.reopen, _), (.end, _): workers[worker].errandWaitsUntil = now + 1
        default: break
        }
    }

    private mutating func beaten(_ statement: Statement, _ beat: Beat, _ answer: BeatAnswer) {
        let worker = statement.worker
        if breakage == .comparesLate {
            workers[worker].memory.beatBegins(of: workers[worker].name, acknowledged: workers[worker].acknowledged)
        }
        let missing =
            breakage == .comparesNothing ? 0 : workers[worker].memory.look(at: answer.entries, changes: answer.changes)
        workers[worker].missing = max(workers[worker].missing, missing)
        if missing == 0 {
            workers[worker].comparedEpoch = answer.epoch
            if answer.isSurvivorConfirmed { workers[worker].isSurvivor = true }
        }
        workers[worker].lookedIncarnation = statement.incarnation
        workers[worker].answeredBeatStart = beat.start
        workers[worker].seen = answer.observation
        noteLook(worker, missing: missing, state: answer.observation.state)
        if worker == host, statement.incarnation == incarnation, beat.number % 5 == 0 {
            file.take(tables, of: incarnation)
        }
        guard answer.isAlive || answer.observation.state == .ended else { return foundDead(worker) }
        if answer.observation.state == .ended {
            if worker == host { file.take(tables, of: incarnation) }
            return workers[worker].isGone = true
        }
        // It was on record as dead, and that was forgotten: it has given up, and goes.
        if workers[worker].isFenced {
            if workers[worker].waiting[3] == nil { send(.leave, from: worker, thread: 3) }
            return
        }
        if answer.observation.isCalm {
            workers[worker].gate.beat(begunAt: breakage == .gateFromAnswer ? now : beat.start)
        }
        if let granted = answer.granted {
            // What the others have may have been forgotten while the recovery barrier is closed.
            workers[worker].part = answer.observation.isCalm ? granted : min(granted, workers[worker].part)
        }
        mourn(worker, answer)
    }

    /// It says what is missing, if something is, and ends.
    private mutating func foundDead(_ worker: Int) {
        workers[worker].isFenced = true
        guard workers[worker].missing > 0, workers[worker].seen.state != .stopped else {
            workers[worker].isGone = true
            return rejoin(worker)
        }
        if workers[worker].waiting[3] == nil { send(.stop(missing: workers[worker].missing), from: worker, thread: 3) }
    }

    private mutating func mourn(_ worker: Int, _ answer: BeatAnswer) {
        let epoch = breakage == .countsAcrossEpochs ? 0 : answer.epoch
        // What passed since the last look, or, if this is broken, since the last beat that could be
        // sent.
        if breakage == .watchesWhileAway {
            for step in stride(from: workers[worker].lastLook ?? now, to: now, by: WorkerWatch.longestStepSeconds) {
                _ = workers[worker].watch.look(at: answer.others, epoch: epoch, step)
            }
        }
        let dead = workers[worker].watch.look(at: answer.others, epoch: epoch, now)
        workers[worker].lastLook = now
        guard let silence = dead.first, workers[worker].waiting[3] == nil, let other = Int(silence.worker.dropFirst())
        else { return }
        send(.declareDead(worker: other, beat: silence.beat), from: worker, thread: 3)
    }

    mutating func wasLost(_ id: Int) {
        let statement = statements[id]
        let worker = statement.worker
        guard workers[worker].waiting[statement.thread] == id else { return }
        workers[worker].waiting[statement.thread] = nil
        switch statement.request {
        case .claim: workers[worker].claims.lost()
        case .record: workers[worker].records.lost()
        case .beat: workers[worker].watch.disconnected()
        default: break
        }
    }
}
