package import Base
import Postgres
package import Runs
import Synchronization

/// Sending again: what the coordinator finds open among the claimed recipients, and what workers
/// take of it.
extension SharedLedger {
    /// Recipients that one worker takes at a time to send to again.
    private static let largestPart = 2000

    /// Finds recipients that were claimed and must be sent to again, and lets workers lease them.
    /// For the coordinator alone.
    /// - Parameters:
    ///   - resendsUnknown: by the numbers of services, whether recipients that may have got the
    ///     push get it again.
    ///   - closing: reasons for which unsent recipients get nothing any more.
    ///   - ids: whose segments are looked at; nil for all.
    /// - Returns: how many they are.
    package func offerAgain(resendsUnknown: [Bool], closing: Set<OwnReason>, of ids: Range<Int>? = nil) throws -> Int {
        let offers = try ask { try self.offers($0) }
        // Looked at twice, with the question which worker has them in between, as in `unsettled`.
        try refresh()
        let before = ClaimSet(try open(resendsUnknown, closing, of: ids).map { $0.id..<$0.id + 1 })
        guard !before.isEmpty else { return 0 }
        let held = try heldByWorkers()
        try refresh()
        let again = try open(resendsUnknown, closing, of: ids).filter { push in
            // A recipient that may have got the push is not sent to again while a worker has it in
            // hand.
            before.contains(push.id) && !held.offered.contains(push.id)
                && !(push.mayHaveArrived && held.claimed.contains(push.id))
        }
        try offer(again, after: offers)
        return again.count
    }

    private func offers(_ connection: PostgresConnection) throws -> Int {
        var offers = 0
        try connection.run("SELECT offers FROM volley_run WHERE number = $1", [.int(run)], within: asking.answerSeconds)
        {
            offers = $0.int(0)
        }
        return offers
    }

    /// Recipients of the segments still being sent that were claimed and must be sent to again, as
    /// the replica has them.
    private func open(_ resendsUnknown: [Bool], _ closing: Set<OwnReason>, of ids: Range<Int>?) throws
        -> [RepeatedRecipient]
    {
        let skipped = try skipped(), claims = try replica.claims().claimed
        return try goingSegments(of: ids).filter { !skipped.contains($0.ids.lowerBound) }.flatMap { segment in
            let resends = resendsUnknown[segment.service]
            return try claims.ranges(in: segment.ids).flatMap { range in
                try replica.unsettledPushes(in: range, OpenOutcomes(resendsUnknown: resends, closing: closing))
                    .compactMap {
                        id, attempts, mayHaveArrived in
                        // Without an outcome it is unknown.
                        resends || !mayHaveArrived
                            ? RepeatedRecipient(id: id, attempts: attempts, mayHaveArrived: mayHaveArrived) : nil
                    }
            }
        }
    }

    private func goingSegments(of ids: Range<Int>?) throws -> [RunSegment] {
        let states = try ask { try segmentStates($0) }
        return plan.segments.filter {
            states[$0.ids.lowerBound]?.cause == nil && ids?.contains($0.ids.lowerBound) ?? true
        }
    }

    /// Whether nothing of the segments still being sent is left: all are claimed and have an
    /// outcome, and none that was given back waits for another try.
    /// - Parameters:
    ///   - closing: reasons for which unsent recipients get nothing any more.
    ///   - ids: whose segments are looked at; nil for all.
    package func isSettled(closing: Set<OwnReason>, of ids: Range<Int>? = nil) throws -> Bool {
        try refresh()
        let claims = try replica.claims().claimed, going = try goingSegments(of: ids)
        guard going.allSatisfy({ claims.contains(all: $0.ids) }) else { return false }
        let unsettled = ClaimSet(try replica.claimedWithoutOutcome())
        guard going.allSatisfy({ unsettled.ranges(in: $0.ids).isEmpty }), try offeredCount(of: ids) == 0 else {
            return false
        }
        // Recipients that were given back since the last look.
        return try open(plan.services.map { _ in false }, closing, of: ids).isEmpty
    }

