public import Base

/// Brings recipients, which a scan finds in the order of the export, into the order of their legs: by wave, and within each wave by service. Until all
/// are there, they are in a temporary table, which SQLite keeps outside the run file and without a name; a byte for each remains in memory, or two when
/// there are more than 256 combinations.
public struct LegSorter {
    /// The most waves.
    public static let mostWaves = 256
    /// The most services.
    public static let mostServices = 256

    let services: Int
    private let wave: ((RecipientRecord) -> Int)?
    /// By slot: the place in sending order of its wave and service. One of the two is used.
    private var bytes: [UInt8] = []
    private var words: [UInt16] = []
    private let isWide: Bool
    /// How many places there are.
    let places: Int

    /// - Parameters:
    ///   - waves: how many there are, at most `mostWaves`.
    ///   - services: how many take the pushes, at most `mostServices`; each recipient comes with the number of its own (`RecipientRecord.service`).
    ///   - wave: the place in sending order of a recipient's wave, 0 ..< waves; nil when all go out together.
    public init(waves: Int = 1, services: Int = 1, wave: ((RecipientRecord) -> Int)? = nil) {
        precondition((1...Self.mostWaves).contains(waves) && (1...Self.mostServices).contains(services), "two bytes hold their product")
        places = waves * services
        isWide = places > 256
        self.services = services
        self.wave = wave
    }

    /// How many slots have a recipient.
    var count: Int { isWide ? words.count : bytes.count }

    /// The place of the recipient in a slot.
    @inline(__always) func place(of slot: Int) -> Int { isWide ? Int(words[slot]) : Int(bytes[slot]) }

    /// A recipient is stored at its slot, which is the next one or one that was stored before.
    @inline(__always) mutating func note(_ recipient: RecipientRecord, at slot: Int) {
        let service = Int(recipient.service)
        precondition(service < services, "a service that the run does not have")
        let place = (wave?(recipient) ?? 0) * services + service
        if isWide {
            if slot == words.count { words.append(UInt16(place)) } else { words[slot] = UInt16(place) }
        } else {
            if slot == bytes.count { bytes.append(UInt8(place)) } else { bytes[slot] = UInt8(place) }
        }
    }
}
