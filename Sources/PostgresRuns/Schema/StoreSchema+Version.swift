import Base
import Postgres

extension StoreSchema {
    private static let seconds = 30.0

    /// The version of a store's tables; 0 where they do not exist.
    static func version(of connection: PostgresConnection) throws -> Int {
        var isThere = false
        try connection.run("SELECT to_regclass('volley_store') IS NOT NULL", within: seconds) { isThere = $0.int(0) == 1 }
        guard isThere else { return 0 }
        var version = 0
        try connection.run("SELECT version FROM volley_store", within: seconds) { version = $0.int(0) }
        return version
    }

    /// - Throws: a `Diagnostic` unless the tables are there, of this version; `PostgresError`.
    static func check(_ connection: PostgresConnection) throws {
        let found = try version(of: connection)
        guard found != version else { return }
        if found > version { throw isNewer(found) }
        throw Diagnostic(
            found == 0
                ? "the store has no tables yet" : "the store's tables are of version \(found), and this Volley needs version \(version)",
            remedy: "Run `volley store migrate` once, on one machine.")
    }

    /// Tables that a newer Volley made or upgraded.
    static func isNewer(_ found: Int) -> Diagnostic {
        Diagnostic(
            "this Volley is too old for the store: its tables are of version \(found), and this Volley knows version \(version)",
            remedy: "Use the version of Volley that migrated them on every machine.")
    }
}
