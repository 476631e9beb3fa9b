import Base
import GRDB

extension RunSchema {
    /// In plans of several services, whose files have the number `versionWithSegments`.
    static let segmentTable = """
        CREATE TABLE leg (                       -- whose pushes which service takes, in sending order
            first_id INTEGER PRIMARY KEY,
            count INTEGER NOT NULL,
            service INTEGER NOT NULL             -- its place in run.settings: 0 is the service there, 1 the first of its "services"
        )
        """

    /// Made with `leg`; otherwise when something happens to a segment.
    static let segmentStateTable = """
        CREATE TABLE IF NOT EXISTS leg_state (   -- what holds legs, or stopped them, while others go on
            first_id INTEGER PRIMARY KEY,
            held_until INTEGER,                  -- its service takes no pushes before then
            cause TEXT NOT NULL                  -- why it stopped: JSON, blank when it did not
        )
        """

    /// - Parameter segments: of several services.
    static func insert(_ segments: [RunSegment], into db: Database) throws {
        try db.execute(sql: segmentTable)
        try db.execute(sql: segmentStateTable)
        for segment in segments {
            try db.execute(
                sql: "INSERT INTO leg VALUES (?, ?, ?)", arguments: [segment.ids.lowerBound, segment.ids.count, segment.service])
        }
    }

    /// Whether the file is one of several services.
    static func hasSegments(_ db: Database) throws -> Bool { try db.pragma("user_version") == versionWithSegments }

    /// None where one service takes all; nil when `insert` did not write them: they must cover all recipients from
    /// first to last without a gap.
    static func segments(from db: Database, audience: Int) throws -> [RunSegment]? {
        // The table without the number, or the number without the table, is no file of Volley's.
        guard try hasSegments(db) == db.tableExists("leg") else { return nil }
        guard try hasSegments(db) else { return [] }
        var segments: [RunSegment] = []
        let rows = try db.all("SELECT first_id, count, service FROM leg ORDER BY first_id") {
            (try $0.int(0), try $0.count(1), try $0.int(2))
        }
        for (first, count, service) in rows {
            guard first == segments.last?.ids.upperBound ?? 0, count > 0, count <= audience - first,
                (0..<SegmentSorter.mostServices).contains(service)
            else { return nil }
            segments.append(RunSegment(ids: first..<first + count, service: service))
        }
        return segments.last?.ids.upperBound ?? 0 == audience ? segments : nil
    }

    /// Their text in the plan's digest; blank where one service takes all.
    static func segmentText(of db: Database) throws -> String {
        guard try db.tableExists("leg") else { return "" }
        let sql = "SELECT first_id || ',' || count || ',' || service FROM leg ORDER BY first_id"
        return "\nlegs\n" + (try db.all(sql) { try $0.string(0) }).joined(separator: "\n")
    }
}
