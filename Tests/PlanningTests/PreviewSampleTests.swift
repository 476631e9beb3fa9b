import Base
import Foundation
import TestCommands
import TestSupport
import Testing

@Suite("samples and reasons of a preview")
struct PreviewSampleTests {
    private static let campaign = """
        name: spring
        app: shop
        audience: {devices: devices.csv, everyone: true, alias_limit: 2}
        content:
          title: "Hi {{ first_name | default: 'there' }}"
          subtitle: Only until Sunday
          body: "{{ store }} has 20 % off everything, from the first spring flowers to the last winter coat."
          image: https://cdn.example.com/spring.jpg
          sound: default
          badge: 1
          thread: spring
          link: shop://sale
          data: {campaign: spring}
          languages:
            fi: {title: Hei, subtitle: Vain sunnuntaihin, body: "20 % alennus kaikesta kaupassa {{ store }}."}
            zh-Hans: {title: "你好", subtitle: 周日截止, body: "全场八折，仅限今天。{{ store }}等您来，从第一束春花到最后一件冬衣。"}
        variants:
          short: {share: 50, content: {body: "20 % off.", languages: {fi: {body: "20 % pois."}, zh-Hans: {body: 八折}}}}
          long: {share: 40}
          holdout: {share: 10}

        """

    /// Finnish is at the very end, after more rows than a preview keeps; the first of them drops
    /// out.
    private static func export(rows: Int) -> String {
        var lines = ["device_token,alias,language,last_active,first_name,store"]
        for row in 0..<rows {
            lines.append("\(ProjectFolder.token(row)),,en,2026-11-01,,\(row % 7 == 3 ? "" : "Lyon")")
        }
        lines += (0..<40).map { "\(ProjectFolder.token(rows + $0)),,fi-FI,2026-11-01,,\($0 == 0 ? "" : "Oulu")" }
        return lines.joined(separator: "\n") + "\n"
    }

    private struct Shown: Hashable {
        var variant: String?
        var language: String?
        var token: String?
    }

    private func samples(_ document: JSONValue) throws -> [Shown] {
        guard case .array(let samples)? = document["samples"] else { return [] }
        return samples.map {
            Shown(
                variant: $0["variant"]?.stringValue, language: $0["language"]?.stringValue,
                token: $0["device_token"]?.stringValue)
        }
    }

