package import Base
import Postgres
import Runs
import Synchronization

/// Sending again: what the conductor finds open among those who were claimed, and what members take of it.
extension SharedLedger {
    /// Recipients that one member takes at a time to be sent to again.
    private static let largestPart = 2000

    /// Finds recipients that were claimed and are to be sent to again, and lets members lease them. For the conductor alone.
    /// - Parameters:
    ///   - resendsUnknown: by the numbers of services, whether those who may have got the push are sent to again.
    ///   - closing: reasons for which those who are unsent get nothing any more.
    ///   - ids: whose legs are looked at; nil for all.
    /// - Returns: how many they are.
    package func offerAgain(resendsUnknown: [Bool], closing: Set<OwnReason>, of ids: Range<Int>? = nil) throws -> Int {
        let offers = try ask { try self.offers($0) }
        // Looked at twice, with the question who has them in between, as in `lost`.
        try refresh()
        let before = ClaimSet(try open(resendsUnknown, closing, of: ids).map { $0.id..<$0.id + 1 })
        guard !before.isEmpty else { return 0 }
        let held = try heldByMembers()
        try refresh()
        let again = try open(resendsUnknown, closing, of: ids).filter { push in
            // Who may have got the push is not sent to again while a member has it in hand.
            before.contains(push.id) && !held.offered.contains(push.id) && !(push.mayHaveArrived && held.claimed.contains(push.id))
        }
        try offer(again, after: offers)
        return again.count
    }

    private func offers(_ connection: PostgresConnection) throws -> Int {
        var offers = 0
        try connection.run("SELECT offers FROM volley_run WHERE number = $1", [.int(run)], within: asking.answerSeconds) {
            offers = $0.int(0)
        }
        return offers
    }

    /// Recipients of the legs that go on who were claimed and are to be sent to again, as the replica knows them.
    private func open(_ resendsUnknown: [Bool], _ closing: Set<OwnReason>, of ids: Range<Int>?) throws -> [SentAgain] {
        let skipped = try skipped(), claims = try replica.claims().claimed
        return try goingLegs(of: ids).filter { !skipped.contains($0.ids.lowerBound) }.flatMap { leg in
            let resends = resendsUnknown[leg.service]
            return try claims.ranges(in: leg.ids).flatMap { range in
                try replica.unsettledPushes(in: range, OpenOutcomes(resendsUnknown: resends, closing: closing)).compactMap {
                    id, attempts, mayHaveArrived in
                    // Without an outcome it is unknown.
                    resends || !mayHaveArrived ? SentAgain(id: id, attempts: attempts, mayHaveArrived: mayHaveArrived) : nil
                }
            }
        }
    }

    private func goingLegs(of ids: Range<Int>?) throws -> [RunLeg] {
        let states = try ask { try segmentStates($0) }
        return plan.legs.filter { states[$0.ids.lowerBound]?.cause == nil && ids?.contains($0.ids.lowerBound) ?? true }
    }

    /// Whether nobody of the legs that go on is left: all are claimed, have an outcome, and none of those who were given back waits for another try.
    /// - Parameters:
    ///   - closing: reasons for which those who are unsent get nothing any more.
    ///   - ids: whose legs are looked at; nil for all.
    package func isSettled(closing: Set<OwnReason>, of ids: Range<Int>? = nil) throws -> Bool {
        try refresh()
        let claims = try replica.claims().claimed, going = try goingLegs(of: ids)
        guard going.allSatisfy({ claims.contains(all: $0.ids) }) else { return false }
        let unsettled = ClaimSet(try replica.claimedWithoutOutcome())
        guard going.allSatisfy({ unsettled.ranges(in: $0.ids).isEmpty }), try offeredCount(of: ids) == 0 else { return false }
        // Who was given back since it was last looked for.
        return try open(plan.services.map { _ in false }, closing, of: ids).isEmpty
    }

    /// Whether anybody of a range, in the legs that go on, waits for a member: given back, or to be sent to again.
    package func isWaiting(_ ids: Range<Int>) throws -> Bool {
        var isWaiting = false
        try ask { connection in
            try connection.run(
                """
                SELECT 1 FROM volley_returned r
                JOIN volley_leg g ON g.run = r.run AND g.first <= r.first AND g.last > r.first AND g.cause = ''
                WHERE r.run = $1 AND r.first < $3 AND r.last > $2 LIMIT 1
                """,
                [.int(run), .int(ids.lowerBound), .int(ids.upperBound)], within: asking.answerSeconds
            ) { _ in isWaiting = true }
        }
        return isWaiting
    }

