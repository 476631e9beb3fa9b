import Base
import GRDB

/// The order as the record of what was sent keeps it.
extension LifeSequence {
    private static let table = "life_event"

    /// nil when a value cannot be read.
    init?(_ db: Database) throws {
        guard try db.tableExists(Self.table) else {
            self.init([])
            return
        }
        var events: [Event] = []
        for row in try Row.fetchAll(db, sql: "SELECT number, run, life, is_end, at FROM \(Self.table) ORDER BY number") {
            guard let number = Int.fromDatabaseValue(row[0]), let run = String.fromDatabaseValue(row[1]),
                let life = String.fromDatabaseValue(row[2]), let isEnd = Bool.fromDatabaseValue(row[3]),
                let at = Int64.fromDatabaseValue(row[4])
            else { return nil }
            events.append(Event(number: number, run: run, life: life, isEnd: isEnd, at: Timestamp(epochMilliseconds: at)))
        }
        self.init(events)
    }

    /// Records in the record's transaction that a life begins or has ended.
    static func note(_ db: Database, run: String, life: String, isEnd: Bool, at now: Timestamp) throws {
        try db.execute(
            sql: """
                CREATE TABLE IF NOT EXISTS \(table) (  -- lives of runs, in the order in which they began and ended
                    number INTEGER NOT NULL PRIMARY KEY, run TEXT NOT NULL, life TEXT NOT NULL, is_end INTEGER NOT NULL,
                    at INTEGER NOT NULL  -- epoch milliseconds
                )
                """)
        try db.execute(
            sql: "INSERT INTO \(table) (run, life, is_end, at) VALUES (?, ?, ?, ?)", arguments: [run, life, isEnd, now.epochMilliseconds])
    }
}

extension SendingHistory {
    /// The order in which runs of the folder began and ended.
    public func order() throws -> LifeSequence {
        try read { db in
            guard let order = try LifeSequence(db) else { throw damaged("the order in which runs began cannot be read") }
            return order
        } ?? LifeSequence()
    }
}
