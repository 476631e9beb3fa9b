import Accounts
import Base
import Runs
import Testing

@testable import volley_console

@Suite("Every route of the table")
struct RouteTests {
    private static let id = "20261201-090000-spring-sale-7f3a"

    /// The key of an order that anna gave.
    private static let nonce = String(repeating: "a", count: 64)

    private static func folder() throws -> TestFolder {
        let folder = try TestFolder()
        try folder.run(id)
        try folder.write(
            "spring-sale.yaml", "name: spring-sale\napp: shop\naudience: {everyone: true}\ncontent: {title: Hi}\n")
        try folder.write(
            "daily.yaml",
            "name: daily\napp: shop\naudience: {everyone: true}\ncontent: {title: Hi}\nschedule: {timezone: UTC, repeat: \"0 9 * * *\"}\n"
        )
        let orders = try OrderStore(folder: folder.runs)
        _ = try orders.place(Order(nonce: nonce, kind: .pause(run: id), by: "anna"))
        orders.close()
        return folder
    }

    /// A route's path with something that exists.
    private static func path(_ route: Route) -> String {
        let path = route.path.replacing(":run", with: id).replacing(":nonce", with: nonce).replacing(
            #/:(user|session|invitation)/#, with: "1")
        return switch route.subject {
        case .none, .run: path
        case .campaign where path.hasPrefix("/campaign/ahead"):
            "\(path)?file=daily.yaml&time=\(Timestamp.now().adding(seconds: 2 * 86_400).description.prefix(10))T09%3A00"
        case .campaign: path + "?file=spring-sale.yaml"
        case .app: path + "?app=shop"
        }
    }

    @Test("no two routes are the same, and each path is one of a server")
    func paths() {
        let all = RouteTable.all
        #expect(Set(all.map { "\($0.method.rawValue) \($0.path)" }).count == all.count)
        #expect(all.allSatisfy { $0.path.hasPrefix("/") })
    }

    @Test(
        "GET changes nothing, and whatever changes something is a form that is checked for forgery",
        arguments: RouteTable.all.indices)
    func methods(index: Int) {
        let route = RouteTable.all[index]
        #expect(route.changes == (route.method == .post))
        #expect(route.bodyLimit <= Route.mostBodyBytes)
        #expect(route.path.contains(":run") == (route.subject == .run))
    }

    @Test("only these routes are for everybody")
    func open() {
        let open = RouteTable.all.filter { $0.right == .anyone }.map { "\($0.method.rawValue) \($0.path)" }
        #expect(
            Set(open) == [
                "GET /sign-in", "POST /sign-in", "GET /sign-in/oidc", "GET /sign-in/oidc/return", "GET /invitation",
                "POST /invitation",
                "GET \(Asset.style.path)",
                "GET \(Asset.script.path)",
            ])
    }

    @Test("signed out, every other route leads to the sign-in page, and comes back after it")
    func signedOut() async throws {
        let folder = try Self.folder()
        try await TestServer.with(folder.site()) { server throws in
            for route in RouteTable.all where route.right != .anyone {
                let path = Self.path(route)
                let reply = try server.request(route.method.rawValue, path, form: route.method == .post ? [] : nil)
                #expect(reply.status == 303, "\(path)")
                let to = route.method == .get && path != "/" ? "?to=\(FormFields.encode(path))" : ""
                #expect(reply["location"] == "/sign-in\(to)", "\(path)")
                #expect(reply.body.isEmpty)
            }
        }
    }

    @Test("without the right, and with the right for another app only, every route that needs one answers 403")
    func wrongRole() async throws {
        let folder = try Self.folder()
        let signIn = FixedSignIn.usual
        let (nobody, other) = (signIn.begin("nobody"), signIn.begin("other"))
        try await TestServer.with(folder.site(signIn)) { server throws in
            for route in RouteTable.all {
                guard case .right = route.right else { continue }
                func status(_ session: String) throws -> Int {
                    try route.changes
                        ? server.form(Self.path(route), session: session).status
                        : server.request("GET", Self.path(route), session: session).status
                }
                #expect(try status(nobody) == 403, "\(route.path)")
                let isRefused = try status(other) == 403
                #expect(isRefused == (route.subject != .none), "\(route.path)")
            }
        }
    }

