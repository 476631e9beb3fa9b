import Base
import Foundation
import TestCommands
import Testing

@Suite("volley preview --html")
struct PreviewPageTests {
    private static let evil = "<img src=x onerror=alert(1)>\"'&{{ x }}"

    private func page(_ folder: ProjectFolder, _ arguments: String...) throws -> String {
        let result = try folder.volley(
            "preview", "campaign.yaml", "--html", "page.html", arguments.first ?? "--verbose")
        #expect(result.status == 0 && result.errors.contains("The preview is in page.html."), "\(result.errors)")
        return try String(contentsOf: folder.url.appendingPathComponent("page.html"), encoding: .utf8)
    }

    @Test("everything from campaign and export is text, nothing is loaded, and tokens are short")
    func harmless() throws {
        let rows = (0..<30).map { "\(ProjectFolder.token($0)),\"\(Self.evil.replacing("\"", with: "\"\""))\",en" }
        let folder = try ProjectFolder(export: "device_token,name,language\n" + rows.joined(separator: "\n"))
        try folder.writeCampaign(
            audience: "devices: devices.csv\neveryone: true",
            content:
                "title: \"{{ name }} <b>\"\nbody: <i>x</i>\nimage: https://x.example/a.jpg\ndata: {\"<u>\": \"</pre><script>\"}"
        )
        let text = try String(contentsOf: folder.url.appendingPathComponent("campaign.yaml"), encoding: .utf8)
        try folder.write("campaign.yaml", "description: </p><script>alert(2)</script>\n" + text)
        let page = try page(folder)
        for markup in ["<script", "<img", "<i>", "<u>", "http-equiv=\"refresh", "url("] {
            #expect(!page.contains(markup), "\(markup)")
        }
        for tag in page.split(separator: "<").map({ $0.prefix { $0 != ">" } }) {
            for loading in ["src=", "href=", "onerror="] { #expect(!tag.contains(loading), "\(tag)") }
        }
        #expect(page.contains("&lt;img src=x onerror=alert(1)&gt;&quot;&#39;&amp;"))
        #expect(page.contains("&lt;/p&gt;&lt;script&gt;alert(2)"))
        for device in 0..<30 { #expect(!page.contains(ProjectFolder.token(device))) }
        #expect(page.contains("aa00…0000"))
        // Every element that is opened is also closed.
        for element in [
            "p", "div", "section", "table", "tr", "td", "th", "ul", "li", "details", "article", "main", "h2", "h3",
            "span",
        ] {
            let opened =
                page.split(separator: "<\(element)>", omittingEmptySubsequences: false).count
                + page.split(separator: "<\(element) ", omittingEmptySubsequences: false).count - 2
            #expect(
                opened == page.split(separator: "</\(element)>", omittingEmptySubsequences: false).count - 1,
                "\(element)")
        }
    }

    @Test("counts, cards of each text, warnings, reasons and the last run are on it")
    func whole() throws {
        let folder = try ProjectFolder()
        try folder.writeCampaign()
        #expect(try folder.volley("send", "campaign.yaml", "--yes", "--quiet").status == 0)
        try folder.write(
            "campaign.yaml",
            """
            name: test
            app: shop
            description: For a test
            audience: {devices: devices.csv, tags: [newss, news]}
            content:
              title: "Hi {{ first_name }}"
              body: World
              languages: {fr: {title: "Salut {{ first_name }}", body: Monde}}
            variants:
              a: {share: 50}
              b: {share: 50, content: {body: All, languages: {fr: {body: Tous}}}}
            delivery: {pace: 2/s}

            """)
        let page = try page(folder)
        for part in [
            "<h1>test</h1>", "For a test", ">a</th>", ">b</th>",
            "Every other language <span class=\"code\">default</span>",
            "French <span class=\"code\">fr</span>", "newss", ">tag-not-found<", ">language-not-spoken<",
            "render_error",
            "devices have no first_name, but campaign.yaml:6:", "fewer than the 20 of", "at 2/s", "aps", "Hi Ada",
            "prefers-color-scheme: dark", "@media print",
        ] {
            #expect(page.contains(part), "\(part)")
        }
        // Texts that no device gets are shown as written.
        #expect(
            page.contains("<div class=\"unread\"><p class=\"title\" dir=\"auto\">Salut {{ first_name }}</p>")
                && page.contains("no device gets it"))
        #expect(try folder.volley("preview", "campaign.yaml", "--html", "nowhere/page.html").status == 2)
        #expect(try folder.volley("preview", "campaign.yaml", "--html", "x.html", "--why", "x").status == 2)
        #expect(folder.files(in: ".").filter { $0.contains("html") } == ["page.html"])
    }

    /// The export of this test, and a campaign with two conditions and an exclusion.
    private func conditional() throws -> ProjectFolder {
        let rows = (0..<30).map {
            "\(ProjectFolder.token($0)),\($0 % 3 == 0 ? "de" : "en"),\($0 % 5 == 0 ? "old" : "\($0)"),\($0 == 4 ? "x" : "news")"
        }
        let folder = try ProjectFolder(
            app: "environment: simulator\nfrequency: at most 2 per day",
            export: "device_token,language,points,tags\n" + rows.joined(separator: "\n") + "\n")
        try folder.writeCampaign(
            audience:
                "devices: devices.csv\ntags: [news]\nwhere: {language: en, points: \">= 10\"}\nexclude: {devices: left.csv}",
            content: "title: Hi\nbody: There")
        try folder.write("left.csv", "device_token\n\(ProjectFolder.token(11))\n")
        let text = try String(contentsOf: folder.url.appendingPathComponent("campaign.yaml"), encoding: .utf8)
        try folder.write("campaign.yaml", text + "delivery: {expires: 4h, priority: normal}\n")
        return folder
    }

    @Test(
        "the first screen says to whom, where, when, how long, until when, how urgently, how often, and how old the export is"
    )
    func firstScreen() throws {
        let folder = try conditional()
        let page = try page(folder)
        let hero = page.components(between: "aria-label=\"The campaign at a glance\">", and: "</section>").first ?? ""
        for part in [
            "Devices with the tag news, where language is en and points is at least 10. Left out: devices listed in left.csv.",
            "data-environment=\"simulator\"", "<dt>When</dt>", "<dt>Takes</dt>", "4 hours after it goes out",
            "normal: when it suits the device’s battery",
            "at most 2 per day for each device", "written less than a minute ago",
            "<p class=\"body\" dir=\"auto\">There</p>",
        ] { #expect(hero.contains(part), "\(part)") }
        #expect(page.contains("<title>Preview of test, simulator</title>"))
    }

    @Test(
        "figures of the page are those of the JSON: audience, skipped rows, each condition, groups; a run's report has the same words"
    )
    func figures() throws {
        let folder = try conditional()
        let page = try page(folder)
        let json = try folder.volley("preview", "campaign.yaml", "--json").json()
        let shown = page.components(between: "<span data-figure=\"", and: "</span>")
        #expect(shown.count > 12)
        for piece in shown {
            let path = String(piece.prefix { $0 != "\"" })
            let value = piece.components(between: "data-value=\"", and: "\"").first.flatMap { Int($0) }
            var found: JSONValue? = json
            for name in path.split(separator: "/") {
                if case .array(let values)? = found {
                    found = values[Int(name) ?? 0]
                } else {
                    found = found?[String(name)]
                }
            }
            #expect(found?.integerValue.map { Int($0) } == value, "\(path)")
        }
        guard case .array(let conditions)? = json["conditions"] else { throw Diagnostic("no conditions") }
        #expect(conditions.map { $0["condition"]?.stringValue } == ["language is en", "points is at least 10"])
        #expect(
            conditions.map { $0.int("rows") } == [29, 19] && conditions.map { $0.int("holds") } == [19, 11],
            "\(conditions)")
        #expect(conditions[1].int("unreadable") == 4 && page.contains("with a cell that cannot be compared: old"))
        #expect(json.int("audience") == 10)
        #expect(try folder.volley("send", "campaign.yaml", "--yes", "--quiet").status == 0)
        let report = try folder.volley("report", "last", "--format", "html").output
        for part in [
            "Devices with the tag news, where language is en", "<p class=\"title\" dir=\"auto\">Hi</p>",
            "4 hours after it goes out",
        ] {
            #expect(report.contains(part), "\(part)")
        }
    }

    @Test("one text stands as cards of its first recipients, without a matrix")
    func oneText() throws {
        let folder = try ProjectFolder()
        try folder.writeCampaign()
        let page = try page(folder)
        #expect(!page.contains("<table") && page.components(between: "<article>", and: "</article>").count == 3)
    }
}

extension String {
    /// Everything between each `start` and the next `end`.
    fileprivate func components(between start: String, and end: String) -> [String] {
        split(separator: start, omittingEmptySubsequences: false).dropFirst().compactMap { rest in
            rest.firstRange(of: end).map { String(rest[..<$0.lowerBound]) }
        }
    }
}
