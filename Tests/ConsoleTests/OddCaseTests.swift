import Accounts
import Automation
import Base
import Foundation
import GRDB
import Glibc
import Runs
import Testing

@testable import volley_console

/// Unexpected actions of people, and unexpected files.
@Suite("odd cases of the console")
struct OddCaseTests {
    typealias Office = OrderPageTests.Office

    private static let id = "20261201-090000-spring-sale-7f3a"
    private static let scheduled =
        "name: autumn\napp: shop\naudience: {devices: devices.csv, everyone: true}\nschedule: {at: 2030-12-02 09:00, timezone: Europe/Berlin}\ncontent: {title: Hi}\n"

    @Test("who is signed in has the navigation on pages that say what went wrong, too; others have not")
    func navigation() async throws {
        let office = try Office()
        let vera = try office.session("vera", [.viewer], app: "shop")
        try await TestServer.with(office.site) { server throws in
            for (status, path) in [
                (404, "/nowhere"), (404, "/runs/none"), (403, "/users"), (404, "/campaign?file=none.yaml"),
            ] {
                let reply = try server.request("GET", path, session: vera)
                #expect(reply.status == status, "\(path)")
                #expect(reply.body.contains("<nav aria-label=\"Main\">") && reply.body.contains("Sign out"), "\(path)")
                #expect(!reply.body.contains("href=\"/users\""), "only what she may see")
            }
            let stranger = try server.request("GET", "/nowhere")
            #expect(stranger.status == 404 && !stranger.body.contains("<nav"))
            let forged = try server.request("GET", "/nowhere", session: Secrets.make())
            #expect(forged.status == 404 && !forged.body.contains("<nav"))
            try office.folder.write("volley.yaml", "apps: [")
            let broken = try server.request("GET", "/", session: vera)
            #expect(broken.status == 500 && broken.body.contains("<nav aria-label=\"Main\">"))
        }
    }

    @Test(
        "a form that fails for the server's sake says that nothing was saved, and keeps what was written but no secret")
    func failedForm() async throws {
        let folder = try TestFolder()
        let signIn = FixedSignIn.usual
        let (anna, reader) = (signIn.begin("anna"), signIn.begin("reader"))
        let routes = [false, true].map { isSignIn in
            Route(method: .post, path: isSignIn ? "/in" : "/x", right: .signedIn, changes: true, isSignIn: isSignIn) {
                _, _ in
                throw Diagnostic("the disk is full", file: "/srv/accounts.sqlite")
            }
        }
        try await TestServer.with(try folder.site(signIn), routes: routes) { server throws in
            let written = [
                ("text", "name: spring <1>"), ("reason", "too loud <1>"), ("display", "Zed <1>"),
                ("content.title", "Hi <1>"),
            ]
            for field in written {
                let reply = try server.form(
                    "/x", session: reader, [field, ("password", "hunter2"), ("device", "abcdef0123")])
                #expect(reply.status == 500 && reply.body.contains("Nothing was saved, and nothing was ordered."))
                #expect(reply.body.contains(field.1.replacing("<1>", with: "&lt;1&gt;")), "\(field)")
                for secret in ["hunter2", "abcdef0123", "/srv", "cannot be read"] {
                    #expect(!reply.body.contains(secret), "\(secret)")
                }
            }
            #expect(try server.form("/x", session: anna).body.lowercased().contains("the disk is full"))
            #expect(try !server.form("/in", session: anna, [("reason", "typed here")]).body.contains("typed here"))
        }
    }

