import Base
import TestCommands
import Testing

/// The rules for a device that has several rows.
@Suite("Rules: a device's newest row") struct NewestRowRuleTests {
    private typealias Device = RuleFolder.Device

    /// A project with an export for each day, whose device belonged to Anna in Germany, and now
    /// belongs to Bert in the US.
    private func daily(_ lastActive: (old: String, new: String)) throws -> RuleFolder {
        let rules = try RuleFolder(app: "environment: simulator\ndevices: [day-2.csv, day-1.csv]")
        func row(_ alias: String, _ tags: String, _ country: String, _ date: String) -> String {
            RuleFolder.csv([Device(1, ["alias": alias, "tags": tags, "country": country, "last_active": date])])
        }
        try rules.folder.write("day-1.csv", row("anna", "news", "DE", lastActive.old))
        try rules.folder.write("day-2.csv", row("bert", "news;unsubscribed", "US", lastActive.new))
        return rules
    }

    @Test(
        "the newest row decides whether a device is selected, filtered or excluded; where dates tie or are missing the last of the files by name",
        arguments: ["2026-10-01 2026-11-01", "2026-11-01 2026-11-01", " "])
    func decides(dates: String) throws {
        let parts = dates.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
        let rules = try daily((parts[0], parts[1]))
        for (audience, reason) in [
            ("everyone: true\nwhere: {country: DE}", "filtered"), ("aliases: [anna]", "not_matched"),
            ("tags: {any: [news], none: [unsubscribed]}", "not_matched"),
            ("tags: [news]\nexclude: {tags: [unsubscribed]}", "excluded"),
        ] {
            let preview = try rules.preview(audience)
            #expect(preview.int("audience") == 0, "\(audience)")
            #expect(
                preview["skipped"] == .object(pairs: [(reason, .integer(1)), ("duplicate_token", .integer(1))]),
                "\(audience)")
        }
        #expect(try rules.recipients("aliases: [bert]\nwhere: {country: US}") == [1])
    }

    @Test("--why names the row that decides")
    func why() throws {
        let rules = try daily(("2026-10-01", "2026-11-01"))
        try rules.folder.writeCampaign(audience: "aliases: [anna]", content: "title: Hello")
        let result = try rules.folder.explain("anna")
        #expect(
            result.output == """
                aa00…0001 (alias anna, alias bert) does not get test: not_matched
                  day-1.csv:2
                    ✗ this row is not the newest of its device (last active 2026-10-01): day-2.csv:2 is newer, or
                      equally new and read later, so it decides
                  day-2.csv:2
                    ✓ this is the newest row of its device, so it decides (last active 2026-11-01)
                    ✗ no tag, alias or registration id of the campaign names it: its alias is bert

                """)
    }

    @Test(
        "--why says of a row without a past date that one with a date counts as newer, though it is read later",
        arguments: ["", "2962-11-10"])
    func whyUndated(date: String) throws {
        let rules = try daily(("2026-10-01", date))
        try rules.folder.writeCampaign(audience: "aliases: [anna]", content: "title: Hello")
        let output = try rules.folder.explain("bert").output.split(whereSeparator: \.isWhitespace).joined(
            separator: " ")
        #expect(
            output.contains("day-1.csv:2 has a past date, and counts as newer than a row without one, so it decides"),
            "\(output)")
        #expect(!output.contains("read later"), "\(output)")
    }

    @Test("columns: {rows: merge} unites the tags of a device's rows; without it the export is warned of by name")
    func merge() throws {
        let rows = [
            Device(1, ["tags": "news", "name": "old"]), Device(1, ["tags": "beta", "name": "new"]),
            Device(2, ["tags": "news"]),
        ]
        func preview(_ columns: String) throws -> JSONValue {
            let rules = try RuleFolder()
            try Self.writeProject(rules, columns: columns)
            try rules.folder.write("devices.csv", RuleFolder.csv(rows))
            return try rules.preview("tags: {all: [news, beta]}", content: "title: \"{{ name | default: 'there' }}\"")
        }
        let (newest, merged) = (try preview("{rows: newest}"), try preview("{rows: merge}"))
        #expect(newest.int("audience") == 0 && newest.text.contains("row-for-each-tag"))
        #expect(RuleFolder.numbers(merged) == [1] && !merged.text.contains("row-for-each-tag"))
        guard case .array(let samples)? = merged["samples"] else { return }
        #expect(samples.first?["payload"]?["aps"]?["alert"]?["title"]?.stringValue == "new")
    }

    @Test("rows is newest or merge")
    func mistake() throws {
        let rules = try RuleFolder(Device(1))
        try Self.writeProject(rules, columns: "{rows: merged}")
        #expect(try rules.mistakes().contains("'rows' must be newest or merge, not 'merged'. Did you mean 'merge'?"))
    }

    private static func writeProject(_ rules: RuleFolder, columns: String) throws {
        try rules.folder.write(
            "volley.yaml",
            "apps: {shop: {topic: com.example.shop, environment: simulator, devices: devices.csv, columns: \(columns)}}\n"
        )
    }
}
