import Base
import GRDB
import Glibc
import Synchronization

/// Whether a plan is still what was previewed, and who approved it.
extension RunFile {
    /// Whether its plan has a digest, and can be approved; plans of older versions have none.
    public var hasDigest: Bool { !planDigest.isEmpty }

    /// Compares all that was planned, every recipient included, with its digest: some 0.3 µs a recipient, shared among the cores. Does nothing for a
    /// plan without one.
    /// - Throws: `Diagnostic` when campaign, settings or recipients were changed after planning.
    public func checkUnchanged() throws { try checkUnchanged(in: parts) }

    /// - Parameter parts: of all ids, each read by its own thread.
    func checkUnchanged(in parts: [Range<Int>]) throws {
        try requireRecipients()
        guard hasDigest, !isKnownUnchanged else { return }
        let stamp = stamp
        try read(in: parts) { view in
            let db = view.db
            let planned = try db.first("SELECT digest, recipients_digest FROM run") { (try $0.string(0), try $0.string(1)) }
            guard let (digest, recipients) = planned else { throw RunDiagnostics.damaged(path, what: "its digest cannot be read") }
            // In this order: the recipients' own digest is covered by the run's.
            guard try RunSchema.digest(of: db) == digest else { throw changed("campaign, settings or preview are") }
            guard try recipientsDigest(view) == recipients else { throw changed("recipients are") }
        }
        noteUnchanged(stamp)
    }

    /// Whether the file was not written to since it was found to match the plan, or was made.
    private var isKnownUnchanged: Bool { unchangedAt.withLock { $0 != nil && $0 == stamp } }

    /// What changes when a process writes to the file, or to the log that SQLite keeps beside it.
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

    /// Who agreed last to exactly this plan; nil when nobody has.
    public func approval() throws -> RunApproval? {
        guard hasDigest else { return nil }
        return try read { db in
            let sql = """
                SELECT approved_by, approved_at FROM approval WHERE digest = (SELECT digest FROM run) ORDER BY rowid DESC LIMIT 1
                """
            return try db.first(sql) { RunApproval(name: try $0.string(0), approvedAt: try $0.moment(1)) }
        }
    }

    /// Records that somebody agreed to this plan. Whoever calls this has seen to it that the plan is unchanged.
    /// - Throws: `Diagnostic` when it is being sent, or has ended for good, or it is of a version without approvals.
    public func approve(_ approval: RunApproval) throws {
        guard hasDigest else {
            throw Diagnostic("a plan of this older format cannot be approved", file: path, remedy: "Plan the campaign again.", [.planAgain])
        }
        try write { db in
            guard let state = try RunSchema.state(db) else { throw RunDiagnostics.damaged(path, what: "its state is missing") }
            // Approval may become required only after a run was begun. Nothing goes out while it is paused, or no process sends it.
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

extension PreparedStatement.Row {
    /// The texts of a row of `RunSchema.selectDigestedRows`, valid until the next one.
    var digested: RecipientsDigest.Row { (text(1), text(2), text(3), text(4), text(5), text(6)) }
}
