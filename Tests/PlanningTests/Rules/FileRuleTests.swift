import Base
import Foundation
import TestCommands
import Testing

@Suite("rules: the two files")
struct FileRuleTests {
    private typealias Device = RuleFolder.Device

    @Test("unknown keys are errors, with the nearest valid name where a key is misspelt")
    func unknownKeys() throws {
        let rules = try RuleFolder(Device(1))
        #expect(
            try rules.mistakes(content: "title: Hi\nboddy: x").contains(
                "7:3: unknown key 'boddy' in 'content'. Did you mean 'body'?"))
        #expect(
            try rules.mistakes(content: "title: Hi\nzzz: x").contains(
                "7:3: unknown key 'zzz' in 'content'. Valid here: "))
    }

    @Test("duplicate keys are errors")
    func duplicateKeys() throws {
        let rules = try RuleFolder(Device(1))
        #expect(
            try rules.mistakes(content: "title: Hi\ntitle: Ho").contains(
                "campaign.yaml:7:3: the key 'title' appears twice"))
    }

    @Test("name: [a-z0-9-], at most 64")
    func name() throws {
        let rules = try RuleFolder(Device(1))
        for (name, isAllowed) in [
            ("spring-sale-2026", true), (String(repeating: "x", count: 64), true),
            (String(repeating: "x", count: 65), false),
            ("Spring", false), ("spring_sale", false), ("frühling", false),
        ] {
            try rules.folder.writeCampaign(name: name, audience: "everyone: true")
            #expect(try rules.folder.check().status == (isAllowed ? 0 : 2), "\(name)")
        }
    }
}

@Suite("rules: volley.yaml")
struct ProjectRuleTests {
    private typealias Device = RuleFolder.Device

    @Test("runs: folder of run files")
    func runs() throws {
        let rules = try RuleFolder(Device(1))
        let text = try String(contentsOf: rules.folder.url.appendingPathComponent("volley.yaml"), encoding: .utf8)
        try rules.folder.write("volley.yaml", text.replacing("runs: runs", with: "runs: kept/here"))
        try rules.folder.writeCampaign(audience: "everyone: true")
        #expect(try rules.folder.plan().status == 0)
        #expect(rules.folder.files(in: "kept/here").count == 1 && rules.folder.files(in: "runs").isEmpty)
        try rules.folder.write("volley.yaml", text.replacing("runs: runs\n", with: ""))
        #expect(try rules.folder.plan().status == 0)
        #expect(rules.folder.files(in: "runs").count == 1)
    }

    @Test(
        "environment: production | sandbox | simulator | {url, ca}",
        arguments: ["production", "sandbox", "simulator", "{url: \"https://localhost:2197\", ca: ca.pem}"])
    func environment(_ environment: String) throws {
        let rules = try RuleFolder(
            app:
                "devices: devices.csv\nenvironment: \(environment)\nkey: {file: key.p8, id: ABC123DEFG, team: DEF123GHIJ}",
            Device(1))
        #expect(try rules.preview("everyone: true").int("audience") == 1)
    }

    @Test("environment: anything else is an error")
    func otherEnvironment() throws {
        let rules = try RuleFolder(app: "devices: devices.csv\nenvironment: produktion", Device(1))
        #expect(try rules.mistakes().contains("volley.yaml:7:18: "))
    }

    @Test("key: {file, id, team}; certificate: {file, passphrase_env}; one of them, except in the simulator")
    func credentials() throws {
        let key = "key: {file: key.p8, id: ABC123DEFG, team: DEF123GHIJ}"
        let certificate = "certificate: {file: push.p12, passphrase_env: PUSH_PASSPHRASE}"
        for (lines, word) in [
            ("", "neither 'key' nor 'certificate'"), ("\(key)\n\(certificate)", "cannot be combined"),
            ("key: {file: key.p8, id: abc, team: DEF123GHIJ}", "10 capital letters"),
            ("key: {file: key.p8}", "'id' is missing"),
        ] {
            let rules = try RuleFolder(app: "devices: devices.csv\nenvironment: sandbox\n\(lines)", Device(1))
            #expect(try rules.mistakes().contains(word), "\(lines)")
        }
        for lines in [key, certificate] {
            let rules = try RuleFolder(app: "devices: devices.csv\nenvironment: sandbox\n\(lines)", Device(1))
            #expect(try rules.preview("everyone: true").int("audience") == 1)
        }
    }

    @Test("devices: default device export, which a campaign may replace")
    func devices() throws {
        let rules = try RuleFolder(Device(1), Device(2))
        try rules.folder.write("mine.csv", RuleFolder.csv([Device(3)]))
        #expect(try rules.recipients("everyone: true") == [1, 2])
        #expect(try rules.recipients("devices: mine.csv\neveryone: true") == [3])
    }

    @Test("columns: where to find things in the exports; defaults are the names on the left")
    func columns() throws {
        let standard = [
            "token", "registration_id", "alias", "tags", "language", "timezone", "last_active", "registered_at",
        ]
        let rules = try RuleFolder()
        let audience = """
            tags: [a]
            aliases: [u]
            registration_ids: [r]
            where: {language: en, timezone: Europe/Berlin, last_active: present, registered_at: present}
            """
        // Each selector names one device, so that a column which is not found is noticed.
        let rows = [("", "", "a;x"), ("", "u", ""), ("r", "", "")].enumerated().map { number, cells in
            "\(ProjectFolder.token(number + 1)),\(cells.0),\(cells.1),\(cells.2),en,Europe/Berlin,2026-11-01,2026-10-01"
        }
        func write(columns: String, header: [String], separator: String = ";") throws {
            try rules.folder.write(
                "volley.yaml",
                "apps:\n  shop:\n    topic: com.example.shop\n    environment: simulator\n    devices: devices.csv\n\(columns)"
            )
            let body = rows.map { $0.replacing(";", with: separator) }
            try rules.folder.write(
                "devices.csv", ([header.joined(separator: ",")] + body).joined(separator: "\n") + "\n")
        }
        try write(columns: "", header: standard)
        #expect(try rules.recipients(audience) == [1, 2, 3])
        try write(columns: "", header: ["device_token"] + standard.dropFirst())
        #expect(try rules.recipients(audience) == [1, 2, 3])
        let renamed = standard.map { $0 == "tags" ? "tags: {column: X_tags, separator: \"|\"}" : "\($0): X_\($0)" }
        try write(
            columns: "    columns: {\(renamed.joined(separator: ", "))}\n", header: standard.map { "X_" + $0 },
            separator: "|")
        #expect(try rules.recipients(audience) == [1, 2, 3])
        // The short form of tags names only the column.
        try write(columns: "    columns: {tags: labels}\n", header: standard.map { $0 == "tags" ? "labels" : $0 })
        #expect(try rules.recipients("tags: [x]") == [1])
    }

    @Test("columns: templates find a standard name whatever the export calls it")
    func columnsInTemplates() throws {
        let rules = try RuleFolder(app: "environment: simulator\ndevices: devices.csv")
        let text = try String(contentsOf: rules.folder.url.appendingPathComponent("volley.yaml"), encoding: .utf8)
        try rules.folder.write("volley.yaml", text.replacing("{token: device_token}", with: "{alias: Kunde}"))
        try rules.folder.write("devices.csv", "token,Kunde\n\(ProjectFolder.token(1)),Ada\n")
        let payload = try rules.payload("title: \"{{ alias }} {{ Kunde }}\"")
        #expect(payload["aps"]?["alert"]?["title"]?.stringValue == "Ada Ada")
    }
}
