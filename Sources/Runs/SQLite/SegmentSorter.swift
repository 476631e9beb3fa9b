public import Base
import GRDB

/// Brings recipients, which a scan finds in the order of the export, into the order of their
/// segments: by wave, within each wave by service, and within each service by bucket, if there are
/// any. Until all are there, they are in a temporary table, which SQLite keeps outside the run file
/// and without a name; a byte for each remains in memory, or two when there are more than 256
/// places, and four more while they are brought into order.
public struct SegmentSorter {
    /// The most waves.
    public static let mostWaves = 256
    /// The most services.
    public static let mostServices = 256
    /// The most places: what two bytes tell apart.
    public static let mostPlaces = 65536

    let services: Int
    private let buckets: Int
    private let wave: ((RecipientRecord) -> Int)?
    private let bucket: ((RecipientRecord) -> Int)?
    /// By slot: the place in sending order of its wave, service and bucket. One of the two is used.
    private var bytes: [UInt8] = []
    private var words: [UInt16] = []
    private let isWide: Bool
    /// How many places there are.
    let places: Int

    /// - Parameters:
    ///   - waves: how many there are, at most `mostWaves`.
    ///   - services: how many take the pushes, at most `mostServices`; each recipient comes with
    ///     the number of its own (`RecipientRecord.service`).
    ///   - buckets: how many there are in each segment; with the others at most `mostPlaces`.
    ///   - wave: the place in sending order of a recipient's wave, 0 ..< waves; nil when all go out
    ///     together.
    ///   - bucket: the place of a recipient in its segment, 0 ..< buckets; nil when recipients of a
    ///     segment stay in the order of the export.
    public init(
        waves: Int = 1, services: Int = 1, buckets: Int = 1, wave: ((RecipientRecord) -> Int)? = nil,
        bucket: ((RecipientRecord) -> Int)? = nil
    ) {
        precondition(
            (1...Self.mostWaves).contains(waves) && (1...Self.mostServices).contains(services),
            "two bytes hold their product")
        places = waves * services * buckets
        precondition(buckets >= 1 && places <= Self.mostPlaces, "two bytes hold a place")
        isWide = places > 256
        self.services = services
        self.buckets = buckets
        self.wave = wave
        self.bucket = bucket
    }

    /// How many slots have a recipient.
    var count: Int { isWide ? words.count : bytes.count }

    /// The place of the recipient in a slot.
    @inline(__always) func place(of slot: Int) -> Int { isWide ? Int(words[slot]) : Int(bytes[slot]) }

    /// The slots in sending order, one segment after the other, and the service of each segment.
    /// Segments without a slot are left out.
    func segments() -> [(slots: ArraySlice<UInt32>, service: Int)] {
        var starts = [Int](repeating: 0, count: places + 1)
        for slot in 0..<count { starts[place(of: slot) + 1] += 1 }
        for place in 0..<places { starts[place + 1] += starts[place] }
        var next = starts
        var order = [UInt32](repeating: 0, count: count)
        for slot in 0..<count {
            let place = place(of: slot)
            order[next[place]] = UInt32(slot)
            next[place] += 1
        }
        return stride(from: 0, to: places, by: buckets).compactMap { place in
            let slots = starts[place]..<starts[place + buckets]
            return slots.isEmpty ? nil : (order[slots], place / buckets % services)
        }
    }

    /// A recipient is stored at its slot, which is the next one or one that was stored before.
    @inline(__always) mutating func note(_ recipient: RecipientRecord, at slot: Int) {
        let service = Int(recipient.service)
        precondition(service < services, "a service that the run does not have")
        let place = ((wave?(recipient) ?? 0) * services + service) * buckets + (bucket?(recipient) ?? 0)
        if isWide {
            if slot == words.count { words.append(UInt16(place)) } else { words[slot] = UInt16(place) }
        } else {
            if slot == bytes.count { bytes.append(UInt8(place)) } else { bytes[slot] = UInt8(place) }
        }
    }
}

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
