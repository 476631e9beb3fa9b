import Accounts
import Base
import Testing

@testable import volley_console

@Suite("what cannot be taken back asks for the password first")
struct ProofTests {
    private static let id = "20261201-090000-spring-sale-7f3a"

    @Test("every change that gives something away, and whole tokens, ask those whose password was typed too long ago")
    func all() async throws {
        let folder = try TestFolder()
        try folder.run(Self.id)
        let site = try folder.siteWithAccounts()
        try site.person("anna", [.administrator])
        let stale = try site.enter("anna", secondsAgo: 400)
        try await TestServer.with(site) { server throws in
            let asking = RouteTable.all.filter(\.needsFreshSignIn)
            #expect(asking.contains { $0.path == "/runs/:run/results.csv" } && asking.contains { $0.path == "/invite" })
            #expect(
                asking.contains { $0.path == "/account/factor" }
                    && asking.contains { $0.path == "/account/factor/remove" })
            for route in asking {
                let path = route.path.replacing(":run", with: Self.id).replacing(#/:(user|invitation)/#, with: "1")
                guard route.changes else {
                    #expect(
                        try server.request("GET", path, session: stale)["location"]
                            == "/account/proof?to=\(FormFields.encode(path))")
                    continue
                }
                let reply = try server.form(path, session: stale, [("name", "eva")])
                #expect(reply.status == 403 && reply.body.contains("Type your password again"), "\(path)")
                #expect(reply.body.contains("name=\"kept.name\" value=\"eva\""), "\(path)")
            }
            #expect(
                try site.accounts.activities().activities.allSatisfy {
                    $0.kind == .signedIn || $0.kind == .invitationAccepted
                        || $0.kind.name == .invited
                })
            // Without the right, no proof is requested.
            for route in asking where route.changes {
                guard case .right = route.right else { continue }
                #expect(try server.form(route.path, session: "x").status == 303, "\(route.path)")
            }
        }
    }

    @Test("after the password, what was filled in goes on under the session's new secret; the old one is worth nothing")
    func goesOn() async throws {
        let folder = try TestFolder()
        let site = try folder.siteWithAccounts()
        try site.person("anna", [.administrator])
        let stale = try site.enter("anna", secondsAgo: 400)
        try await TestServer.with(site) { server throws in
            let fields = [("name", "eva"), ("display", "Eva \"<Roth>\""), ("role.editor.shop", "yes")]
            let asked = try server.form("/invite", session: stale, fields).body
            let carried = asked.matches(of: #/<input type="hidden" name="((?:kept\.)?[a-z.]+)" value="([^"]*)">/#).map {
                (
                    String($0.1),
                    String($0.2).replacing("&quot;", with: "\"").replacing("&lt;", with: "<").replacing(
                        "&gt;", with: ">")
                )
            }.filter { $0.0 != "token" }
            #expect(carried.contains { $0.0 == "kept.display" && $0.1 == "Eva \"<Roth>\"" })
            func prove(_ password: String) throws -> Reply {
                try server.form("/account/proof", session: stale, carried + [("password", password)])
            }
            let wrong = try prove("wrong")
            #expect(
                wrong.status == 401 && wrong.body.contains("Password or code are wrong")
                    && wrong.body.contains("kept.display"))
            let proved = try prove(Site.password)
            #expect(proved.status == 200 && proved.body.contains("action=\"/invite\""))
            let session = try OwnAccountTests.session(of: proved)
            #expect(session != stale)
            #expect(proved.body.contains("name=\"token\" value=\"\(CSRFProtection.token(of: session))\""))
            #expect(!proved.body.contains(CSRFProtection.token(of: stale)), "also that of the sign-out")
            #expect(try server.request("GET", "/", session: stale).status == 303)
            let invited = try server.form("/invite", session: session, fields)
            #expect(invited.status == 200 && invited.body.contains("/invitation?link="))
        }
    }

    @Test("it leads to no page of others, and wrong passwords slow down")
    func astray() async throws {
        let folder = try TestFolder()
        let site = try folder.siteWithAccounts()
        let anna = try site.session("anna", [.administrator])
        try await TestServer.with(site) { server throws in
            for to in ["https://evil.example/", "//evil.example", "/\\evil.example", "javascript:alert(1)"] {
                let page = try server.request("GET", "/account/proof?to=\(FormFields.encode(to))", session: anna).body
                #expect(page.contains("name=\"to\" value=\"/\""), "\(to)")
            }
            let statuses = try (0..<8).map { _ in
                try server.form("/account/proof", session: anna, [("password", "guess"), ("to", "/")]).status
            }
            #expect(statuses.first == 401 && statuses.contains(429), "\(statuses)")
        }
    }
}
