import Base
import Campaigns
import Foundation
import Glibc
import Synchronization
import Testing

@testable import volley_console

@Suite("The console's server")
struct ServerTests {
    private static func settings(_ text: String) throws -> ConsoleSettings? {
        let folder = try TestFolder(project: "console: \(text)\n" + TestFolder.project)
        return try Project.read(file: "\(folder.path)/volley.yaml").0.console
    }

    private static let needed = [
        "content-security-policy":
            "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self' data:; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
        "x-content-type-options": "nosniff", "referrer-policy": "same-origin",
        "cross-origin-opener-policy": "same-origin",
        "cross-origin-resource-policy": "same-origin", "x-frame-options": "DENY",
    ]

    @Test("every answer has the headers that protect it, errors and answers of the framework included")
    func headers() async throws {
        let folder = try TestFolder()
        let signIn = FixedSignIn.usual
        let anna = signIn.begin("anna")
        try await TestServer.with(folder.site(signIn)) { server throws in
            let host = "Host: 127.0.0.1:\(server.port)\r\n"
            let replies = [
                (200, try server.request("GET", "/", session: anna)), (303, try server.request("GET", "/")),
                (404, try server.request("GET", "/nowhere")), (200, try server.request("GET", Asset.style.path)),
                (403, try server.request("POST", "/sign-in", form: [])),
                (421, try server.request("GET", "/", headers: [("Host", "evil.example")])),
                (400, try server.raw("GET / HTTP/1.1\r\n\(host)Content-Length: x\r\n\r\n")),
                (400, try server.raw("GET /sign-in HTTP/1.1\r\n\(host)\(host)Connection: close\r\n\r\n")),
                (
                    400,
                    try server.raw("GET /sign-in HTTP/1.1\r\n\(host)host: evil.example\r\nConnection: close\r\n\r\n")
                ),
                (400, try server.raw("nonsense\r\n\r\n")),
            ]
            for (status, reply) in replies {
                #expect(reply.status == status)
                for (name, value) in Self.needed { #expect(reply.all(name) == [value], "\(status) \(name)") }
                #expect(reply["permissions-policy"] != nil)
                let isAsset = reply["content-type"]?.hasPrefix("text/css") == true
                #expect(reply["cache-control"] == (isAsset ? "public, max-age=31536000, immutable" : "no-store"))
                #expect(reply["strict-transport-security"] == nil)
                #expect(reply["server"] == nil)
            }
        }
    }

    @Test("no page has a script or a style in its markup")
    func noInline() async throws {
        let folder = try TestFolder()
        try folder.run("20261201-090000-spring-sale-7f3a")
        let signIn = FixedSignIn.usual
        let anna = signIn.begin("anna")
        try await TestServer.with(folder.site(signIn)) { server throws in
            for path in [
                "/sign-in", "/", "/runs", "/runs/20261201-090000-spring-sale-7f3a",
                "/runs/20261201-090000-spring-sale-7f3a/report",
            ] {
                let body = try server.request("GET", path, session: path == "/sign-in" ? nil : anna).body
                #expect(body.contains("<h1"), "\(path)")
                #expect(!body.contains(" style="), "\(path)")
                #expect(!body.contains("<style"), "\(path)")
                #expect(!body.contains(#/<script(?! src="\/assets\/[^"]*" defer><\/script>)/#), "\(path)")
                #expect(!body.contains(#/\son[a-z]+=/#), "\(path)")
                #expect(!body.contains("javascript:"), "\(path)")
            }
        }
    }

    @Test("without accounts there is nothing but the sign-in page, which says so")
    func noAccounts() async throws {
        let folder = try TestFolder()
        try folder.run("20261201-090000-spring-sale-7f3a")
        try await TestServer.with(folder.site(FixedSignIn([:]))) { server throws in
            for route in RouteTable.all where route.right != .anyone && route.method == .get {
                #expect(try server.request("GET", route.path, session: "0123").status == 303, "\(route.path)")
            }
            let page = try server.request("GET", "/sign-in").body
            #expect(page.contains("There are no accounts yet"))
            #expect(!page.contains("<form"))
        }
    }

    @Test("who signs in gets a new session in a cookie that scripts cannot read, and comes where they wanted")
    func signIn() async throws {
        let folder = try TestFolder()
        try await TestServer.with(folder.site()) { server throws in
            let page = try server.request("GET", "/sign-in?to=%2Fruns%3Fapp%3Dshop")
            let set = try #require(page["set-cookie"])
            #expect(set.contains(#/^volley-form=[0-9a-f]{64}; Path=\/; HttpOnly; SameSite=Strict$/#))
            let secret = String(set.dropFirst("volley-form=".count).prefix(64))
            func enter(_ password: String, to: String, name: String = "anna") throws -> Reply {
                try server.request(
                    "POST", "/sign-in",
                    headers: [("Origin", "http://127.0.0.1:\(server.port)"), ("Cookie", "volley-form=\(secret)")],
                    form: [
                        ("name", name), ("password", password), ("to", to), ("token", CSRFProtection.token(of: secret)),
                    ])
            }
            let wrong = try enter("wrong", to: "/runs")
            #expect(wrong.status == 401)
            #expect(wrong.body.contains("Name, password or code are wrong"))
            #expect(wrong.body.contains("value=\"anna\""))
            #expect(!wrong.body.contains("wrong\""))
            #expect(wrong.all("set-cookie").isEmpty)
            #expect(try enter("x", to: "/", name: "slow").status == 429)
            let right = try enter("correct horse", to: "/runs?app=shop")
            #expect(right.status == 303)
            #expect(right["location"] == "/runs?app=shop")
            let cookies = right.all("set-cookie")
            #expect(cookies.count == 3)
            #expect(cookies[0].contains(#/^volley=[0-9a-f]{64}; Path=\/; HttpOnly; SameSite=Lax$/#))
            #expect(
                cookies[2].contains(
                    #/^volley-device=[0-9a-f]{64}; Path=\/; HttpOnly; SameSite=Strict; Max-Age=2592000$/#))
            let session = String(cookies[0].dropFirst("volley=".count).prefix(64))
            #expect(session != secret)
            #expect(try server.request("GET", "/runs", session: session).status == 200)
            for to in ["https://evil.example", "//evil.example", "/\\evil.example", "runs", "/a b", ""] {
                #expect(try enter("correct horse", to: to)["location"] == "/", "\(to)")
            }
        }
    }

    @Test("behind a proxy with https, cookies are for this host and https alone, and only the proxy is believed")
    func behindProxy() async throws {
        let folder = try TestFolder()
        let settings = try Self.settings("{public_url: \"https://push.example.com\", proxies: [127.0.0.1]}")
        try await TestServer.with(folder.site(), settings: settings) { server throws in
            let page = try server.request("GET", "/sign-in", headers: [("Host", "push.example.com")])
            #expect(page["set-cookie"]?.hasPrefix("__Host-volley-form=") == true)
            #expect(page["set-cookie"]?.hasSuffix("; Secure") == true)
            #expect(page["strict-transport-security"] == "max-age=31536000")
            #expect(
                try server.request(
                    "GET", "/sign-in", headers: [("Host", "localhost"), ("X-Forwarded-Host", "push.example.com")]
                ).status
                    == 200)
            #expect(
                try server.request(
                    "GET", "/sign-in", headers: [("Host", "push.example.com"), ("X-Forwarded-Host", "evil.example")]
                ).status
                    == 421)
        }
    }

