@testable import Cluster

/// What statements do to the tables of a `WorkerWorld`.
extension WorkerWorld {
    /// How many answers the canary waits for.
    static let canarySize = 20

    mutating func lease(_ worker: Int, _ most: Int) -> Answer {
        guard isCalm(for: worker), tables.state == .sending else { return .notNow }
        // What it already has comes first: the answer that said so may have been lost.
        if breakage != .leasesAnew, let known = tables.rows[worker].open.first { return .leased(known) }
        guard tables.former.isEmpty else { return .leased(nil) }
        var most = most
        if !tables.isCanaryOver {
            guard tables.canary == worker else { return .leased(nil) }
            most = min(most, Self.canarySize - tables.answered - tables.rows[worker].outstanding.count)
            guard most > 0 else { return .leased(nil) }
        }
        guard let leasedRange = nextLeasedRange(most) else { return .leased(nil) }
        tables.rows[worker].open.append(leasedRange)
        return .leased(leasedRange)
    }

    /// `DELETE FROM returned … RETURNING`, or else `UPDATE leg SET next = … RETURNING`.
    private mutating func nextLeasedRange(_ most: Int) -> LeasedRange? {
        if var back = tables.returned.popLast() {
            counts[.returns] += 1
            let part = back.take(most)
            if !back.range.isEmpty { tables.returned.append(back) }
            return part
        }
        guard tables.next < audience else { return nil }
        let first = tables.next
        tables.next = min(audience, first + most)
        return LeasedRange(range: first..<tables.next)
    }

    mutating func claim(_ number: Int64, _ leasedRange: LeasedRange, _ statement: Statement) -> Answer {
        let worker = statement.worker
        if tables.rows[worker].claims.contains(number) { return .done }
        guard isCalm(for: worker), statement.order == .sending || breakage == .claimsWhateverTheOrder else {
            return .notNow
        }
        guard follows(number, tables.rows[worker].claims) else { return .notNow }
        let index = tables.rows[worker].open.firstIndex {
            $0.redo == leasedRange.redo && $0.range.lowerBound <= leasedRange.range.lowerBound
                && leasedRange.range.upperBound <= $0.range.upperBound
        }
        // One whose fence does not hold has also seen its lease.
        guard index != nil || breakage == .keyShare else { return .notYours }
        noteClaim(leasedRange, of: worker, order: statement.order)
        _ = tables.rows[worker].claims.write(number)
        if let index { subtract(leasedRange.range, fromLease: index, of: worker) }
        for id in leasedRange.range {
            tables.claimed[id] = Int8(leasedRange.redo)
            tables.rows[worker].outstanding.append((id, leasedRange.redo))
        }
        return .done
    }

    private mutating func subtract(_ range: Range<Int>, fromLease index: Int, of worker: Int) {
        let lease = tables.rows[worker].open.remove(at: index)
        let rest = [lease.range.lowerBound..<range.lowerBound, range.upperBound..<lease.range.upperBound].filter {
            !$0.isEmpty
        }
        tables.rows[worker].open.insert(contentsOf: rest.map { LeasedRange(range: $0, redo: lease.redo) }, at: index)
    }

    mutating func record(_ number: Int64, _ record: Record, of worker: Int) -> Answer {
        if tables.rows[worker].records.contains(number) { return .done }
        guard hasConfirmed(worker) || hasEndedEarly,
            follows(number, tables.rows[worker].records) || hasEndedEarly && tables.missing > 0
        else {
            return .notNow
        }
        _ = tables.rows[worker].records.write(number)
        switch record {
        case .outcomes(let outcomes):
            for (id, isAccepted) in outcomes {
                settle(id, isUnknown: false)
                if isAccepted { tables.recordedAccepted[id] = true }
            }
            let settled = outcomes.map(\.id)
            tables.rows[worker].outstanding.removeAll { settled.contains($0.id) }
        case .unsent(let unsent):
            let ids = unsent.map(\.id)
            tables.rows[worker].outstanding.removeAll { ids.contains($0.id) }
            giveBack(unsent)
        }
        return .done
    }

    /// Whether the entry before one is there: it may have been forgotten after its answer was sent.
    private func follows(_ number: Int64, _ written: WrittenNumbers) -> Bool {
        number == 1 || written.contains(number - 1) || breakage == .retryWithoutNumber
    }

    /// Whether what can be recorded is.
    private var hasEndedEarly: Bool { tables.state == .stopped || tables.state == .cancelled }

    /// What was claimed and certainly not submitted is sent by others.
    private mutating func giveBack(_ unsent: [(id: Int, redo: Int)]) {
        counts[.unsent] += unsent.count
        for (id, redo) in unsent { tables.returned.append(LeasedRange(range: id..<id + 1, redo: redo + 1)) }
    }

    /// What a worker has claimed and says nothing more of is unknown: the answer to a claim was
    /// lost, or its outcome was forgotten.
    private mutating func close(_ outstanding: [(id: Int, redo: Int)]) {
        for (id, _) in outstanding { settle(id, isUnknown: true) }
    }

    private mutating func settle(_ id: Int, isUnknown: Bool) {
        tables.settled[id] += 1
        tables.settledCount += 1
        if isUnknown { tables.unknown[id] = true } else { tables.answered += 1 }
    }

