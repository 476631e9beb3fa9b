import Base
import GRDB

/// A kind of database of Volley, told apart from any other, and from one of a newer Volley, by two numbers in its header.
struct DatabaseFormat {
    /// The id of such a file (`PRAGMA application_id`).
    let applicationID: Int
    /// The newest version that this program reads (`PRAGMA user_version`).
    let version: Int
    /// What the file is, as an error begins: "the record of what was sent".
    let name: String

    /// Looks at a database's header.
    /// - Parameter stranger: what to throw for a file that is something else.
    /// - Returns: false when the file is empty.
    /// - Throws: `Diagnostic`: a newer Volley wrote it; or `stranger`.
    func check(_ db: Database, path: String, stranger: @autoclosure () -> Diagnostic) throws -> Bool {
        let identity = try db.pragma("application_id")
        if identity != applicationID {
            guard identity == 0, try db.isBlank() else { throw stranger() }
            return false
        }
        let found = try db.pragma("user_version")
        guard found <= version else {
            throw Diagnostic(
                "\(name) was written by a newer Volley (format \(found); this one reads \(version))", file: path,
                remedy: "Use the newer Volley.")
        }
        return true
    }

    /// The same of a file that is about to be opened for writing, which may change it at once (WAL mode, pages): one that is refused stays as it is, to the
    /// byte. An empty file passes.
    /// - Throws: `Diagnostic`: a newer Volley wrote it; or `stranger`.
    func checkUntouched(_ path: String, patienceSeconds: Double, stranger: @autoclosure () -> Diagnostic) throws {
        var configuration = Configuration()
        configuration.readonly = true
        configuration.busyMode = .timeout(patienceSeconds)
        try InterruptedChange.takingBack(path) {
            let database = try DatabaseQueue(path: path, configuration: configuration)
            _ = try database.read { try check($0, path: path, stranger: stranger()) }
            try database.close()
        }
    }
}
