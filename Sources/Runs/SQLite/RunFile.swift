public import Base
import GRDB
import Glibc
import Synchronization

/// A run file: one SQLite database that holds the whole truth about a run. May be used from several
/// threads.
///
/// The file is opened at first use. From the first write on it is in WAL mode: readers, also of
/// other processes, never wait for the writer. Every claim and every group of outcomes is on the
/// disk when the call returns. When the store is closed or dropped, one file remains that can be
/// read anywhere, a read-only folder included.
///
/// ```swift
/// let run = try RunFile(path: "runs/20261201-090000-spring-sale-7f3a.sqlite", readOnly: true)
/// defer { run.close() }
/// print(run.plan.audience, try run.status().state)
/// ```
public final class RunFile: RunLedger {
    /// The file.
    public let path: String
    /// The name by which it was opened: the file's, or that of a link to it. What is wrong with the
    /// file is said of this name, as the file may lie where it is no business of Volley.
    let givenPath: String
    /// What was frozen when the run was planned.
    public let plan: RunPlan
    /// When its recipients were removed; nil when they are there.
    public let prunedAt: Timestamp?
    /// Identifies the plan, every recipient included: SHA-256 of all that planning stored, 64 hex
    /// digits; blank for plans of older versions. It is what the file says, and `checkUnchanged`
    /// shows that it is true.
    public let planDigest: String
    /// What is known of the other runs of the folder.
    let marks: RunOverviewCache
    private let isReadOnly: Bool
    private let timeoutSeconds: Double
    private let identity: DatabaseFile.Identity?
    private let connections = Mutex(Connections())
    let sendingLock = Mutex<SendingLock?>(nil)
    /// Whether it had the lock and released it.
    let wasLocked = Mutex(false)
    /// The epoch that this store began; nil before. Claims are made only for this one.
    let ownEpoch = Mutex<String?>(nil)
    /// What was noted next to the file for the epoch that this store is about to begin, or began;
    /// nil before.
    let noted = Mutex<NotedEpoch?>(nil)
    /// The claimed recipients, once they were read to hand out ranges; nil when it has to be read
    /// again.
    let leased = Mutex<ClaimSet?>(nil)
    /// Threads that may read at the same time while the run is sent.
    private let readers = Mutex(1)
    /// The file as it was when it was last compared with its digest; nil when it never was.
    let unchangedAt = Mutex<[FileStamp?]?>(nil)

    /// What is open; at most one of them.
    private struct Connections {
        /// Of one thread (`RunsFolder.withRun`).
        var single: DatabaseQueue?
        var reading: DatabasePool?
        var writing: DatabasePool?
    }

    /// Opens a run file; one of an older format is converted first.
    /// - Parameter observer: is told how far that is.
    /// - Throws: `Diagnostic`: missing, not a run file, damaged, of a newer version, not permitted.
    public convenience init(path: String, readOnly: Bool = false, observer: Observer<RunConversion> = .silent) throws {
        try self.init(path: path, readOnly: readOnly, observer: observer, marks: RunOverviewCache())
    }

    /// - Parameters:
    ///   - timeoutSeconds: how long to wait for another program that holds the file.
    ///   - staysOpen: whether what is read next, by one thread, is read through the connection that
    ///     the plan was read through. To open a file takes longer than to read its state.
    init(
        path: String, readOnly: Bool, observer: Observer<RunConversion> = .silent, marks: RunOverviewCache,
        timeoutSeconds: Double = 10, staysOpen: Bool = false
    ) throws {
        (self.marks, self.timeoutSeconds) = (marks, timeoutSeconds)
        givenPath = path
        // A link would have its own lock, and two processes could send the run.
        let real = DatabaseFile.withoutLink(path)
        self.path = real
        isReadOnly = readOnly
        identity = DatabaseFile.identity(real)
        do {
            try RunDiagnostics.checkKind(ofRun: path)
            let connection: DatabaseQueue
            ((plan, planDigest, prunedAt), connection) = try Self.openedPlan(real, observer, timeoutSeconds)
            if staysOpen { connections.withLock { $0.single = connection } } else { try? connection.close() }
        } catch var mistake as Diagnostic where mistake.file == real {
            mistake.file = path
            throw mistake
        }
    }

    /// What is wrong with a run's file; nil if nothing is, or if that is not known now. Unlike
    /// opening it, this converts nothing.
    static func damage(_ path: String) -> Diagnostic? {
        let real = DatabaseFile.withoutLink(path)
        do {
            try RunDiagnostics.checkKind(ofRun: path)
            guard try DatabaseFile.read(real, 10, { try checkedPlan($0, path: path) }) != nil else { return nil }
            let run = try RunFile(path: path, readOnly: true)
            defer { run.close() }
            // What `volley runs` shows.
            _ = try (run.status(), run.figures(withGroups: false))
            return nil
        } catch let error as DatabaseError {
            // Another process may be changing it, or was ended while it did: the next that opens
            // the run takes that back.
            let isDamaged = [.SQLITE_NOTADB, .SQLITE_CORRUPT, .SQLITE_MISMATCH, .SQLITE_ERROR].contains(
                error.resultCode)
            return isDamaged ? RunDiagnostics.diagnostic(for: error, path: path, activity: .reading) : nil
        } catch {
            // One that was removed in between is no longer a run.
            return DatabaseFile.kind(path) == .missing && !FileKind.isLink(path)
                ? nil : Diagnostic(explaining: error, file: path)
        }
    }

