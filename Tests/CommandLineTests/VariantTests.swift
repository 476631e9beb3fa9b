import Base
import Foundation
import TestCommands
import Testing

@Suite("variants and languages, from the file to the phone")
struct VariantTests {
    private static let languages = ["en", "de-AT", "zh_CN", ""]

    private static func export(devices: Int) -> String {
        let rows = (0..<devices).map { "\(ProjectFolder.token($0)),\(languages[$0 % 4]),\($0 % 10 == 1 ? "" : "Ada")" }
        return (["device_token,language,first_name"] + rows).joined(separator: "\n") + "\n"
    }

    private static let campaign = """
        name: test
        app: shop
        audience: {devices: devices.csv, everyone: true}
        content:
          title: Hi
          body: long
          languages:
            de: {title: Hallo, body: "lang {{ first_name }}"}
            zh-Hans: {title: "你好", body: "长"}
        variants:
          short: {share: 40, content: {body: short, languages: {de: {body: kurz}, zh-Hans: {body: "短"}}}}
          long: {share: 40}
          holdout: {share: 20}

        """

    @Test("the holdout holds nobody who could not have been sent to")
    func comparableHoldout() throws {
        let folder = try ProjectFolder(export: Self.export(devices: 400))
        try folder.write(
            "campaign.yaml",
            Self.campaign.replacingOccurrences(of: "body: long", with: "body: \"{{ first_name }}\"")
                .replacingOccurrences(of: "body: short", with: "body: \"{{ first_name }}\"").replacingOccurrences(
                    of: "kurz", with: "\"{{ first_name }}\""))
        let preview = try folder.volley("preview", "campaign.yaml", "--json").json()
        // One row in ten has no name, and Chinese texts print none.
        let nameless = (0..<400).filter { $0 % 10 == 1 && Self.languages[$0 % 4] != "zh_CN" }.count
        #expect(preview["skipped"]?.int("render_error") == nameless, "\(preview)")
        #expect(preview.int("audience").map { $0 + (preview["skipped"]?.int("holdout") ?? 0) } == 400 - nameless)
    }

    @Test("all devices of a person read the same text, or are all held out, unless devices are dealt")
    func byPerson() throws {
        let rows = (0..<300).map { "\(ProjectFolder.token($0)),person\($0 / 3)" }
        let folder = try ProjectFolder(export: (["device_token,alias"] + rows).joined(separator: "\n") + "\n")
        let head = "name: test\napp: shop\naudience: {devices: devices.csv, everyone: true}\ncontent: {title: Hi}\n"
        func variantsOfPeople(_ by: String) throws -> [Set<String>] {
            try folder.write(
                "campaign.yaml",
                head
                    + "variants: {\(by)short: {share: 45, content: {title: Yo}}, long: {share: 45}, holdout: {share: 10}}\n"
            )
            let preview = try folder.volley("preview", "campaign.yaml", "--json", "--show", "300").json()
            guard case .array(let samples)? = preview["samples"] else { return [] }
            var variants = Array(repeating: Set<String>(), count: 100)
            var devices = Array(repeating: 0, count: 100)
            for sample in samples {
                let token = sample["device_token"]?.stringValue ?? ""
                let number = Int(token.suffix(4), radix: 16) ?? 0
                variants[number / 3].insert(sample["variant"]?.stringValue ?? "")
                devices[number / 3] += 1
            }
            for person in 0..<100 where devices[person] < 3 { variants[person].insert("holdout") }
            return variants
        }
        for by in ["", "by: alias, "] { #expect(try variantsOfPeople(by).allSatisfy { $0.count == 1 }) }
        #expect(try variantsOfPeople("by: device, ").contains { $0.count > 1 })
    }

    @Test("who was previewed is who gets it, in the right words, and the report says which")
    func sent() throws {
        let server = try LedgeredServer(devices: 1)
        try server.folder.write("devices.csv", Self.export(devices: 400))
        try server.folder.write("campaign.yaml", Self.campaign)
        let preview = try server.folder.volley("preview", "campaign.yaml", "--json", "--show", "400").json()
        let (short, long) = (
            try #require(preview["variants"]?.int("short")), try #require(preview["variants"]?.int("long"))
        )
        let skipped = try #require(preview["skipped"])
        #expect(short > 100 && long > 100 && short + long == preview.int("audience"))
        #expect(skipped.names == ["holdout", "render_error"] && skipped.sum + short + long == 400)
        #expect(preview["texts"]?.names == ["default", "de", "zh-Hans"] && preview["texts"]?.sum == short + long)
        guard case .array(let messages)? = preview["messages"], case .array(let samples)? = preview["samples"] else {
            Issue.record("no messages")
            return
        }
        #expect(messages.count == 6 && messages.reduce(0) { $0 + ($1.int("recipients") ?? 0) } == short + long)
        let words = [
            "short": "Hi short", "short de": "Hallo kurz", "short zh-Hans": "你好 短", "long": "Hi long",
            "long de": "Hallo lang Ada",
            "long zh-Hans": "你好 长",
        ]
        #expect(samples.count == short + long)
        for sample in samples {
            let names = [sample["variant"]?.stringValue, sample["language"]?.stringValue].compactMap(\.self).joined(
                separator: " ")
            let alert = sample["payload"]?["aps"]?["alert"]
            #expect(
                [alert?["title"]?.stringValue, alert?["body"]?.stringValue].compactMap(\.self).joined(separator: " ")
                    == words[names])
        }

        let sent = try server.folder.volley("send", "campaign.yaml", "--yes", "--json")
        #expect(sent.status == 0, "\(sent.errors)")
        #expect(try sent.json()["outcomes"]?.int("accepted") == short + long)
        let lines = try server.lines("accepted")
        #expect(lines.count { $0[4] == "short" } == short && lines.count { $0[4] == "long" } == long)
        #expect(Set(lines.map { $0[3] }) == ["en", "de-AT", "zh_CN", ""])
        try server.expectAgreement("variants")
    }

    @Test("a run that is retried keeps everybody's variant")
    func retried() throws {
        let server = try LedgeredServer(devices: 1, faults: ["--internal-error-every", "2"])
        try server.folder.write("devices.csv", Self.export(devices: 400))
        try server.folder.write("campaign.yaml", Self.campaign)
        #expect(try [0, 1].contains(server.folder.volley("send", "campaign.yaml", "--yes", "--quiet").status))
        func variants() throws -> [String: String] {
            let csv = try server.folder.volley("report", "last", "--format", "csv").output.split(separator: "\n")
                .dropFirst()
            let cells = csv.map { $0.split(separator: ",", omittingEmptySubsequences: false) }
            return Dictionary(uniqueKeysWithValues: cells.map { (String($0[0]), String($0[4])) })
        }
        let first = try variants()
        #expect(Set(first.values) == ["short", "long"])
        let failed = try server.lines("failed")
        try #require(!failed.isEmpty, "nothing failed, so nothing can be retried")
        #expect(try [0, 1].contains(server.folder.volley("retry", "last", "--yes", "--quiet").status))
        let second = try variants()
        #expect(second.count == failed.count)
        for (token, variant) in second { #expect(variant == first[token]) }
    }
}
