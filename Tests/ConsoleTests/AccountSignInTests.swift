import Accounts
import Base
import Foundation
import TestCommands
import Testing

@testable import volley_console

@Suite("people come in by their accounts")
struct AccountSignInTests {
    private static let password = "wooden spoon under seven lanterns"

    /// Sends a form of a page for people that are not signed in.
    private static func send(_ path: String, _ fields: [(String, String)], to server: TestServer) throws -> Reply {
        let secret = Secrets.make()
        return try server.request(
            "POST", path,
            headers: [("Origin", "http://127.0.0.1:\(server.port)"), ("Cookie", "volley-form=\(secret)")],
            form: fields + [("token", CSRFProtection.token(of: secret))])
    }

    private static func invite(_ name: String, _ grants: Set<RoleGrant>, _ folder: TestFolder) throws -> String {
        let store = try AccountStore(beside: folder.runs)
        defer { store.close() }
        return try store.invite(AccountName(name), DisplayName(name), grants, by: .terminal, at: .now()).token.text
    }

    @Test("an invitation makes an account with a password, once, and with that one signs in and out")
    func invitation() async throws {
        let folder = try TestFolder()
        try folder.run("20261201-090000-spring-sale-7f3a")
        let link = try Self.invite("anna", [RoleGrant(.viewer, .app("shop"))], folder)
        try await TestServer.with(folder.siteWithAccounts()) { server throws in
            #expect(try !server.request("GET", "/sign-in").body.contains("<form"), "nobody has an account yet")
            let page = try server.request("GET", "/invitation?link=\(link)")
            #expect(page.status == 200)
            #expect(page.body.contains("value=\"anna\""))
            func choose(_ password: String, _ again: String) throws -> Reply {
                try Self.send("/invitation", [("link", link), ("password", password), ("again", again)], to: server)
            }
            let differing = try choose(Self.password, Self.password + "s")
            #expect(differing.status == 422)
            #expect(differing.body.contains("The two passwords differ"))
            let short = try choose("short", "short")
            #expect(short.status == 422)
            #expect(short.body.contains("The password is too short."))
            #expect(!short.body.contains("short\""))
            let right = try choose(Self.password, Self.password)
            #expect(right.status == 303)
            #expect(right["location"] == "/sign-in?name=anna")
            #expect(try choose(Self.password, Self.password).status == 410)
            #expect(try server.request("GET", "/invitation?link=\(link)").status == 410)
            #expect(try server.request("GET", "/sign-in?name=anna").body.contains("value=\"anna\""))
            let entered = try Self.send("/sign-in", [("name", "Anna"), ("password", Self.password)], to: server)
            #expect(entered.status == 303)
            let session = String(try #require(entered.all("set-cookie").first).dropFirst("volley=".count).prefix(64))
            #expect(try server.request("GET", "/runs", session: session).status == 200)
            // A viewer of one app.
            #expect(try server.request("GET", "/system", session: session).status == 403)
            #expect(try server.form("/sign-out", session: session).status == 303)
            #expect(try server.request("GET", "/runs", session: session).status == 303)
            // The browser of an ended session is told why it has to sign in; others have no session
            // that could have ended.
            #expect(
                try server.request("GET", "/sign-in?to=%2Fruns", session: session).body.contains(
                    "Your session has ended."))
            #expect(try !server.request("GET", "/sign-in?to=%2Fruns").body.contains("session"))
        }
    }

    @Test("links and cookies that are none are refused like those that ended")
    func unreadable() async throws {
        let folder = try TestFolder()
        try await TestServer.with(folder.siteWithAccounts()) { server throws in
            for link in ["", "0123", String(repeating: "0", count: 64), "../../etc/passwd", "%00"] {
                #expect(try server.request("GET", "/invitation?link=\(link)").status == 410, "\(link)")
                #expect(try server.request("GET", "/runs", session: link.isEmpty ? "x" : link).status == 303, "\(link)")
            }
            let reply = try Self.send(
                "/invitation", [("link", "x"), ("password", Self.password), ("again", Self.password)], to: server)
            #expect(reply.status == 410)
        }
    }

