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
