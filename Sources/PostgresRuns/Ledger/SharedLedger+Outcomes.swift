package import Base
import Postgres
package import Runs
import Synchronization

/// What became of pushes.
extension SharedLedger {
    func record(_ parts: [[Settlement]]) throws {
        guard let last = parts.last(where: { !$0.isEmpty })?.last else { return }
        let settlements = parts.count == 1 ? parts[0] : parts.flatMap(\.self)
        if !state.withLock({ $0.own.settleAll(settlements) }) {
            // Of pushes that are not its own, the journal says whether they may be settled.
            try refresh()
            try replica.checkRecordable([settlements])
        }
        try write(.settled([settlements]), at: last.settledAt)
    }

    func note(receipts: [String], ofService service: Int) throws {
        guard !receipts.isEmpty else { return }
        try write(.receipts(receipts, service: service), at: .now())
    }

    func reopen(_ ids: [Int], resendsUnknown: Bool, at now: Timestamp) throws -> [Int: Int] {
        guard !ids.isEmpty else { return [:] }
        var known = state.withLock { state in ids.compactMap { state.stretches.again[$0] } }
        if known.count < ids.count {
            guard !takesPart else { throw broken("recipients were to be sent to again that this member was not given") }
            try refresh()
            let wanted = Set(ids)
            let open = OpenOutcomes(resendsUnknown: resendsUnknown)
            known = try replica.unsettledPushes(in: ids[0]..<ids[ids.count - 1] + 1, open).compactMap {
                wanted.contains($0.id) ? SentAgain(id: $0.id, attempts: $0.attempts, mayHaveArrived: $0.mayHaveArrived) : nil
            }
        }
        try write(JournalEntry(.reopened(ids, resendsUnknown: resendsUnknown, at: now), at: now), through: claiming, .isSending)
        state.withLock { state in
            state.own.open(known.map(\.id))
            state.stretches.removeAgain(ids)
        }
        return Dictionary(known.lazy.filter { $0.attempts > 0 }.map { ($0.id, $0.attempts) }) { first, _ in first }
    }

    func `defer`(_ ids: Range<Int>, reason: OwnReason, isTooLate: Bool, at now: Timestamp) throws -> Int {
        if isTooLate {
            try claimForGood(ids, reason: reason, at: now)
            // Nobody takes what was offered of them any more.
            try ask { connection in
                try connection.run(
                    "DELETE FROM volley_returned WHERE run = $1 AND first >= $2 AND last <= $3",
                    [.int(run), .int(ids.lowerBound), .int(ids.upperBound)], within: asking.answerSeconds)
            }
        }
        try write(.deferred(ids, reason, isTooLate: isTooLate, at: now), at: now)
        try refresh()
        return try replica.count(unsent: reason, in: ids)
    }

    /// Claims whoever of a wave is not claimed yet, as unsent, so that nobody else does.
    private func claimForGood(_ ids: Range<Int>, reason: OwnReason, at now: Timestamp) throws {
        while true {
            let gaps = try claims().claimed.gaps(in: ids)
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
        try write(
            .settled([unsent.map { Settlement(recipient: $0, outcome: .unknown, own: .processEnded, settledAt: now) }]), at: now)
    }

    func recordLost(at now: Timestamp) throws -> Int {
        var count = 0
        for range in try unsettled(in: 0..<plan.audience, OpenOutcomes()).leftBehind {
            for start in stride(from: range.lowerBound, to: range.upperBound, by: 10_000) {
                let ids = start..<min(start + 10_000, range.upperBound)
                let settlements = ids.map { Settlement(recipient: $0, outcome: .unknown, own: .processEnded, settledAt: now) }
                try write(.settled([settlements]), at: now)
                count += ids.count
            }
        }
        try refresh()
        return count
    }

    /// The claimed recipients of a range that are not settled; left behind are those that no worker that is there has in hand.
    ///
    /// Looked at twice, with the question what workers have in between: what is claimed in the meantime was not in the first look, and what a
    /// worker recorded before it left is in the second.
    package func unsettled(in ids: Range<Int>, _ open: OpenOutcomes) throws -> UnsettledRecipients {
        try refresh()
        let before = try replica.unsettled(in: ids, open)
        guard !before.inDoubt.isEmpty else { return before }
        let held = try heldByMembers(), inHands = ClaimSet(held.claimed.ranges + held.offered.ranges)
        try refresh()
        var now = try replica.unsettled(in: ids, open)
        now.leftBehind = ClaimSet(now.inDoubt).intersection(ClaimSet(before.inDoubt)).ranges.flatMap { inHands.gaps(in: $0) }
        return now
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

    package func figures(withGroups: Bool = false) throws -> RunFigures {
        try refresh()
        return try replica.figures(withGroups: withGroups)
    }

    // MARK: - Calls

    func name(_ calls: [NamedCall]) throws {
        let calls = calls.filter { !$0.recipients.isEmpty }
        guard !calls.isEmpty else { return }
        let strangers = calls.flatMap(\.recipients).map { Settlement(recipient: $0, outcome: .unsent, settledAt: calls[0].namedAt) }
        if !state.withLock({ $0.own.contain(strangers) }) {
            try refresh()
            let claims = try replica.claims().claimed
            if let stranger = strangers.first(where: { !claims.contains($0.recipient) }) {
                throw broken("recipient \(stranger.recipient) is in a call but was never claimed")
            }
        }
        for start in stride(from: 0, to: calls.count, by: JournalEntry.mostCalls) {
            let part = Array(calls[start..<min(start + JournalEntry.mostCalls, calls.count)])
            try write(JournalEntry(.callsNamed(part), at: calls[0].namedAt), through: claiming, .isSending)
        }
    }

    package func calls(ofService service: Int) throws -> [NamedCall] {
        try refresh()
        return try replica.calls(ofService: service)
    }

    func forgetCalls(_ numbers: [Int]) throws {
        guard !numbers.isEmpty else { return }
        try write(.callsForgotten(numbers), at: .now())
    }
}
