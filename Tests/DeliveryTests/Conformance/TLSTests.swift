import Simulators
import Base
import Cryptography
import Delivery
import PushServices
import TestServers
import Testing

@Suite("conformance: TLS")
struct TLSTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func settings(port: Int, authority: String) -> SenderSettings {
        let tokens = SignedTokenSource(key: .generate(), keyID: "ABC123DEFG", teamID: "DEF123GHIJ")
        var settings = SenderSettings(
            endpoint: Endpoint(host: "localhost", port: port, certificateAuthorityFile: authority),
            credentials: .token(tokens),
            options: PushOptions(topic: SimulatorRun.topic, pushType: .alert, priority: .high),
            runSeed: RunSeed.random())
        settings.retry.firstDelaySeconds = 0.02
        return settings
    }

    private func send(_ settings: SenderSettings) throws -> RunResult {
        let (end, settlements) = try DeliveryTests.send(settings, pushes: 5)
        return RunResult(settings: settings, end: end, settlements: settlements, ledger: LedgerSummary())
    }

    /// A run against a server with these certificates, which must stop before anything is sent.
    private func stopped(authority: String, certificate: IssuedCertificate, _ options: [String] = []) throws
        -> RunResult
    {
        let pem = try folder.write("server.pem", certificate.pem)
        let (server, port) = try ServerProcess.onFreePort("openssl") {
            ["s_server", "-accept", "\($0)", "-cert", pem, "-key", pem, "-quiet", "-alpn", "h2"] + options
        }
        let result = try send(settings(port: port, authority: try folder.write("ca.pem", authority)))
        withExtendedLifetime(server) {}
        result.expectStop(saying: "localhost:\(port)")
        #expect(result.count(.unsent) == 5)
        return result
    }

    @Test("a certificate from elsewhere stops the run at once")
    func elsewhere() throws {
        let other = try folder.write("other.pem", CertificateAuthority(commonName: "Someone else").certificatePEM)
        let result = try SimulatorRun { $0.endpoint.certificateAuthorityFile = other }.run()
        result.expectStop(saying: "certificate of localhost:", "cannot be trusted")
        #expect(result.count(.unsent) == 20)
        #expect(result.ledger.requests == 0)
    }

    @Test("a certificate for another name stops the run at once")
    func otherName() throws {
        let authority = CertificateAuthority(commonName: "Volley test")
        let certificate = authority.issueServerCertificate(
            names: ["api.push.apple.com", "localhost.example"], addresses: ["127.0.0.1", "::1"])
        let result = try stopped(authority: authority.certificatePEM, certificate: certificate)
        result.expectStop(saying: "cannot be trusted")
    }

    @Test("an address that the certificate does not carry stops the run at once", arguments: ["127.0.0.2"])
    func otherAddress(host: String) throws {
        let relay = try TestRelay(.v4, address: host)
        let result = try SimulatorRun {
            relay.lead(to: $0.endpoint.port)
            ($0.endpoint.host, $0.endpoint.port) = (host, relay.port)
        }.run()
        result.expectStop(saying: "certificate of 127.0.0.2:", "cannot be trusted")
        #expect(result.ledger.requests == 0)
    }

    @Test("a certificate that has ended stops the run at once")
    func ended() throws {
        let authority = CertificateAuthority(commonName: "Volley test")
        let certificate = authority.issueServerCertificate(names: ["localhost"], addresses: ["127.0.0.1"], days: -1)
        let result = try stopped(authority: authority.certificatePEM, certificate: certificate)
        result.expectStop(saying: "cannot be trusted", "expired")
    }

    @Test("an authority that has ended is refused before anything is sent")
    func endedAuthority() throws {
        let authority = CertificateAuthority(commonName: "Volley test", days: -1)
        let certificate = authority.issueServerCertificate(names: ["localhost"], addresses: ["127.0.0.1"])
        let refusal = #expect(throws: Diagnostic.self) {
            try stopped(authority: authority.certificatePEM, certificate: certificate)
        }
        #expect(refusal?.message.contains("the certificate expired at ") == true, "\(String(describing: refusal))")
    }

    @Test("TLS 1.1 is too old, and the run stops and says so")
    func tooOld() throws {
        let authority = CertificateAuthority(commonName: "Volley test")
        let certificate = authority.issueServerCertificate(names: ["localhost"], addresses: ["127.0.0.1"])
        let result = try stopped(
            authority: authority.certificatePEM, certificate: certificate, ["-tls1_1", "-cipher", "ALL:@SECLEVEL=0"])
        result.expectStop(saying: "version")
    }

    private static let needsNginx: ConditionTrait = .enabled(
        if: RealServer.nginx != nil, "nginx is not installed; `make test` unpacks it")

    @Test("TLS 1.2 is new enough", needsNginx)
    func oldEnough() throws {
        let server = try RealServer.nginx("ssl_protocols TLSv1.2; keepalive_requests 10000; location / { return 200; }")
        let (end, settlements) = try DeliveryTests.send(server.settings(), pushes: 20)
        #expect(end == .finished)
        #expect(settlements.allSatisfy { $0.outcome == .accepted })
    }
}