    @Test("with the right, every page is shown")
    func allowed() async throws {
        let folder = try Self.folder()
        let signIn = FixedSignIn.usual
        let anna = signIn.begin("anna")
        let site = try folder.site(signIn)
        // Her own page shows her account, the first one.
        _ = try site.session("anna", [.administrator])
        try await TestServer.with(site) { server throws in
            // A signed-in person has no use for these two; there is no provider of identities, and
            // no draft.
            let others = ["/sign-in", "/invitation", ProviderPages.proved, "/draft/discard"]
            for route in RouteTable.all
            where route.method == .get && !route.asksProvider && !others.contains(route.path) {
                let reply = try server.request("GET", Self.path(route), session: anna)
                #expect(reply.status == 200, "\(route.path): \(reply.body.prefix(2000))")
                #expect(reply["content-type"] != nil, "\(route.path)")
            }
        }
    }

    @Test("a form without its token, from another page, or from nowhere is refused, and nothing is changed")
    func forgery() async throws {
        let folder = try Self.folder()
        let signIn = FixedSignIn.usual
        let anna = signIn.begin("anna")
        try await TestServer.with(folder.site(signIn)) { server throws in
            let own = "http://127.0.0.1:\(server.port)"
            for route in RouteTable.all where route.changes {
                func status(_ fields: [(String, String)], _ headers: [(String, String)]) throws -> Int {
                    try server.request("POST", Self.path(route), session: anna, headers: headers, form: fields).status
                }
                let token = [("token", CSRFProtection.token(of: anna))]
                let good = [("Origin", own), ("Sec-Fetch-Site", "same-origin")]
                #expect(try status([], good) == 403, "\(route.path)")
                #expect(try status([("token", CSRFProtection.token(of: "another"))], good) == 403, "\(route.path)")
                #expect(try status(token, []) == 403, "\(route.path)")
                #expect(try status(token, [("Origin", "https://evil.example")]) == 403, "\(route.path)")
                #expect(try status(token, [("Origin", "null")]) == 403, "\(route.path)")
                #expect(try status(token, [("Origin", own), ("Sec-Fetch-Site", "cross-site")]) == 403, "\(route.path)")
                #expect(try status(token, [("Origin", own), ("Sec-Fetch-Site", "same-site")]) == 403, "\(route.path)")
            }
            #expect(try server.request("GET", "/runs", session: anna).status == 200)
            #expect(try server.form("/sign-out", session: anna).status == 303)
            #expect(try server.request("GET", "/runs", session: anna).status == 303)
        }
    }

    @Test("a body larger than a route takes is refused before it is read")
    func bodies() async throws {
        let folder = try Self.folder()
        let signIn = FixedSignIn.usual
        let anna = signIn.begin("anna")
        try await TestServer.with(folder.site(signIn)) { server throws in
            for route in RouteTable.all where route.method == .post {
                let large = String(repeating: "a", count: route.bodyLimit + 1)
                #expect(try server.form(route.path, session: anna, [("a", large)]).status == 413, "\(route.path)")
                // A campaign with many texts has many fields.
                let many = try server.form(route.path, session: anna, (0..<1_500).map { ("field\($0)", "x") }).status
                #expect((many == 413) == (route.bodyLimit != Route.campaignBodyLimit), "\(route.path): \(many)")
            }
        }
    }

    @Test("what is not there is not found, and says no more to those who may not know")
    func missing() async throws {
        let folder = try Self.folder()
        let signIn = FixedSignIn.usual
        let (anna, nobody) = (signIn.begin("anna"), signIn.begin("nobody"))
        try await TestServer.with(folder.site(signIn)) { server throws in
            for path in [
                "/runs/none", "/runs/..%2F..%2Fetc%2Fpasswd", "/campaign?file=..%2Fvolley.yaml",
                "/campaign?file=volley.yaml", "/campaign",
                "/nowhere",
            ] {
                #expect(try server.request("GET", path, session: anna).status == 404, "\(path)")
            }
            #expect(try server.request("GET", "/runs/none", session: nobody).status == 403)
            #expect(try server.request("DELETE", "/runs", session: anna).status == 404)
        }
    }
}
