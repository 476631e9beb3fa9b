import Base
import Foundation
import TestCommands
import Testing

/// A separate program that embeds the library VolleyKit.
@Suite("a program that embeds the stages")
struct EmbeddingTests {
    @Test(
        "plans, sends, ends half way, goes on and reads figures: without a terminal, and nothing is printed but what it prints itself"
    )
    func embedded() throws {
        let folder = try ProjectFolder(
            app: "environment: simulator\npace: 4000/s", export: ProjectFolder.export(devices: 2000))
        try folder.writeCampaign()
        let program = URL(fileURLWithPath: VolleyBinary.path).deletingLastPathComponent().appendingPathComponent(
            "volley-embedding"
        ).path
        let result = try RunningVolley(
            executable: program, ["volley.yaml", "campaign.yaml", "runs"], in: folder.url, environment: [:], input: nil
        ).finish()
        #expect(result.status == 0 && result.errors.isEmpty, "\(result.errors)")
        #expect(result.output.split(separator: "\n").count == 1, "\(result.output)")
        let seen = try result.json()
        #expect(seen.int("planned") == 2000 && seen.int("accepted") == 2000, "\(seen.text)")
        #expect(
            seen["first"]?.stringValue == "interrupted" && seen["second"]?.stringValue == "finished", "\(seen.text)")
        #expect(seen["agrees"] == .bool(true), "the second life's ledger and report: \(seen.text)")
        guard case .array(let events) = seen["events"] else { return #expect(Bool(false), "\(seen.text)") }
        let names = events.compactMap(\.stringValue)
        let steps = [
            "planning.reading", "run.checking", "run.begins", "run.settled", "run.draining", "run.closing",
            "run.closed",
        ]
        #expect(names.filter(steps.contains) == steps, "\(names)")
        // The command line reads the same run.
        #expect(try folder.volley("report", "last", "--format", "json").json()["outcomes"]?.int("accepted") == 2000)
    }
}
