import Base
import Cryptography
import Glibc
import PushServices
import TestServers
import Testing

@testable import Delivery

/// Fetching a token from a real server over TLS.
@Suite("fetching a token")
struct TokenFetchTests {
    /// What `start` says when the server answers so.
    private func complaint(_ answer: @escaping @Sendable (TokenServer.Request) -> String?) throws -> Diagnostic? {
        let server = try TokenServer { answer($1) }
        return complaint(try server.source())
    }

    private func complaint(_ source: FetchedTokenSource) -> Diagnostic? {
        defer { source.stop() }
        do { try source.start() } catch { return error as? Diagnostic }
        return nil
    }

    @Test("the assertion is signed, says who asks for what and until when, and is posted as a form")
    func assertion() throws {
        let server = try TokenServer { _, _ in TokenServer.token("abc.DEF-123_~+/=") }
        let source = try server.source()
        let before = Timestamp.now().epochSeconds
        try source.start()
        defer { source.stop() }
        guard case .ready(let token) = source.state() else {
            Issue.record("there is no token")
            return
        }
        #expect(token.value == "Bearer abc.DEF-123_~+/=")
        let request = try #require(server.requests.first)
        #expect(request.head.hasPrefix("POST /token HTTP/1.1\r\n"))
        #expect(request.head.lowercased().contains("content-type: application/x-www-form-urlencoded\r\n"))
        let form = request.body.split(separator: "&").map(String.init)
        #expect(form.first == "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer")
        let parts = try #require(form.last).dropFirst("assertion=".count).split(separator: ".")
        let header = try JSONValue(parsing: Self.decode(parts[0]))
        #expect(
            header
                == .object(pairs: [("alg", .string("RS256")), ("typ", .string("JWT")), ("kid", .string("0123abcd"))]))
        let claims = try JSONValue(parsing: Self.decode(parts[1]))
        #expect(claims["iss"]?.stringValue == "sender@example.iam")
        #expect(claims["scope"]?.stringValue == "https://push.example/send")
        #expect(claims["aud"]?.stringValue == "https://localhost:\(server.endpoint.port)/token")
        let issued = try #require(claims["iat"]?.integerValue)
        #expect((before...before + 60).contains(issued))
        #expect(claims["exp"]?.integerValue == issued + 3600)
        #expect(
            TokenServer.key.verificationKey.isValid(Self.decode(parts[2]), for: Array("\(parts[0]).\(parts[1])".utf8)))
    }

    @Test(
        "an answer without a usable token is named",
        arguments: [
            (
                TokenServer.answer("200 OK", "<html>Welcome</html>", type: "text/html"),
                "it answered 200 with a web page"
            ),
            (
                TokenServer.answer("403 Forbidden", " <!doctype html>", type: "text/plain"),
                "it answered 403 with a web page"
            ),
            (TokenServer.answer("200 OK", ""), "it answered 200 with nothing"),
            (TokenServer.answer("200 OK", "{\"access"), "something that is not JSON"),
            ("HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n{\"access_token\":\"s3cret", "the answer was cut off"),
            (TokenServer.answer("200 OK", String(repeating: " ", count: 70_000)), "with more than 64 KiB"),
            (TokenServer.answer("200 OK", #"{"expires_in":3600,"token_type":"Bearer"}"#), "without a token"),
            (
                TokenServer.answer("200 OK", #"{"access_token":"s3cret","expires_in":"x","token_type":"Bearer"}"#),
                "for how long"
            ),
            (TokenServer.token("s3cret", seconds: 0), "valid for 0.0 s"),
            (TokenServer.token("s3cret", seconds: -1), "valid for -1.0 s"),
            (TokenServer.token("s3cret", seconds: 999_999_999), "valid for 999999999.0 s"),
            (TokenServer.answer("200 OK", #"{"access_token":"s3cret","expires_in":60}"#), "without the token's type"),
            (
                TokenServer.answer("200 OK", #"{"access_token":"s3cret","expires_in":60,"token_type":"mac"}"#),
                "type 'mac', not Bearer"
            ),
            (TokenServer.token("s3cret\\r\\nx: y"), "no header can hold"),
            (TokenServer.token("s3cret é"), "no header can hold"),
            (TokenServer.token("s3cret" + String(repeating: "x", count: 8190)), "more than 8 KiB"),
            (TokenServer.answer("302 Found", "", headers: "Location: https://localhost/\r\n"), "it answered 302"),
            (TokenServer.answer("500 Internal Server Error", ""), "it answered 500"),
            (
                TokenServer.answer("400 Bad Request", #"{"error":"invalid_scope","error_description":"No."}"#),
                "400 with invalid_scope: No"
            ),
        ])
    func flaws(answer: String, words: String) throws {
        let found = try #require(try complaint { _ in answer })
        #expect(found.message.contains(words), "\(found)")
        #expect(found.message.hasPrefix("there is no access token from https://localhost:"))
        #expect(found.remedy != nil)
        #expect(!found.description.contains("s3cret"))
    }

    @Test("a refused assertion is said with the server's words; with a wrong clock, that is said, too")
    func clock() throws {
        let words = #"{"error":"invalid_grant","error_description":"Invalid JWT: Token must be a short-lived token."}"#
        let behind = Timestamp(epochSeconds: Timestamp.now().epochSeconds + 720).httpDate
        let found = try #require(
            try complaint { _ in TokenServer.answer("400 Bad Request", words, headers: "Date: \(behind)\r\n") })
        #expect(
            found.message.contains(
                "400 with invalid_grant: Invalid JWT: Token must be a short-lived token; this machine's clock is 1"))
        #expect(found.message.hasSuffix(" behind the server's"))
        #expect(found.remedy == "Set this machine's clock, then try again.")
        let right = try #require(
            try complaint { _ in
                TokenServer.answer("400 Bad Request", words, headers: "Date: \(Timestamp.now().httpDate)\r\n")
            })
        #expect(!right.message.contains("clock is"))
    }

    @Test("a token is valid as long as the server says, with or without quotes, and for an hour if it says nothing")
    func lifetimes() {
        for (lifetime, seconds) in [(#""expires_in":3599,"#, 3599.0), (#""expires_in":"3599","#, 3599), ("", 3600)] {
            let body = #"{"access_token":"abc",\#(lifetime)"token_type":"Bearer"}"#
            let read = TokenAnswer(status: 200, body: Array(body.utf8)).read(hiding: "", at: .now())
            #expect(read == .given(IssuedToken(text: "abc", seconds: seconds)), "\(body)")
        }
        for lifetime in ["null", "\"soon\"", "\"\"", "[60]", "\"-5\"", "0"] {
            let body = #"{"access_token":"abc","expires_in":\#(lifetime),"token_type":"Bearer"}"#
            guard case .failed = TokenAnswer(status: 200, body: Array(body.utf8)).read(hiding: "", at: .now()) else {
                Issue.record("\(body)")
                continue
            }
        }
    }

    @Test("a server that repeats what it was sent gives nothing away")
    func echo() throws {
        let found = try #require(
            try complaint { request in
                let assertion = request.body.split(separator: "assertion=")[1]
                let part = assertion.split(separator: ".")[2].prefix(20)
                return TokenServer.answer(
                    "400 Bad Request",
                    #"{"error":"invalid_grant","error_description":"bad assertion \#(assertion) and '\#(part)' in \#(request.body)"}"#
                )
            })
        #expect(found.message.contains("invalid_grant: bad assertion … and '…' in grant_type="), "\(found)")
        #expect(found.message.hasSuffix("&assertion=…"), "\(found)")
    }

    @Test("no connection, a certificate of others, and another name are told apart")
    func ways() throws {
        let server = try TokenServer { _, _ in TokenServer.token("x") }
        var nowhere = server.endpoint
        nowhere.port = try Sockets.freePort()
        var stranger = server.endpoint
        stranger.certificateAuthorityFile = nil
        let misnamed = try TokenServer(names: ["elsewhere.example"]) { _, _ in TokenServer.token("x") }
        for (endpoint, words) in [
            (nowhere, "there is no connection"), (stranger, "certificate is not trusted"),
            (misnamed.endpoint, "certificate is not trusted"),
        ] {
            let source = try FetchedTokenSource(
                exchange: TokenServer.exchange(), identity: .key(TokenServer.account), server: endpoint)
            let found = try #require(complaint(source))
            #expect(found.message.contains(words), "\(found)")
        }
        #expect(server.requests.isEmpty && misnamed.requests.isEmpty)
    }

    @Test("a proxy carries it, and one that refuses is named without its password")
    func proxies() throws {
        let server = try TokenServer { _, _ in TokenServer.token("x") }
        let proxy = try TestProxy(.http, TestProxy.Behaviour())
        #expect(complaint(try server.source(proxy: "http://127.0.0.1:\(proxy.port)")) == nil)
        #expect(proxy.tunnels == 1)
        let nowhere = try Sockets.freePort()
        let found = try #require(complaint(try server.source(proxy: "http://me:s3cret@127.0.0.1:\(nowhere)")))
        #expect(found.message.contains("there is no connection") && !found.description.contains("s3cret"), "\(found)")
    }

    @Test("a key that is none, and a proxy that is none, are refused before anything is asked")
    func misconfigured() throws {
        var account = TokenServer.account
        account.privateKeyPEM = "-----BEGIN PRIVATE KEY-----\nnonsense\n-----END PRIVATE KEY-----\n"
        #expect(throws: Diagnostic.self) {
            try FetchedTokenSource(exchange: TokenServer.exchange(), identity: .key(account))
        }
        #expect(throws: Diagnostic.self) {
            try FetchedTokenSource(
                exchange: TokenServer.exchange(), identity: .key(TokenServer.account), proxy: "gopher://x")
        }
    }

    @Test("a fetch that hangs ends at once when the run does")
    func cancellation() throws {
        let server = try TokenServer { number, _ in number == 0 ? TokenServer.token("first", seconds: 2) : nil }
        let source = try server.source(shortest: 0)
        try source.start()
        let clock = ContinuousClock()
        let asked = clock.now
        while server.requests.count < 2, clock.now - asked < .seconds(20) { usleep(10_000) }
        #expect(server.requests.count == 2)
        let stopped = clock.now
        source.stop()
        #expect(clock.now - stopped < .seconds(2))
        source.stop()
    }

    @Test("a run waits out what may pass before its first token; what will not pass is said at once")
    func waitsOutTrouble() throws {
        let late = try TokenServer { number, _ in
            number < 2 ? TokenServer.answer("503 Busy", "{}") : TokenServer.token("third")
        }
        let source = try late.source()
        defer { source.stop() }
        try source.start(.isWaitedOut)
        let clock = ContinuousClock()
        let asked = clock.now
        while clock.now - asked < .seconds(20), source.state() == .pending(nil) || late.requests.count < 3 {
            usleep(20_000)
        }
        usleep(200_000)
        guard case .ready(let token) = source.state() else {
            Issue.record("\(source.state())")
            return
        }
        #expect(token.value == "Bearer third")
        let refusing = try TokenServer { _, _ in TokenServer.answer("400 Bad Request", #"{"error":"invalid_grant"}"#) }
        let refused = try refusing.source()
        #expect(throws: Diagnostic.self) { try refused.start(.isWaitedOut) }
        let busy = try TokenServer { _, _ in TokenServer.answer("503 Busy", "{}") }
        #expect(throws: Diagnostic.self) { try busy.source().start() }
    }

    @Test("the first fetch ends at once when a person asks for the end")
    func cancelledFirst() throws {
        let server = try TokenServer { _, _ in nil }
        let source = try server.source(), cancellation = try Cancellation()
        startThread {
            usleep(500_000)
            cancellation.request()
        }
        let clock = ContinuousClock()
        let start = clock.now
        #expect(throws: CancellationError.self) { try source.start(until: cancellation) }
        #expect(clock.now - start < .seconds(8) && server.requests.count <= 1)
    }

    @Test("who waits for a token is woken when it comes, and the thread ends with the source")
    func wakes() throws {
        let server = try TokenServer { number, _ in TokenServer.token("token\(number)") }
        var source: FetchedTokenSource? = try server.source(shortest: 0)
        weak let last = source
        let waiting = try Wakeup(), gone = try Wakeup()
        do {
            let source = try #require(source)
            try source.start()
            guard case .ready(let first) = source.state() else {
                Issue.record("there is no token")
                return
            }
            source.attach(waiting)
            source.attach(gone)
            source.detach(gone)
            #expect(source.renewed(after: first) == .pending(nil))
            waiting.wait(atMost: 60)
            guard case .ready(let second) = source.state() else {
                Issue.record("there is no second token")
                return
            }
            #expect(second.value == "Bearer token1")
            #expect(source.renewed(after: first) == .ready(second))
        }
        var polled = pollfd(fd: gone.descriptor, events: Int16(POLLIN), revents: 0)
        #expect(poll(&polled, 1, 0) == 0, "one that left is not woken")
        source = nil
        #expect(last == nil)
    }

    private static func decode(_ part: Substring) -> [UInt8] {
        let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
        var (bits, count) = (0, 0)
        var bytes: [UInt8] = []
        for character in part {
            bits = (bits << 6 | (digits.firstIndex(of: character) ?? 0)) & 0xFFFF
            count += 6
            guard count >= 8 else { continue }
            count -= 8
            bytes.append(UInt8(truncatingIfNeeded: bits >> count))
        }
        return bytes
    }
}
