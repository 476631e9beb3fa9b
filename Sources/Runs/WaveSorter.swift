public import Base
import GRDB

/// Brings recipients, which a scan finds in the order of the export, into the order of their waves. Until all are there they lie in a temporary
/// table, which SQLite keeps outside the run file and without a name; a byte for each remains in memory.
public struct WaveSorter {
    /// Waves there may be.
    public static let mostWaves = 256

    private let waves: Int
    private let wave: (RecipientRecord) -> Int
    /// By slot.
    private var numbers: [UInt8] = []

    static let table = "arrived"

    /// - Parameters:
    ///   - waves: how many there are, at most `mostWaves`.
    ///   - wave: the place in sending order of a recipient's wave, 0 ..< waves.
    public init(waves: Int, wave: @escaping (RecipientRecord) -> Int) {
        precondition((1...Self.mostWaves).contains(waves), "a byte is kept for each recipient")
        (self.waves, self.wave) = (waves, wave)
    }

    static func prepare(_ db: Database) throws {
        try db.execute(
            sql: """
                PRAGMA temp.cache_size = -16000;
                CREATE TEMP TABLE \(table) (id INTEGER PRIMARY KEY, device_token TEXT NOT NULL, registration_id TEXT NOT NULL,
                    alias TEXT NOT NULL, language TEXT NOT NULL, variant TEXT NOT NULL, fields TEXT NOT NULL)
                """)
    }

    /// A recipient is stored at its slot, which is the next one or one that was stored before.
    @inline(__always) mutating func note(_ recipient: RecipientRecord, at slot: Int) {
        let number = UInt8(wave(recipient))
        if slot == numbers.count { numbers.append(number) } else { numbers[slot] = number }
    }

    /// Calls `body` with all but the dropped, wave after wave, in each in the order of slots, and forgets them.
    func drain(dropping dropped: BitSet, _ db: Database, _ body: (_ id: Int, RecipientsDigest.Row) throws -> Void) throws {
        let select = try PreparedStatement(
            db, "SELECT id, device_token, registration_id, alias, language, variant, fields FROM temp.\(Self.table) WHERE id = ?")
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
