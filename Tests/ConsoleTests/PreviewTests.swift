import Accounts
import Automation
import Base
import Foundation
import Runs
import TestServers
import Testing
import Workspace

@testable import volley_console

/// Previews, which a child of the console makes.
@Suite("previews in the console")
struct PreviewTests {
    typealias Office = OrderPageTests.Office

    private static let path = "/campaign/preview?file=spring-sale.yaml"

    /// Repeats the request until the answer is there.
    private static func page(_ server: TestServer, _ ask: () throws -> Reply) throws -> String {
        for _ in 0..<600 {
            let reply = try ask()
            guard reply.body.contains("data-live") || reply.body.contains("data-again") else { return reply.body }
            Thread.sleep(forTimeInterval: 0.1)
        }
        throw Diagnostic("no answer within a minute")
    }

    @Test(
        "without scripts, the form says to press Count again while devices are counted, and no longer once their number is known"
    )
    func countAgain() async throws {
        let office = try Office()
        let edith = try office.session("edith", [.editor])
        try await TestServer.with(office.site) { server throws in
            func form() throws -> String {
                try server.request("GET", "/campaign/form?file=spring-sale.yaml", session: edith).body
            }
            let words = "Devices are being counted: press this again in some seconds."
            #expect(try form().contains(words))
            let end = ContinuousClock.now + .seconds(60)
            while try form().contains("<b data-fill=\"audience\">Devices are being counted</b>"),
                ContinuousClock.now < end
            {
                usleep(100_000)
            }
            let known = try form()
            #expect(known.contains("<b data-fill=\"audience\">1 device</b>") && !known.contains(words))
        }
    }