    @Test("an order goes into the record that is in its place, also after a backup was put back")
    func replacedRecord() throws {
        let folder = try TestFolder(), record = folder.runs + "/orders.sqlite"
        try FileManager.default.createDirectory(atPath: folder.runs, withIntermediateDirectories: true)
        let submission = OrderSubmission(OrderRecords(folder: folder.runs))
        for nonce in ["1", "2"] {
            _ = try submission.place(Order(nonce: nonce, kind: .pause(run: Self.id), by: "edith"))
            #expect(try OrderRecords(folder: folder.runs).read().orders.map(\.order.nonce) == [nonce])
            for end in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: record + end) }
        }
    }

    @Test(
        "where accounts and orders cannot be written, forms say so and keep their text, pages are shown, and who signs out is signed out"
    )
    func unwritable() async throws {
        let office = try Office()
        let edith = try office.session("edith", [.editor], app: "shop")
        _ = try office.site.orders.place(Order(nonce: Secrets.make(), kind: .pause(run: Self.id), by: "edith"))
        let accounts = try DatabaseQueue(path: office.site.accounts.path)
        let orders = try DatabaseQueue(path: "\(office.folder.runs)/orders.sqlite")
        try Self.forbid(["session", "version", "activity"], accounts)
        try Self.forbid(["placed"], orders)
        let before = try FilePaths.read("\(office.folder.path)/spring-sale.yaml")
        try await TestServer.with(office.site) { server throws in
            let text = String(decoding: before, as: UTF8.self) + "# what Edith wrote\n"
            let saved = try server.form(
                "/campaign/save?file=spring-sale.yaml", session: edith,
                [("text", text), ("digest", ShownFile.digest(of: before))])
            #expect(
                saved.status == 500 && saved.body.contains("Nothing was saved")
                    && saved.body.contains("# what Edith wrote"))
            #expect(try FilePaths.read("\(office.folder.path)/spring-sale.yaml") == before)
            let page = try server.request("GET", "/campaign?file=spring-sale.yaml", session: edith)
            let fields = page.body.matches(of: #/<input type="hidden" name="(nonce|digest)" value="([^"]*)">/#).map {
                (String($0.1), String($0.2))
            }
            let planned = try server.form(
                "/campaign/plan?file=spring-sale.yaml", session: edith, Array(fields.prefix(2)))
            #expect(planned.status == 500 && planned.body.contains("nothing was ordered"), "\(planned.body)")
            let left = try server.form("/sign-out", session: edith)
            #expect(
                left.status == 500 && left.body.contains("You are signed out")
                    && left["set-cookie"]?.contains("Max-Age=0") == true)
            #expect(try server.request("GET", "/campaigns", session: edith)["location"]?.hasPrefix("/sign-in") == true)
        }
    }

    /// As if the disk were full: nothing can be changed.
    private static func forbid(_ tables: [String], _ database: DatabaseQueue) throws {
        try database.write { db in
            for table in tables {
                for (number, deed) in ["INSERT", "UPDATE", "DELETE"].enumerated() {
                    try db.execute(
                        sql:
                            "CREATE TRIGGER \(table)_full\(number) BEFORE \(deed) ON \(table) BEGIN SELECT RAISE(ABORT, 'full'); END"
                    )
                }
            }
        }
    }

    @Test("a folder, a pipe or a dead link that is called as a campaign is named, and breaks no page")
    func unreadable() async throws {
        let office = try Office()
        let anna = try office.session("anna", [.administrator]),
            vera = try office.session("vera", [.viewer], app: "shop")
        try FileManager.default.createDirectory(
            atPath: "\(office.folder.path)/x.yaml", withIntermediateDirectories: true)
        #expect(mkfifo("\(office.folder.path)/pipe.yaml", 0o600) == 0)
        #expect(symlink("nowhere", "\(office.folder.path)/dead.yaml") == 0)
        try await TestServer.with(office.site) { server throws in
            for path in [
                "/", "/campaigns", "/calendar", "/runs", "/system", "/campaign?file=spring-sale.yaml", "/campaigns/new",
            ] {
                #expect(try server.request("GET", path, session: anna).status == 200, "\(path)")
            }
            for page in [
                "campaign", "campaign/edit", "campaign/form", "campaign/preview", "campaign/history", "campaigns/new",
            ] {
                for file in ["x.yaml", "pipe.yaml", "dead.yaml"] {
                    #expect(
                        try server.request("GET", "/\(page)?file=\(file)", session: anna).status == 404,
                        "\(page) \(file)")
                }
            }
            for path in ["/", "/campaigns"] {
                let page = try server.request("GET", path, session: anna).body
                #expect(
                    page.contains("X.yaml is a folder, not a campaign file.")
                        || page.contains("x.yaml is a folder, not a campaign file."))
                #expect(
                    page.contains("ipe.yaml is a named pipe") && page.contains("ead.yaml is a link that leads nowhere"))
                #expect(try !server.request("GET", path, session: vera).body.contains("is a folder"))
            }
        }
    }

    @Test(
        "a form with the key of somebody else’s order is refused like any that is out of date, and says nothing of it")
    func foreignKey() async throws {
        let office = try Office()
        try office.folder.run(Self.id, app: "news", .planned)
        let (anna, ben) = (try office.session("anna", [.administrator]), try office.session("ben", [.approver]))
        let nonce = Secrets.make()
        try await TestServer.with(office.site) { server throws in
            let path = "/runs/\(Self.id)"
            #expect(try server.form("\(path)/cancel", session: anna, [("nonce", nonce)]).status == 303)
            let reply = try server.form("\(path)/cancel", session: ben, [("nonce", nonce)])
            #expect(reply.status == 409 && reply.body.contains("This form cannot be used any more"))
            #expect(!reply.body.contains("anna"))
            #expect(try server.form("\(path)/cancel", session: anna, [("nonce", nonce)]).status == 303, "hers stays")
            #expect(try office.ordered() == ["cancel by anna"])
        }
    }

    @Test("a form that is sent twice at one moment, with other values, is the order that came first")
    func twice() throws {
        let office = try Office()
        try office.folder.run(Self.id, .planned)
        _ = try office.session("ben", [.approver])
        let ben = try #require(try office.site.accounts.account(named: AccountName("ben")))
        let nonce = Secrets.make()
        var visit = Visit(
            person: Person(id: ben.id, account: "ben", displayName: "ben", rights: ben.rights, isFresh: true),
            secret: nil,
            parameters: [:], query: [:],
            requestOrigin: HostRules.RequestOrigin(client: nil, isSecure: false, origin: ""), now: .now())
        visit.form = [OrderForm.nonce: nonce]
        let answer = try OrderForm.submit(visit, office.site, to: OrderPage.path) {
            // Between the lookup of the form's order and its own.
            _ = try office.site.orders.place(Order(nonce: nonce, kind: .pause(run: Self.id), by: "ben"))
            return .order(.cancel(run: Self.id), activity: .cancelled, app: "shop", subject: Self.id)
        }
        guard case .redirect(let path, _) = answer else {
            Issue.record("it leads to no order")
            return
        }
        #expect(path == OrderPage.path(of: nonce))
        #expect(try office.ordered() == ["pause by ben"])
    }

    @Test("a plan for nobody says so, and can be neither approved nor sent", arguments: ["shop", "news"])
    func nobody(app: String) async throws {
        let office = try Office()
        let empty = try RunWriter(folder: office.folder.runs, id: Self.id).finish(
            RunPlan(
                id: Self.id, campaign: "spring-sale", app: app, campaignFile: "spring-sale.yaml", campaignSource: "",
                projectFile: "volley.yaml", seed: RunSeed(high: 1, low: 2), fields: [], plannedAt: .now(), planHash: "",
                rows: 5,
                audience: 0,
                skipped: [:],
                settings: .success(
                    RunSettings(environment: .simulator, topic: "com.example.shop", pushType: .alert, renderingRules: 5)
                ),
                preview: .null))
        let digest = empty.planDigest
        empty.close()
        let anna = try office.session("anna", [.administrator])
        try await TestServer.with(office.site) { server throws in
            let path = "/runs/\(Self.id)"
            let page = try server.request("GET", path, session: anna).body
            #expect(page.contains("<b>Nobody would get it:</b>"))
            for action in ["approve", "send"] {
                #expect(!page.contains("\(path)/\(action)\""))
                let reply = try server.form(
                    "\(path)/\(action)", session: anna, [("nonce", Secrets.make()), ("digest", digest), ("count", "0")])
                #expect(reply.status == 409 && reply.body.contains("Nobody would get this plan"), "\(action)")
            }
            #expect(page.contains("\(path)/\(app == "shop" ? "reject" : "cancel")\""), "it can be put away")
            if app == "shop" {
                #expect(try server.request("GET", "/", session: anna).body.contains("no device would get it, planned"))
            }
            #expect(try office.ordered().isEmpty)
        }
    }

    @Test(
        "two campaigns of one name say on Today, in the list and on their pages that neither is sent; without times they may stay"
    )
    func namesakes() async throws {
        let office = try Office()
        let anna = try office.session("anna", [.administrator])
        try office.folder.write("autumn.yaml", Self.scheduled)
        try await TestServer.with(office.site) { server throws in
            let words = "Another campaign with times has the name &#39;autumn&#39;, too."
            func shows(_ path: String) throws -> Bool {
                let body = try server.request("GET", path, session: anna).body
                return body.contains(words) || body.contains(words.replacing("&#39;", with: "'"))
            }
            #expect(try !shows("/") && !server.request("GET", "/campaigns", session: anna).body.contains("not sent"))
            try office.folder.write("b.yaml", Self.scheduled)
            for path in ["/", "/campaign?file=autumn.yaml", "/campaign?file=b.yaml"] {
                #expect(try shows(path), "\(path)")
            }
            let list = try server.request("GET", "/campaigns", session: anna).body
            #expect(list.components(separatedBy: "<span class=\"chip trouble\">not sent</span>").count == 3)
            try office.folder.write("b.yaml", Self.scheduled.replacing("name: autumn", with: "name: winter"))
            #expect(try !shows("/") && !shows("/campaign?file=autumn.yaml"))
        }
    }

    @Test(
        "a damaged version of a campaign is named in its history, and what the next one changed is compared with the one before",
        arguments: [
            "at = 'x'", "text = replace(text, 'two', 'twi')", "text = 7", "digest = '0' || substr(digest, 2) || ' '",
        ])
    func damagedVersion(damage: String) async throws {
        let office = try Office()
        let edith = try office.session("edith", [.editor], app: "shop")
        for text in ["one", "two", "three"] {
            try office.site.accounts.keep(
                version: "name: spring-sale  # \(text)\n", of: "spring-sale.yaml", app: "shop", by: .terminal,
                at: .now())
        }
        try await DatabaseQueue(path: office.site.accounts.path).write {
            try $0.execute(sql: "UPDATE version SET \(damage) WHERE number = 2")
        }
        try await TestServer.with(office.site) { server throws in
            let history = "/campaign/history?file=spring-sale.yaml"
            let page = try server.request("GET", history, session: edith)
            #expect(
                page.status == 200
                    && page.body.contains("Version 2 before it cannot be read, as the file of accounts is damaged"),
                "\(damage)")
            #expect(
                page.body.contains("Compared with version 1:") && page.body.contains("# one")
                    && page.body.contains("# three"))
            let isRowDamaged = damage.hasPrefix("at")
            #expect(page.body.contains("<p class=\"stop\">Version 2 cannot be read, as the file") == isRowDamaged)
            let chosen = try server.request("GET", history + "&version=2", session: edith)
            #expect(
                chosen.status == (isRowDamaged ? 404 : 200)
                    && (isRowDamaged || chosen.body.contains("Version 2 cannot be read")))
            try office.folder.write("other.yaml", "name: other\napp: shop\n")
            #expect(
                try !server.request("GET", "/campaign/history?file=other.yaml", session: edith).body.contains(
                    "cannot be read"))
        }
    }

    @Test(
        "with a damaged record of the schedule the calendar is shown and says so, and campaigns can be seen and changed"
    )
    func damagedSchedule() async throws {
        let office = try Office()
        let anna = try office.session("anna", [.administrator]),
            edith = try office.session("edith", [.editor], app: "shop")
        try office.folder.write("autumn.yaml", Self.scheduled)
        try office.folder.write("runs/schedule.sqlite", "no database")
        try await TestServer.with(office.site) { server throws in
            let calendar = try server.request("GET", "/calendar", session: anna)
            #expect(
                calendar.status == 200
                    && calendar.body.contains("This is not a record of a schedule, but is in its place."))
            let shown = try server.request("GET", "/calendar", session: edith)
            #expect(
                shown.status == 200 && shown.body.contains("An administrator of all apps sees the reason on this page.")
            )
            #expect(!shown.body.contains("not a record of a schedule"))
            for path in [
                "/", "/campaigns", "/campaign?file=autumn.yaml", "/campaign/form?file=autumn.yaml",
                "/campaign/edit?file=autumn.yaml",
            ] {
                #expect(try server.request("GET", path, session: anna).status == 200, "\(path)")
            }
            #expect(
                try server.request("GET", "/campaign/form?file=autumn.yaml", session: anna).body.contains(
                    "The next times are not known"))
        }
    }
}
