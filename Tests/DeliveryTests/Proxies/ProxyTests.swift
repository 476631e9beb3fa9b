import PushServices
import Simulators
import Base
import Cryptography
import Glibc
import TestServers
import Testing

@testable import Delivery

/// Whole runs through proxies, over real sockets.
@Suite("delivery through a proxy")
struct ProxyTests {
    private func run(
        _ proxy: TestProxy, _ kind: TestProxy.Kind, as user: String = "", faults: SimulatorFaults = SimulatorFaults(),
        pushes: Int = 20
    ) throws -> RunResult {
        try SimulatorRun(faults: faults, pushes: pushes) {
            $0.proxy = "\(kind.rawValue)://\(user)127.0.0.1:\(proxy.port)"
            $0.connections = 1
        }.run()
    }

    @Test(
        "every push is accepted once, through one tunnel to the server's own name", arguments: TestProxy.Kind.allCases)
    func accepted(kind: TestProxy.Kind) throws {
        let proxy = try TestProxy(kind)
        let result = try run(proxy, kind, pushes: 3000)
        #expect(result.end == .finished)
        #expect(result.count(.accepted) == 3000)
        #expect(result.ledger.accepted == 3000 && result.ledger.acceptedTokens == 3000)
        #expect(proxy.requests.count == 1)
        let target = proxy.requests.first?.target ?? ""
        switch kind {
        case .http, .socks4a, .socks5h: #expect(target.hasPrefix("localhost:"), "\(target)")
        case .socks4: #expect(target.hasPrefix("127.0.0.1:"), "\(target)")
        case .socks5: #expect(target.hasPrefix("127.0.0.1:") || target.hasPrefix("[::1]:"), "\(target)")
        }
        #expect(proxy.tunnels == 1 && result.ledger.connections == 1)
    }

    @Test(
        "the proxy is shown who asks, and nothing of the pushes", arguments: [TestProxy.Kind.http, .socks5, .socks5h])
    func authentication(kind: TestProxy.Kind) throws {
        var behaviour = TestProxy.Behaviour()
        (behaviour.user, behaviour.password) = ("vol ley", "s3cret@:/%é")
        let proxy = try TestProxy(kind, behaviour)
        let result = try run(proxy, kind, as: "vol%20ley:s3cret%40%3A%2F%25%C3%A9@")
        #expect(result.end == .finished)
        #expect(result.count(.accepted) == 20)
        #expect(proxy.requests.count == 1)
        let head = proxy.requests.first?.head.lowercased() ?? ""
        #expect(!head.contains("bearer") && !head.contains("apns") && !head.contains(SimulatorRun.topic), "\(head)")
    }

    @Test(
        "a wrong password, or none, stops the run at once and names the proxy",
        arguments: [TestProxy.Kind.http, .socks5, .socks5h])
    func wrongPassword(kind: TestProxy.Kind) throws {
        var behaviour = TestProxy.Behaviour()
        (behaviour.user, behaviour.password) = ("volley", "right")
        for user in ["volley:s3cret@", ""] {
            let proxy = try TestProxy(kind, behaviour)
            let result = try run(proxy, kind, as: user)
            result.expectNothingSent(
                saying: "proxy 127.0.0.1:\(proxy.port)", "user and password",
                kind == .http ? "407" : user.isEmpty ? "authentication" : "rejected")
            #expect(proxy.requests.count == 1, "asked again: \(proxy.requests)")
        }
    }

    @Test("a proxy that forbids the server stops the run at once", arguments: [403, 405, 302])
    func forbidden(status: Int) throws {
        var behaviour = TestProxy.Behaviour()
        behaviour.refusal = status
        let proxy = try TestProxy(.http, behaviour)
        try run(proxy, .http).expectNothingSent(
            saying: "proxy 127.0.0.1:\(proxy.port)", "\(status)", "localhost:", "Ask its operator")
        #expect(proxy.requests.count == 1)
    }

    @Test("a SOCKS proxy that forbids the server stops the run at once")
    func forbiddenBySOCKS() throws {
        var behaviour = TestProxy.Behaviour()
        behaviour.socksRefusal = 2
        let proxy = try TestProxy(.socks5h, behaviour)
        try run(proxy, .socks5h).expectNothingSent(saying: "proxy 127.0.0.1:\(proxy.port)", "Ask its operator")
        #expect(proxy.requests.count == 1)
    }

