public import Base
import GRDB

/// A run file that was made again from the store: it says how the run was when it was fetched, and is read like any other, but never sent.
extension RunFile {
    private static let copyTable = """
        CREATE TABLE IF NOT EXISTS fetched_copy (   -- a row if this file was made from the store, on a machine that did not plan the run
            fetched_at INTEGER NOT NULL
        )
        """

    /// When this file was made from the store: it is read like the run itself, and retried, but never sent. nil for the file that was planned. Notes are in the table `fetched_copy`.
    public func copiedAt() throws -> Timestamp? {
        try read { db in
            guard try db.tableExists("fetched_copy") else { return nil }
            return try db.first("SELECT fetched_at FROM fetched_copy") { try $0.moment(0) }
        }
    }

    /// Notes that this file was made from the store.
    package func noteCopy(at now: Timestamp) throws {
        try write { db in
            try db.execute(sql: Self.copyTable)
            try db.execute(sql: "INSERT INTO fetched_copy VALUES (?)", arguments: [now.epochMilliseconds])
        }
    }

    /// Takes over how the run is in the store, as it stands there, after what its journal says.
    /// - Parameter legs: what holds legs, or stopped them, by their first ids.
    package func takeOver(_ status: RunStatus, legs: [Int: LegState]) throws {
        try write { db in
            try checkOwner(db)
            try db.execute(
                sql: "UPDATE run SET state = ?, stop_cause = ?, started_at = ?, finished_at = ?",
                arguments: [
                    status.state.rawValue, status.cause.map(RunSchema.text) ?? "", status.startedAt?.epochMilliseconds,
                    status.finishedAt?.epochMilliseconds,
                ])
            try db.execute(sql: RunSchema.legStateTable)
            try db.execute(sql: "DELETE FROM leg_state")
            for (first, state) in legs {
                try db.execute(
                    sql: "INSERT INTO leg_state VALUES (?, ?, ?)",
                    arguments: [first, state.heldUntil?.epochMilliseconds, state.cause.map(RunSchema.text) ?? ""])
            }
        }
        // Apart from what has just changed: counting reads the file with several threads.
        if status.state.hasEnded { try write { _ = try keepFigures($0) } }
    }

    /// - Throws: `Diagnostic` for a file that was made from the store.
    func checkIsNoCopy() throws {
        guard let moment = try copiedAt() else { return }
        throw Diagnostic(
            "this file was fetched from the store at \(moment), and is not the run's own", file: path,
            remedy: "Send the run where it was planned. If that machine is gone, `volley cancel \(plan.id)` ends the run here; then "
                + "`volley retry \(plan.id) --outcome unsent` sends to the rest.", [.cancelThenRetry(run: plan.id)])
    }
}
