import Base
import Foundation
import TestCommands
import Testing

@Suite("templates, from the campaign to the push")
struct TemplateTests {
    private static let rows = [
        ("en", "Ada", "gold", "1234.5", "2026-12-24"), ("de", "Jürgen", "", "1", "2026-12-24T20:15:00+01:00"),
        ("pl", "", "", "5", "1798143330"),
        ("xx", "Bo", "silver", "2", "2026-12-24"), ("en", "Cy", "gold", "n/a", "2026-12-24"),
        ("en", "Di", "gold", "1", "soon"),
    ]

    private func folder() throws -> ProjectFolder {
        var export = "device_token,language,last_active,first_name,level,points,until\n"
        for (number, row) in Self.rows.enumerated() {
            export += "\(ProjectFolder.token(number)),\(row.0),2026-11-01,\(row.1),\(row.2),\(row.3),\(row.4)\n"
        }
        return try ProjectFolder(export: export)
    }

    private static let content = """
        title: "{% if level == 'gold' %}Gold, {% endif %}{{ first_name | default: 'you' | upcase }}"
        body: >-
          {{ points | number }} {{ points | pluralize: one: 'point', other: 'points' }}
          until {{ until | date: 'long' }}
        """

    @Test(
        "a preview renders in each device's language, counts who cannot be sent to, and names languages it does not know"
    )
    func preview() throws {
        let folder = try folder()
        try folder.writeCampaign(content: Self.content)
        let result = try folder.volley("preview", "campaign.yaml", "--json", "--show", "6")
        #expect(result.status == 0, "\(result.errors)")
        let preview = try result.json()
        #expect(preview["skipped"] == .object(pairs: [("render_error", .integer(2))]))
        guard case .array(let samples)? = preview["samples"] else { Issue.record("no samples"); return }
        let alerts = samples.map { $0["payload"]?["aps"]?["alert"] }
        #expect(alerts.map { $0?["title"]?.stringValue } == ["Gold, ADA", "JÜRGEN", "YOU", "BO"])
        #expect(
            alerts.map { $0?["body"]?.stringValue } == [
                "1,234.5 points until December 24, 2026", "1 point until 24. Dezember 2026",
                "5 points until 24 grudnia 2026",
                "2 points until December 24, 2026",
            ])
        #expect(
            result.errors.contains(
                "campaign.yaml:7:3: warning: 1 device has the language 'xx', whose dates, numbers and plural forms Volley does not know"
            ))
    }

    @Test("what was previewed is sent")
    func send() throws {
        let folder = try folder()
        try folder.writeCampaign(content: Self.content)
        let result = try folder.volley("send", "campaign.yaml", "--yes", "--json")
        #expect(result.status == 0, "\(result.errors)")
        #expect(try result.json()["outcomes"]?.int("accepted") == 4)
    }

    @Test("mistakes are told at their line and column, in blocks, folded lines and behind escapes, all at once")
    func mistakes() throws {
        let folder = try folder()
        try folder.writeCampaign(
            content: """
                title: "\\"x\\" {{ first_nam }} {{ }}"
                subtitle: >-
                  Hi
                  there {{ points | nummer }}
                body: |

                  {% if level = 'gold' %}x{% else if points %}y{% end if %}
                    {{ until | date: 'dd.MM.' }}
                data: {a: {b: ["{{ leve }}"]}}
                """)
        let result = try folder.volley("check", "campaign.yaml")
        #expect(result.status == 2)
        #expect(
            result.errors.contains("campaign.yaml:14:22: devices.csv has no column 'leve'. Did you mean 'level'?"),
            "\(result.errors)")
        let places = result.errors.split(separator: "\n").filter { $0.hasPrefix("campaign.yaml:") }
        #expect(
            places.map { $0.dropFirst("campaign.yaml:".count).prefix { $0 != " " } } == [
                "7:20:", "7:33:", "10:23:", "12:17:", "12:32:", "12:53:", "13:25:", "14:22:",
            ], "\(result.errors)")
    }

    @Test("columns that the export lacks are told at their places, with the nearest name")
    func unknownColumns() throws {
        let folder = try folder()
        try folder.writeCampaign(
            content: """
                title: "\\"x\\" {{ first_nam }}"
                body: >-
                  Hi
                  there {% if leve == 'gold' %}x{% endif %}
                """)
        let result = try folder.volley("check", "campaign.yaml")
        #expect(result.status == 2)
        #expect(
            result.errors.contains(
                "campaign.yaml:7:20: devices.csv has no column 'first_nam'. Did you mean 'first_name'?"),
            "\(result.errors)")
        #expect(
            result.errors.contains("campaign.yaml:10:17: devices.csv has no column 'leve'. Did you mean 'level'?"),
            "\(result.errors)")
    }
}