    /// What reading all pages of a run's file finds; nil if they fit together, or if something else
    /// is wrong, which `damage` says.
    static func pageDamage(_ path: String) -> Diagnostic? {
        do {
            try RunDiagnostics.checkKind(ofRun: path)
            let isWhole = try DatabaseFile.read(DatabaseFile.withoutLink(path), 10) { db in
                try db.pragma("application_id") != RunSchema.applicationID || db.isWhole()
            }
            return isWhole ? nil : RunDiagnostics.damagedPages(path)
        } catch let error as DatabaseError where error.resultCode == .SQLITE_CORRUPT {
            return RunDiagnostics.damagedPages(path)
        } catch { return nil }
    }

    /// The same of this run, 4 s for 1 GB.
    public func pageDamage() -> Diagnostic? { Self.pageDamage(path) }

    private typealias CheckedPlan = (plan: RunPlan, digest: String, prunedAt: Timestamp?)

    private static func openedPlan(
        _ path: String, _ observer: Observer<RunConversion>, _ timeoutSeconds: Double
    ) throws -> (CheckedPlan, DatabaseQueue) {
        func opened() throws -> (CheckedPlan, DatabaseQueue)? {
            let connection = try DatabaseFile.connection(path, timeoutSeconds)
            if let plan = try connection.read({ try checkedPlan($0, path: path) }) { return (plan, connection) }
            // The conversion needs the file for itself.
            try connection.close()
            return nil
        }
        return try RunDiagnostics.translating(path, .reading) {
            try InterruptedChange.takingBack(path) {
                if let opened = try opened() { return opened }
                try RunUpgrade.run(path, observer)
                guard let opened = try opened() else {
                    throw RunDiagnostics.damaged(path, what: "its format cannot be converted")
                }
                return opened
            }
        }
    }

    deinit { close() }

    private static func checkedVersion(_ db: Database, path: String) throws -> Int {
        guard try db.pragma("application_id") == RunSchema.applicationID else { throw RunDiagnostics.notARun(path) }
        let version = try db.pragma("user_version")
        guard version <= RunSchema.versionWithSegments else { throw RunDiagnostics.newer(path, version: version) }
        if try isCutOff(db, path: path) { throw RunDiagnostics.damaged(path, what: "its end is missing") }
        return version
    }

    /// nil for a file of an older format.
    private static func checkedPlan(_ db: Database, path: String) throws -> CheckedPlan? {
        guard try checkedVersion(db, path: path) >= RunSchema.version else { return nil }
        guard let plan = try RunSchema.plan(from: db, path: path),
            let digest = try db.first("SELECT digest FROM run", reading: { try $0.string(0) })
        else {
            throw RunDiagnostics.damaged(path, what: "its plan cannot be read")
        }
        // A run whose state cannot be read is not listed with the others: nothing that goes through
        // all runs should end at this one.
        _ = try RunSchema.status(db)
        _ = try (lastEpoch(db), segmentStates(db))
        let prunedAt = try RunPruning.moment(db)
        // Under a name that is not the run's, the file was copied or renamed, or the id in it is
        // damaged: the digest tells which.
        if DatabaseFile.name(path) != plan.id + DatabaseFile.suffix, !digest.isEmpty, prunedAt == nil,
            try RunSchema.digest(of: db) != digest
        {
            throw RunDiagnostics.damaged(
                path, what: "its plan is not as it was made, and the run's id in it may be wrong")
        }
        return (plan, digest, prunedAt)
    }

    /// SQLite notices missing pages by itself, but not that the last one is incomplete. In WAL mode
    /// pages may still be in the other file.
    static func isCutOff(_ db: Database, path: String) throws -> Bool {
        guard try db.first("PRAGMA journal_mode", reading: { try $0.string(0) }) != "wal" else { return false }
        // At most 2³² pages of 65,536 bytes.
        return DatabaseFile.size(path) < (try db.pragma("page_count")) * (try db.pragma("page_size"))
    }

    /// Merges everything into the one file, closes it, and releases the right to send. The next use
    /// opens it again.
    /// - Throws: `Diagnostic` when merging fails; nothing is lost then; SQLite's other files only
    ///   stay next to it.
    public func closeIntoOneFile() throws {
        defer { sendingLock.withLock { $0 = nil } }
        noted.withLock { $0 = nil }
        let closing = connections.withLock { connections in
            defer { connections = Connections() }
            return connections
        }
        try RunDiagnostics.translating(path, .sending) {
            try closing.single?.close()
            try closing.reading?.close()
            guard let writing = closing.writing else {
                unlock()
                // Another command that wrote while this one had the lock may have left the merging
                // to it.
                let isLeftToIt =
                    wasLocked.withLock { $0 } && DatabaseFile.kind(path + "-wal") != .missing && !isBeingSent
                return isLeftToIt ? try Self.leaveWAL(path) : ()
            }
            try writing.close()
            // The sender keeps the file open, and leaves a single file at the end.
            try Self.leaveWAL(path, isPatient: sendingLock.withLock { $0 != nil } || !isBeingSent)
        }
    }