    /// Whether any recipient of a range, in the segments still being sent, waits for a worker:
    /// given back, or to be sent to again.
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

    /// Ranges of the segments still being sent that must be sent to again, and are not finished.
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

    /// - Parameter offers: how many were made before this worker looked. A repeat after a lost
    ///   answer finds one more, and offers nothing: what was offered may have been sent to by then.
    /// - Throws: `SendingRevoked` if another worker is the coordinator by now: what this one has
    ///   may be outdated.
    private func offer(_ open: [RepeatedRecipient], after offers: Int) throws {
        guard !open.isEmpty else { return }
        guard let me = state.withLock({ $0.sender }) else { throw SendingRevoked(isCancelled: false) }
        let isCoordinating = try ask { connection in
            try connection.transaction(within: asking.answerSeconds) {
                guard try holdFence(me, connection), try row(connection).coordinator == me else { return false }
                let count = try connection.run(
                    "UPDATE volley_run SET offers = offers + 1 WHERE number = $1 AND offers = $2",
                    [.int(run), .int(offers)],
                    within: asking.answerSeconds)
                guard count == 1 else { return true }
                var rest = open[...]
                while let first = rest.first {
                    // Those of a part are of one segment.
                    let end = plan.segments.first { $0.ids.contains(first.id) }?.ids.upperBound ?? .max
                    let part = Array(rest.prefix(Self.largestPart).prefix { $0.id < end })
                    rest = rest.dropFirst(part.count)
                    try connection.run(
                        "INSERT INTO volley_returned (run, first, last, redo) VALUES ($1, $2, $3, $4)",
                        [
                            .int(run), .int(part[0].id), .int(part[part.count - 1].id + 1),
                            .bytes(RepeatedRecipient.bytes(of: part)),
                        ],
                        within: asking.answerSeconds)
                }
                return true
            }
        }
        if !isCoordinating { throw SendingRevoked(isCancelled: false) }
    }

    /// Parts to send again that a worker takes before others get a turn.
    private static let mostParts = 5

    /// Ranges of a segment in which this worker is to look for recipients that were claimed and are
    /// to be sent to again; it has them from now on. Ascending.
    package func leaseAgain(of segment: Range<Int>) throws -> [Range<Int>] {
        var ranges: [Range<Int>] = []
        for _ in 0..<Self.mostParts {
            let next = try leasePartAgain(of: segment)
            if next.isEmpty { break }
            ranges += next
        }
        return ranges.sorted { $0.lowerBound < $1.lowerBound }
    }

    /// Leases recipients of a segment that get the push again.
    /// - Returns: ranges that they are in, ascending; empty without such recipients.
    private func leasePartAgain(of segment: Range<Int>) throws -> [Range<Int>] {
        guard let me = state.withLock({ $0.sender }) else { return [] }
        let rows = try leasing { connection in
            let lost = try unknownLeases(of: me, in: segment, connection).filter { $0.again != nil }
            if !lost.isEmpty { return lost }
            return try takeAgain(of: segment, me, connection).map { [$0] } ?? []
        }
        state.withLock { state in for row in rows { state.leasedRanges.take(.init(ids: row.ids, again: row.again)) } }
        return rows.map(\.ids)
    }

    private func takeAgain(of segment: Range<Int>, _ me: Int, _ connection: PostgresConnection) throws -> LeasedRow? {
        let seconds = claiming.storeConnection.answerSeconds
        var found: (number: Int, row: LeasedRow)?
        try connection.run(
            """
            SELECT number, first, last, redo FROM volley_returned
            WHERE run = $1 AND redo IS NOT NULL AND first >= $2 AND last <= $3 ORDER BY first LIMIT 1 FOR UPDATE SKIP LOCKED
            """, [.int(run), .int(segment.lowerBound), .int(segment.upperBound)], within: seconds
        ) { found = ($0.int(0), LeasedRow(ids: try $0.ids(1, 2), again: try read($0.bytes(3)))) }
        guard let (number, row) = found else { return nil }
        try connection.run("DELETE FROM volley_returned WHERE number = $1", [.int(number)], within: seconds)
        try connection.run(
            "INSERT INTO volley_lease (run, sender, first, last, redo) VALUES ($1, $2, $3, $4, $5)",
            [
                .int(run), .int(me), .int(row.ids.lowerBound), .int(row.ids.upperBound),
                .bytes(RepeatedRecipient.bytes(of: row.again ?? [])),
            ],
            within: seconds)
        return row
    }
}

