import Base
import GRDB

/// A kind of database next to the runs: how it is told apart from any other and from one of a newer Volley, when it is
/// damaged, and in which words that is said.
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
    /// - Returns: false when the file is empty.
    /// - Throws: `Diagnostic`: a newer Volley wrote it, it is damaged, or it is something else; what `rows` throws.
    func check(_ db: Database, path: String, rows: (Database) throws -> Void = { _ in }) throws -> Bool {
        guard try checkHeader(db, path: path) else { return false }
        try checkWhole(db, path: path, rows: rows)
        return true
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

    /// - Returns: false when the file is empty.
    func checkHeader(_ db: Database, path: String) throws -> Bool {
        let identity = try db.pragma("application_id")
        if identity != applicationID {
            guard identity == 0, try db.isBlank() else { throw unclaimed(path) }
            return false
        }
        let found = try db.pragma("user_version")
        guard found <= version else {
            throw Diagnostic(
                "\(name) was written by a newer Volley (format \(found); this one reads \(version))", file: path,
                remedy: "Use the newer Volley.")
        }
        guard found > 0 else { throw damaged(path, what: "its format is not a number that Volley gives") }
        return true
    }

    /// Looks at the header of a file that is about to be opened for writing, which may change it at once (WAL mode,
    /// pages): one that is refused stays as it is, to the byte. An empty file passes.
    /// - Throws: `Diagnostic`: a newer Volley wrote it, or it is something else.
    func checkUntouched(_ path: String, timeoutSeconds: Double) throws {
        try InterruptedChange.takingBack(path) {
            _ = try DatabaseFile.read(path, timeoutSeconds) { try checkHeader($0, path: path) }
        }
    }

    /// Opens a file, in WAL mode, for as long as a process works with it; others may read and write it at the same
    /// time.
    /// - Parameters:
    ///   - timeoutSeconds: how long a call waits for another process.
    ///   - prepare: makes the tables of an empty file, or converts older ones.
    func open(
        _ path: String, timeoutSeconds: Double, prepare: (_ db: Database, _ isEmpty: Bool) throws -> Void
    ) throws -> DatabasePool {
        try translating(path) {
            var configuration = Configuration()
            configuration.busyMode = .timeout(timeoutSeconds)
            configuration.maximumReaderCount = 1
            let pool = try DatabaseFile.inTurn(path) {
                try checkUntouched(path, timeoutSeconds: timeoutSeconds)
                return try DatabasePool(path: path, configuration: configuration)
            }
            try pool.writeWithoutTransaction { db in
                // With NORMAL, which GRDB chooses for WAL, the last commit could be lost in a power failure: a time
                // would fire twice, and an order that was taken would be taken again.
                try db.execute(sql: "PRAGMA synchronous = FULL")
                try db.inTransaction(.immediate) {
                    try prepare(db, !check(db, path: path))
                    return .commit
                }
            }
            return pool
        }
    }

    /// Reads a file as it is at one moment, whether or not processes work with it; nil when it is empty.
    func read<Value>(_ path: String, timeoutSeconds: Double, _ body: (Database) throws -> Value) throws -> Value? {
        try translating(path) {
            try InterruptedChange.takingBack(path) {
                try DatabaseFile.read(path, timeoutSeconds) { try check($0, path: path) ? try body($0) : nil }
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
    static func read<Value>(_ path: String, _ timeoutSeconds: Double, _ body: (Database) throws -> Value) throws -> Value {
        var configuration = Configuration()
        configuration.readonly = true
        configuration.busyMode = .timeout(timeoutSeconds)
        let database = try DatabaseQueue(path: path, configuration: configuration)
        let result = try database.read(body)
        try database.close()
        return result
    }
}
