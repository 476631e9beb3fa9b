import Base
import PushServices

/// What a person needs to know of a column of the exports to compare it with something.
public struct ColumnFacts: Hashable, Sendable {
    /// What its cells hold, as far as the first rows show.
    public enum Kind: String, Sendable {
        /// Anything.
        case text
        /// Nothing but numbers.
        case number
        /// Versions, as the name of the column says.
        case version
        /// Nothing but dates.
        case date
    }

    /// As the exports have it.
    public var name: String
    /// What its cells hold.
    public var kind: Kind
    /// The most frequent first; empty for a column with very many, such as names.
    public var values: [String]

    /// What is known of a column.
    public init(name: String, kind: Kind, values: [String]) {
        (self.name, self.kind, self.values) = (name, kind, values)
    }
}

extension AudienceQuery {
    /// The columns that all exports have, without those of targets, people and tags, and their most
    /// frequent values in the first rows.
    /// - Throws: `Diagnostics` or `Diagnostic` for a file that cannot be read.
    public func columnFacts(isCancelled: () -> Bool = { false }) throws -> [ColumnFacts] {
        var query = AudienceQuery(files: files, columns: columns, now: now)
        (query.everyone, query.services, query.maximumBadRowShare) = (true, services, maximumBadRowShare)
        let headers = try query.plan(ReadingLimits(), { { _ in RecipientCheck() } }).0.files.map(\.header)
        let left: [ExportColumns.Standard] = [.token, .registrationID, .alias, .tags]
        let hidden = Set(left.flatMap { columns.candidates(for: $0) } + services.map(\.target.column))
        let names = (headers.first ?? []).prefix(Self.mostColumns).filter { name in
            !name.isEmpty && !hidden.contains(name) && headers.allSatisfy { header in header.count { $0 == name } == 1 }
        }
        let place = SourcePosition(file: "", line: 1, column: 1)
        query.fields = names.map { SourceText($0, at: place) }
        let plan = try query.plan(ReadingLimits(), { { _ in RecipientCheck() } }).0
        var found = names.map { _ in FrequentValues() }
        var rows = 0
        try overUnchangedFiles {
            do {
                let tracer = RowTracer(plan)
                for file in plan.files {
                    func take(_ row: CellRow, line: Int) throws {
                        rows += 1
                        guard rows <= Self.mostRows else { throw CancellationError() }
                        for (place, cell) in file.plan.fields.enumerated() where place < found.count {
                            found[place].add(row.bytes(cell))
                        }
                    }
                    _ = try tracer.read(file, take) { if isCancelled() { throw CancellationError() } }
                }
            } catch is CancellationError {
                // Or enough rows were read.
                if isCancelled() { throw CancellationError() }
            }
        }
        return zip(names, found).map { ColumnFacts(name: $0, kind: $1.kind(ofColumn: $0), values: $1.values) }
    }

    private static let mostRows = 200_000, mostColumns = 200
}

/// The values of a column, in a fixed amount of memory.
private struct FrequentValues {
    private var rows: [[UInt8]: Int] = [:]
    private var hasTooMany = false
    private var (dates, numbers, looked) = (0, 0, 0)

    private static let limit = 300, shown = 30, longest = 60, mostLooked = 1_000

    mutating func add(_ bytes: UnsafeBufferPointer<UInt8>) {
        guard !bytes.isEmpty, !Blank.isCell(bytes) else { return }
        if looked < Self.mostLooked {
            looked += 1
            let text = String(decoding: bytes, as: UTF8.self)
            if Double(text) != nil { numbers += 1 } else if dateMilliseconds(bytes) != nil { dates += 1 }
        }
        guard !hasTooMany else { return }
        guard bytes.count <= Self.longest else { return giveUp() }
        rows[Array(bytes), default: 0] += 1
        if rows.count > Self.limit { giveUp() }
    }

    private mutating func giveUp() {
        hasTooMany = true
        rows = [:]
    }

    /// A value that may be a target is not shown, nor is any other of its column.
    var values: [String] {
        let all = rows.map { (name: String(decoding: $0.key, as: UTF8.self), rows: $0.value) }
        guard !all.contains(where: { TargetRedaction.withoutTargets($0.name) != $0.name }) else { return [] }
        return all.sorted { ($1.rows, $0.name) < ($0.rows, $1.name) }.prefix(Self.shown).map(\.name)
    }

    func kind(ofColumn name: String) -> ColumnFacts.Kind {
        if ComparisonValue.isVersion(column: name) { return .version }
        if looked > 0, dates == looked { return .date }
        return looked > 0 && numbers == looked ? .number : .text
    }
}

/// How many devices have which tags.
public struct TagCounts: Sendable {
    /// A tag, and how many devices have it.
    public struct Tag: Hashable, Sendable {
        /// As the exports write it, without white space around it.
        public var name: String
        /// Devices, each once.
        public var devices: Int
    }

