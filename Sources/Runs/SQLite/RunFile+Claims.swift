import Base
import GRDB
import Synchronization

/// Claims and outcomes. A recipient is claimed before it goes onto the wire, and settled
/// afterwards: outside every claim it is unsent, inside one and without an outcome it is unknown.
extension RunFile {
    /// The claimed recipients of a range that are not settled.
    public func unsettled(in ids: Range<Int>, _ selected: OpenOutcomes) throws -> UnsettledRecipients {
        try read { db in
            var (inDoubt, open) = (AscendingRanges(), AscendingRanges())
            var outcomes = try OutcomeReader(db, self)
            let closed = try OutcomeReasons.numbers(of: selected.closed, db)
            for id in try claims(db).ranges(in: ids).joined() {
                guard let slot = try outcomes.slot(of: id) else {
                    inDoubt.append(id)
                    continue
                }
                if Self.isOpen(slot, resendsUnknown: selected.resendsUnknown, closed) { open.append(id) }
            }
            return UnsettledRecipients(inDoubt: inDoubt.ranges, open: open.ranges)
        }
    }

    /// Recipients that were claimed and have no outcome: after a crash, those that may or may not
    /// have been pushed. Ascending.
    package func claimedWithoutOutcome() throws -> [Range<Int>] {
        try unsettled(in: 0..<plan.audience, OpenOutcomes()).inDoubt
    }

    /// The claims that overlap a range, whole.
    func claims(_ db: Database, around ids: Range<Int>) throws -> ClaimSet {
        let select = try PreparedStatement(db, sql: RunSchema.selectClaimsFromLast)
        try select.bind(ids.upperBound - 1, at: 1)
        var found = ClaimSet()
        try select.forEachRow { row in
            let (first, last) = (try row.int(0), try row.int(1))
            guard first <= last, last < plan.audience, last < found.ranges.first?.lowerBound ?? .max else {
                throw RunDiagnostics.damaged(path, what: "a claim cannot be read")
            }
            guard last >= ids.lowerBound else { return false }
            found.insert(first..<last + 1)
            return true
        }
        return found
    }

    /// The claims that were made.
    public func claims() throws -> RunClaims {
        try read { db in
            var parts: [(ids: Range<Int>, at: Timestamp)] = []
            try forEachClaim(db, "claimed_at") { ids, row in parts.append((ids, try row.moment(2))) }
            let again =
                try db.tableExists("taken_back")
                ? db.first("SELECT recipients FROM taken_back") { try $0.count(0) } ?? 0 : 0
            let skipped = plan.waves.isEmpty ? [] : try db.all("SELECT first_id FROM skipped_wave") { try $0.int(0) }
            return RunClaims(parts, reopened: again, skippedWaves: Set(skipped))
        }
    }

    /// The claimed recipients.
    func claims(_ db: Database) throws -> ClaimSet {
        var claims = ClaimSet()
        try forEachClaim(db, "NULL") { ids, _ in claims.insert(ids) }
        return claims
    }

    /// Calls `body` with each claim, in the order of ids.
    /// - Parameter column: what else is read of it.
    private func forEachClaim(
        _ db: Database, _ column: String, _ body: (Range<Int>, PreparedStatement.Row) throws -> Void
    ) throws {
        var end = 0
        try PreparedStatement(db, sql: "SELECT first_id, last_id, \(column) FROM claim ORDER BY first_id").forEachRow {
            row in
            let (first, last) = (try row.int(0), try row.int(1))
            guard first <= last, first >= end, last < plan.audience else {
                throw RunDiagnostics.damaged(path, what: "its claims overlap")
            }
            end = last + 1
            try body(first..<end, row)
            return true
        }
    }

    /// Ranges that ids are added to in ascending order.
    private struct AscendingRanges {
        private(set) var ranges: [Range<Int>] = []

        mutating func append(_ id: Int) {
            if let last = ranges.indices.last, ranges[last].upperBound == id {
                ranges[last] = ranges[last].lowerBound..<id + 1
            } else {
                ranges.append(id..<id + 1)
            }
        }
    }
}

/// Claiming.
extension RunFile {
    /// The next recipients of a segment that are not claimed. Only the process that may send the
    /// run claims, so claims are read once.
    public func lease(atMost limit: Int, of segment: Range<Int>) throws -> Range<Int>? {
        try leased.withLock { leased in
            let claims = try leased ?? read(claims)
            leased = claims
            return claims.next(atMost: limit, of: segment.clamped(to: 0..<plan.audience))
        }
    }

    /// Claims are read again before the next range is handed out: they were made by others, or in
    /// another way.
    func forgetClaims() { leased.withLock { $0 = nil } }

    /// Commits the claim for a range. Must return before any of its recipients goes onto the wire.
    /// - Parameter unsent: what is recorded with the claim of those of the range that get nothing,
    ///   ascending.
    /// - Throws: `Diagnostic` when part of it is claimed already or is not in the audience; nothing
    ///   is claimed then.
    func claim(_ range: Range<Int>, unsent: [Settlement] = [], at now: Timestamp) throws {
        guard !range.isEmpty else { return }
        try write { db in
            try checkSending(db)
            try claim(range, unsent: unsent, at: now, db)
        }
        leased.withLock { $0?.insert(range) }
    }

