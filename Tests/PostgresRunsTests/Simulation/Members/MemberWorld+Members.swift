@testable import PostgresRuns

/// The processes of a `MemberWorld`: what each of their threads does.
extension MemberWorld {
    mutating func tick(_ member: Int) {
        guard members[member].hasJoined else { return enter(member) }
        if members[member].waiting[2] == nil, now - members[member].lastBeat >= 1 { beat(member) }
        guard !members[member].isFenced else { return }
        runErrand(member)
        submit(member)
        work(member)
        record(member)
    }

    /// A transaction of its own: the member's row, and its presence in this life of the database.
    private mutating func enter(_ member: Int) {
        guard now >= awayUntil else { return }
        guard tables.state != .ended, tables.state != .stopped else {
            if member == home { file.take(tables, of: incarnation) }
            return members[member].isGone = true
        }
        while tables.rows.count <= member { tables.rows.append(SharedTables.Row(exists: false)) }
        tables.rows[member] = SharedTables.Row()
        lives += 1
        let life = rollCall.look(new: lives, at: now)
        rollCall.join(members[member].name)
        members[member].isWitness = rollCall.isWitnessed || breakage == .newcomersWitness
        tables.rows[member].isWitness = members[member].isWitness
        noteJoin(member)
        if incarnation == 0 { truth.founders.insert(member) }
        members[member].hasJoined = true
        members[member].comparedLife = life
        members[member].lookedIncarnation = incarnation
        truth.beatAt[member] = now
    }

    private mutating func beat(_ member: Int) {
        members[member].lastBeat = now
        members[member].beats += 1
        let name = members[member].name
        if breakage != .comparesLate { members[member].memory.beatBegins(of: name, acknowledged: members[member].acknowledged) }
        let used = breakage == .partRaisedEarly ? members[member].part : self.used(member)
        let state = members[member]
        let wants =
            state.mayWork && (state.seen.isCanaryOver || state.seen.isCanary)
            && (!state.toSubmit.isEmpty || state.stretch != nil || state.claiming != nil || tables.next < audience
                || !tables.returned.isEmpty)
        let isJudged = state.seen.isCanary && state.isIdle && state.stretch == nil && state.claiming == nil
        let beat = Beat(
            number: state.beats, used: used, wants: wants, confirms: state.comparedLife,
            isWitness: state.isWitness, acknowledged: state.acknowledged,
            judgesCanary: isJudged && (state.seen.answered >= Self.canarySize || tables.next == audience && tables.returned.isEmpty),
            isDone: state.seen.state == .cancelled && state.isIdle, start: now)
        send(.beat(beat), from: member, thread: 2)
    }

    /// What the others have to leave it, as `SharedPace.used` tells it.
    private func used(_ member: Int) -> Int {
        max(members[member].part, members[member].recent.reduce(0) { now - $1.at < 1 ? $0 + $1.count : $0 })
    }

    mutating func work(_ member: Int) {
        let state = members[member]
        guard state.waiting[0] == nil, state.mayWork, now >= state.workWaitsUntil, state.gate.isOpen(at: now) else { return }
        if case .unsure = state.claims.state {
            // Asked again.
        } else if !state.toSubmit.isEmpty {
            return
        }
        if state.claiming == nil, var stretch = state.stretch {
            members[member].claiming = stretch.take(Int.random(in: 1...8, using: &random))
            members[member].stretch = stretch.range.isEmpty ? nil : stretch
        }
        if let claiming = members[member].claiming {
            let number = number(of: member, \.claims)
            send(.claim(number: number, claiming), from: member, thread: 0)
        } else {
            send(.lease(most: Int.random(in: 5...40, using: &random)), from: member, thread: 0)
        }
    }

    private mutating func number(of member: Int, _ thread: WritableKeyPath<SimulatedMember, JournalNumbers>) -> Int64 {
        if breakage == .retryWithoutNumber, case .unsure(let number) = members[member][keyPath: thread].state {
            // As if it had never been written.
            var other = JournalNumbers()
            while other.confirmed < number {
                _ = other.take()
                other.acknowledged()
            }
            members[member][keyPath: thread] = other
        }
        return members[member][keyPath: thread].take()
    }

    /// Hands pushes to the wire, as fast as its part of the pace allows.
    private mutating func submit(_ member: Int) {
        guard !members[member].toSubmit.isEmpty, members[member].mayWork, members[member].gate.isOpen(at: now) else { return }
        let moment = now
        members[member].recent.removeAll { moment - $0.at >= 1 }
        let room = members[member].part - members[member].recent.reduce(0) { $0 + $1.count }
        let part = members[member].toSubmit.prefix(max(0, room))
        guard !part.isEmpty else { return }
        members[member].toSubmit.removeFirst(part.count)
        members[member].recent.append((now, part.count))
        members[member].lastSubmission = now
        members[member].inFlight += part.count
        noteSubmission(part.map(\.id), by: member)
        for (id, _) in part {
            if chance(0.95) { truth.accepted[id] = true }
            at(now + between(0.02, chance(0.02) ? 15 : 0.5), .outcome(member: member, id: id))
        }
    }

    mutating func record(_ member: Int) {
        guard members[member].waiting[1] == nil else { return }
        if members[member].recording == nil {
            if !members[member].outcomes.isEmpty {
                members[member].recording = .outcomes(members[member].outcomes)
                members[member].outcomes = []
            } else if !members[member].toSubmit.isEmpty, members[member].isEnding {
                members[member].recording = .unsent(members[member].toSubmit)
                members[member].toSubmit = []
            }
        }
        guard let recording = members[member].recording else { return }
        let number = number(of: member, \.records)
        send(.record(number: number, recording), from: member, thread: 1)
    }

    // MARK: - What is done once

    private mutating func runErrand(_ member: Int) {
        let state = members[member]
        guard state.waiting[3] == nil, now >= state.errandWaitsUntil else { return }
        if state.missing > 0, state.seen.state != .stopped {
            send(.stop(missing: state.missing), from: member, thread: 3)
        } else if state.seen.isConductor, !state.seen.isReopened, state.seen.isCalm || state.seen.isUnwitnessedCancellation {
            send(.reopen, from: member, thread: 3)
        } else if state.seen.isConductor, state.seen.canEnd || breakage == .endsUnconditionally, state.isIdle {
            send(.end, from: member, thread: 3)
        } else if state.mayLeave, state.isIdle, breakage == .leavesAtOnce || now - state.lastSubmission >= 1 {
            send(.leave, from: member, thread: 3)
        }
    }
}

extension SimulatedMember {
    /// It submits nothing more, and gives back what it has claimed.
    var isEnding: Bool { mayLeave || seen.state == .cancelled }
    /// After a cancel it stays until the end is recorded: others may have died, and somebody has to notice.
    var mayLeave: Bool { isLeaving || missing > 0 || seen.state == .stopped }
}
