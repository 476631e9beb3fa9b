import Base
import TestCommands
import Testing

@Suite("rules: skipped rows")
struct SkipRuleTests {
    private typealias Device = RuleFolder.Device

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
            Device(1, ["text": String(repeating: "x", count: 4067)]),
            Device(2, ["text": String(repeating: "x", count: 4068)]))
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
        let result = try rules.folder.preview(isJSON: true)
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
        let refused = try rules.folder.plan()
        #expect(refused.status == 2 && refused.errors.contains("2 of 100 rows cannot be read"), "\(refused.errors)")
        #expect(rules.folder.files(in: "runs").isEmpty)
        #expect(try rules.preview("everyone: true\nmax_bad_rows: 2%").int("audience") == 98)
        try rules.folder.writeCampaign(audience: "everyone: true\nmax_bad_rows: 0%")
        try write(bad: 1)
        #expect(try rules.folder.preview().status == 2)
    }
}
