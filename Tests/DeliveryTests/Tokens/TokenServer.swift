import Base
import Cryptography
import Glibc
import PushServices
import Synchronization
import TestServers

@testable import Delivery

/// A server that gives out tokens over TLS, and answers as it is told. It ends with this value.
final class TokenServer {
    /// A request.
    struct Request: Sendable {
        var head: String
        var body: String
    }

    let endpoint: Endpoint
    private let front: TLSFront
    private let state: State
    private let folder: TemporaryFolder

    private final class State: Sendable {
        let isStopped = Atomic(false)
        let requests = Mutex<[Request]>([])
    }

    /// - Parameter answer: the whole answer to the request of this number, from 0 on; nil for none,
    ///   ever.
    init(names: [String] = ["localhost"], _ answer: @escaping @Sendable (Int, Request) -> String?) throws {
        let authority = CertificateAuthority(commonName: "Token authority")
        folder = try TemporaryFolder()
        let (listener, port) = try Sockets.listen()
        let state = State()
        self.state = state
        front = try TLSFront(
            TLSServerContext(
                certificate: authority.issueServerCertificate(names: names), applicationProtocols: ["http/1.1"]),
            to: port)
        endpoint = Endpoint(
            host: "localhost", port: front.port,
            certificateAuthorityFile: try folder.write("ca.pem", authority.certificatePEM))
        startThread {
            while !state.isStopped.load(ordering: .relaxed) {
                var polled = pollfd(fd: listener, events: Int16(POLLIN), revents: 0)
                guard poll(&polled, 1, 100) > 0 else { continue }
                let client = accept(listener, nil, nil)
                if client >= 0 { startThread { Self.serve(client, state, answer) } }
            }
            Sockets.close(listener)
        }
    }

    deinit { state.isStopped.store(true, ordering: .relaxed) }

    /// The requests so far, in order.
    var requests: [Request] { state.requests.withLock { $0 } }

    private static func serve(_ client: Int32, _ state: State, _ answer: @Sendable (Int, Request) -> String?) {
        defer { Sockets.close(client) }
        var head: [UInt8] = []
        while !head.suffix(4).elementsEqual("\r\n\r\n".utf8) {
            guard let byte = Sockets.read(1, from: client) else { return }
            head += byte
        }
        let text = String(decoding: head, as: UTF8.self)
        let length = text.split(separator: "\r\n").first { $0.lowercased().hasPrefix("content-length:") }
        guard let count = length.flatMap({ Int($0.split(separator: " ")[1]) }),
            let body = Sockets.read(count, from: client)
        else { return }
        let request = Request(head: text, body: String(decoding: body, as: UTF8.self))
        let number = state.requests.withLock { requests in
            requests.append(request)
            return requests.count - 1
        }
        if let answer = answer(number, request) {
            _ = Sockets.write(Array(answer.utf8), to: client)
        } else {
            while !state.isStopped.load(ordering: .relaxed), Sockets.read(1, from: client) != nil {}
        }
    }

    /// A whole answer.
    static func answer(_ status: String, _ body: String, headers: String = "", type: String = "application/json")
        -> String
    {
        "HTTP/1.1 \(status)\r\nContent-Type: \(type)\r\n\(headers)Content-Length: \(body.utf8.count)\r\nConnection: close\r\n\r\n\(body)"
    }

    /// The answer with a token.
    static func token(_ text: String, seconds: Int = 3600) -> String {
        answer("200 OK", #"{"access_token":"\#(text)","expires_in":\#(seconds),"token_type":"Bearer"}"#)
    }

    static let key = RSASigningKey.generate()

    /// What a service's facts say.
    static func exchange(early: Double = 300, shortest: Double = 60) -> TokenExchange {
        let assertion = AssertionFacts(
            address: "https://tokens.example/token", path: "/token", scope: "https://push.example/send", seconds: 3600
        ) { _ in account }
        return TokenExchange(
            noun: "access token", proof: .assertion(assertion), renewEarlySeconds: early,
            shortestRenewalSeconds: shortest)
    }

    static let account = AssertionKey(
        issuer: "sender@example.iam", keyID: "0123abcd", privateKeyPEM: key.pem, topic: "example")

    /// A source of tokens from here.
    func source(early: Double = 300, shortest: Double = 60, proxy: String? = nil) throws -> FetchedTokenSource {
        try FetchedTokenSource(
            exchange: Self.exchange(early: early, shortest: shortest), identity: .key(Self.account), server: endpoint,
            proxy: proxy)
    }
}