    @Test(
        "a preview says who gets what, with cut tokens, and is counted anew when the file changes or somebody asks for it"
    )
    func preview() async throws {
        let office = try Office()
        let vera = try office.session("vera", [.viewer], app: "shop")
        try await TestServer.with(office.site) { server throws in
            let first = try server.request("GET", Self.path, session: vera)
            #expect(first.body.contains("Devices are being counted"))
            let page = try Self.page(server) { try server.request("GET", Self.path, session: vera) }
            #expect(
                page.contains("Preview · nothing was sent")
                    && page.contains("data-figure=\"audience\" data-value=\"1\""))
            #expect(!page.contains(TestFolder.token(1)) && !page.contains("<script>") && !page.contains("style="))
            try office.folder.write("devices.csv", "token\n\(TestFolder.token(1))\n\(TestFolder.token(2))\n")
            #expect(
                try server.request("GET", Self.path, session: vera).body.contains(
                    "data-figure=\"audience\" data-value=\"1\""),
                "it is remembered for a while")
            #expect(try server.form(Self.path, session: vera).status == 303)
            #expect(
                try Self.page(server) { try server.request("GET", Self.path, session: vera) }.contains(
                    "data-figure=\"audience\" data-value=\"2\""))
            try office.folder.write(
                "spring-sale.yaml",
                "name: spring-sale\napp: shop\naudience: {devices: none.csv, everyone: true}\ncontent: {title: <b>}\n")
            let broken = try Self.page(server) { try server.request("GET", Self.path, session: vera) }
            #expect(broken.contains("There is no preview before this is mended") && broken.contains("none.csv"))
        }
    }

    @Test("a preview says in sentences what is doubtful, and links to the form only for editors")
    func plainPreview() async throws {
        let office = try Office()
        try office.folder.write(
            "devices.csv", "token,tags\n\(TestFolder.token(1)),vip\n\(TestFolder.token(2)),vip,too,many\n")
        try office.folder.write(
            "spring-sale.yaml",
            "name: spring-sale\napp: shop\naudience: {devices: devices.csv, tags: [vip, gone], max_bad_rows: 60%}\ncontent: {title: Hi}\n"
        )
        let (vera, edith) = (try office.session("vera", [.viewer]), try office.session("edith", [.editor]))
        try await TestServer.with(office.site) { server throws in
            func page(_ session: String) throws -> String {
                try Self.page(server) { try server.request("GET", Self.path, session: session) }
            }
            let link = "<a href=\"/campaign/form?file=spring-sale.yaml#who\">“Who”</a>"
            let (viewed, edited) = (try page(vera), try page(edith))
            #expect(edited.contains(link) && !viewed.contains("/campaign/form") && viewed.contains("under “Who”"))
            let fold = #/<details><summary>(?:In the source|For the people who [^<]*)<\/summary>(?s:.*?)<\/details>/#
            let seen = viewed.replacing(fold, with: "")
            #expect(seen.contains("A row of the export cannot be read") && seen.contains("has the tag “gone”"))
            #expect(seen.contains(">the tag vip</span>"))
            let text = seen.replacing(#/<[^>]*>/#, with: " ")
            for word in ["tag:vip", "Plan hash", "Payload", "bad-row", "tag-not-found", ":3:1"] {
                #expect(!text.contains(word), "\(word)")
            }
        }
    }

    @Test("why a device gets it is explained for a token that is in no address")
    func why() async throws {
        let office = try Office()
        let vera = try office.session("vera", [.viewer])
        try await TestServer.with(office.site) { server throws in
            func ask(_ device: String) throws -> String {
                try Self.explained(server, "/campaign/why?file=spring-sale.yaml", session: vera, device)
            }
            let page = try ask(TestFolder.token(1))
            #expect(page.contains("gets spring-sale.") && page.contains("The campaign goes to it"))
            let folded = try #require(page.range(of: "For the people who prepare the exports"))
            let terminal = try #require(page.range(of: "devices.csv:2"))
            #expect(folded.lowerBound < terminal.lowerBound && !page[..<folded.lowerBound].contains("bytes"))
            let other = try ask("<script>alert(1)</script>")
            #expect(other.contains("&lt;script&gt;") && other.contains("<button>Ask again</button>"))
            // Neither the campaign nor an export changes when a device is suppressed.
            let list = SuppressionList(app: "shop", environment: "simulator", folder: office.folder.runs)
            _ = try list.add(at: .now()) {
                try $0.add(Target(normalized: TestFolder.token(1)), reason: "complaint", invalidSince: .now())
            }
            let later = try ask(TestFolder.token(1))
            #expect(later.contains("does not get spring-sale.") && later.contains("on the suppression list since"))
            #expect(later.contains("As of <time") && !later.contains(TestFolder.token(1)))
        }
    }

    /// The answer about a device, which a script requests until it is there.
    private static func explained(_ server: TestServer, _ path: String, session: String, _ device: String) throws
        -> String
    {
        var fields = [("device", device)]
        return try page(server) {
            defer { fields = [("device", device), ("again", "1")] }
            return try server.form(path, session: session, fields)
        }
    }

    @Test("the pages of a run lead to the result of one device in it, and from there to the campaign as it is now")
    func whyInRun() async throws {
        let office = try Office(), id = "20261201-090000-spring-sale-7f3a"
        let source = try String(contentsOfFile: office.folder.path + "/spring-sale.yaml", encoding: .utf8)
        try office.folder.run(id, source: source).close()
        let vera = try office.session("vera", [.viewer])
        try await TestServer.with(office.site) { server throws in
            let run = try server.request("GET", "/runs/\(id)", session: vera).body
            #expect(run.contains("id=\"why\"") && run.contains("action=\"/runs/\(id)/why\""))
            let report = try server.request("GET", "/runs/\(id)/report", session: vera).body
            #expect(report.contains("href=\"/runs/\(id)#why\""))
            func ask(_ device: String) throws -> String {
                try Self.explained(server, "/runs/\(id)/why", session: vera, device)
            }
            #expect(try ask(TestFolder.token(0)).contains("was in this run: APNs accepted the push"))
            #expect(try ask(TestFolder.token(2)).contains("was in this run: the app is no longer on the device"))
            #expect(try ask(TestFolder.token(4)).contains("was in this run: nothing was sent to it"))
            #expect(try ask("a").components(separatedBy: "was in this run:").count == 6, "all devices of an alias")
            let other = try ask(TestFolder.token(9))
            #expect(other.contains("was not in this run") && !other.contains(TestFolder.token(9).prefix(32)))
            #expect(other.contains("href=\"/campaign/preview?file=spring-sale.yaml#why\""))
        }
    }

    @Test(
        "the query of an app is previewed; one that a campaign brings is not, and no page of a campaign asks a database",
        .enabled(if: PostgresServer.programs != nil, "PostgreSQL is missing; make test gets it"))
    func queries() async throws {
        let office = try Office()
        let server = try PostgresServer.shared.get()
        EnvironmentVariables.replace("CONSOLE_TEST_WAREHOUSE", with: server.address() + " application_name=console")
        let query = "select lpad(to_hex(n), 64, 'a') as token from generate_series(1, 7) as n"
        try office.folder.write(
            "volley.yaml",
            """
            databases: {warehouse: {url_env: CONSOLE_TEST_WAREHOUSE}}
            apps:
              shop: {topic: com.example.shop, environment: simulator, devices: {database: warehouse, query: "\(query)"}}

            """)
        @Sendable func campaign(_ audience: String) throws {
            try office.folder.write(
                "spring-sale.yaml", "name: spring-sale\napp: shop\naudience: {\(audience)}\ncontent: {title: x}\n")
        }
        let vera = try office.session("vera", [.viewer])
        try await TestServer.with(office.site) { server throws in
            func page(_ path: String) throws -> String {
                try Self.page(server) { try server.request("GET", path, session: vera) }
            }
            try campaign("everyone: true")
            #expect(try !page("/campaign?file=spring-sale.yaml").contains("class=\"findings\""))
            let preview = try page(Self.path)
            #expect(preview.contains("data-figure=\"audience\" data-value=\"7\""))
            #expect(preview.contains("asked of the database warehouse for this preview"))
            try campaign("devices: {database: warehouse, query: \"\(query)\"}, everyone: true")
            for path in [Self.path, "/campaign?file=spring-sale.yaml"] {
                #expect(try page(path).contains("own query to a database"), "\(path)")
            }
        }
    }

    @Test("however many questions one person has, a colleague's is taken")
    func turns() throws {
        let office = try Office()
        func ask(_ name: String, _ number: Int) throws {
            let file = office.folder.path + "/\(name)-\(number).yaml"
            _ = try office.site.jobs.answer(to: .init(kind: .tags, file: file, stamps: []), for: name)
        }
        for number in 0..<6 { try ask("edith", number) }
        #expect(throws: Refusal.self) { try ask("edith", 6) }
        try ask("edith", 5)
        #expect(throws: Never.self) { try ask("vera", 0) }
    }

    @Test(
        "a person with as many questions as one may have sees that a further preview is being counted, and gets it later"
    )
    func busy() async throws {
        let office = try Office()
        let vera = try office.session("vera", [.viewer])
        for number in 0..<6 {
            let file = office.folder.path + "/other-\(number).yaml"
            _ = try office.site.jobs.answer(to: .init(kind: .tags, file: file, stamps: []), for: "vera")
        }
        try await TestServer.with(office.site) { server throws in
            let reply = try server.request("GET", Self.path, session: vera)
            #expect(reply.status == 200 && reply.body.contains("Devices are being counted"))
            #expect(
                try Self.page(server) { try server.request("GET", Self.path, session: vera) }.contains(
                    "Preview · nothing was sent"))
        }
    }

    @Test("what a child wrote as data and cannot be read gets into no page")
    func unreadable() async throws {
        let office = try Office(), program = office.folder.path + "/child"
        try office.folder.write("child", "#!/bin/sh\nprintf '<b>zqx7</b>'\n")
        #expect(chmod(program, 0o755) == 0)
        let edith = try office.session("edith", [.editor])
        let site = try Site(
            folder: office.folder.path, choice: ProjectChoice(), accounts: office.site.accounts, program: program,
            at: .now())
        try await TestServer.with(site) { server throws in
            let page = try Self.page(server) {
                try server.request("GET", "/campaign/form?file=spring-sale.yaml", session: edith)
            }
            let live = try server.request("GET", "/campaign/form/live.json?file=spring-sale.yaml", session: edith).body
            var phone = ""
            for _ in 0..<600 where !phone.contains("\"is_live\":false") {
                phone = try server.form("/campaign/form/phone.json?file=spring-sale.yaml", session: edith).body
                Thread.sleep(forTimeInterval: 0.05)
            }
            #expect(
                page.contains("Which tags the devices have is not known") && phone.contains("known when this is mended")
            )
            for text in [page, live, phone] {
                #expect(text.contains("What was counted cannot be read.") && !text.contains("zqx7"), "\(text)")
            }
        }
    }

    @Test("a mistake is said until it is seen, and looked for again soon, as the export may be there by now")
    func mistakes() async throws {
        let office = try Office()
        let jobs = PlanningJobs(
            folder: office.folder.path, choice: office.site.campaigns.choice, program: TestFolder.program,
            mistakeTimeToLive: .seconds(1))
        // Waiting must not hold a thread: what is waited for needs one of the few that tests share.
        func answer(_ isWanted: (PlanningJobs.Result) -> Bool) async throws -> String? {
            let question = PlanningJobs.Question(
                kind: .tags, file: office.folder.path + "/spring-sale.yaml", stamps: [])
            for _ in 0..<600 {
                if let result = try jobs.answer(to: question, for: "edith"), isWanted(result) { return result.output }
                try await Task.sleep(for: .milliseconds(100))
            }
            return nil
        }
        try office.folder.write(
            "spring-sale.yaml",
            "name: spring-sale\napp: shop\naudience: {devices: late.csv, tags: [vip]}\ncontent: {title: x}\n")
        #expect(try await answer { $0.hasMistakes }?.contains("There is no file") == true)
        try office.folder.write("late.csv", "token,tags\n\(TestFolder.token(1)),vip\n")
        #expect(try await answer { !$0.hasMistakes }?.contains("vip") == true)
    }

    @Test(
        "the sender holds a campaign to the console's limits as long as its text is one that was saved here, and where that is unknown"
    )
    func confined() async throws {
        let office = try Office()
        let file = office.folder.path + "/spring-sale.yaml"
        #expect(!office.site.rights.confines(file: file), "written on the machine")
        let edith = try office.session("edith", [.editor])
        try await TestServer.with(office.site) { server throws in
            let bytes = try FilePaths.read(file)
            let text = String(decoding: bytes, as: UTF8.self).replacing("Hi", with: "Ho").replacing("\n", with: "\r\n")
            let fields = [("text", text), ("digest", ShownFile.digest(of: bytes))]
            #expect(try server.form("/campaign/save?file=spring-sale.yaml", session: edith, fields).status == 303)
            #expect(office.site.rights.confines(file: file))
        }
        try FilePaths.replace(file, bytes: [0xEF, 0xBB, 0xBF] + FilePaths.read(file))
        #expect(office.site.rights.confines(file: file), "a byte order mark is no other text")
        try FilePaths.replace(file, bytes: FilePaths.read(file) + Array("# by hand\n".utf8))
        #expect(!office.site.rights.confines(file: file), "changed on the machine")
        #expect(office.site.rights.confines(file: file + ".gone"))
    }

    @Test(
        "neither saving nor previewing shows a secret of volley.yaml that a campaign names as a list, nor a file of the runs"
    )
    func secrets() async throws {
        let office = try Office()
        try office.folder.write(
            "volley.yaml",
            """
            apps:
              shop:
                devices: devices.csv
                services: {jpush: {app_key: 0123456789abcdef01234567, environment: simulator, master_secret: {file: master.txt}}}
              news: {topic: com.example.news, environment: simulator, devices: devices.csv}

            """)
        for name in ["master.txt", "copy.txt"] { try office.folder.write(name, "SECRETmaster0123456789ab\n") }
        _ = try office.folder.run("20261201-090000-spring-sale-7f3a")
        try office.folder.write("runs/reached-x.csv", "token\n\(TestFolder.token(7))\n")
        let nora = try office.session("nora", [.editor], app: "news")
        try await TestServer.with(office.site) { server throws in
            for audience in [
                "{aliases: {file: master.txt}}", "{aliases: {file: copy.txt}}",
                "{everyone: true, devices: 'run[s]/reached-*.csv'}",
                "{everyone: true, devices: master.txt}",
                "{tags: [a], exclude: {devices: 'mast*.txt'}}",
            ] {
                let text = "name: news\napp: news\naudience: \(audience)\ncontent: {title: Hi}\n"
                let saved = try server.form("/campaigns/new", session: nora, [("text", text)])
                #expect(saved.status == 422 && saved.body.contains("he console may not use the file"), "\(audience)")
                // However it came there.
                try office.folder.write("news.yaml", text)
                for path in [
                    "/campaign/preview?file=news.yaml", "/campaign?file=news.yaml",
                    "/campaign/form/live.json?file=news.yaml",
                ] {
                    let page = try Self.page(server) { try server.request("GET", path, session: nora) }
                    #expect(
                        !page.contains("SECRETmaster") && !page.contains("data-value=\"1\"")
                            && !page.contains("abababab"), "\(path)")
                }
                try FileManager.default.removeItem(atPath: office.folder.path + "/news.yaml")
            }
        }
    }

    @Test("a campaign that names a file elsewhere is not read for a browser, however it came into the folder")
    func roots() async throws {
        let office = try Office()
        try office.folder.write(
            "spring-sale.yaml",
            "name: spring-sale\napp: shop\naudience: {devices: /etc/passwd, everyone: true}\ncontent: {title: x}\n")
        let vera = try office.session("vera", [.viewer])
        try await TestServer.with(office.site) { server throws in
            for path in [Self.path, "/campaign?file=spring-sale.yaml"] {
                let page = try Self.page(server) { try server.request("GET", path, session: vera) }
                #expect(page.contains("The console may not use the file") && !page.contains("root:"), "\(path)")
            }
        }
    }
}
