import Base
import Foundation
import TestCommands
import Testing

/// Files written for Excel, opened by programs that know nothing about Excel, and read again by
/// Volley.
@Suite("--excel")
struct ExcelTests {
    private static let german = ["LC_ALL": "de_DE.UTF-8"], english = ["LC_ALL": "en_US.UTF-8"]
    /// Registration ids and aliases that Excel would change.
    private static let ids = [
        "12e45", "0012", "3-4", "123456789012345678", "plain", "a;b", "a,b", "say \"hi\"", "+49 30 12", "true",
    ]

    private static func export() -> String {
        let rows = ids.enumerated().map { number, id in
            let cell = "\"\(id.replacing("\"", with: "\"\""))\""
            return "\(ProjectFolder.token(number)),\(cell),\(cell)"
        }
        return (["device_token,registration_id,alias"] + rows).joined(separator: "\n") + "\n"
    }

    private static func sent() throws -> ProjectFolder {
        let folder = try ProjectFolder(export: export())
        try folder.writeCampaign()
        #expect(try folder.volley("send", "campaign.yaml", "--yes", "--quiet").status == 0)
        return folder
    }

    @Test(
        "the report has a byte order mark, CRLF and the separator of the locale; ids that Excel would change are texts in formulas"
    )
    func report() throws {
        let folder = try Self.sent()
        for (locale, separator) in [(Self.german, ";"), (Self.english, ",")] {
            let written = try folder.volley(
                "report", "last", "--format", "csv", "--excel", "--output", "report.csv", environment: locale)
            #expect(written.status == 0, "\(written.errors)")
            let text = String(
                decoding: try Data(contentsOf: folder.url.appendingPathComponent("report.csv")), as: UTF8.self)
            let columns = [
                "device_token", "registration_id", "alias", "language", "variant", "outcome", "status", "reason",
                "attempts", "apns_id",
                "latency_ms", "settled_at",
            ]
            #expect(text.hasPrefix("\u{FEFF}" + columns.joined(separator: separator) + "\r\n"))
            let lines = text.components(separatedBy: "\r\n")
            #expect(lines.count == 12 && lines.last == "")
            #expect(
                lines[1].hasPrefix(
                    [ProjectFolder.token(0), "\"=\"\"12e45\"\"\"", "\"=\"\"12e45\"\"\"", "", "", "accepted", "200"]
                        .joined(
                            separator: separator)))
            #expect(lines[5].hasPrefix([ProjectFolder.token(4), "plain", "plain", ""].joined(separator: separator)))
        }
    }

    @Test(
        "such a report is a list of excluded devices, by their tokens alone, in either locale",
        arguments: [german, english])
    func exclusion(locale: [String: String]) throws {
        let folder = try Self.sent()
        #expect(
            try folder.volley(
                "report", "last", "--format", "csv", "--excel", "--output", "reached.csv", environment: locale
            ).status == 0)
        try folder.writeCampaign(audience: "devices: devices.csv\neveryone: true\nexclude: {devices: reached.csv}")
        try folder.write("devices.csv", Self.export() + "\(ProjectFolder.token(50)),new,new\n")
        let preview = try folder.volley("preview", "campaign.yaml", "--json")
        #expect(try preview.json().int("audience") == 1, "\(preview.errors)")
        #expect(try preview.json()["skipped"]?.int("excluded") == Self.ids.count)
        // A list of ids leaves out devices by their ids; in a report these may belong to other
        // devices, too.
        let moved = Self.export().replacing("aa0000", with: "bb0000")
        try folder.write("devices.csv", moved)
        #expect(try folder.volley("preview", "campaign.yaml", "--json").json()["skipped"]?.int("excluded") ?? 0 == 0)
        try folder.writeCampaign(audience: "devices: devices.csv\neveryone: true\nexclude: {devices: ids.csv}")
        let plain = Self.ids.filter { $0.allSatisfy { $0.isLetter || $0.isNumber || $0 == "-" } }
        try folder.write("ids.csv", "registration_id\n" + plain.map { $0 + "\n" }.joined())
        #expect(
            try folder.volley("preview", "campaign.yaml", "--json").json()["skipped"]?.int("excluded") == plain.count)
    }

    @Test(
        "such a report is an export: its ids name the devices that they named before, in either locale",
        arguments: [german, english])
    func export(locale: [String: String]) throws {
        let folder = try Self.sent()
        #expect(
            try folder.volley(
                "report", "last", "--format", "csv", "--excel", "--output", "again.csv", environment: locale
            ).status == 0)
        // No registration id contains a space.
        for (key, names) in [("registration_ids", Self.ids.filter { !$0.contains(" ") }), ("aliases", Self.ids)] {
            let list = names.map { "'\($0)'" }.joined(separator: ", ")
            try folder.writeCampaign("again.yaml", audience: "devices: again.csv\n\(key): [\(list)]")
            let preview = try folder.volley("preview", "again.yaml", "--json")
            #expect(preview.status == 0, "\(preview.errors)")
            #expect(try preview.json().int("audience") == names.count, "\(key): \(preview.errors)")
        }
        // The text is the id, not the formula around it.
        try folder.writeCampaign(
            "again.yaml", audience: "devices: again.csv\neveryone: true", content: "title: 'Hi {{ alias }}'")
        let shown = try folder.volley("preview", "again.yaml", "--show", "10")
        #expect(shown.output.contains("Hi 12e45") && !shown.output.contains("=\""), "\(shown.output)")
    }

    @Test("a list of suppressed devices is exported for Excel and imported again as it was")
    func suppression() throws {
        // Excel would turn the second one into a number.
        let tokens = ["00000410" + String(repeating: "ab", count: 28), String(repeating: "12", count: 32)]
        let folder = try ProjectFolder()
        try folder.write(
            "gone.csv", "token,reason,invalid_since\n" + tokens.map { "\($0),410,2026-11-01T10:00:00Z\n" }.joined())
        #expect(try folder.volley("suppression", "import", "gone.csv").status == 0)
        let plain = try folder.volley("suppression", "export").output
        let exported = try folder.volley(
            "suppression", "export", "--excel", "--output", "list.csv", environment: Self.german)
        #expect(exported.status == 0, "\(exported.errors)")
        let text = String(decoding: try Data(contentsOf: folder.url.appendingPathComponent("list.csv")), as: UTF8.self)
        #expect(text.hasPrefix("\u{FEFF}device_token;reason;invalid_since;added_at;run\r\n"))
        #expect(text.contains("\r\n\"=\"\"\(tokens[1])\"\"\";\"=\"\"410\"\"\";2026-11-01T10:00:00.000Z;20"), "\(text)")
        // An older result may be replaced.
        #expect(
            try folder.volley("suppression", "export", "--excel", "--output", "list.csv", environment: Self.german)
                .status == 0)
        #expect(try folder.volley("suppression", "remove", "--all", "--yes").status == 0)
        let imported = try folder.volley("suppression", "import", "list.csv")
        #expect(imported.status == 0, "\(imported.errors)")
        func withoutAdded(_ csv: String) -> [[Substring]] {
            csv.split(separator: "\n").map { line in
                let cells = line.split(separator: ",", omittingEmptySubsequences: false)
                return Array(cells[..<3])
            }
        }
        #expect(withoutAdded(try folder.volley("suppression", "export").output) == withoutAdded(plain))
    }

    @Test("--excel is for the CSV, and says so")
    func otherForms() throws {
        let folder = try Self.sent()
        let text = try folder.volley("report", "last", "--excel")
        #expect(
            text.status == 2 && text.errors == "--excel is for CSV, but the format is text. Add --format csv.\n",
            "\(text.errors)")
    }
}
