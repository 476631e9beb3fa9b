import Base
import GRDB
import Glibc
import Synchronization

/// Whether a plan is still what was previewed, and its approvals.
extension RunFile {
    /// Whether its plan has a digest, and can be approved; plans of older versions have none.
    public var hasDigest: Bool { !planDigest.isEmpty }

    /// Compares all that was planned, every recipient included, with its digest: some 0.3 µs a
    /// recipient, shared among the cores. Does nothing for a plan without one.
    /// - Throws: `Diagnostic` when campaign, settings or recipients were changed after planning.
    public func checkUnchanged() throws { try checkUnchanged(in: parts) }

    /// - Parameter parts: of all ids, each read by its own thread.
    func checkUnchanged(in parts: [Range<Int>]) throws {
        try requireRecipients()
        guard hasDigest, !isKnownUnchanged else { return }
        let stamp = stamp
        try read(in: parts) { view in
            let db = view.db
            let planned = try db.first("SELECT digest, recipients_digest FROM run") {
                (try $0.string(0), try $0.string(1))
            }
            guard let (digest, recipients) = planned else {
                throw RunDiagnostics.damaged(path, what: "its digest cannot be read")
            }
            // In this order: the recipients' own digest is covered by the run's.
            guard try RunSchema.digest(of: db) == digest else { throw changed("campaign, settings or preview are") }
            guard try recipientsDigest(view) == recipients else { throw changed("recipients are") }
        }
        noteUnchanged(stamp)
    }

    /// Whether the file was not written to since it was found to match the plan, or was made.
    private var isKnownUnchanged: Bool { unchangedAt.withLock { $0 != nil && $0 == stamp } }

    /// What changes when a process writes to the file, or to the log that SQLite keeps next to it.
    private var stamp: [FileStamp?] { [path, path + "-wal"].map { FileStamp(path: $0) } }

    /// Notes that the file, as it is now, matches the plan.
    func noteUnchanged() { noteUnchanged(stamp) }

    private func noteUnchanged(_ stamp: [FileStamp?]) { unchangedAt.withLock { $0 = stamp } }

    private func recipientsDigest(_ view: RunView) throws -> String {
        let parts = try view.read { [self] db, ids in
            var digest = RecipientsDigest()
            let select = try PreparedStatement(db, sql: RunSchema.selectDigestedRows)
            let (first, end) = bounds(of: ids)
            try select.bind(first, at: 1)
            try select.bind(end, at: 2)
            try select.forEachRow { row in
                digest.add(row.number(0), row.digested)
                return true
            }
            return digest
        }
        return parts.reduce(into: RecipientsDigest()) { $0.add($1) }.text
    }

    private func changed(_ what: String) -> Diagnostic {
        Diagnostic(
            "the run file was changed after it was planned: its \(what) not as previewed", file: path,
            remedy: "Plan the campaign again. Nothing is sent from this file.")
    }

    /// The last approval of exactly this plan; nil if it was not approved.
    public func approval() throws -> RunApproval? {
        guard hasDigest else { return nil }
        return try read { db in
            let sql = """
                SELECT approved_by, approved_at FROM approval WHERE digest = (SELECT digest FROM run) ORDER BY rowid DESC LIMIT 1
                """
            return try db.first(sql) { RunApproval(name: try $0.string(0), approvedAt: try $0.moment(1)) }
        }
    }

    /// Records an approval of this plan. The caller has checked that the plan is unchanged.
    /// - Throws: `Diagnostic` when it is being sent, or has ended for good, or it is of a version
    ///   without approvals.
    public func approve(_ approval: RunApproval) throws {
        guard hasDigest else {
            throw Diagnostic(
                "a plan of this older format cannot be approved", file: path, remedy: "Plan the campaign again.",
                [.planAgain])
        }
        try write { db in
            guard let state = try RunSchema.state(db) else {
                throw RunDiagnostics.damaged(path, what: "its state is missing")
            }
            // Approval may become required only after a run was begun. Nothing goes out while it is
            // paused, or no process sends it.
            let isStopped = [.stopped, .running, .cancelled].contains(state) && sendingSince == nil
            guard isStopped || [.planned, .paused].contains(state) else {
                throw Diagnostic(
                    "the run is \(state.rawValue), and only a plan can be approved", file: path,
                    remedy: "`volley report \(plan.id)` shows its progress.", [.watch(run: plan.id)])
            }
            try db.execute(
                sql: "INSERT INTO approval (approved_by, approved_at, digest) SELECT ?, ?, digest FROM run",
                arguments: [approval.name, approval.approvedAt.epochMilliseconds])
        }
    }
}