    /// The most frequent first; of equally frequent ones, in the order of their bytes.
    public var tags: [Tag]
    /// Whether the exports have further tags.
    public var hasMore: Bool
    /// What is known of the columns that each of the exports has, where they were looked at.
    public var facts: [ColumnFacts] = []
}

extension AudienceQuery {
    /// Counts the devices of the exports by their tags, whatever the query selects. Reads the
    /// exports twice: for the most frequent tags of their rows, then, by `scan`, for the devices
    /// that a campaign to each of these tags would reach.
    /// - Parameters:
    ///   - most: how many tags, at most; what `named` adds does not count.
    ///   - named: tags that are counted in any case.
    ///   - isWanted: whether a tag may be named; of others nothing is said.
    ///   - isCancelled: called often; true ends the count with `CancellationError`.
    /// - Throws: `Diagnostics` or `Diagnostic` for a file that cannot be read.
    public func tagCounts(
        most: Int, named: [String] = [], deviceMemory: Int = .max, where isWanted: (String) -> Bool = { _ in true },
        isCancelled: () -> Bool = { false }
    ) throws -> TagCounts {
        var query = ofTags(named.isEmpty ? [Self.anyName] : named)
        query.anyTags = []
        // Whatever else is wrong with the exports is said; that none has a column of tags is no
        // mistake here.
        _ = try query.commonColumns()
        query.anyTags = named.isEmpty ? [Self.anyName] : named
        guard let plan = try? query.plan(ReadingLimits(), { { _ in RecipientCheck() } }).0 else {
            return TagCounts(tags: [], hasMore: false)
        }
        var frequent = FrequentTags()
        try overUnchangedFiles {
            try RowTracer(plan).readTags(into: &frequent) { if isCancelled() { throw CancellationError() } }
        }
        let found = frequent.names.filter(isWanted)
        query = ofTags(Array(found.prefix(most)) + named)
        guard !query.anyTags.isEmpty else { return TagCounts(tags: [], hasMore: false) }
        let result = try query.scan(into: CountingSink(), deviceMemory: deviceMemory, isCancelled: isCancelled)
        let tags = zip(query.selectors.tags, result.selectedBy).map { TagCounts.Tag(name: $0, devices: $1.recipients) }
        return TagCounts(
            tags: tags.sorted { ($1.devices, $0.name) < ($0.devices, $1.name) },
            hasMore: frequent.isFull || found.count > most)
    }

    /// Stands for a tag where only the columns matter.
    private static let anyName = "tag"

    /// All devices with one of these tags.
    private func ofTags(_ tags: [String]) -> AudienceQuery {
        var query = AudienceQuery(files: files, columns: columns, now: now)
        query.anyTags = tags
        query.maximumBadRowShare = maximumBadRowShare
        query.services = services
        // A tag with a comma in it is one tag here, as it is for the scan that selects.
        query.allowed = [.tagSeparator]
        return query
    }
}

/// Recipients that are only counted.
private final class CountingSink: RecipientSink {
    let recordLimit = 0
    func receive(_ batch: RecipientBatch) throws {}
    func finish(slots: Int, dropping dropped: BitSet) throws {}
}

/// The most frequent tags of rows in a fixed amount of memory. When there are too many, each loses
/// a row, and those without one are forgotten: a tag with more rows than all rows over `limit` is
/// never among these (Misra and Gries, Finding repeated elements, 1982).
struct FrequentTags {
    private var rows: [[UInt8]: Int] = [:]
    /// Whether tags were forgotten.
    private(set) var isFull = false

    static let limit = 20_000
    /// A longer one is no name that a person chooses from a list.
    static let longestTag = 200

    mutating func add(_ tag: [UInt8]) {
        guard !tag.isEmpty, tag.count <= Self.longestTag else { return }
        if rows[tag] == nil, rows.count >= Self.limit { thinOut() }
        rows[tag, default: 0] += 1
    }

    private mutating func thinOut() {
        isFull = true
        while rows.count >= Self.limit {
            rows = rows.mapValues { $0 - 1 }.filter { $0.value > 0 }
        }
    }

    /// The most frequent first.
    var names: [String] {
        let names = rows.map { (name: String(decoding: $0.key, as: UTF8.self), rows: $0.value) }
        return names.sorted { ($1.rows, $0.name) < ($0.rows, $1.name) }.map(\.name)
    }
}

extension RowTracer {
    /// Reads the tags of all rows. Rows that cannot be read are counted when the devices are.
    func readTags(into tags: inout FrequentTags, tick: () throws -> Void) throws {
        let selector = RowSelector(plan.selectors)
        for file in plan.files {
            guard let cell = file.plan.tagsCell else { continue }
            _ = try read(file, { row, _ in selector.tags(of: row, cell: cell).forEach { tags.add($0) } }, tick)
        }
    }
}
