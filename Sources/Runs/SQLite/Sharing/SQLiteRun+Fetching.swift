package import Base
import GRDB

/// The run file of a run that several machines send: it takes over what they record in the store, in the order in which it happened.
extension SQLiteRun {
    private static let markTable = """
        CREATE TABLE IF NOT EXISTS fetched (     -- how far the journals of members in the store were taken over
            sender INTEGER NOT NULL, lane INTEGER NOT NULL, number INTEGER NOT NULL,
            PRIMARY KEY (sender, lane)
        )
        """

    /// How far it has taken over what members recorded.
    package func fetchMarks() throws -> [FetchMark] {
        try read { db in
            guard try db.tableExists("fetched") else { return [] }
            return try Row.fetchAll(db, sql: "SELECT sender, lane, number FROM fetched").map {
                FetchMark(sender: $0[0], lane: $0[1], number: $0[2])
            }
        }
    }

    /// Takes over entries, in one transaction with how far that is.
    /// - Parameters:
    ///   - entries: in the order of the store.
    ///   - claimingWhoIsSettled: whether recipients with an outcome count as claimed, as the store has forgotten their claims.
    /// - Throws: `Diagnostic` when they do not add up with what is there; nothing is taken over then.
    package func apply(_ entries: [FetchedEntry], marks: [FetchMark], claimingWhoIsSettled: Bool = false) throws {
        defer { forgetClaims() }
        try write { db in
            try checkOwner(db)
            // Neighbouring outcomes are in few blocks: they are recorded together.
            var outcomes: [[Settlement]] = []
            for entry in entries {
                if case .outcomes(let settlements) = entry {
                    if claimingWhoIsSettled { try claimMissing(settlements, db) }
                    outcomes.append(settlements)
                    continue
                }
                try record(collected: &outcomes, db)
                try apply(entry, db)
            }
            try record(collected: &outcomes, db)
            try db.execute(sql: Self.markTable)
            for mark in marks {
                try db.execute(sql: "INSERT OR REPLACE INTO fetched VALUES (?, ?, ?)", arguments: [mark.sender, mark.lane, mark.number])
            }
        }
    }

    private func claimMissing(_ settlements: [Settlement], _ db: Database) throws {
        guard let ids = try bounds(of: [settlements]) else { return }
        let claims = try claims(db, around: ids)
        let missing = ClaimSet(
            settlements.lazy.filter { $0.outcome != .unsent && !claims.contains($0.recipient) }.map { $0.recipient..<$0.recipient + 1 })
        for range in missing.ranges { try claim(range, unsent: [], at: settlements[0].settledAt, db) }
    }

    private func record(collected parts: inout [[Settlement]], _ db: Database) throws {
        if let ids = try bounds(of: parts) { try record(parts, ids: ids, db) }
        parts.removeAll(keepingCapacity: true)
    }

    private func apply(_ entry: FetchedEntry, _ db: Database) throws {
        switch entry {
        case .life:
            try noteEvidence(db)
            try takeBackStops(db)
        case .rest: try noteEvidenceAtRest(db)
        case .claim(let range, let unsent, let at): try claim(range, unsent: unsent, at: at, db)
        case .outcomes(let settlements): try record([settlements], ids: bounds(of: [settlements]) ?? 0..<0, db)
        case .reopened(let ids, let resendsUnknown, let at): _ = try reopen(ids, resendsUnknown: resendsUnknown, at: at, db)
        case .deferred(let ids, let reason, let isTooLate, let at):
            _ = try `defer`(ids, reason: reason, isTooLate: isTooLate, at: at, db)
        case .calls(let calls): try name(calls, db)
        case .forgotten(let numbers): if try db.tableExists("call") { try forgetCalls(numbers, db) }
        case .receipts(let receipts, let service): try note(receipts: receipts, ofService: service, db)
        }
    }

    /// Checks that outcomes could be recorded, and records none of them.
    /// - Throws: `Diagnostic` as `record` does.
    package func checkRecordable(_ parts: [[Settlement]]) throws {
        guard let ids = try bounds(of: parts) else { return }
        try write { db in
            try db.inSavepoint {
                try record(parts, ids: ids, db)
                return .rollback
            }
        }
    }

    /// Recipients that are not settled, as `forEachUnsettledPush` finds them, also where the file has no recipients.
    package func unsettled(
        in range: Range<Int>, resendsUnknown: Bool, closing: Set<OwnReason>
    ) throws -> [(id: Int, attempts: Int, mayHaveArrived: Bool)] {
        try read { db in
            try openSlots(db, in: range, resendsUnknown: resendsUnknown, closing: closing).map { id, slot in
                (id, slot?.attempts ?? 0, slot?.outcome != .unsent)
            }
        }
    }

    /// The outcomes of some recipients, where there are any.
    package func settlements(of ids: Range<Int>) throws -> [Int: Settlement] {
        try read { db in
            var outcomes = try OutcomeReader(db, self)
            var settlements: [Int: Settlement] = [:]
            for id in ids { settlements[id] = try outcomes.settlement(of: id) }
            return settlements
        }
    }

    /// How many of some recipients are unsent for a reason.
    package func count(unsent reason: OwnReason, in ids: Range<Int>) throws -> Int {
        try read { db in
            var outcomes = try OutcomeReader(db, self)
            let numbers = try OutcomeReasons.numbers(of: [reason], db)
            return try ids.count { id in
                try outcomes.slot(of: id).map { $0.outcome == .unsent && numbers.contains($0.reason) } ?? false
            }
        }
    }
}