/// Whether this file is the run that it says it is. A copy that could be sent would be sent twice.
extension RunFile {
    /// Makes sure that the file was not removed or replaced since it was opened, as `prune` does.
    public func checkNotReplaced() throws {
        guard isInPlace else {
            throw Diagnostic(
                "the run file was removed or replaced in the meantime", file: path,
                remedy: "Nothing was sent; try again.")
        }
    }

    /// Whether the file has another name than its run. If its plan was also changed, the file is
    /// not opened at all: its id may be damaged.
    var isMisnamed: Bool { DatabaseFile.name(path) != plan.id + DatabaseFile.suffix }

    /// Whether the run's own file is next to this one, which has another name: only then is this
    /// one a copy that is not needed.
    var isCopyNextToRun: Bool {
        let own = FilePaths.join(RunDiagnostics.folder(of: givenPath), name: plan.id + DatabaseFile.suffix)
        return isMisnamed && DatabaseFile.kind(own) == .file
            && (try? RunFile(path: own, readOnly: true).plan.id) == plan.id
    }

    /// What is wrong with the file's name; nil when it is right.
    var misnamed: Diagnostic? {
        guard isMisnamed else { return nil }
        let name = plan.id + DatabaseFile.suffix
        guard givenPath == path else {
            return Diagnostic(
                "this is a link to \(path), which is a copy of the run \(plan.id), or was renamed", file: givenPath,
                remedy: "Only \(name) can be sent, and counts. Remove the link.")
        }
        if isCopyNextToRun {
            return Diagnostic(
                "this file is a copy of the run \(plan.id), or was renamed", file: path,
                remedy: "Only \(name) can be sent, and counts. Remove the copy.")
        }
        // Neither an older version nor `prune` leaves a digest that could show whether the id is
        // damaged.
        guard hasDigest, prunedAt == nil else {
            return Diagnostic(
                "this file was renamed, or is damaged: the run in it is called \(plan.id)", file: path,
                remedy: "If that run's file was \(name), restore its name. Otherwise restore this file from a backup.")
        }
        return Diagnostic(
            "this file is a copy of the run \(plan.id), or was renamed", file: path,
            remedy: "Only \(name) can be sent, and counts. Put that file back, or restore this one's name.")
    }

    /// Makes sure that this file is the one that was planned: under the run's own name, without a
    /// second name, in the folder where it was planned. A copy that could be sent would be sent
    /// twice.
    /// - Parameter home: the folder where it was planned, when that is known. It counts as long as
    ///   it is there.
    /// - Throws: `Diagnostic` that says what it is instead.
    public func checkPlace(home: String?) throws {
        try checkNotReplaced()
        if let misnamed { throw misnamed }
        try checkIsNoCopy()
        let names = DatabaseFile.names(of: path)
        guard names == 1 else {
            throw Diagnostic(
                "the run file has \(names) names (hard links), and could be sent under each one", file: path,
                remedy: "Remove the other names; `\(DatabaseFile.searchForNames(of: path))` lists them.")
        }
        let folder = RunDiagnostics.folder(of: path)
        guard let home else { return }
        if DatabaseFile.kind(home) == .forbidden {
            throw Diagnostic(
                "this file was moved, or is a copy of a run that belongs in \(home), which you may not read",
                file: path,
                remedy: "Only the file there can be sent, by a user who may read that folder.")
        }
        if DatabaseFile.kind(home) == .folder, DatabaseFile.identity(home) != DatabaseFile.identity(folder) {
            throw Diagnostic(
                "this file was moved, or is a copy of a run that belongs in \(home)", file: path,
                remedy: "Only the file there can be sent. If that file is gone, move this one back.")
        }
    }
}

extension PreparedStatement.Row {
    /// The texts of a row of `RunSchema.selectDigestedRows`, valid until the next one.
    var digested: RecipientsDigest.Row { (text(1), text(2), text(3), text(4), text(5), text(6)) }
}
