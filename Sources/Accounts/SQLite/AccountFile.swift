import Base
import GRDB
import Glibc

/// The file of accounts before SQLite opens it.
enum AccountFile {
    /// Creates a file with its tables that only its owner may read, unless it exists, and removes
    /// other users' permissions from an existing one: it holds the secrets of second factors.
    /// SQLite gives its companions the same permissions. No descriptor is opened, because closing
    /// any descriptor of a file releases all of the process's SQLite locks on it (fcntl(2)).
    /// - Throws: a `Diagnostic`; an error of SQLite.
    static func prepare(_ path: String) throws {
        for file in [path, path + "-journal", path + "-wal", path + "-shm"] {
            if let dead = FileKind.deadLink(file) { throw dead }
            guard let kind = FileKind(path: file), kind != .regular else { continue }
            throw kind.intrusion(file, wanted: "a file of accounts")
        }
        if FileKind(path: path) == nil {
            do { return try make(path) } catch let error as FileError {
                // Another process may have made it.
                guard error.errorNumber == EEXIST else { throw failure(error.errorNumber, path) }
            }
        }
        var status = stat()
        guard stat(path, &status) == 0 else { throw failure(errno, path) }
        guard status.st_mode & 0o077 != 0 else { return }
        guard chmod(path, 0o600) == 0 else {
            throw AccountDiagnostics.obstacle(path)
                ?? Diagnostic(
                    "other users of this machine may read the accounts", file: path,
                    remedy: "Run `chmod 600 \(FilePaths.inShell(path))`.")
        }
    }

    private static func make(_ path: String) throws {
        try FilePaths.makeWhole(path) { unfinished in
            let database = try DatabaseQueue(path: unfinished, configuration: configuration())
            try database.write(AccountSchema.create)
            try database.close()
        }
    }

    private static func failure(_ code: Int32, _ path: String) -> Diagnostic {
        switch code {
        case EACCES, EPERM, EROFS: AccountDiagnostics.notPermitted(path)
        case ENOENT: Diagnostic("the accounts cannot be written: there is no such folder", file: path)
        default: FileError.system(code).diagnostic("the accounts cannot be written", file: path)
        }
    }

    /// Opens the file. Two processes may do this at the same moment.
    static func open(_ path: String) throws -> DatabasePool {
        // Another process that opens or closes the file locks it for a moment without letting
        // others wait.
        let end = ContinuousClock.now + .seconds(10)
        var retries = Retries(atMost: .max, milliseconds: 20)
        while true {
            do { return try openOnce(path) } catch let error as DatabaseError {
                guard error.resultCode == .SQLITE_BUSY, ContinuousClock.now < end, retries.pause() else { throw error }
            }
        }
    }

    private static func openOnce(_ path: String) throws -> DatabasePool {
        // Checked before anything is changed in it: it may belong to another program.
        try checkNotEmptied(path)
        let looking = try DatabaseQueue(path: path, configuration: configuration())
        try looking.read { db in
            try AccountSchema.check(db, path: path)
            try checkWhole(db, path)
        }
        try looking.close()
        let pool = try DatabasePool(path: path, configuration: configuration())
        try pool.writeWithoutTransaction { db in
            // With NORMAL, which GRDB chooses for WAL, the last commit could be lost in a power
            // failure, and a code would work twice.
            try db.execute(sql: "PRAGMA synchronous = FULL")
            try db.inTransaction(.immediate) {
                try AccountSchema.check(db, path: path)
                try AccountSchema.upgrade(db)
                // Changes nothing, but fails if the file cannot be changed: SQLite would open such
                // a file for reading.
                try db.execute(sql: "UPDATE account SET id = id WHERE 0")
                return .commit
            }
        }
        return pool
    }

    /// The problem with the file; nil without one, or if it cannot be determined now. Changes
    /// nothing.
    static func damage(_ path: String) -> Diagnostic? {
        do {
            if let kind = FileKind(path: path), kind != .regular {
                return kind.intrusion(path, wanted: "a file of accounts")
            }
            try checkNotEmptied(path)
            let database = try DatabaseQueue(path: path, configuration: configuration(readOnly: true))
            try database.read { db in
                try AccountSchema.check(db, path: path)
                _ = try AccountRow.one(db, "SELECT id FROM account LIMIT 1")
                try checkWhole(db, path)
            }
            try database.close()
            return nil
        } catch let error as DatabaseError {
            // Another process may be changing it.
            let isDamaged = [.SQLITE_NOTADB, .SQLITE_CORRUPT, .SQLITE_ERROR].contains(error.resultCode)
            return isDamaged ? AccountDiagnostics.diagnostic(for: error, path: path) : nil
        } catch { return Diagnostic(explaining: error, file: path) }
    }