    /// Stretches of the legs that go on that are to be sent to again, and that nobody has finished.
    private func offeredCount(of ids: Range<Int>?) throws -> Int {
        let ids = ids ?? 0..<plan.audience
        var count = 0
        try ask { connection in
            try connection.run(
                """
                SELECT count(*) FROM (
                    SELECT run, first FROM volley_returned WHERE run = $1 AND redo IS NOT NULL
                    UNION ALL SELECT l.run, l.first FROM volley_lease l JOIN volley_sender s ON s.number = l.sender
                        WHERE l.run = $1 AND s.dead_at IS NULL AND redo IS NOT NULL) o
                JOIN volley_leg g ON g.run = o.run AND g.first <= o.first AND g.last > o.first AND g.cause = ''
                WHERE g.first >= $2 AND g.first < $3
                """, [.int(run), .int(ids.lowerBound), .int(ids.upperBound)], within: asking.answerSeconds
            ) { count = $0.int(0) }
        }
        return count
    }

    private func skipped() throws -> Set<Int> { plan.waves.isEmpty ? [] : try replica.claims().skippedWaves }

    /// - Parameter offers: how many were made before this member looked. A repeat after a lost answer finds one more, and offers nothing: who was offered may
    ///   have been sent to by then.
    /// - Throws: `NotSending` if another member conducts by now: what this one knows may be outdated.
    private func offer(_ open: [SentAgain], after offers: Int) throws {
        guard !open.isEmpty else { return }
        guard let me = state.withLock({ $0.sender }) else { throw NotSending(isCancelled: false) }
        let isConducting = try ask { connection in
            try connection.transaction(within: asking.answerSeconds) {
                guard try holdFence(me, connection), try row(connection).conductor == me else { return false }
                let count = try connection.run(
                    "UPDATE volley_run SET offers = offers + 1 WHERE number = $1 AND offers = $2", [.int(run), .int(offers)],
                    within: asking.answerSeconds)
                guard count == 1 else { return true }
                var rest = open[...]
                while let first = rest.first {
                    // Those of a part are of one leg.
                    let end = plan.legs.first { $0.ids.contains(first.id) }?.ids.upperBound ?? .max
                    let part = Array(rest.prefix(Self.largestPart).prefix { $0.id < end })
                    rest = rest.dropFirst(part.count)
                    try connection.run(
                        "INSERT INTO volley_returned (run, first, last, redo) VALUES ($1, $2, $3, $4)",
                        [.int(run), .int(part[0].id), .int(part[part.count - 1].id + 1), .bytes(SentAgain.bytes(of: part))],
                        within: asking.answerSeconds)
                }
                return true
            }
        }
        if !isConducting { throw NotSending(isCancelled: false) }
    }

    /// Parts of those who are sent to again that a member takes before others get a turn.
    private static let mostParts = 5

    /// Ranges of a segment in which this worker is to look for recipients that were claimed and are to be sent to again; it has them from now on.
    /// Ascending.
    package func leaseAgain(of leg: Range<Int>) throws -> [Range<Int>] {
        var ranges: [Range<Int>] = []
        for _ in 0..<Self.mostParts {
            let next = try leasePartAgain(of: leg)
            if next.isEmpty { break }
            ranges += next
        }
        return ranges.sorted { $0.lowerBound < $1.lowerBound }
    }

    /// Leases recipients of a leg who are sent to again.
    /// - Returns: ranges that they are in, ascending; none when there are none.
    private func leasePartAgain(of leg: Range<Int>) throws -> [Range<Int>] {
        guard let me = state.withLock({ $0.sender }) else { return [] }
        let rows = try leasing { connection in
            let lost = try unknownLeases(of: me, in: leg, connection).filter { $0.again != nil }
            if !lost.isEmpty { return lost }
            return try takeAgain(of: leg, me, connection).map { [$0] } ?? []
        }
        state.withLock { state in for row in rows { state.stretches.take(.init(ids: row.ids, again: row.again)) } }
        return rows.map(\.ids)
    }

    private func takeAgain(of leg: Range<Int>, _ me: Int, _ connection: PostgresConnection) throws -> LeasedRow? {
        let seconds = claiming.lane.answerSeconds
        var found: (number: Int, row: LeasedRow)?
        try connection.run(
            """
            SELECT number, first, last, redo FROM volley_returned
            WHERE run = $1 AND redo IS NOT NULL AND first >= $2 AND last <= $3 ORDER BY first LIMIT 1 FOR UPDATE SKIP LOCKED
            """, [.int(run), .int(leg.lowerBound), .int(leg.upperBound)], within: seconds
        ) { found = ($0.int(0), LeasedRow(ids: try $0.ids(1, 2), again: try read($0.bytes(3)))) }
        guard let (number, row) = found else { return nil }
        try connection.run("DELETE FROM volley_returned WHERE number = $1", [.int(number)], within: seconds)
        try connection.run(
            "INSERT INTO volley_lease (run, sender, first, last, redo) VALUES ($1, $2, $3, $4, $5)",
            [.int(run), .int(me), .int(row.ids.lowerBound), .int(row.ids.upperBound), .bytes(SentAgain.bytes(of: row.again ?? []))],
            within: seconds)
        return row
    }
}
