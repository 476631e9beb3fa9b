@testable import PostgresRuns

/// The database of a `MemberWorld`: what statements do, and what they wait for.
extension MemberWorld {
    func needsFence(_ request: Request) -> Bool {
        switch request {
        case .lease, .claim, .settle: true
        case .beat, .declareDead: false
        }
    }

    /// Who else's lock a statement must wait for.
    mutating func begin(_ statement: Statement) {
        var statement = statement
        if needsFence(statement.request) {
            statement.sawAlive = rows[statement.member]?.isDead == false
            holders[statement.member, default: []].insert(statement.id)
        } else if case .declareDead(let silence) = statement.request {
            statement.snapshot = rows[silence.member]
        }
        proceed(statement)
    }

    /// Goes on once nobody holds a lock that it must wait for.
    mutating func proceed(_ statement: Statement) {
        if case .declareDead(let silence) = statement.request, breakage != .keyShare, !(holders[silence.member]?.isEmpty ?? true) {
            return blocked.append((silence.member, statement))
        }
        at(now + statement.execution, .commit(statement))
    }

    mutating func unlock(_ statement: Statement) {
        holders[statement.member]?.remove(statement.id)
        guard holders[statement.member]?.isEmpty ?? true else { return }
        let free = blocked.filter { $0.member == statement.member }
        blocked.removeAll { $0.member == statement.member }
        for (_, other) in free { at(now, .proceed(other)) }
    }

    mutating func commit(_ statement: Statement) {
        let answer: Answer
        if needsFence(statement.request) {
            // The row was locked when the statement began: nobody can have changed it since.
            let isFenced = breakage == .keyShare ? !statement.sawAlive : rows[statement.member]?.isDead ?? true
            answer = isFenced ? .dead : perform(statement)
            unlock(statement)
        } else {
            answer = perform(statement)
        }
        if statement.isAnswered { at(now + statement.answerDelay, .answer(statement, answer)) }
    }

    mutating func perform(_ statement: Statement) -> Answer {
        let name = statement.member
        switch statement.request {
        case .lease(let number, let most):
            if case .lease(let known)? = rows[name]?.entries[number] { return .leased(known) }
            let stretch = lease(most)
            rows[name]?.entries[number] = .lease(stretch)
            if let stretch { rows[name]?.leased.append(stretch) }
            return .leased(stretch)
        case .claim(let number, let range):
            if rows[name]?.entries[number] != nil { return .done }
            rows[name]?.entries[number] = .claim(range)
            return .done
        case .settle(let number, let outcomes):
            if rows[name]?.entries[number] != nil { return .done }
            rows[name]?.entries[number] = .settle(outcomes)
            rows[name]?.settled += outcomes.count
            end()
            return .done
        case .beat(let number, let used, let wants, _):
            guard let row = rows[name], !row.isDead else { return .dead }
            guard row.beat < number, let granted = parts.beat(of: name, number: number, used: used, wants: wants) else { return .done }
            rows[name]?.beat = number
            beatAt[name] = now
            let others = rows.filter { $0.key != name && !$0.value.isDead }.mapValues(\.beat)
            return .beat(granted: granted, others: others, isOver: endedAt != nil)
        case .declareDead(let silence):
            guard let row = rows[silence.member], !row.isDead, row.beat == silence.beat else { return .done }
            bury(silence.member, breakage == .repeatableRead ? statement.snapshot ?? row : row)
            return .done
        }
    }

    mutating func lease(_ most: Int) -> Range<Int>? {
        if let back = returned.popLast() {
            returns += 1
            let part = back.prefix(most)
            if part.upperBound < back.upperBound { returned.append(part.upperBound..<back.upperBound) }
            return part
        }
        guard next < audience else { return nil }
        defer { next = min(audience, next + most) }
        return next..<min(audience, next + most)
    }

    /// Declares a member dead: what it had leased and not claimed comes back, and what it had claimed without an outcome is unknown.
    mutating func bury(_ name: String, _ row: Row) {
        let since = beatAt[name] ?? 0
        let silent = now - since - outageTimes.reduce(0) { $0 + max(0, min(now, $1.upperBound) - max(since, $1.lowerBound)) }
        if silent < MemberWatch.silenceSeconds - 3 { fail("\(name) was declared dead \(silent) s after it could be heard") }
        if let last = submittedAt[name], members[name]?.isGone == false, now - last < SubmissionGate.settlingSeconds {
            fail("\(name) was declared dead \(now - last) s after it had handed something over")
        }
        rows[name]?.isDead = true
        parts.remove(name)
        var open = Set(row.leased.joined()), unknown: Set<Int> = [], settled: Set<Int> = []
        for entry in row.entries.values {
            if case .claim(let range) = entry {
                open.subtract(range)
                unknown.formUnion(range)
            }
        }
        for entry in row.entries.values { if case .settle(let outcomes) = entry { settled.formUnion(outcomes.keys) } }
        unknown.subtract(settled)
        for id in open.sorted() { returned.append(id..<id + 1) }
        rows[name]?.entries[.max] = .settle(Dictionary(uniqueKeysWithValues: unknown.map { ($0, false) }))
        rows[name]?.settled += unknown.count
        lost.formUnion(unknown)
        end()
    }

    mutating func end() {
        if rows.values.reduce(0, { $0 + $1.settled }) >= audience, returned.isEmpty, next == audience { endedAt = endedAt ?? now }
    }

}
