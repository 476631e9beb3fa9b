import APNsSimulator
import Base
import Cryptography
import Delivery
import Glibc
import TestServers
import Testing

/// Whole runs through proxies, over real sockets. Only libcurl goes through them.
@Suite("delivery through a proxy")
struct ProxyTests {
    private func run(
        _ proxy: TestProxy, _ kind: TestProxy.Kind, as user: String = "", faults: SimulatorFaults = SimulatorFaults(), pushes: Int = 20
    ) throws -> RunResult {
        try SimulatorRun(.curl, faults: faults, pushes: pushes) {
            $0.proxy = "\(kind.rawValue)://\(user)127.0.0.1:\(proxy.port)"
            $0.connections = 1
        }.run()
    }

    /// The run stopped, said so in these words, and sent nothing.
    private func expectStop(_ result: RunResult, saying words: String...) {
        guard case .stopped(let text) = result.end else {
            Issue.record("it did not stop: \(result.end)")
            return
        }
        for word in words { #expect(text.contains(word), "\(text)") }
        #expect(!text.contains("s3cret"), "\(text)")
        #expect(result.count(.unsent) == result.settlements.count)
        #expect(result.ledger.requests == 0)
    }

    @Test("every push is accepted once, through one tunnel to the server's own name", arguments: TestProxy.Kind.allCases)
    func accepted(kind: TestProxy.Kind) throws {
        let proxy = try TestProxy(kind)
        let result = try run(proxy, kind, pushes: 3000)
        #expect(result.end == .finished)
        #expect(result.count(.accepted) == 3000)
        #expect(result.ledger.accepted == 3000 && result.ledger.acceptedTokens == 3000)
        #expect(proxy.requests.count == 1)
        #expect(proxy.requests.first?.target.hasPrefix("localhost:") == true, "\(proxy.requests)")
        #expect(proxy.tunnels == 1 && result.ledger.connections == 1)
    }

    @Test("the proxy is shown who asks, and nothing of the pushes", arguments: [TestProxy.Kind.http, .socks5h])
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

    @Test("a wrong password, or none, stops the run at once and names the proxy", arguments: [TestProxy.Kind.http, .socks5h])
    func wrongPassword(kind: TestProxy.Kind) throws {
        var behaviour = TestProxy.Behaviour()
        (behaviour.user, behaviour.password) = ("volley", "right")
        for user in ["volley:s3cret@", ""] {
            let proxy = try TestProxy(kind, behaviour)
            let result = try run(proxy, kind, as: user)
            expectStop(
                result, saying: "proxy 127.0.0.1:\(proxy.port)", "user and password",
                kind == .http ? "407" : user.isEmpty ? "authentication" : "rejected")
            #expect(proxy.requests.count == 1, "asked again: \(proxy.requests)")
        }
    }

    @Test("a proxy that forbids the server stops the run at once", arguments: [403, 405, 302])
    func forbidden(status: Int) throws {
        var behaviour = TestProxy.Behaviour()
        behaviour.refusal = status
        let proxy = try TestProxy(.http, behaviour)
        expectStop(try run(proxy, .http), saying: "proxy 127.0.0.1:\(proxy.port)", "\(status)", "localhost:", "Ask whoever runs it")
        #expect(proxy.requests.count == 1)
    }

    @Test("a SOCKS proxy that forbids the server stops the run at once")
    func forbiddenBySOCKS() throws {
        var behaviour = TestProxy.Behaviour()
        behaviour.socksRefusal = 2
        let proxy = try TestProxy(.socks5h, behaviour)
        expectStop(try run(proxy, .socks5h), saying: "proxy 127.0.0.1:\(proxy.port)", "Ask whoever runs it")
        #expect(proxy.requests.count == 1)
    }

    @Test("a proxy that cannot reach the server is tried again, and then stops the run", arguments: [502, 503])
    func unreachableBehindProxy(status: Int) throws {
        var behaviour = TestProxy.Behaviour()
        behaviour.refusal = status
        let proxy = try TestProxy(.http, behaviour)
        expectStop(try run(proxy, .http), saying: "through the proxy 127.0.0.1:\(proxy.port)", "\(status)", "attempts")
        #expect(proxy.requests.count == 5)
    }

    @Test("a proxy that is not there stops the run and is named", arguments: TestProxy.Kind.allCases)
    func noProxy(kind: TestProxy.Kind) throws {
        let port = try Sockets.freePort()
        let result = try SimulatorRun(.curl, pushes: 5) {
            $0.proxy = "\(kind.rawValue)://volley\(kind == .socks4a ? "" : ":s3cret")@127.0.0.1:\(port)"
        }.run()
        expectStop(result, saying: "through the proxy 127.0.0.1:\(port)", "attempts", "is running")
    }

    @Test("a proxy whose name is unknown stops the run and is named")
    func unknownName() throws {
        let result = try SimulatorRun(.curl, pushes: 5) {
            $0.proxy = "http://volley:s3cret@no-such-proxy.invalid:3128"
        }.run()
        expectStop(result, saying: "proxy no-such-proxy.invalid:3128", "cannot be resolved")
    }

    @Test("a tunnel that is cut in the middle of a run is opened again, and every push settles once", arguments: TestProxy.Kind.allCases)
    func tunnelIsCut(kind: TestProxy.Kind) throws {
        var behaviour = TestProxy.Behaviour()
        (behaviour.cutAfterBytes, behaviour.cuts) = (12_000, 3)
        let proxy = try TestProxy(kind, behaviour)
        let result = try run(proxy, kind, pushes: 3000)
        #expect(result.end == .finished)
        #expect(result.count(.accepted) == 3000)
        #expect(result.ledger.acceptedTokens == 3000)
        // A push whose answer was lost is sent again under its own id, and counts as one attempt more.
        #expect(result.settlements.reduce(0) { $0 + $1.attempts } >= result.ledger.accepted)
        let detail = "\(proxy.requests.count) requests, \(result.ledger.connections) connections"
        #expect(proxy.tunnels == 4, "\(detail)")
    }

    @Test("a cut tunnel without resending leaves pushes unknown, never accepted twice")
    func tunnelIsCutWithoutResending() throws {
        var behaviour = TestProxy.Behaviour()
        (behaviour.cutAfterBytes, behaviour.cuts) = (12_000, 2)
        let proxy = try TestProxy(.http, behaviour)
        let result = try SimulatorRun(.curl, pushes: 2000) {
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
        let pem = try folder.write("proxy.pem", authority.issueServerCertificate(names: ["localhost"], addresses: ["127.0.0.1"]).pem)
        let port = try Sockets.freePort()
        let server = try ServerProcess("openssl", ["s_server", "-accept", "\(port)", "-cert", pem, "-key", pem, "-quiet"], port: port)
        let result = try SimulatorRun(.curl, pushes: 5) {
            $0.proxy = "https://volley:s3cret@localhost:\(port)"
        }.run()
        withExtendedLifetime(server) { expectStop(result, saying: "certificate of the proxy localhost:\(port) cannot be trusted") }
    }

    @Test("an address that is none is refused before the run, without its password")
    func noAddress() throws {
        do {
            _ = try SimulatorRun(.curl) { $0.proxy = "htp://volley:s3cret@proxy:3128" }.run()
            Issue.record("it was taken")
        } catch let mistake as Diagnostic {
            #expect(mistake.description.contains("htp") && !mistake.description.contains("s3cret"), "\(mistake)")
        }
    }

    @Test("nghttp2 with a proxy is refused, never sent around it")
    func nghttp2() throws {
        let proxy = try TestProxy(.http)
        let mistake = #expect(throws: Diagnostic.self) {
            try SimulatorRun(.nghttp2) { $0.proxy = "http://127.0.0.1:\(proxy.port)" }.run()
        }
        #expect(mistake?.message.contains("127.0.0.1:\(proxy.port)") == true)
    }

    @Test("a server that is not trusted is not blamed on the proxy in between")
    func untrustedServer() throws {
        let proxy = try TestProxy(.http)
        let folder = try TemporaryFolder()
        let other = try folder.write("ca.pem", CertificateAuthority(commonName: "Someone else").certificatePEM)
        let result = try SimulatorRun(.curl) {
            $0.proxy = "http://127.0.0.1:\(proxy.port)"
            $0.endpoint.certificateAuthorityFile = other
        }.run()
        expectStop(result, saying: "certificate of localhost:", "cannot be trusted")
    }
}
