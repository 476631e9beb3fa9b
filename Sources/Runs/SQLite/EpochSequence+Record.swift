import Base
import GRDB

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
