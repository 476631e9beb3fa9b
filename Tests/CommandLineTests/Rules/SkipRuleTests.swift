import Base
import Foundation
import TestCommands
import Testing

@Suite("rules: skipped rows")
struct SkipRuleTests {
    private typealias Device = RuleFolder.Device

    @Test("skipped rows are counted by reason, never silent: every reason at once, and rows = audience + the sum of skipped")
    func everyReason() throws {
        let gone = "00000410" + String(repeating: "ab", count: 28)
        let rules = try RuleFolder()
        let header = "device_token,registration_id,alias,tags,language,name\n"
        let working = (1...8).map { "\(ProjectFolder.token($0)),r\($0),,a,en,Ada\n" }.joined()
        // The first run finds out which devices are gone.
        try rules.folder.write("devices.csv", header + working + "\(gone),r9,,a,en,Ada\n")
        try rules.folder.writeCampaign(audience: "tags: [a]")
        #expect(try rules.folder.volley("send", "campaign.yaml", "--yes", "--quiet").status == 0)

        try rules.folder.write(
            "devices.csv",
            header + working + """
                \(gone),r9,,a,en,Ada
                too,few
                \(ProjectFolder.token(20)),r20,,b,en,Ada
                \(ProjectFolder.token(21)),r21,,a,de,Ada
                \(ProjectFolder.token(22)),r22,,a;x,en,Ada
                ,r23,,a,en,Ada
                xyz,r24,,a,en,Ada
                \(ProjectFolder.token(1)),r1,,a,en,Ada
                \(ProjectFolder.token(25)),r25,u,,en,Ada
                \(ProjectFolder.token(26)),r26,u,,en,Ada
                \(ProjectFolder.token(27)),r27,,a,en,
                \(ProjectFolder.token(28)),r28,,a,en,\(String(repeating: "x", count: 5000))

                """)
        try rules.folder.writeCampaign(
            audience: "tags: [a]\naliases: [u]\nalias_limit: 1\nwhere: {language: en}\nexclude: {tags: [x]}\nmax_bad_rows: 10%",
            content: "title: \"Hi {{ name }}\"")
        let campaign = try String(contentsOf: rules.folder.url.appendingPathComponent("campaign.yaml"), encoding: .utf8)
        try rules.folder.write("campaign.yaml", campaign + "variants:\n  all: {share: 60}\n  holdout: {share: 40}\n")
        let preview = try rules.preview()
        let skipped = try #require(preview["skipped"])
        for reason in [
            "bad_row", "not_matched", "filtered", "excluded", "missing_token", "bad_token", "suppressed", "duplicate_token", "alias_limit",
        ] {
            #expect(skipped.int(reason) == 1, "\(reason)")
        }
        // Eleven devices remain, some of them held out, two of them with texts that cannot be sent.
        let others = ["holdout", "render_error", "payload_too_large"].reduce(0) { $0 + (skipped.int($1) ?? 0) }
        #expect((skipped.int("holdout") ?? 0) > 0)
        #expect(others + (preview.int("audience") ?? 0) == 11)
        #expect(preview.int("rows") == 20 && 20 == skipped.sum + (preview.int("audience") ?? 0))
    }

    @Test("a missing or blank value without default skips that device as render_error; nobody ever receives \"Hi ,\"")
    func renderError() throws {
        let rules = try RuleFolder(Device(1, ["name": "Ada"]), Device(2, ["name": ""]), Device(3, ["name": "  "]))
        let preview = try rules.preview("everyone: true", content: "title: \"Hi {{ name }},\"")
        #expect(RuleFolder.numbers(preview) == [1])
        #expect(preview["skipped"] == .object(pairs: [("render_error", .integer(2))]))
    }

    @Test("the payload's size is checked as rendered, for every recipient: payload_too_large")
    func payloadTooLarge() throws {
        // {"aps":{"alert":{"body":"…"}}} has 29 bytes in addition to the text.
        let rules = try RuleFolder(
            Device(1, ["text": String(repeating: "x", count: 4067)]), Device(2, ["text": String(repeating: "x", count: 4068)]))
        let preview = try rules.preview("everyone: true", content: "body: \"{{ text }}\"")
        #expect(RuleFolder.numbers(preview) == [1])
        #expect(preview["payload_bytes"]?.int("max") == 4096)
        #expect(preview["skipped"] == .object(pairs: [("payload_too_large", .integer(1))]))
    }

    @Test("a row that cannot be read is counted as bad_row with its line number, the first ten are shown")
    func badRows() throws {
        let rules = try RuleFolder()
        var lines = ["device_token,name"]
        for number in 1...2000 { lines.append(number % 150 == 0 ? "broken" : "\(ProjectFolder.token(number)),x") }
        try rules.folder.write("devices.csv", lines.joined(separator: "\n") + "\n")
        try rules.folder.writeCampaign(audience: "everyone: true")
        let result = try rules.folder.volley("preview", "campaign.yaml", "--json")
        #expect(result.status == 0)
        #expect(try result.json()["skipped"] == .object(pairs: [("bad_row", .integer(13))]))
        let shown = result.errors.split(separator: "\n").filter { $0.hasPrefix("devices.csv:") }
        #expect(shown.map { $0.prefix { $0 != " " } } == (1...10).map { "devices.csv:\($0 * 150 + 1):1:" })
    }

    @Test("more than 1 % of them (max_bad_rows) stops the plan")
    func tooManyBadRows() throws {
        let rules = try RuleFolder()
        func write(bad: Int) throws {
            let rows = (1...100).map { $0 <= bad ? "\(ProjectFolder.token($0)),x,y" : "\(ProjectFolder.token($0)),x" }
            try rules.folder.write("devices.csv", "device_token,name\n" + rows.joined(separator: "\n") + "\n")
        }
        try write(bad: 1)
        #expect(try rules.preview("everyone: true").int("audience") == 99)
        try write(bad: 2)
        let refused = try rules.folder.volley("plan", "campaign.yaml")
        #expect(refused.status == 2 && refused.errors.contains("2 of 100 rows cannot be read"), "\(refused.errors)")
        #expect(rules.folder.files(in: "runs").isEmpty)
        #expect(try rules.preview("everyone: true\nmax_bad_rows: 2%").int("audience") == 98)
        try rules.folder.writeCampaign(audience: "everyone: true\nmax_bad_rows: 0%")
        try write(bad: 1)
        #expect(try rules.folder.volley("preview", "campaign.yaml").status == 2)
    }
}