    @Test("a head with too many or too large fields is refused, and others are served meanwhile")
    func largeHeads() async throws {
        let folder = try TestFolder()
        try await TestServer.with(folder.site()) { server throws in
            let many = (0..<120).map { ("X-\($0)", "a") }
            let large = [("X-Large", String(repeating: "a", count: 17 << 10))]
            for headers in [many, large] {
                // The server may have closed before all was sent.
                let reply = try? server.request("GET", "/sign-in", headers: headers)
                #expect(reply.map { (400...499).contains($0.status) } ?? true)
                #expect(try server.request("GET", "/sign-in").status == 200)
            }
        }
    }

    @Test("connections that send nothing, or half a head, give way to others, and are closed after a while")
    func halfOpen() async throws {
        let folder = try TestFolder()
        var timeouts = Connections.ClientTimeouts()
        timeouts.head = 2
        let limits = ConnectionRegistry.Limits(all: 50, ofAddress: 50)
        try await TestServer.with(folder.site(), limits: limits, timeouts: timeouts) { server throws in
            let half = try (0..<300).map { number in
                let connection = try TestConnection(server.port)
                if number % 2 == 0 { connection.send("GET /sign-in HTTP/1.1\r\nHost: 127.0.0.1\r\n") }
                return connection
            }
            for _ in 0..<20 { #expect(try server.request("GET", "/sign-in").status == 200) }
            #expect(server.connections.count <= 50)
            // All of them end, although the clients do nothing.
            for connection in half { _ = connection.readToEnd() }
            #expect(try server.request("GET", "/sign-in").status == 200)
        }
    }

    /// Whether the server closes this number of them, which takes a moment.
    private static func closed(_ connections: [TestConnection], atLeast count: Int) -> Bool {
        for _ in 0..<500 {
            if connections.count(where: { $0.isClosed(within: 0) }) >= count { return true }
            usleep(20_000)
        }
        return false
    }

    /// A form whose body does not come, or comes in part.
    private static func halfBody(_ port: Int, _ client: String? = nil, _ more: String = "Content-Length: 1000\r\n\r\na")
        -> String
    {
        "POST /sign-in HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\n" + (client.map { "X-Forwarded-For: \($0)\r\n" } ?? "")
            + "Content-Type: application/x-www-form-urlencoded\r\n" + more
    }

    @Test(
        "forms whose bodies are withheld give way to others, however they are withheld",
        arguments: [
            "Content-Length: 1000\r\n\r\na", "Content-Length: 1000\r\nExpect: 100-continue\r\n\r\n",
            "Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n", "Transfer-Encoding: chunked\r\n\r\n0\r\nx: y\r\n",
            "Content-Length: 1\r\n\r\naPOST /sign-in HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 10\r\n\r\n",
        ])
    func halfBodies(body: String) async throws {
        let folder = try TestFolder()
        try await TestServer.with(folder.site(), limits: ConnectionRegistry.Limits(all: 50, ofAddress: 50)) {
            server throws in
            let half = try (0..<150).map { _ in
                let connection = try TestConnection(server.port)
                connection.send(Self.halfBody(server.port, nil, body))
                return connection
            }
            for _ in 0..<20 { #expect(try server.request("GET", "/sign-in").status == 200) }
            #expect(server.connections.count <= 50)
            #expect(Self.closed(half, atLeast: 100))
        }
    }

    @Test(
        "through a proxy, the address that withholds the most bodies loses them, and a slow form of another address is accepted"
    )
    func halfBodiesBehindProxy() async throws {
        let folder = try TestFolder()
        let settings = try Self.settings("{public_url: \"https://push.example.com\", proxies: [127.0.0.1]}")
        // A machine that is busy must not be taken for a slow client.
        var timeouts = Connections.ClientTimeouts()
        (timeouts.head, timeouts.body, timeouts.longestBody) = (600, 600, 600)
        // There is room for all: a client's number of connections is known only after their heads,
        // which a busy machine reads late.
        let limits = ConnectionRegistry.Limits(all: 200, ofAddress: 20)
        try await TestServer.with(folder.site(), settings: settings, limits: limits, timeouts: timeouts) {
            server throws in
            let slow = try TestConnection(server.port)
            slow.send(Self.halfBody(server.port, "2001:db8:1::1", "Connection: close\r\nContent-Length: 6\r\n\r\nnam"))
            let half = try (0..<80).map { number in
                let connection = try TestConnection(server.port)
                connection.send(Self.halfBody(server.port, "2001:db8:2::\(number + 1)"))
                return connection
            }
            for _ in 0..<20 {
                #expect(
                    try server.request("GET", "/sign-in", headers: [("X-Forwarded-For", "192.0.2.9")]).status == 200)
            }
            #expect(Self.closed(half, atLeast: 60), "one network has 20 at a time")
            slow.send("e=a")
            #expect(Reply(slow.readToEnd())?.status == 403)
        }
    }

    @Test(
        "a body whose parts have no readable size is refused as unreadable, and its connection ends",
        arguments: ["zz\r\na", "\r\na"])
    func malformedChunk(body: String) async throws {
        let folder = try TestFolder()
        try await TestServer.with(folder.site()) { server throws in
            let connection = try TestConnection(server.port)
            connection.send(Self.halfBody(server.port, nil, "Transfer-Encoding: chunked\r\n\r\n\(body)\r\n"))
            #expect(Reply(connection.readToEnd())?.status == 400)
        }
    }

    @Test("a body has time for as long as it comes, and no more")
    func bodyTime() {
        let timeouts = Connections.ClientTimeouts()
        #expect(
            timeouts.body(bytes: 0) == 15 && timeouts.body(bytes: 4_096 * 10) == 25
                && timeouts.body(bytes: 2 << 20) == 60)
    }

