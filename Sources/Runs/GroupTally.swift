import Base
import GRDB

/// Counts outcomes by language and variant, in id order and in constant memory: recipients are read a few thousand at a time.
final class GroupTally {
    /// Languages that are told apart; whatever an export holds beyond them counts as `other`, so that it cannot fill the memory.
    static let maximumGroups = 2000
    static let other = "other"

    private static let chunk = 8192

    private let select: PreparedStatement
    private let audience: Int
    private var claims: ArraySlice<Range<Int>>
    private var places: [UInt64: Int] = [:]
    private var groups: [RunGroup] = []
    /// The recipients that are being counted: their groups, and what became of each, unless an outcome says otherwise.
    private var range = 0..<0
    private var groupOf: [Int] = []
    private var outcomeOf: [Int] = []

    init(_ db: Database, hasVariants: Bool, audience: Int, claims: [Range<Int>]) throws {
        select = try PreparedStatement(
            db, "SELECT language, \(hasVariants ? "variant" : "''") FROM recipient WHERE id >= ? AND id < ? ORDER BY id")
        (self.audience, self.claims) = (audience, claims[...])
    }

    /// Counts an outcome; ids must come in order, and be in the audience.
    func add(recipient: Int, outcome: Int) throws {
        while recipient >= range.upperBound { try advance() }
        // Behind us means out of order: a damaged file, of which the totals tell enough.
        if range.contains(recipient), recipient - range.lowerBound < outcomeOf.count { outcomeOf[recipient - range.lowerBound] = outcome }
    }

    /// Counts who is left, and gives the groups, the largest first.
    func finish() throws -> [RunGroup] {
        while range.upperBound < audience { try advance() }
        settle()
        return groups.filter { $0.audience > 0 }.sorted {
            ($1.audience, $0.language, $0.variant) < ($0.audience, $1.language, $1.variant)
        }
    }

    private func advance() throws {
        settle()
        range = range.upperBound..<min(range.upperBound + Self.chunk, audience)
        (groupOf, outcomeOf) = ([], [])
        try select.bind(range.lowerBound, at: 1)
        try select.bind(range.upperBound, at: 2)
        var id = range.lowerBound
        try select.forEachRow { row in
            groupOf.append(group(row.text(0), row.text(1)))
            while let claim = claims.first, claim.upperBound <= id { claims.removeFirst() }
            outcomeOf.append((claims.first?.contains(id) ?? false ? Outcome.unknown : .unsent).rawValue)
            id += 1
            return true
        }
    }

    private func settle() {
        for (group, outcome) in zip(groupOf, outcomeOf) { groups[group].outcomes[outcome] += 1 }
        (groupOf, outcomeOf) = ([], [])
    }

    private func group(_ language: UnsafeBufferPointer<UInt8>, _ variant: UnsafeBufferPointer<UInt8>) -> Int {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in variant { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        // No byte of UTF-8.
        hash = (hash ^ 0xFF) &* 0x100_0000_01B3
        for byte in language { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        if let place = places[hash] { return place }
        let variant = String(decoding: variant, as: UTF8.self)
        let isFull = places.count >= Self.maximumGroups
        let language = isFull ? Self.other : String(decoding: language, as: UTF8.self)
        let place = groups.firstIndex { $0.language == language && $0.variant == variant } ?? groups.count
        if place == groups.count {
            groups.append(RunGroup(language: language, variant: variant, outcomes: [Int](repeating: 0, count: Outcome.allCases.count)))
        }
        // Beyond the limit not even hashes are kept.
        if !isFull { places[hash] = place }
        return place
    }
}
