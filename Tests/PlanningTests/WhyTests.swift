import Base
import Foundation
import Runs
import TestCommands
import TestSupport
import Testing

@Suite("volley preview --why")
struct WhyTests {
    private static let campaign = """
        name: spring
        app: shop
        audience:
          devices: devices.csv
          tags: [news]
          aliases: [anna]
          alias_limit: 2
          where: {app_version: ">= 3.2.0"}
          exclude: {tags: [unsubscribed]}
        content:
          title: "Hi {{ first_name }}"
          body: "{{ store | default: 'We' }} miss you."
          languages:
            de: {title: "Hallo {{ first_name }}", body: "{{ store | default: 'Wir' }} vermissen dich."}
        variants:
          short: {share: 40, content: {title: "Hey {{ first_name }}", languages: {de: {title: "He {{ first_name }}"}}}}
          long: {share: 40}
          holdout: {share: 20}

        """

    /// Every row has its own alias, so that `--why` can explain each.
    private static func export() -> String {
        var lines = ["device_token,alias,tags,language,last_active,first_name,store,app_version"]
        func add(_ token: String, _ alias: String, _ tags: String, _ rest: String) {
            lines.append("\(token),\(alias),\(tags),\(rest)")
        }
        for device in 0..<30 {
            add(
                ProjectFolder.token(device), "a\(device)",
                device % 10 == 9 ? "sports" : device % 10 == 8 ? "news;unsubscribed" : "news",
                "\(device % 3 == 0 ? "de-AT" : "en"),2026-11-01,\(device % 7 == 6 ? "" : "Ada"),\((14...16).contains(device) ? String(repeating: "x", count: 4500) : "Lyon"),\(device % 10 == 7 ? "3.1.9" : "3.10")"
            )
        }
        for device in 0..<4 {
            add(ProjectFolder.token(100 + device), "anna", "", "en,2026-11-0\(device + 1),Anna,,3.2")
        }
        add(ProjectFolder.token(3), "a3", "news", "en,2026-11-07,Ada,Oulu,3.2")
        add("", "none", "news", "en,,Ada,Oulu,3.2")
        add("7.28E+15", "bad", "news", "en,,Ada,Oulu,3.2")
        return lines.joined(separator: "\n") + "\n"
    }

    private func explanation(_ folder: ProjectFolder, _ who: String) throws -> JSONValue {
        let result = try folder.explain(who, isJSON: true)
        #expect(result.status == 0, "\(result.errors)")
        return try result.json()
    }

    private func suppress(_ device: Int, in folder: ProjectFolder, reason: String, since: Timestamp = .now()) throws {
        let list = SuppressionList(
            app: "shop", environment: "simulator", folder: folder.url.appendingPathComponent("runs").path)
        _ = try list.add {
            try $0.add(Target(normalized: ProjectFolder.token(device)), reason: reason, invalidSince: since)
        }
    }

    private func list(_ value: JSONValue?) -> [JSONValue] {
        guard case .array(let values)? = value else { return [] }
        return values
    }

