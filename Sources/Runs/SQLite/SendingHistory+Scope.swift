import GRDB

extension SendingHistory {
    /// The target of a run: tells whether it counts for another run when its own file is gone.
    public struct Scope: Hashable, Sendable {
        /// The app, and the names of its services' lists (`RunSettings.listName`).
        public var app: String, environment: String
        /// Whether it goes to test devices only.
        public var isTest: Bool

        /// A scope.
        public init(app: String, environment: String, isTest: Bool) {
            self.app = app
            self.environment = environment
            self.isTest = isTest
        }
    }
}

/// In a separate table: records of older versions have none.
extension SendingHistory.Scope {
    private static let table = "scope"

    /// nil where none was recorded.
    init?(_ db: Database, run: String) throws {
        guard try db.has(table: Self.table) else { return nil }
        let recorded = try db.first("SELECT \(Self.columns) FROM \(Self.table) WHERE run = ?", [run]) { try Self($0, from: 0) }
        guard let recorded else { return nil }
        self = recorded
    }

    /// Reads all, also those of runs that are not on record.
    static func check(_ db: Database) throws {
        guard try db.has(table: table) else { return }
        _ = try db.all("SELECT run, \(columns) FROM \(table)") { row in (try row.run(0), try Self(row, from: 1)) }
    }

    private static let columns = "app, environment, is_test"

    private init(_ row: PreparedStatement.Row, from column: CInt) throws {
        self.init(app: try row.string(column), environment: try row.lists(column + 1), isTest: try row.flag(column + 2))
    }

    /// Records it in the record's transaction.
    func note(_ db: Database, run: String) throws {
        try db.execute(
            sql: """
                CREATE TABLE IF NOT EXISTS \(Self.table) (  -- whom runs go to that were begun, for when their files are gone
                    run TEXT NOT NULL PRIMARY KEY, app TEXT NOT NULL, environment TEXT NOT NULL, is_test INTEGER NOT NULL
                ) WITHOUT ROWID
                """)
        try db.execute(
            sql: "INSERT OR REPLACE INTO \(Self.table) VALUES (?, ?, ?, ?)", arguments: [run, app, environment, isTest])
    }
}
