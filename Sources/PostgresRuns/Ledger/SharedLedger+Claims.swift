import Base
import Postgres
package import Runs
import Synchronization

/// What is claimed: leases of ranges, and claims of what was leased.
extension SharedLedger {
    package func claims() throws -> RunClaims {
        try refresh()
        return try replica.claims()
    }

    /// As the replica knows it.
    func reached() throws -> Int {
        try refresh()
        return try replica.reached()
    }

    // MARK: - Claiming

    /// Recipients that are worth a lease of their own, also where members are to end at the same time.
    private static let leastStretch = 4000

    /// How many recipients are worth a claim of their own, where a run is fast enough: each claim goes to the database and back, and so do its
    /// recipients.
    package static let worthwhileClaim = 16_000

    func claim(_ range: Range<Int>, unsent: [Settlement] = [], at now: Timestamp) throws {
        guard !range.isEmpty else { return }
        guard range.lowerBound >= 0, range.upperBound <= plan.audience else {
            throw broken("recipients \(range.lowerBound) to \(range.upperBound - 1) were claimed, of \(plan.audience)")
        }
        let isLeased = state.withLock { $0.stretches.contain(range) }
        try write(JournalEntry(.claimed(range, unsent: unsent, at: now), at: now), through: claiming, isLeased ? .hasLease : .isSending)
        state.withLock { state in
            state.stretches.remove(range)
            state.claimedSinceLease += range.count
            state.own.open(range)
            state.own.settle(unsent)
        }
        if isAtHome { ownClaims.withLock { $0.insert(range) } }
    }

    package func lease(atMost limit: Int, of leg: Range<Int>) throws -> Range<Int>? {
        let leg = leg.clamped(to: 0..<plan.audience)
        while !leg.isEmpty {
            if state.withLock({ $0.isFenced }) { throw NotSending(isCancelled: false) }
            if let next = state.withLock({ $0.stretches.next(atMost: limit, of: leg) }) {
                try readBlocks(of: next)
                return next
            }
            guard try takeStretch(of: leg, atLeast: max(1, limit)) else { return nil }
        }
        return nil
    }

    /// How many recipients the next stretch has: those of about a second, so that what a dead member leaves is little, and few leases are made.
    private func stretchLength(atLeast limit: Int) -> Int {
        state.withLock { state in
            defer { (state.leasedAt, state.claimedSinceLease) = (.now, 0) }
            guard let leasedAt = state.leasedAt else { return limit }
            let seconds = max(0.1, (.now - leasedAt) / .seconds(1))
            return max(limit, min(200_000, Int(Double(state.claimedSinceLease) / seconds)))
        }
    }

    /// - Returns: false if nothing of the leg is left to be leased.
    private func takeStretch(of leg: Range<Int>, atLeast limit: Int) throws -> Bool {
        let me = try join(), members = state.withLock { max(1, $0.members) }
        let wish = Wish(leg: leg, length: stretchLength(atLeast: limit), least: min(limit, Self.leastStretch), members: members)
        let exhausted = state.withLock { $0.stretches.exhausted }
        let found = try leasing { connection in
            try remove(leases: exhausted, of: me, connection)
            let lost = try unknownLeases(of: me, in: leg, connection).filter { $0.again == nil }
            if !lost.isEmpty { return lost }
            if let row = try takeReturned(wish, me, connection) { return [row] }
            return try takeNext(wish, me, connection).map { [$0] } ?? []
        }
        state.withLock { state in
            state.stretches.forget(exhausted)
            for row in found { state.stretches.take(.init(ids: row.ids, again: row.again), besides: row.claimed) }
        }
        return !found.isEmpty
    }

