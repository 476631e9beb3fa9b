package import Base
import Postgres
package import Runs
import Synchronization

/// What became of pushes.
extension SharedLedger {
    package func record(_ parts: [[Settlement]]) throws {
        guard let last = parts.last(where: { !$0.isEmpty })?.last else { return }
        let settlements = parts.count == 1 ? parts[0] : parts.flatMap(\.self)
        if !state.withLock({ $0.own.settleAll(settlements) }) {
            // Of pushes that are not its own, the journal says whether they may be settled.
            try refresh()
            try replica.checkRecordable([settlements])
        }
        try append(JournalEntry(.outcomes(settlements), at: last.settledAt), through: recording, .isAlive)
    }

    package func note(receipts: [String], ofService service: Int) throws {
        guard !receipts.isEmpty else { return }
        try append(.receipts(receipts, service: service), at: .now())
    }

    package func receipts(ofService service: Int) throws -> [String] {
        try refresh()
        return try replica.receipts(ofService: service)
    }

    package func reopen(_ ids: [Int], resendsUnknown: Bool) throws -> [Int: Int] {
        guard !ids.isEmpty else { return [:] }
        var known = state.withLock { state in ids.compactMap { state.stretches.again[$0] } }
        if known.count < ids.count {
            guard !takesPart else { throw broken("recipients were to be sent to again that this member was not given") }
            try refresh()
            let wanted = Set(ids)
            known = try replica.unsettled(in: ids[0]..<ids[ids.count - 1] + 1, resendsUnknown: resendsUnknown, closing: []).compactMap {
                wanted.contains($0.id) ? SentAgain(id: $0.id, attempts: $0.attempts, mayHaveArrived: $0.mayHaveArrived) : nil
            }
        }
        let now = Timestamp.now()
        let entry = FetchedEntry.reopened(ids, resendsUnknown: resendsUnknown, at: now)
        try append(JournalEntry(entry, at: now), through: claiming, .isSending)
        state.withLock { state in
            state.own.open(known.map(\.id))
            state.stretches.removeAgain(ids)
        }
        return Dictionary(known.lazy.filter { $0.attempts > 0 }.map { ($0.id, $0.attempts) }) { first, _ in first }
    }

    @discardableResult
    package func `defer`(_ ids: Range<Int>, reason: OwnReason, isTooLate: Bool, at now: Timestamp) throws -> Int {
        if isTooLate {
            try claimForGood(ids, reason: reason, at: now)
            // Nobody takes what was offered of them any more.
            try ask { connection in
                try connection.run(
                    "DELETE FROM volley_returned WHERE run = $1 AND first >= $2 AND last <= $3",
                    [.int(run), .int(ids.lowerBound), .int(ids.upperBound)], within: asking.answerSeconds)
            }
        }
        try append(.deferred(ids, reason, isTooLate: isTooLate, at: now), at: now)
        try refresh()
        return try replica.count(unsent: reason, in: ids)
    }

    /// Claims whoever of a wave is not claimed yet, as unsent, so that nobody else does.
    private func claimForGood(_ ids: Range<Int>, reason: OwnReason, at now: Timestamp) throws {
        while true {
            let gaps = try claims().gaps(in: ids)
            guard let part = gaps.first.map({ $0.prefix(10_000) }) else { return }
            let unsent = part.map { Settlement(recipient: $0, outcome: .unsent, own: reason, settledAt: now) }
            // Another member may just claim some of them, from a stretch that it had leased before it was too late.
            do { try claim(part, unsent: unsent, at: now) } catch StoreRefusal.claimedAlready { continue }
        }
    }

    /// Claims what members had leased that died before they had confirmed a life of the database: they may have pushed to these, in claims that were forgotten.
    /// They count as unknown. For the conductor alone.
    package func claimDoubtful(at now: Timestamp) throws {
        var doubtful: [(sender: Int, ids: Range<Int>, again: [Int])] = []
        try ask { connection in
            doubtful = []
            try connection.run(
                """
                SELECT l.sender, l.first, l.last, l.redo FROM volley_lease l JOIN volley_sender s ON s.number = l.sender
                WHERE l.run = $1 AND s.dead_at IS NOT NULL ORDER BY l.first
                """, [.int(run)], within: asking.answerSeconds
            ) { doubtful.append(($0.int(0), try $0.ids(1, 2), try read($0.bytes(3)).map(\.id))) }
        }
        for (sender, ids, again) in doubtful {
            try settleDoubtful(again, at: now)
            for gap in again.isEmpty ? try ask({ try claimed(of: ids, $0) }).gaps(in: ids) : [] {
                // With their outcome in the same entry: nobody has them in hand.
                try claim(
                    gap, unsent: gap.map { Settlement(recipient: $0, outcome: .unknown, own: .processEnded, settledAt: now) }, at: now)
            }
            try ask { connection in
                try connection.run(
                    "DELETE FROM volley_lease WHERE run = $1 AND sender = $2 AND first = $3",
                    [.int(run), .int(sender), .int(ids.lowerBound)],
                    within: asking.answerSeconds)
            }
        }
    }

