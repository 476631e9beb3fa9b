import Base
import Testing

@testable import Delivery

/// The bytes sent to proxies, and the meaning of their answers, in whatever pieces they arrive.
@Suite("proxy tunnels")
struct ProxyTunnelTests {
    private func tunnel(
        _ url: String, to host: String = "api.example.com", _ port: Int = 443, at address: String? = nil
    ) throws
        -> ProxyTunnel
    {
        ProxyTunnel(
            try ProxyAddress(url), to: .init(host: host, port: port, address: address.flatMap { IPAddress($0) }))
    }

    /// The bytes that a tunnel sends, taken as sent.
    private func said(by tunnel: inout ProxyTunnel) -> [UInt8] {
        defer { tunnel.noteSent(tunnel.output.count) }
        return Array(tunnel.output)
    }

    /// Passes `answer` whole and in pieces of one byte; the results must be the same.
    /// - Returns: the progress, and how many bytes were the proxy's own.
    private func hear(_ answer: [UInt8], _ tunnel: ProxyTunnel, sourceLocation: SourceLocation = #_sourceLocation)
        -> (progress: ProxyTunnel.Progress, taken: Int, said: [UInt8])
    {
        var whole = tunnel, pieces = tunnel
        _ = (said(by: &whole), said(by: &pieces))
        let taken = answer.withUnsafeBytes { whole.receive($0) }
        var takenByPieces = 0
        for byte in answer { takenByPieces += withUnsafeBytes(of: byte) { pieces.receive($0) } }
        #expect(whole.progress == pieces.progress && taken == takenByPieces, sourceLocation: sourceLocation)
        #expect(whole.output == pieces.output, sourceLocation: sourceLocation)
        return (whole.progress, taken, Array(whole.output))
    }

    private func hear(_ answer: String, _ tunnel: ProxyTunnel, sourceLocation: SourceLocation = #_sourceLocation)
        -> (progress: ProxyTunnel.Progress, taken: Int, said: [UInt8])
    {
        hear(Array(answer.utf8), tunnel, sourceLocation: sourceLocation)
    }

    private func isUnreachable(_ progress: ProxyTunnel.Progress) -> Bool {
        if case .failed(.unreachable) = progress { true } else { false }
    }

    // MARK: CONNECT

    @Test("CONNECT names the server, and nothing else", arguments: ["http", "https"])
    func connect(scheme: String) throws {
        var plain = try tunnel("\(scheme)://proxy:1")
        #expect(
            String(decoding: said(by: &plain), as: UTF8.self)
                == "CONNECT api.example.com:443 HTTP/1.1\r\nHost: api.example.com:443\r\n\r\n"
        )
        var ipv6 = try tunnel("\(scheme)://proxy:1", to: "2001:db8::1", 2197)
        #expect(
            String(decoding: said(by: &ipv6), as: UTF8.self)
                == "CONNECT [2001:db8::1]:2197 HTTP/1.1\r\nHost: [2001:db8::1]:2197\r\n\r\n")
    }

    @Test(
        "credentials are base64 of UTF-8 (RFC 7617)",
        arguments: [
            ("Aladdin:open%20sesame", "QWxhZGRpbjpvcGVuIHNlc2FtZQ=="), ("test:123%C2%A3", "dGVzdDoxMjPCow=="),
            ("a:b", "YTpi"),
            ("ab:c", "YWI6Yw=="),
            ("volley", "dm9sbGV5Og=="),
        ])
    func basic(credentials: String, encoded: String) throws {
        var tunnel = try tunnel("http://\(credentials)@proxy:1")
        let head = String(decoding: said(by: &tunnel), as: UTF8.self)
        #expect(head.contains("\r\nProxy-Authorization: Basic \(encoded)\r\n"), "\(head)")
    }