    @Test("a proxy that cannot reach the server is tried again, and then stops the run", arguments: [502, 503])
    func unreachableBehindProxy(status: Int) throws {
        var behaviour = TestProxy.Behaviour()
        behaviour.refusal = status
        let proxy = try TestProxy(.http, behaviour)
        try run(proxy, .http).expectNothingSent(
            saying: "through the proxy 127.0.0.1:\(proxy.port)", "\(status)", "attempts")
        #expect(proxy.requests.count == 5)
    }

    @Test("a proxy that is not there stops the run and is named", arguments: TestProxy.Kind.allCases)
    func noProxy(kind: TestProxy.Kind) throws {
        let port = try Sockets.freePort()
        let result = try SimulatorRun(pushes: 5) {
            $0.proxy =
                "\(kind.rawValue)://volley\(kind == .socks4 || kind == .socks4a ? "" : ":s3cret")@127.0.0.1:\(port)"
        }.run()
        result.expectNothingSent(saying: "through the proxy 127.0.0.1:\(port)", "attempts", "is right and running")
    }

    @Test("a proxy whose name is unknown stops the run and is named")
    func unknownName() throws {
        let result = try SimulatorRun(pushes: 5) {
            $0.proxy = "http://volley:s3cret@no-such-proxy.invalid:3128"
        }.run()
        result.expectNothingSent(saying: "proxy no-such-proxy.invalid:3128", "cannot be resolved")
    }

    @Test(
        "a tunnel that is cut in the middle of a run is opened again, and every push settles once",
        arguments: TestProxy.Kind.allCases)
    func tunnelIsCut(kind: TestProxy.Kind) throws {
        var behaviour = TestProxy.Behaviour()
        (behaviour.cutAfterBytes, behaviour.cuts) = (12_000, 3)
        let proxy = try TestProxy(kind, behaviour)
        let result = try run(proxy, kind, pushes: 3000)
        #expect(result.end == .finished)
        #expect(result.count(.accepted) == 3000)
        #expect(result.ledger.acceptedTokens == 3000)
        // A push is sent again under its own id after its answer was lost, and counts as one more
        // attempt.
        #expect(result.settlements.reduce(0) { $0 + $1.attempts } >= result.ledger.accepted)
        let detail = "\(proxy.requests.count) requests, \(result.ledger.connections) connections"
        #expect(proxy.tunnels == 4, "\(detail)")
    }

    @Test("a cut tunnel without resending leaves pushes unknown, never accepted twice")
    func tunnelIsCutWithoutResending() throws {
        var behaviour = TestProxy.Behaviour()
        (behaviour.cutAfterBytes, behaviour.cuts) = (12_000, 2)
        let proxy = try TestProxy(.http, behaviour)
        let result = try SimulatorRun(pushes: 2000) {
            $0.proxy = "http://127.0.0.1:\(proxy.port)"
            $0.resendsUnknown = false
        }.run()
        #expect(result.end == .finished)
        #expect(result.count(.accepted) + result.count(.unknown) == 2000)
        #expect(result.ledger.accepted == result.ledger.acceptedTokens)
        #expect(result.ledger.acceptedTokens >= result.count(.accepted))
        #expect(result.ledger.acceptedTokens <= result.count(.accepted) + result.count(.unknown))
    }

    @Test("an https proxy without a certificate that this machine trusts is refused before it learns anything")
    func untrustedProxy() throws {
        let authority = CertificateAuthority(commonName: "Someone else")
        let folder = try TemporaryFolder()
        let pem = try folder.write(
            "proxy.pem", authority.issueServerCertificate(names: ["localhost"], addresses: ["127.0.0.1"]).pem)
        let port = try Sockets.freePort()
        let server = try ServerProcess(
            "openssl", ["s_server", "-accept", "\(port)", "-cert", pem, "-key", pem, "-quiet"], port: port)
        let result = try SimulatorRun(pushes: 5) {
            $0.proxy = "https://volley:s3cret@localhost:\(port)"
        }.run()
        withExtendedLifetime(server) {
            result.expectNothingSent(saying: "certificate of the proxy localhost:\(port) cannot be trusted")
        }
    }

    @Test("an address that is none is refused before the run, without its password")
    func noAddress() throws {
        do {
            _ = try SimulatorRun { $0.proxy = "htp://volley:s3cret@proxy:3128" }.run()
            Issue.record("it was taken")
        } catch let mistake as Diagnostic {
            #expect(mistake.description.contains("htp") && !mistake.description.contains("s3cret"), "\(mistake)")
        }
    }