    /// The same, for callers that cannot handle a failure: the next process to open the file merges
    /// it.
    public func close() { try? closeIntoOneFile() }

    /// Removes a plan that is not wanted any more.
    /// - Throws: `Diagnostic` when sending has begun: what was sent must stay on record.
    public func remove() throws {
        try closeIntoOneFile()
        // No process may begin to send it in between.
        let lock = try SendingLock(run: path, isSending: false)
        guard try status(.free).startedAt == nil else {
            throw Diagnostic(
                "sending has started, so the run cannot be removed", file: path, remedy: "Cancel it instead.")
        }
        close()
        DatabaseFile.remove(path)
        ClaimCounter.remove(path)
        _ = consume lock
        try DatabaseFile.synchronize(RunDiagnostics.folder(of: path))
    }

    /// Back to a single file that can be read alone, unless another process keeps it open.
    /// - Parameter isPatient: whether to wait for other commands that have it open.
    static func leaveWAL(_ path: String, isPatient: Bool = true) throws {
        // Another command that reads it is done soon.
        var retries = Retries(atMost: isPatient ? 49 : 0, milliseconds: 10)
        repeat {
            do {
                let database = try DatabaseQueue(path: path)
                let leaving = Result {
                    try database.writeWithoutTransaction { try $0.execute(sql: "PRAGMA journal_mode = DELETE") }
                }
                // Two that close at the same time must not prevent each other from merging.
                try database.close()
                return try leaving.get()
            } catch let error as DatabaseError {
                // Also while it is opened: another process may be closing it just then.
                guard error.resultCode == .SQLITE_BUSY || error.resultCode == .SQLITE_LOCKED else { throw error }
            }
        } while retries.pause()
    }

    /// Reading alone leaves the file as it is; the first write turns it into a WAL database until
    /// `closeIntoOneFile`.
    private func pool(toWrite: Bool) throws -> DatabasePool {
        try connections.withLock { connections in
            if let pool = connections.writing ?? (toWrite ? nil : connections.reading) { return pool }
            // A reader that holds a lock would keep the file out of WAL mode.
            connections.reading = nil
            var configuration = Configuration()
            configuration.readonly = !toWrite
            configuration.busyMode = DatabaseWait.mode(path, atMost: timeoutSeconds)
            // Recipients are read, and outcomes written, once and in order: a larger cache would
            // only hold what is not needed again.
            configuration.prepareDatabase { try $0.execute(sql: "PRAGMA cache_size = -1000") }
            // While sending, the thread that claims and the one that looks for requests of other
            // processes take turns, unless others read at the same time.
            if toWrite { configuration.maximumReaderCount = readers.withLock { $0 } }
            let pool = try DatabasePool(path: path, configuration: configuration)
            if toWrite {
                // GRDB opens the reader when it is first needed, which might be when the process
                // may open no more files.
                try pool.read { _ = try $0.isBlank() }
                // GRDB chooses NORMAL for WAL, which may lose the last commits in a power failure:
                // a lost claim could send a push twice.
                try pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA synchronous = FULL") }
                connections.writing = pool
            } else {
                connections.reading = pool
            }
            return pool
        }
    }

    /// Sets how many threads will read at the same time while the run is sent. It has no effect
    /// after the first write.
    public func expectReaders(_ count: Int) { readers.withLock { $0 = max(1, count) } }

    /// A consistent view of the file as it is now. `body` may run more than once: another process
    /// may be changing the file's mode just then.
    func read<T>(_ body: (Database) throws -> T) throws -> T {
        try RunDiagnostics.translating(path, .reading) {
            try InterruptedChange.takingBack(path) {
                if let single = connections.withLock({ $0.single }) { return try single.read(body) }
                return try pool(toWrite: false).read(body)
            }
        }
    }

    /// One transaction, on the disk when it returns.
    func write<T>(_ body: (Database) throws -> T) throws -> T {
        if isReadOnly { throw Diagnostic("the run file was opened for reading only", file: path) }
        // Only its figures are left: nothing may cause them to be counted again.
        try requireRecipients()
        return try RunDiagnostics.translating(path, .sending) { try pool(toWrite: true).write(body) }
    }

    /// Whether the file still has its name: it was not removed and, since it was first written to,
    /// not replaced.
    public var isInPlace: Bool { DatabaseFile.identity(path) == identity }

    /// How strictly SQLite synchronises a commit; 2 is FULL.
    var synchronousLevel: Int? {
        get throws { try pool(toWrite: true).writeWithoutTransaction { try $0.pragma("synchronous") } }
    }
}