    /// Runs a transaction that leases, once no roll is called.
    /// - Throws: `NotSending` if this member was declared dead, or the run was stopped while the roll was called.
    func leasing(_ body: (PostgresConnection) throws -> [LeasedRow]) throws -> [LeasedRow] {
        let me = try join(), lane = claiming.lane, start = store.patience.seconds
        while true {
            enum Result { case done([LeasedRow]), isDead, waits, isOver(RunState) }
            let result = try StoreError.explaining {
                try lane.patiently(until: { state.withLock { $0.isFenced } }) { connection -> Result in
                    try connection.transaction(within: lane.answerSeconds) {
                        guard try holdFence(me, connection) else { return .isDead }
                        if try isCalm(connection) { return .done(try body(connection)) }
                        let state = try row(connection).state
                        return state.hasEnded ? .isOver(state) : .waits
                    }
                }
            }
            switch result {
            case .done(let rows): return rows
            case .isDead: state.withLock { $0.isFenced = true }
            case .isOver(let state): throw NotSending(isCancelled: state == .cancelled)
            case .waits: store.patience.pause(milliseconds: Self.rollCallMilliseconds)
            }
            if state.withLock({ $0.isFenced }) || store.patience.isSpent(since: start) { throw NotSending(isCancelled: false) }
        }
    }

    /// A stretch that this member would like to have.
    private struct Wish {
        var leg: Range<Int>
        /// How many recipients, if there are as many; and towards the end, when all members should end at the same time, at least so many.
        var length: Int, least: Int
        var members: Int
    }

    /// A row of the table of leases.
    struct LeasedRow {
        var ids: Range<Int>
        var again: [SentAgain]?
        var claimed = ClaimSet()
    }

    /// Locks this member's row for as long as the transaction lasts.
    /// - Returns: false if it was declared dead.
    func holdFence(_ me: Int, _ connection: PostgresConnection) throws -> Bool {
        var isAlive = false
        try connection.run(
            "SELECT 1 FROM volley_sender WHERE number = $1 AND dead_at IS NULL FOR SHARE", [.int(me)], within: claiming.lane.answerSeconds
        ) { _ in isAlive = true }
        return isAlive
    }

    /// Removes leases of which all recipients are claimed. They are forgotten once this is committed.
    private func remove(leases firsts: [Int], of me: Int, _ connection: PostgresConnection) throws {
        guard !firsts.isEmpty else { return }
        try connection.run(
            "DELETE FROM volley_lease WHERE run = $1 AND sender = $2 AND first = ANY ($3::bigint[])", [.int(run), .int(me), .ints(firsts)],
            within: claiming.lane.answerSeconds)
    }

    /// Leases whose answer was lost.
    /// - Parameter leg: that of the thread that asks: others of this process may just be taking theirs.
    func unknownLeases(of me: Int, in leg: Range<Int>, _ connection: PostgresConnection) throws -> [LeasedRow] {
        let known = state.withLock { Array($0.stretches.leases.keys) }
        var rows: [LeasedRow] = []
        try connection.run(
            """
            SELECT first, last, redo FROM volley_lease
            WHERE run = $1 AND sender = $2 AND first <> ALL ($3::bigint[]) AND first < $5 AND last > $4 ORDER BY first
            """, [.int(run), .int(me), .ints(known), .int(leg.lowerBound), .int(leg.upperBound)], within: claiming.lane.answerSeconds
        ) { cells in
            rows.append(LeasedRow(ids: try cells.ids(0, 1), again: cells.isNull(2) ? nil : try read(cells.bytes(2))))
        }
        return try rows.map { try withClaims($0, connection) }
    }

    /// - Parameter redo: none for NULL.
    func read(_ redo: UnsafeRawBufferPointer) throws -> [SentAgain] {
        if redo.isEmpty { return [] }
        guard let again = SentAgain.read(redo) else { throw broken("a stretch that came back cannot be read") }
        return again
    }

