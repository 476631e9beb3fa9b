public import Base
import GRDB

/// What services say of a run's pushes after they took them, and what they are asked with.
extension RunFile {
    private static let receiptTable = """
        CREATE TABLE IF NOT EXISTS receipt (     -- ids under which services know pushes of this run
            service INTEGER NOT NULL,            -- its place in run.settings
            id TEXT NOT NULL
        )
        """

    private static let statisticsTables = """
        CREATE TABLE IF NOT EXISTS statistics (  -- when each service answered last
            service INTEGER PRIMARY KEY,         -- its place in run.settings
            asked_at INTEGER NOT NULL
        );
        CREATE TABLE IF NOT EXISTS statistics_count (  -- what it said last of each thing that it was asked about
            service INTEGER NOT NULL,
            subject TEXT NOT NULL,               -- an id of table receipt, or the run's own
            name TEXT NOT NULL,                  -- the service's
            count INTEGER NOT NULL,
            said_at INTEGER NOT NULL,
            PRIMARY KEY (service, subject, name)
        );
        """

    /// Keeps receipts of a service's answers.
    func note(receipts: [String], ofService service: Int) throws {
        guard !receipts.isEmpty else { return }
        try write { db in
            try checkOwner(db)
            try note(receipts: receipts, ofService: service, db)
        }
    }

    func note(receipts: [String], ofService service: Int, _ db: Database) throws {
        try db.execute(sql: Self.receiptTable)
        for receipt in receipts { try db.execute(sql: "INSERT INTO receipt VALUES (?, ?)", arguments: [service, receipt]) }
    }

    /// The receipts of a service's answers, each once, in the order in which they came.
    public func receipts(ofService service: Int) throws -> [String] {
        try read { db in
            guard try db.tableExists("receipt") else { return [] }
            return try db.all("SELECT id FROM receipt WHERE service = ? GROUP BY id ORDER BY min(rowid)", [service]) { try $0.string(0) }
        }
    }

    /// What services said last of the run's pushes, by their numbers; nothing of services that were not asked.
    public func statistics() throws -> [ServiceStatistics] {
        try read { db in
            guard try db.tableExists("statistics") else { return [] }
            var statistics = try db.all("SELECT service, asked_at FROM statistics ORDER BY service") { row in
                let service = try row.int(0)
                guard (0..<plan.serviceCount).contains(service) else { throw unreadableStatistics }
                return ServiceStatistics(service: service, askedAt: try row.moment(1), counts: [:])
            }
            let counts = try db.all("SELECT service, name, sum(count), min(said_at) FROM statistics_count GROUP BY service, name") { row in
                (service: try row.int(0), name: try row.string(1), count: try row.count(2), saidAt: try row.moment(3))
            }
            for said in counts {
                guard let place = statistics.firstIndex(where: { $0.service == said.service }) else { throw unreadableStatistics }
                statistics[place].counts[said.name] = said.count
                if said.saidAt < statistics[place].askedAt { statistics[place].olderCounts[said.name] = said.saidAt }
            }
            return statistics
        }
    }

    private var unreadableStatistics: Diagnostic {
        RunDiagnostics.damaged(path, what: "what a service said of its pushes cannot be read")
    }

    /// Keeps what a service said of the run's pushes, in place of what it said before of the same; what it does not say any more stays as it was.
    /// - Parameter counts: by what it was asked about, and by the service's own names.
    public func record(statistics counts: [String: [String: Int]], ofService service: Int, at now: Timestamp) throws {
        try write { db in
            try db.execute(sql: Self.statisticsTables)
            try db.execute(sql: "INSERT OR REPLACE INTO statistics VALUES (?, ?)", arguments: [service, now.epochMilliseconds])
            for (subject, own) in counts.sorted(by: { $0.key < $1.key }) {
                for (name, count) in own.sorted(by: { $0.key < $1.key }) {
                    try db.execute(
                        sql: "INSERT OR REPLACE INTO statistics_count VALUES (?, ?, ?, ?, ?)",
                        arguments: [service, subject, name, count, now.epochMilliseconds])
                }
            }
        }
    }
}
