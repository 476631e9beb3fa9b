import Accounts
import Automation
import Base
import Foundation
import Testing

@testable import volley_console

@Suite("drafts in the console")
struct DraftPageTests {
    typealias Office = OrderPageTests.Office

    private static let form = "/campaign/form?file=spring-sale.yaml"
    private static let keep = "/draft/save?page=form&file=spring-sale.yaml"

    private static func disk(_ office: Office, _ name: String = "spring-sale.yaml") throws -> String {
        try String(contentsOfFile: "\(office.folder.path)/\(name)", encoding: .utf8)
    }

    private static func base(_ office: Office) throws -> String { ShownFile.digest(of: Array(try disk(office).utf8)) }

    /// Follows redirections of the console.
    private static func follow(_ reply: Reply, _ server: TestServer, _ session: String) throws -> Reply {
        var reply = reply
        while reply.status == 303, let next = reply["location"] {
            reply = try server.request("GET", next, session: session)
        }
        return reply
    }

    @Test(
        "a draft holds what cannot be saved, changes no file, is seen by its writer alone, and is gone once it is saved"
    )
    func ownDraft() async throws {
        let office = try Office()
        let (edith, eva) = (try office.session("edith", [.editor]), try office.session("eva", [.editor]))
        try await TestServer.with(office.site) { server throws in
            let before = try Self.disk(office)
            let page = try server.request("GET", Self.form, session: edith).body
            #expect(
                page.contains("formaction=\"/draft/save?page=form&amp;file=spring-sale.yaml\"")
                    && page.contains("data-draft="))
            // Half of a moment, which no file could hold.
            let typed = [
                ("digest", try Self.base(office)), ("content.title", "Nearly"), ("shown.content.title", "Hi"),
                ("schedule.at.date", "2099-12-01"), ("schedule.at.time", ""), ("shown.schedule.at", ""),
            ]
            let kept = try server.form(Self.keep, session: edith, typed)
            let account = try #require(try office.site.accounts.account(named: AccountName("edith")))
            let id = try #require(try office.site.accounts.drafts(of: account.id).first).id
            #expect(kept.status == 303 && kept["location"] == "/draft?id=\(id)&saved=1")
            #expect(try Self.disk(office) == before)
            let opened = try Self.follow(kept, server, edith)
            #expect(
                opened.status == 200 && opened.body.contains("value=\"Nearly\"")
                    && opened.body.contains("value=\"2099-12-01\""))
            #expect(
                opened.body.contains("The draft is kept.") && opened.body.contains("name=\"draft\" value=\"\(id)\""))
            for path in ["/", "/campaign?file=spring-sale.yaml"] {
                #expect(
                    try server.request("GET", path, session: edith).body.contains("href=\"/draft?id=\(id)\""), "\(path)"
                )
                #expect(try !server.request("GET", path, session: eva).body.contains("/draft?id="), "\(path)")
            }
            for path in ["/draft?id=\(id)", "/draft/discard?id=\(id)", Self.form + "&draft=\(id)"] {
                #expect(try server.request("GET", path, session: eva).status == 404, "\(path)")
            }
            #expect(try server.form("/draft/discard?id=\(id)", session: eva).status == 303)
            // A mistake remains: nothing is saved, and the draft stays.
            let draft = [("draft", "\(id)")]
            #expect(try server.form(Self.form, session: edith, typed + draft).status == 422)
            #expect(try server.request("GET", "/draft?id=\(id)", session: edith).status == 303)
            #expect(try server.form(Self.form, session: edith, Array(typed.prefix(3)) + draft).status == 303)
            #expect(try Self.disk(office) == before.replacing("Hi", with: "Nearly"))
            #expect(try server.request("GET", "/draft?id=\(id)", session: edith).status == 404)
        }
    }

    @Test(
        "a form that is sent after the end of its session becomes a draft of its writer, whatever account signs in next, and the page says so"
    )
    func endOfSession() async throws {
        let office = try Office()
        let (edith, eva) = (try office.session("edith", [.editor]), try office.session("eva", [.editor]))
        try await TestServer.with(office.site) { server throws in
            let typed = [("digest", try Self.base(office)), ("content.title", "Late"), ("shown.content.title", "Hi")]
            #expect(try server.form("/sign-out", session: edith).status == 303)
            // Neither without its token, nor again and again by a script.
            #expect(try server.request("POST", Self.form, session: edith, form: typed).status == 401)
            #expect(try server.form(Self.keep + "&script=1", session: edith, typed).status == 401)
            let late = try server.form(Self.form, session: edith, typed)
            let to = try #require(late["location"])
            #expect(late.status == 303 && to.hasPrefix("/sign-in?to=%2Fdraft%3Fid%3D"))
            #expect(
                try server.request("GET", to, session: edith).body.contains("What you had written is kept as a draft"))
            let attempt = SignInAttempt(
                name: "edith", password: "wooden spoon under seven lanterns", source: SignInSource(address: nil),
                agent: "")
            guard case .signedIn(let token) = try Authenticator(office.site.accounts).signIn(attempt, at: .now()) else {
                throw Diagnostic("edith cannot sign in")
            }
            let path = FormFields.decode(to.dropFirst("/sign-in?to=".count).utf8, plusIsBlank: true)
            #expect(try server.request("GET", path, session: eva).status == 404)
            let opened = try Self.follow(server.request("GET", path, session: token.text), server, token.text)
            #expect(opened.body.contains("Your session had ended") && opened.body.contains("value=\"Late\""))
            #expect(try Self.disk(office).contains("title: Hi"))
        }
    }

    @Test(
        "after a sign-out in another window the form alone says whose it is: it becomes a draft, and a name in it that was made up does not"
    )
    func signedOutElsewhere() async throws {
        let office = try Office()
        let edith = try office.session("edith", [.editor])
        try await TestServer.with(office.site) { server throws in
            let page = try server.request("GET", Self.form, session: edith).body
            let owner = String(try #require(page.firstMatch(of: #/name="draft.owner" value="([^"]+)"/#)).1)
            #expect(try server.form("/sign-out", session: edith).status == 303)
            let typed = [
                ("digest", try Self.base(office)), ("content.title", "Late"), ("shown.content.title", "Hi"),
                ("draft.owner", owner),
            ]
            func drafts() throws -> [SavedDraft] {
                try office.site.accounts.accounts().flatMap { try office.site.accounts.drafts(of: $0.id) }
            }
            // A browser without any session, at first with a name that this console did not write.
            let forged = typed.dropLast() + [("draft.owner", "1-" + String(repeating: "0", count: 64))]
            let own = [("Sec-Fetch-Site", "same-origin")]
            #expect(try server.request("POST", Self.form, headers: own, form: Array(forged)).status == 401)
            #expect(
                try server.request("POST", Self.form, headers: [("Sec-Fetch-Site", "cross-site")], form: typed).status
                    == 401)
            #expect(try drafts().isEmpty)
            let late = try server.request("POST", Self.form, headers: own, form: typed)
            #expect(late.status == 303 && late["location"]?.hasPrefix("/sign-in?to=%2Fdraft%3Fid%3D") == true)
            #expect(
                try server.request("GET", late["location"] ?? "").body.contains(
                    "What you had written is kept as a draft"))
            let kept = try drafts()
            #expect(
                kept.map { $0.fields["content.title"] } == ["Late"]
                    && kept.allSatisfy { $0.fields["draft.owner"] == nil })
            // No draft that there is changes by it, and the name counts for a day.
            let second = try server.request(
                "POST", Self.form, headers: own,
                form: [("content.title", "Later"), ("draft", "\(kept[0].id)")]
                    + typed.filter { $0.0 != "content.title" })
            #expect(second.status == 303)
            #expect(try drafts().compactMap { $0.fields["content.title"] }.sorted() == ["Late", "Later"])
            let account = try #require(try office.site.accounts.account(named: AccountName("edith"))).id
            for (seconds, status) in [(-86_390.0, 303), (-86_410, 401)] {
                let owner = DraftOwner.text(of: account, at: Timestamp.now().adding(seconds: seconds))
                let old = typed.dropLast() + [("draft.owner", owner)]
                #expect(
                    try server.request("POST", Self.form, headers: own, form: Array(old)).status == status, "\(seconds)"
                )
            }
            let huge = typed.dropLast() + [("draft.owner", "1-\(Int64.min)-1")]
            #expect(try server.request("POST", Self.form, headers: own, form: Array(huge)).status == 401)
        }
    }

    @Test(
        "if the file changed after a draft of it, the form opens with the other's changes, and saving ends the draft; a removed file has its texts"
    )
    func conflict() async throws {
        let office = try Office()
        let edith = try office.session("edith", [.editor])
        try await TestServer.with(office.site) { server throws in
            let before = try Self.disk(office)
            let kept = try server.form(
                Self.keep, session: edith,
                [
                    ("digest", try Self.base(office)), ("content.title", "Mine"), ("shown.content.title", "Hi"),
                    ("content.body", ""),
                    ("shown.content.body", ""),
                ])
            try office.folder.write("spring-sale.yaml", before.replacing("title: Hi", with: "title: Hi, body: Theirs"))
            let both = try Self.follow(kept, server, edith)
            #expect(both.status == 200 && both.body.contains("Another person saved this campaign"))
            var fields = FormControls(both.body).values
            #expect(fields["content.title"] == "Mine" && fields["content.body"] == "Theirs")
            let id = try #require(fields["draft"])
            fields["token"] = nil
            #expect(try server.form(Self.form, session: edith, fields.map { ($0.key, $0.value) }).status == 303)
            #expect(try Self.disk(office).contains("title: Mine, body: Theirs"))
            #expect(try server.request("GET", "/draft?id=\(id)", session: edith).status == 404)
            // A file that was archived since.
            let other = try server.form(
                "/draft/save?page=source&file=spring-sale.yaml", session: edith,
                [("text", "name: kept\n"), ("digest", Self.base(office))])
            try FileManager.default.removeItem(atPath: office.folder.path + "/spring-sale.yaml")
            let gone = try Self.follow(other, server, edith)
            #expect(gone.status == 409 && gone.body.contains("removed the file") && gone.body.contains("name: kept"))
        }
    }

    @Test(
        "if the file changed after a draft, what the draft holds and no file could is at its fields, with the mistakes")
    func missing() async throws {
        let office = try Office()
        let edith = try office.session("edith", [.editor])
        try await TestServer.with(office.site) { server throws in
            let before = try Self.disk(office)
            // Half of a moment, and a language without a text.
            let typed = [
                ("digest", try Self.base(office)), ("content.title", "Mine"), ("shown.content.title", "Hi"),
                ("schedule.way", "time"), ("schedule.at.date", "2099-12-01"), ("schedule.at.time", ""),
                ("shown.schedule.at", ""),
                ("add.content.languages.tag", "fr"), ("add.content.languages.title", " "),
            ]
            let kept = try server.form(Self.keep, session: edith, typed)
            try office.folder.write("spring-sale.yaml", before + "# by hand\n")
            let both = try Self.follow(kept, server, edith)
            let fields = FormControls(both.body).values
            #expect(
                both.status == 200 && fields["content.title"] == "Mine" && fields["schedule.at.date"] == "2099-12-01")
            #expect(both.body.contains("The date has no time") && both.body.contains("has no text yet"))
            try office.folder.write("spring-sale.yaml", before)
            #expect(try Self.follow(kept, server, edith).status == 200)
        }
    }

    @Test(
        "a draft that the page kept before its form was saved without the id is gone, too; what other windows kept of the file is not"
    )
    func lateKeep() async throws {
        let office = try Office()
        let edith = try office.session("edith", [.editor])
        let account = try #require(try office.site.accounts.account(named: AccountName("edith"))).id
        try await TestServer.with(office.site) { server throws in
            func window() throws -> (String, String) {
                let page = try server.request("GET", Self.form, session: edith).body
                return ("draft.page", try #require(FormControls(page).values["draft.page"]))
            }
            let base = try Self.base(office),
                fields = [("digest", base), ("content.title", "New"), ("shown.content.title", "Hi")]
            let typed = fields + [try window()]
            let older = try office.site.accounts.keep(
                draft: ["content.body": "Long work"], .form, of: "spring-sale.yaml", base: base, for: account,
                at: .now())
            #expect(try server.form(Self.keep + "&script=1", session: edith, fields + [window()]).status == 200)
            let other = try #require(office.site.accounts.drafts(of: account).map(\.id).first { $0 != older })
            #expect(try server.form(Self.keep + "&script=1", session: edith, typed).status == 200)
            #expect(try office.site.accounts.drafts(of: account).count == 3)
            #expect(try server.form(Self.form, session: edith, typed + [("draft", "")]).status == 303)
            #expect(try Set(office.site.accounts.drafts(of: account).map(\.id)) == [older, other])
        }
    }

    @Test("the draft of the page on which a campaign begins is gone once the campaign is made")
    func begun() async throws {
        let office = try Office()
        let edith = try office.session("edith", [.editor])
        let account = try #require(try office.site.accounts.account(named: AccountName("edith"))).id
        let fields = ["name": "Autumn", "app": "shop", "start": "sale"]
        let id = try office.site.accounts.keep(draft: fields, .new, of: nil, base: "", for: account, at: .now())
        try await TestServer.with(office.site) { server throws in
            let opened = try Self.follow(server.request("GET", "/draft?id=\(id)", session: edith), server, edith)
            #expect(opened.status == 200 && opened.body.contains("name=\"draft\" value=\"\(id)\""))
            let typed = fields.map { ($0.key, $0.value) } + [("draft", "\(id)")]
            let wrong = try server.form("/campaigns/new", session: edith, typed)
            #expect(wrong.status == 422 && wrong.body.contains("name=\"draft\" value=\"\(id)\""))
            #expect(try office.site.accounts.drafts(of: account).count == 1)
            #expect(
                try server.form("/campaigns/new", session: edith, typed.map { ($0.0, $0.1.lowercased()) }).status == 303
            )
            #expect(try office.site.accounts.drafts(of: account).isEmpty)
        }
    }

    @Test("a draft is kept by a script, replaced by its id, and discarded after a question")
    func byScript() async throws {
        let office = try Office()
        let (edith, vera) = (try office.session("edith", [.editor]), try office.session("vera", [.viewer]))
        try await TestServer.with(office.site) { server throws in
            func keep(_ title: String, _ id: String) throws -> String {
                let reply = try server.form(
                    Self.keep + "&script=1", session: edith,
                    [("digest", Self.base(office)), ("content.title", title), ("draft", id)])
                return try #require(try JSONValue(parsing: reply.body)["id"]?.stringValue)
            }
            let id = try keep("One", "")
            #expect(try keep("Two", id) == id)
            #expect(try keep("Three", "") != id, "another window")
            #expect(try server.form(Self.keep, session: vera, [("content.title", "x")]).status == 403)
            for path in [
                "/draft/save?page=form&file=../x.yaml", "/draft/save?page=form&file=volley.yaml", "/draft/save?page=x",
            ] {
                #expect(try server.form(path, session: edith, [("content.title", "x")]).status == 400, "\(path)")
            }
            let question = try server.request("GET", "/draft/discard?id=\(id)", session: edith)
            #expect(question.body.contains("Discard this draft?") && question.body.contains("Title: Two"))
            #expect(try server.form("/draft/discard?id=\(id)", session: edith).status == 303)
            #expect(try server.request("GET", "/draft?id=\(id)", session: edith).status == 404)
        }
    }
}
