public import Base
import GRDB
import Glibc

/// Writes a new run file. Until `finish` the file carries a name that no command takes for a run; a
/// writer that is dropped without `finish` removes it.
///
/// ```swift
/// let writer = try runs.create(frozen.id)
/// try writer.put(Recipient(token: Target(normalized: "7f3a…")), at: 0)
/// let run = try writer.finish(frozen)
/// ```
public final class RunWriter {
    /// Rows per transaction: enough to make its cost negligible, few enough to keep them all in
    /// memory.
    private static let batch = 10_000
    /// Rows per INSERT: fewer calls into SQLite.
    private static let rowsAtATime = 20

    private let folder: String
    private let id: String
    private let path: String
    private var variants: VariantNames?
    /// The one variant of all pending recipients, when each brings its own; nil when `variants`
    /// decides.
    private var ownVariant: String?
    private var database: DatabaseQueue?
    /// Holds the lock that shows that the file is being written. Closed after the database: closing
    /// a file takes SQLite's own locks on it from the whole process (POSIX, fcntl).
    private var owner: Int32 = -1
    private var pending: [RecipientBatch] = []
    private var pendingCount = 0
    private var buffer: [UInt8] = []
    /// Ids are 0 ..< slots: a new slot is always the next one.
    private var slots = 0
    /// The digest of all flushed rows.
    private var digest = RecipientsDigest()
    /// The segments of all recipients, once `drop` has sorted them; empty when one service takes
    /// all. The plan must have them.
    public private(set) var segments: [RunSegment] = []
    /// How many services take the pushes.
    private let services: Int
    /// Brings recipients into the order of segments; nil when they stay in that of slots.
    private var sorter: SegmentSorter?

