import Base
import Foundation
import TestCommands
import Testing

/// What scripts read: the members of each document of `--json` and their types, in Tests/Snapshots/documents. docs/compatibility.md
/// promises that none goes and none changes its type; a new one is added to the snapshot.
@Suite("documents keep their members")
struct DocumentShapeTests {
    @Test("of every command that a script may call with --json")
    func members() throws {
        let folder = try ProjectFolder()
        try folder.writeCampaign(audience: "devices: devices.csv\neveryone: true\nexclude: {tags: [gone]}")
        try folder.write(
            "later.yaml",
            "name: later\napp: shop\naudience: {devices: devices.csv, everyone: true}\ncontent: {title: A, body: B}\n"
                + "schedule: {at: 2099-01-01 09:00, timezone: UTC}\n")
        try folder.write("wrong.yaml", "name: wrong\napp: shop\naudeince: {}\n")
        let calls: [(name: String, arguments: [String], status: Int32)] = [
            ("mistakes", ["check", "wrong.yaml"], 2), ("check", ["check", "campaign.yaml"], 0),
            ("preview", ["preview", "campaign.yaml"], 0),
            ("plan", ["plan", "campaign.yaml"], 0), ("send", ["send", "campaign.yaml", "--yes"], 0),
            ("report", ["report", "last", "--format", "json"], 0), ("runs", ["runs"], 0), ("schedule", ["schedule", ".", "--list"], 2),
            ("suppression", ["suppression", "list"], 0), ("doctor", ["doctor"], 0), ("version", ["version", "--verbose"], 0),
            ("orders", ["orders"], 0), ("backup", ["backup", "backups"], 0), ("support-bundle", ["support-bundle", "help"], 0),
            ("prune", ["prune", "--keep", "1d", "--dry-run"], 0),
        ]
        for call in calls {
            let isFormat = call.arguments.contains("--format")
            let result = try VolleyBinary.run(call.arguments + (isFormat ? [] : ["--json"]), in: folder.url)
            #expect(result.status == call.status, "\(call.name): \(result)")
            try expectSnapshot(shape(of: result.json()).sorted().joined(separator: "\n") + "\n", "documents/\(call.name).txt")
        }
    }

    /// Lines such as `outcomes.accepted: number`; members of the elements of a list stand once.
    private func shape(of value: JSONValue, at path: String = "") -> Set<String> {
        switch value {
        case .object(let members):
            members.reduce(into: path.isEmpty ? [] : ["\(path): object"]) { lines, member in
                lines.formUnion(shape(of: member.value, at: path.isEmpty ? member.name : "\(path).\(member.name)"))
            }
        case .array(let elements): elements.reduce(into: ["\(path): list"]) { $0.formUnion(shape(of: $1, at: "\(path)[]")) }
        case .string: ["\(path): text"]
        case .bool: ["\(path): truth"]
        case .null: ["\(path): null"]
        default: ["\(path): number"]
        }
    }
}
