import Accounts
import Base
import Campaigns
import Foundation
import HTTPTypes
import OpenIDConnect
import TestIdentityProvider
import Synchronization
import Testing

@testable import volley_console

/// A browser: it keeps cookies.
private final class Browser {
    private let server: TestServer
    private let host: String?
    private(set) var cookies: [String: String] = [:]

    init(_ server: TestServer, host: String? = nil) { (self.server, self.host) = (server, host) }

    func get(_ path: String) throws -> Reply { try keep(server.request("GET", path, headers: headers)) }

    func send(_ path: String, _ fields: [(String, String)]) throws -> Reply {
        let own = headers + [("Origin", "http://127.0.0.1:\(server.port)")]
        return try keep(
            server.request(
                "POST", path, headers: own, form: fields + [("token", CSRFProtection.token(of: #require(session)))]))
    }

    var session: String? { cookies["volley"] ?? cookies["__Host-volley"] }

    private var headers: [(String, String)] {
        let line = cookies.map { "\($0.key)=\($0.value)" }.joined(separator: "; ")
        return (line.isEmpty ? [] : [("Cookie", line)]) + (host.map { [("Host", $0)] } ?? [])
    }

    private func keep(_ reply: Reply) -> Reply {
        for cookie in reply.all("set-cookie") {
            let pair = cookie.prefix { $0 != ";" }.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                .map(String.init)
            cookies[pair[0]] = cookie.contains("Max-Age=0") ? nil : pair[1]
        }
        return reply
    }
}

@Suite("people come in by a provider of identities")
struct ProviderSignInTests {
    private static let id = "20261201-090000-spring-sale-7f3a"

    /// A folder whose volley.yaml names the provider.
    private static func folder(_ stub: TestIdentityProvider, _ more: String = "", console: String = "") throws
        -> TestFolder
    {
        let folder = try TestFolder(
            project: """
                console:
                \(console.isEmpty ? "" : "  \(console)\n")  oidc:
                    issuer: "\(stub.issuer)"
                    client_id: volley
                    client_secret: {file: oidc.txt}
                    name: "Login & <Co>"
                    roles:
                      claim: groups
                      map:
                        marketing: [editor:shop, viewer]
                        admins: administrator
                    ca: \(stub.authorityFile)
                \(more.isEmpty ? "" : "    \(more)\n")
                """ + TestFolder.project)
        try folder.write("oidc.txt", "s3cret&+%\n")
        stub.change { $0.clientSecret = "s3cret&+%" }
        try folder.run(id)
        return folder
    }

    private static func wayBack(_ query: [String: String]) -> String {
        ProviderPages.wayBack + FormFields.query(query.sorted { $0.key < $1.key }.map { ($0.key, $0.value) })
    }

    /// The whole way.
    private static func enter(_ browser: Browser, _ stub: TestIdentityProvider, by path: String = "/sign-in/oidc")
        throws -> Reply
    {
        let address = try #require(try browser.get(path)["location"])
        return try browser.get(wayBack(stub.signIn(at: address)))
    }

    @Test("from the sign-in page to the provider, and back to the page that was wanted, once")
    func whole() async throws {
        let stub = try TestIdentityProvider()
        let folder = try Self.folder(stub)
        let site = try folder.siteWithAccounts()
        try await TestServer.with(site) { server throws in
            let browser = Browser(server)
            let page = try browser.get("/sign-in?to=%2Fruns")
            #expect(
                page.body.contains(
                    "href=\"/sign-in/oidc?to=%2Fruns\">Sign in with <span dir=\"auto\">Login &amp; &lt;Co&gt;</span>"))
            #expect(!page.body.contains("type=\"password\""), "nobody has a password")
            let begun = try browser.get("/sign-in/oidc?to=%2Fruns")
            #expect(begun.status == 303)
            let cookie = try #require(begun.all("set-cookie").first)
            #expect(
                cookie.hasPrefix("volley-oidc=") && cookie.hasSuffix("; Path=/; HttpOnly; SameSite=Lax; Max-Age=600"))
            let address = try #require(begun["location"])
            #expect(address.contains("redirect_uri=http%3A%2F%2F127.0.0.1%3A\(server.port)%2Fsign-in%2Foidc%2Freturn"))
            let answer = try stub.signIn(at: address)
            // Another browser, or another site, gains nothing from it, and cannot end it.
            let stranger = try Browser(server).get(Self.wayBack(answer))
            #expect(stranger.status == 400 && stranger.all("set-cookie").isEmpty)
            #expect(try browser.get(Self.wayBack(answer.merging(["state": "0"]) { $1 })).status == 400)
            let back = try browser.get(Self.wayBack(answer))
            #expect(back.status == 303 && back["location"] == "/runs" && browser.cookies["volley-oidc"] == nil)
            #expect(try browser.get("/runs").status == 200)
            #expect(try browser.get("/users").status == 403)
            let account = try browser.get("/account").body
            #expect(
                account.contains("Jane Doe") && account.contains(stub.issuer) && !account.contains("type=\"password\""))
            // The same again, with the cookie that the browser had.
            let again = try server.request(
                "GET", Self.wayBack(answer), headers: [("Cookie", String(cookie.prefix { $0 != ";" }))])
            #expect(again.status == 400 && again.all("set-cookie").isEmpty)
            #expect(stub.count("/realms/shop/token") == 1)
            #expect(try browser.send("/sign-out", []).status == 303)
            #expect(try browser.get("/runs")["location"] == "/sign-in?to=%2Fruns")
        }
    }

    @Test("behind https, cookies are of this host alone, and the way back is below public_url")
    func secure() async throws {
        let stub = try TestIdentityProvider()
        let folder = try Self.folder(stub, console: "public_url: \"https://push.example.com\"")
        let site = try folder.siteWithAccounts()
        try await TestServer.with(site, settings: site.project().console) { server throws in
            let browser = Browser(server, host: "push.example.com")
            let begun = try browser.get("/sign-in/oidc")
            #expect(begun.all("set-cookie").first?.hasPrefix("__Host-volley-oidc=") == true)
            #expect(begun.all("set-cookie").first?.hasSuffix("; Secure") == true)
            let address = try #require(begun["location"])
            #expect(address.contains("redirect_uri=https%3A%2F%2Fpush.example.com%2Fsign-in%2Foidc%2Freturn"))
            let back = try browser.get(Self.wayBack(stub.signIn(at: address)))
            #expect(back["location"] == "/" && browser.session != nil)
            // A request cannot choose where the provider sends people.
            #expect(try Browser(server, host: "evil.example").get("/sign-in/oidc").status == 421)
        }
    }

    @Test(
        "after it, nobody is led to a page of others",
        arguments: [
            "https://evil.example/", "//evil.example", "/\\evil.example", "javascript:alert(1)",
            "/runs\r\nSet-Cookie: a=b",
        ])
    func astray(to: String) async throws {
        let stub = try TestIdentityProvider()
        let folder = try Self.folder(stub)
        let site = try folder.siteWithAccounts()
        try await TestServer.with(site) { server throws in
            #expect(
                try Self.enter(Browser(server), stub, by: "/sign-in/oidc?to=\(FormFields.encode(to))")["location"]
                    == "/")
        }
    }

    @Test("who has no role is told so, and gets neither an account nor a session; who is disabled here, too")
    func noRole() async throws {
        let stub = try TestIdentityProvider()
        let folder = try Self.folder(stub)
        let site = try folder.siteWithAccounts()
        try await TestServer.with(site) { server throws in
            stub.change { $0.claims["groups"] = .array([.string("Marketing"), .string("administrator")]) }
            let browser = Browser(server)
            let refused = try Self.enter(browser, stub)
            #expect(refused.status == 403 && refused.body.contains("You have no role here") && browser.session == nil)
            #expect(try site.accounts.accounts().isEmpty)
            stub.change { $0.claims = [:] }
            #expect(try Self.enter(browser, stub).status == 303)
            try site.accounts.disable(site.accounts.accounts()[0].id, by: .terminal, at: .now())
            #expect(try browser.get("/runs").status == 303)
            #expect(try Self.enter(browser, stub).body.contains("Your account is disabled"))
        }
    }

    @Test("what a provider says is text on every page, and no page shows codes, tokens or secrets")
    func hostile() async throws {
        let stub = try TestIdentityProvider()
        let folder = try Self.folder(stub)
        let site = try folder.siteWithAccounts()
        let script = "<script>alert(1)</script>\"'&"
        try await TestServer.with(site) { server throws in
            stub.change {
                $0.claims["name"] = .string(script)
                $0.claims["preferred_username"] = .string("<b>")
                $0.claims["groups"] = .array([.string("admins"), .string(script)])
            }
            let browser = Browser(server)
            #expect(try Self.enter(browser, stub).status == 303)
            for path in ["/", "/account", "/users", "/users/1", "/activity"] {
                let page = try browser.get(path)
                #expect(
                    page.status == 200 && !page.body.contains("<script>alert") && !page.body.contains("access-"),
                    "\(path)")
            }
            for query in [
                "code=C0DE&state=5TATE", "error=%3Cscript%3E5TATE&state=5TATE", "code=C0DE&code=5TATE&iss=%3Cscript%3E",
            ] {
                let page = try browser.get("\(ProviderPages.wayBack)?\(query)")
                #expect(page.status == 400)
                for text in ["C0DE", "5TATE", "<script>"] {
                    #expect(!page.body.replacing("<script src=", with: "").contains(text))
                }
            }
            stub.change { $0.answers["/token"] = .init("400 Bad Request", body: "{\"error\":\"<script>s3cret\"}") }
            let failed = try Self.enter(browser, stub)
            #expect(failed.status == 502 && !failed.body.contains("s3cret"))
        }
    }