    func claim(_ range: Range<Int>, unsent: [Settlement], at now: Timestamp, _ db: Database) throws {
        guard range.lowerBound >= 0, range.upperBound <= plan.audience else {
            throw broken("recipients \(range.lowerBound) to \(range.upperBound - 1) were claimed, of \(plan.audience)")
        }
        if let earlier = try claims(db, around: range).ranges(in: range).last {
            throw broken(
                "recipient \(earlier.lowerBound) is claimed already, perhaps by another volley that sends this run")
        }
        try forgetDeferral(of: range, db)
        try insertClaim(range, at: now, db)
        if let first = unsent.first, let last = unsent.last {
            try record([unsent], ids: first.recipient..<last.recipient + 1, db)
        } else {
            try forgetFigures(db)
        }
    }

    func insertClaim(_ ids: Range<Int>, at now: Timestamp, _ db: Database) throws {
        let insert = try PreparedStatement(db, sql: RunSchema.insertClaim)
        try insert.bind(ids.lowerBound, at: 1)
        try insert.bind(ids.upperBound - 1, at: 2)
        try insert.bind(Int(now.epochMilliseconds), at: 3)
        try insert.execute()
    }

    /// Removes the record of recipients that were skipped and never claimed. Once they are claimed
    /// they may be on the wire, and a crash must leave them unknown.
    private func forgetDeferral(of ids: Range<Int>, _ db: Database) throws {
        var deferred: [Int] = []
        try forEachOutcome(db, in: ids) { id, _, outcome in
            guard outcome == .unsent else { throw broken("recipient \(id) is \(outcome) but was never claimed") }
            deferred.append(id)
        }
        guard let first = deferred.first, let last = deferred.last else { return }
        var board = try OutcomeWriteCache(db, self, ids: first..<last + 1)
        for id in deferred { try board.clear(id) }
        try board.store()
    }
}

/// Recording.
extension RunFile {
    /// Records outcomes in one transaction. A recipient recorded twice is an error, except that
    /// `unsent` may be replaced; so is one that was never claimed, unless it is `unsent`.
    /// - Throws: `Diagnostic`; none of the group is recorded then.
    func record(_ parts: [[Settlement]]) throws {
        guard let ids = try bounds(of: parts) else { return }
        try write { db in try record(parts, ids: ids, db) }
    }

    /// Records outcomes of one part.
    func record(_ settlements: [Settlement]) throws { try record([settlements]) }

    /// A range that all of these recipients are in; nil for none.
    func bounds(of parts: [[Settlement]]) throws -> Range<Int>? {
        var (least, most) = (Int.max, Int.min)
        for part in parts {
            for settled in part { (least, most) = (min(least, settled.recipient), max(most, settled.recipient)) }
        }
        guard least <= most else { return nil }
        for id in [least, most] where !(0..<plan.audience).contains(id) {
            throw broken("recipient \(id) was settled, of \(plan.audience)")
        }
        return least..<most + 1
    }

    func record(_ parts: [[Settlement]], ids: Range<Int>, _ db: Database) throws {
        var claimed = ClaimedIDs(try claims(db, around: ids))
        var board = try OutcomeWriteCache(db, self, ids: ids)
        var reasons = try OutcomeReasons(db)
        for part in parts {
            for settled in part {
                guard claimed.contains(settled.recipient) || settled.outcome == .unsent else {
                    throw broken("recipient \(settled.recipient) is \(settled.outcome) but was never claimed")
                }
                let reason = settled.reason.isEmpty ? 0 : try reasons.number(of: settled.reason)
                guard try board.record(OutcomeSlot(settled, reason: reason), of: settled.recipient) else {
                    throw broken("recipient \(settled.recipient) was settled twice")
                }
                if let since = settled.invalidSince { try keep(since, of: settled.recipient, db) }
            }
        }
        try board.store()
        try forgetFigures(db)
    }

    private func keep(_ invalidSince: Timestamp, of id: Int, _ db: Database) throws {
        let insert = try PreparedStatement(db, sql: RunSchema.upsertInvalidSince)
        try insert.bind(id, at: 1)
        try insert.bind(Int(invalidSince.epochMilliseconds), at: 2)
        try insert.execute()
    }

    /// Claims, for many questions about ids close together.
    private struct ClaimedIDs {
        private let claims: ClaimSet
        /// The claim that was found last.
        private var last = 0..<0

        init(_ claims: ClaimSet) { self.claims = claims }

        @inline(__always) mutating func contains(_ id: Int) -> Bool { last.contains(id) || isFound(id) }

        private mutating func isFound(_ id: Int) -> Bool {
            guard let claim = claims.range(around: id) else { return false }
            last = claim
            return true
        }
    }

    /// An invariant that the caller broke: sending must stop at once, and the file stays as it was.
    func broken(_ what: String) -> Diagnostic {
        Diagnostic(
            "the account of this run does not add up: \(what)", file: path,
            remedy: "Nothing more is sent. Please report this.")
    }
}

