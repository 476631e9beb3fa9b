import Base
import Foundation
import TestCommands
import TestSupport
import Testing

@Suite("rules: audience")
struct AudienceRuleTests {
    private typealias Device = RuleFolder.Device

    // MARK: Exports

    @Test(
        "devices: path, glob or list; .csv .tsv .json .jsonl, each also .gz",
        arguments: ["csv", "tsv", "json", "jsonl"], [false, true])
    func formats(suffix: String, isCompressed: Bool) throws {
        let rules = try RuleFolder()
        let objects = [1, 2, 3].map {
            "{\"device_token\": \"\(ProjectFolder.token($0))\", \"tags\": [\"\($0 == 3 ? "b" : "a")\"]}"
        }
        let csv = RuleFolder.csv([Device(1, ["tags": "a"]), Device(2, ["tags": "a"]), Device(3, ["tags": "b"])])
        let text =
            switch suffix {
            case "csv": csv
            case "tsv": csv.replacing(",", with: "\t")
            case "json": "[\(objects.joined(separator: ",\n"))]"
            default: objects.joined(separator: "\n")
            }
        if isCompressed {
            try rules.folder.write("export.\(suffix).gz", Data(StoredGzip.member(Array(text.utf8))))
        } else {
            try rules.folder.write("export.\(suffix)", text)
        }
        #expect(try rules.recipients("devices: export.\(suffix)\(isCompressed ? ".gz" : "")\ntags: [a]") == [1, 2])
    }

    @Test("devices: a glob takes every file that matches, a list every file of it, and each file once")
    func severalFiles() throws {
        let rules = try RuleFolder()
        for number in 1...3 { try rules.folder.write("part\(number).csv", RuleFolder.csv([Device(number)])) }
        #expect(try rules.recipients("devices: \"part*.csv\"\neveryone: true") == [1, 2, 3])
        #expect(try rules.recipients("devices: [part3.csv, part1.csv]\neveryone: true") == [1, 3])
        let both = try rules.preview("devices: [\"part*.csv\", part1.csv]\neveryone: true")
        #expect(both.int("rows") == 3 && both.int("audience") == 3)
    }

    // MARK: Selectors

    @Test("tags: any-match, devices with at least one of these")
    func tags() throws {
        let rules = try RuleFolder(
            Device(1, ["tags": "discount"]), Device(2, ["tags": "x;daily;y"]), Device(3, ["tags": "discounts"]),
            Device(4, ["tags": ""]))
        #expect(try rules.recipients("tags: [discount, daily]") == [1, 2])
    }

    @Test("aliases: every device of these aliases, at most ten each")
    func aliases() throws {
        let folder = try ProjectFolder(
            export: RuleFolder.csv((1...24).map { Device($0, ["alias": $0 <= 12 ? "ada" : "bob"]) }))
        try folder.writeCampaign(audience: "devices: devices.csv\naliases: [ada, nobody]")
        let preview = try folder.preview(isJSON: true).json()
        #expect(preview.int("audience") == 10)
        #expect(preview["skipped"] == .object(pairs: [("not_matched", .integer(12)), ("alias_limit", .integer(2))]))
    }

    @Test("registration_ids: exactly these devices")
    func registrationIDs() throws {
        let rules = try RuleFolder(
            Device(1, ["registration_id": "r1"]), Device(2, ["registration_id": "r11"]),
            Device(3, ["registration_id": "R1"]))
        #expect(try rules.recipients("registration_ids: [r1]") == [1])
    }

