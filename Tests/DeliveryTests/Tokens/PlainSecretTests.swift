import Base
import Cryptography
import PushServices
import TestServers
import Testing

@testable import Delivery

@Suite("secrets that a service gives an app")
struct PlainSecretTests {
    @Test("name and secret are shown in base64")
    func basic() {
        let source = FixedTokenSource(basic: AppSecret(topic: "Aladdin", secret: "open sesame"))
        guard case .ready(let token) = source.state() else { fatalError("a fixed credential is always there") }
        // The example of RFC 7617, section 2.
        #expect(token.header == "authorization" && token.value == "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==")
        #expect(source.renewed(after: token) == nil)
    }

    @Test("SHA-1 is that of FIPS 180-4")
    func sha1() { #expect(SHA1.hex(of: "abc") == "a9993e364706816aba3e25717850c26c9cd0d89d") }

    private static func exchange() -> TokenExchange {
        let facts = DigestFacts(
            path: { "/v2/\($0)/auth" }, text: { "\($0.names["app_key"] ?? "")\($0.milliseconds)\($1)" },
            body: { .object(pairs: [("sign", .string($1)), ("timestamp", .string(String($0.milliseconds)))]) },
            read: { status, answer in
                switch answer["code"]?.integerValue {
                case 0:
                    guard let token = answer["token"]?.stringValue, let end = answer["end"]?.integerValue else {
                        return .unreadable
                    }
                    return .token(token, until: end)
                case let code?: return .refused("\(code) \(answer["msg"]?.stringValue ?? "")", mayPass: code == 3)
                case nil: return .unreadable
                }
            })
        return TokenExchange(
            noun: "session", proof: .digest(facts), header: "token", prefix: "", renewEarlySeconds: 60,
            shortestRenewalSeconds: 5)
    }

    private static func source(_ server: TokenServer) throws -> FetchedTokenSource {
        try FetchedTokenSource(
            exchange: exchange(), identity: .secret(AppSecret(topic: "a1", names: ["app_key": "k1"], secret: "s3cret")),
            server: server.endpoint)
    }

    @Test("a secret is proved by its digest, and never sent; the token goes into the header that the service names")
    func digest() throws {
        let end = Timestamp.now().epochMilliseconds + 3_600_000
        let server = try TokenServer { _, _ in
            TokenServer.answer("200 OK", #"{"code":0,"token":"t0ken","end":\#(end)}"#)
        }
        let source = try Self.source(server)
        try source.start()
        defer { source.stop() }
        guard case .ready(let token) = source.state() else { throw Diagnostic("there is no token") }
        #expect(token.header == "token" && token.value == "t0ken")
        let request = try #require(server.requests.first)
        #expect(request.head.hasPrefix("POST /v2/a1/auth HTTP/1.1\r\n") && !"\(request)".contains("s3cret"))
        let body = try JSONValue(parsing: request.body), time = try #require(body["timestamp"]?.stringValue)
        #expect(body["sign"]?.stringValue == SHA256.hex(SHA256.digest(of: Array("k1\(time)s3cret".utf8))))
        #expect(abs((Int64(time) ?? 0) - Timestamp.now().epochMilliseconds) < 60_000)
    }

    @Test(
        "why there is no token is said in the service's words, and never with what was sent",
        arguments: [
            (#"{"code":9,"msg":"sign error"}"#, "9 sign error", true),
            (#"{"code":3,"msg":"too often"}"#, "3 too often", false),
            (#"{"code":0}"#, "without a token", true), (#"{"hello":1}"#, "without a token", true),
            ("oops", "not JSON", true),
            (#"{"code":0,"token":"a b","end":9999999999999}"#, "no header can hold", true),
            (#"{"code":0,"token":"a","end":1}"#, "valid for", true),
        ])
    func refusals(body: String, expected: String, isFinal: Bool) throws {
        let server = try TokenServer { _, _ in TokenServer.answer("200 OK", body) }
        let source = try Self.source(server)
        let error = #expect(throws: Diagnostic.self) { try source.start() }
        #expect(error?.message.contains(expected) == true, "\(error?.message ?? "")")
        let waiting = try Self.source(server)
        defer { waiting.stop() }
        if isFinal {
            #expect(throws: Diagnostic.self) { try waiting.start(.isWaitedOut) }
        } else {
            try waiting.start(.isWaitedOut)
        }
    }

    @Test("a secret stands in a file or a variable, as one word, and no message repeats it")
    func places() throws {
        let folder = try TemporaryFolder()
        func read(_ text: String) throws -> String {
            try PlainSecret(at: .file(folder.write("secret.txt", text)), noun: "master secret").text()
        }
        #expect(try read("abc123\n") == "abc123" && read(" \t abc123 \r\n\n") == "abc123")
        for wrong in ["", " \n", "two words", String(repeating: "a", count: 300), "se\u{7}cret", "naïve"] {
            let error = #expect(throws: Diagnostic.self) { try read(wrong) }
            #expect(error?.description.contains("words") != true && error?.description.contains("aaa") != true)
        }
        #expect(try read("\u{FEFF}abc123\r\n") == "abc123" && read("\u{FEFF}\u{FEFF}abc123") == "abc123")
        for hidden: Unicode.Scalar in ["\u{200B}", "\u{A0}", "\u{FEFF}", "\u{AD}"] {
            let code = TextFormat.codePoint(hidden)
            for text in ["abc123\(hidden)\n", "abc\(hidden)123", "\n\(hidden)abc123"] {
                #expect(
                    #expect(throws: Diagnostic.self) { try read(text) }?.message.contains(
                        "an invisible character (\(code))") == true)
            }
        }
        let missing = #expect(throws: Diagnostic.self) {
            try PlainSecret(at: .variable("VOLLEY_NO_SUCH_VARIABLE"), noun: "master secret").text()
        }
        #expect(
            missing?.message
                == "the environment variable VOLLEY_NO_SUCH_VARIABLE, which should hold the master secret, is not set")
    }
}