    @Test("the sample of a tracked push shows what it says, with zeros in place of what only a run has")
    func tracked() throws {
        let folder = try ProjectFolder()
        try folder.writeCampaign(content: "title: Hi\nlink: https://example.com/sale", delivery: "track: true")
        let preview = try folder.preview(samples: 1, isJSON: true).json()
        guard case .array(let samples)? = preview["samples"], let payload = samples.first?["payload"] else {
            Issue.record("\(preview.text)")
            return
        }
        // Tokens of these devices are zeros, too, and are shortened wherever they are.
        let run = "00000000-000000-test-0000"
        #expect(
            payload["volley"]?.text
                == #"{"run":"\#(run)","campaign":"test","id":"00000000-0000-8000-8000-000000000000"}"#)
        #expect(
            payload["link"]?.stringValue?.hasSuffix(
                "?utm_source=volley&utm_medium=push&utm_campaign=test&utm_id=\(run)") == true)
        #expect(preview["payload_bytes"]?.int("max") == payload.text.utf8.count, "\(preview.text)")
        try folder.write("devices.csv", "device_token,code\n\(ProjectFolder.token(0)),\(ProjectFolder.token(0))\n")
        try folder.writeCampaign(content: "title: Hi {{ code }}", delivery: "track: true")
        #expect(try !folder.preview(samples: 1, isJSON: true).output.contains(ProjectFolder.token(0)))
        try folder.writeCampaign(content: "title: Hi\nlink: https://example.com/sale", delivery: "track: true")
        let text = try folder.preview(samples: 1).output
        #expect(text.contains("https://example.com/sale?utm_source=volley"), "\(text)")
    }

    @Test("every text that anybody gets has its samples, however rare its language")
    func rareLanguages() throws {
        let folder = try ProjectFolder(export: Self.export(rows: 25_000))
        try folder.write("campaign.yaml", Self.campaign)
        let preview = try folder.preview(samples: 2, isJSON: true).json()
        let shown = try samples(preview)
        #expect(
            shown.map { "\($0.variant ?? "") \($0.language ?? "")" } == [
                "short ", "short ", "short fi", "short fi", "long ", "long ", "long fi", "long fi",
            ])
        try #require(shown.count == 8 && Set(shown.map(\.token)).count == 8)
        #expect(try samples(folder.preview(isJSON: true).json()).count == 4)
        #expect(try samples(folder.preview(samples: 0, isJSON: true).json()).isEmpty)
        let planned = try folder.plan(isJSON: true).json()
        #expect(try samples(planned) == [0, 2, 4, 6].map { shown[$0] })
        #expect(planned["plan_hash"] == preview["plan_hash"])
    }

    private static let mixed = """
        device_token,alias,tags,language,last_active,first_name,store
        \(ProjectFolder.token(1)),anna,x,en,2026-11-01,Anna,Lyon
        \(ProjectFolder.token(2)),anna,x,en,2026-11-02,Anna,Lyon
        \(ProjectFolder.token(3)),anna,x,en,2026-11-03,Anna,Lyon
        \(ProjectFolder.token(4)),,y,de,2026-11-03,Zoë,
        \(ProjectFolder.token(5)),,y,zh-Hans,2026-11-03,小明,上海
        \(ProjectFolder.token(6)),,y,fi,2026-11-03,,\(String(repeating: "x", count: 5000))
        \(ProjectFolder.token(7)),,y,en,2026-11-03,,
        \(ProjectFolder.token(8)),,y,zh_CN,2026-11-03,,北京
        \(ProjectFolder.token(8)),,y,zh_CN,2026-11-04,,北京
        \(ProjectFolder.token(40)),,y,en,2026-11-03,Ada,
        ,,y,en,2026-11-04,,Lyon
        nonsense,,y,en,2026-11-04,,Lyon

        """

    @Test("a preview reads as it did: cards as on a phone, reasons with what to do")
    func text() throws {
        let folder = try ProjectFolder(export: Self.mixed)
        try folder.write(
            "campaign.yaml",
            Self.campaign.replacing("everyone: true", with: "aliases: [anna], tags: {any: [y], none: [x]}"))
        let result = try folder.preview()
        #expect(result.status == 0, "\(result.errors)")
        #expect(
            try Snapshot.flaw(of: result.output + "--- standard error ---\n" + result.errors, "preview/mixed.txt")
                == nil)
        let verbose = try folder.preview(samples: 1, isVerbose: true)
        #expect(verbose.output.contains(#""thread-id": "spring""#) && !result.output.contains("thread-id"))
    }

    @Test("what is blank is counted by column, and what is too large says how large")
    func reasons() throws {
        let folder = try ProjectFolder(export: Self.mixed)
        try folder.writeCampaign(
            audience: "devices: devices.csv\neveryone: true",
            content: "title: \"{{ first_name }}\"\nbody: \"{{ store }}\"")
        let document = try folder.preview(isJSON: true).json()
        #expect(
            document["skipped"]
                == .object(pairs: [
                    ("missing_token", .integer(1)), ("bad_token", .integer(1)), ("duplicate_token", .integer(1)),
                    ("render_error", .integer(5)),
                ]))
        guard case .array(let reasons)? = document["skipped_why"] else { Issue.record("no reasons"); return }
        let blank = reasons.filter { $0["reason"]?.stringValue == "render_error" }
        #expect(blank.map { $0["column"]?.stringValue } == ["first_name", "store"])
        #expect(blank.map { $0.int("rows") } == [3, 2])
        #expect(
            blank[0]["why"]?.stringValue?.contains(
                "3 devices have no first_name, but campaign.yaml:7:14 needs it; to reach them, write {{ first_name | default:"
            ) == true)
        try folder.writeCampaign(
            audience: "devices: devices.csv\neveryone: true", content: "title: \"{{ store | default: 'x' }}\"")
        let large = try folder.preview()
        #expect(
            large.output.replacing("\n    ", with: " ").contains(
                "the largest payload would have 5,030 bytes, but APNs accepts at most 4,096"),
            "\(large.output)")
    }

    @Test("a text for a region of Chinese that no device gets causes one warning, whose remedy is followed")
    func scripts() throws {
        let folder = try ProjectFolder()
        try folder.write(
            "chinese.csv", "device_token,language\n" + (1...3).map { "\(ProjectFolder.token($0)),zh-Hans\n" }.joined())
        for (tag, count) in [("zh-CN", 1), ("zh-Hans", 0)] {
            try folder.writeCampaign(
                audience: "devices: chinese.csv\neveryone: true",
                content: "title: Hello\nbody: World\nlanguages: {\(tag): {title: 春季, body: 全场八折}}")
            let errors = try folder.preview().errors
            #expect(errors.components(separatedBy: "[language-not-spoken]").count == count + 1, "\(errors)")
            #expect(count == 0 || errors.contains("Name the text zh-Hans, which covers both."), "\(errors)")
        }
    }

    @Test("warnings have names, and can be silenced with a reason")
    func names() throws {
        let folder = try ProjectFolder()
        try folder.writeCampaign(
            audience: "devices: devices.csv\ntags: [newss, sports]", content: "title: Hello  you\nbody: World")
        let result = try folder.preview()
        #expect(
            result.errors.contains("no row in the exports has the tag 'newss'. Did you mean 'news'? [tag-not-found]"),
            "\(result.errors)")
        #expect(result.errors.contains("[double-blank]"))
        let text = try String(contentsOf: folder.url.appendingPathComponent("campaign.yaml"), encoding: .utf8)
        try folder.write(
            "campaign.yaml",
            text
                + "allow:\n  - {warning: tag-not-found, reason: It comes next week.}\n  - {warning: double-blank, reason: Our logo.}\n"
        )
        let silent = try folder.preview(isJSON: true)
        #expect(silent.errors.isEmpty, "\(silent.errors)")
        #expect(try silent.json()["warnings"] == .array([]))
        guard case .array(let silenced)? = try silent.json()["silenced"] else {
            Issue.record("nothing silenced"); return
        }
        #expect(silenced.map { $0["name"]?.stringValue } == ["double-blank", "tag-not-found"])
        // check reads no rows, so it cannot say that the tag now exists.
        try folder.write(
            "campaign.yaml",
            text.replacing("newss", with: "news").replacing("  you", with: " you")
                + "allow:\n  - {warning: tag-not-found, reason: x}\n")
        #expect(try folder.check().errors.isEmpty)
        #expect(try folder.preview().errors.contains("[unused-allow]"))
    }

    @Test("rows warn of what the campaign cannot know")
    func rows() throws {
        let rows = (0..<200).map {
            "\(ProjectFolder.token($0)),\($0 < 195 ? "all" : ""),en,\($0 == 0 ? "{{ x }}" : "Ada")"
        }
        let folder = try ProjectFolder(export: "device_token,tags,language,first_name\n" + rows.joined(separator: "\n"))
        func names(_ audience: String, _ content: String) throws -> [String] {
            try folder.writeCampaign(audience: "devices: devices.csv\n" + audience, content: content)
            guard case .array(let warnings)? = try folder.preview(samples: 0, isJSON: true).json()["warnings"]
            else { return [] }
            return warnings.compactMap { $0["name"]?.stringValue }
        }
        #expect(
            try names("tags: [all]", "title: Hi\nlanguages: {de: {title: Hallo}}") == [
                "audience-nearly-everyone", "language-not-spoken",
            ])
        #expect(try names("everyone: true", "title: Hi {{ first_name }}") == ["text-not-ready"])
        #expect(
            try names("everyone: true\nwhere: {language: de}", "title: Hi") == [
                "condition-never-holds", "audience-empty",
            ])
        #expect(try names("everyone: true\nwhere: {first_name: Ada}", "title: Hi").isEmpty)
    }

    @Test("an export that is a week old is named, unless nobody is reached")
    func staleExport() throws {
        let folder = try ProjectFolder(app: "environment: simulator")
        try folder.writeCampaign()
        func age(_ days: Double) throws {
            try FileManager.default.setAttributes(
                [.modificationDate: Date().addingTimeInterval(-days * 86_400)],
                ofItemAtPath: folder.url.appendingPathComponent("devices.csv").path)
        }
        try age(9.5)
        #expect(try folder.check().errors.isEmpty)
        try folder.writeProject(
            app: "environment: {url: \"https://localhost:1\"}\nkey: {file: key.p8, id: ABC123DEFG, team: DEF123GHIJ}")
        let result = try folder.preview()
        #expect(
            result.errors.contains("devices.csv: warning: the export is 9 days old.")
                && result.errors.contains("[stale-export]"),
            "\(result.errors)")
        try age(6.9)
        #expect(try folder.preview().errors.isEmpty)
    }
}
