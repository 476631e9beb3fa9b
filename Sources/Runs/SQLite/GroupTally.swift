import Base
import GRDB

/// Counts outcomes by language and variant in id order, in constant memory: every recipient is read once, beside what is recorded of it.
struct GroupTally {
    /// The most groups that are counted separately; groups beyond them count as `other`, so that an export cannot fill the memory.
    private static let maximumGroups = 2000
    private static let other = "other"

    private var places: [UInt64: Int] = [:]
    /// The groups that are counted separately, in order of appearance. They are the first of `groups`.
    private var hashes: [UInt64] = []
    private var groups: [RunGroup] = []
    /// Where `other` of a variant is.
    private var others: [String: Int] = [:]

    /// The largest first.
    var largestFirst: [RunGroup] {
        groups.sorted { ($1.audience, $0.language, $0.variant) < ($0.audience, $1.language, $1.variant) }
    }

    /// Counts recipients.
    /// - Parameters:
    ///   - ids: a part of the audience that follows those counted before.
    ///   - claims: of the whole run.
    mutating func count(_ db: Database, _ run: SQLiteRun, ids: Range<Int>, _ claims: ClaimSet) throws {
        var claims = claims.ranges[...]
        var outcomes = try OutcomeReader(db, run)
        let select = try PreparedStatement(db, sql: "SELECT id, language, variant FROM recipient WHERE id >= ? AND id < ? ORDER BY id")
        let (first, end) = run.bounds(of: ids)
        try select.bind(first, at: 1)
        try select.bind(end, at: 2)
        try select.forEachRow { row in
            let id = row.number(0)
            while let claim = claims.first, claim.upperBound <= id { claims.removeFirst() }
            let isClaimed = claims.first?.contains(id) ?? false
            let outcome = try outcomes.slot(of: id)?.outcome ?? (isClaimed ? .unknown : .unsent)
            let place = place(row.text(1), row.text(2))
            groups[place].outcomes[outcome.rawValue] += 1
            return true
        }
    }

    /// Counts what another tally counted, of recipients that follow those of this one.
    /// - Returns: false when it cannot be added, as it met more groups than it counts separately, some of which this one may know. Those
    ///   recipients
    ///   must then be counted by this tally.
    mutating func add(_ next: GroupTally) -> Bool {
        guard next.others.isEmpty else { return false }
        for (hash, group) in zip(next.hashes, next.groups) {
            let place = places[hash] ?? newPlace(hash, language: group.language, variant: group.variant)
            for outcome in group.outcomes.indices { groups[place].outcomes[outcome] += group.outcomes[outcome] }
        }
        return true
    }

    private mutating func place(_ language: UnsafeBufferPointer<UInt8>, _ variant: UnsafeBufferPointer<UInt8>) -> Int {
        // FNV-1a, with a byte between the two that UTF-8 does not have.
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in variant { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        hash = (hash ^ 0xFF) &* 0x100_0000_01B3
        for byte in language { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        return places[hash]
            ?? newPlace(hash, language: String(decoding: language, as: UTF8.self), variant: String(decoding: variant, as: UTF8.self))
    }

    private mutating func newPlace(_ hash: UInt64, language: String, variant: String) -> Int {
        guard places.count < Self.maximumGroups else {
            // From here on not even hashes are kept.
            if let place = others[variant] { return place }
            others[variant] = groups.count
            return append(Self.other, variant: variant)
        }
        places[hash] = groups.count
        hashes.append(hash)
        return append(language, variant: variant)
    }

    private mutating func append(_ language: String, variant: String) -> Int {
        groups.append(RunGroup(language: language, variant: variant, outcomes: [Int](repeating: 0, count: Outcome.allCases.count)))
        return groups.count - 1
    }
}