    @Test("a server that is not trusted is not blamed on the proxy in between")
    func untrustedServer() throws {
        let proxy = try TestProxy(.http)
        let folder = try TemporaryFolder()
        let other = try folder.write("ca.pem", CertificateAuthority(commonName: "Someone else").certificatePEM)
        let result = try SimulatorRun {
            $0.proxy = "http://127.0.0.1:\(proxy.port)"
            $0.endpoint.certificateAuthorityFile = other
        }.run()
        result.expectNothingSent(saying: "certificate of localhost:", "cannot be trusted")
    }

    @Test(
        "a proxy that leads nowhere after it said so is tried again, and then stops the run",
        arguments: TestProxy.Kind.allCases)
    func closesAfterAnswer(kind: TestProxy.Kind) throws {
        var behaviour = TestProxy.Behaviour()
        behaviour.closesAfterAnswer = true
        let proxy = try TestProxy(kind, behaviour)
        try run(proxy, kind).expectNothingSent(saying: "through the proxy 127.0.0.1:\(proxy.port)", "attempts")
        #expect(proxy.requests.count == 5)
    }

    @Test(
        "what stands in a proxy's answer is not taken for the server's",
        arguments: [
            "HTTP/1.1 200\r\n\r\n", "HTTP/1.0 200 Connection established\r\nProxy-agent: tinyproxy\r\n\r\n",
            "HTTP/1.1 103 Early Hints\r\nLink: </>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n",
            "HTTP/1.1 299 OK\n\n",
        ])
    func answers(answer: String) throws {
        var behaviour = TestProxy.Behaviour()
        behaviour.connected = answer
        let result = try run(try TestProxy(.http, behaviour), .http)
        result.expectAllAcceptedOnce()
    }

    @Test("bytes behind a proxy's answer belong to the server, and no server speaks first")
    func bytesBehindAnswer() throws {
        var behaviour = TestProxy.Behaviour()
        behaviour.connected = "HTTP/1.1 200 OK\r\n\r\nHTTP/1.1 200 OK\r\n\r\n"
        let proxy = try TestProxy(.http, behaviour)
        try run(proxy, .http).expectNothingSent(saying: "through the proxy 127.0.0.1:\(proxy.port)", "attempts")
    }

    @Test("GOAWAY says through a proxy as well what was not processed", arguments: TestProxy.Kind.allCases)
    func goAway(kind: TestProxy.Kind) throws {
        var faults = SimulatorFaults()
        (faults.lowGoAwayEvery, faults.lowGoAwayLeavesOut) = (30, 5)
        let proxy = try TestProxy(kind)
        let result = try SimulatorRun(faults: faults, pushes: 150) {
            $0.proxy = "\(kind.rawValue)://127.0.0.1:\(proxy.port)"
            $0.streamsPerConnection = 10
            $0.resendsUnknown = false
        }.run()
        result.expectAllAcceptedOnce()
        #expect(proxy.tunnels == result.ledger.connections && proxy.tunnels >= 4)
    }

    @Test(
        "a proxy that dies in the middle leaves what was in flight in doubt, and the rest unsent",
        arguments: TestProxy.Kind.allCases)
    func dies(kind: TestProxy.Kind) throws {
        var behaviour = TestProxy.Behaviour()
        (behaviour.cutAfterBytes, behaviour.cuts, behaviour.diesAfterFirstTunnel) = (12_000, 1, true)
        let proxy = try TestProxy(kind, behaviour)
        let result = try SimulatorRun(pushes: 2000) {
            $0.proxy = "\(kind.rawValue)://127.0.0.1:\(proxy.port)"
            $0.streamsPerConnection = 50
            $0.resendsUnknown = false
            $0.retry.maximumTotalSeconds = 0.5
        }.run()
        result.expectStop(saying: "through the proxy 127.0.0.1:\(proxy.port)", "was lost")
        #expect(result.count(.unknown) <= 50, "\(result.outcomes)")
        #expect(result.count(.accepted) > 0 && result.count(.unsent) > 0)
        #expect(result.ledger.acceptedTokens <= result.count(.accepted) + result.count(.unknown))
    }

    @Test(
        "a proxy that takes connections and says nothing is given up in the time for connecting",
        arguments: TestProxy.Kind.allCases)
    func saysNothing(kind: TestProxy.Kind) throws {
        let (listener, port) = try Sockets.listen()
        defer { Sockets.close(listener) }
        let result = try SimulatorRun(pushes: 5) {
            $0.proxy = "\(kind.rawValue)://127.0.0.1:\(port)"
            $0.connectTimeoutSeconds = 0.2
        }.run()
        result.expectNothingSent(saying: "through the proxy 127.0.0.1:\(port)", "no connection within 0.2 s")
    }
}