    @Test("clients that do not read their answers give way to others")
    func unreadAnswers() async throws {
        let folder = try TestFolder()
        // More than the buffers of two sockets take.
        let large = Route(method: .get, path: "/large", right: .anyone) { _, _ in
            .download(name: "large", type: "text/plain") { try $0([UInt8](repeating: 0x61, count: 16 << 20)) }
        }
        let limits = ConnectionRegistry.Limits(all: 4, ofAddress: 4)
        try await TestServer.with(folder.site(), limits: limits, routes: RouteTable.all + [large]) { server throws in
            let readers = try (0..<4).map { _ in
                let connection = try TestConnection(server.port, receiveBytes: 4_096)
                connection.send("GET /large HTTP/1.1\r\nHost: 127.0.0.1:\(server.port)\r\n\r\n")
                return connection
            }
            // Once their answers have waited for a second; their own deadline is later.
            var isAnswered = false
            for _ in 0..<60 where !isAnswered {
                Thread.sleep(forTimeInterval: 0.2)
                isAnswered = (try? server.request("GET", "/sign-in"))?.status == 200
            }
            #expect(isAnswered && readers.count == 4 && server.connections.count <= 4)
        }
    }

    @Test(
        "requests that are sent before the answers to earlier ones wait until those are read, and are answered in order"
    )
    func pipelined() async throws {
        let folder = try TestFolder()
        let worked = Mutex(0)
        let numbered = Route(method: .get, path: "/numbered", right: .anyone) { visit, _ in
            worked.withLock { $0 += 1 }
            let text = "<\(visit.query["number"] ?? "")>" + String(repeating: "a", count: 8_192)
            return .download(name: "numbered", type: "text/plain") { try $0(Array(text.utf8)) }
        }
        // A machine that is busy must not be taken for a slow client.
        var timeouts = Connections.ClientTimeouts()
        (timeouts.head, timeouts.answer, timeouts.pause) = (600, 600, 0.01)
        try await TestServer.with(folder.site(), timeouts: timeouts, routes: RouteTable.all + [numbered]) {
            server throws in
            func requests(_ count: Int) -> String {
                (1...count).map { number in
                    let end = number == count ? "Connection: close\r\n" : ""
                    return "GET /numbered?number=\(number) HTTP/1.1\r\nHost: 127.0.0.1:\(server.port)\r\n\(end)\r\n"
                }.joined()
            }
            let reader = try TestConnection(server.port, receiveBytes: 4_096)
            #expect(reader.send(requests(200)))
            // Until no more are worked on.
            var before = -1
            while before != worked.withLock({ $0 }) || before == 0 {
                before = worked.withLock { $0 }
                Thread.sleep(forTimeInterval: 1)
            }
            #expect((1...60).contains(before), "1.6 MB of answers do not fit into two buffers")
            #expect(try server.request("GET", "/sign-in").status == 200)
            let answers = String(decoding: reader.readToEnd(), as: UTF8.self)
            #expect(answers.matches(of: #/<([0-9]+)>/#).map { Int($0.1) } == Array(1...200))
            #expect(worked.withLock { $0 } == 200)
            // One that leaves gets nothing more done.
            do {
                let leaving = try TestConnection(server.port, receiveBytes: 4_096)
                #expect(leaving.send(requests(200)))
                #expect(!leaving.isClosed(within: 0.5))
            }
            for _ in 0..<500 where server.connections.count > 0 { usleep(20_000) }
            #expect(server.connections.count == 0)
            #expect(worked.withLock { $0 } < 400)
        }
    }