/// Taking outcomes back, and recipients that wait or were left behind.
extension RunFile {
    /// Takes back the outcomes of recipients that are about to be sent again, so that they are
    /// claimed and nothing else: a crash leaves them unknown. Must return before any of them goes
    /// onto the wire.
    /// - Parameter ids: ascending.
    /// - Returns: the attempts that were recorded of them, where there were any.
    func reopen(
        _ ids: some BidirectionalCollection<Int>, resendsUnknown: Bool, at now: Timestamp = .now()
    ) throws -> [Int: Int] {
        guard !ids.isEmpty else { return [:] }
        return try write { db in
            try checkSending(db)
            return try reopen(ids, resendsUnknown: resendsUnknown, at: now, db)
        }
    }

    /// - Parameter ids: ascending.
    func reopen(_ ids: some BidirectionalCollection<Int>, resendsUnknown: Bool, at now: Timestamp, _ db: Database)
        throws -> [Int: Int]
    {
        guard let first = ids.first, let last = ids.last else { return [:] }
        var attempts: [Int: Int] = [:]
        var doubted: [Int] = []
        var board = try OutcomeWriteCache(db, self, ids: first..<last + 1)
        for id in ids {
            let slot = try board.slot(of: id)
            guard !slot.isEmpty, Self.isOpen(slot, resendsUnknown: resendsUnknown) else { continue }
            if slot.attempts > 0 { attempts[id] = slot.attempts }
            if slot.outcome == .unknown { doubted.append(id) }
            try board.clear(id)
        }
        try board.store()
        try noteDoubt(about: doubted, at: now, db)
        try db.execute(
            sql:
                "CREATE TABLE IF NOT EXISTS taken_back (recipients INTEGER NOT NULL  -- ever, each as often as it was\n)"
        )
        try db.execute(sql: "UPDATE taken_back SET recipients = recipients + ?", arguments: [ids.count])
        if db.changesCount == 0 { try db.execute(sql: "INSERT INTO taken_back VALUES (?)", arguments: [ids.count]) }
        try forgetFigures(db)
        return attempts
    }

    /// Whether a recipient with this record gets the push again.
    /// - Parameter closed: numbers of reasons after which recipients get nothing more
    ///   (`OpenOutcomes.closed`).
    static func isOpen(_ slot: OutcomeSlot, resendsUnknown: Bool, _ closed: Set<Int> = []) -> Bool {
        (slot.outcome == .unsent || resendsUnknown && slot.outcome == .unknown) && !closed.contains(slot.reason)
    }

    /// Records recipients as unknown that were claimed and have no outcome: what a killed process
    /// left behind.
    /// - Returns: how many they were.
    func recordLost(at now: Timestamp) throws -> Int {
        var count = 0
        for range in try claimedWithoutOutcome() {
            for start in stride(from: range.lowerBound, to: range.upperBound, by: 10_000) {
                let ids = start..<min(start + 10_000, range.upperBound)
                try record(ids.map { Settlement(recipient: $0, outcome: .unknown, own: .processEnded, settledAt: now) })
                count += ids.count
            }
        }
        return count
    }

    /// Records those recipients as unsent that were never sent to: they wait for another time, and
    /// can be claimed then, or it is too late for them. Unknown recipients remain unknown.
    /// - Parameters:
    ///   - isTooLate: whether they stay unsent when the run is resumed, and so are claimed in the
    ///     same transaction; then they are a whole wave.
    /// - Returns: how many are unsent for this reason.
    @discardableResult
    func `defer`(_ ids: Range<Int>, reason: OwnReason, isTooLate: Bool, at now: Timestamp) throws -> Int {
        defer { forgetClaims() }
        return try write { db in try `defer`(ids, reason: reason, isTooLate: isTooLate, at: now, db) }
    }

    func `defer`(_ ids: Range<Int>, reason: OwnReason, isTooLate: Bool, at now: Timestamp, _ db: Database) throws -> Int
    {
        let unclaimed = ClaimSet(try claims(db).gaps(in: ids))
        if isTooLate { for range in unclaimed.ranges { try insertClaim(range, at: now, db) } }
        var board = try OutcomeWriteCache(db, self, ids: ids)
        var reasons = try OutcomeReasons(db)
        let number = try reasons.number(of: reason.rawValue)
        var count = 0
        for id in ids {
            let slot = try board.slot(of: id)
            let isUnsent = slot.outcome == .unsent
            guard isUnsent || unclaimed.contains(id) else { continue }
            // Recipients that wait already keep their time.
            if isUnsent, !isTooLate, number == slot.reason {
                count += 1
                continue
            }
            let unsent = Settlement(
                recipient: id, outcome: .unsent, own: reason, attempts: slot.isEmpty ? 0 : slot.attempts, settledAt: now
            )
            guard try board.record(OutcomeSlot(unsent, reason: number), of: id) else { continue }
            count += 1
        }
        try board.store()
        if isTooLate {
            try db.execute(
                sql: "INSERT OR REPLACE INTO skipped_wave VALUES (?, ?)",
                arguments: [ids.lowerBound, now.epochMilliseconds])
        }
        try forgetFigures(db)
        return count
    }
}
