import Base
import GRDB

extension RunSchema {
    /// In plans that have sending times. Files without these tables have none.
    static let waveTables = """
        CREATE TABLE wave (                      -- who goes out when, in sending order
            first_id INTEGER PRIMARY KEY,
            count INTEGER NOT NULL,
            zone TEXT NOT NULL,                  -- whose clock counts for them; others that agree with it are in the wave too
            due_at INTEGER NOT NULL
        );
        CREATE TABLE skipped_wave (              -- those to whom it became too late: they stay unsent
            first_id INTEGER PRIMARY KEY,
            skipped_at INTEGER NOT NULL
        );
        """

    static func insert(_ waves: [RunWave], into db: Database) throws {
        guard !waves.isEmpty else { return }
        try db.execute(sql: waveTables)
        for wave in waves {
            try db.execute(
                sql: "INSERT INTO wave VALUES (?, ?, ?, ?)",
                arguments: [wave.ids.lowerBound, wave.ids.count, wave.zone, wave.due.epochMilliseconds])
        }
    }

    /// nil when `insert` did not write them: they must cover all recipients from first to last without a gap.
    static func waves(from db: Database, audience: Int) throws -> [RunWave]? {
        guard try db.tableExists("wave") else { return [] }
        var waves: [RunWave] = []
        let rows = try db.all("SELECT first_id, count, zone, due_at FROM wave ORDER BY first_id") { row in
            (try row.int(0), try row.count(1), try row.string(2), try row.moment(3))
        }
        for (first, count, zone, due) in rows {
            guard first == waves.last?.ids.upperBound ?? 0, count > 0, count <= audience - first
            else { return nil }
            waves.append(RunWave(ids: first..<first + count, zone: zone, due: due))
        }
        return waves.last?.ids.upperBound == audience ? waves : nil
    }

    /// Their text in the plan's digest; blank without any.
    static func waveText(of db: Database) throws -> String {
        guard try db.tableExists("wave") else { return "" }
        let sql = "SELECT first_id || ',' || count || ',' || quote(zone) || ',' || due_at FROM wave ORDER BY first_id"
        return "\nwaves\n" + (try db.all(sql) { try $0.string(0) }).joined(separator: "\n")
    }
}
