import Base
import GRDB

/// Counts outcomes by language and variant in id order, in constant memory: every recipient is read once, with what is
/// recorded for it.
struct GroupOutcomeCounter {
    /// The most groups that are counted separately; groups beyond them count as `other`, so that an export cannot fill
    /// the memory.
    private static let maximumGroups = 2000
    private static let other = "other"

    private var places: [UInt64: Int] = [:]
    /// The groups that are counted separately, in order of appearance. They are the first of `groups`.
    private var hashes: [UInt64] = []
    private var groups: [RunGroup] = []
    /// The numbers of the groups' services.
    private var services: [Int] = []
    /// Where `other` of a variant is.
    private var others: [Other: Int] = [:]

    private struct Other: Hashable {
        var service: Int
        var variant: String
    }

    /// The largest first, of all services together.
    var largestFirst: [RunGroup] { Self.largestFirst(services.contains { $0 != 0 } ? merged : groups) }

    /// The largest of a service first.
    func largestFirst(ofService service: Int) -> [RunGroup] {
        Self.largestFirst(zip(groups, services).filter { $0.1 == service }.map(\.0))
    }

    private static func largestFirst(_ groups: [RunGroup]) -> [RunGroup] {
        groups.sorted { ($1.audience, $0.language, $0.variant) < ($0.audience, $1.language, $1.variant) }
    }

    private var merged: [RunGroup] {
        var merged: [[String]: RunGroup] = [:]
        for group in groups {
            var sum = merged[[group.language, group.variant]] ?? RunGroup(language: group.language, variant: group.variant, outcomes: [])
            sum.outcomes = sum.outcomes.isEmpty ? group.outcomes : zip(sum.outcomes, group.outcomes).map(+)
            merged[[group.language, group.variant]] = sum
        }
        return Array(merged.values)
    }

    /// Counts recipients.
    /// - Parameters:
    ///   - ids: a part of the audience that follows those counted before.
    ///   - claims: of the whole run.
    mutating func count(_ db: Database, _ run: RunFile, ids: Range<Int>, _ claims: ClaimSet) throws {
        var claims = claims.ranges[...]
        var outcomes = try OutcomeReader(db, run)
        var cursor = ServiceCursor(run.plan)
        let select = try PreparedStatement(db, sql: "SELECT id, language, variant FROM recipient WHERE id >= ? AND id < ? ORDER BY id")
        let (first, end) = run.bounds(of: ids)
        try select.bind(first, at: 1)
        try select.bind(end, at: 2)
        try select.forEachRow { row in
            let id = row.number(0)
            while let claim = claims.first, claim.upperBound <= id { claims.removeFirst() }
            let isClaimed = claims.first?.contains(id) ?? false
            let outcome = try outcomes.slot(of: id)?.outcome ?? (isClaimed ? .unknown : .unsent)
            cursor.move(to: id)
            let place = place(row.text(1), row.text(2), cursor.service)
            groups[place].outcomes[outcome.rawValue] += 1
            return true
        }
    }

    /// Counts what another tally counted, of recipients that follow those of this one.
    /// - Returns: false when it cannot be added, as it met more groups than it counts separately, some of which this
    ///   one may know. Those recipients must then be counted by this tally.
    mutating func add(_ next: GroupOutcomeCounter) -> Bool {
        guard next.others.isEmpty else { return false }
        for (number, hash) in next.hashes.enumerated() {
            let group = next.groups[number]
            let place = places[hash] ?? newPlace(hash, language: group.language, variant: group.variant, next.services[number])
            for outcome in group.outcomes.indices { groups[place].outcomes[outcome] += group.outcomes[outcome] }
        }
        return true
    }

    private mutating func place(_ language: UnsafeBufferPointer<UInt8>, _ variant: UnsafeBufferPointer<UInt8>, _ service: Int) -> Int {
        // FNV-1a, with a byte between the two that UTF-8 does not have.
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        if service != 0 { hash = (hash ^ UInt64(service)) &* 0x100_0000_01B3 }
        for byte in variant { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        hash = (hash ^ 0xFF) &* 0x100_0000_01B3
        for byte in language { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        return places[hash]
            ?? newPlace(
                hash, language: String(decoding: language, as: UTF8.self), variant: String(decoding: variant, as: UTF8.self), service)
    }

    private mutating func newPlace(_ hash: UInt64, language: String, variant: String, _ service: Int) -> Int {
        guard places.count < Self.maximumGroups else {
            // From here on not even hashes are kept.
            let other = Other(service: service, variant: variant)
            if let place = others[other] { return place }
            others[other] = groups.count
            return append(Self.other, variant: variant, service)
        }
        places[hash] = groups.count
        hashes.append(hash)
        return append(language, variant: variant, service)
    }

    private mutating func append(_ language: String, variant: String, _ service: Int) -> Int {
        services.append(service)
        groups.append(RunGroup(language: language, variant: variant, outcomes: [Int](repeating: 0, count: Outcome.allCases.count)))
        return groups.count - 1
    }
}
