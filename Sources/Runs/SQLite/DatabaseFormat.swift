import Base
import GRDB

/// Distinguishes a database of Volley from any other, and from one of a newer Volley.
enum DatabaseFormat {
    /// Looks at the two numbers in a database's header.
    /// - Parameters:
    ///   - applicationID: the id of such a file (`PRAGMA application_id`).
    ///   - version: the newest version that this program reads (`PRAGMA user_version`).
    ///   - name: what the file is, as an error begins: "the record of what was sent".
    ///   - stranger: what to throw for a file that is something else.
    /// - Returns: false when the file is empty.
    /// - Throws: `Diagnostic`: a newer Volley wrote it; or `stranger`.
    static func check(
        _ db: Database, applicationID: Int, version: Int, name: String, path: String, stranger: @autoclosure () -> Diagnostic
    ) throws -> Bool {
        let identity = try Int.fetchOne(db, sql: "PRAGMA application_id")
        if identity != applicationID {
            guard identity == 0, try Int.fetchOne(db, sql: "SELECT count(*) FROM sqlite_master") == 0 else { throw stranger() }
            return false
        }
        let found = try Int.fetchOne(db, sql: "PRAGMA user_version") ?? 0
        guard found <= version else {
            throw Diagnostic(
                "\(name) was written by a newer Volley (format \(found); this one reads \(version))", file: path,
                remedy: "Use the newer Volley.")
        }
        return true
    }
}