    @Test(
        "any 2xx opens the tunnel, at its empty line",
        arguments: [
            "HTTP/1.1 200 Connection established\r\n\r\n", "HTTP/1.1 200\r\n\r\n", "HTTP/1.1 200 \r\n\r\n",
            "HTTP/1.0 200 OK\n\n",
            "HTTP/1.1 204 Nothing\r\nContent-Length: 12\r\nTransfer-Encoding: chunked\r\n\r\n",
            "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 102 Processing\r\nX: y\r\n\r\nHTTP/1.1 200 OK\r\nVia: 1.1 squid\r\n\r\n",
        ])
    func opens(answer: String) throws {
        let heard = hear(answer, try tunnel("http://proxy:1"))
        #expect(heard.progress == .open && heard.taken == answer.utf8.count)
        let more = hear(answer + "\u{16}\u{3}\u{1}more", try tunnel("http://proxy:1"))
        #expect(more.progress == .open && more.taken == answer.utf8.count, "what follows belongs to the server")
    }

    @Test(
        "an answer that has not ended opens nothing",
        arguments: ["", "HTTP/1.", "HTTP/1.1 200 OK", "HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\nA: b\r\n"])
    func underway(answer: String) throws {
        #expect(hear(answer, try tunnel("http://proxy:1")).progress == .underway)
        #expect(hear("HTTP/1.1 100 Continue\r\n\r\n\(answer)", try tunnel("http://proxy:1")).progress == .underway)
    }

