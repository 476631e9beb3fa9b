import Accounts
import Automation
import Base
import Campaigns
import Foundation
import PushServices
import Testing

@testable import volley_console

/// Campaigns that are written in the console, by people with accounts.
@Suite("writing campaigns")
struct EditingTests {
    typealias Office = OrderPageTests.Office

    private static let file = "spring-sale.yaml"
    private static let path = "/campaign?file=spring-sale.yaml"

    private static func disk(_ office: Office, _ name: String = file) throws -> String {
        try String(contentsOfFile: "\(office.folder.path)/\(name)", encoding: .utf8)
    }

    /// The file's digest in the hidden field of a page.
    private static func base(_ page: String) throws -> String {
        try String(#require(page.firstMatch(of: #/name="digest" value="([0-9a-f]{64})"/#)).1)
    }

    @Test(
        "a source is checked, saved with its writer, and shown with what changed; CR LF of browsers does not get into the file"
    )
    func source() async throws {
        let office = try Office()
        let edith = try office.session("edith", [.editor], app: "shop")
        try await TestServer.with(office.site) { server throws in
            let edit = try server.request("GET", "/campaign/edit?file=spring-sale.yaml", session: edith)
            #expect(edit.status == 200)
            let base = try Self.base(edit.body)
            let before = try Self.disk(office)
            func save(_ text: String, _ more: [(String, String)] = []) throws -> Reply {
                try server.form(
                    "/campaign/save?file=spring-sale.yaml", session: edith, [("text", text), ("digest", base)] + more)
            }
            let checked = try save("name: spring-sale\r\napp: shop\r\ncontent: {titel: Hi}\r\n", [("check", "1")])
            #expect(checked.status == 200 && checked.body.contains("Line 3, column") && checked.body.contains("titel"))
            #expect(try Self.disk(office) == before)
            let text = before.replacing("Hi", with: "Hello <b>").replacing("\n", with: "\r\n")
            let saved = try save(text)
            #expect(saved.status == 303 && saved["location"] == Self.path + "&saved=1")
            #expect(try Self.disk(office) == before.replacing("Hi", with: "Hello <b>"))
            let versions = try office.site.accounts.versions(of: Self.file)
            #expect(versions.map(\.person.name?.text) == ["edith", nil], "what was there before is kept, too")
            let history = try server.request("GET", "/campaign/history?file=spring-sale.yaml", session: edith).body
            #expect(
                history.contains("as it is now") && history.contains("Hello &lt;b&gt;")
                    && !history.contains("Hello <b>"))
            let old = try server.request("GET", "/campaign/edit?file=spring-sale.yaml&version=1", session: edith).body
            #expect(old.contains("title: Hi}") && old.contains("becomes the present one"))
            // The plan that is made from it has a writer.
            #expect(
                try office.site.accounts.writers(
                    ofText: ShownFile.digest(of: Array(Self.disk(office).utf8)), in: Self.file, after: []) == [
                        "edith"
                    ])
        }
    }

    @Test("of two people who open one file, the second to save sees both texts, loses nothing and overwrites nothing")
    func conflict() async throws {
        let office = try Office()
        let (edith, eva) = (try office.session("edith", [.editor]), try office.session("eva", [.editor]))
        try await TestServer.with(office.site) { server throws in
            let base = try Self.base(server.request("GET", "/campaign/edit?file=spring-sale.yaml", session: edith).body)
            let text = try Self.disk(office)
            func save(_ text: String, _ session: String, _ base: String) throws -> Reply {
                try server.form(
                    "/campaign/save?file=spring-sale.yaml", session: session, [("text", text), ("digest", base)])
            }
            #expect(try save(text.replacing("Hi", with: "From eva"), eva, base).status == 303)
            let late = try save(text.replacing("Hi", with: "From edith"), edith, base)
            #expect(late.status == 409 && late.body.contains("<b>eva</b> saved another text"))
            #expect(late.body.contains("From edith") && late.body.contains("From eva"))
            #expect(try Self.disk(office).contains("From eva"))
            #expect(try save(text, eva, base).body.contains("You saved another text"), "in another window")
            // The page offers to overwrite the present text.
            #expect(try save(text.replacing("Hi", with: "From both"), edith, Self.base(late.body)).status == 303)
            #expect(try Self.disk(office).contains("From both"))
            // A change with an editor on the machine is noticed, too; and so is a file that is
            // gone.
            let now = try Self.base(server.request("GET", "/campaign/edit?file=spring-sale.yaml", session: edith).body)
            try office.folder.write(Self.file, text + "# by hand\n")
            let other = try save(text, edith, now)
            #expect(
                other.status == 409 && other.body.contains("Another person saved another text")
                    && other.body.contains("# by hand"))
            let form = try server.form(
                "/campaign/form?file=spring-sale.yaml", session: edith, [("digest", now), ("content.title", "Mine")])
            #expect(form.status == 409 && form.body.contains("value=\"Mine\"") && form.body.contains("Not saved yet"))
            #expect(try Self.disk(office) == text + "# by hand\n")
        }
    }

    @Test("fifty saves of one opened page at the same moment: one is saved, the others are told")
    func manySaves() async throws {
        let office = try Office()
        let edith = try office.session("edith", [.editor])
        try await TestServer.with(office.site) { server throws in
            let base = try Self.base(server.request("GET", "/campaign/edit?file=spring-sale.yaml", session: edith).body)
            let text = try Self.disk(office)
            let statuses = SavedStatuses()
            DispatchQueue.concurrentPerform(iterations: 50) { number in
                let fields = [("text", text.replacing("Hi", with: "Try \(number)")), ("digest", base)]
                statuses.add(
                    (try? server.form("/campaign/save?file=spring-sale.yaml", session: edith, fields).status) ?? 0)
            }
            #expect(statuses.all.count { $0 == 303 } == 1 && statuses.all.count { $0 == 409 || $0 == 503 } == 49)
            #expect(try office.site.accounts.versions(of: Self.file).count == 2)
        }
    }

    private final class SavedStatuses: @unchecked Sendable {
        private let lock = NSLock()
        private(set) var all: [Int] = []
        func add(_ status: Int) { lock.withLock { all.append(status) } }
    }

    @Test("the form changes the values that differ, and leaves comments, order and everything else alone")
    func form() async throws {
        let office = try Office()
        try office.folder.write(
            Self.file,
            """
            # For Anna.
            name: spring-sale
            app: shop
            content: {title: 'Hi', body: "There"}   # agreed
            audience:
              devices: devices.csv
              tags: [vip]   # only these
            delivery: {pace: 100/s}

            """)
        let edith = try office.session("edith", [.editor])
        try await TestServer.with(office.site) { server throws in
            let page = try server.request("GET", "/campaign/form?file=spring-sale.yaml", session: edith).body
            #expect(
                page.contains("name=\"content.title\" value=\"Hi\"")
                    && page.contains("name=\"audience.tags.box.vip\" value=\"0\" checked"))
            func save(_ fields: [(String, String)]) throws -> Reply {
                let base = ShownFile.digest(of: Array(try Self.disk(office).utf8))
                return try server.form(
                    "/campaign/form?file=spring-sale.yaml", session: edith, [("digest", base)] + fields)
            }
            let all = [
                ("name", "spring-sale"), ("app", "shop"), ("content.title", "It's on"), ("content.subtitle", ""),
                ("content.body", "There"),
                ("audience.tags", "vip\r\nnew york\r\n"), ("audience.devices", "devices.csv"),
                ("schedule.at", ""),
                ("schedule.repeat", ""), ("schedule.timezone", ""), ("description", ""),
            ]
            #expect(try save(all).status == 303)
            #expect(
                try Self.disk(office) == """
                    # For Anna.
                    name: spring-sale
                    app: shop
                    content: {title: 'It''s on', body: "There"}   # agreed
                    audience:
                      devices: devices.csv
                      tags: [vip, new york]   # only these
                    delivery: {pace: 100/s}

                    """)
            #expect(try save([("audience.choice", "everyone")]).status == 303)
            #expect(try Self.disk(office).contains("  devices: devices.csv\n  everyone: true\n"))
            // Values that the form cannot show are not changed, and listed.
            try office.folder.write(
                Self.file,
                "name: spring-sale\napp: shop\naudience: {tags: {all: [a]}, devices: devices.csv}\ncontent: {title: {en: Hi}}\n"
            )
            let other = try server.request("GET", "/campaign/form?file=spring-sale.yaml", session: edith).body
            #expect(other.contains("More than this form can show"))
            #expect(try save([("content.title", "x")]).status == 422)
        }
    }

    @Test("nobody writes for an app that is not theirs, names files elsewhere, or has things sent by writing a time")
    func limits() async throws {
        let office = try Office()
        try office.folder.write(
            "news.yaml",
            "name: news\napp: news\naudience: {devices: devices.csv, everyone: true}\ncontent: {title: Hi}\n")
        let (edith, vera, ben) = (
            try office.session("edith", [.editor], app: "news"), try office.session("vera", [.viewer]),
            try office.session("ben", [.editor, .approver], app: "news")
        )
        try await TestServer.with(office.site) { server throws in
            func save(_ text: String, _ session: String, file: String = "news.yaml") throws -> Reply {
                let base = ShownFile.digest(of: Array(try Self.disk(office, file).utf8))
                return try server.form(
                    "/campaign/save?file=\(file)", session: session, [("text", text), ("digest", base)])
            }
            let good = try Self.disk(office, "news.yaml")
            #expect(try save(good + "# x\n", vera).status == 403)
            #expect(try save(good, edith, file: Self.file).status == 403)
            let stolen = try save(good.replacing("app: news", with: "app: shop"), edith)
            #expect(
                stolen.status == 422 && stolen.body.contains("you may not write campaigns of the app")
                    || stolen.body.contains("You may not write campaigns of the app"))
            #expect(try save("just words", edith).status == 422)
            for path in ["/etc/passwd", "../../../../etc/passwd", "/etc/*", "devices.csv/../../x.csv"] {
                let reply = try save(good.replacing("devices.csv", with: path), edith)
                #expect(reply.status == 422 && reply.body.contains("may not use the file"), "\(path)")
            }
            let query = good.replacing("devices.csv", with: "{database: warehouse, query: select 1 as token}")
            let own = try save(query, edith)
            #expect(own.status == 422 && own.body.contains("own query to a database"))
            // The app requires no approval, so a time would send it.
            let timed = good + "schedule: {timezone: UTC, at: \"2099-01-01 09:00\"}\n"
            let refused = try save(timed, edith)
            #expect(refused.status == 422 && refused.body.contains("would be sent at its times"))
            #expect(try Self.disk(office, "news.yaml") == good)
            #expect(try save(timed, ben).status == 303)
        }
    }

    /// Characters before or around a text that make a careless check read something else than the
    /// file will hold.
    @Test(
        "what is judged are the bytes that are written: no mark, line end or syntax lets an editor have a campaign sent",
        arguments: [
            "", "\u{FEFF}", "\u{FEFF}\u{FEFF}", "\u{FEFF}\r\n\u{FEFF}", "\u{FEFF}\u{FEFF}\u{FEFF}\n", "\u{200B}",
            "---\n",
            "%YAML 1.2\n---\n", "# x\r",
            "--- {}\n---\n", "title: [\n", "\u{2028}", "*x\n", "extra: 1\n", "expires: 1\n",
        ])
    func marks(start: String) async throws {
        let office = try Office()
        let good = "name: news\napp: news\naudience: {devices: devices.csv, everyone: true}\ncontent: {title: Hi}\n"
        try office.folder.write("news.yaml", good)
        let eva = try office.session("eva", [.editor])
        try await TestServer.with(office.site) { server throws in
            let timed = start + good + "schedule: {timezone: UTC, at: \"2099-01-01 09:00\"}\n"
            let base = ShownFile.digest(of: Array(good.utf8))
            let saved = try server.form(
                "/campaign/save?file=news.yaml", session: eva, [("text", timed), ("digest", base)])
            #expect(
                saved.status == 422 && saved.body.contains("Not saved.") && saved.body.contains("2099-01-01"),
                "and the text is kept")
            #expect(
                try server.form(
                    "/campaigns/new", session: eva, [("text", timed.replacing("name: news", with: "name: other"))]
                ).status
                    == 422)
            #expect(try Self.disk(office, "news.yaml") == good)
            #expect(!FileManager.default.fileExists(atPath: office.folder.path + "/other.yaml"))
            // Marks alone are harmless, and are not written into the file.
            let plain = try server.form(
                "/campaign/save?file=news.yaml", session: eva,
                [("text", "\u{FEFF}\u{FEFF}" + good + "# x\n"), ("digest", base)])
            #expect(try plain.status == 303 && Self.disk(office, "news.yaml") == good + "# x\n")
        }
    }

    @Test(
        "a text that is no campaign is not saved, by whomever; one with mistakes is, if its times and its app are not in doubt"
    )
    func unreadable() async throws {
        let office = try Office()
        let good = try Self.disk(office)
        try office.folder.write(
            "news.yaml", good.replacing("shop", with: "news").replacing("spring-sale", with: "news"))
        let (anna, eva) = (try office.session("anna", [.administrator]), try office.session("eva", [.editor]))
        try await TestServer.with(office.site) { server throws in
            func save(_ text: String, _ session: String, file: String = Self.file) throws -> Int {
                let base = ShownFile.digest(of: Array(try Self.disk(office, file).utf8))
                return try server.form(
                    "/campaign/save?file=\(file)", session: session, [("text", text), ("digest", base)]
                ).status
            }
            for text in [
                "just words", "- a\n", "name: [\n", "", "{\\rtf1}", "apps: {shop: {topic: a}}\n", good + "\t\tx: {\n",
            ] {
                #expect(try save(text, anna) == 422 && save(text, eva) == 422, "\(text)")
            }
            for app in ["app: shop", "app: news", "\"app\": shop", "app:"] {
                #expect(try save(good + app + "\n", anna) == 422 && save(app + "\n" + good, eva) == 422, "\(app)")
            }
            // A key that cannot be read may be any.
            let time = "{timezone: UTC, at: \"2099-01-01 09:00\"}"
            for lines in [
                "!!str schedule: \(time)", "!x \"app\": news", "<<: {schedule: \(time)}", "? [schedule]\n: \(time)",
            ] {
                #expect(try save(good + lines + "\n", anna) == 422 && save(lines + "\n" + good, eva) == 422, "\(lines)")
            }
            #expect(try Self.disk(office) == good)
            let misspelt = good.replacing("title", with: "titel")
            #expect(try save(misspelt, eva) == 303)
            // Its app is to come, and may need no approval then.
            let later =
                good.replacing("app: shop", with: "app: later")
                + "schedule: {timezone: UTC, at: \"2099-01-01 09:00\"}\n"
            #expect(try save(later, eva) == 422 && save(later.replacing("2099-01-01", with: "2099-1-1"), eva) == 422)
            #expect(try save(later, anna) == 303)
            let news = try Self.disk(office, "news.yaml").replacing("title", with: "titel")
            #expect(try save(news + "schedule: {timezone: UTC, at: tomorrow}\n", eva, file: "news.yaml") == 422)
            #expect(try save(news + "schedule: [\"2099-01-01 09:00\"]\n", eva, file: "news.yaml") == 422)
            #expect(try save(news, eva, file: "news.yaml") == 303)
        }
    }

    @Test("a check of a text says nothing of apps that the person does not see")
    func foreignApps() async throws {
        let office = try Office()
        let edith = try office.session("edith", [.editor], app: "shop")
        try await TestServer.with(office.site) { server throws in
            for app in ["news", "shoop"] {
                let text = try Self.disk(office).replacing("app: shop", with: "app: \(app)")
                let page = try server.form(
                    "/campaign/save?file=spring-sale.yaml", session: edith, [("text", text), ("check", "1")]
                ).body
                #expect(
                    page.contains("ou may not write campaigns of the app") && !page.contains("It has:")
                        && !page.contains("Did you mean"))
            }
        }
    }

    @Test(
        "a new campaign gets a file of its name, a copy another name and no times, and an archived one leaves the list but not the disk"
    )
    func copies() async throws {
        let office = try Office()
        let edith = try office.session("edith", [.editor], app: "shop")
        try await TestServer.with(office.site) { server throws in
            let blank = try server.request("GET", "/campaigns/new?source=1", session: edith).body
            #expect(blank.contains("app: shop"))
            func make(_ text: String) throws -> Reply {
                try server.form("/campaigns/new", session: edith, [("text", text)])
            }
            let text =
                "name: autumn\napp: shop\naudience: {devices: devices.csv, everyone: true}\ncontent: {title: Hi}\nschedule: {timezone: UTC, at: \"2099-01-01 09:00\"}\n"
            #expect(try make(text)["location"] == "/campaign?file=autumn.yaml&saved=1")
            #expect(try make(text).body.contains("There is a campaign file autumn.yaml already"))
            for name in ["volley", "../x", "", "a/b", ".hidden", "Ä", "-a", "--help", "-"] {
                #expect(try make(text.replacing("autumn", with: name)).status == 422, "\(name)")
            }
            let copy = try server.request("GET", "/campaigns/new?file=autumn.yaml", session: edith).body
            #expect(
                copy.contains("name=\"name\" value=\"autumn-copy\"") && copy.contains("Duplicate autumn")
                    && !copy.contains("<textarea"))
            let fields = [("file", "autumn.yaml"), ("name", "autumn-copy")]
            #expect(
                try server.form("/campaigns/new", session: edith, fields)["location"]
                    == "/campaign/form?file=autumn-copy.yaml")
            #expect(
                try Self.disk(office, "autumn-copy.yaml")
                    == "name: autumn-copy\napp: shop\naudience: {devices: devices.csv, everyone: true}\ncontent: {title: Hi}\n"
            )
            let quiet = "schedule: {timezone: UTC, at: \"2099-01-01 09:00\", quiet_hours: 21:00-08:00, late: send}\n"
            try office.folder.write(
                "quiet.yaml", text.replacing("autumn", with: "quiet").replacing(#/schedule.*\n/#, with: quiet))
            #expect(
                try server.form("/campaigns/new", session: edith, [("file", "quiet.yaml"), ("name", "calm")]).status
                    == 303)
            #expect(
                try Self.disk(office, "calm.yaml").hasSuffix("schedule: {timezone: UTC, quiet_hours: 21:00-08:00}\n"))
            let twice = try server.form("/campaigns/new", session: edith, fields)
            #expect(twice.status == 422 && twice.body.contains("There is a campaign file autumn-copy.yaml already"))
            try FileManager.default.removeItem(atPath: office.folder.path + "/autumn-copy.yaml")
            let page = try server.request("GET", "/campaign?file=autumn.yaml", session: edith).body
            let base = ShownFile.digest(of: Array(try Self.disk(office, "autumn.yaml").utf8))
            #expect(page.contains("Archive"))
            #expect(
                try server.form(
                    "/campaign/archive?file=autumn.yaml", session: edith, [("digest", String(base.reversed()))]
                ).status == 409)
            #expect(
                try server.form("/campaign/archive?file=autumn.yaml", session: edith, [("digest", base)]).status == 303)
            #expect(try !server.request("GET", "/campaigns", session: edith).body.contains("autumn"))
            let archived = try FileManager.default.contentsOfDirectory(atPath: office.folder.path + "/.archive")
            #expect(archived.count == 1 && archived[0].hasSuffix("-autumn.yaml"))
            #expect(
                try office.site.accounts.activities(ActivityFilter(kind: .campaignArchived)).activities.map(\.subject)
                    == ["autumn.yaml"])
            // A form of it that is sent now says what happened, and keeps what was written.
            let late = try server.form(
                "/campaign/save?file=autumn.yaml", session: edith, [("digest", base), ("text", "mine")])
            #expect(
                late.status == 404 && late.body.contains("This campaign was archived")
                    && late.body.contains("edith archived it on "))
            #expect(late.body.contains("What you had written") && late.body.contains("mine"))
            let stranger = try office.session("sam", [.editor], app: "news")
            #expect(
                try server.request("GET", "/campaign?file=autumn.yaml", session: stranger).body.contains(
                    "There is no such page"))
        }
    }

    @Test("what a browser sends with CR LF comes back as it was typed, from a check and from a conflict")
    func lineEnds() async throws {
        let office = try Office()
        let edith = try office.session("edith", [.editor])
        try await TestServer.with(office.site) { server throws in
            let base = try Self.base(server.request("GET", "/campaign/edit?file=spring-sale.yaml", session: edith).body)
            let text = try Self.disk(office)
            let checked = try server.form(
                "/campaign/save?file=spring-sale.yaml", session: edith,
                [("text", text.replacing("\n", with: "\r\n")), ("digest", base), ("check", "1")])
            #expect(checked.body.contains(">\n\(text)</textarea>") && !checked.body.contains("\u{FFFD}"))
            try office.folder.write(Self.file, text + "# by hand\n")
            let form = try server.form(
                "/campaign/form?file=spring-sale.yaml", session: edith,
                [("digest", base), ("description", "a\r\nb"), ("shown.description", "")])
            #expect(form.status == 409 && form.body.contains(">\na\nb</textarea>"))
        }
    }

    @Test("in a conflict of forms, what the person did not touch is the other's")
    func untouched() async throws {
        let office = try Office()
        let edith = try office.session("edith", [.editor])
        try await TestServer.with(office.site) { server throws in
            let text = try Self.disk(office)
            let base = ShownFile.digest(of: Array(text.utf8))
            try office.folder.write(Self.file, text.replacing("Hi", with: "Theirs"))
            func save(_ base: String, _ title: String) throws -> Reply {
                try server.form(
                    "/campaign/form?file=spring-sale.yaml", session: edith,
                    [
                        ("digest", base), ("content.title", title), ("shown.content.title", title),
                        ("content.body", "Mine"),
                        ("shown.content.body", ""),
                    ])
            }
            let conflict = try save(base, "Hi")
            #expect(
                conflict.status == 409 && conflict.body.contains("name=\"content.title\" value=\"Theirs\"")
                    && conflict.body.contains(">\nMine</textarea>"))
            #expect(try save(Self.base(conflict.body), "Theirs").status == 303)
            #expect(try Self.disk(office).contains("title: Theirs") && Self.disk(office).contains("body: Mine"))
        }
    }

    @Test("what a person wrote is shown when its file is gone, and when the session is not known any more")
    func kept() async throws {
        let office = try Office()
        let edith = try office.session("edith", [.editor])
        try await TestServer.with(office.site) { server throws in
            let fields = [("text", "# half an hour of <work>"), ("digest", String(repeating: "0", count: 64))]
            // A file that is gone, and a session of which nothing is known.
            for (path, session) in [
                ("/campaign/save?file=gone.yaml", edith), ("/campaign/save?file=spring-sale.yaml", Secrets.make()),
            ] {
                let reply = try server.form(path, session: session, fields)
                #expect(
                    [404, 401].contains(reply.status) && reply.body.contains("# half an hour of &lt;work&gt;"),
                    "\(path)")
            }
            let signedOut = try server.request("POST", "/campaign/save?file=spring-sale.yaml", form: fields)
            #expect(
                signedOut.status == 401 && signedOut.body.contains("# half an hour of &lt;work&gt;"),
                "without any session")
        }
    }

    @Test("a file keeps its texts from those of another app that had its name, and no campaign takes another's name")
    func otherApps() async throws {
        let office = try Office()
        let (nora, edith) = (
            try office.session("nora", [.editor], app: "news"), try office.session("edith", [.editor], app: "shop")
        )
        try await TestServer.with(office.site) { server throws in
            func text(_ app: String, _ name: String = "bonus") -> String {
                "name: \(name)\napp: \(app)\naudience: {devices: devices.csv, everyone: true}\ncontent: {title: Only \(app)}\n"
            }
            #expect(try server.form("/campaigns/new", session: nora, [("text", text("news"))]).status == 303)
            let base = ShownFile.digest(of: Array(try Self.disk(office, "bonus.yaml").utf8))
            #expect(
                try server.form("/campaign/archive?file=bonus.yaml", session: nora, [("digest", base)]).status == 303)
            #expect(try server.form("/campaigns/new", session: edith, [("text", text("shop"))]).status == 303)
            let history = try server.request("GET", "/campaign/history?file=bonus.yaml", session: edith).body
            #expect(history.contains("It is the first.") && !history.contains("Only news"))
            for path in ["/campaign/history?file=bonus.yaml&version=1", "/campaign/edit?file=bonus.yaml&version=1"] {
                #expect(try server.request("GET", path, session: edith).status == 404, "\(path)")
            }
            #expect(try server.form("/campaigns/new", session: nora, [("text", text("news", "payroll"))]).status == 303)
            let now = ShownFile.digest(of: Array(try Self.disk(office, "bonus.yaml").utf8))
            let taken = try server.form(
                "/campaign/save?file=bonus.yaml", session: edith, [("text", text("shop", "payroll")), ("digest", now)])
            #expect(taken.status == 422 && taken.body.contains("nother campaign is called"))
        }
    }

    @Test("a campaign with times is not planned by hand: its page says what happens when one comes")
    func timed() async throws {
        let office = try Office()
        try office.folder.write(
            Self.file,
            "name: spring-sale\napp: shop\naudience: {devices: devices.csv, everyone: true}\ncontent: {title: Hi}\nschedule: {timezone: UTC, at: \"2099-01-01 09:00\"}\n"
        )
        let edith = try office.session("edith", [.editor])
        try await TestServer.with(office.site) { server throws in
            let page = try server.request("GET", Self.path, session: edith).body
            #expect(page.contains("its audience is planned by itself") && !page.contains("Plan and ask for approval"))
            let digest = ShownFile.digest(of: Array(try Self.disk(office).utf8))
            let reply = try server.form(
                "/campaign/plan?file=spring-sale.yaml", session: edith, [("nonce", Secrets.make()), ("digest", digest)])
            #expect(reply.status == 409)
            #expect(try office.ordered().isEmpty)
        }
    }

    @Test(
        "a campaign is begun by its purpose, and mistakes are at their fields: nothing with mistakes is saved by a slip"
    )
    func begun() async throws {
        let office = try Office()
        let edith = try office.session("edith", [.editor], app: "shop")
        try await TestServer.with(office.site) { server throws in
            func begin(_ name: String, _ start: String = "blank", app: String = "shop") throws -> Reply {
                try server.form("/campaigns/new", session: edith, [("name", name), ("app", app), ("start", start)])
            }
            #expect(try begin("autumn")["location"] == "/campaign/form?file=autumn.yaml")
            #expect(try Self.disk(office, "autumn.yaml") == "name: autumn\napp: shop\naudience: {}\ncontent: {}\n")
            // No sample chooses an audience, and each opens in the form.
            for sample in CampaignSample.allCases {
                let name = "a-\(sample.rawValue)"
                #expect(try begin(name, sample.rawValue).status == 303, "\(name)")
                let text = try Self.disk(office, name + ".yaml")
                let draft = Campaign.draft(text: text, file: "a.yaml", now: .now()) { _ in [PushServices.standard] }
                #expect(draft.isCampaign && !draft.mayHaveTimes && draft.campaign == nil, "\(text)")
                #expect(!text.contains("everyone") && !text.contains("tags"))
                #expect(try server.request("GET", "/campaign/form?file=\(name).yaml", session: edith).status == 200)
            }
            let misnamed = try begin("Summer Sale", "sale")
            #expect(misnamed.status == 422 && misnamed.body.contains("write summer-sale, for example."))
            #expect(
                misnamed.body.contains("name=\"name\" value=\"Summer Sale\"")
                    && misnamed.body.contains("value=\"sale\" checked"))
            for name in ["volley", "../x", "", "a/b", ".hidden", "Ä", "-a", "--help", "-"] {
                #expect(try begin(name).status == 422, "\(name)")
            }
            #expect(try begin("autumn").body.contains("There is a campaign file autumn.yaml already"))
            #expect(try begin("other", app: "news").status == 422)
            #expect(!FileManager.default.fileExists(atPath: "\(office.folder.path)/other.yaml"))
            try office.folder.write(
                "autumn.yaml",
                "name: autumn\napp: shop\naudience: {tags: [vip, new york]}\ncontent: {title: \"It's on: now\"}\n")
            func save(_ fields: [(String, String)]) throws -> Reply {
                let base = ShownFile.digest(of: Array(try Self.disk(office, "autumn.yaml").utf8))
                return try server.form("/campaign/form?file=autumn.yaml", session: edith, [("digest", base)] + fields)
            }
            let before = try Self.disk(office, "autumn.yaml")
            let wrong = try save([("schedule.at", "01.12.2026 9:00"), ("schedule.timezone", "Europe/Berlin")])
            #expect(
                wrong.status == 422 && wrong.body.contains("Nothing was saved.")
                    && wrong.body.contains("Save with its mistakes")
            )
            let field = try #require(wrong.body.range(of: "id=\"schedule.at\"")),
                next = try #require(wrong.body.range(of: "id=\"schedule.repeat\""))
            #expect(wrong.body[field.upperBound..<next.lowerBound].contains("<span class=\"stop\">"), "at its field")
            #expect(wrong.body.contains("value=\"01.12.2026 9:00\""))
            #expect(try Self.disk(office, "autumn.yaml") == before)
            #expect(try save([("schedule.at", "01.12.2026 9:00"), ("anyway", "1")]).status == 303)
            #expect(try Self.disk(office, "autumn.yaml").contains("01.12.2026"))
        }
    }
}
