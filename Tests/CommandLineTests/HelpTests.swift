import Foundation
import TestCommands
import Testing

/// The first text that people read. A missing snapshot is recorded and then fails, so that a person
/// looks at it.
@Suite("help")
struct HelpTests {
    private static let snapshots = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent()
        .appendingPathComponent("Snapshots/help")

    @Test(
        "reads as it did",
        arguments: [
            "volley", "init", "check", "preview", "plan", "approve", "send", "schedule", "serve", "work", "resume",
            "pause", "cancel",
            "retry",
            "runs", "orders",
            "report", "prune", "backup", "restore",
            "suppression", "suppression list", "suppression import", "suppression export", "suppression remove",
            "channels", "channels create", "channels list", "channels delete", "store", "store migrate",
            "store check", "store list", "store fetch", "store remove", "push",
            "doctor",
            "notify", "schema", "simulate", "version", "support-bundle",
        ])
    func snapshot(command: String) throws {
        let folder = FileManager.default.temporaryDirectory
        let help = try VolleyBinary.run(
            command == "volley" ? ["--help"] : ["help"] + command.split(separator: " ").map(String.init), in: folder,
            environment: ["COLUMNS": "80"])
        #expect(help.status == 0)
        #expect(help.output.split(separator: "\n").allSatisfy { $0.count <= 80 })
        let file = Self.snapshots.appendingPathComponent("\(command.replacing(" ", with: "-")).txt")
        guard let expected = try? String(contentsOf: file, encoding: .utf8) else {
            try FileManager.default.createDirectory(at: Self.snapshots, withIntermediateDirectories: true)
            try help.output.write(to: file, atomically: true, encoding: .utf8)
            Issue.record("\(file.lastPathComponent) was recorded; check it and run the tests again")
            return
        }
        #expect(help.output == expected)
    }

    @Test("completions know every command", arguments: ["bash", "zsh", "fish"])
    func completions(shell: String) throws {
        let script = try VolleyBinary.run(
            ["--generate-completion-script", shell], in: FileManager.default.temporaryDirectory)
        #expect(script.status == 0)
        for command in [
            "init", "check", "preview", "plan", "approve", "send", "schedule", "serve", "work", "resume", "pause",
            "cancel", "retry",
            "runs",
            "orders",
            "report",
            "prune", "backup", "restore",
            "suppression",
            "channels",
            "store",
            "push",
            "notify", "schema", "simulate",
        ] {
            #expect(script.output.contains(command))
        }
    }
}
