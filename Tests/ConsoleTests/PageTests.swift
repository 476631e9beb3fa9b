import Base
import Foundation
import Runs
import Synchronization
import Testing

@testable import volley_console

@Suite("The console's pages")
struct PageTests {
    private static let id = "20261201-090000-spring-sale-7f3a"

    /// A page, as Anna sees it, with its markup taken out.
    private static func text(_ path: String, _ folder: TestFolder, as person: String = "anna") async throws -> String {
        let signIn = FixedSignIn.usual
        let session = signIn.begin(person)
        let site = try folder.site(signIn)
        let page = Mutex("")
        try await TestServer.with(site) { server throws in
            let body = try server.request("GET", path, session: session).body; page.withLock { $0 = body }
        }
        return page.withLock { $0 }.replacing(#/<title>.*<\/title>/#, with: "").replacing(#/<[^>]*>/#, with: " ").split(
            whereSeparator: \.isWhitespace
        )
        .joined(separator: " ").replacing(" ,", with: ",")
    }

    @Test("a message that begins with a path keeps the path's letters, other messages begin like sentences")
    func sentences() {
        func text(_ message: String) -> String { Words.text(Diagnostic(message)).markup }
        #expect(text("campaigns/devices.csv has no column 'name'").hasPrefix("campaigns/devices.csv has no column"))
        #expect(text("devices.csv:4:1 the row has 7 fields").hasPrefix("devices.csv:4:1 the row"))
        #expect(
            Words.capitalized("localhost:2197") == "localhost:2197" && Words.capitalized("simulator") == "Simulator")
        #expect(text("nothing: it is blank").hasPrefix("Nothing: it"))
        #expect(text("no row has the tag 'vip'").hasPrefix("No row has the tag"))
        #expect(Words.sentence("spring-sale.yaml is gone") == "spring-sale.yaml is gone.")
    }

    @Test(
        "each page leads to its part of the documentation, which the console shows as it is installed",
        arguments: HelpPart.allCases)
    func help(part: HelpPart) async throws {
        let text = try Self.guide()
        let page = HelpPage.html(text).markup
        let anchor = Markdown.anchor(part.rawValue)
        #expect(page.contains(try Regex("<h[23] id=\"\(anchor)\">\(part.rawValue)</h[23]>")))
        #expect(text.contains("](#\(anchor))") || part != .oneHand, "the anchors are those of Markdown")
        let folder = try TestFolder()
        let signIn = FixedSignIn.usual
        let session = signIn.begin("anna")
        try await TestServer.with(folder.site(signIn)) { server throws in
            let shown = try server.request("GET", HelpPage.path, session: session)
            #expect(shown.status == 200 && shown.body.contains("id=\"\(anchor)\""))
            #expect(
                try server.request("GET", "/runs", session: session).body.contains(
                    "Help: <a href=\"/help#for-users\">For users</a>"))
        }
    }

    private static func guide() throws -> String {
        let docs = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../docs/console.md")
        return try String(contentsOf: docs.standardizedFileURL, encoding: .utf8)
    }

    @Test("the guide is shown without its marks, whole, and its links lead to headings of the page")
    func guideIsRendered() throws {
        let text = try Self.guide()
        let page = HelpPage.html(text).markup
        let sentences = page.replacing(#/<(code|pre)\b.*?<\/\1>/#.dotMatchesNewlines(), with: "")
        for mark in ["**", "*", "`", "](", "![", "|", "\n- ", "\n#", ">- ", ">#"] {
            #expect(!sentences.contains(mark), "\(mark)")
        }
        for link in page.matches(of: #/href="#([^"]+)"/#) {
            #expect(page.contains(" id=\"\(link.1)\">"), "\(link.1)")
        }
        #expect(page.contains("<td data-name=\"approver\">yes</td>"))
        // Nothing is lost: what is left of both are the same letters.
        let source = text.replacing(#/^(?:!\[.*|```.*)$/#.anchorsMatchLineEndings(), with: "")
            .replacing(#/\]\([^\s)]+\)/#, with: "")
        let shown = page.replacing(#/<nav.*?<\/nav>/#.dotMatchesNewlines(), with: "")
            .replacing(#/<span class="note">.*?<\/span>/#, with: "").replacing(#/<[^>]*>/#, with: "")
            .replacing(#/&(?:amp|lt|gt|quot|#39);/#, with: "")
        #expect(shown.filter { $0.isLetter || $0.isNumber } == source.filter { $0.isLetter || $0.isNumber })
    }

    @Test("no text of a guide becomes markup")
    func guideIsEscaped() {
        let text = """
            ## <b>A</b>
            <script>1</script> `<i>` **<i>x** [<u>](javascript:alert(1)) [b](#"onclick=")

            | <s> |
            |---|
            | <s>"' |
            - <hr>
            ```
            </code><hr>
            """
        let page = Markdown.blocks(text).map { Markdown.html($0).markup }.joined()
        let tags = Set(page.matches(of: #/<\/?([a-z0-9]+)/#).map { String($0.1) })
        #expect(
            tags == ["h2", "p", "code", "b", "span", "a", "table", "thead", "tbody", "tr", "th", "ul", "li", "pre"])
        #expect(!page.contains("href=\"javascript") && page.contains("href=\"#&quot;onclick=&quot;\""))
    }

    @Test("Today says that nothing sends, what is being sent, what waits and what went wrong")
    func today() async throws {
        let folder = try TestFolder()
        let live = try folder.run("20261201-090000-live-7f3a", campaign: "live", .running)
        defer { live.close() }
        try folder.run(
            "20261201-090000-broken-7f3b", campaign: "broken", .stopped, cause: .described("the key was revoked"))
        try folder.write("wrong.yaml", "name: wrong\n")
        let text = try await Self.text("/", folder)
        #expect(text.contains("Nothing is sent by itself. No volley schedule is at work"))
        #expect(text.contains("live being sent simulator, for practice 3 of 5 devices"))
        #expect(text.contains("Nothing waits."))
        #expect(text.contains("wrong.yaml has"))
    }

    @Test("with a sender at work, no page says that nothing sends")
    func atWork() async throws {
        let folder = try TestFolder()
        let lock = try folder.site().catalog.schedule.lock()
        let text = try await Self.text("/runs", folder)
        #expect(!text.contains("Nothing is sent by itself"))
        try lock.keep()
    }

    @Test("a person sees runs and campaigns of their own apps alone, and no entry that leads nowhere")
    func ownApps() async throws {
        let folder = try TestFolder()
        try folder.run("20261201-090000-mine-7f3a", campaign: "mine")
        try folder.run("20261201-090000-theirs-7f3b", campaign: "theirs", app: "news")
        try folder.write("mine.yaml", "name: mine\napp: shop\naudience: {everyone: true}\ncontent: {title: Hi}\n")
        try folder.write("theirs.yaml", "name: theirs\napp: news\naudience: {everyone: true}\ncontent: {title: Hi}\n")
        for path in ["/runs", "/campaigns", "/"] {
            let text = try await Self.text(path, folder, as: "reader")
            #expect(!text.contains("theirs"), "\(path)")
            #expect(!text.contains("System"), "\(path)")
        }
        #expect(try await Self.text("/runs", folder, as: "reader").contains("mine"))
        #expect(try await Self.text("/runs", folder).contains("theirs"))
    }

    @Test(
        "what cannot be read belongs to those with a right to all apps: no page names it to others, nor what is wrong with volley.yaml"
    )
    func unreadable() async throws {
        let folder = try TestFolder()
        try folder.run("20261201-080000-old-7f3a")
        try folder.write("merger.yaml", "name: merger\napp: news\naudience: {everyone: true\n")
        try folder.write("runs/20261201-090000-takeover-7f3c.sqlite", "no database")
        let store = try ScheduleStore(folder: folder.runs)
        let now = Timestamp.now()
        // A time of a campaign whose file is gone.
        let gone = ScheduledRun(
            key: .init(campaign: "layoffs", occurrence: "2026-12-01T09:00"), file: "\(folder.path)/layoffs.yaml",
            run: nil, state: .skipped,
            problem: .campaignChanged, begins: now.adding(seconds: -3600), ends: now.adding(seconds: -3600),
            changedAt: now)
        _ = try store.save([gone], [])
        store.close()
        for path in ["/", "/campaigns", "/calendar", "/runs", "/system", "/campaign?file=none.yaml", "/runs/none"] {
            for person in ["reader", "other"] {
                let text = try await Self.text(path, folder, as: person)
                #expect(
                    !text.contains("merger") && !text.contains("takeover") && !text.contains("layoffs"),
                    "\(path) \(person)")
            }
        }
        #expect(try await Self.text("/", folder).contains("merger.yaml has"))
        #expect(try await Self.text("/calendar", folder).contains("layoffs"))
        #expect(try await !Self.text("/system", folder, as: "other").contains("shop"))
        // Nor that it is there.
        let signIn = FixedSignIn.usual
        let sessions = ["anna", "reader", "other"].map { ($0, signIn.begin($0)) }
        try await TestServer.with(folder.site(signIn)) { server throws in
            for (person, session) in sessions {
                for path in ["/runs/20261201-090000-takeover-7f3c", "/runs/20261201-090000-takeover-7f3c/live.json"] {
                    #expect(
                        try server.request("GET", path, session: session).status == (person == "anna" ? 500 : 404),
                        "\(path) \(person)")
                }
            }
        }
    }

    @Test(
        "an error page says what is wrong with volley.yaml to people that see the state of all apps, and to no others")
    func errors() async throws {
        let folder = try TestFolder()
        let signIn = FixedSignIn.usual
        let sessions = ["anna", "reader", "other"].map { ($0, signIn.begin($0)) }
        try await TestServer.with(folder.site(signIn)) { server throws in
            try folder.write("volley.yaml", "apps: {secret-app: {topic: a.b, environment: simulator, topik: x}}\n")
            for (name, session) in sessions {
                for path in ["/", "/campaigns", "/system"] where name != "reader" || path != "/system" {
                    let page = try server.request("GET", path, session: session).body
                    #expect(page.contains("topik") == (name == "anna"), "\(path) \(name)")
                    #expect(!page.contains(folder.path))
                }
            }
        }
    }

    @Test("runs come in pages of fifty, and filters stay in the addresses")
    func paging() async throws {
        let folder = try TestFolder()
        for number in 0..<53 {
            try folder.run(
                "20261201-090000-c\(number)-7f3a", campaign: "c\(number)", number % 2 == 0 ? .planned : .finished)
        }
        let signIn = FixedSignIn.usual
        let anna = signIn.begin("anna")
        try await TestServer.with(folder.site(signIn)) { server throws in
            func rows(_ path: String) throws -> Int {
                try server.request("GET", path, session: anna).body.matches(of: #/<tr><th scope="row">/#).count
            }
            #expect(try rows("/runs") == 50)
            #expect(try rows("/runs?page=2") == 3)
            #expect(try rows("/runs?page=99") == 3)
            #expect(try rows("/runs?page=-1") == 50)
            #expect(try rows("/runs?state=planned") == 27)
            #expect(try rows("/runs?q=c52") == 1)
            #expect(try rows("/runs?app=news") == 0)
            let body = try server.request("GET", "/runs?app=shop", session: anna).body
            #expect(body.contains("href=\"/runs?app=shop&amp;page=2\" rel=\"next\""))
            #expect(body.contains("<option dir=\"auto\" value=\"shop\" selected>"))
        }
    }

    @Test("a run that is being sent shows its progress, and as JSON the same")
    func live() async throws {
        let folder = try TestFolder()
        let run = try folder.run(Self.id, .running)
        defer { run.close() }
        let signIn = FixedSignIn.usual
        let anna = signIn.begin("anna")
        try await TestServer.with(folder.site(signIn)) { server throws in
            let page = try server.request("GET", "/runs/\(Self.id)", session: anna).body
            #expect(page.contains("data-live=\"/runs/\(Self.id)/live.json\""))
            #expect(page.contains("<a href=\"/runs/\(Self.id)\">Refresh</a>"))
            let live = try JSONValue(parsing: server.request("GET", "/runs/\(Self.id)/live.json", session: anna).body)
            #expect(live["state"]?.stringValue == "running")
            #expect(live["settled"]?.integerValue == 3)
            #expect(live["outcomes"]?["accepted"]?.integerValue == 2)
            let piece = try #require(live["pieces"]?["progress"]?.stringValue)
            // How long nothing was answered, and how fast it goes, differ from one moment to the
            // next.
            func steady(_ text: String) -> String {
                text.replacing(
                    /<p class="stop" role="status">No push has been answered.*?<\/p>/.dotMatchesNewlines(), with: ""
                )
                .replacing(#/ · [0-9]+ a second/#, with: "")
            }
            #expect(steady(page).contains(steady(piece)))
        }
    }

    @Test("a run that ended asks for nothing more")
    func ended() async throws {
        let folder = try TestFolder()
        try folder.run(Self.id)
        let text = try await Self.text("/runs/\(Self.id)", folder)
        #expect(text.contains("3 of 5 devices"))
        #expect(!text.contains("Refresh"))
        #expect(text.contains("Read the report"))
    }

    @Test("the report is the one that a file has, inside the console")
    func report() async throws {
        let folder = try TestFolder()
        try folder.run(Self.id)
        let text = try await Self.text("/runs/\(Self.id)/report", folder)
        #expect(text.contains("Delivery report"))
        #expect(text.contains("Sign out"))
    }

    @Test("mistakes stand below their lines, and the source as it is written")
    func source() async throws {
        let folder = try TestFolder()
        try folder.write("wrong.yaml", "name: wrong\napp: shop\naudiense: {everyone: true}\ncontent: {title: Hi}\n")
        let text = try await Self.text("/campaign?file=wrong.yaml", folder)
        #expect(text.contains("Nothing is sent from this file until it is mended"))
        #expect(
            text.contains(#/audiense: {everyone: true} Mistake\. Line 3, column 1: Unknown key 'audiense'/#)
                || text.contains("audiense: {everyone: true} Mistake. Line 3, column 1: Unknown key"))
    }

    @Test("the calendar shows times in the campaign’s zone and as moments")
    func calendar() async throws {
        let folder = try TestFolder()
        try folder.write(
            "daily.yaml",
            "name: daily\napp: news\naudience: {everyone: true}\ncontent: {title: Hi}\nschedule: {repeat: \"0 9 * * *\", timezone: Europe/Berlin}\n"
        )
        let text = try await Self.text("/calendar", folder)
        #expect(text.contains("daily"), "\(text)")
        #expect(text.contains("09:00 Europe/Berlin"), "\(text)")
        #expect(text.contains(#/day, \d+ \w+ \d{4}, 0[78]:00 UTC/#), "\(text)")
    }
}
