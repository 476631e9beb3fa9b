@testable import PostgresRuns

/// What statements do to the tables of a `MemberWorld`.
extension MemberWorld {
    /// How many answers the canary waits for.
    static let canarySize = 20

    mutating func lease(_ member: Int, _ most: Int) -> Answer {
        guard isCalm(for: member), tables.state == .sending else { return .notNow }
        // What it already has comes first: the answer that said so may have been lost.
        if breakage != .leasesAnew, let known = tables.rows[member].open.first { return .leased(known) }
        guard tables.former.isEmpty else { return .leased(nil) }
        var most = most
        if !tables.isCanaryOver {
            guard tables.canary == member else { return .leased(nil) }
            most = min(most, Self.canarySize - tables.answered - tables.rows[member].outstanding.count)
            guard most > 0 else { return .leased(nil) }
        }
        guard let stretch = nextStretch(most) else { return .leased(nil) }
        tables.rows[member].open.append(stretch)
        return .leased(stretch)
    }

    /// `DELETE FROM returned … RETURNING`, or else `UPDATE leg SET next = … RETURNING`.
    private mutating func nextStretch(_ most: Int) -> Stretch? {
        if var back = tables.returned.popLast() {
            counts[.returns] += 1
            let part = back.take(most)
            if !back.range.isEmpty { tables.returned.append(back) }
            return part
        }
        guard tables.next < audience else { return nil }
        let first = tables.next
        tables.next = min(audience, first + most)
        return Stretch(range: first..<tables.next)
    }

    mutating func claim(_ number: Int64, _ stretch: Stretch, _ statement: Statement) -> Answer {
        let member = statement.member
        if tables.rows[member].claims.contains(number) { return .done }
        guard isCalm(for: member), statement.order == .sending || breakage == .claimsWhateverTheOrder else { return .notNow }
        guard follows(number, tables.rows[member].claims) else { return .notNow }
        let index = tables.rows[member].open.firstIndex {
            $0.redo == stretch.redo && $0.range.lowerBound <= stretch.range.lowerBound && stretch.range.upperBound <= $0.range.upperBound
        }
        // One whose fence does not hold has seen its lease, too.
        guard index != nil || breakage == .keyShare else { return .notYours }
        noteClaim(stretch, of: member, order: statement.order)
        _ = tables.rows[member].claims.write(number)
        if let index { subtract(stretch.range, fromLease: index, of: member) }
        for id in stretch.range {
            tables.claimed[id] = Int8(stretch.redo)
            tables.rows[member].outstanding.append((id, stretch.redo))
        }
        return .done
    }

    private mutating func subtract(_ range: Range<Int>, fromLease index: Int, of member: Int) {
        let lease = tables.rows[member].open.remove(at: index)
        let rest = [lease.range.lowerBound..<range.lowerBound, range.upperBound..<lease.range.upperBound].filter { !$0.isEmpty }
        tables.rows[member].open.insert(contentsOf: rest.map { Stretch(range: $0, redo: lease.redo) }, at: index)
    }

