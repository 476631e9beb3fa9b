import Base
import Foundation
import TestCommands
import Testing

@Suite("volley preview --html")
struct PreviewPageTests {
    private static let evil = "<img src=x onerror=alert(1)>\"'&{{ x }}"

    private func page(_ folder: ProjectFolder, _ arguments: String...) throws -> String {
        let result = try folder.volley("preview", "campaign.yaml", "--html", "page.html", arguments.first ?? "--verbose")
        #expect(result.status == 0 && result.errors.contains("The preview is in page.html."), "\(result.errors)")
        return try String(contentsOf: folder.url.appendingPathComponent("page.html"), encoding: .utf8)
    }

    @Test("everything from campaign and export is text, nothing is loaded, and tokens are short")
    func harmless() throws {
        let rows = (0..<30).map { "\(ProjectFolder.token($0)),\"\(Self.evil.replacing("\"", with: "\"\""))\",en" }
        let folder = try ProjectFolder(export: "device_token,name,language\n" + rows.joined(separator: "\n"))
        try folder.writeCampaign(
            audience: "devices: devices.csv\neveryone: true",
            content: "title: \"{{ name }} <b>\"\nbody: <i>x</i>\nimage: https://x.example/a.jpg\ndata: {\"<u>\": \"</pre><script>\"}")
        let text = try String(contentsOf: folder.url.appendingPathComponent("campaign.yaml"), encoding: .utf8)
        try folder.write("campaign.yaml", "description: </p><script>alert(2)</script>\n" + text)
        let page = try page(folder)
        for markup in ["<script", "<img", "<i>", "<u>", "http-equiv=\"refresh", "url("] { #expect(!page.contains(markup), "\(markup)") }
        for tag in page.split(separator: "<").map({ $0.prefix { $0 != ">" } }) {
            for loading in ["src=", "href=", "onerror="] { #expect(!tag.contains(loading), "\(tag)") }
        }
        #expect(page.contains("&lt;img src=x onerror=alert(1)&gt;&quot;&#39;&amp;"))
        #expect(page.contains("&lt;/p&gt;&lt;script&gt;alert(2)"))
        for device in 0..<30 { #expect(!page.contains(ProjectFolder.token(device))) }
        #expect(page.contains("aa00…0000"))
        // Every element that is opened is closed again.
        for element in ["p", "div", "section", "table", "tr", "td", "th", "ul", "li", "details", "article", "main", "h2", "h3", "span"] {
            let opened =
                page.split(separator: "<\(element)>", omittingEmptySubsequences: false).count
                + page.split(separator: "<\(element) ", omittingEmptySubsequences: false).count - 2
            #expect(opened == page.split(separator: "</\(element)>", omittingEmptySubsequences: false).count - 1, "\(element)")
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
            "<h1>test</h1>", "For a test", "<h3>a, default ", "<h3>b, default ", "newss", ">tag-not-found<", ">language-not-spoken<",
            "render_error",
            "devices have no first_name, which campaign.yaml:6:", "fewer than the 20 of", "at 2/s", "aps", "Hi Ada",
            "prefers-color-scheme: dark", "@media print",
        ] {
            #expect(page.contains(part), "\(part)")
        }
        #expect(!page.contains("Salut"))
        #expect(try folder.volley("preview", "campaign.yaml", "--html", "nowhere/page.html").status == 2)
        #expect(try folder.volley("preview", "campaign.yaml", "--html", "x.html", "--why", "x").status == 2)
        #expect(folder.files(in: ".").filter { $0.contains("html") } == ["page.html"])
    }
}