    /// A stretch that came back from another member.
    private func takeReturned(_ wish: Wish, _ me: Int, _ connection: PostgresConnection) throws -> LeasedRow? {
        let leg = wish.leg
        var found: (number: Int, ids: Range<Int>)?
        try connection.run(
            """
            SELECT number, first, last FROM volley_returned WHERE run = $1 AND redo IS NULL AND first < $3 AND last > $2
            ORDER BY first LIMIT 1 FOR UPDATE SKIP LOCKED
            """, [.int(run), .int(leg.lowerBound), .int(leg.upperBound)], within: claiming.lane.answerSeconds
        ) { found = ($0.int(0), try $0.ids(1, 2)) }
        guard let found else { return nil }
        let part = found.ids.clamped(to: leg), ids = part.lowerBound..<min(part.upperBound, part.lowerBound + wish.length)
        try connection.run("DELETE FROM volley_returned WHERE number = $1", [.int(found.number)], within: claiming.lane.answerSeconds)
        try giveBack(ClaimSet([ids]).gaps(in: found.ids), connection)
        return try withClaims(lease(ids, to: me, connection), connection)
    }

    /// The stretch that comes next in the order of ids.
    private func takeNext(_ wish: Wish, _ me: Int, _ connection: PostgresConnection) throws -> LeasedRow? {
        let leg = wish.leg
        var found: (first: Int, last: Int, next: Int)?
        try connection.run(
            """
            SELECT first, last, next FROM volley_leg WHERE run = $1 AND first < $3 AND last > $2 AND next < last AND next < $3
            ORDER BY first LIMIT 1 FOR UPDATE
            """, [.int(run), .int(leg.lowerBound), .int(leg.upperBound)], within: claiming.lane.answerSeconds
        ) { found = ($0.int(0), $0.int(1), $0.int(2)) }
        guard let found else { return nil }
        let first = max(found.next, leg.lowerBound), end = min(found.last, leg.upperBound)
        // Towards the end stretches become shorter, so that all members end at the same time.
        let fair = max(wish.least, min(wish.length, (end - first) / (2 * wish.members)))
        let ids = first..<min(end, first + (wish.members > 1 ? fair : wish.length))
        if found.next < first { try giveBack([found.next..<first], connection) }
        try connection.run(
            "UPDATE volley_leg SET next = $3 WHERE run = $1 AND first = $2", [.int(run), .int(found.first), .int(ids.upperBound)],
            within: claiming.lane.answerSeconds)
        return try withClaims(lease(ids, to: me, connection), connection)
    }

    private func lease(_ ids: Range<Int>, to me: Int, _ connection: PostgresConnection) throws -> LeasedRow {
        try connection.run(
            "INSERT INTO volley_lease (run, sender, first, last) VALUES ($1, $2, $3, $4)",
            [.int(run), .int(me), .int(ids.lowerBound), .int(ids.upperBound)], within: claiming.lane.answerSeconds)
        return LeasedRow(ids: ids)
    }

    /// Notes that any member may lease these.
    func giveBack(_ ranges: [Range<Int>], _ connection: PostgresConnection) throws {
        for ids in ranges where !ids.isEmpty {
            try connection.run(
                "INSERT INTO volley_returned (run, first, last) VALUES ($1, $2, $3)",
                [.int(run), .int(ids.lowerBound), .int(ids.upperBound)], within: asking.answerSeconds)
        }
    }

    /// Adds what of a leased range is claimed already: whole waves are, for which it became too late.
    private func withClaims(_ row: LeasedRow, _ connection: PostgresConnection) throws -> LeasedRow {
        var row = row
        row.claimed = try claimed(of: row.ids, connection)
        return row
    }

    /// What of a range is claimed, by any member.
    func claimed(of ids: Range<Int>, _ connection: PostgresConnection) throws -> ClaimSet {
        var claimed = ClaimSet()
        try connection.run(
            """
            SELECT first, last FROM volley_journal
            WHERE kind = 1 AND run = $1 AND int8range(run << 40 | first, run << 40 | last) && int8range($1 << 40 | $2, $1 << 40 | $3)
            """, [.int(run), .int(ids.lowerBound), .int(ids.upperBound)], within: asking.answerSeconds
        ) { claimed.insert(try $0.ids(0, 1)) }
        return claimed
    }
}