    @Test(
        "a token counts with what comes along when it is copied, and is never shown whole",
        arguments: ["<T>", "T,", "\"T\"", "'T';", " T.", "aa000000 T"])
    func copied(form: String) throws {
        let folder = try ProjectFolder(export: Self.export())
        try folder.write("campaign.yaml", Self.campaign)
        let token = ProjectFolder.token(1)
        let typed = form == "aa000000 T" ? "\(token.prefix(8)) \(token.dropFirst(8))" : form.replacing("T", with: token)
        let result = try folder.explain(typed)
        #expect(result.status == 0 && result.output.hasPrefix("aa00…0001 (alias a1)"), "\(result.output)")
        let unknown = try folder.explain("token=\(token)")
        #expect(
            unknown.output.contains("gets nothing") && !(unknown.output + unknown.errors).contains(token),
            "\(unknown.output)")
        let short = try folder.explain("aa00")
        #expect(short.output.contains("or by its first and last digits: aa00…89f1"), "\(short.output)")
    }

    @Test("every verdict is what the preview counts, and follows from the last step")
    func verdicts() throws {
        let folder = try ProjectFolder(export: Self.export())
        try folder.write("campaign.yaml", Self.campaign)
        try suppress(5, in: folder, reason: "complaint")
        let preview = try folder.preview(samples: 500, isJSON: true).json()
        var verdicts: [String: Int] = [:]
        for who in (0..<30).map({ "a\($0)" }) + ["anna", "none", "bad"] {
            for device in list(try explanation(folder, who)["devices"]) {
                let rows = list(device["rows"])
                for row in rows {
                    let verdict = row["verdict"]?.stringValue ?? ""
                    verdicts[verdict, default: 0] += 1
                    #expect(list(row["steps"]).last?["holds"] == .bool(verdict == "recipient"), "\(row.text)")
                    #expect(list(row["steps"]).dropLast().allSatisfy { $0["holds"] == .bool(true) }, "\(row.text)")
                }
                let isRecipient = rows.contains { $0["verdict"]?.stringValue == "recipient" }
                #expect((device["verdict"]?.stringValue == "recipient") == isRecipient)
            }
        }
        #expect(verdicts.removeValue(forKey: "recipient") == preview.int("audience"))
        let skipped = try #require(preview["skipped"])
        #expect(verdicts == Dictionary(uniqueKeysWithValues: skipped.names.map { ($0, skipped.int($0) ?? 0) }))
        #expect(skipped.names.count == 11, "\(skipped.text)")
    }

    @Test("an explanation reads as it did")
    func text() throws {
        let folder = try ProjectFolder(export: Self.export())
        try folder.write("campaign.yaml", Self.campaign)
        try suppress(5, in: folder, reason: "Imported", since: #require(Timestamp("2026-11-05T10:00:00Z")))
        var text = ""
        for who in [
            "a3", "anna", "a5", "a6", "a7", "a8", "a9", "a12", "a14", "a15", "none", "bad", "7.28E+15", "aa00…0001",
            "nobody",
        ] {
            let result = try folder.explain(who)
            #expect(result.status == 0 && result.errors.isEmpty, "\(result.errors)")
            text += "$ volley preview campaign.yaml --why \(who)\n\(result.output)\n"
        }
        #expect(try Snapshot.flaw(of: text, "preview/why.txt") == nil)
    }

    @Test("a cell that is not a token is said with its row, whether or not the campaign names the row")
    func badToken() throws {
        let odd = String(ProjectFolder.token(1).dropLast())
        let folder = try ProjectFolder(
            export: "device_token,alias,tags\n\(ProjectFolder.token(2)),a2,news\n\(odd),a1,sports\n")
        try folder.write(
            "campaign.yaml",
            "name: spring\napp: shop\naudience: {devices: devices.csv, tags: [news]}\ncontent: {title: Hi}\n")
        let result = try folder.explain(odd)
        #expect(
            result.output == """
                A row without a device token (alias a1) does not get spring: bad_token
                  devices.csv:3
                    ✗ the cell in the column of device tokens, 'aa00…0000', is not a token: its 63 digits are no
                      even number: it is cut off, or one is too many

                """)
    }

    @Test("a whole token is shortened, even when it was typed whole")
    func tokens() throws {
        let folder = try ProjectFolder(export: Self.export())
        try folder.write("campaign.yaml", Self.campaign)
        let token = ProjectFolder.token(1)
        for result in try [
            folder.explain(token), folder.explain(token.uppercased()), folder.explain(token, isJSON: true),
        ] {
            #expect(
                result.output.contains("aa00…0001") && !(result.output + result.errors).lowercased().contains(token))
        }
        let wrong = try folder.explain("12…34")
        #expect(wrong.status == 2 && wrong.errors.contains("too few digits"))
    }
}
