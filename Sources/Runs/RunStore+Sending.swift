public import Base
import GRDB
import Synchronization

extension RunStore {
    /// Takes the right to send this run until the store is closed: two processes that resume one run would send pushes twice.
    /// - Throws: `Diagnostic` when another process is sending it.
    func lockForSending() throws {
        try sendingLock.withLock { lock in
            if lock == nil { lock = try SendingLock(run: path) }
        }
    }

    /// Commits the claim for a range. Must return before any of its recipients goes onto the wire.
    /// - Throws: `Diagnostic` when part of it is claimed already or is not in the audience; nothing is claimed then.
    public func claim(_ range: Range<Int>, at now: Timestamp) throws {
        guard !range.isEmpty else { return }
        guard range.lowerBound >= 0, range.upperBound <= plan.audience else {
            throw broken("recipients \(range.lowerBound) to \(range.upperBound - 1) were claimed, of \(plan.audience)")
        }
        try write { db in
            // Earlier claims do not overlap one another, so only the last that begins before our end can overlap ours.
            let lastClaim = try PreparedStatement(db, RunSchema.selectLastClaim)
            if let earlier = try claim(atOrBefore: range.upperBound - 1, lastClaim), earlier.overlaps(range) {
                let id = max(earlier.lowerBound, range.lowerBound)
                throw broken("recipient \(id) is claimed already, perhaps by another volley that sends this run")
            }
            try db.execute(
                sql: "INSERT INTO claim (first_id, last_id, claimed_at) VALUES (?, ?, ?)",
                arguments: [range.lowerBound, range.upperBound - 1, now.epochMilliseconds])
            try forgetFigures(db)
        }
    }

    /// Records outcomes in one transaction. A recipient recorded twice is an error, except that `unsent` may be replaced; so is one that
    /// was never claimed, unless it is `unsent`.
    /// - Throws: `Diagnostic`; none of the group is recorded then.
    public func record(_ settlements: [Settlement]) throws {
        guard !settlements.isEmpty else { return }
        let (usual, others) = OutcomeOrder.split(settlements)
        do { try record(usual, others, of: settlements, rowsAtATime: Self.rowsAtATime) } catch is RowsAreMissing {
            // Row by row it is found who was settled twice.
            try record(usual, others, of: settlements, rowsAtATime: 1)
        }
    }

    /// Rows that one statement inserts: beginning and ending a statement costs as much as a row.
    private static let rowsAtATime = 20

    /// Some row of several was refused.
    private struct RowsAreMissing: Error {}

    private func record(
        _ usual: [OutcomeOrder.Usual], _ others: [Int], of settlements: [Settlement], rowsAtATime: Int
    ) throws {
        try write { db in
            var checker = ClaimChecker(run: self, lastClaim: try PreparedStatement(db, RunSchema.selectLastClaim))
            for one in usual { try checker.check(one.recipient, .accepted) }
            for index in others { try checker.check(settlements[index].recipient, settlements[index].outcome) }
            try insert(usual, rowsAtATime, RunSchema.insertUsualOutcomes, db, recipient: { $0.recipient }) { one, row, insert in
                let first = CInt(row * RunSchema.usualOutcomeColumns + 1)
                try insert.bind(one.recipient, at: first)
                try insert.bind(one.latencyMilliseconds, at: first + 1)
                try insert.bind(one.settledAtMilliseconds, at: first + 2)
            }
            try insert(others, rowsAtATime, RunSchema.insertOutcomes, db, recipient: { settlements[$0].recipient }) { index, row, insert in
                try Self.bind(settlements[index], row: row, insert)
            }
            try forgetFigures(db)
        }
    }

    @inline(__always) private func insert<Element>(
        _ elements: [Element], _ rowsAtATime: Int, _ sql: (_ rows: Int) -> String, _ db: Database, recipient: (Element) -> Int,
        _ bind: (Element, _ row: Int, PreparedStatement) throws -> Void
    ) throws {
        guard !elements.isEmpty else { return }
        let several = try PreparedStatement(db, sql(rowsAtATime))
        let single = try PreparedStatement(db, sql(1))
        var next = 0
        while next < elements.count {
            let isFull = elements.count - next >= rowsAtATime
            let (insert, rows) = isFull ? (several, rowsAtATime) : (single, 1)
            for row in 0..<rows { try bind(elements[next + row], row, insert) }
            if try insert.execute() != rows {
                guard rows == 1 else { throw RowsAreMissing() }
                throw broken("recipient \(recipient(elements[next])) was settled twice")
            }
            next += rows
        }
    }