    @Test("before what cannot be taken back, the provider asks the person anew; what was filled in goes on afterwards")
    func proof() async throws {
        let stub = try TestIdentityProvider()
        let folder = try Self.folder(stub)
        let site = try folder.siteWithAccounts()
        try await TestServer.with(site) { server throws in
            stub.change { $0.claims["groups"] = .string("admins") }
            let browser = Browser(server)
            // Signed in at the provider for an hour.
            _ = try Self.enter(browser, stub)
            let fields = [("name", "eva"), ("display", "Eva \"<Roth>\""), ("role.editor.shop", "yes")]
            let asked = try browser.send("/invite", fields)
            #expect(
                asked.status == 403 && asked.body.contains("href=\"/account/proof/oidc\"")
                    && !asked.body.contains("type=\"password\""))
            let before = try #require(browser.session)
            let address = try #require(try browser.get("/account/proof/oidc")["location"])
            #expect(address.contains("prompt=login&max_age=0"))
            let back = try browser.get(Self.wayBack(stub.signIn(at: address)))
            #expect(back["location"] == ProviderPages.proved)
            let proved = try browser.get(ProviderPages.proved)
            #expect(
                proved.status == 200 && proved.all("set-cookie").isEmpty && proved.body.contains("action=\"/invite\""))
            #expect(proved.body.contains("name=\"display\" value=\"Eva &quot;&lt;Roth&gt;&quot;\""))
            #expect(browser.session != before)
            #expect(try server.request("GET", "/", session: before).status == 303)
            #expect(try browser.send("/invite", fields).body.contains("/invitation?link="))
            // A file.
            let file = Browser(server)
            _ = try Self.enter(file, stub)
            let path = "/runs/\(Self.id)/results.csv"
            let way = try #require(try file.get(path)["location"])
            #expect(try file.get(way).body.contains("href=\"/account/proof/oidc\""))
            #expect(try Self.enter(file, stub, by: "/account/proof/oidc")["location"] == ProviderPages.proved)
            #expect(try file.get(ProviderPages.proved).body.contains("href=\"\(path)\">Go on"))
            #expect(try file.get(path).status == 200)
        }
    }

    @Test(
        "a page says whether the person, the provider or its settings ended a sign-in, also where the answer lacks the state"
    )
    func ended() async throws {
        let stub = try TestIdentityProvider()
        let folder = try Self.folder(stub)
        try await TestServer.with(try folder.siteWithAccounts()) { server throws in
            let browser = Browser(server)
            func comeBack(_ changes: [String: String?]) throws -> Reply {
                var answer = try stub.signIn(at: #require(try browser.get("/sign-in/oidc")["location"]))
                for (name, value) in changes { answer[name] = value }
                return try browser.get(Self.wayBack(answer))
            }
            for state in [["state": String?.none], [:]] {
                let refused = try comeBack(state.merging(["code": nil, "error": "access_denied"]) { $1 })
                #expect(
                    refused.status == 403
                        && refused.body.contains("Login &amp; &lt;Co&gt; ended the sign-in. You may begin again."))
                let wrong = try comeBack(state.merging(["code": nil, "error": "invalid_scope"]) { $1 })
                #expect(
                    wrong.status == 502
                        && wrong.body.contains("ended the sign-in with an error. Tell the people who run Volley"))
            }
            // An error without the state ended nothing.
            let answer = try stub.signIn(at: #require(try browser.get("/sign-in/oidc")["location"]))
            #expect(try browser.get(Self.wayBack(["error": "access_denied"])).status == 403)
            #expect(try browser.get(Self.wayBack(answer)).status == 303 && browser.session != nil)
            #expect(try Browser(server).get(Self.wayBack(["error": "access_denied"])).status == 400)
        }
    }

    @Test("another person at the provider, another session, and a provider that does not ask prove nothing")
    func noProof() async throws {
        let stub = try TestIdentityProvider()
        let folder = try Self.folder(stub)
        let site = try folder.siteWithAccounts()
        try await TestServer.with(site) { server throws in
            stub.change { $0.claims["groups"] = .string("admins") }
            let browser = Browser(server)
            _ = try Self.enter(browser, stub)
            func isFresh() throws -> Bool { try browser.get("/runs/\(Self.id)/results.csv").status == 200 }
            stub.change { $0.claims["sub"] = .string("another") }
            let other = try Self.enter(browser, stub, by: "/account/proof/oidc")
            #expect(try other.status == 403 && other.body.contains("as another person") && !isFresh())
            stub.change {
                $0.claims["sub"] = .some(.string(TestIdentityProvider.subject))
                $0.claims["auth_time"] = .integer(Timestamp.now().epochSeconds - 3600)
            }
            #expect(try Self.enter(browser, stub, by: "/account/proof/oidc").status == 403 && !isFresh())
            stub.change { $0.claims["auth_time"] = .some(nil) }
            let silent = try Self.enter(browser, stub, by: "/account/proof/oidc")
            #expect(
                try silent.status == 403 && silent.body.contains("does not tell the console when you signed in")
                    && !isFresh())
            stub.change { $0.claims["auth_time"] = nil }
            // A proof belongs to the session that requested it, even among sessions of one person.
            let second = Browser(server)
            _ = try Self.enter(second, stub)
            let answer = try stub.signIn(at: #require(browser.get("/account/proof/oidc")["location"]))
            let cookies = try
                "volley=\(#require(second.session)); volley-oidc=\(#require(browser.cookies["volley-oidc"]))"
            let mixed = try server.request("GET", Self.wayBack(answer), headers: [("Cookie", cookies)])
            #expect(mixed.status == 401 && mixed.all("set-cookie").isEmpty)
            #expect(try second.get("/runs/\(Self.id)/results.csv").status == 303 && !isFresh())
            #expect(try Self.enter(browser, stub, by: "/account/proof/oidc").status == 303 && isFresh())
        }
    }

    @Test("the form for passwords can be hidden, and is there for those who were invited from the terminal")
    func only() async throws {
        let stub = try TestIdentityProvider()
        let folder = try Self.folder(stub, "only: true")
        let site = try folder.siteWithAccounts()
        try site.person("root.admin", [.administrator])
        try await TestServer.with(site) { server throws in
            #expect(try !server.request("GET", "/sign-in").body.contains("type=\"password\""))
            for path in ["/sign-in?with=password", "/sign-in?name=root.admin"] {
                let page = try server.request("GET", path).body
                #expect(page.contains("type=\"password\"") && page.contains("/sign-in/oidc"), "\(path)")
            }
        }
        let second = try Self.folder(stub)
        let both = try second.siteWithAccounts()
        try both.person("root.admin", [.administrator])
        try await TestServer.with(both) { server throws in
            let page = try server.request("GET", "/sign-in").body
            #expect(page.contains("type=\"password\"") && page.contains("/sign-in/oidc"))
        }
    }

    @Test(
        "a person of a provider who is called like a local one is another person, and that one's password is of no use for them"
    )
    func collision() async throws {
        let stub = try TestIdentityProvider()
        let folder = try Self.folder(stub)
        let site = try folder.siteWithAccounts()
        try site.person("jane", [.administrator])
        try await TestServer.with(site) { server throws in
            let browser = Browser(server)
            _ = try Self.enter(browser, stub)
            #expect(try browser.get("/account").body.contains("<code>jane-2</code>"))
            #expect(try browser.get("/users").status == 403)
            let root = try site.enter("jane")
            let page = try server.request("GET", "/users/2", session: root).body
            #expect(
                page.contains(stub.issuer) && !page.contains("Offer a new password")
                    && !page.contains("Change the roles"))
            #expect(try server.form("/users/2/roles", session: root, [("role.viewer.all", "yes")]).status >= 400)
            #expect(try server.form("/users/2/password", session: root).status == 403)
        }
    }

    @Test("who makes up codes is slowed down by address; a provider that fails slows nobody down")
    func brake() throws {
        let stub = try TestIdentityProvider()
        let folder = try Self.folder(stub)
        let provider = try #require(try folder.siteWithAccounts().provider), now = Timestamp.now()
        func attempt(_ problem: OpenIDProblem, from text: String) -> Bool {
            do { try provider.braked(IPAddress(text), at: now) { throw problem } } catch {
                return error is OpenIDProblem
            }
            return false
        }
        let madeUp = OpenIDProblem.refused(.token, status: 400, code: "invalid_grant")
        #expect((0..<30).allSatisfy { _ in attempt(.unreachable(.token, "down"), from: "192.0.2.1") })
        #expect((0..<30).contains { _ in !attempt(madeUp, from: "192.0.2.1") })
        #expect(attempt(madeUp, from: "192.0.2.2"))
        #expect((0..<30).allSatisfy { _ in attempt(madeUp, from: "127.0.0.1") })
    }

    @Test("the log says what volley.yaml would have to name, and the page that the provider is away")
    func notes() throws {
        let stub = try TestIdentityProvider()
        let provider = try #require(try Self.folder(stub).siteWithAccounts().provider)
        func note(_ values: [String]) -> String? { Refusal.noRole(provider, values: values).note }
        #expect(note([])?.hasSuffix("a person without a role came without the claim groups") == true)
        #expect(
            note(["/shop", "a\u{1B}[2J"])?.hasSuffix(
                "came with '/shop', 'a [2J', which volley.yaml does not map, in the claim groups")
                == true)
        #expect(note((1...6).map(String.init))?.contains("'5' and others, which") == true)
        let away = Refusal(OpenIDProblem.unreachable(.token, "down"), of: "Login")
        #expect(away.status.code == 502 && away.words.contains("The console cannot reach Login."))
    }

    @Test("a slow provider keeps nobody else waiting")
    func slow() async throws {
        let stub = try TestIdentityProvider()
        let folder = try Self.folder(stub)
        let site = try folder.siteWithAccounts()
        try site.person("root.admin", [.administrator])
        // Longer than it is waited for.
        stub.change { $0.answers["/.well-known/openid-configuration"] = .init(seconds: 60) }
        let session = try site.enter("root.admin")
        let answered = Answered()
        try await TestServer.with(site) { server throws in
            for _ in 0..<12 {
                Thread.detachNewThread {
                    _ = try? server.request("GET", "/sign-in/oidc")
                    answered.count.withLock { $0 += 1 }
                }
            }
            while stub.requests.count < 4 { usleep(10_000) }
            #expect(try server.request("GET", "/runs", session: session).status == 200)
            #expect(answered.count.withLock { $0 } < 12, "others still wait for the provider")
        }
    }

    private final class Answered: Sendable { let count = Mutex(0) }

    @Test("without a provider its pages do not exist")
    func none() async throws {
        let folder = try TestFolder()
        try await TestServer.with(folder.siteWithAccounts()) { server throws in
            #expect(try server.request("GET", "/sign-in/oidc").status == 404)
            #expect(try server.request("GET", "\(ProviderPages.wayBack)?code=a&state=b").status == 404)
        }
    }

    @Test("a secret that is missing, and an authority that is none, are said when the console starts")
    func start() throws {
        let stub = try TestIdentityProvider()
        let folder = try Self.folder(stub)
        try FileManager.default.removeItem(atPath: folder.path + "/oidc.txt")
        #expect { try folder.siteWithAccounts() } throws: {
            "\($0)".contains("oidc.txt") && "\($0)".contains("no such")
        }
        try folder.write("oidc.txt", "two words")
        #expect { try folder.siteWithAccounts() } throws: {
            "\($0)".contains("oidc.txt") && !"\($0)".contains("two words")
        }
        try folder.write("oidc.txt", "s3cret")
        try Data("nothing".utf8).write(to: URL(fileURLWithPath: stub.authorityFile))
        #expect { try folder.siteWithAccounts() } throws: { "\($0)".contains("`ca` below `console: {oidc: …}`") }
    }

    @Test("volley.yaml knows the roles of the console")
    func roles() {
        #expect(ClaimedRole.Role.allCases.map(\.rawValue) == Role.allCases.map(\.rawValue))
        for role in ClaimedRole.Role.allCases {
            #expect(
                RoleGrant(ClaimedRole(role, app: "shop"))
                    == RoleGrant(Role(rawValue: role.rawValue) ?? .viewer, .app("shop")))
        }
    }
}
