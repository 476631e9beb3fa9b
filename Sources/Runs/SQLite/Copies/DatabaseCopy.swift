import Base
import GRDB
import Glibc

/// Copies a database of Volley while other processes work with it, as it is at one moment.
///
/// The moment is that of one read transaction: writers of a database in WAL mode do not wait, others wait for as long
/// as the copy takes, which is a moment for the small files that are not in WAL mode (`sent.db`). The copy is one file,
/// with no other files next to it, and all of it was read: SQLite copies damaged pages as they are.
public enum DatabaseCopy {
    /// 4 MB with pages of the usual size: so often a copy looks whether it should end.
    private static let pagesPerStep: CInt = 1_000

    /// Copies a database to a new file that only its owner may read, and writes it through to the disk.
    /// - Parameters:
    ///   - isDecision: whether it decides about sending: indexes are checked then, because a damaged record, put back,
    ///     would decide otherwise.
    ///   - step: is told how many bytes are copied, and of how many; what it throws ends the copy.
    /// - Throws: `Diagnostic`: the database is damaged, not a database, missing, not permitted; the copy cannot be
    ///   written.
    public static func make(
        of path: String, at copy: String, isDecision: Bool = false, step: (_ copied: Int, _ total: Int) throws -> Void
    ) throws {
        try DatabaseFile.checkKind(ofDatabase: path, wanted: "a database of Volley")
        if DatabaseFile.kind(path) == .folder { throw FileKind.folder.intrusion(path, wanted: "a database of Volley") }
        guard DatabaseFile.kind(path) == .file else {
            throw RunDiagnostics.system("cannot read the database", path: path, errno: ENOENT, activity: .reading)
        }
        do {
            try InterruptedChange.takingBack(path) {
                DatabaseFile.remove(copy)
                try DatabaseFile.makeDatabase(copy, doing: "cannot write the copy", .reading)
                guard try copyPages(of: path, to: copy, isDecision, step: step) else {
                    guard isDecision else { throw RunDiagnostics.damagedPages(path) }
                    throw Diagnostic(
                        "the file is damaged: \(WholeFile.damage)", file: path, remedy: "Restore it from an earlier backup.")
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
        configuration.busyMode = .timeout(30)
        let source = try DatabaseQueue(path: path, configuration: configuration)
        let target = try DatabaseQueue(path: copy)
        try source.read { from in
            // The backup goes by a transaction that its connection has already; with its own it would begin anew at
            // each change.
            let pageSize = try from.pragma("page_size")
            _ = try from.isBlank()
            try target.writeWithoutTransaction { to in
                // What is half written is thrown away, and the whole is synchronised at the end.
                try to.execute(sql: "PRAGMA synchronous = OFF; PRAGMA journal_mode = OFF;")
                try withoutActuallyEscaping(step) { step in
                    try from.backup(to: to, pagesPerStep: pagesPerStep) { progress in
                        try step((progress.totalPageCount - progress.remainingPageCount) * pageSize, progress.totalPageCount * pageSize)
                    }
                }
                try to.execute(sql: "PRAGMA journal_mode = DELETE")
            }
        }
        try source.close()
        let isWhole = try target.writeWithoutTransaction { to in
            // Values that a table should not have are named where they are read, and damage no others.
            try to.execute(sql: "PRAGMA ignore_check_constraints = ON")
            return isDecision ? try to.isWhole(WholeFile.query) : try to.isWhole()
        }
        try target.close()
        return isWhole
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
