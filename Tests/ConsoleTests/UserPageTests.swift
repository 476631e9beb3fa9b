import Accounts
import Base
import GRDB
import Testing

@testable import volley_console

@Suite("people in the console")
struct UserPageTests {
    /// The link of an answer.
    private static func link(_ reply: Reply) -> String? {
        reply.body.firstMatch(of: #/<code>(http:\/\/127\.0\.0\.1:[0-9]+\/invitation\?link=[0-9a-f]{64})<\/code>/#).map {
            String($0.1)
        }
    }

    /// The field by which a page of a person says which roles it showed.
    private static func before(_ page: String) throws -> (String, String) {
        ("before", String(try #require(page.firstMatch(of: #/name="before" value="([0-9a-f]{64})"/#)).1))
    }

    @Test("a person is invited with roles by app; the link is shown once and works, and no other page shows it")
    func invite() async throws {
        let folder = try TestFolder()
        let site = try folder.siteWithAccounts()
        let anna = try site.session("anna", [.administrator])
        try await TestServer.with(site) { server throws in
            let form = try server.request("GET", "/invite", session: anna).body
            for name in ["role.viewer", "role.administrator", "role.editor.shop", "role.approver.news"] {
                #expect(form.contains("type=\"checkbox\" name=\"\(name)\" value=\"yes\""), "\(name)")
            }
            let fields = [("name", "Edith@example.com"), ("display", "Edith <b>Roth</b>")]
            let none = try server.form("/invite", session: anna, fields)
            #expect(none.status == 422 && none.body.contains("Tick at least one role"))
            #expect(none.body.contains("value=\"Edith &lt;b&gt;Roth&lt;/b&gt;\""), "what was typed is still there")
            let bad = try server.form(
                "/invite", session: anna, [("name", "Edith Roth"), ("display", "E"), ("role.editor.shop", "yes")])
            #expect(bad.status == 422 && bad.body.contains("This cannot be a name to sign in with."))
            #expect(bad.body.contains("name=\"role.editor.shop\" value=\"yes\" aria-label=\"Editor of shop\" checked"))
            let reply = try server.form(
                "/invite", session: anna, fields + [("role.editor.shop", "yes"), ("role.viewer", "yes")])
            let link = try #require(Self.link(reply))
            let secret = String(link.suffix(64))
            #expect(link.hasPrefix("http://127.0.0.1:\(server.port)/") && reply.body.contains("It is shown this once."))
            for path in ["/users", "/activity", "/users/1", "/account"] {
                #expect(try !server.request("GET", path, session: anna).body.contains(secret), "\(path)")
            }
            let users = try server.request("GET", "/users", session: anna).body
            #expect(
                users.contains("Open invitations") && users.contains("Edith &lt;b&gt;Roth&lt;/b&gt;")
                    && !users.contains("<b>Roth"))
            #expect(try server.request("GET", "/invitation?link=\(secret)").body.contains("edith@example.com"))
            let taken = try server.form(
                "/invite", session: anna, [("name", "anna"), ("display", "A"), ("role.viewer", "yes")])
            #expect(taken.status == 422 && taken.body.contains("An account anna exists already."))
            let withdraw = try #require(users.firstMatch(of: #/action="(\/invitations\/[0-9]+\/withdraw)"/#)).1
            for _ in 0..<2 { #expect(try server.form(String(withdraw), session: anna)["location"] == "/users") }
            #expect(try server.request("GET", "/invitation?link=\(secret)").status == 410)
            #expect(try !server.request("GET", "/users", session: anna).body.contains("Open invitations"))
        }
    }

    @Test(
        "a damaged account closes neither Users nor Activity; an administrator of all apps removes it there, one of some apps does not"
    )
    func damaged() async throws {
        let folder = try TestFolder()
        let site = try folder.siteWithAccounts()
        let anna = try site.session("anna", [.administrator]),
            sam = try site.session("sam", [.administrator], app: "shop")
        let id = try site.person("edith", [.editor], app: "shop")
        try await DatabaseQueue(path: site.accounts.path).write {
            try $0.execute(sql: "UPDATE role SET role = 'x' WHERE account = \(id.number)")
        }
        let action = "/users/\(id.number)/remove-damaged"
        try await TestServer.with(site) { server throws in
            for path in ["/users", "/activity"] {
                #expect(try server.request("GET", path, session: sam).status == 200, "\(path)")
            }
            #expect(try server.request("GET", "/users/\(id.number)", session: anna).status == 404)
            #expect(try !server.request("GET", "/users", session: sam).body.contains(action))
            #expect(try server.form(action, session: sam).status == 404)
            let page = try server.request("GET", "/users", session: anna).body
            #expect(
                page.contains("Account \(id.number), which signs in as <code>edith</code>, cannot be read.")
                    && page.contains(action))
            for _ in 0..<2 { #expect(try server.form(action, session: anna)["location"] == "/users") }
            #expect(try !server.request("GET", "/users", session: anna).body.contains("cannot be read"))
        }
    }

    @Test("roles change, accounts are disabled, enabled, given new passwords and removed, and their sessions end")
    func changes() async throws {
        let folder = try TestFolder()
        let site = try folder.siteWithAccounts()
        let anna = try site.session("anna", [.administrator])
        let id = try site.person("edith", [.editor], app: "shop")
        try await TestServer.with(site) { server throws in
            let path = "/users/\(id.number)"
            var edith = try site.enter("edith")
            let page = try server.request("GET", path, session: anna).body
            #expect(page.contains("name=\"role.editor.shop\" value=\"yes\" aria-label=\"Editor of shop\" checked"))
            let fields = [("role.approver.shop", "yes"), ("role.viewer", "yes"), try Self.before(page)]
            #expect(try server.form("\(path)/roles", session: anna, fields)["location"] == path)
            #expect(
                try site.accounts.account(id)?.grants == [
                    RoleGrant(.approver, .app("shop")), RoleGrant(.viewer, .allApps),
                ])
            #expect(try server.request("GET", "/runs", session: edith).status == 303, "signed out")
            let late = try server.form("\(path)/roles", session: anna, fields)
            #expect(late.status == 409 && late.body.contains("Another person has changed the roles"))
            edith = try site.enter("edith")
            #expect(try server.form("\(path)/disable", session: anna).status == 303)
            #expect(try server.request("GET", "/runs", session: edith).status == 303)
            #expect(
                try server.request("GET", "/users", session: anna).body.contains("<span class=\"chip\">disabled</span>")
            )
            #expect(try server.form("\(path)/password", session: anna).body.contains("The account edith is disabled."))
            #expect(try server.form("\(path)/enable", session: anna).status == 303)
            let offered = try server.form("\(path)/password", session: anna)
            #expect(Self.link(offered) != nil && offered.body.contains("chooses a new password"))
            edith = try site.enter("edith")
            let wrong = try server.form("\(path)/remove", session: anna, [("name", "edit")])
            #expect(wrong.status == 422 && wrong.body.contains("That is not the name edith."))
            #expect(try server.form("\(path)/remove", session: anna, [("name", "Edith")])["location"] == "/users")
            #expect(try server.request("GET", path, session: anna).status == 404)
            #expect(try server.request("GET", "/runs", session: edith).status == 303)
            let activity = try server.request("GET", "/activity?person=\(id.number)", session: anna).body
            #expect(activity.contains(">edith</a>") && activity.contains("signed in"), "what she did stays")
        }
    }

