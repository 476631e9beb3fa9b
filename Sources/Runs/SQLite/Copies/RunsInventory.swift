public import Base
import GRDB
import Glibc

/// What a folder of runs holds that a backup must have, and what it leaves out.
public struct RunsInventory: Sendable {
    /// One file.
    public struct Entry: Hashable, Sendable {
        /// What it is, in the order in which a backup copies them. What names a run is copied
        /// before the runs: then no copy names a run for a time that another copy does not have.
        /// The record of what was sent is copied after them: then it holds no less than they do.
        public enum Kind: Int, CaseIterable, Hashable, Sendable {
            /// Which time became which run.
            case schedule
            /// What was ordered in the console.
            case orders
            /// Devices that get no more pushes.
            case suppression
            /// How many devices of a run were claimed: `RUN.sqlite.claimed`.
            case mark
            case run
            /// Which runs were begun: `sent.db`.
            case history
        }

        /// Its name in the folder.
        public var name: String
        /// What it is.
        public var kind: Kind
    }

    /// The folder of runs.
    public let folder: String
    /// What a backup holds, in the order in which it is copied.
    public let entries: [Entry]
    /// Names that a backup leaves out: unfinished plans, and files that are not Volley's.
    public let others: [String]

    /// Lists a folder. One that does not exist yet holds nothing.
    /// - Throws: `Diagnostic`: it cannot be listed.
    public init(_ folder: String) throws {
        self.folder = folder
        var entries: [Entry] = [], others: [String] = []
        for name in try DatabaseFile.names(in: folder) {
            if let kind = Self.kind(of: name) { entries.append(Entry(name: name, kind: kind)) }
            if Self.isLeftOut(name) { others.append(name) }
        }
        self.entries = entries.sorted { ($0.kind.rawValue, $0.name) < ($1.kind.rawValue, $1.name) }
        self.others = others
    }

    private static func kind(of name: String) -> Entry.Kind? {
        switch name {
        case ScheduleStore.fileName: .schedule
        case OrderStore.fileName: .orders
        case SendingHistory.fileName: .history
        case _ where name.hasSuffix(ClaimCounter.file(of: DatabaseFile.suffix)): .mark
        case _ where SuppressionList.isNamed(name): .suppression
        case _ where DatabaseFile.isRun(name): .run
        default: nil
        }
    }

    /// Locks, SQLite's own files and folders for temporary files mean nothing in a copy, and the
    /// accounts of the console are copied apart.
    package static func isLeftOut(_ name: String) -> Bool {
        guard kind(of: name) == nil, name != "console", !name.hasPrefix(".") else { return false }
        return !["-wal", "-shm", "-journal", ".lock"].contains { name.hasSuffix($0) }
    }

    /// Where it is.
    public func path(of entry: Entry) -> String { FilePaths.join(folder, name: entry.name) }

    /// Bytes, including SQLite's files next to it; 0 if it is gone.
    public func bytes(of entry: Entry) -> Int {
        DatabaseFile.size(path(of: entry)) + DatabaseFile.size(path(of: entry) + "-wal")
    }

    /// Equal stamps mean that it was not written to in between.
    public func stamp(of entry: Entry) -> [FileStamp?] { ["", "-wal"].map { FileStamp(path: path(of: entry) + $0) } }

    /// Whether a process sends the run, or has it paused.
    public func isBeingSent(_ entry: Entry) -> Bool {
        entry.kind == .run && SendingLock.isSending(run: path(of: entry))
    }

    /// The id of a run, from its file's name.
    public func id(of entry: Entry) -> String { String(entry.name.dropLast(DatabaseFile.suffix.count)) }

    /// Copies a file as it is at one moment into another folder, for its owner only.
    /// - Parameter step: as with `DatabaseCopy`.
    /// - Returns: false if it is gone: a mark is removed when its run's sending ends, an unwanted
    ///   plan when a person answers "no".
    /// - Throws: `Diagnostic`: as with `DatabaseCopy`.
    public func copy(_ entry: Entry, to folder: String, step: (_ copied: Int, _ total: Int) throws -> Void) throws
        -> Bool
    {
        let path = path(of: entry), copy = FilePaths.join(folder, name: entry.name)
        switch DatabaseFile.kind(path) {
        case .missing:
            if let misencoded = FilePaths.misencoded(path) { throw misencoded }
            return false
        case .deadLink(let mistake): throw mistake
        case .file, .folder, .forbidden, .other: break
        }
        guard entry.kind == .mark else {
            do {
                try DatabaseCopy.make(of: path, at: copy, isDecision: entry.kind != .run, step: step)
            } catch let error as Diagnostic {
                guard DatabaseFile.kind(path) == .missing else { throw error }
                DatabaseFile.remove(copy)
                return false
            }
            return true
        }
        guard let bytes = try? RegularFile.bytes(of: path, atMost: 200) else { return false }
        try FilePaths.replace(copy, bytes: bytes, mode: 0o600)
        try DatabaseFile.synchronize(copy)
        return true
    }
}

