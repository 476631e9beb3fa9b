import Audience
import Base

/// The tags of a campaign's exports, as a child hands them to the console.
struct CountedTags: Sendable {
    /// The most frequent first.
    var tags: [(name: String, devices: Int)]
    /// Whether the exports have further ones.
    var hasMore: Bool
    /// What is known of the columns that each of the exports has.
    var facts: [ColumnFacts]

    init(_ counts: TagCounts) {
        tags = counts.tags.map { ($0.name, $0.devices) }
        hasMore = counts.hasMore
        facts = counts.facts
    }

    /// nil for what no child wrote.
    init?(_ text: String) {
        guard let value = try? JSONValue(parsing: text), case .array(let pairs)? = value["tags"],
            case .bool(let hasMore)? = value["has_more"]
        else { return nil }
        tags = pairs.compactMap { pair in
            guard let name = pair["name"]?.stringValue, let devices = pair["devices"]?.integerValue else { return nil }
            return (name, Int(devices))
        }
        self.hasMore = hasMore
        facts = if case .array(let found)? = value["facts"] { found.compactMap(Self.column) } else { [] }
    }

    private static func column(_ value: JSONValue) -> ColumnFacts? {
        guard let name = value["name"]?.stringValue,
            let kind = value["kind"]?.stringValue.flatMap(ColumnFacts.Kind.init),
            case .array(let values)? = value["values"]
        else { return nil }
        return ColumnFacts(name: name, kind: kind, values: values.compactMap(\.stringValue))
    }

    var json: JSONValue {
        .object(pairs: [
            (
                "tags",
                .array(
                    tags.map { .object(pairs: [("name", .string($0.name)), ("devices", .integer(Int64($0.devices)))]) })
            ),
            ("has_more", .bool(hasMore)),
            (
                "facts",
                .array(
                    facts.map {
                        .object(pairs: [
                            ("name", .string($0.name)), ("kind", .string($0.kind.rawValue)),
                            ("values", .array($0.values.map { .string($0) })),
                        ])
                    })
            ),
        ])
    }

    /// How many devices have a tag; nil where that is not known, as only the most frequent are.
    func devices(with tag: String) -> Int? {
        tags.first { $0.name == tag }?.devices ?? (hasMore ? nil : 0)
    }
}
