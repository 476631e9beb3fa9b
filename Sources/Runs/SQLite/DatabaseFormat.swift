import Base
import GRDB
import Glibc
import Synchronization

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
        guard try WholeFile.check(db, path: path, rows) else { throw damaged(path, what: WholeFile.damage) }
        return true
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
        var configuration = Configuration()
        configuration.readonly = true
        configuration.busyMode = .timeout(timeoutSeconds)
        try InterruptedChange.takingBack(path) {
            let database = try DatabaseQueue(path: path, configuration: configuration)
            _ = try database.read { try checkHeader($0, path: path) }
            try database.close()
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
            switch error.resultCode {
            case .SQLITE_NOTADB: throw unclaimed(path)
            case .SQLITE_MISMATCH: throw damaged(path, what: error.ofValue)
            case .SQLITE_CORRUPT: throw damaged(path, what: "its pages do not fit together")
            case .SQLITE_ERROR: throw damaged(path, what: "a table or a column is missing")
            default:
                var diagnostic = RunDiagnostics.diagnostic(for: error, path: path, activity: .sending)
                diagnostic.message = diagnostic.message.replacing("the run file", with: name)
                throw diagnostic
            }
        }
    }
}

/// SQLite's check of a whole file: its pages, and whether rows and indexes fit together. Nothing else notices a flipped
/// bit in a key: a search does not find the row then, nor many others, and that looks as if they had never been there.
enum WholeFile {
    /// What is wrong with a file that is not whole. What SQLite finds may name values.
    static let damage = "its pages or rows do not fit together"

    /// Files that were whole, by what they were then.
    private static let known = Mutex<[String: [FileStamp?]]>([:])

    /// Checks a file, about a second for two million rows, unless this process found it whole before and it has not
    /// changed since.
    /// - Parameter rows: checks what SQLite cannot; called when the file is whole.
    /// - Returns: whether it is whole.
    static func check(_ db: Database, path: String, _ rows: (Database) throws -> Void = { _ in }) throws -> Bool {
        let stamp = ["", "-wal"].map { FileStamp(path: path + $0) }
        if known.withLock({ $0[path] == stamp }) { return true }
        // Not `quick_check`: it compares neither indexes with their tables nor the order of keys in tables without
        // rowids.
        guard try db.first("PRAGMA integrity_check(1)", reading: { try $0.string(0) }) == "ok" else { return false }
        try rows(db)
        // Two changes within a tick of a file system's clock, up to two seconds, leave the same stamp.
        let latest = stamp.compactMap { $0?.changed.seconds }.max() ?? .max
        if latest < time(nil) - 2 { known.withLock { $0[path] = stamp } }
        return true
    }
}
