import Base
import PushServices

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
