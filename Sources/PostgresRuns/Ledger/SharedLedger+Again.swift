public import Base
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
    /// - Returns: how many they are.
    public func offerAgain(resendsUnknown: [Bool], closing: Set<OwnReason>) throws -> Int {
        try refresh()
        let held = try heldByMembers(), skipped = try skipped(), states = try legStates()
        var count = 0
        for leg in plan.legs where states[leg.ids.lowerBound]?.cause == nil && !skipped.contains(leg.ids.lowerBound) {
            let resends = resendsUnknown[leg.service]
            for range in try replica.claims().ranges(in: leg.ids) {
                for start in stride(from: range.lowerBound, to: range.upperBound, by: 50_000) {
                    let ids = start..<min(start + 50_000, range.upperBound)
                    let open = try replica.unsettled(in: ids, resendsUnknown: resends, closing: closing).filter { push in
                        // Who may have got the push is sent to again where the campaign says so, and never while a member has it in hand.
                        if push.mayHaveArrived, !resends || held.claimed.contains(push.id) { return false }
                        return !held.offered.contains(push.id)
                    }
                    count += open.count
                    try offer(open.map { SentAgain(id: $0.id, attempts: $0.attempts, mayHaveArrived: $0.mayHaveArrived) })
                }
            }
        }
        return count
    }

    /// Whether nobody of the legs that go on is left: all are claimed, have an outcome, and none of those who were given back waits for another try.
    /// - Parameter closing: reasons for which those who are unsent get nothing any more.
    public func isSettled(closing: Set<OwnReason>) throws -> Bool {
        try refresh()
        let states = try legStates(), claims = try replica.claims()
        let going = plan.legs.filter { states[$0.ids.lowerBound]?.cause == nil }
        guard going.allSatisfy({ claims.contains(all: $0.ids) }) else { return false }
        let open = ClaimSet(try replica.claimedWithoutOutcome())
        guard going.allSatisfy({ open.ranges(in: $0.ids).isEmpty }) else { return false }
        return try offeredCount() == 0
    }

    /// Stretches that are to be sent to again, and that nobody has finished.
    private func offeredCount() throws -> Int {
        var count = 0
        try ask { connection in
            try connection.run(
                """
                SELECT (SELECT count(*) FROM volley_returned WHERE run = $1) + (SELECT count(*) FROM volley_lease l
                    JOIN volley_sender s ON s.number = l.sender WHERE l.run = $1 AND s.dead_at IS NULL AND redo IS NOT NULL)
                """, [.int(run)], within: asking.answerSeconds
            ) { count = $0.int(0) }
        }
        return count
    }

    private func skipped() throws -> Set<Int> { plan.waves.isEmpty ? [] : try replica.skippedWaves() }

    private func offer(_ open: [SentAgain]) throws {
        var rest = open[...]
        while !rest.isEmpty {
            let part = Array(rest.prefix(Self.largestPart))
            rest = rest.dropFirst(part.count)
            try ask { connection in
                try connection.run(
                    "INSERT INTO volley_returned (run, first, last, redo) VALUES ($1, $2, $3, $4)",
                    [.int(run), .int(part[0].id), .int(part[part.count - 1].id + 1), .bytes(SentAgain.bytes(of: part))],
                    within: asking.answerSeconds)
            }
        }
    }

    /// Parts of those who are sent to again that a member takes before others get a turn.
    private static let mostParts = 5

    public func claimedBefore(of leg: Range<Int>) throws -> [Range<Int>] {
        var ranges: [Range<Int>] = []
        for _ in 0..<Self.mostParts {
            let next = try leaseAgain(of: leg)
            if next.isEmpty { break }
            ranges += next
        }
        return ranges.sorted { $0.lowerBound < $1.lowerBound }
    }

    /// Leases recipients of a leg who are sent to again.
    /// - Returns: ranges that they are in, ascending; none when there are none.
    private func leaseAgain(of leg: Range<Int>) throws -> [Range<Int>] {
        guard let me = state.withLock({ $0.sender }) else { return [] }
        let rows = try leasing { connection in
            let lost = try unknownLeases(of: me, connection).filter { $0.again != nil }
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
        ) { found = ($0.int(0), LeasedRow(ids: $0.int(1)..<$0.int(2), again: try read($0.bytes(3)))) }
        guard let (number, row) = found else { return nil }
        try connection.run("DELETE FROM volley_returned WHERE number = $1", [.int(number)], within: seconds)
        try connection.run(
            "INSERT INTO volley_lease (run, sender, first, last, redo) VALUES ($1, $2, $3, $4, $5)",
            [.int(run), .int(me), .int(row.ids.lowerBound), .int(row.ids.upperBound), .bytes(SentAgain.bytes(of: row.again ?? []))],
            within: seconds)
        return row
    }
}
