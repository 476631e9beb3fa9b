import Base
import GRDB

/// What services say of a run's pushes after they took them, and what they are asked with.
extension SQLiteRun {
    private static let receiptTable = """
        CREATE TABLE IF NOT EXISTS receipt (     -- ids under which services know pushes of this run
            service INTEGER NOT NULL,            -- its place in run.settings
            id TEXT NOT NULL
        )
        """

    private static let statisticsTable = """
        CREATE TABLE IF NOT EXISTS statistics (  -- the last answer of each service
            service INTEGER PRIMARY KEY,         -- its place in run.settings
            asked_at INTEGER NOT NULL,
            counts TEXT NOT NULL                 -- JSON object: the service's names and numbers
        )
        """

    /// Keeps receipts of a service's answers.
    public func note(receipts: [String], ofService service: Int) throws {
        guard !receipts.isEmpty else { return }
        try write { db in
            try checkOwner(db)
            try db.execute(sql: Self.receiptTable)
            for receipt in receipts {
                try db.execute(sql: "INSERT INTO receipt VALUES (?, ?)", arguments: [service, receipt])
            }
        }
    }

    /// The receipts of a service's answers, each once, in the order in which they came.
    public func receipts(ofService service: Int) throws -> [String] {
        try read { db in
            guard try db.tableExists("receipt") else { return [] }
            return try String.fetchAll(
                db, sql: "SELECT coalesce(id, '') FROM receipt WHERE service = ? GROUP BY id ORDER BY min(rowid)", arguments: [service])
        }
    }

    /// What services said last, by their numbers.
    public func statistics() throws -> [ServiceStatistics] {
        try read { db in
            guard try db.tableExists("statistics") else { return [] }
            return try Row.fetchAll(db, sql: "SELECT service, asked_at, counts FROM statistics ORDER BY service").map { row in
                guard let service = row[0] as Int?, let askedAt = row[1] as Int64?, let text = row[2] as String?,
                    (0..<plan.serviceCount).contains(service), case .object(let members)? = try? JSONValue(parsing: text)
                else { throw RunDiagnostics.damaged(path, what: "what a service said of its pushes cannot be read") }
                let counts = members.compactMap { member in member.value.integerValue.map { (member.name, Int($0)) } }
                return ServiceStatistics(
                    service: service, askedAt: Timestamp(epochMilliseconds: askedAt),
                    counts: Dictionary(counts) { first, _ in first })
            }
        }
    }

    /// Keeps what a service said, in place of what it said before.
    public func record(_ statistics: ServiceStatistics) throws {
        try write { db in
            try db.execute(sql: Self.statisticsTable)
            let counts = JSONValue.object(pairs: statistics.counts.sorted { $0.key < $1.key }.map { ($0.key, .integer(Int64($0.value))) })
            try db.execute(
                sql: "INSERT OR REPLACE INTO statistics VALUES (?, ?, ?)",
                arguments: [statistics.service, statistics.askedAt.epochMilliseconds, counts.text])
        }
    }
}
