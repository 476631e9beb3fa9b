import Base
import Foundation
import TestCommands
import Testing

/// Campaigns over LeanCloud's export of `_Installation`, as it is.
@Suite("A LeanCloud export")
struct LeanCloudTests {
    private static func row(_ number: Int, _ members: String) -> String {
        #"{"deviceType":"ios","deviceToken":"\#(ProjectFolder.token(number))","installationId":"i\#(number)","objectId":"o\#(number)","#
            + #""createdAt":"2025-03-01T08:00:00.000Z","updatedAt":"2026-11-0\#(number)T08:00:00.000Z",\#(members)}"#
    }

    private static let rows = [
        row(
            1,
            #""channels":["","news"],"timeZone":"Asia/Shanghai","valid":true,"city":"上海","since":{"__type":"Date","iso":"2024-02-29T12:00:00.000Z"}"#
        ),
        row(2, #""channels":["news"],"valid":false,"city":"Köln""#), row(3, #""channels":["sports"],"city":"Lyon""#),
        #"{"deviceType":"android","installationId":"i4","objectId":"o4","channels":["news"],"valid":true}"#,
    ]

    private static func folder(columns: String) throws -> ProjectFolder {
        let folder = try ProjectFolder()
        try folder.write(
            "volley.yaml",
            "runs: runs\napps:\n  shop:\n    topic: com.example.shop\n    environment: simulator\n    columns: {\(columns)}\n"
        )
        try folder.write(
            "_Installation.0.jsonl",
            ([#"#filetype:JSON-streaming {"type":"Class","class":"_Installation"}"#] + rows).joined(separator: "\n")
                + "\n")
        try folder.write("answer.json", "{\"results\":[\(rows.joined(separator: ",\n"))]}")
        try folder.writeCampaign(
            audience: "devices: _Installation.*.jsonl\ntags: [news]",
            content: "title: \"{{ city }} {{ registration_id }}\"\nbody: \"{{ since | date: 'long' }}\"")
        return folder
    }

    @Test(
        "is previewed as it is, whether volley.yaml names the format or not",
        arguments: ["rows: newest", "format: leancloud"])
    func preview(columns: String) throws {
        let folder = try Self.folder(columns: columns)
        for audience in ["devices: _Installation.*.jsonl\ntags: [news]", "devices: answer.json\ntags: [news]"] {
            try folder.writeCampaign(
                audience: audience,
                content: "title: \"{{ city }} {{ registration_id }}\"\nbody: \"{{ since | date: 'long' }}\"")
            let result = try folder.volley("preview", "campaign.yaml", "--json")
            #expect(result.status == 0, "\(result.errors)")
            let preview = try result.json()
            #expect(preview.int("rows") == 4 && preview.int("audience") == 1)
            #expect(
                preview["skipped"]
                    == .object(pairs: [
                        ("not_matched", .integer(1)), ("missing_token", .integer(1)), ("suppressed", .integer(1)),
                    ]))
            guard case .array(let samples)? = preview["samples"], case .array(let why)? = preview["skipped_why"] else {
                Issue.record("no samples, or no reasons")
                return
            }
            #expect(samples[0]["payload"]?["aps"]?["alert"]?["title"]?.stringValue == "上海 o1")
            #expect(samples[0]["payload"]?["aps"]?["alert"]?["body"]?.stringValue == "February 29, 2024")
            #expect(
                why.compactMap { $0["why"]?.stringValue }.last
                    == "LeanCloud calls this device invalid ('valid' is false in the export): no push reaches it, or its owner opted out"
            )
            #expect(preview["warnings"] == .array([]))
        }
    }

    @Test("is sent as previewed, and --why says which device LeanCloud calls invalid")
    func why() throws {
        let folder = try Self.folder(columns: "format: leancloud")
        let why = try folder.volley("preview", "campaign.yaml", "--why", "o2")
        #expect(why.output.contains("does not get test: suppressed"), "\(why.output)\(why.errors)")
        #expect(why.output.contains("✗ LeanCloud calls it invalid: its 'valid' is false in the export"))
        let sent = try folder.volley("send", "campaign.yaml", "--yes", "--json")
        #expect(sent.status == 0, "\(sent.errors)")
        #expect(try sent.json()["outcomes"]?.int("accepted") == 1)
        #expect(try sent.json()["skipped"]?.int("suppressed") == 1)
    }

    @Test("is missed where volley.yaml names the format of another export")
    func otherExport() throws {
        let folder = try Self.folder(columns: "format: leancloud")
        try folder.writeCampaign()
        let result = try folder.volley("preview", "campaign.yaml")
        #expect(result.status == 2)
        #expect(
            result.errors.contains(
                "devices.csv: this is no export of LeanCloud's _Installation, though volley.yaml says so: it has no 'installationId'"
            ),
            "\(result.errors)")
    }
}