    /// - Parameters:
    ///   - folder: the folder of runs; made when missing.
    ///   - variants: nil when all get the same.
    ///   - sorter: nil when all go out together through one service, in the order of slots. With a
    ///     sorter, `drop` must be called.
    /// - Throws: `Diagnostic`: the folder cannot be written, the disk is full, there is a run of
    ///   that id.
    public init(folder: String, id: String, variants: VariantNames? = nil, sorter: SegmentSorter? = nil) throws {
        self.folder = folder
        self.variants = variants
        self.sorter = sorter
        services = sorter?.services ?? 1
        ownVariant = variants == nil ? "" : nil
        self.id = id
        path = FilePaths.join(folder, name: id + DatabaseFile.partialSuffix)
        try DatabaseFile.makeFolder(folder)
        switch DatabaseFile.kind(DatabaseFile.path(id, in: folder)) {
        case .missing: break
        case .deadLink(let mistake): throw mistake
        case .forbidden:
            throw RunDiagnostics.system(
                "cannot write into the folder of runs", path: folder, errno: EACCES, activity: .planning)
        default: throw Self.exists(DatabaseFile.path(id, in: folder))
        }
        // Only its owner may read device tokens. SQLite takes the empty file as a new database.
        let descriptor = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            if errno == EEXIST { throw Self.exists(path) }
            throw RunDiagnostics.system("cannot write a run file", path: path, errno: errno, activity: .planning)
        }
        owner = descriptor
        // A command that checks whether it is owned holds it for a moment; one that removes
        // abandoned files may just have taken this one.
        while flock(descriptor, LOCK_EX) != 0 && errno == EINTR {}
        guard FileLock.isNamed(path, descriptor: descriptor) else {
            disown()
            throw Diagnostic(
                "the plan's file was removed while it was being written", file: path,
                remedy: "`volley prune` took it for an abandoned plan. Nothing was sent; try again.", [.planAgain])
        }
        do {
            database = try RunDiagnostics.translating(path, .planning) { try Self.newDatabase(path) }
            if sorter != nil { try write { try SegmentSorter.prepare($0) } }
        } catch {
            database = nil
            disown()
            DatabaseFile.remove(path)
            throw error
        }
    }

    deinit { cancel() }

    private func disown() {
        if owner >= 0 { close(owner) }
        owner = -1
    }

    /// Gives up: removes what was written. Does nothing after `finish`.
    public func cancel() {
        guard let database else { return }
        self.database = nil
        // The file is removed even if closing fails.
        try? database.close()
        DatabaseFile.remove(path)
        disown()
    }

    /// Stores the recipient of a slot. A new slot is always the next one; a slot may be stored
    /// again, which replaces it.
    /// - Parameters:
    ///   - recipient: its variant is the one that the writer's names give it; its own counts when
    ///     the writer has none.
    ///   - service: the number of the service that takes its push.
    /// - Throws: `Diagnostic`: the disk is full. The writer cannot be used afterwards.
    public func put(_ recipient: Recipient, at slot: Int, service: UInt8 = 0) throws {
        if let ownVariant, recipient.variant != ownVariant {
            try flush()
            self.ownVariant = recipient.variant
            variants = VariantNames([recipient.variant]) { _ in 0 }
        }
        var batch = RecipientBatch()
        batch.append(recipient, at: slot, service: service)
        try put(batch)
    }

    /// Stores recipients, each at its slot.
    /// - Throws: `Diagnostic`: the disk is full. The writer cannot be used afterwards.
    public func put(_ batch: RecipientBatch) throws {
        pending.append(batch)
        pendingCount += batch.count
        if pendingCount >= Self.batch { try flush() }
    }

    /// Removes slots and closes the gaps by moving the last recipients into them, so that ids are
    /// dense: 0 ..< (slots − dropped).
    /// - Parameters:
    ///   - dropped: slots that were stored.
    ///   - slots: how many slots were stored.
    public func drop(_ dropped: BitSet, of slots: Int) throws {
        try flush()
        precondition(slots == self.slots, "slots are counted differently")
        let remaining = slots - dropped.count
        if sorter != nil {
            try sort(dropping: dropped)
            self.slots = remaining
            return
        }
        try write { db in
            let move = try db.cachedStatement(sql: "UPDATE OR REPLACE recipient SET id = ? WHERE id = ?")
            let select = try PreparedStatement(db, sql: RunSchema.selectDigestedRows)
            // Recipients beyond the end are removed, or move into a hole.
            try forEachRow(from: remaining, to: slots, select) { digest.subtract($0, $1) }
            var last = slots
            try dropped.forEach { hole in
                precondition(hole < slots, "a slot that was never stored")
                guard hole < remaining else { return }
                repeat { last -= 1 } while dropped.contains(last)
                try forEachRow(from: hole, to: hole + 1, select) { digest.subtract($0, $1) }
                try forEachRow(from: last, to: last + 1, select) { digest.add(hole, $1) }
                move.setUncheckedArguments([hole, last])
                try move.execute()
            }
            try db.execute(sql: "DELETE FROM recipient WHERE id >= ?", arguments: [remaining])
        }
        self.slots = remaining
    }

    private func sort(dropping dropped: BitSet) throws {
        try write { db in
            let single = try PreparedStatement(db, sql: RunSchema.upsertRecipients(1))
            segments =
                try sorter?.drain(dropping: dropped, db) { id, stored in
                    digest.add(id, stored)
                    try bind(id, stored, row: 0, to: single)
                    try single.execute()
                } ?? []
        }
        sorter = nil
    }

    /// Stores the plan, makes everything durable, and gives the file its name.
    /// - Throws: `Diagnostic`: the disk is full, there is a run of that id.
    public func finish(_ plan: RunPlan) throws -> RunFile {
        try flush()
        precondition(plan.id == id && plan.audience == slots && sorter == nil, "the plan is of another run")
        precondition(plan.serviceSegments == segments, "the plan has other legs")
        if let settings = try? plan.settings.get() {
            precondition(settings.services.count == services, "the plan has other services")
        }
        try write { db in
            try RunSchema.insert(plan, recipients: digest, into: db)
            try db.execute(sql: RunSchema.approvalTable)
            try db.execute(sql: RunSchema.sendingTables)
            try RunSchema.seal(db, hasSegments: services > 1)
        }
        try RunDiagnostics.translating(path, .planning) { try database?.close() }
        try DatabaseFile.synchronize(path)
        let final = DatabaseFile.path(id, in: folder)
        // link fails when the name is taken, where rename would replace another run.
        guard link(path, final) == 0 || (errno != EEXIST && rename(path, final) == 0) else {
            throw errno == EEXIST
                ? Self.exists(final)
                : RunDiagnostics.system("cannot name the run", path: final, errno: errno, activity: .planning)
        }
        database = nil
        DatabaseFile.remove(path)
        disown()
        try DatabaseFile.synchronize(folder)
        let run = try RunFile(path: final)
        run.noteUnchanged()
        return run
    }

    /// Speed over safety: until it has its name, losing the file costs nothing.
    private static func newDatabase(_ path: String) throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.prepareDatabase { db in
            for pragma in [
                "journal_mode = OFF", "synchronous = OFF", "locking_mode = EXCLUSIVE", "cache_size = -16000",
            ] {
                try db.execute(sql: "PRAGMA \(pragma)")
            }
        }
        let database = try DatabaseQueue(path: path, configuration: configuration)
        try database.writeWithoutTransaction { try $0.execute(sql: RunSchema.planTables) }
        return database
    }

    private func flush() throws {
        guard pendingCount > 0 else { return }
        try write { db in
            let table = sorter == nil ? "recipient" : "temp.\(SegmentSorter.table)"
            let several = try PreparedStatement(db, sql: RunSchema.upsertRecipients(Self.rowsAtATime, into: table))
            let single = try PreparedStatement(db, sql: RunSchema.upsertRecipients(1, into: table))
            let select = try PreparedStatement(db, sql: RunSchema.selectDigestedRows)
            for batch in pending {
                try batch.forEachGroup(of: Self.rowsAtATime) { group in
                    let isFull = group.count == Self.rowsAtATime
                    for (row, (slot, recipient)) in group.enumerated() {
                        precondition(slot <= slots, "a new slot must be the next one")
                        let isNew = slot == slots
                        if isNew { slots += 1 }
                        let stored = self.row(recipient)
                        if sorter != nil {
                            sorter?.note(recipient, at: slot)
                        } else {
                            if !isNew { try forget(slot, before: row, of: group, isFull: isFull, select) }
                            digest.add(slot, stored)
                        }
                        try bind(slot, stored, row: isFull ? row : 0, to: isFull ? several : single)
                        if !isFull { try single.execute() }
                    }
                    if isFull { try several.execute() }
                }
            }
        }
        pending.removeAll(keepingCapacity: true)
        pendingCount = 0
    }

    /// Removes from the digest a slot that is about to be stored again.
    /// - Parameters:
    ///   - row: its place in the group.
    ///   - isFull: whether what came before it in the group is not stored yet.
    private func forget(
        _ slot: Int, before row: Int, of group: [(slot: Int, recipient: RecipientRecord)], isFull: Bool,
        _ select: PreparedStatement
    ) throws {
        if isFull, let earlier = group[..<row].last(where: { $0.slot == slot }) {
            digest.subtract(slot, self.row(earlier.recipient))
        } else {
            try forEachRow(from: slot, to: slot + 1, select) { digest.subtract($0, $1) }
        }
    }

    /// Calls `body` with the rows that are stored with these ids.
    private func forEachRow(
        from first: Int, to end: Int, _ select: PreparedStatement, _ body: (Int, RecipientsDigest.Row) throws -> Void
    ) throws {
        try select.bind(first, at: 1)
        try select.bind(end, at: 2)
        try select.forEachRow { row in
            try body(row.number(0), row.digested)
            return true
        }
    }

    /// A recipient as it is stored.
    private func row(_ recipient: RecipientRecord) -> RecipientsDigest.Row {
        let variant = variants?.name(of: recipient) ?? UnsafeBufferPointer(start: nil, count: 0)
        return (
            recipient.token, recipient.registrationID, recipient.alias, recipient.language, variant, recipient.fields
        )
    }

    private func bind(_ slot: Int, _ stored: RecipientsDigest.Row, row: Int, to upsert: PreparedStatement) throws {
        let first = CInt(row * RunSchema.recipientColumns + 1)
        try upsert.bind(slot, at: first)
        try upsert.bind(stored.token, at: first + 1)
        try upsert.bind(stored.registrationID, at: first + 2)
        try upsert.bind(stored.alias, at: first + 3)
        try upsert.bind(stored.language, at: first + 4)
        try upsert.bind(stored.variant, at: first + 5)
        try upsert.bind(stored.fields, at: first + 6)
    }

    private func write(_ body: (Database) throws -> Void) throws {
        guard let database else { preconditionFailure("the writer has ended") }
        try RunDiagnostics.translating(path, .planning) { try database.write(body) }
    }

    private static func exists(_ path: String) -> Diagnostic {
        Diagnostic(
            "there is already a run with this id", file: path, remedy: "Plan again: the next plan gets a new id.")
    }
}

