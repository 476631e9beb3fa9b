import Base
import GRDB

/// What happens to legs while a run is being sent, recorded for the process that resumes the run.
extension RunFile {
    /// What holds segments, or stopped them, by their first ids.
    static func segmentStates(_ db: Database) throws -> [Int: LegState] {
        guard try db.tableExists("leg_state") else { return [:] }
        let states = try db.all("SELECT first_id, held_until, cause FROM leg_state") { row in
            (try row.int(0), LegState(heldUntil: try row.optional(1, row.moment), cause: RunSchema.stopCause(try row.string(2))))
        }
        return Dictionary(states) { first, _ in first }
    }

    /// Records what holds or stopped a leg.
    func setState(_ state: LegState, of leg: RunLeg) throws {
        guard plan.legs.contains(leg) else {
            throw Diagnostic(
                "the account of this run does not add up: \(leg.ids) is no leg of it", file: path, remedy: "Please report this.")
        }
        try write { db in
            try checkOwner(db)
            try db.execute(sql: RunSchema.legStateTable)
            try db.execute(sql: "DELETE FROM leg_state WHERE first_id = ?", arguments: [leg.ids.lowerBound])
            guard state != LegState() else { return }
            try db.execute(
                sql: "INSERT INTO leg_state VALUES (?, ?, ?)",
                arguments: [leg.ids.lowerBound, state.heldUntil?.epochMilliseconds, state.cause.map(RunSchema.text) ?? ""])
        }
    }

    /// A new life tries again what had stopped; what a service said about its limits still holds.
    func takeBackStops(_ db: Database) throws {
        guard try db.tableExists("leg_state") else { return }
        try db.execute(sql: "UPDATE leg_state SET cause = ''; DELETE FROM leg_state WHERE held_until IS NULL")
    }
}

/// What happens to waves while a run is being sent, recorded for the process that resumes the run.
extension RunFile {
    /// Records as unsent whoever of some recipients was never sent to: they wait for another time, and can be claimed then, or it is too late for them.
    /// Unknown recipients remain unknown.
    /// - Parameters:
    ///   - isTooLate: whether they stay unsent when the run is resumed, and so are claimed in the same transaction; then they are a whole
    ///                wave.
    /// - Returns: how many are unsent for this reason.
    @discardableResult
    func `defer`(_ ids: Range<Int>, reason: OwnReason, isTooLate: Bool, at now: Timestamp) throws -> Int {
        defer { forgetClaims() }
        return try write { db in try `defer`(ids, reason: reason, isTooLate: isTooLate, at: now, db) }
    }

    func `defer`(_ ids: Range<Int>, reason: OwnReason, isTooLate: Bool, at now: Timestamp, _ db: Database) throws -> Int {
        let unclaimed = ClaimSet(try claims(db).gaps(in: ids))
        if isTooLate { for range in unclaimed.ranges { try insertClaim(range, at: now, db) } }
        var board = try OutcomeBoard(db, self, ids: ids)
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
                recipient: id, outcome: .unsent, own: reason, attempts: slot.isEmpty ? 0 : slot.attempts, settledAt: now)
            guard try board.record(OutcomeSlot(unsent, reason: number), of: id) else { continue }
            count += 1
        }
        try board.store()
        if isTooLate {
            try db.execute(
                sql: "INSERT OR REPLACE INTO skipped_wave VALUES (?, ?)", arguments: [ids.lowerBound, now.epochMilliseconds])
        }
        try forgetFigures(db)
        return count
    }
}
