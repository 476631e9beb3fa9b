import Base
import GRDB

/// Recipients that have arrived, and wait for the order of their segments.
extension SegmentSorter {
    static let table = "arrived"

    static func prepare(_ db: Database) throws {
        try db.execute(
            sql: """
                PRAGMA temp.cache_size = -16000;
                CREATE TEMP TABLE \(table) (id INTEGER PRIMARY KEY, device_token TEXT NOT NULL, registration_id TEXT NOT NULL,
                    alias TEXT NOT NULL, language TEXT NOT NULL, variant TEXT NOT NULL, fields TEXT NOT NULL)
                """)
    }

    /// Calls `body` with all recipients except the dropped ones, segment by segment, within each by
    /// bucket, and within each bucket in the order of slots, then forgets them.
    /// - Returns: the segments, if there are several services; otherwise none.
    func drain(dropping dropped: BitSet, _ db: Database, _ body: (_ id: Int, RecipientsDigest.Row) throws -> Void)
        throws -> [RunSegment]
    {
        let select = try PreparedStatement(
            db,
            sql:
                "SELECT id, device_token, registration_id, alias, language, variant, fields FROM temp.\(Self.table) WHERE id = ?"
        )
        var segments: [RunSegment] = []
        var next = 0
        for (slots, service) in self.segments() {
            let first = next
            for slot in slots where !dropped.contains(Int(slot)) {
                try select.bind(Int(slot), at: 1)
                try select.forEachRow { row in
                    try body(next, row.digested)
                    return false
                }
                next += 1
            }
            if services > 1, next > first { segments.append(RunSegment(ids: first..<next, service: service)) }
        }
        try db.execute(sql: "DROP TABLE temp.\(Self.table)")
        return segments
    }
}
