import Audience
import Base

/// The tags of a campaign's exports, as a child hands them to the console.
struct CountedTags: Sendable {
    /// The most frequent first.
    var tags: [(name: String, devices: Int)]
    /// Whether the exports have further ones.
    var hasMore: Bool
    /// The columns that each of the exports has.
    var columns: [String]

    init(_ counts: TagCounts) {
        tags = counts.tags.map { ($0.name, $0.devices) }
        hasMore = counts.hasMore
        columns = counts.columns
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
        columns = if case .array(let names)? = value["columns"] { names.compactMap(\.stringValue) } else { [] }
    }

    var json: JSONValue {
        .object(pairs: [
            ("tags", .array(tags.map { .object(pairs: [("name", .string($0.name)), ("devices", .integer(Int64($0.devices)))]) })),
            ("has_more", .bool(hasMore)), ("columns", .array(columns.map { .string($0) })),
        ])
    }

    /// How many devices have a tag; nil where that is not known, as only the most frequent are.
    func devices(with tag: String) -> Int? {
        tags.first { $0.name == tag }?.devices ?? (hasMore ? nil : 0)
    }
}
