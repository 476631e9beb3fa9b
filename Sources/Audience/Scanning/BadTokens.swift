public import Base
public import PushServices

/// Rows with a text of one shape where the device token should be.
public struct BadTokenCount: Hashable, Sendable {
    /// The number, among the app's services, of the service with the expected target.
    public var service: Int
    /// Whether it takes the place of an activity's token, and not of the device's.
    public var isOfActivity = false
    /// What it seems to be.
    public var shape: TargetShape
    /// How many rows have one.
    public var rows: Int
    /// The first of them, shortened as a token, and how long it is in bytes.
    public var shown: String, bytes: Int
    /// Its place.
    public var position: SourcePosition
}

/// Counts them.
struct BadTokens: Sendable {
    private struct First: Sendable {
        var rows: Int
        var shown: String
        var bytes: Int
        var file: String
        var line: Int
    }

    private struct Kind: Hashable, Sendable {
        var service: UInt8
        var isOfActivity: Bool
        var shape: TargetShape
    }

    private var kinds: [Kind: First] = [:]

    /// Notes a cell of a block. Lines count from the block's beginning.
    mutating func note(_ reading: TargetReading, line: Int, _ services: [any PushService]) {
        let text = String(decoding: reading.cell.prefix(4096), as: UTF8.self)
        guard let shape = Self.shape(of: reading, text, services) else { return }
        let kind = Kind(service: reading.service, isOfActivity: reading.isOfActivity, shape: shape)
        if kinds[kind] != nil {
            kinds[kind]?.rows += 1
        } else {
            kinds[kind] = First(rows: 1, shown: Self.shown(text), bytes: reading.cell.count, file: "", line: line)
        }
    }

    /// Why a cell is not a token, with the cell as it may be shown; nil for a blank cell.
    static func flaw(of reading: TargetReading, _ services: [any PushService]) -> (shown: String, clause: String)? {
        let text = String(decoding: reading.cell.prefix(4096), as: UTF8.self), form = form(of: reading, services)
        return shape(of: reading, text, services).map { (shown(text), form.clause(of: $0, length: reading.cell.count)) }
    }

    /// A token of an activity is part of some payloads as it is written, so there quotes or blanks
    /// around it are a flaw.
    private static func shape(of reading: TargetReading, _ text: String, _ services: [any PushService]) -> TargetShape?
    {
        form(of: reading, services).shape(of: text) ?? (reading.isOfActivity && !text.isEmpty ? .surrounded : nil)
    }

    private static func form(of reading: TargetReading, _ services: [any PushService]) -> TargetForm {
        reading.isOfActivity ? PushServices.standard.target : services[Int(reading.service)].target
    }

    private static func shown(_ text: String) -> String {
        TextFormat.foreign(TextFormat.namingInvisible(text.count > 8 ? Target.redact(text) : text), maximumBytes: 40)
    }

    /// Adds the counts of a block that begins at a line of a file.
    mutating func add(_ other: BadTokens, in file: String, from line: Int) {
        for (kind, found) in other.kinds {
            if kinds[kind] != nil {
                kinds[kind]?.rows += found.rows
            } else {
                var first = found
                (first.file, first.line) = (file, line + found.line - 1)
                kinds[kind] = first
            }
        }
    }

    var list: [BadTokenCount] {
        kinds.map { kind, found in
            BadTokenCount(
                service: Int(kind.service), isOfActivity: kind.isOfActivity, shape: kind.shape, rows: found.rows,
                shown: found.shown,
                bytes: found.bytes,
                position: SourcePosition(file: found.file, line: found.line, column: 1))
        }.sorted { ($1.rows, $0.service, $0.shape.rawValue) < ($0.rows, $1.service, $1.shape.rawValue) }
    }
}

/// What targets of other services look like, for columns of targets that look like names: there any
/// text may be one, so a column that was confused is not noticed by bad cells.
struct ForeignTargetForms: Sendable {
    private struct Form: Sendable {
        let service: String
        let targets: TargetForm
        let length: Int
    }

    /// By number of the app's services; empty where targets show what they are.
    private let forms: [[Form]]

    /// A text of at least this many characters, all of them hex digits, is not a name in any app.
    private static let fewestForAnyApp = 64