    mutating func beat(_ beat: Beat, of worker: Int) -> Answer {
        epochs += 1
        let epoch = recoveryBarrier.look(new: epochs, at: now)
        let missing = beat.acknowledged.missing(in: tables.entries(of: worker))
        if missing > 0, breakage != .comparesNothing { stop(missing: missing) }
        var granted: Int?
        if tables.isAlive(worker) {
            guard tables.rows[worker].beat < beat.number else { return .done }
            tables.rows[worker].beat = beat.number
            tables.rows[worker].isDone = beat.isDone
            if beat.isDone {
                // A claim whose acknowledgement was lost.
                close(tables.rows[worker].outstanding)
                tables.rows[worker].outstanding = []
            }
            truth.beatAt[worker] = now
            tables.rows[worker].isSurvivor = beat.isSurvivor
            if let confirmed = beat.confirms {
                recoveryBarrier.confirm(workers[worker].name, epoch: confirmed, isSurvivor: beat.isSurvivor)
            }
            if recoveryBarrier.lacksSurvivors(tables.livingSurvivors, at: now) { stopUnwitnessed() }
            granted = tables.parts.beat(
                of: workers[worker].name, number: beat.number, used: beat.used, wants: beat.wants)
            takeRoles(worker, judges: beat.judgesCanary)
        }
        var others: [String: Int64] = [:], entries: [String: CommitMemory.Row] = [:]
        for index in tables.rows.indices where tables.rows[index].exists {
            if index != worker, !tables.rows[index].isDead { others[workers[index].name] = tables.rows[index].beat }
            entries[workers[index].name] = tables.rows[index].entries
        }
        let observation = Observation(
            state: tables.state, isCanary: tables.canary == worker, isCoordinator: tables.coordinator == worker,
            isReopened: tables.former.isEmpty, isCanaryOver: tables.isCanaryOver, answered: tables.answered,
            canEnd: canEnd(),
            isCalm: isCalm(for: worker), isUnwitnessedCancellation: isUnwitnessedCancellation)
        return .beat(
            BeatAnswer(
                granted: granted, others: others, entries: entries, changes: tables.version, epoch: epoch,
                isSurvivorConfirmed: recoveryBarrier.isSurvivorConfirmed, isAlive: tables.isAlive(worker),
                observation: observation))
    }

    /// A role without a holder goes to the one whose beat finds it so.
    private mutating func takeRoles(_ worker: Int, judges: Bool) {
        if tables.coordinator == nil { tables.coordinator = worker }
        guard !tables.isCanaryOver else { return }
        if tables.canary == nil {
            tables.canary = worker
            truth.canaryHolders += 1
        } else if tables.canary == worker, judges {
            tables.isCanaryOver = true
            tables.version += 1
            truth.isCanaryOver = true
        }
    }

    /// Whether the end can be recorded: all recipients are settled, or, after a cancel, no worker
    /// has anything in hand. A claim that was under way has ended before the beat that says so, as
    /// both hold the worker's row.
    private func canEnd() -> Bool {
        switch tables.state {
        case .sending, .paused: tables.hasSettledAll
        case .cancelled:
            tables.former.isEmpty
                && tables.rows.allSatisfy { !$0.exists || $0.isDead || ($0.isDone && $0.outstanding.isEmpty) }
        case .stopped, .ended: false
        }
    }

    /// Declares a worker dead: what it had leased and not claimed comes back, and what it had
    /// claimed without an outcome is unknown.
    mutating func bury(_ worker: Int, _ row: SharedTables.Row) {
        counts[.burials] += 1
        noteBurial(worker)
        strike(worker)
        for (id, _) in row.outstanding { settle(id, isUnknown: true) }
        if recoveryBarrier.present.contains(workers[worker].name) || breakage == .trustsTheUnconfirmed {
            tables.returned += row.open
        } else {
            // Its claims may have been forgotten.
            for id in row.open.flatMap(\.range) where tables.settled[id] == 0 { settle(id, isUnknown: true) }
        }
    }

    private mutating func strike(_ worker: Int) {
        tables.rows[worker].isDead = true
        tables.rows[worker].open = []
        tables.rows[worker].outstanding = []
        tables.parts.remove(workers[worker].name)
        if tables.canary == worker, breakage != .canaryDies { tables.canary = nil }
        if tables.coordinator == worker { tables.coordinator = nil }
    }

    /// A worker goes in an orderly way: everything that it has submitted is recorded.
    mutating func leave(_ worker: Int) -> Answer {
        guard tables.isAlive(worker) else { return .done }
        guard hasConfirmed(worker) || hasEndedEarly else { return .notNow }
        let row = tables.rows[worker]
        strike(worker)
        tables.returned += row.open
        // Of a run that was stopped, outcomes may be forgotten.
        if tables.state != .stopped { close(row.outstanding) }
        return .done
    }

    /// What workers of a former epoch left open is settled, once.
    mutating func reopen(_ worker: Int) -> Answer {
        guard isCalm(for: worker) || isUnwitnessedCancellation, tables.coordinator == worker else { return .notNow }
        for id in tables.former { settle(id, isUnknown: true) }
        if !tables.former.isEmpty { tables.version += 1 }
        tables.former = 0..<0
        return .done
    }

    /// Whether a run is cancelled although no worker can say any more whether something was
    /// forgotten. The order is final in itself, so nothing waits for a survivor.
    var isUnwitnessedCancellation: Bool {
        tables.state == .cancelled && recoveryBarrier.lacksSurvivors(tables.livingSurvivors, at: now)
    }

    mutating func end(_ worker: Int) -> Answer {
        guard isCalm(for: worker) || isUnwitnessedCancellation, tables.coordinator == worker else { return .notNow }
        guard canEnd() || (breakage == .endsUnconditionally && tables.state != .ended) else { return .notNow }
        truth.endedCancelled = tables.state == .cancelled
        tables.state = .ended
        tables.version += 1
        tables.ends += 1
        truth.overAt = truth.overAt ?? now
        noteEnd()
        return .done
    }
}
