@testable import PostgresRuns

/// What the processes of a `MemberWorld` make of answers.
extension MemberWorld {
    mutating func answered(_ id: Int) {
        let statement = statements[id]
        let member = statement.member
        // Given up before.
        guard members[member].waiting[statement.thread] == id else { return }
        members[member].waiting[statement.thread] = nil
        switch (statement.request, statement.answer) {
        case (_, .dead):
            // Its next beat tells whether it was declared dead, or forgotten.
            counts[.fences] += 1
            members[member].isFenced = true
        case (.lease, .leased(let stretch)):
            members[member].stretch = stretch
            if stretch == nil { members[member].workWaitsUntil = now + 1 }
        case (.lease, _): members[member].workWaitsUntil = now + 0.5
        case (.claim(_, let stretch), .done):
            members[member].claims.acknowledged()
            members[member].claiming = nil
            members[member].toSubmit += stretch.range.map { ($0, stretch.redo) }
        case (.claim, .notYours):
            counts[.refusals] += 1
            members[member].claims.lost()
            members[member].claiming = nil
            members[member].stretch = nil
        case (.claim, _):
            members[member].claims.lost()
            members[member].workWaitsUntil = now + 0.5
        case (.record, .done):
            members[member].records.acknowledged()
            members[member].recording = nil
        case (.record, _): members[member].records.lost()
        case (.beat(let beat), .beat(let answer)): beaten(statement, beat, answer)
        case (.leave, .done): members[member].isGone = true
        case (.stop, _): members[member].seen.state = .stopped
        case (.leave, _), (.reopen, _), (.end, _): members[member].errandWaitsUntil = now + 1
        default: break
        }
    }

    private mutating func beaten(_ statement: Statement, _ beat: Beat, _ answer: BeatAnswer) {
        let member = statement.member
        if breakage == .comparesLate {
            members[member].memory.beatBegins(of: members[member].name, acknowledged: members[member].acknowledged)
        }
        let missing = breakage == .comparesNothing ? 0 : members[member].memory.look(at: answer.entries, changes: answer.changes)
        members[member].missing = max(members[member].missing, missing)
        if missing == 0 {
            members[member].comparedLife = answer.life
            if answer.isWitnessed { members[member].isWitness = true }
        }
        members[member].lookedIncarnation = statement.incarnation
        members[member].answeredBeatStart = beat.start
        members[member].seen = answer.sight
        noteLook(member, missing: missing, state: answer.sight.state)
        if member == home, statement.incarnation == incarnation, beat.number % 5 == 0 { file.take(tables, of: incarnation) }
        guard answer.lives || answer.sight.state == .ended else { return foundDead(member) }
        if answer.sight.state == .ended {
            if member == home { file.take(tables, of: incarnation) }
            return members[member].isGone = true
        }
        // It was on record as dead, and that was forgotten: it has given up, and goes.
        if members[member].isFenced {
            if members[member].waiting[3] == nil { send(.leave, from: member, thread: 3) }
            return
        }
        if answer.sight.isCalm { members[member].gate.beat(begunAt: breakage == .gateFromAnswer ? now : beat.start) }
        if let granted = answer.granted {
            // What the others have may have been forgotten while the roll is called.
            members[member].part = answer.sight.isCalm ? granted : min(granted, members[member].part)
        }
        mourn(member, answer)
    }

    /// It says what is missing, if something is, and ends.
    private mutating func foundDead(_ member: Int) {
        members[member].isFenced = true
        guard members[member].missing > 0, members[member].seen.state != .stopped else {
            members[member].isGone = true
            return rejoin(member)
        }
        if members[member].waiting[3] == nil { send(.stop(missing: members[member].missing), from: member, thread: 3) }
    }

    private mutating func mourn(_ member: Int, _ answer: BeatAnswer) {
        let life = breakage == .countsAcrossLives ? 0 : answer.life
        // What passed since the last look, or, if this is broken, since the last beat that could be sent.
        if breakage == .watchesWhileAway {
            for step in stride(from: members[member].lastLook ?? now, to: now, by: MemberWatch.longestStepSeconds) {
                _ = members[member].watch.look(at: answer.others, life: life, step)
            }
        }
        let dead = members[member].watch.look(at: answer.others, life: life, now)
        members[member].lastLook = now
        guard let silence = dead.first, members[member].waiting[3] == nil, let other = Int(silence.member.dropFirst()) else { return }
        send(.declareDead(member: other, beat: silence.beat), from: member, thread: 3)
    }

    mutating func wasLost(_ id: Int) {
        let statement = statements[id]
        let member = statement.member
        guard members[member].waiting[statement.thread] == id else { return }
        members[member].waiting[statement.thread] = nil
        switch statement.request {
        case .claim: members[member].claims.lost()
        case .record: members[member].records.lost()
        case .beat: members[member].watch.disconnected()
        default: break
        }
    }
}
