@testable import PostgresRuns

/// The processes of a `MemberWorld`: what each of their threads does, and what it makes of answers.
extension MemberWorld {
    mutating func tick(_ name: String) {
        guard let member = members[name], !member.isFenced else { return }
        if member.waiting[2] == nil, now - member.lastBeat >= 1 { beat(name) }
        submit(name)
        work(name)
        record(name)
    }

    mutating func beat(_ name: String) {
        members[name]?.lastBeat = now
        let used = breakage == .partRaisedEarly ? members[name]?.part ?? 0 : used(name)
        let member = members[name]
        let wants =
            member.map { !$0.toSubmit.isEmpty || $0.stretch != nil || $0.claiming != nil || next < audience || !returned.isEmpty } ?? false
        let number = (members[name]?.beats ?? 0) + 1
        members[name]?.beats = number
        send(.beat(number: number, used: used, wants: wants, at: now), from: name, thread: 2)
    }

    mutating func work(_ name: String) {
        guard let member = members[name], member.waiting[0] == nil, member.gate.isOpen(at: now) else { return }
        if case .unsure = member.worker.state {
            // Asked again.
        } else if !member.toSubmit.isEmpty {
            return
        }
        if let claiming = member.claiming {
            let number = take(name, \.worker)
            send(.claim(number: number, claiming), from: name, thread: 0)
        } else if let stretch = member.stretch {
            let part = stretch.prefix(Int.random(in: 1...8, using: &random))
            members[name]?.claiming = part
            members[name]?.stretch = part.upperBound < stretch.upperBound ? part.upperBound..<stretch.upperBound : nil
            let number = take(name, \.worker)
            send(.claim(number: number, part), from: name, thread: 0)
        } else if now >= member.leaseWaitsUntil {
            let number = take(name, \.worker)
            send(.lease(number: number, most: Int.random(in: 5...40, using: &random)), from: name, thread: 0)
        }
    }

    mutating func take(_ name: String, _ thread: WritableKeyPath<Member, JournalNumbers>) -> Int64 {
        guard var member = members[name] else { return 0 }
        if breakage == .retryWithoutNumber, case .unsure(let number) = member[keyPath: thread].state {
            // As if it had never been written.
            var other = JournalNumbers()
            while other.confirmed < number {
                _ = other.take()
                other.acknowledged()
            }
            member[keyPath: thread] = other
        }
        let number = member[keyPath: thread].take()
        members[name] = member
        return number
    }

    /// Hands pushes to the wire, as fast as its part of the pace allows.
    mutating func submit(_ name: String) {
        guard var member = members[name], !member.toSubmit.isEmpty, member.gate.isOpen(at: now) else { return }
        member.recent.removeAll { now - $0.at >= 1 }
        let room = member.part - member.recent.reduce(0) { $0 + $1.count }
        let part = Array(member.toSubmit.prefix(max(0, room)))
        guard !part.isEmpty else { return }
        member.toSubmit.removeFirst(part.count)
        member.recent.append((now, part.count))
        members[name] = member
        submittedAt[name] = now
        if rows[name]?.isDead == true { fail("\(name) submits after it was declared dead") }
        window.removeAll { now - $0.at >= 1 }
        window.append((now, part.count))
        let sum = window.reduce(0) { $0 + $1.count }
        if sum > pace { fail("\(sum) pushes within a second, at a pace of \(pace)") }
        for id in part {
            submitted[id, default: 0] += 1
            if submitted[id] == 2 { fail("\(id) was pushed to twice") }
            if chance(0.95) { accepted.insert(id) }
            at(now + between(0.02, chance(0.02) ? 15 : 0.5), .outcome(member: name, id: id))
        }
    }

    mutating func record(_ name: String) {
        guard let member = members[name], member.waiting[1] == nil else { return }
        if member.recording.isEmpty {
            guard !member.outcomes.isEmpty else { return }
            members[name]?.recording = member.outcomes
            members[name]?.outcomes = [:]
        }
        let number = take(name, \.recorder)
        send(.settle(number: -number, members[name]?.recording ?? [:]), from: name, thread: 1)
    }

    // MARK: - Answers

    mutating func answered(_ statement: Statement, _ answer: Answer) {
        let name = statement.member
        // Given up before.
        guard members[name]?.waiting[statement.thread] == statement.id else { return }
        members[name]?.waiting[statement.thread] = nil
        if case .dead = answer {
            fences += 1
            members[name]?.isFenced = true
            return
        }
        switch (statement.request, answer) {
        case (.lease, .leased(let stretch)):
            members[name]?.worker.acknowledged()
            members[name]?.stretch = stretch
            if stretch == nil { members[name]?.leaseWaitsUntil = now + 1 }
        case (.claim(_, let range), _):
            members[name]?.worker.acknowledged()
            members[name]?.claiming = nil
            members[name]?.toSubmit += Array(range)
        case (.settle, _):
            members[name]?.recorder.acknowledged()
            members[name]?.recording = [:]
        case (.beat(_, _, _, let start), .beat(let granted, let others, let isOver)):
            let moment = now
            members[name]?.gate.beat(begunAt: breakage == .gateFromAnswer ? moment : start)
            members[name]?.part = granted
            members[name]?.isOver = isOver
            mourn(name, others)
        default: break
        }
    }

    /// What the others have to leave it, as `SharedPace.used` tells it.
    func used(_ name: String) -> Int {
        guard let member = members[name] else { return 0 }
        return max(member.part, member.recent.reduce(0) { now - $1.at < 1 ? $0 + $1.count : $0 })
    }

    mutating func mourn(_ name: String, _ others: [String: Int64]) {
        let moment = now
        // What passed since the last look, or, if this is broken, since the last beat that could be sent.
        let dead: [MemberWatch.Silence]?
        if breakage == .watchesWhileAway {
            for step in stride(from: members[name]?.lastLook ?? moment, to: moment, by: MemberWatch.longestStepSeconds) {
                _ = members[name]?.watch.look(at: others, step)
            }
            dead = members[name]?.watch.look(at: others, moment)
        } else {
            dead = members[name]?.watch.look(at: others, moment)
        }
        members[name]?.lastLook = moment
        guard let dead, let silence = dead.first, members[name]?.waiting[3] == nil else { return }
        send(.declareDead(silence), from: name, thread: 3)
    }

    mutating func wasLost(_ statement: Statement) {
        let name = statement.member
        guard members[name]?.waiting[statement.thread] == statement.id else { return }
        members[name]?.waiting[statement.thread] = nil
        switch statement.request {
        case .lease, .claim: members[name]?.worker.lost()
        case .settle: members[name]?.recorder.lost()
        case .beat: members[name]?.watch.disconnected()
        case .declareDead: break
        }
    }

}