    @Test("407 asks for other credentials")
    func credentials() throws {
        let answer =
            "HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic realm=\"x\"\r\nContent-Length: 3\r\n\r\nno!"
        #expect(
            hear(answer, try tunnel("http://proxy:1")).progress
                == .failed(.proxyRefused(.credentials("it answered 407 to CONNECT"))))
    }

    @Test("what will not pass is a refusal", arguments: [300, 302, 400, 401, 403, 404, 405, 451])
    func forbidden(status: Int) throws {
        let refusal = ProxyTunnel.Progress.failed(.proxyRefused(.forbidden("it answered \(status) to CONNECT")))
        for answer in [
            "HTTP/1.1 \(status) No\r\n",
            "HTTP/1.0 \(status)\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nno!\r\n0\r\n\r\n",
        ] {
            #expect(hear(answer, try tunnel("https://proxy:1")).progress == refusal)
        }
    }

    @Test("what may pass is tried again", arguments: [408, 429, 500, 502, 503, 504, 599, 999])
    func unreachable(status: Int) throws {
        let failure = ProxyTunnel.Progress.failed(
            .unreachable("the proxy cannot reach it: it answered \(status) to CONNECT"))
        #expect(
            hear("HTTP/1.1 \(status) Later\r\nRetry-After: 1\r\n\r\n", try tunnel("http://proxy:1")).progress == failure
        )
    }

    @Test(
        "garbage is noticed at its first byte, and never taken for consent",
        arguments: [
            "\u{5}\u{0}", "SSH-2.0-OpenSSH_9.2\r\n", "HTTP/2 200\r\n\r\n", "HTTP/1.1200 OK\r\n\r\n",
            "HTTP/1.1 20 OK\r\n\r\n",
            "HTTP/1.1 2000 OK\r\n\r\n",
            "HTTP/1.1 +20 OK\r\n\r\n", "HTTP/1.1 099 OK\r\n\r\n", "HTTP/1.1\r\n\r\n", "\r\nHTTP/1.1 200 OK\r\n\r\n",
            "http/1.1 200 OK\r\n\r\n",
            "HTTP/1.1 100 Continue\r\n\r\n\u{15}\u{3}\u{3}",
        ])
    func garbage(answer: String) throws {
        #expect(isUnreachable(hear(answer, try tunnel("http://proxy:1")).progress))
    }

    @Test("an answer without an end is given up, in one line or in many")
    func oversized() throws {
        for filling in [
            String(repeating: "x", count: HTTPConnect.longestAnswer),
            String(repeating: "A: b\r\n", count: HTTPConnect.longestAnswer / 6),
        ] {
            let heard = hear("HTTP/1.1 200 \(filling)\r\n\r\n", try tunnel("http://proxy:1"))
            #expect(isUnreachable(heard.progress) && heard.taken == HTTPConnect.longestAnswer + 1)
        }
        let interim = String(repeating: "HTTP/1.1 100 Continue\r\n\r\n", count: 3000)
        #expect(isUnreachable(hear(interim, try tunnel("http://proxy:1")).progress))
    }

    // MARK: SOCKS4

    @Test("SOCKS4 is given an address, 4a a name, and both a user")
    func socks4() throws {
        var address = try tunnel("socks4://vol%20ley@proxy:1", at: "192.0.2.7")
        #expect(said(by: &address) == [4, 1, 1, 0xBB, 192, 0, 2, 7] + Array("vol ley".utf8) + [0])
        var name = try tunnel("socks4a://proxy:1", to: "api.example.com", 2197)
        #expect(said(by: &name) == [4, 1, 8, 0x95, 0, 0, 0, 1, 0] + Array("api.example.com".utf8) + [0])
        var literal = try tunnel("socks4a://proxy:1", to: "192.0.2.7")
        #expect(said(by: &literal) == [4, 1, 1, 0xBB, 192, 0, 2, 7, 0])
        #expect(isUnreachable(try tunnel("socks4://proxy:1", at: "2001:db8::1").progress))
    }

    @Test("SOCKS4 answers in eight bytes")
    func socks4Answers() throws {
        let tunnel = try tunnel("socks4a://proxy:1")
        let granted: [UInt8] = [0, 90, 1, 2, 3, 4, 5, 6]
        #expect(hear(Array(granted.dropLast()), tunnel).progress == .underway)
        let heard = hear(granted + [22, 3], tunnel)
        #expect(heard.progress == .open && heard.taken == 8)
        for code in [UInt8(91), 0, 200] { #expect(isUnreachable(hear([0, code, 0, 0, 0, 0, 0, 0], tunnel).progress)) }
        for code in [UInt8(92), 93] {
            guard case .failed(.proxyRefused(.credentials)) = hear([0, code, 0, 0, 0, 0, 0, 0], tunnel).progress else {
                Issue.record("\(code) is about who asks")
                continue
            }
        }
        for garbage in [[5], Array("HTTP/1.1 400".utf8), [21, 3, 3]] {
            #expect(isUnreachable(hear(garbage, tunnel).progress))
        }
    }

    // MARK: SOCKS5

    /// A tunnel after its proxy has chosen a method.
    private func chosen(_ method: UInt8, _ url: String, to host: String = "api.example.com", at address: String? = nil)
        throws
        -> ProxyTunnel
    {
        var tunnel = try tunnel(url, to: host, at: address)
        _ = said(by: &tunnel)
        _ = [5, method].withUnsafeBytes { tunnel.receive($0) }
        return tunnel
    }

    @Test("SOCKS5 is offered credentials only where there are any")
    func methods() throws {
        var nobody = try tunnel("socks5h://proxy:1"), user = try tunnel("socks5://volley@proxy:1")
        #expect(said(by: &nobody) == [5, 1, 0])
        #expect(said(by: &user) == [5, 2, 0, 2])
    }

    @Test("SOCKS5 is given a name or an address")
    func socks5Requests() throws {
        var name = try chosen(0, "socks5h://proxy:1")
        #expect(said(by: &name) == [5, 1, 0, 3, 15] + Array("api.example.com".utf8) + [1, 0xBB])
        var address = try chosen(0, "socks5://proxy:1", at: "192.0.2.7")
        #expect(said(by: &address) == [5, 1, 0, 1, 192, 0, 2, 7, 1, 0xBB])
        var ipv6 = try chosen(0, "socks5h://proxy:1", to: "2001:db8::1")
        #expect(said(by: &ipv6) == [5, 1, 0, 4, 0x20, 1, 0xD, 0xB8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 0xBB])
        var long = try chosen(0, "socks5h://proxy:1", to: String(repeating: "n", count: 256))
        #expect(said(by: &long).isEmpty)
        guard case .failed(.misconfigured) = long.progress else { return #expect(Bool(false), "\(long.progress)") }
    }

    @Test("user and password of SOCKS5 are bytes of UTF-8 (RFC 1929)")
    func socks5Credentials() throws {
        var tunnel = try chosen(2, "socks5h://volley:s%C3%A9cret@proxy:1")
        #expect(said(by: &tunnel) == [1, 6] + Array("volley".utf8) + [7] + Array("sécret".utf8))
        #expect(hear([1], tunnel).progress == .underway)
        let accepted = hear([1, 0], tunnel)
        #expect(accepted.progress == .underway && accepted.said.prefix(5) == [5, 1, 0, 3, 15])
        #expect(
            hear([1, 1], tunnel).progress == .failed(.proxyRefused(.credentials("it rejected the user and password"))))
        var long = try chosen(2, "socks5h://volley:\(String(repeating: "p", count: 256))@proxy:1")
        #expect(said(by: &long).isEmpty)
        guard case .failed(.proxyRefused(.credentials(let cause))) = long.progress else {
            return #expect(Bool(false), "\(long.progress)")
        }
        #expect(!cause.contains("ppp"))
    }

    @Test("SOCKS5 may want credentials that it was not offered, or none that there are")
    func noMethod() throws {
        guard case .failed(.proxyRefused(.credentials)) = hear([5, 0xFF], try tunnel("socks5h://proxy:1")).progress
        else {
            return #expect(Bool(false), "no refusal")
        }
        // Chosen although it was not offered.
        for method in [UInt8(2), 1, 3] {
            #expect(isUnreachable(hear([5, method], try tunnel("socks5h://proxy:1")).progress))
        }
    }

    @Test("SOCKS5 answers with an address of any kind")
    func socks5Answers() throws {
        let tunnel = try chosen(0, "socks5h://proxy:1")
        let addresses: [[UInt8]] = [
            [1, 0, 0, 0, 0], [4] + [UInt8](repeating: 7, count: 16), [3, 0],
            [3, 255] + [UInt8](repeating: 65, count: 255),
        ]
        for address in addresses {
            let answer = [5, 0, 0] + address + [1, 2]
            #expect(hear(answer.dropLast(), tunnel).progress == .underway)
            let heard = hear(answer + [22, 3, 1], tunnel)
            #expect(heard.progress == .open && heard.taken == answer.count)
        }
        #expect(isUnreachable(hear([5, 0, 0, 2, 1, 1, 1], tunnel).progress))
    }

    @Test("SOCKS5 refuses with a code, and what follows it need not come")
    func socks5Refusals() throws {
        let tunnel = try chosen(0, "socks5h://proxy:1")
        guard case .failed(.proxyRefused(.forbidden)) = hear([5, 2], tunnel).progress else {
            return #expect(Bool(false), "not allowed")
        }
        for code in [UInt8(1), 3, 4, 5, 6, 7, 8, 9, 255] { #expect(isUnreachable(hear([5, code], tunnel).progress)) }
        for garbage in [[4], [0], Array("HTTP/1.1 400".utf8)] { #expect(isUnreachable(hear(garbage, tunnel).progress)) }
    }

    // MARK: Whatever comes

    @Test("random bytes never trap, and open nothing that was not granted", arguments: ["http", "socks4a", "socks5h"])
    func random(scheme: String) throws {
        var random = SplitMix(seed: 16)
        for _ in 0..<3000 {
            let bytes = (0..<Int.random(in: 1...300, using: &random)).map { _ in
                UInt8.random(in: 0...255, using: &random)
            }
            #expect(hear([255] + bytes, try tunnel("\(scheme)://proxy:1")).progress != .open)
            let prefixes: [String: [UInt8]] = [
                "http": Array("HTTP/1.1 2".utf8), "socks4a": [0, 90], "socks5h": [5, 0],
            ]
            _ = hear((prefixes[scheme] ?? []) + bytes, try tunnel("\(scheme)://proxy:1"))
        }
    }
}