    @Test("wrong passwords slow down, and a wrong name takes the same answer")
    func brake() async throws {
        let folder = try TestFolder()
        let link = try Self.invite("anna", [RoleGrant(.administrator, .allApps)], folder)
        let signIn = AccountSignIn(try AccountStore(beside: folder.runs))
        try signIn.accept(link, password: Self.password, from: nil, at: .now())
        try await TestServer.with(folder.siteWithAccounts()) { server throws in
            let unknown = try Self.send("/sign-in", [("name", "nobody"), ("password", "x")], to: server)
            #expect(unknown.status == 401)
            #expect(unknown.body.contains("Name, password or code are wrong"))
            let statuses = try (0..<12).map { _ in
                try Self.send("/sign-in", [("name", "anna"), ("password", "x")], to: server).status
            }
            #expect(statuses.first == 401)
            // On a slow machine a try may come after its wait; waits double, so that they catch up
            // with any machine.
            #expect(statuses.contains(429), "\(statuses)")
        }
    }

    @Test("a browser in which a person signed in before is not slowed down by wrong passwords typed elsewhere")
    func knownBrowser() async throws {
        let folder = try TestFolder()
        let link = try Self.invite("anna", [RoleGrant(.administrator, .allApps)], folder)
        let signIn = AccountSignIn(try AccountStore(beside: folder.runs))
        try signIn.accept(link, password: Self.password, from: nil, at: .now())
        func credentials(_ password: String, _ device: String?) -> Credentials {
            Credentials(name: "anna", password: password, code: "", address: nil, device: device)
        }
        let (own, now) = (Secrets.make(), Timestamp.now())
        guard case .begun = try signIn.begin(credentials(Self.password, own), at: now) else {
            Issue.record("the password is not accepted")
            return
        }
        #expect(
            signIn.isKnown(credentials("x", own), at: now) && !signIn.isKnown(credentials("x", Secrets.make()), at: now)
        )
        #expect(!signIn.isKnown(credentials("x", nil), at: now))
        for _ in 0..<4 { _ = try signIn.begin(credentials("x", Secrets.make()), at: now) }
        #expect(
            signIn.mustWait(credentials(Self.password, nil), at: now)
                && !signIn.mustWait(credentials(Self.password, own), at: now))
        guard case .begun = try signIn.begin(credentials(Self.password, own), at: now) else {
            Issue.record("the owner is slowed down")
            return
        }
    }

    @Test("volley serve --invite prints a link to a new account, and for a name that there is, to a new password")
    func invited() throws {
        let folder = try TestFolder()
        func invite(_ arguments: [String]) throws -> VolleyBinary.Result {
            try VolleyBinary.run(["serve", folder.path, "--invite"] + arguments, in: URL(fileURLWithPath: folder.path))
        }
        let first = try invite(["anna"])
        #expect(first.status == 0)
        let link = try #require(
            first.output.firstMatch(of: #/^http:\/\/127\.0\.0\.1:8181\/invitation\?link=([0-9a-f]{64})\n$/#)
        ).1
        let signIn = AccountSignIn(try AccountStore(beside: folder.runs))
        #expect(try signIn.invited(by: String(link), at: .now()) == "anna")
        try signIn.accept(String(link), password: Self.password, from: nil, at: .now())
        #expect(try invite(["anna"]).status == 0)
        #expect(try invite(["anna", "--role", "viewer"]).errors.contains("has an account already"))
        #expect(try invite(["eva", "--role", "editor:shop", "--role", "viewer"]).status == 0)
        #expect(
            try invite(["eva", "--role", "king"]).errors.contains("Roles are viewer, editor, approver, administrator"))
        #expect(try invite(["eva", "--role", "viewer:shoe"]).errors.contains("volley.yaml has no app 'shoe'"))
        #expect(try invite(["Eva Roth"]).status == 2)
        #expect(FileManager.default.fileExists(atPath: folder.runs + "/console/accounts.sqlite"))
        let attributes = try FileManager.default.attributesOfItem(atPath: folder.runs + "/console")
        #expect((attributes[.posixPermissions] as? Int) == 0o700)
    }
}
