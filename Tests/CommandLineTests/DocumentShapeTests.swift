import Base
import Foundation
import TestCommands
import TestSupport
import Testing

/// What scripts read: the members of the documents of `--json` and their types, in
/// Tests/Snapshots/documents. docs/compatibility.md promises that no member disappears or changes
/// its type; a new one is added to the snapshot. A member with `?` is null at times, or left out.
@Suite("documents keep their members")
struct DocumentShapeTests {
    @Test("of every command that a script may call with --json")
    func members() throws {
        let folder = try ProjectFolder()
        try folder.writeCampaign(audience: "devices: devices.csv\neveryone: true\nexclude: {tags: [gone]}")
        try folder.write(
            "later.yaml",
            "name: later\napp: shop\naudience: {devices: devices.csv, everyone: true}\ncontent: {title: A, body: B}\n"
                + "schedule: {repeat: 0 9 * * *, timezone: UTC}\n")
        let calls: [(name: String, arguments: [String], status: Int32)] = [
            ("check", ["check", "campaign.yaml"], 0),
            ("preview", ["preview", "campaign.yaml"], 0),
            ("plan", ["plan", "campaign.yaml"], 0), ("send", ["send", "campaign.yaml", "--yes"], 0),
            ("report", ["report", "last", "--format", "json"], 0), ("runs", ["runs"], 0),
            ("schedule", ["schedule", ".", "--list"], 0),
            ("suppression", ["suppression", "list"], 0), ("doctor", ["doctor"], 0),
            ("version", ["version", "--verbose"], 0),
            ("orders", ["orders"], 0), ("backup", ["backup", "backups"], 0),
            ("support-bundle", ["support-bundle", "help"], 0),
            ("prune", ["prune", "--keep", "1d", "--dry-run"], 0), ("mistakes", ["check", "wrong.yaml"], 2),
        ]
        for call in calls {
            if call.name == "mistakes" { try folder.write("wrong.yaml", "name: wrong\napp: shop\naudeince: {}\n") }
            let isFormat = call.arguments.contains("--format")
            let result = try VolleyBinary.run(call.arguments + (isFormat ? [] : ["--json"]), in: folder.url)
            #expect(result.status == call.status, "\(call.name): \(result)")
            let shape = shape(of: try result.json())
            let lines = shape.map { path, types in
                let types = types.count > 1 ? types.subtracting(["null"]) : types
                return
                    "\(path)\(shape[path]?.contains("null") ?? false ? "?" : ""): \(types.sorted().joined(separator: " or "))"
            }
            let name = "documents/\(call.name).txt"
            guard let expected = try snapshot(name) else {
                #expect(try Snapshot.flaw(of: lines.sorted().joined(separator: "\n") + "\n", name) == nil)
                continue
            }
            expect(shape, as: expected, "\(call.name)")
        }
    }

    /// Objects whose members are named after what they count.
    private static let tables: Set = [
        "attempts_by_count", "languages", "latency_histogram", "reasons", "skipped", "steps",
    ]

    /// The types of each member; those of the elements of a list, and of a table, together.
    private func shape(of value: JSONValue, at path: String = "") -> [String: Set<String>] {
        func parts(_ values: [(String, JSONValue)], _ type: String) -> [String: Set<String>] {
            values.reduce(into: path.isEmpty ? [:] : [path: [type]]) { types, part in
                types.merge(shape(of: part.1, at: part.0)) { $0.union($1) }
            }
        }
        return switch value {
        case .object(let members):
            parts(
                members.map { member in
                    let name = Self.tables.contains { path == $0 || path.hasSuffix("." + $0) } ? "*" : member.name
                    return (path.isEmpty ? name : "\(path).\(name)", member.value)
                }, "object")
        case .array(let elements): parts(elements.map { ("\(path)[]", $0) }, "list")
        case .string: [path: ["text"]]
        case .bool: [path: ["truth"]]
        case .null: [path: ["null"]]
        default: [path: ["number"]]
        }
    }

    private func expect(
        _ shape: [String: Set<String>], as expected: [String: (type: String, isOptional: Bool)], _ name: Comment
    ) {
        for (path, types) in shape {
            guard let member = expected[path] else {
                Issue.record("\(name): \(path) is new: add it to the snapshot")
                continue
            }
            for type in types where type != member.type && !(type == "null" && member.isOptional) {
                Issue.record("\(name): \(path) is \(type), not \(member.type)")
            }
        }
        for (path, member) in expected where shape[path] == nil && !member.isOptional {
            // The contents of something that does not exist.
            let isInside = expected.contains {
                path.hasPrefix($0.key + ".") && $0.value.isOptional && (shape[$0.key] ?? ["null"]) == ["null"]
            }
            if !isInside { Issue.record("\(name): \(path) is gone") }
        }
    }

    private func snapshot(_ name: String) throws -> [String: (type: String, isOptional: Bool)]? {
        guard let text = Snapshot.read(name) else { return nil }
        var members: [String: (type: String, isOptional: Bool)] = [:]
        for line in text.split(separator: "\n") {
            let parts = try #require(line.wholeMatch(of: #/(.+?)(\?)?: (\w+)/#), "\(name): \(line)")
            members[String(parts.1)] = (String(parts.3), parts.2 != nil)
        }
        return members
    }
}