    /// SQLite would remove the files next to an empty one, which may hold what it held.
    private static func checkNotEmptied(_ path: String) throws {
        if FileStamp(path: path)?.size == 0 { throw AccountDiagnostics.emptied(path) }
    }

    /// Checks pages, rows and indexes: with an index that does not fit its table, the roles of one
    /// account are found for another.
    /// - Parameter original: the file that messages name; nil for the same.
    /// - Throws: `Diagnostic`: the file is damaged.
    static func checkWhole(_ db: Database, _ path: String, named original: String? = nil) throws {
        let isWhole = try WholeFile.check(path) {
            try AccountRow.one(db, WholeFile.query)?.value(0, String.self) == "ok"
        }
        guard isWhole else { throw AccountDiagnostics.damaged(original ?? path, what: WholeFile.damage) }
    }

    private static func configuration(readOnly: Bool = false) -> Configuration {
        var configuration = Configuration()
        configuration.readonly = readOnly
        configuration.busyMode = .timeout(10)
        configuration.maximumReaderCount = 4
        // Removed values are secrets or names: they must not stay in free pages.
        configuration.prepareDatabase { try $0.execute(sql: "PRAGMA secure_delete = ON") }
        return configuration
    }
}

/// Turns errors of SQLite and the system into messages that people can act on. No message repeats a
/// value of the file.
enum AccountDiagnostics {
    static func diagnostic(for error: DatabaseError, path: String) -> Diagnostic {
        if let shortage = MissingResource(at: path, sqliteCode: error.resultCode.rawValue) {
            let place = shortage == .currentFolder ? "" : " under \(FilePaths.folder(of: path))"
            return Diagnostic(
                "\(shortage.words)\(place)", file: path,
                remedy: "\(shortage.remedy), then try again. The accounts were not changed.")
        }
        return switch error.resultCode {
        case .SQLITE_IOERR:
            Diagnostic(
                "the disk failed while the accounts were in use (SQLite error \(error.extendedResultCode.rawValue))",
                file: path,
                remedy: "Check the disk, whether it is full, and its file system.")
        case .SQLITE_NOTADB: notAccounts(path)
        case .SQLITE_CORRUPT: damaged(path, what: "its pages do not fit together")
        case .SQLITE_CANTOPEN, .SQLITE_PERM, .SQLITE_AUTH, .SQLITE_READONLY: notPermitted(path)
        case .SQLITE_BUSY, .SQLITE_LOCKED:
            Diagnostic(
                "another process is using the accounts", file: path, remedy: "Wait until it is done, then try again.")
        // A file without its tables although it has the application id.
        case .SQLITE_ERROR: damaged(path, what: "a table or a column is missing")
        default:
            Diagnostic("the accounts cannot be used (SQLite error \(error.extendedResultCode.rawValue))", file: path)
        }
    }

    static func notAccounts(_ path: String) -> Diagnostic {
        Diagnostic(
            "this is not a file of accounts, but is in its place", file: path,
            remedy:
                "Restore it from a backup, or move it away: then there are no accounts, and `volley serve --invite NAME` begins anew."
        )
    }

    static func damaged(_ path: String?, what: String) -> Diagnostic {
        Diagnostic("the file of accounts is damaged: \(what)", file: path, remedy: "Restore it from a backup.")
    }

    /// The file was emptied: that is not the same as no accounts.
    static func emptied(_ path: String) -> Diagnostic { damaged(path, what: "it is empty") }

    /// A value is not what it should be. `AccountStore` adds the file.
    static let unreadable = damaged(nil, what: "a value in it cannot be read")

    /// Why this user may not use the file or its folder, with the owner and the command that helps;
    /// nil if both can be used, or do not exist.
    static func obstacle(_ path: String) -> Diagnostic? {
        FileAccess.problem(FilePaths.folder(of: path), .writing, purpose: "the folder of the console's accounts")
            ?? ["", "-wal", "-shm", "-journal"].lazy.compactMap {
                FileAccess.problem(path + $0, .writing, purpose: "the accounts of the console")
            }.first
    }

    static func notPermitted(_ path: String) -> Diagnostic {
        obstacle(path)
            ?? Diagnostic(
                "you may not write the accounts", file: path,
                remedy: "Check the permissions of the file and of its folder, and which user runs volley.")
    }
}
