import Base
import GRDB

extension RunSchema {
    /// In plans of several services, whose files have the number `versionWithLegs`.
    static let legTable = """
        CREATE TABLE leg (                       -- whose pushes which service takes, in sending order
            first_id INTEGER PRIMARY KEY,
            count INTEGER NOT NULL,
            service INTEGER NOT NULL             -- its place in run.settings: 0 is the service there, 1 the first of its "services"
        )
        """

    /// Made with `leg`; otherwise when something happens to a leg.
    static let legStateTable = """
        CREATE TABLE IF NOT EXISTS leg_state (   -- what holds legs, or stopped them, while others go on
            first_id INTEGER PRIMARY KEY,
            held_until INTEGER,                  -- its service takes no pushes before then
            cause TEXT NOT NULL                  -- why it stopped: JSON, blank when it did not
        )
        """

    /// - Parameter legs: of several services.
    static func insert(_ legs: [RunLeg], into db: Database) throws {
        try db.execute(sql: legTable)
        try db.execute(sql: legStateTable)
        for leg in legs {
            try db.execute(
                sql: "INSERT INTO leg VALUES (?, ?, ?)", arguments: [leg.ids.lowerBound, leg.ids.count, leg.service])
        }
    }

    /// Whether the file is one of several services.
    static func hasLegs(_ db: Database) throws -> Bool { try db.pragma("user_version") == versionWithLegs }

    /// None where one service takes all; nil when `insert` did not write them: they must cover all recipients from first to last without a gap.
    static func legs(from db: Database, audience: Int) throws -> [RunLeg]? {
        // The table without the number, or the number without the table, is no file of Volley's.
        guard try hasLegs(db) == db.tableExists("leg") else { return nil }
        guard try hasLegs(db) else { return [] }
        var legs: [RunLeg] = []
        let rows = try db.all("SELECT first_id, count, service FROM leg ORDER BY first_id") {
            (try $0.int(0), try $0.count(1), try $0.int(2))
        }
        for (first, count, service) in rows {
            guard first == legs.last?.ids.upperBound ?? 0, count > 0, count <= audience - first,
                (0..<LegSorter.mostServices).contains(service)
            else { return nil }
            legs.append(RunLeg(ids: first..<first + count, service: service))
        }
        return legs.last?.ids.upperBound ?? 0 == audience ? legs : nil
    }

    /// Their text in the plan's digest; blank where one service takes all.
    static func legText(of db: Database) throws -> String {
        guard try db.tableExists("leg") else { return "" }
        let sql = "SELECT first_id || ',' || count || ',' || service FROM leg ORDER BY first_id"
        return "\nlegs\n" + (try db.all(sql) { try $0.string(0) }).joined(separator: "\n")
    }
}