/// What workers that are gone left behind.
extension SharedLedger {
    /// The claimed recipients of a range that are not settled; left behind are those that no worker
    /// that is there has in hand.
    ///
    /// Looked at twice, with the question what workers have in between: what is claimed in the
    /// meantime was not in the first look, and what a worker recorded before it left is in the
    /// second.
    package func unsettled(in ids: Range<Int>, _ open: OpenOutcomes) throws -> UnsettledRecipients {
        try refresh()
        let before = try replica.unsettled(in: ids, open)
        guard !before.inDoubt.isEmpty else { return before }
        let held = try heldByWorkers(), inHands = ClaimSet(held.claimed.ranges + held.offered.ranges)
        try refresh()
        var now = try replica.unsettled(in: ids, open)
        now.leftBehind = ClaimSet(now.inDoubt).intersection(ClaimSet(before.inDoubt)).ranges.flatMap {
            inHands.gaps(in: $0)
        }
        return now
    }

    /// Claims what workers had leased that died before they had confirmed an epoch of the database:
    /// they may have pushed to these, in claims that were forgotten. They count as unknown. For the
    /// coordinator alone.
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
                // With their outcome in the same entry: no worker has them in hand.
                try claim(
                    gap,
                    unsent: gap.map {
                        Settlement(recipient: $0, outcome: .unknown, own: .processEnded, settledAt: now)
                    }, at: now)
            }
            try ask { connection in
                try connection.run(
                    "DELETE FROM volley_lease WHERE run = $1 AND sender = $2 AND first = $3",
                    [.int(run), .int(sender), .int(ids.lowerBound)],
                    within: asking.answerSeconds)
            }
        }
    }

    /// Records recipients as unknown that are still unsent, of some that were due to be sent to
    /// again.
    private func settleDoubtful(_ ids: [Int], at now: Timestamp) throws {
        guard let first = ids.first, let last = ids.last else { return }
        try refresh()
        let known = try replica.settlements(of: first..<last + 1)
        let unsent = ids.filter { known[$0]?.outcome == .unsent }
        guard !unsent.isEmpty else { return }
        try write(
            .settled([unsent.map { Settlement(recipient: $0, outcome: .unknown, own: .processEnded, settledAt: now) }]),
            at: now)
    }

    func recordLost(at now: Timestamp) throws -> Int {
        var count = 0
        for range in try unsettled(in: 0..<plan.audience, OpenOutcomes()).leftBehind {
            for start in stride(from: range.lowerBound, to: range.upperBound, by: 10_000) {
                let ids = start..<min(start + 10_000, range.upperBound)
                let settlements = ids.map {
                    Settlement(recipient: $0, outcome: .unknown, own: .processEnded, settledAt: now)
                }
                try write(.settled([settlements]), at: now)
                count += ids.count
            }
        }
        try refresh()
        return count
    }

    /// What workers that are there have claimed or reopened; and what is offered or leased to be
    /// sent to again.
    func heldByWorkers() throws -> (claimed: ClaimSet, offered: ClaimSet) {
        try ask { connection in (try claimedByWorkers(connection), try offered(connection)) }
    }

    private func claimedByWorkers(_ connection: PostgresConnection) throws -> ClaimSet {
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
            let entry = JournalEntry(
                kind: .reopened, ids: ids, at: Timestamp(epochMilliseconds: 0), data: Array(cells.bytes(3)))
            guard case .reopened(let recipients, _, _)? = entry.fetched(sequence: 0) else {
                throw broken("an entry cannot be read")
            }
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
}