    @Test("the last administrator cannot remove, disable or demote themselves, and is told so")
    func last() async throws {
        let folder = try TestFolder()
        let site = try folder.siteWithAccounts()
        let anna = try site.session("anna", [.administrator])
        try await TestServer.with(site) { server throws in
            let page = try server.request("GET", "/users/1", session: anna).body
            let attempts = [
                ("/users/1/disable", []), ("/users/1/remove", [("name", "anna")]),
                ("/users/1/roles", [("role.viewer", "yes"), try Self.before(page)]),
            ]
            for (path, fields) in attempts {
                let reply = try server.form(path, session: anna, fields)
                #expect(
                    reply.status == 422 && reply.body.contains("This is the last administrator of all apps"), "\(path)")
            }
            #expect(try server.request("GET", "/users", session: anna).status == 200)
        }
    }

    @Test("an administrator of one app gives roles for that app alone, and touches nobody with roles elsewhere")
    func oneApp() async throws {
        let folder = try TestFolder()
        let site = try folder.siteWithAccounts()
        let (anna, both, own) = (
            try site.person("anna", [.administrator]), try site.person("both", [.viewer]),
            try site.person("own", [.viewer], app: "news")
        )
        let nina = try site.session("nina", [.administrator], app: "news")
        try await TestServer.with(site) { server throws in
            let form = try server.request("GET", "/invite", session: nina).body
            #expect(
                form.contains("name=\"role.editor.news\"") && !form.contains("name=\"role.editor.shop\"")
                    && !form.contains("name=\"role.editor\""))
            for role in ["role.viewer", "role.administrator", "role.editor.shop"] {
                let reply = try server.form(
                    "/invite", session: nina, [("name", "eva"), ("display", "Eva"), (role, "yes")])
                #expect(reply.status == 403 && reply.body.contains("You may not do this."), "\(role)")
            }
            #expect(try site.accounts.openInvitations(at: .now()).isEmpty)
            let secretive = try site.person("sheila", [.editor], app: "shop")
            for path in ["/users", "/users/\(secretive.number)"] {
                let page = try server.request("GET", path, session: nina).body
                #expect(page.contains("Editor of other apps") && !page.contains("shop"), "\(path)")
            }
            for id in [anna, both] {
                let path = "/users/\(id.number)"
                let page = try server.request("GET", path, session: nina)
                #expect(page.status == 200 && page.body.contains("you cannot change the account"))
                #expect(!page.body.contains("\(path)/disable") && !page.body.contains("\(path)/password"))
                for action in ["disable", "enable", "remove", "password", "factor/remove"] {
                    let name = try site.accounts.account(id)?.name.text ?? ""
                    #expect(
                        try server.form("\(path)/\(action)", session: nina, [("name", name)]).status == 403,
                        "\(path)/\(action)")
                }
                // Removing a role for all apps is refused in the same way as raising oneself.
                let before = try Self.before(page.body)
                #expect(
                    try server.form("\(path)/roles", session: nina, [("role.administrator", "yes"), before]).status
                        == (id == anna ? 303 : 403))
                #expect(
                    try server.form("\(path)/roles", session: nina, [("role.administrator.shop", "yes"), before]).status
                        == 403)
            }
            let me = try #require(try site.accounts.account(named: Accounts.AccountName("nina")))
            let page = try server.request("GET", "/users/\(me.id.number)", session: nina).body
            let rise = [("role.administrator", "yes"), ("role.administrator.news", "yes"), try Self.before(page)]
            #expect(try server.form("/users/\(me.id.number)/roles", session: nina, rise).status == 403)
            // For her own app, she may; roles that others gave stay.
            let other = try server.request("GET", "/users/\(both.number)", session: nina).body
            #expect(
                try server.form(
                    "/users/\(both.number)/roles", session: nina, [("role.editor.news", "yes"), try Self.before(other)]
                ).status
                    == 303)
            #expect(
                try site.accounts.account(both)?.grants == [
                    RoleGrant(.viewer, .allApps), RoleGrant(.editor, .app("news")),
                ])
            #expect(try server.form("/users/\(own.number)/disable", session: nina).status == 303)
            #expect(try site.accounts.account(anna)?.grants == [RoleGrant(.administrator, .allApps)])
        }
    }

    @Test("another's second factor is removed for those who lost it")
    func secondFactor() async throws {
        let folder = try TestFolder()
        let site = try folder.siteWithAccounts()
        let anna = try site.session("anna", [.administrator])
        let id = try site.person("vera", [.viewer])
        let vera = try site.enter("vera")
        let token = try #require(SecretToken(vera))
        let session = try #require(try site.accounts.signedIn(token, at: .now())).session
        let secret = try site.accounts.beginSecondFactor(of: id)
        _ = try site.accounts.confirmSecondFactor(
            OwnAccountTests.code(secret.base32), in: session, from: nil, at: .now())
        try await TestServer.with(site) { server throws in
            #expect(
                try server.request("GET", "/users", session: anna).body.contains(
                    "<td data-name=\"Second factor\">set up</td>"))
            #expect(
                try server.request("GET", "/users/\(id.number)", session: anna).body.contains(
                    "Remove the second factor"))
            for _ in 0..<2 {
                #expect(try server.form("/users/\(id.number)/factor/remove", session: anna).status == 303)
            }
            #expect(try site.accounts.account(id)?.hasSecondFactor == false)
            #expect(try server.request("GET", "/runs", session: vera).status == 303, "signed out")
        }
    }

    @Test("names of people are text on every page")
    func hostile() async throws {
        let folder = try TestFolder()
        let site = try folder.siteWithAccounts()
        let evil = "<script>alert(1)</script>\"'><img src=x onerror=alert(2)>"
        let id = try site.person("anna", [.administrator], displayName: evil)
        let anna = try site.enter("anna", agent: evil)
        _ = try site.accounts.invite(
            Accounts.AccountName("eva"), DisplayName(evil), [RoleGrant(.viewer, .app(evil))], by: .terminal, at: .now())
        try await TestServer.with(site) { server throws in
            for path in [
                "/", "/account", "/users", "/users/\(id.number)", "/activity", "/invite", "/suppression",
                "/account/proof",
            ] {
                let body = try server.request("GET", path, session: anna).body
                #expect(body.contains("<h1") && body.contains("&lt;script&gt;"), "\(path)")
                #expect(!body.contains("<script>") && !body.contains("<img"), "\(path)")
                #expect(!body.contains(" style=") && !body.contains(" onclick"), "\(path)")
            }
            let link = try server.form("/users/\(id.number)/password", session: anna).body
            #expect(link.contains("&lt;script&gt;") && !link.contains("<script>") && !link.contains("<img"))
        }
    }
}
