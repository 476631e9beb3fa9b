import Base
import GRDB
import Glibc
import Synchronization

extension RunFile {
    /// Takes the right to send this run until the store is closed: two processes that resume one run would send pushes twice. Where the file says
    /// that it is being sent and the lock file is missing, it may have been removed: its holder gets time to create it again.
    /// - Parameter isSending: false to keep others from sending only.
    /// - Throws: `Diagnostic` when another process is sending it.
    public func lockForSending(isSending: Bool = true) throws {
        try sendingLock.withLock { lock in
            guard lock == nil else { return }
            if DatabaseFile.kind(path + ".lock") == .missing, try isOnRecordAsSent {
                var grace = Retries(atMost: 1, milliseconds: SendingLock.graceMilliseconds)
                _ = grace.pause()
            }
            lock = try SendingLock(run: path, isSending: isSending)
            // Others may have claimed while they had it.
            forgetClaims()
        }
    }

    /// Releases the right to send, and leaves the file open.
    public func unlock() {
        let hadLock = sendingLock.withLock { lock in
            defer { lock = nil }
            return lock != nil
        }
        if hadLock { wasLocked.withLock { $0 = true } }
        noted.withLock { $0 = nil }
    }

    /// Makes sure that no other process can take the lock because its file was removed. Call it several times a second while the run is sent.
    /// - Throws: `Diagnostic` when another process has taken it.
    func keepLock() throws { try sendingLock.withLock { try $0?.keep(run: path) } }

    /// The state in the file, whether or not a process is sending.
    private var isOnRecordAsSent: Bool {
        get throws { try read { [.running, .paused].contains(try RunSchema.state($0)) } }
    }

    /// Commits the claim for a range. Must return before any of its recipients goes onto the wire.
    /// - Parameter unsent: what is recorded with the claim of those of the range who get nothing, ascending.
    /// - Throws: `Diagnostic` when part of it is claimed already or is not in the audience; nothing is claimed then.
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
            throw broken("recipient \(earlier.lowerBound) is claimed already, perhaps by another volley that sends this run")
        }
        try forgetDeferral(of: range, db)
        try insertClaim(range, at: now, db)
        if let first = unsent.first, let last = unsent.last {
            try record([unsent], ids: first.recipient..<last.recipient + 1, db)
        } else {
            try forgetFigures(db)
        }
    }

    /// The next recipients of a leg that nobody has claimed. Who may send the run is the only one to claim, so that claims are read once.
    public func lease(atMost limit: Int, of leg: Range<Int>) throws -> Range<Int>? {
        try leased.withLock { leased in
            let claims = try leased ?? read(claims)
            leased = claims
            return claims.next(atMost: limit, of: leg.clamped(to: 0..<plan.audience))
        }
    }

    /// Claims are read again before the next range is handed out: they were made by others, or in another way.
    func forgetClaims() { leased.withLock { $0 = nil } }

    func insertClaim(_ ids: Range<Int>, at now: Timestamp, _ db: Database) throws {
        let insert = try PreparedStatement(db, sql: RunSchema.insertClaim)
        try insert.bind(ids.lowerBound, at: 1)
        try insert.bind(ids.upperBound - 1, at: 2)
        try insert.bind(Int(now.epochMilliseconds), at: 3)
        try insert.execute()
    }

    /// Removes the record of recipients that were skipped and never claimed. Once they are claimed they may be on the wire, and a
    /// crash must leave them unknown.
    private func forgetDeferral(of ids: Range<Int>, _ db: Database) throws {
        var deferred: [Int] = []
        try forEachOutcome(db, in: ids) { id, _, outcome in
            guard outcome == .unsent else { throw broken("recipient \(id) is \(outcome) but was never claimed") }
            deferred.append(id)
        }
        guard let first = deferred.first, let last = deferred.last else { return }
        var board = try OutcomeBoard(db, self, ids: first..<last + 1)
        for id in deferred { try board.clear(id) }
        try board.store()
    }

    /// Records outcomes in one transaction. A recipient recorded twice is an error, except that `unsent` may be replaced; so is one that
    /// was never claimed, unless it is `unsent`.
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
        for id in [least, most] where !(0..<plan.audience).contains(id) { throw broken("recipient \(id) was settled, of \(plan.audience)") }
        return least..<most + 1
    }

    func record(_ parts: [[Settlement]], ids: Range<Int>, _ db: Database) throws {
        var claimed = ClaimedIDs(try claims(db, around: ids))
        var board = try OutcomeBoard(db, self, ids: ids)
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
            let again = try db.tableExists("taken_back") ? db.first("SELECT recipients FROM taken_back") { try $0.count(0) } ?? 0 : 0
            let skipped = plan.waves.isEmpty ? [] : try db.all("SELECT first_id FROM skipped_wave") { try $0.int(0) }
            return RunClaims(parts, reopened: again, skippedWaves: Set(skipped))
        }
    }

    /// The claimed recipients of a range that are not settled.
    public func unsettled(in ids: Range<Int>, _ selected: OpenOutcomes) throws -> UnsettledRecipients {
        try read { db in
            var (inDoubt, open) = (AscendingRanges(), AscendingRanges())
            var outcomes = try OutcomeReader(db, self)
            let closed = try OutcomeReasons.numbers(of: selected.closing, db)
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

    /// Recipients that were claimed and have no outcome: after a crash, those that may or may not have been pushed. Ascending.
    package func claimedWithoutOutcome() throws -> [Range<Int>] { try unsettled(in: 0..<plan.audience, OpenOutcomes()).inDoubt }

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

    /// The claimed recipients.
    func claims(_ db: Database) throws -> ClaimSet {
        var claims = ClaimSet()
        try forEachClaim(db, "NULL") { ids, _ in claims.insert(ids) }
        return claims
    }

    /// Calls `body` with each claim, in the order of ids.
    /// - Parameter column: what else is read of it.
    private func forEachClaim(_ db: Database, _ column: String, _ body: (Range<Int>, PreparedStatement.Row) throws -> Void) throws {
        var end = 0
        try PreparedStatement(db, sql: "SELECT first_id, last_id, \(column) FROM claim ORDER BY first_id").forEachRow { row in
            let (first, last) = (try row.int(0), try row.int(1))
            guard first <= last, first >= end, last < plan.audience else {
                throw RunDiagnostics.damaged(path, what: "its claims overlap")
            }
            end = last + 1
            try body(first..<end, row)
            return true
        }
    }

    /// An invariant that the caller broke: sending must stop at once, and the file stays as it was.
    func broken(_ what: String) -> Diagnostic {
        Diagnostic("the account of this run does not add up: \(what)", file: path, remedy: "Nothing more is sent. Please report this.")
    }
}
