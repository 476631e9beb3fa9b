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

    /// As the replica has it.
    func reached() throws -> Int {
        try refresh()
        return try replica.reached()
    }

    // MARK: - Claiming

    /// Recipients that are worth a lease of their own, also where workers are to end at the same
    /// time.
    private static let leastLeasedRange = 4000

    /// How many recipients are worth a claim of their own, where a run is fast enough: each claim
    /// goes to the database and back, and so do its recipients.
    package static let worthwhileClaim = 16_000

    func claim(_ range: Range<Int>, unsent: [Settlement] = [], at now: Timestamp) throws {
        guard !range.isEmpty else { return }
        guard range.lowerBound >= 0, range.upperBound <= plan.audience else {
            throw broken("recipients \(range.lowerBound) to \(range.upperBound - 1) were claimed, of \(plan.audience)")
        }
        let isLeased = state.withLock { $0.leasedRanges.contain(range) }
        try write(
            JournalEntry(.claimed(range, unsent: unsent, at: now), at: now), through: claiming,
            isLeased ? .hasLease : .isSending)
        state.withLock { state in
            state.leasedRanges.remove(range)
            state.claimedSinceLease += range.count
            state.own.open(range)
            state.own.settle(unsent)
        }
        if hasRunFile { ownClaims.withLock { $0.insert(range) } }
    }

    package func lease(atMost limit: Int, of segment: Range<Int>) throws -> Range<Int>? {
        let segment = segment.clamped(to: 0..<plan.audience)
        while !segment.isEmpty {
            if state.withLock({ $0.isFenced }) { throw SendingRevoked(isCancelled: false) }
            if let next = state.withLock({ $0.leasedRanges.next(atMost: limit, of: segment) }) {
                try readBlocks(of: next)
                return next
            }
            guard try takeLeasedRange(of: segment, atLeast: max(1, limit)) else { return nil }
        }
        return nil
    }

    /// How many recipients the next leased range has: those of about a second, so that what a dead
    /// worker leaves is little, and few leases are made.
    private func leasedRangeLength(atLeast limit: Int) -> Int {
        state.withLock { state in
            defer { (state.leasedAt, state.claimedSinceLease) = (.now, 0) }
            guard let leasedAt = state.leasedAt else { return limit }
            let seconds = max(0.1, (.now - leasedAt) / .seconds(1))
            return max(limit, min(200_000, Int(Double(state.claimedSinceLease) / seconds)))
        }
    }

    /// - Returns: false if nothing of the segment is left to be leased.
    private func takeLeasedRange(of segment: Range<Int>, atLeast limit: Int) throws -> Bool {
        let me = try join(), workers = state.withLock { max(1, $0.workers) }
        let wish = LeaseRequest(
            segment: segment, length: leasedRangeLength(atLeast: limit), least: min(limit, Self.leastLeasedRange),
            workers: workers)
        let exhausted = state.withLock { $0.leasedRanges.exhausted }
        let found = try leasing { connection in
            try remove(leases: exhausted, of: me, connection)
            let lost = try unknownLeases(of: me, in: segment, connection).filter { $0.again == nil }
            if !lost.isEmpty { return lost }
            if let row = try takeReturned(wish, me, connection) { return [row] }
            return try takeNext(wish, me, connection).map { [$0] } ?? []
        }
        state.withLock { state in
            state.leasedRanges.forget(exhausted)
            for row in found { state.leasedRanges.take(.init(ids: row.ids, again: row.again), besides: row.claimed) }
        }
        return !found.isEmpty
    }

    /// Runs a transaction that leases, once the recovery barrier is open.
    /// - Throws: `SendingRevoked` if this worker was declared dead, or the run was stopped while
    ///   the recovery barrier was closed.
    func leasing(_ body: (PostgresConnection) throws -> [LeasedRow]) throws -> [LeasedRow] {
        let me = try join(), storeConnection = claiming.storeConnection, start = store.retryDeadline.seconds
        while true {
            enum Result { case done([LeasedRow]), isDead, waits, isOver(RunState) }
            let result = try StoreError.explaining {
                try storeConnection.retrying(until: { state.withLock { $0.isFenced } }) { connection -> Result in
                    try connection.transaction(within: storeConnection.answerSeconds) {
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
            case .isOver(let state): throw SendingRevoked(isCancelled: state == .cancelled)
            case .waits: store.retryDeadline.pause(milliseconds: Self.recoveryBarrierMilliseconds)
            }
            if state.withLock({ $0.isFenced }) || store.retryDeadline.isSpent(since: start) {
                throw SendingRevoked(isCancelled: false)
            }
        }
    }

    /// A leased range that this worker would like to have.
    private struct LeaseRequest {
        var segment: Range<Int>
        /// `length`: how many recipients to lease, if that many are left. `least`: the fewest
        /// towards the end, when all workers should end together.
        var length: Int, least: Int
        var workers: Int
    }

    /// A row of the table of leases.
    struct LeasedRow {
        var ids: Range<Int>
        var again: [RepeatedRecipient]?
        var claimed = ClaimSet()
    }

    /// Locks this worker's row for as long as the transaction lasts.
    /// - Returns: false if it was declared dead.
    func holdFence(_ me: Int, _ connection: PostgresConnection) throws -> Bool {
        var isAlive = false
        try connection.run(
            "SELECT 1 FROM volley_sender WHERE number = $1 AND dead_at IS NULL FOR SHARE", [.int(me)],
            within: claiming.storeConnection.answerSeconds
        ) { _ in isAlive = true }
        return isAlive
    }

    /// Removes leases of which all recipients are claimed. They are forgotten once this is
    /// committed.
    private func remove(leases firsts: [Int], of me: Int, _ connection: PostgresConnection) throws {
        guard !firsts.isEmpty else { return }
        try connection.run(
            "DELETE FROM volley_lease WHERE run = $1 AND sender = $2 AND first = ANY ($3::bigint[])",
            [.int(run), .int(me), .ints(firsts)],
            within: claiming.storeConnection.answerSeconds)
    }

    /// Leases whose answer was lost.
    /// - Parameter segment: that of the calling thread: other threads of this process may just be
    ///   taking theirs.
    func unknownLeases(of me: Int, in segment: Range<Int>, _ connection: PostgresConnection) throws -> [LeasedRow] {
        let known = state.withLock { Array($0.leasedRanges.leases.keys) }
        var rows: [LeasedRow] = []
        try connection.run(
            """
            SELECT first, last, redo FROM volley_lease
            WHERE run = $1 AND sender = $2 AND first <> ALL ($3::bigint[]) AND first < $5 AND last > $4 ORDER BY first
            """, [.int(run), .int(me), .ints(known), .int(segment.lowerBound), .int(segment.upperBound)],
            within: claiming.storeConnection.answerSeconds
        ) { cells in
            rows.append(LeasedRow(ids: try cells.ids(0, 1), again: cells.isNull(2) ? nil : try read(cells.bytes(2))))
        }
        return try rows.map { try withClaims($0, connection) }
    }

    /// - Parameter redo: none for NULL.
    func read(_ redo: UnsafeRawBufferPointer) throws -> [RepeatedRecipient] {
        if redo.isEmpty { return [] }
        guard let again = RepeatedRecipient.read(redo) else { throw broken("a stretch that came back cannot be read") }
        return again
    }

    /// A leased range that came back from another worker.
    private func takeReturned(_ wish: LeaseRequest, _ me: Int, _ connection: PostgresConnection) throws -> LeasedRow? {
        let segment = wish.segment
        var found: (number: Int, ids: Range<Int>)?
        try connection.run(
            """
            SELECT number, first, last FROM volley_returned WHERE run = $1 AND redo IS NULL AND first < $3 AND last > $2
            ORDER BY first LIMIT 1 FOR UPDATE SKIP LOCKED
            """, [.int(run), .int(segment.lowerBound), .int(segment.upperBound)],
            within: claiming.storeConnection.answerSeconds
        ) { found = ($0.int(0), try $0.ids(1, 2)) }
        guard let found else { return nil }
        let part = found.ids.clamped(to: segment),
            ids = part.lowerBound..<min(part.upperBound, part.lowerBound + wish.length)
        try connection.run(
            "DELETE FROM volley_returned WHERE number = $1", [.int(found.number)],
            within: claiming.storeConnection.answerSeconds)
        try giveBack(ClaimSet([ids]).gaps(in: found.ids), connection)
        return try withClaims(lease(ids, to: me, connection), connection)
    }

    /// The leased range that comes next in the order of ids.
    private func takeNext(_ wish: LeaseRequest, _ me: Int, _ connection: PostgresConnection) throws -> LeasedRow? {
        let segment = wish.segment
        var found: (first: Int, last: Int, next: Int)?
        try connection.run(
            """
            SELECT first, last, next FROM volley_leg WHERE run = $1 AND first < $3 AND last > $2 AND next < last AND next < $3
            ORDER BY first LIMIT 1 FOR UPDATE
            """, [.int(run), .int(segment.lowerBound), .int(segment.upperBound)],
            within: claiming.storeConnection.answerSeconds
        ) { found = ($0.int(0), $0.int(1), $0.int(2)) }
        guard let found else { return nil }
        let first = max(found.next, segment.lowerBound), end = min(found.last, segment.upperBound)
        // Towards the end leased ranges become shorter, so that all workers end at the same time.
        let fair = max(wish.least, min(wish.length, (end - first) / (2 * wish.workers)))
        let ids = first..<min(end, first + (wish.workers > 1 ? fair : wish.length))
        if found.next < first { try giveBack([found.next..<first], connection) }
        try connection.run(
            "UPDATE volley_leg SET next = $3 WHERE run = $1 AND first = $2",
            [.int(run), .int(found.first), .int(ids.upperBound)],
            within: claiming.storeConnection.answerSeconds)
        return try withClaims(lease(ids, to: me, connection), connection)
    }

    private func lease(_ ids: Range<Int>, to me: Int, _ connection: PostgresConnection) throws -> LeasedRow {
        try connection.run(
            "INSERT INTO volley_lease (run, sender, first, last) VALUES ($1, $2, $3, $4)",
            [.int(run), .int(me), .int(ids.lowerBound), .int(ids.upperBound)],
            within: claiming.storeConnection.answerSeconds)
        return LeasedRow(ids: ids)
    }

    /// Notes that any worker may lease these.
    func giveBack(_ ranges: [Range<Int>], _ connection: PostgresConnection) throws {
        for ids in ranges where !ids.isEmpty {
            try connection.run(
                "INSERT INTO volley_returned (run, first, last) VALUES ($1, $2, $3)",
                [.int(run), .int(ids.lowerBound), .int(ids.upperBound)], within: asking.answerSeconds)
        }
    }

    /// Adds what of a leased range is claimed already: whole waves are, for which it became too
    /// late.
    private func withClaims(_ row: LeasedRow, _ connection: PostgresConnection) throws -> LeasedRow {
        var row = row
        row.claimed = try claimed(of: row.ids, connection)
        return row
    }

    /// What of a range is claimed, by any worker.
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
