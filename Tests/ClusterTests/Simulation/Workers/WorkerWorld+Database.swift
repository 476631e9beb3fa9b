@testable import Cluster

extension WorkerWorld.Statement {
    /// Holds its worker's row `FOR SHARE`.
    var needsShare: Bool {
        switch request {
        case .lease, .claim, .record, .reopen, .end: true
        case .beat, .declareDead, .leave, .stop: false
        }
    }

    /// The worker whose row it holds, together with others or alone.
    var lockedRow: Int? {
        switch request {
        case .declareDead(let other, _): other
        case .stop: nil
        default: worker
        }
    }
}

/// The database of a `WorkerWorld`: what statements wait for, and in which order they commit.
extension WorkerWorld {
    mutating func begin(_ id: Int) {
        guard isConnected(id) else { return }
        let worker = statements[id].worker
        statements[id].sawAlive = tables.isAlive(worker)
        statements[id].order = tables.state
        if case .declareDead(let other, _) = statements[id].request, other < tables.rows.count {
            statements[id].snapshot = tables.rows[other]
        }
        proceed(id)
    }

    /// What was sent to a server that is no longer there is lost, and its sender hears of it.
    private mutating func isConnected(_ id: Int) -> Bool {
        if statements[id].incarnation == incarnation { return true }
        if statements[id].isAnswered { at(now + between(0.01, 5), .lost(id)) }
        return false
    }

    /// Continues once no other statement holds a lock that it must wait for.
    mutating func proceed(_ id: Int) {
        guard isConnected(id) else { return }
        if let row = statements[id].lockedRow {
            let isShared = statements[id].needsShare
            let ignoresSharers = isShared || breakage == .keyShare
            if owners[row] != nil && !(isShared && breakage == .keyShare) || !(ignoresSharers || sharers[row].isEmpty) {
                blocked.append((row, id))
                // No statement waits for long.
                if statements[id].isAnswered { at(now + 5, .lost(id)) }
                return
            }
            if isShared { sharers[row].insert(id) } else { owners[row] = id }
        }
        at(now + statements[id].execution, .commit(id))
    }

    private mutating func unlock(_ id: Int) {
        guard let row = statements[id].lockedRow else { return }
        sharers[row].remove(id)
        if owners[row] == id { owners[row] = nil }
        guard blocked.contains(where: { $0.worker == row }) else { return }
        let free = blocked.filter { $0.worker == row }
        blocked.removeAll { $0.worker == row }
        for (_, other) in free { at(now, .proceed(other)) }
    }

    mutating func commit(_ id: Int) {
        guard isConnected(id) else { return }
        let statement = statements[id]
        // The row was locked when the statement began: it cannot have changed since.
        let isFenced = breakage == .keyShare ? !statement.sawAlive : !tables.isAlive(statement.worker)
        statements[id].answer = statement.needsShare && isFenced ? .dead : perform(statement)
        tell("\(workers[statement.worker].name) \(statement.request): \(statements[id].answer)")
        unlock(id)
        if statement.isAnswered { at(now + statement.answerDelay, .answer(id)) }
    }

    private mutating func perform(_ statement: Statement) -> Answer {
        let worker = statement.worker
        switch statement.request {
        case .lease(let most): return lease(worker, most)
        case .claim(let number, let leasedRange): return claim(number, leasedRange, statement)
        case .record(let number, let record): return self.record(number, record, of: worker)
        case .beat(let beat): return self.beat(beat, of: worker)
        case .declareDead(let other, let beat):
            guard tables.isAlive(other), tables.rows[other].beat == beat else { return .done }
            bury(other, breakage == .repeatableRead ? statement.snapshot ?? tables.rows[other] : tables.rows[other])
            return .done
        case .leave: return leave(worker)
        case .reopen: return reopen(worker)
        case .end: return end(worker)
        case .stop(let missing):
            stop(missing: missing)
            return .done
        }
    }

    /// Entries are missing.
    mutating func stop(missing: Int64) {
        guard tables.state != .ended else { return }
        let isNew = tables.missing == 0
        tables.missing = max(tables.missing, missing)
        truth.noticedAt = truth.noticedAt ?? now
        // What a person has ended stays so, and says what is missing.
        if tables.state == .cancelled {
            if isNew { tables.version += 1 }
            return
        }
        if tables.state != .stopped { tables.version += 1 }
        tables.state = .stopped
        truth.stoppedAt = truth.stoppedAt ?? now
    }

    /// No worker is left that could say whether entries are missing.
    mutating func stopUnwitnessed() {
        guard tables.state == .sending || tables.state == .paused else { return }
        noteUnwitnessed()
        tables.isUnwitnessed = true
        tables.state = .stopped
        tables.version += 1
        truth.stoppedAt = truth.stoppedAt ?? now
    }

    /// Whether a worker has confirmed this epoch of the database.
    func hasConfirmed(_ worker: Int) -> Bool {
        breakage == .claimsBeforeComparing || recoveryBarrier.present.contains(workers[worker].name)
    }

    /// Whether the recovery barrier is open, for a worker that wants to lease or claim.
    func isCalm(for worker: Int) -> Bool {
        guard hasConfirmed(worker), breakage != .claimsBeforeComparing, breakage != .awaitsNobody else {
            return hasConfirmed(worker)
        }
        return recoveryBarrier.isOver(
            living: workers.indices.lazy.filter { tables.isAlive($0) }.map { workers[$0].name }, at: now)
    }
}