/// Copies a database of Volley while other processes work with it, as it is at one moment.
///
/// The moment is that of one read transaction: writers of a database in WAL mode do not wait,
/// others wait for as long as the copy takes, which is a moment for the small files that are not in
/// WAL mode (`sent.db`). The copy is one file, with no other files next to it, and all of it was
/// read: SQLite copies damaged pages as they are.
public enum DatabaseCopy {
    /// 4 MB with pages of the usual size: so often a copy looks whether it should end.
    private static let pagesPerStep: CInt = 1_000

    /// Copies a database to a new file that only its owner may read, and writes it through to the
    /// disk.
    /// - Parameters:
    ///   - isDecision: whether it decides about sending: indexes are checked then, because a
    ///     damaged record, put back, would decide otherwise.
    ///   - step: is told how many bytes are copied, and of how many; what it throws ends the copy.
    /// - Throws: `Diagnostic`: the database is damaged, not a database, missing, not permitted; the
    ///   copy cannot be written.
    public static func make(
        of path: String, at copy: String, isDecision: Bool = false, step: (_ copied: Int, _ total: Int) throws -> Void
    ) throws {
        try DatabaseFile.checkKind(ofDatabase: path, wanted: "a database of Volley")
        if DatabaseFile.kind(path) == .folder { throw FileKind.folder.intrusion(path, wanted: "a database of Volley") }
        guard DatabaseFile.kind(path) == .file else {
            throw RunDiagnostics.system("cannot read the database", path: path, errno: ENOENT, activity: .reading)
        }
        // SQLite would remove the files next to it, which may hold what it held.
        if DatabaseFile.size(path) == 0 { throw damaged(path, "it is empty") }
        do {
            try InterruptedChange.takingBack(path) {
                DatabaseFile.remove(copy)
                try DatabaseFile.makeDatabase(copy, doing: "cannot write the copy", .reading)
                guard try copyPages(of: path, to: copy, isDecision, step: step) else {
                    throw isDecision ? damaged(path, WholeFile.damage) : RunDiagnostics.damagedPages(path)
                }
            }
        } catch let error as DatabaseError {
            throw diagnostic(for: error, source: path, copy: copy)
        } catch let damaged as Diagnostic { throw ofAnyFile(damaged) }
        try DatabaseFile.synchronize(copy)
    }

    /// - Returns: whether the copy is whole.
    private static func copyPages(
        of path: String, to copy: String, _ isDecision: Bool, step: (Int, Int) throws -> Void
    ) throws -> Bool {
        var configuration = Configuration()
        configuration.readonly = true
        configuration.busyMode = DatabaseWait.mode(path, atMost: 30)
        let source = try DatabaseQueue(path: path, configuration: configuration)
        let target = try DatabaseQueue(path: copy)
        try source.read { from in
            // The backup goes by a transaction that its connection has already; with its own it
            // would begin anew at each change.
            let pageSize = try from.pragma("page_size")
            if try from.isBlank() { throw damaged(path, "it is empty") }
            try target.writeWithoutTransaction { to in
                // What is half written is thrown away, and the whole is synchronised at the end.
                try to.execute(sql: "PRAGMA synchronous = OFF; PRAGMA journal_mode = OFF;")
                try withoutActuallyEscaping(step) { step in
                    try from.backup(to: to, pagesPerStep: pagesPerStep) { progress in
                        try step(
                            (progress.totalPageCount - progress.remainingPageCount) * pageSize,
                            progress.totalPageCount * pageSize)
                    }
                }
                try to.execute(sql: "PRAGMA journal_mode = DELETE")
            }
        }
        try source.close()
        let isWhole = try target.writeWithoutTransaction { to in
            // Values that a table should not have are named where they are read, and damage no
            // others.
            try to.execute(sql: "PRAGMA ignore_check_constraints = ON")
            return isDecision ? try to.isWhole(WholeFile.query) : try to.isWhole()
        }
        try target.close()
        return isWhole
    }

    private static func damaged(_ path: String, _ what: String) -> Diagnostic {
        Diagnostic("the file is damaged: \(what)", file: path, remedy: "Restore it from an earlier backup.")
    }

    private static func diagnostic(for error: DatabaseError, source: String, copy: String) -> Diagnostic {
        switch error.resultCode {
        case .SQLITE_FULL, .SQLITE_IOERR: return RunDiagnostics.diagnostic(for: error, path: copy, activity: .reading)
        case .SQLITE_NOTADB: return Diagnostic("this is not a database, although it is named like one", file: source)
        default: return ofAnyFile(RunDiagnostics.diagnostic(for: error, path: source, activity: .reading))
        }
    }

    private static func ofAnyFile(_ diagnostic: Diagnostic) -> Diagnostic {
        var diagnostic = diagnostic
        diagnostic.message = diagnostic.message.replacing("the run file", with: "the file")
        return diagnostic
    }
}