    @Test(
        "a refusal, and an answer to a client that wants no more, ends the connection, and what follows is not worked on",
        arguments: [
            ("/nowhere", "", "404"), ("/", "", "303"), ("/sign-in", "Connection: close\r\n", "200"),
            ("/sign-in", "Connection: Close\r\n", "200"),
        ])
    func lastAnswer(path: String, header: String, status: String) async throws {
        let folder = try TestFolder()
        try await TestServer.with(folder.site()) { server throws in
            let connection = try TestConnection(server.port)
            let request = "GET \(path) HTTP/1.1\r\nHost: 127.0.0.1:\(server.port)\r\n\(header)\r\n"
            connection.send(request + request + request)
            let answers = String(decoding: connection.readToEnd(), as: UTF8.self)
            #expect(answers.matches(of: #/HTTP\/1\.1 ([0-9]+) /#).map { String($0.1) } == [status])
            for _ in 0..<500 where server.connections.count > 0 { usleep(20_000) }
            #expect(server.connections.count == 0, "although its client is still there")
        }
    }

    @Test(
        "while strangers keep all threads that check passwords busy, known places sign in, and a try that is refused unseen is answered"
    )
    func refusedUnseen() async throws {
        let folder = try TestFolder()
        let signIn = FixedSignIn.usual
        let session = signIn.begin("anna")
        let pool = WorkPool(threads: 1, waiting: 0), wakeup = try Wakeup()
        async let busy: Void = pool.run { wakeup.wait() }
        while !pool.isFull { await Task.yield() }
        try await TestServer.with(folder.site(signIn), signIns: pool) { server throws in
            let secret = Secrets.make()
            func enter(_ name: String, _ device: String = "") throws -> Int {
                try server.request(
                    "POST", "/sign-in",
                    headers: [
                        ("Origin", "http://127.0.0.1:\(server.port)"), ("Cookie", "volley-form=\(secret)\(device)"),
                    ],
                    form: [("name", name), ("password", "correct horse"), ("token", CSRFProtection.token(of: secret))]
                ).status
            }
            #expect(try enter("slow") == 429)
            #expect(try enter("anna") == 503)
            // Where a person signed in before, strangers take no place.
            #expect(try enter("anna", "; volley-device=\(Secrets.make())") == 303)
            // A signed-in person proves their identity again, and fails here by the password.
            #expect(try server.form("/account/proof", session: session, [("password", "x")]).status != 503)
        }
        wakeup.wake()
        try await busy
    }

