import Base
import GRDB
import Glibc
import PushServices

/// Opens the file of a suppression list for one use, and closes it again.
enum SuppressionFile {
    /// How long one process waits for another that is writing.
    private static let timeoutSeconds = 60.0
    private static let cacheSize = "PRAGMA cache_size = -8000"
    static let format = DatabaseFormat(
        applicationID: SuppressionSchema.applicationID, version: SuppressionSchema.version,
        name: "the suppression list",
        remedy:
            "Restore the list from a backup. Without it, devices that are gone, or whose owners complained, get pushes again: "
            + "remove the file only if you accept that.")

    /// Reads the file as it is at one moment; nil without one, which is an empty list. A file that
    /// was emptied is not: its devices would get pushes again.
    /// - Parameter isDecision: whether something is decided by what is found; the whole file is
    ///   checked then, once as long as it stays the same. Of ten million devices that takes about
    ///   six seconds, and reading their tokens afterwards as long.
    static func read<Value>(_ path: String, isDecision: Bool = true, _ body: (Database) throws -> Value) throws
        -> Value?
    {
        try isThere(path) ? readOnce(path, isDecision: isDecision, body) : nil
    }

    /// What is wrong with a list; nil for nothing. The file is left in the mode in which it is.
    static func damage(_ path: String) -> Diagnostic? {
        do {
            if try isThere(path) { try readOnce(path, tidies: false) { _ in } }
            return nil
        } catch { return Diagnostic(explaining: error) }
    }

    /// - Parameter tidies: whether a file that the last writer left in WAL mode leaves it.
    private static func readOnce<Value>(
        _ path: String, isDecision: Bool = true, tidies: Bool = true, _ body: (Database) throws -> Value
    ) throws -> Value {
        try translating(path, isWriting: false) {
            try format.checkNotEmptied(path)
            let result = try DatabaseFile.read(path, timeoutSeconds) { db in
                try db.execute(sql: cacheSize)
                try check(db, path: path)
                if isDecision { try format.checkWhole(db, path: path, rows: checkEnvironments) }
                return try body(db)
            }
            // The last writer could not tidy up while this was reading.
            if tidies, DatabaseFile.kind(path + "-wal") == .file {
                try? DatabaseFile.inTurn(path) { try RunFile.leaveWAL(path) }
            }
            return result
        }
    }

    /// Opens the file for writing, and creates it when it does not exist. `body` runs outside any
    /// transaction. Whatever other processes do in between, one file remains afterwards, and what
    /// `body` committed is on the disk.
    static func write<Value>(_ path: String, _ body: (Database) throws -> Value) throws -> Value {
        if try !isThere(path) {
            try format.make(path, doing: "cannot write a suppression list", .planning, SuppressionSchema.create)
        }
        return try translating(path, isWriting: true) {
            let database = try DatabaseFile.inTurn(path) { try open(path) }
            let result = Result { try database.writeWithoutTransaction(body) }
            do {
                try DatabaseFile.inTurn(path) {
                    try database.close()
                    try RunFile.leaveWAL(path)
                }
            } catch {
                // The first error says more.
                _ = try result.get()
                throw error
            }
            return try result.get()
        }
    }

    private static func isThere(_ path: String) throws -> Bool {
        switch DatabaseFile.kind(path) {
        case .file:
            try DatabaseFile.checkKind(ofDatabase: path, wanted: "a suppression list")
            return true
        case .missing: return false
        case .deadLink(let mistake): throw mistake
        case .other(let kind):
            throw kind.refusal(path, wanted: "a suppression list", remedy: format.remedy)
        case .folder: throw format.unclaimed(path)
        case .forbidden: throw SuppressionDiagnostics.notPermitted(path, toWrite: false)
        }
    }

