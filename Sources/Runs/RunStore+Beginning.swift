public import Base
import GRDB

/// Whether this file is the run that it says it is, and its lives: each beginning, and each going on, is one.
extension RunStore {
    /// The life that began last; blank before the first, and in runs of older versions.
    public func life() throws -> String {
        try read { db in
            guard try db.tableExists("life") else { return "" }
            return try String.fetchOne(db, sql: "SELECT life FROM life") ?? ""
        }
    }

    /// Records that the run is being sent, as a new life, in one transaction. Takes the right to send it.
    /// - Parameter expected: the states of which the run must be in one.
    /// - Throws: `Diagnostic` when it is in another one by now, or another process sends it; nothing is changed then.
    public func begin(life: String, at now: Timestamp, from expected: Set<RunState>) throws {
        try lockForSending()
        try record(.running, reason: "", at: now, from: expected) { db in
            try db.execute(sql: "CREATE TABLE IF NOT EXISTS life (life TEXT NOT NULL)  -- the same as beside the runs, in sent.db")
            try db.execute(sql: "DELETE FROM life")
            try db.execute(sql: "INSERT INTO life VALUES (?)", arguments: [life])
        }
    }

    /// Whether anything says that sending was begun, as far as this file knows.
    public func hasBegun() throws -> Bool { try status().startedAt != nil || firstUnclaimed() > 0 || !life().isEmpty }

    /// Recipients that the run has reached, or may have: it never becomes less.
    public func reached() throws -> Int {
        guard try firstUnclaimed() > 0 else { return 0 }
        return try plan.audience - figures().outcomes[.unsent, default: 0]
    }

    /// Makes sure that nobody removed the file, or put another in its place, since it was opened: `prune` does.
    public func checkNotReplaced() throws {
        guard isInPlace else {
            throw Diagnostic("the run file was removed or replaced meanwhile", file: path, remedy: "Nothing was sent; try again.")
        }
    }

    /// Makes sure that this file is the one that was planned: under the run's own name, with no second name, in the folder where it was planned. A copy
    /// that could be sent would be sent twice.
    /// - Parameter home: the folder where it was planned, when that is known. It counts as long as it is there.
    /// - Throws: `Diagnostic` that says what it is instead.
    public func checkPlace(home: String?) throws {
        try checkNotReplaced()
        let name = plan.id + RunFile.suffix
        guard RunFile.name(path) == name else {
            throw Diagnostic(
                "this file is a copy of the run \(plan.id), or was renamed", file: path,
                remedy: "Only \(name) is sent. Remove the copy, or give the file its name back.")
        }
        let names = RunFile.names(of: path)
        guard names == 1 else {
            throw Diagnostic(
                "the run file has \(names) names (hard links), and could be sent under each of them", file: path,
                remedy: "Remove the other names; `\(RunFile.searchForNames(of: path))` lists them.")
        }
        let folder = RunDiagnostics.folder(of: path)
        if let home, RunFile.kind(home) == .folder, RunFile.identity(home) != RunFile.identity(folder) {
            throw Diagnostic(
                "this file is a copy of a run that belongs into \(home), or was moved", file: path,
                remedy: "Only the file there is sent. If it is gone from there, move this one back.")
        }
    }
}