    /// Sees that whoever is settled was claimed. Neighbours mostly share their claim.
    private struct ClaimChecker {
        let run: RunStore
        let lastClaim: PreparedStatement
        private var claim = 0..<0

        init(run: RunStore, lastClaim: PreparedStatement) { (self.run, self.lastClaim) = (run, lastClaim) }

        @inline(__always) mutating func check(_ recipient: Int, _ outcome: Outcome) throws {
            if claim.contains(recipient) { return }
            try look(recipient, outcome)
        }

        private mutating func look(_ recipient: Int, _ outcome: Outcome) throws {
            guard (0..<run.plan.audience).contains(recipient) else {
                throw run.broken("recipient \(recipient) was settled, of \(run.plan.audience)")
            }
            guard outcome != .unsent else { return }
            claim = try run.claim(atOrBefore: recipient, lastClaim) ?? 0..<0
            guard claim.contains(recipient) else { throw run.broken("recipient \(recipient) is \(outcome) but was never claimed") }
        }
    }

    private static func bind(_ settled: Settlement, row: Int, _ insert: PreparedStatement) throws {
        let first = CInt(row * RunSchema.outcomeColumns + 1)
        try insert.bind(settled.recipient, at: first)
        try insert.bind(settled.outcome.rawValue, at: first + 1)
        try insert.bind(settled.status, at: first + 2)
        try insert.bind(settled.reason, at: first + 3)
        try insert.bind(settled.attempts, at: first + 4)
        try insert.bind(settled.latencyMilliseconds, at: first + 5)
        try insert.bind(Int(settled.settledAt.epochMilliseconds), at: first + 6)
        try insert.bind(settled.invalidSince.map { Int($0.epochMilliseconds) }, at: first + 7)
    }

    /// The first id outside all claims; the audience's size when everyone is claimed.
    public func firstUnclaimed() throws -> Int {
        try read { db in try claims(db).reduce(0) { next, claim in claim.lowerBound == next ? claim.upperBound : next } }
    }

    /// Recipients that were claimed and have no outcome: after a crash, those that may or may not have been pushed. Ascending.
    public func unsettled() throws -> [Range<Int>] {
        try read { db in
            var gaps: [Range<Int>] = []
            var claims = try claims(db)[...]
            var next = claims.first?.lowerBound ?? 0
            let settled = try StatementCursor(db, sql: "SELECT recipient_id FROM outcome ORDER BY recipient_id") {
                Int(Int64(sqliteStatement: $0, index: 0))
            }
            /// Everything claimed from `next` up to `end` is a gap.
            func close(upTo end: Int) {
                while let claim = claims.first, claim.lowerBound < end {
                    let gap = max(next, claim.lowerBound)..<max(next, claim.lowerBound, min(end, claim.upperBound))
                    if !gap.isEmpty { gaps.append(gap) }
                    if claim.upperBound > end { break }
                    claims.removeFirst()
                }
            }
            while let id = try settled.next() {
                close(upTo: id)
                next = id + 1
            }
            close(upTo: plan.audience)
            return gaps
        }
    }

    /// Claimed ids as ascending ranges, neighbours united.
    func claims(_ db: Database) throws -> [Range<Int>] {
        let rows = try StatementCursor(db, sql: "SELECT first_id, last_id FROM claim ORDER BY first_id") {
            (Int(Int64(sqliteStatement: $0, index: 0)), Int(Int64(sqliteStatement: $0, index: 1)))
        }
        var ranges: [Range<Int>] = []
        while let (first, last) = try rows.next() {
            guard first <= last, first >= ranges.last?.upperBound ?? 0, last < plan.audience else {
                throw RunDiagnostics.damaged(path, "its claims overlap")
            }
            if let end = ranges.indices.last, ranges[end].upperBound == first {
                ranges[end] = ranges[end].lowerBound..<last + 1
            } else {
                ranges.append(first..<last + 1)
            }
        }
        return ranges
    }

    /// The last claim that begins at an id or before it.
    fileprivate func claim(atOrBefore id: Int, _ select: PreparedStatement) throws -> Range<Int>? {
        try select.bind(id, at: 1)
        var claim: Range<Int>?
        try select.forEachRow { row in
            let (first, last) = (row.number(0), row.number(1))
            guard first <= last, last < plan.audience else { throw RunDiagnostics.damaged(path, "a claim cannot be read") }
            claim = first..<last + 1
            return false
        }
        return claim
    }

    /// An invariant that the caller broke: sending must stop at once, and the file stays as it was.
    fileprivate func broken(_ what: String) -> Diagnostic {
        Diagnostic("the account of this run does not add up: \(what)", file: path, remedy: "Nothing more is sent. Please report this.")
    }
}