    /// A process that closes the file takes it out of WAL mode, for which SQLite locks others out
    /// without letting them wait.
    private static func open(_ path: String) throws -> DatabaseQueue {
        let start = ContinuousClock.now
        var retries = Retries(atMost: .max, milliseconds: 10)
        while true {
            do { return try openOnce(path) } catch let error as DatabaseError {
                let waited = (ContinuousClock.now - start) / .milliseconds(1)
                guard error.resultCode == .SQLITE_BUSY, waited < timeoutSeconds * 1000,
                    DatabaseWait.mayWait(after: Int(waited)),
                    retries.pause()
                else { throw error }
            }
        }
    }

    private static func openOnce(_ path: String) throws -> DatabaseQueue {
        // Checked before anything is changed in it: it may belong to another program.
        try format.checkNotEmptied(path)
        try InterruptedChange.takingBack(path) {
            try DatabaseFile.read(path, timeoutSeconds) { try check($0, path: path) }
        }
        var configuration = Configuration()
        configuration.busyMode = DatabaseWait.mode(path, atMost: timeoutSeconds)
        configuration.journalMode = .wal
        configuration.prepareDatabase { try $0.execute(sql: cacheSize) }
        let database = try DatabaseQueue(path: path, configuration: configuration)
        // With NORMAL, which GRDB chooses for WAL, the last commit could be lost in a power
        // failure.
        try database.writeWithoutTransaction { try $0.execute(sql: "PRAGMA synchronous = FULL") }
        return database
    }

    /// - Throws: `Diagnostic` when it is not a list that this version can use.
    private static func check(_ db: Database, path: String) throws {
        try format.checkHeader(db, path: path)
        if try RunFile.isCutOff(db, path: path) { throw format.damaged(path, what: "its end is missing") }
    }

    /// A device in the list of an environment that cannot be is in none.
    private static func checkEnvironments(_ db: Database) throws {
        _ = try db.all(SuppressionSchema.selectEnvironments) { row in
            if try row.flag(1) { throw row.mismatch(1, "a text") }
            return try row.lists(0)
        }
    }

    private static func translating<Value>(_ path: String, isWriting: Bool, _ body: () throws -> Value) throws -> Value
    {
        do { return try body() } catch let error as DatabaseError {
            throw format.flaw(error, path)
                ?? SuppressionDiagnostics.diagnostic(for: error, path: path, isWriting: isWriting)
        }
    }
}

/// Messages about a suppression list, with what to do.
enum SuppressionDiagnostics {
    static func diagnostic(for error: DatabaseError, path: String, isWriting: Bool) -> Diagnostic {
        // Of a full disk, which SQLite names itself, the folder for temporary files may be meant.
        if let shortage = MissingResource(at: path, sqliteCode: error.resultCode.rawValue),
            shortage != .space || error.resultCode != .SQLITE_FULL
        {
            return Diagnostic(
                shortage.words, file: path, remedy: "\(shortage.remedy), then try again. The list was not changed.")
        }
        switch error.resultCode {
        case .SQLITE_FULL:
            return Diagnostic(
                "the disk is full under \(RunDiagnostics.folder(of: path)), or in the folder for temporary files",
                file: path,
                remedy: "Free space, then try again. The list was not changed.")
        case .SQLITE_IOERR:
            return Diagnostic(
                "the disk failed while the suppression list was in use (SQLite error \(error.extendedResultCode.rawValue))",
                file: path,
                remedy: "Check the disk, whether it is full, and its file system.")
        case .SQLITE_CANTOPEN, .SQLITE_PERM, .SQLITE_AUTH, .SQLITE_READONLY:
            return notPermitted(path, toWrite: isWriting)
        case .SQLITE_BUSY, .SQLITE_LOCKED:
            return Diagnostic(
                "another process is using the suppression list", file: path,
                remedy: "Wait until it is done, then try again.")
        default:
            return Diagnostic(
                "the suppression list cannot be used (SQLite error \(error.extendedResultCode.rawValue))", file: path,
                remedy: "Check the disk and its file system; if the file is damaged, restore it from a backup.")
        }
    }

    static func notPermitted(_ path: String, toWrite: Bool) -> Diagnostic {
        Diagnostic(
            "you may not \(toWrite ? "write" : "read") the suppression list", file: path,
            remedy: "Check the permissions of the file and of its folder, and who runs volley.")
    }
}