    mutating func record(_ number: Int64, _ record: Record, of member: Int) -> Answer {
        if tables.rows[member].records.contains(number) { return .done }
        guard hasConfirmed(member) || hasEndedEarly, follows(number, tables.rows[member].records) || hasEndedEarly && tables.missing > 0
        else {
            return .notNow
        }
        _ = tables.rows[member].records.write(number)
        switch record {
        case .outcomes(let outcomes):
            for (id, isAccepted) in outcomes {
                settle(id, isUnknown: false)
                if isAccepted { tables.recordedAccepted[id] = true }
            }
            let settled = outcomes.map(\.id)
            tables.rows[member].outstanding.removeAll { settled.contains($0.id) }
        case .unsent(let unsent):
            let ids = unsent.map(\.id)
            tables.rows[member].outstanding.removeAll { ids.contains($0.id) }
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
        for (id, redo) in unsent { tables.returned.append(Stretch(range: id..<id + 1, redo: redo + 1)) }
    }

    /// What a member has claimed and says nothing more of is unknown: the answer to a claim was lost, or its outcome was forgotten.
    private mutating func close(_ outstanding: [(id: Int, redo: Int)]) { for (id, _) in outstanding { settle(id, isUnknown: true) } }

    private mutating func settle(_ id: Int, isUnknown: Bool) {
        tables.settled[id] += 1
        tables.settledCount += 1
        if isUnknown { tables.unknown[id] = true } else { tables.answered += 1 }
    }

    mutating func beat(_ beat: Beat, of member: Int) -> Answer {
        lives += 1
        let life = rollCall.look(new: lives, at: now)
        let missing = beat.acknowledged.missing(in: tables.entries(of: member))
        if missing > 0, breakage != .comparesNothing { stop(missing: missing) }
        var granted: Int?
        if tables.lives(member) {
            guard tables.rows[member].beat < beat.number else { return .done }
            tables.rows[member].beat = beat.number
            tables.rows[member].isDone = beat.isDone
            if beat.isDone {
                // A claim whose acknowledgement was lost.
                close(tables.rows[member].outstanding)
                tables.rows[member].outstanding = []
            }
            truth.beatAt[member] = now
            tables.rows[member].isWitness = beat.isWitness
            if let confirmed = beat.confirms { rollCall.confirm(members[member].name, life: confirmed, isWitness: beat.isWitness) }
            if rollCall.lacksWitnesses(tables.livingWitnesses, at: now) { stopUnwitnessed() }
            granted = tables.parts.beat(of: members[member].name, number: beat.number, used: beat.used, wants: beat.wants)
            takeRoles(member, judges: beat.judgesCanary)
        }
        var others: [String: Int64] = [:], entries: [String: CommitMemory.Row] = [:]
        for index in tables.rows.indices where tables.rows[index].exists {
            if index != member, !tables.rows[index].isDead { others[members[index].name] = tables.rows[index].beat }
            entries[members[index].name] = tables.rows[index].entries
        }
        let sight = Sight(
            state: tables.state, isCanary: tables.canary == member, isConductor: tables.conductor == member,
            isReopened: tables.former.isEmpty, isCanaryOver: tables.isCanaryOver, answered: tables.answered, canEnd: canEnd(),
            isCalm: isCalm(for: member), isUnwitnessedCancellation: isUnwitnessedCancellation)
        return .beat(
            BeatAnswer(
                granted: granted, others: others, entries: entries, changes: tables.version, life: life,
                isWitnessed: rollCall.isWitnessed, lives: tables.lives(member), sight: sight))
    }

    /// A role without a holder goes to the one whose beat finds it so.
    private mutating func takeRoles(_ member: Int, judges: Bool) {
        if tables.conductor == nil { tables.conductor = member }
        guard !tables.isCanaryOver else { return }
        if tables.canary == nil {
            tables.canary = member
            truth.canaryHolders += 1
        } else if tables.canary == member, judges {
            tables.isCanaryOver = true
            tables.version += 1
            truth.isCanaryOver = true
        }
    }

    /// Whether the end can be recorded: everybody is settled, or, after a cancel, nobody has anything in hand. A claim that was under way has
    /// ended before the beat that says so, as both hold the member's row.
    private func canEnd() -> Bool {
        switch tables.state {
        case .sending, .paused: tables.hasSettledAll
        case .cancelled:
            tables.former.isEmpty
                && tables.rows.allSatisfy { !$0.exists || $0.isDead || ($0.isDone && $0.outstanding.isEmpty) }
        case .stopped, .ended: false
        }
    }

    /// Declares a member dead: what it had leased and not claimed comes back, and what it had claimed without an outcome is unknown.
    mutating func bury(_ member: Int, _ row: SharedTables.Row) {
        counts[.burials] += 1
        noteBurial(member)
        strike(member)
        for (id, _) in row.outstanding { settle(id, isUnknown: true) }
        if rollCall.present.contains(members[member].name) || breakage == .trustsTheUnconfirmed {
            tables.returned += row.open
        } else {
            // Its claims may have been forgotten.
            for id in row.open.flatMap(\.range) where tables.settled[id] == 0 { settle(id, isUnknown: true) }
        }
    }

    private mutating func strike(_ member: Int) {
        tables.rows[member].isDead = true
        tables.rows[member].open = []
        tables.rows[member].outstanding = []
        tables.parts.remove(members[member].name)
        if tables.canary == member, breakage != .canaryDies { tables.canary = nil }
        if tables.conductor == member { tables.conductor = nil }
    }

    /// A member goes in an orderly way: everything that it has submitted is recorded.
    mutating func leave(_ member: Int) -> Answer {
        guard tables.lives(member) else { return .done }
        guard hasConfirmed(member) || hasEndedEarly else { return .notNow }
        let row = tables.rows[member]
        strike(member)
        tables.returned += row.open
        // Of a run that was stopped, outcomes may be forgotten.
        if tables.state != .stopped { close(row.outstanding) }
        return .done
    }

    /// What members of a former life left open is settled, once.
    mutating func reopen(_ member: Int) -> Answer {
        guard isCalm(for: member) || isUnwitnessedCancellation, tables.conductor == member else { return .notNow }
        for id in tables.former { settle(id, isUnknown: true) }
        if !tables.former.isEmpty { tables.version += 1 }
        tables.former = 0..<0
        return .done
    }

    /// Whether a run is cancelled of which nobody can say any more whether something was forgotten. The order is final in itself, so nothing waits for a
    /// witness.
    var isUnwitnessedCancellation: Bool { tables.state == .cancelled && rollCall.lacksWitnesses(tables.livingWitnesses, at: now) }

    mutating func end(_ member: Int) -> Answer {
        guard isCalm(for: member) || isUnwitnessedCancellation, tables.conductor == member else { return .notNow }
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
