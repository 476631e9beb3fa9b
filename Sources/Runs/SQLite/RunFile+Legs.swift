import Base
import GRDB
import Synchronization

/// What happens to legs while a run is being sent, recorded for the process that resumes the run.
extension RunFile {
    /// What holds legs, or stopped them, by their first ids.
    public func legStates() throws -> [Int: LegState] {
        try read { db in
            guard try db.tableExists("leg_state") else { return [:] }
            let states = try db.all("SELECT first_id, held_until, cause FROM leg_state") { row in
                (try row.int(0), LegState(heldUntil: try row.optional(1, row.moment), cause: RunSchema.stopCause(try row.string(2))))
            }
            return Dictionary(states) { first, _ in first }
        }
    }

    /// Records what holds or stopped a leg.
    public func setState(_ state: LegState, of leg: RunLeg) throws {
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