    @Test("a body that comes drop by drop ends with its time")
    func slowBody() async throws {
        let folder = try TestFolder()
        var timeouts = Connections.ClientTimeouts()
        timeouts.body = 1
        try await TestServer.with(folder.site(), timeouts: timeouts) { server throws in
            let connection = try TestConnection(server.port)
            connection.send(
                "POST /sign-in HTTP/1.1\r\nHost: 127.0.0.1:\(server.port)\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 1000\r\n\r\na"
            )
            #expect(Reply(connection.readToEnd())?.status != 200)
            #expect(try server.request("GET", "/sign-in").status == 200)
        }
    }

    @Test("a body that no route reads has an end, too")
    func endlessBody() async throws {
        let folder = try TestFolder()
        try await TestServer.with(folder.site()) { server throws in
            let connection = try TestConnection(server.port)
            connection.send(
                "GET /sign-in HTTP/1.1\r\nHost: 127.0.0.1:\(server.port)\r\nTransfer-Encoding: chunked\r\n\r\n")
            let chunk = "10000\r\n" + String(repeating: "a", count: 0x10000) + "\r\n"
            var sent = 0
            while sent < 1000, connection.send(chunk) { sent += 1 }
            #expect(sent < 1000)
            #expect(try server.request("GET", "/sign-in").status == 200)
        }
    }

    @Test(
        "results with whole tokens are only for those with the right who have just signed in; no other page shows one")
    func tokens() async throws {
        let folder = try TestFolder()
        let id = "20261201-090000-spring-sale-7f3a"
        try folder.run(id)
        let signIn = FixedSignIn.usual
        let (anna, stale, reader) = (signIn.begin("anna"), signIn.begin("stale"), signIn.begin("reader"))
        try await TestServer.with(folder.site(signIn)) { server throws in
            let csv = try server.request("GET", "/runs/\(id)/results.csv", session: anna)
            #expect(csv.status == 200)
            #expect(csv["content-disposition"] == "attachment; filename=\"\(id).csv\"")
            #expect(csv.body.contains(TestFolder.token(0)))
            #expect(try server.request("GET", "/runs/\(id)/results.csv", session: reader).status == 403)
            let again = try server.request("GET", "/runs/\(id)/results.csv", session: stale)
            #expect(again.status == 303)
            #expect(again["location"] == "/account/proof?to=\(FormFields.encode("/runs/\(id)/results.csv"))")
            #expect(again.body.isEmpty)
            for route in RouteTable.all where route.method == .get && !route.path.hasSuffix("results.csv") {
                let body = try server.request("GET", route.path.replacing(":run", with: id), session: anna).body
                #expect(!body.contains(TestFolder.token(0).prefix(32)), "\(route.path)")
            }
        }
    }

    @Test(
        "cookies that the console did not give out count as none, and harm nobody",
        arguments: ["", "x", "\u{FF}", String(repeating: "z", count: 64)])
    func strangeCookies(value: String) async throws {
        let folder = try TestFolder()
        try await TestServer.with(folder.site()) { server throws in
            for name in ["volley", "volley-form"] {
                #expect(try server.request("GET", "/sign-in", headers: [("Cookie", "\(name)=\(value)")]).status == 200)
                let form = try server.request(
                    "POST", "/sign-in",
                    headers: [("Cookie", "\(name)=\(value)"), ("Origin", "http://127.0.0.1:\(server.port)")],
                    form: [("name", "anna"), ("password", "x"), ("token", "")])
                #expect(form.status == 403)
            }
            #expect(try server.request("GET", "/sign-in").status == 200)
        }
    }
}