    /// - Parameter services: the app's.
    init(_ services: [any PushService]) {
        let others = PushServices.all.filter { other in
            !services.contains { $0.name == other.name } && other.target.usualLength ?? 0 >= Self.fewestForAnyApp
        }
        forms = services.map { service in
            guard service.target.tellingLength == nil else { return [] }
            return (services + others).compactMap { other in
                guard other.name != service.name, let length = other.target.usualLength,
                    service.target.lengths.contains(length)
                else {
                    return nil
                }
                return Form(service: other.name, targets: other.target, length: length)
            }
        }
    }

    /// Counts a target that was read for one of the app's services.
    @inline(__always) func note(_ target: UnsafeBufferPointer<UInt8>, of service: Int, _ found: inout ForeignTargets) {
        if !forms[service].isEmpty { noteAmongNames(target, of: service, &found) }
    }

    private func noteAmongNames(_ target: UnsafeBufferPointer<UInt8>, of service: Int, _ found: inout ForeignTargets) {
        found.countTarget(of: service)
        for form in forms[service] where target.count == form.length && form.targets.isTarget(target) {
            found.note(target, of: service, like: form.service)
        }
    }
}

/// How many targets look like those of other services.
struct ForeignTargets: Sendable {
    private struct Kind: Hashable, Sendable {
        var service: Int
        /// The name of the service that has targets like them.
        var other: String
    }

    private struct Count: Sendable {
        var rows: Int
        /// The first of them, shortened.
        var shown: String
    }

    /// Targets by number of the service for which they were read.
    private var targets: [Int: Int] = [:]
    private var kinds: [Kind: Count] = [:]

    /// A share of a column below which a cell may be an accident.
    private static let fewestPercent = 1

    mutating func countTarget(of service: Int) { targets[service, default: 0] += 1 }

    mutating func note(_ target: UnsafeBufferPointer<UInt8>, of service: Int, like other: String) {
        let kind = Kind(service: service, other: other)
        if kinds[kind] != nil {
            kinds[kind]?.rows += 1
        } else {
            kinds[kind] = Count(rows: 1, shown: Target.redact(String(decoding: target, as: UTF8.self)))
        }
    }

    /// Adds the counts of the next block.
    mutating func add(_ next: ForeignTargets) {
        targets.merge(next.targets, uniquingKeysWith: +)
        kinds.merge(next.kinds) { Count(rows: $0.rows + $1.rows, shown: $0.shown) }
    }

    /// A warning for each column with such cells, the most frequent kind of the first service
    /// first.
    func warnings(_ plan: ScanLayout) -> [Diagnostic] {
        let sorted = kinds.sorted {
            ($0.key.service, -$0.value.rows, $0.key.other) < ($1.key.service, -$1.value.rows, $1.key.other)
        }
        return sorted.compactMap { kind, count in
            let all = targets[kind.service, default: 0]
            guard count.rows * 100 >= all * Self.fewestPercent, let other = PushServices.named(kind.other) else {
                return nil
            }
            let (service, targets) = (plan.query.services[kind.service], plan.query.services[kind.service].target)
            let key = plan.query.services.count > 1 ? targets.column : ExportColumns.Standard.token.rawValue
            let place = plan.column(ofTargets: kind.service)
            let look = TextFormat.plural(count.rows, one: "looks", many: "look")
            return .warning(
                .foreignTargets,
                message:
                    "\(TextFormat.count(count.rows)) of \(TextFormat.counted(all, one: "cell")) in the column '\(place?.column ?? key)' "
                    + "\(look) like \(other.target.nouns) of \(other.displayName) ('\(count.shown)'), "
                    + "but \(service.displayName) takes them for \(targets.nouns)",
                file: place?.file ?? "",
                remedy: "Name the column that holds \(targets.nouns) in volley.yaml: `columns: {\(key): NAME}`. "
                    + "If \(targets.nouns) of your app look like this, allow the warning.")
        }
    }
}

extension ScanLayout {
    /// The first export with a column of a service's targets, and what the column is called there.
    fileprivate func column(ofTargets service: Int) -> (file: String, column: String)? {
        for file in files {
            let cell = query.services.count > 1 ? file.plan.targets[service] : file.plan.token
            if cell != file.plan.blankCell { return (file.path, file.header[file.plan.columns[cell]]) }
        }
        return nil
    }
}
