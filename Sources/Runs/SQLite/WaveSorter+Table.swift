import Base
import GRDB

/// Recipients that have arrived, and wait for the order of their waves.
extension WaveSorter {
    static let table = "arrived"

    static func prepare(_ db: Database) throws {
        try db.execute(
            sql: """
                PRAGMA temp.cache_size = -16000;
                CREATE TEMP TABLE \(table) (id INTEGER PRIMARY KEY, device_token TEXT NOT NULL, registration_id TEXT NOT NULL,
                    alias TEXT NOT NULL, language TEXT NOT NULL, variant TEXT NOT NULL, fields TEXT NOT NULL)
                """)
    }

    /// Calls `body` with all recipients except the dropped ones, wave by wave and within each in the order of slots, then forgets them.
    func drain(dropping dropped: BitSet, _ db: Database, _ body: (_ id: Int, RecipientsDigest.Row) throws -> Void) throws {
        let select = try PreparedStatement(
            db, sql: "SELECT id, device_token, registration_id, alias, language, variant, fields FROM temp.\(Self.table) WHERE id = ?")
        var next = 0
        for wave in 0..<waves {
            for slot in numbers.indices where numbers[slot] == UInt8(wave) && !dropped.contains(slot) {
                try select.bind(slot, at: 1)
                try select.forEachRow { row in
                    try body(next, row.digested)
                    return false
                }
                next += 1
            }
        }
        try db.execute(sql: "DROP TABLE temp.\(Self.table)")
    }
}