    @Test("everyone: broadcast; stands alone")
    func everyone() throws {
        let rules = try RuleFolder(Device(1, ["tags": "a"]), Device(2, ["tags": ""]))
        #expect(try rules.recipients("everyone: true") == [1, 2])
        for selector in ["tags: [a]", "aliases: [a]", "registration_ids: [a]"] {
            #expect(
                try rules.mistakes(audience: "everyone: true\n\(selector)").contains(
                    "'everyone' cannot be combined with"))
        }
    }

    @Test(
        "in the audience: matched by any of tags, aliases, registration_ids, and by all of where, and by nothing in exclude"
    )
    func union() throws {
        let rules = try RuleFolder(
            Device(1, ["tags": "a", "alias": "x", "registration_id": "r1", "language": "en"]),
            Device(2, ["tags": "b", "alias": "u", "registration_id": "r2", "language": "en"]),
            Device(3, ["tags": "b", "alias": "x", "registration_id": "r3", "language": "en"]),
            Device(4, ["tags": "a", "alias": "u", "registration_id": "r3", "language": "de"]),
            Device(5, ["tags": "a;gone", "alias": "u", "registration_id": "r3", "language": "en"]),
            Device(6, ["tags": "b", "alias": "x", "registration_id": "r6", "language": "en"]))
        let audience = "tags: [a]\naliases: [u]\nregistration_ids: [r3]\nwhere: {language: en}\nexclude: {tags: [gone]}"
        let preview = try rules.preview(audience)
        #expect(RuleFolder.numbers(preview) == [1, 2, 3])
        // Each recipient counts under every selector that names it.
        #expect(
            preview["selected_by"]
                == .object(pairs: [("tag:a", .integer(1)), ("alias", .integer(1)), ("registration_id", .integer(1))]))
        #expect(
            preview["skipped"]
                == .object(pairs: [("not_matched", .integer(1)), ("filtered", .integer(1)), ("excluded", .integer(1))]))
    }

    @Test("tags in long form: {any: [...], all: [...], none: [...]}")
    func longForm() throws {
        let rules = try RuleFolder(
            Device(1, ["tags": "a;x;y"]), Device(2, ["tags": "b;x;y"]), Device(3, ["tags": "a;x"]),
            Device(4, ["tags": "a;x;y;n"]),
            Device(5, ["tags": "x;y"]))
        #expect(try rules.recipients("tags: {any: [a, b], all: [x, y], none: [n]}") == [1, 2])
        #expect(try rules.recipients("tags: {all: [x, y]}") == [1, 2, 4, 5])
        #expect(try rules.recipients("tags: {any: [a], none: [n]}") == [1, 3])
        #expect(try rules.mistakes(audience: "tags: {none: [n]}").contains("nothing selects any"))
    }

    @Test(
        "lists may come from a file, one a line",
        arguments: [
            "tags: {file: list.txt}", "aliases: {file: list.txt}", "registration_ids: {file: list.txt}",
            "tags: {any: {file: list.txt}}",
        ])
    func listFile(selector: String) throws {
        let rules = try RuleFolder(
            Device(1, ["tags": "one", "alias": "one", "registration_id": "one"]),
            Device(2, ["tags": "two", "alias": "two", "registration_id": "two"]),
            Device(3, ["tags": "three", "alias": "three", "registration_id": "three"]))
        try rules.folder.write("list.txt", "one\r\n\n  two  \n# three\n")
        #expect(try rules.recipients(selector) == [1, 2])
        try FileManager.default.removeItem(at: rules.folder.url.appendingPathComponent("list.txt"))
        #expect(try rules.mistakes(audience: selector).contains("list.txt"))
    }

    // MARK: Aliases

    @Test("an alias expands to the most recently active ones, then by token; the rest are skipped as alias_limit")
    func aliasOrder() throws {
        let rules = try RuleFolder(
            Device(5, ["alias": "u", "last_active": "2026-01-01"]),
            Device(4, ["alias": "u", "last_active": "2026-03-01"]),
            Device(3, ["alias": "u", "last_active": "2026-02-01"]),
            Device(2, ["alias": "u", "last_active": "2026-02-01"]),
            Device(1, ["alias": "u", "last_active": ""]))
        let preview = try rules.preview("aliases: [u]\nalias_limit: 2")
        #expect(RuleFolder.numbers(preview) == [4, 2])
        #expect(preview["skipped"]?.int("alias_limit") == 3)
    }

    @Test("alias_limit in audience changes it")
    func aliasLimit() throws {
        let folder = try ProjectFolder(export: RuleFolder.csv((1...15).map { Device($0, ["alias": "u"]) }))
        for (limit, audience) in [
            ("", 10), ("\nalias_limit: 1", 1), ("\nalias_limit: 12", 12), ("\nalias_limit: 100", 15),
        ] {
            try folder.writeCampaign(audience: "devices: devices.csv\naliases: [u]\(limit)")
            #expect(try folder.preview(isJSON: true).json().int("audience") == audience, "\(limit)")
        }
    }

    @Test("a device that a tag or registration id also selects is not cut by the alias limit")
    func aliasLimitSpares() throws {
        let rules = try RuleFolder(
            Device(1, ["alias": "u", "tags": "", "registration_id": "r1", "last_active": "2026-03-01"]),
            Device(2, ["alias": "u", "tags": "a", "registration_id": "r2", "last_active": "2026-02-01"]),
            Device(3, ["alias": "u", "tags": "", "registration_id": "r3", "last_active": "2026-01-01"]),
            Device(4, ["alias": "u", "tags": "", "registration_id": "r4", "last_active": "2026-02-15"]))
        let preview = try rules.preview("aliases: [u]\ntags: [a]\nregistration_ids: [r3]\nalias_limit: 1")
        #expect(RuleFolder.numbers(preview) == [1, 2, 3])
        #expect(preview["skipped"] == .object(pairs: [("alias_limit", .integer(1))]))
    }

    @Test("what is filtered or excluded does not use up the alias limit")
    func aliasLimitOfAudience() throws {
        let rules = try RuleFolder(
            Device(1, ["alias": "u", "language": "de", "last_active": "2026-03-01"]),
            Device(2, ["alias": "u", "language": "en", "last_active": "2026-02-01"]))
        #expect(try rules.recipients("aliases: [u]\nalias_limit: 1\nwhere: {language: en}") == [2])
    }

    // MARK: One push per device

    @Test("one push per device token, whatever number of rows or selectors name it")
    func onePush() throws {
        let rules = try RuleFolder(
            Device(1, ["tags": "a", "alias": "u"]), Device(1, ["tags": "a", "alias": "v"]),
            Device(2, ["tags": "a", "alias": "u"]))
        let preview = try rules.preview("tags: [a]\naliases: [u, v]")
        #expect(preview.int("audience") == 2)
        #expect(preview["skipped"] == .object(pairs: [("duplicate_token", .integer(1))]))
        let large = try RuleFolder()
        let token = ProjectFolder.token(0xABC)
        try large.folder.write("devices.csv", "device_token\n\(token)\n\(token.uppercased())\n")
        #expect(try large.preview("everyone: true").int("audience") == 1)
    }

    @Test("the newest row by last_active decides what is read; where they tie, the one that is read last")
    func newestRow() throws {
        let content = "title: \"{{ name }}\""
        func title(_ devices: [(name: String, active: String)]) throws -> String? {
            let rules = try RuleFolder()
            try rules.folder.write(
                "devices.csv", RuleFolder.csv(devices.map { Device(1, ["name": $0.name, "last_active": $0.active]) }))
            return try rules.payload(content)["aps"]?["alert"]?["title"]?.stringValue
        }
        #expect(try title([("old", "2026-01-01"), ("new", "2026-03-01"), ("mid", "2026-02-01")]) == "new")
        #expect(try title([("first", "2026-01-01"), ("second", "2026-01-01")]) == "second")
        #expect(try title([("undated", ""), ("dated", "2026-01-01")]) == "dated")
        #expect(
            try title([
                ("morning", "2026-01-01T08:00:00Z"), ("evening", "2026-01-01T20:00:00+08:00"), ("night", "1767304800"),
            ]) == "night")
    }

    // MARK: Exclusion

    @Test(
        "exclude: none of these may hold: tags, aliases, registration_ids",
        arguments: [
            "tags: [t2]", "aliases: [u2]", "registration_ids: [r2]", "tags: {file: gone.txt}",
            "aliases: {file: gone.txt}",
        ])
    func exclude(entry: String) throws {
        let rules = try RuleFolder(
            Device(1, ["tags": "t1", "alias": "u1", "registration_id": "r1"]),
            Device(2, ["tags": "t1;t2", "alias": "u2", "registration_id": "r2"]))
        try rules.folder.write("gone.txt", "t2\nu2\n")
        let preview = try rules.preview("tags: [t1]\nexclude: {\(entry)}")
        #expect(RuleFolder.numbers(preview) == [1])
        #expect(preview["skipped"] == .object(pairs: [("excluded", .integer(1))]))
    }

    @Test("exclude by devices: tokens or registration ids listed there, one a line or as an export")
    func excludeDevices() throws {
        let rules = try RuleFolder(
            Device(1, ["registration_id": "r1"]), Device(2, ["registration_id": "r2"]),
            Device(3, ["registration_id": "r3"]))
        try rules.folder.write("gone.txt", "r1\n\(ProjectFolder.token(2).uppercased())\n")
        #expect(try rules.recipients("everyone: true\nexclude: {devices: gone.txt}") == [3])
        try rules.folder.write("gone.csv", "note,device_token\nleft,\(ProjectFolder.token(3))\n")
        #expect(try rules.recipients("everyone: true\nexclude: {devices: gone.csv}") == [1, 2])
        #expect(try rules.recipients("everyone: true\nexclude: {devices: [gone.txt, gone.csv]}").isEmpty)
        try rules.folder.write("ids.csv", "registration_id\nr2\n")
        #expect(try rules.recipients("everyone: true\nexclude: {devices: ids.csv}") == [1, 3])
    }
}