    /// Records as unknown who is still unsent of some who were to be sent to again.
    private func settleDoubtful(_ ids: [Int], at now: Timestamp) throws {
        guard let first = ids.first, let last = ids.last else { return }
        try refresh()
        let known = try replica.settlements(of: first..<last + 1)
        let unsent = ids.filter { known[$0]?.outcome == .unsent }
        guard !unsent.isEmpty else { return }
        try append(.outcomes(unsent.map { Settlement(recipient: $0, outcome: .unknown, own: .processEnded, settledAt: now) }), at: now)
    }

    package func recordLost(at now: Timestamp) throws -> Int {
        try refresh()
        var count = 0
        for range in try lost() {
            for start in stride(from: range.lowerBound, to: range.upperBound, by: 10_000) {
                let ids = start..<min(start + 10_000, range.upperBound)
                let settlements = ids.map { Settlement(recipient: $0, outcome: .unknown, own: .processEnded, settledAt: now) }
                try append(.outcomes(settlements), at: now)
                count += ids.count
            }
        }
        try refresh()
        return count
    }

    /// Recipients that are claimed without an outcome, and not in the hands of a member that is there.
    ///
    /// Looked at twice, with the question who has them in between: whoever claims meanwhile was not in the first look, and what somebody recorded before leaving is
    /// in the second.
    package func lost() throws -> [Range<Int>] {
        try refresh()
        let before = try replica.claimedWithoutOutcome()
        guard !before.isEmpty else { return [] }
        let held = try heldByMembers(), inHands = ClaimSet(held.claimed.ranges + held.offered.ranges)
        try refresh()
        return try ClaimSet(replica.claimedWithoutOutcome()).intersection(ClaimSet(before)).ranges.flatMap { inHands.gaps(in: $0) }
    }

    /// Whom members that are there have claimed or reopened; and who is offered or leased to be sent to again.
    func heldByMembers() throws -> (claimed: ClaimSet, offered: ClaimSet) {
        try ask { connection in (try claimedByMembers(connection), try offered(connection)) }
    }

    private func claimedByMembers(_ connection: PostgresConnection) throws -> ClaimSet {
        var held: [Range<Int>] = []
        try connection.run(
            """
            SELECT j.kind, j.first, j.last, j.data FROM volley_sender s
            JOIN volley_journal j ON j.run = s.run AND j.sender = s.number AND j.kind IN (1, 3)
            WHERE s.run = $1 AND s.dead_at IS NULL ORDER BY j.first
            """, [.int(run)], within: 60
        ) { cells in
            let ids = try cells.ids(1, 2)
            guard cells.int(0) == JournalEntry.Kind.reopened.rawValue else { return held.append(ids) }
            let entry = JournalEntry(kind: .reopened, ids: ids, at: Timestamp(epochMilliseconds: 0), data: Array(cells.bytes(3)))
            guard case .reopened(let recipients, _, _)? = entry.fetched(sequence: 0) else { throw broken("an entry cannot be read") }
            held += recipients.map { $0..<$0 + 1 }
        }
        return ClaimSet(held)
    }

    private func offered(_ connection: PostgresConnection) throws -> ClaimSet {
        var offered = ClaimSet()
        for statement in [
            "SELECT first, last FROM volley_returned WHERE run = $1 AND redo IS NOT NULL",
            """
            SELECT first, last FROM volley_lease l JOIN volley_sender s ON s.number = l.sender
            WHERE l.run = $1 AND s.dead_at IS NULL AND redo IS NOT NULL
            """,
        ] {
            try connection.run(statement, [.int(run)], within: 60) { offered.insert(try $0.ids(0, 1)) }
        }
        return offered
    }

    package func skippedWaves() throws -> Set<Int> {
        try refresh()
        return try replica.skippedWaves()
    }

    package func isSettled(_ ids: Range<Int>, resendsUnknown: Bool, closing: Set<OwnReason>) throws -> Bool {
        try refresh()
        return try replica.isSettled(ids, resendsUnknown: resendsUnknown, closing: closing)
    }

    package func figures(withGroups: Bool) throws -> RunFigures {
        try refresh()
        return try replica.figures(withGroups: withGroups)
    }

    // MARK: - Calls

    package func name(_ calls: [NamedCall]) throws {
        let calls = calls.filter { !$0.recipients.isEmpty }
        guard !calls.isEmpty else { return }
        let strangers = calls.flatMap(\.recipients).map { Settlement(recipient: $0, outcome: .unsent, settledAt: calls[0].namedAt) }
        if !state.withLock({ $0.own.contain(strangers) }) {
            try refresh()
            let claims = try replica.claims()
            if let stranger = strangers.first(where: { !claims.contains($0.recipient) }) {
                throw broken("recipient \(stranger.recipient) is in a call but was never claimed")
            }
        }
        for start in stride(from: 0, to: calls.count, by: JournalEntry.mostCalls) {
            let part = Array(calls[start..<min(start + JournalEntry.mostCalls, calls.count)])
            try append(JournalEntry(.calls(part), at: calls[0].namedAt), through: claiming, .isSending)
        }
    }

    package func calls(ofService service: Int) throws -> [NamedCall] {
        try refresh()
        return try replica.calls(ofService: service)
    }

    package func forgetCalls(_ numbers: [Int]) throws {
        guard !numbers.isEmpty else { return }
        try append(.forgotten(numbers), at: .now())
    }
}
