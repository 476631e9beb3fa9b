import Base
import Foundation
import TestCommands
import Testing

/// Rules of the two files that are about the folder a command is run in, about all commands alike,
/// or about what is sent.
@Suite("rules: the two files, as commands find them")
struct FoundFileRuleTests {
    private static func export(_ devices: Int...) -> String {
        "device_token\n" + devices.map { "\(ProjectFolder.token($0))\n" }.joined()
    }

    @Test(
        "volley.yaml is looked for beside the campaign file, then upward; paths are relative to the file that names them"
    )
    func lookedFor() throws {
        let folder = try ProjectFolder(app: "environment: simulator\ndevices: devices.csv", export: Self.export(1))
        let deep = folder.url.appendingPathComponent("a/b")
        try FileManager.default.createDirectory(at: deep, withIntermediateDirectories: true)
        try folder.write("a/b/own.csv", Self.export(2, 3))
        try folder.writeCampaign("a/b/campaign.yaml", audience: "everyone: true")
        // The app's export is next to volley.yaml, from wherever the command is run.
        #expect(try folder.volley("preview", "a/b/campaign.yaml", "--json").json().int("audience") == 1)
        #expect(try VolleyBinary.run(["preview", "campaign.yaml", "--json"], in: deep).json().int("audience") == 1)
        try folder.writeCampaign("a/b/campaign.yaml", audience: "devices: own.csv\neveryone: true")
        #expect(try folder.volley("preview", "a/b/campaign.yaml", "--json").json().int("audience") == 2)
        // A nearer one counts.
        try folder.write("a/volley.yaml", "apps:\n  other: {topic: com.example.other, environment: simulator}\n")
        #expect(try folder.volley("check", "a/b/campaign.yaml").errors.contains("/a/volley.yaml. It has: other."))
    }

    @Test("every mistake in either file is reported as file:line:column, all mistakes at once, and nothing is sent")
    func allMistakes() throws {
        let folder = try ProjectFolder(app: "environment: simulator\ndevices: devices.csv", export: Self.export(1))
        try folder.write(
            "volley.yaml",
            "runs: runs\napps:\n  shop:\n    topik: com.example.shop\n    environment: prod\n    pace: fast\n")
        try folder.write(
            "campaign.yaml",
            "name: Bad\napp: shop\naudience: {everyone: true}\ncontent: {titel: Hi}\ndelivery: {pace: 5}\n")
        for command in [["check", "campaign.yaml"], ["send", "campaign.yaml", "--yes"], ["plan", "campaign.yaml"]] {
            let result = try VolleyBinary.run(command, in: folder.url)
            #expect(result.status == 2)
            let places = result.errors.split(separator: "\n").map { String($0.prefix { $0 != " " }) }
            #expect(
                places == [
                    "campaign.yaml:1:7:", "campaign.yaml:4:11:", "campaign.yaml:5:18:", "volley.yaml:4:5:",
                    "volley.yaml:5:18:",
                    "volley.yaml:6:11:",
                ], "\(result.errors)")
        }
        #expect(folder.files(in: "runs").isEmpty)
    }

    @Test("topic: what pushes are addressed to")
    func topic() throws {
        let server = try ToldServer(devices: 1)
        _ = try server.send()
        #expect(try server.requests().map { $0["topic"]?.stringValue } == ["com.example.shop"])
    }
}
