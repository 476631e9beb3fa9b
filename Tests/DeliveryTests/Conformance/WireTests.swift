import Simulators
import Base
import Cryptography
import Delivery
import Glibc
import PushServices
import Reports
import Testing

@Suite("conformance: what stands on the wire")
struct WireTests {
    private let folder: TemporaryFolder
    private let seed = RunSeed.random()

    init() throws { folder = try TemporaryFolder() }

    private func settings(_ simulator: ServiceSimulator, _ credentials: Credentials) throws -> SenderSettings {
        let authority = try folder.write("ca.pem", simulator.certificateAuthorityPEM)
        var settings = SenderSettings(
            endpoint: Endpoint(host: "localhost", port: simulator.port, certificateAuthorityFile: authority),
            credentials: credentials,
            options: PushOptions(
                topic: SimulatorRun.topic, pushType: .alert, priority: .normal, expiration: 0, collapseID: "spring"),
            runSeed: seed)
        settings.retry.firstDelaySeconds = 0.01
        return settings
    }

    private func certificate(_ authority: borrowing CertificateAuthority) throws -> ClientCertificate {
        let pem = authority.issueClientCertificate(commonName: "Apple Push Services: \(SimulatorRun.topic)").pem
        let file = try folder.write("client.pem", pem)
        chmod(file, 0o600)
        return try ClientCertificate(file: file, passphrase: nil, now: .now())
    }

    @Test("token, derived apns-id, headers and payload arrive as they are")
    func headers() throws {
        let key = SigningKey.generate()
        var configuration = SimulatorConfiguration()
        configuration.keys = [TrustedKey(keyID: "ABC123DEFG", teamID: "DEF123GHIJ", key: key.verificationKey)]
        configuration.ledgerFile = try folder.write("ledger", "")
        configuration.recordsPayloads = true
        let simulator = try StandIn.apns.start(configuration)
        let tokens = SignedTokenSource(key: key, keyID: "ABC123DEFG", teamID: "DEF123GHIJ")
        let (end, _) = try send(settings(simulator, .token(tokens)), pushes: 50)
        #expect(end == .finished)
        _ = simulator.stop()
        let lines = try folder.read("ledger").split(separator: "\n").map { try JSONValue(parsing: String($0)) }
        #expect(lines.count == 50)
        for recipient in 0..<50 {
            let line = try #require(lines.first { $0["token"]?.stringValue == SimulatorRun.token(recipient) })
            #expect(line["apns_id"]?.stringValue == PushID(runSeed: seed, recipient: recipient).description)
            #expect(line["topic"]?.stringValue == SimulatorRun.topic)
            #expect(line["push_type"]?.stringValue == "alert")
            #expect(line["priority"]?.stringValue == "5")
            #expect(line["expiration"]?.stringValue == "0")
            #expect(line["collapse_id"]?.stringValue == "spring")
            #expect(line["payload"]?.stringValue == #"{"aps":{"alert":"Hi"}}"#)
        }
    }

    @Test("a client certificate stands in for a provider token")
    func clientCertificate() throws {
        let simulator = try StandIn.apns.start(SimulatorConfiguration())
        let certificate = try certificate(CertificateAuthority(commonName: "Anyone"))
        let (end, settlements) = try send(settings(simulator, .certificate(certificate)), pushes: 20)
        #expect(end == .finished)
        #expect(settlements.allSatisfy { $0.outcome == .accepted })
    }

    // The server's alert may get lost in the reset that follows it: then the run stops after five
    // attempts, with a hint.
    @Test("a client certificate that the server refuses stops the run and is named")
    func refusedCertificate() throws {
        var configuration = SimulatorConfiguration()
        configuration.clientAuthorityFile = try folder.write(
            "authority.pem", CertificateAuthority(commonName: "The only one").certificatePEM)
        let simulator = try StandIn.apns.start(configuration)
        let certificate = try certificate(CertificateAuthority(commonName: "Someone else"))
        let (end, settlements) = try send(settings(simulator, .certificate(certificate)), pushes: 5)
        guard case .stopped(let cause) = end else {
            Issue.record("it did not stop: \(end)")
            return
        }
        let text = cause.sentence
        #expect(text.contains("client certificate"))
        #expect(settlements.count { $0.outcome == .unsent } >= 4)
        #expect(simulator.stop().requests == 0)
    }
}