/// A file that planning is writing, or that an ended process left behind: not a run yet, but it may
/// hold device tokens.
public struct UnfinishedPlan: Hashable, Sendable {
    /// Where it is, for messages.
    public var place: String { path }
    let path: String
    /// The run that it was to become.
    public let id: String
    /// Bytes.
    public let size: Int
    /// When it was last written.
    public let changedAt: Timestamp

    /// Whether a process is writing it just now.
    public var isOwned: Bool { FileLock.isHeld(path) }

    /// All of a folder, by their names. A folder that does not exist yet holds none.
    /// - Throws: `Diagnostic`: the folder cannot be listed.
    static func all(in folder: String) throws -> [UnfinishedPlan] {
        try DatabaseFile.names(in: folder).filter { $0.hasSuffix(DatabaseFile.partialSuffix) }.compactMap { name in
            let path = FilePaths.join(folder, name: name)
            var status = stat()
            // One that was finished in between is a run.
            guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
            return UnfinishedPlan(
                path: path, id: String(name.dropLast(DatabaseFile.partialSuffix.count)), size: Int(status.st_size),
                changedAt: Timestamp(epochSeconds: Int64(status.st_mtim.tv_sec)))
        }
    }

    /// Removes it, unless a process is writing it.
    /// - Returns: whether it is gone.
    @discardableResult
    public func remove() throws -> Bool {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else {
            if errno == ENOENT { return true }
            throw RunDiagnostics.system(
                "cannot remove an unfinished plan", path: path, errno: errno, activity: .planning)
        }
        defer { close(descriptor) }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0, FileLock.isNamed(path, descriptor: descriptor) else {
            return false
        }
        // Finished, and about to lose this name: the run must not be touched, and the name
        // disappears without help.
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_nlink <= 1 else { return unlink(path) == 0 }
        DatabaseFile.remove(path)
        guard DatabaseFile.kind(path) == .missing else {
            throw RunDiagnostics.system(
                "cannot remove an unfinished plan", path: path, errno: EACCES, activity: .planning)
        }
        return true
    }
}
