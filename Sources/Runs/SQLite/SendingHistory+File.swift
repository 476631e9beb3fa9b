import Base
import GRDB
import Glibc

/// The file: created, opened, checked, and changed in one transaction.
extension SendingHistory {
    /// "Vlog"
    private static let applicationID = 0x566C_6F67
    static let version = 1
    static let format = DatabaseFormat(
        applicationID: applicationID, version: version, name: "the record of what was sent",
        remedy: "Restore it from a backup. Nothing is sent without it.",
        strangerRemedy: "Restore it from a backup. Without it Volley does not know which plans were sent already.")

    /// nil when there is no file.
    func read<Value>(_ body: (Database) throws -> Value) throws -> Value? {
        guard try isThere() else { return nil }
        return try Self.format.translating(path) {
            try Self.format.checkNotEmptied(path)
            return try InterruptedChange.takingBack(path) {
                try DatabaseFile.read(path, 10) { db in
                    try check(db)
                    return try body(db)
                }
            }
        }
    }

    /// One transaction, isolated from those of others.
    /// - Parameters:
    ///   - timeoutSeconds: how long to wait for others.
    ///   - isDecision: whether something is decided by what is on record; the whole file is checked
    ///     then.
    func write<Value>(timeoutSeconds: Double = 30, isDecision: Bool = true, _ body: (Database) throws -> Value) throws
        -> Value
    {
        if try !isThere() {
            try Self.format.make(path, doing: "cannot write the record of what was sent", .sending, create)
        }
        return try Self.format.translating(path) {
            try Self.format.checkUntouched(path, timeoutSeconds: timeoutSeconds)
            var configuration = Configuration()
            configuration.busyMode = DatabaseWait.mode(path, atMost: timeoutSeconds)
            let database = try DatabaseQueue(path: path, configuration: configuration)
            var result: Value?
            try database.writeWithoutTransaction { db in
                try db.execute(sql: "PRAGMA journal_mode = DELETE")
                // With less, the last change could be lost in a power failure, and a run begin
                // twice.
                try db.execute(sql: "PRAGMA synchronous = EXTRA")
                try db.inTransaction(.immediate) {
                    try isDecision ? check(db) : Self.format.checkHeader(db, path: path)
                    result = try body(db)
                    return .commit
                }
            }
            try database.close()
            guard let result else { preconditionFailure("a transaction has no result") }
            return result
        }
    }

    func isThere() throws -> Bool {
        switch DatabaseFile.kind(path) {
        case .file, .other:
            try DatabaseFile.checkKind(ofDatabase: path, wanted: "a record of what was sent")
            return true
        case .missing: return false
        case .deadLink(let mistake): throw mistake
        case .folder: throw Self.format.unclaimed(path)
        case .forbidden:
            throw RunDiagnostics.system(
                "cannot read the record of what was sent", path: path, errno: EACCES, activity: .sending)
        }
    }

    private func create(_ db: Database) throws {
        try db.execute(
            sql: """
                CREATE TABLE beginning (
                    run TEXT NOT NULL PRIMARY KEY, retry_of TEXT NOT NULL,  -- blank for one of its own
                    life TEXT NOT NULL,                                     -- the same in the run file, in its table `life`
                    former_life TEXT,                                       -- NULL once the run file has `life`
                    reached INTEGER NOT NULL,                               -- recipients, or perhaps, when the last life ended
                    claimed INTEGER NOT NULL,                               -- claims; in RUN.sqlite.claimed while it is sent
                    is_over INTEGER NOT NULL,                               -- 1 once the last life has ended
                    campaign TEXT NOT NULL, occurrence TEXT NOT NULL,       -- the time of the schedule; blank without one
                    file TEXT NOT NULL, real_file TEXT NOT NULL,            -- the campaign's: by name, and with links resolved
                    begun_at INTEGER NOT NULL                               -- epoch milliseconds
                ) WITHOUT ROWID;
                PRAGMA application_id = \(Self.applicationID);
                PRAGMA user_version = \(Self.version);
                """)
    }

    private func check(_ db: Database) throws {
        try Self.format.check(db, path: path) { db in
            // Every row is read: one that cannot be read may be the one that keeps a run from being
            // sent a second time.
            _ = try entries(of: nil, db)
            _ = try EpochSequence(db)
            try Scope.check(db)
        }
    }

    func damaged(_ what: String) -> Diagnostic { Self.format.damaged(path, what: what) }
}

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
        let recorded = try db.first("SELECT \(Self.columns) FROM \(Self.table) WHERE run = ?", [run]) {
            try Self($0, from: 0)
        }
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

/// The order as the record of what was sent keeps it.
extension EpochSequence {
    private static let table = "life_event"

    init(_ db: Database) throws {
        guard try db.has(table: Self.table) else {
            self.init([])
            return
        }
        self.init(
            try db.all("SELECT number, run, life, is_end, at FROM \(Self.table) ORDER BY number") { row in
                Event(
                    number: try row.count(0), run: try row.run(1), epoch: try row.epoch(2), isEnd: try row.flag(3),
                    at: try row.moment(4))
            })
    }

    /// Records in the record's transaction that an epoch begins or has ended.
    static func note(_ db: Database, run: String, epoch: String, isEnd: Bool, at now: Timestamp) throws {
        try db.execute(
            sql: """
                CREATE TABLE IF NOT EXISTS \(table) (  -- lives of runs, in the order in which they began and ended
                    number INTEGER NOT NULL PRIMARY KEY, run TEXT NOT NULL, life TEXT NOT NULL, is_end INTEGER NOT NULL,
                    at INTEGER NOT NULL  -- epoch milliseconds
                )
                """)
        try db.execute(
            sql: "INSERT INTO \(table) (run, life, is_end, at) VALUES (?, ?, ?, ?)",
            arguments: [run, epoch, isEnd, now.epochMilliseconds])
    }
}

extension SendingHistory {
    /// The order in which runs of the folder began and ended.
    public func order() throws -> EpochSequence {
        try read { try EpochSequence($0) } ?? EpochSequence()
    }
}
