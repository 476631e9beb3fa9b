import Base
import GRDB

/// A kind of database next to the runs: how it is told apart from any other and from one of a newer
/// Volley, when it is damaged, and in which words that is said.
struct DatabaseFormat {
    /// The id of such a file (`PRAGMA application_id`).
    let applicationID: Int
    /// The newest version that this program reads (`PRAGMA user_version`).
    let version: Int
    /// What the file is, as an error begins: "the record of what was sent".
    let name: String
    /// What to do about a damaged file.
    let remedy: String
    /// What to do about a file that is something else; nil for the same.
    var strangerRemedy: String?

    /// Looks at a database: its header and, unless this process did so before, the whole file.
    /// - Parameter rows: checks what SQLite cannot: whether rows can be what they should be.
    /// - Throws: `Diagnostic`: a newer Volley wrote it, it is damaged, or it is something else;
    ///   what `rows` throws.
    func check(_ db: Database, path: String, rows: (Database) throws -> Void = { _ in }) throws {
        try checkHeader(db, path: path)
        try checkWhole(db, path: path, rows: rows)
    }

    /// Checks a file as `WholeFile` does.
    func checkWhole(_ db: Database, path: String, rows: (Database) throws -> Void) throws {
        let isWhole = try WholeFile.check(path) {
            guard try db.isWhole(WholeFile.query) else { return false }
            try rows(db)
            return true
        }
        guard isWhole else { throw damaged(path, what: WholeFile.damage) }
    }

    /// A file without any table was emptied, and is not an empty record: what it said is gone.
    func checkHeader(_ db: Database, path: String) throws {
        let identity = try db.pragma("application_id")
        if identity != applicationID {
            throw try identity == 0 && db.isBlank() ? emptied(path) : unclaimed(path)
        }
        let found = try db.pragma("user_version")
        guard found <= version else {
            throw Diagnostic(
                "\(name) was written by a newer Volley (format \(found); this one reads \(version))", file: path,
                remedy: "Use the newer Volley.")
        }
        guard found > 0 else { throw damaged(path, what: "its format is not a number that Volley gives") }
    }

    /// Looks at the header of a file that is about to be opened for writing, which may change it at
    /// once (WAL mode, pages): one that is refused stays as it is, to the byte.
    /// - Throws: `Diagnostic`: a newer Volley wrote it, or it is something else.
    func checkUntouched(_ path: String, timeoutSeconds: Double) throws {
        try checkNotEmptied(path)
        try InterruptedChange.takingBack(path) {
            try DatabaseFile.read(path, timeoutSeconds) { try checkHeader($0, path: path) }
        }
    }

    /// SQLite would remove the files next to an empty one, which may hold what it held.
    func checkNotEmptied(_ path: String) throws {
        if DatabaseFile.kind(path) == .file, DatabaseFile.size(path) == 0 { throw emptied(path) }
    }

    private func emptied(_ path: String) -> Diagnostic { damaged(path, what: "it is empty") }

    /// Makes a file with its tables, for its owner only, unless it exists. Until it is complete it
    /// has another name.
    func make(
        _ path: String, doing: String, _ activity: RunDiagnostics.Activity, _ tables: (Database) throws -> Void
    ) throws {
        if DatabaseFile.kind(path) == .file { return }
        try DatabaseFile.makeFolder(RunDiagnostics.folder(of: path))
        do {
            try translating(path) {
                try FilePaths.makeWhole(path) { unfinished in
                    let database = try DatabaseQueue(path: unfinished)
                    try database.write(tables)
                    try database.close()
                }
            }
        } catch let error as FileError {
            guard let obstacle = DatabaseFile.obstacle(toMaking: path, code: error.errorNumber, doing: doing, activity)
            else { return }
            throw obstacle
        }
    }

    /// Opens a file, in WAL mode, for as long as a process works with it; others may read and write
    /// it at the same time.
    /// - Parameters:
    ///   - timeoutSeconds: how long a call waits for another process.
    ///   - upgrade: converts the tables of an older version.
    func open(_ path: String, timeoutSeconds: Double, upgrade: (Database) throws -> Void) throws -> DatabasePool {
        try translating(path) {
            var configuration = Configuration()
            configuration.busyMode = DatabaseWait.mode(path, atMost: timeoutSeconds)
            configuration.maximumReaderCount = 1
            let pool = try DatabaseFile.inTurn(path) {
                try checkUntouched(path, timeoutSeconds: timeoutSeconds)
                return try DatabasePool(path: path, configuration: configuration)
            }
            try pool.writeWithoutTransaction { db in
                // With NORMAL, which GRDB chooses for WAL, the last commit could be lost in a power
                // failure: a time would fire twice, and an order that was taken would be taken
                // again.
                try db.execute(sql: "PRAGMA synchronous = FULL")
                try db.inTransaction(.immediate) {
                    try check(db, path: path)
                    try upgrade(db)
                    return .commit
                }
            }
            return pool
        }
    }

    /// Reads a file as it is at one moment, whether or not processes work with it.
    func read<Value>(_ path: String, timeoutSeconds: Double, _ body: (Database) throws -> Value) throws -> Value {
        try translating(path) {
            try checkNotEmptied(path)
            return try InterruptedChange.takingBack(path) {
                try DatabaseFile.read(path, timeoutSeconds) { db in
                    try check(db, path: path)
                    return try body(db)
                }
            }
        }
    }

    func damaged(_ path: String, what: String) -> Diagnostic {
        Diagnostic("\(name) is damaged: \(what)", file: path, remedy: remedy)
    }

    func unclaimed(_ path: String) -> Diagnostic {
        Diagnostic(
            "this is not \(name.replacing("the ", with: "a ", maxReplacements: 1)), but is in its place", file: path,
            remedy: strangerRemedy ?? remedy)
    }

    /// Runs `body`; a database error comes out as a `Diagnostic`, everything else as it is.
    func translating<Value>(_ path: String, _ body: () throws -> Value) throws -> Value {
        do { return try body() } catch let error as DatabaseError {
            if let flaw = flaw(error, path) { throw flaw }
            var diagnostic = RunDiagnostics.diagnostic(for: error, path: path, activity: .sending)
            diagnostic.message = diagnostic.message.replacing("the run file", with: name)
            throw diagnostic
        }
    }

    /// What an error says of the file itself; nil for an error of its disk, or of other processes.
    func flaw(_ error: DatabaseError, _ path: String) -> Diagnostic? {
        switch error.resultCode {
        case .SQLITE_NOTADB: unclaimed(path)
        case .SQLITE_MISMATCH: damaged(path, what: error.ofValue)
        case .SQLITE_CORRUPT: damaged(path, what: "its pages do not fit together")
        // It has the application id.
        case .SQLITE_ERROR: damaged(path, what: "a table or a column is missing")
        default: nil
        }
    }
}

extension DatabaseFile {
    /// Reads a database at one moment, and closes it again.
    static func read<Value>(_ path: String, _ timeoutSeconds: Double, _ body: (Database) throws -> Value) throws
        -> Value
    {
        let database = try connection(path, timeoutSeconds)
        let result = try database.read(body)
        try database.close()
        return result
    }

    /// Opens a database for reading.
    static func connection(_ path: String, _ timeoutSeconds: Double) throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.readonly = true
        configuration.busyMode = DatabaseWait.mode(path, atMost: timeoutSeconds)
        return try DatabaseQueue(path: path, configuration: configuration)
    }
}
