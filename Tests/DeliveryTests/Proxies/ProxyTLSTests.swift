import Simulators
import Base
import Cryptography
import TestServers
import Testing

@testable import Delivery

/// Whole runs through proxies that use TLS themselves: TLS in TLS.
@Suite("delivery through an https proxy")
struct ProxyTLSTests {
    /// A proxy behind TLS, with the authority of its certificate.
    private struct SecuredProxy {
        let proxy: TestProxy
        let front: TLSFront
        let authorityFile: String
        private let folder: TemporaryFolder

        init(_ behaviour: TestProxy.Behaviour = TestProxy.Behaviour(), addresses: [String] = ["127.0.0.1"]) throws {
            proxy = try TestProxy(.http, behaviour)
            folder = try TemporaryFolder()
            let authority = CertificateAuthority(commonName: "Proxy authority")
            authorityFile = try folder.write("proxy-ca.pem", authority.certificatePEM)
            front = try TLSFront(
                try TLSServerContext(
                    certificate: authority.issueServerCertificate(names: ["localhost"], addresses: addresses),
                    applicationProtocols: ["http/1.1"]), to: proxy.port)
        }

        func run(
            as user: String = "", host: String = "localhost", faults: SimulatorFaults = SimulatorFaults(),
            pushes: Int = 20,
            _ configure: @escaping (inout SenderSettings) -> Void = { _ in }
        ) throws -> RunResult {
            try SimulatorRun(faults: faults, pushes: pushes) {
                $0.proxy = "https://\(user)\(host):\(front.port)"
                $0.proxyAuthorityFile = authorityFile
                configure(&$0)
            }.run()
        }
    }

    @Test("an https proxy carries TLS in TLS", arguments: ["localhost", "127.0.0.1"])
    func overTLS(host: String) throws {
        let secured = try SecuredProxy()
        let result = try secured.run(host: host, pushes: 3000)
        result.expectAllAcceptedOnce()
        #expect(secured.proxy.tunnels == 1 && result.ledger.connections == 1)
    }

    @Test("large payloads pass TLS in TLS, and small windows only slow things down")
    func overTLSWithWindows() throws {
        var faults = SimulatorFaults()
        faults.windows = SimulatedWindows(streamBytes: 1000, connectionBytes: 65_535, delayMilliseconds: 0)
        let secured = try SecuredProxy()
        var run = SimulatorRun(faults: faults, pushes: 200) {
            $0.proxy = "https://localhost:\(secured.front.port)"
            $0.proxyAuthorityFile = secured.authorityFile
        }
        run.payload = #"{"aps":{"alert":"\#(String(repeating: "x", count: 3500))"}}"#
        try run.run().expectAllAcceptedOnce()
    }

    @Test("an https proxy is shown its password within TLS, and its refusals are heard")
    func credentialsOverTLS() throws {
        var behaviour = TestProxy.Behaviour()
        (behaviour.user, behaviour.password) = ("volley", "s3cret@:/%é")
        let secured = try SecuredProxy(behaviour)
        try secured.run(as: "volley:s3cret%40%3A%2F%25%C3%A9@").expectAllAcceptedOnce()
        try secured.run(as: "volley:other@").expectNothingSent(saying: "proxy localhost:\(secured.front.port)", "407")
    }

    @Test("an https proxy under another name is refused before it learns anything")
    func otherName() throws {
        let secured = try SecuredProxy(addresses: [])
        let result = try secured.run(as: "volley:s3cret@", host: "127.0.0.1")
        result.expectNothingSent(saying: "certificate of the proxy 127.0.0.1:\(secured.front.port) cannot be trusted")
        #expect(secured.proxy.requests.isEmpty)
    }

    @Test("an https proxy that speaks no TLS is tried again, and then stops the run")
    func noTLS() throws {
        // It closes connections that do not begin with SOCKS.
        let proxy = try TestProxy(.socks5h)
        let result = try SimulatorRun(pushes: 5) { $0.proxy = "https://volley:s3cret@127.0.0.1:\(proxy.port)" }.run()
        result.expectNothingSent(saying: "through the proxy 127.0.0.1:\(proxy.port)", "attempts", "TLS with the proxy")
    }

    @Test("a tunnel over TLS that is cut is opened again, and every push settles once", arguments: [true, false])
    func cutOverTLS(resendsUnknown: Bool) throws {
        var behaviour = TestProxy.Behaviour()
        (behaviour.cutAfterBytes, behaviour.cuts) = (12_000, 3)
        let secured = try SecuredProxy(behaviour)
        let result = try secured.run(pushes: 10_000) { $0.resendsUnknown = resendsUnknown }
        #expect(result.end == .finished)
        #expect(result.count(.accepted) + result.count(.unknown) == 10_000)
        #expect(result.count(.unknown) == 0 || !resendsUnknown)
        #expect(secured.proxy.tunnels == 4)
    }

    @Test("GOAWAY is heard through TLS in TLS")
    func goAwayOverTLS() throws {
        var faults = SimulatorFaults()
        (faults.lowGoAwayEvery, faults.lowGoAwayLeavesOut) = (30, 5)
        let secured = try SecuredProxy()
        let result = try secured.run(faults: faults, pushes: 150) {
            $0.streamsPerConnection = 10
            $0.resendsUnknown = false
        }
        result.expectAllAcceptedOnce()
        #expect(secured.proxy.tunnels == result.ledger.connections && secured.proxy.tunnels >= 4)
    }

    @Test("a server that is not trusted is not blamed on an https proxy")
    func untrustedServerOverTLS() throws {
        let folder = try TemporaryFolder()
        let other = try folder.write("ca.pem", CertificateAuthority(commonName: "Someone else").certificatePEM)
        let secured = try SecuredProxy()
        let result = try secured.run { $0.endpoint.certificateAuthorityFile = other }
        result.expectNothingSent(saying: "certificate of localhost:", "cannot be trusted")
    }
}
