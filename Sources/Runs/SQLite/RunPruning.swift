public import Base
import GRDB
import Glibc

/// Removes recipients from run files and leaves the figures.
///
/// Nothing is deleted from the file: a new one with everything except recipients, claims and
/// outcomes is written next to it and replaces it at once. So neither it nor its journal ever held
/// a token, and an interruption leaves either the old file or the new one.
enum RunPruning {
    /// The name of the new file, next to the run, while it is being written: no command takes such
    /// a file for a run.
    private static let suffix = ".pruning"
    /// Tables that are copied unchanged. `figures` and `pruned` are made again.
    private static let keptTables: Set = [
        "run", "approval", "outcome_name", "wave", "skipped_wave", "leg", "leg_state", "life", "life_answers",
        "rest_answers", "receipt",
        "statistics", "statistics_count",
        // What other machines have, or may have, of the run.
        "shared_out", "fetched", "fetched_copy", "without_store", "order_to_pass_on",
    ]

    /// When a file was pruned; nil when it was not.
    static func moment(_ db: Database) throws -> Timestamp? {
        guard try db.tableExists("pruned") else { return nil }
        return try db.first("SELECT pruned_at FROM pruned") { try $0.moment(0) }
    }

    /// - Parameter path: of the file itself, not of a link to it. No process has it open for
    ///   writing.
    static func replace(_ path: String, figures: RunFigures, _ plan: RunPlan, at now: Timestamp) throws {
        let new = path + suffix
        DatabaseFile.remove(new)
        do {
            try makeFile(new, like: path)
            try write(new, from: path, figures, plan, now: now)
            try DatabaseFile.synchronize(new)
            // A file that cannot be read must not replace one that can.
            try RunFile(path: new, readOnly: true).closeIntoOneFile()
            guard rename(new, path) == 0 else {
                throw RunDiagnostics.system(
                    "cannot replace the run file", path: path, errno: errno, activity: .planning)
            }
        } catch {
            DatabaseFile.remove(new)
            throw error
        }
        try DatabaseFile.synchronize(RunDiagnostics.folder(of: path))
    }

    /// An empty file with the owner of the old one, as far as this process may change it.
    private static func makeFile(_ new: String, like old: String) throws {
        var status = stat()
        let descriptor = open(new, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0o600)
        guard descriptor >= 0, stat(old, &status) == 0 else {
            throw RunDiagnostics.system(
                "cannot write next to the run file", path: new, errno: errno, activity: .planning)
        }
        _ = fchown(descriptor, status.st_uid, status.st_gid)
        fchmod(descriptor, status.st_mode & 0o777)
        close(descriptor)
    }

    private static func write(_ new: String, from old: String, _ figures: RunFigures, _ plan: RunPlan, now: Timestamp)
        throws
    {
        let database = try DatabaseQueue(path: new)
        try database.writeWithoutTransaction { db in
            try db.execute(sql: "ATTACH DATABASE ? AS old", arguments: [old])
            try RunSchema.mark(db, hasSegments: db.pragma("old.user_version") == RunSchema.versionWithSegments)
            try db.inTransaction {
                // Views last, as they name tables.
                let sql =
                    "SELECT sql FROM old.sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%' ORDER BY type = 'view', rowid"
                for statement in try db.all(sql, reading: { try $0.string(0) }) { try db.execute(sql: statement) }
                // A run without waves, or that never began, has no table of them.
                let tables = Set(
                    try db.all("SELECT name FROM old.sqlite_master WHERE type = 'table'") { try $0.string(0) })
                for table in keptTables.intersection(tables).sorted() {
                    try db.execute(sql: "INSERT INTO main.\(table) SELECT * FROM old.\(table)")
                }
                // The digest stays as approved; nothing is left to compare it with.
                try db.execute(
                    sql: "UPDATE main.run SET preview = ?, preview_text = ''",
                    arguments: [withoutRecipients(plan.preview).text])
                try db.execute(sql: "INSERT INTO main.figures VALUES (?)", arguments: [figures.json.text])
                try db.execute(sql: "CREATE TABLE main.pruned (pruned_at INTEGER NOT NULL)")
                try db.execute(sql: "INSERT INTO main.pruned VALUES (?)", arguments: [now.epochMilliseconds])
                return .commit
            }
            try db.execute(sql: "DETACH DATABASE old")
        }
        try database.close()
    }

    /// A preview without its samples, which hold cells of recipients, and without the names of
    /// calls to audiences that a service keeps: such a call is a recipient. How many names each
    /// call has stays.
    private static func withoutRecipients(_ preview: JSONValue) -> JSONValue {
        guard case .object(let members) = preview else { return preview }
        return .object(
            members.filter { $0.name != "samples" }.map { member in
                guard member.name == "calls", case .array(let calls) = member.value else { return member }
                var counted = member
                counted.value = .array(calls.map(withoutNames))
                return counted
            })
    }

    private static func withoutNames(_ call: JSONValue) -> JSONValue {
        guard case .object(let members) = call else { return call }
        return .object(members.filter { $0.name != "first" })
    }
}

extension RunFile {
    /// Bytes of the file.
    public var fileSize: Int { DatabaseFile.size(path) }

    /// Removes recipients (tokens, registration ids, aliases, cells), claims and outcomes from the
    /// file, and keeps everything else and the figures. From then on the run can only be reported
    /// and compared; this store can no longer be used.
    /// - Parameter seen: the status that was decided by; nil when it does not matter.
    /// - Throws: `Diagnostic` when the run is being sent, now has another status, or the file
    ///   cannot be replaced; then it is unchanged.
    public func prune(at now: Timestamp, ifStill seen: RunStatus? = nil) throws {
        try requireRecipients()
        try RunDiagnostics.translating(path, .planning) {
            try closeIntoOneFile()
            // No process may begin to send it in between.
            let lock = try SendingLock(run: path, isSending: false)
            // By another `prune`: the file that is there now has no recipients.
            guard isInPlace else {
                close()
                throw Diagnostic(
                    "the run file was removed or replaced in the meantime", file: path,
                    remedy: "Run `volley prune` again.")
            }
            if let seen, try status(.free) != seen {
                close()
                throw Diagnostic(
                    "the run was resumed in the meantime", file: path,
                    remedy: "It was not changed. Run `volley prune` again.")
            }
            let kept = try figures(withGroups: true)
            close()
            guard let resolved = realpath(path, nil) else {
                throw RunDiagnostics.system("cannot find the run file", path: path, errno: errno, activity: .planning)
            }
            defer { free(resolved) }
            let real = String(cString: resolved)
            // The log that a killed process left belongs to the old file, and must not stay next to
            // the new one.
            try Self.leaveWAL(real)
            guard DatabaseFile.kind(real + "-wal") == .missing else {
                throw Diagnostic(
                    "another process has the run file open", file: path, remedy: "Prune it when that is done.")
            }
            try RunPruning.replace(real, figures: kept, plan, at: now)
            // It is never resumed.
            ClaimCounter.remove(real)
            _ = consume lock
        }
    }

    /// - Throws: `Diagnostic` when the recipients were removed.
    public func requireRecipients() throws {
        guard let prunedAt else { return }
        throw Diagnostic(
            "the run's recipients were pruned at \(prunedAt); only its figures are left", file: path,
            remedy: "`volley report \(plan.id)` shows them. The CSV report, resume and retry need the recipients.",
            [.readReport(run: plan.id)])
    }
}
