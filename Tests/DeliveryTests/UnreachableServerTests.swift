import APNsSimulator
import Base
import Cryptography
import Delivery
import TestServers
import Testing

@Suite("servers that are none")
struct UnreachableServerTests {
    private func settings(port: Int, authority: String?) -> SenderSettings {
        let tokens = ProviderTokenSource(key: .generate(), keyID: "ABC123DEFG", teamID: "DEF123GHIJ")
        var settings = SenderSettings(
            endpoint: Endpoint(host: "localhost", port: port, certificateAuthorityFile: authority), credentials: .token(tokens),
            headers: PushHeaders(topic: SimulatorRun.topic, pushType: .alert, priority: .high), runSeed: RunSeed.random())
        settings.connectTimeoutSeconds = 1
        settings.answerTimeoutSeconds = 0.2
        settings.retry.firstDelaySeconds = 0.02
        return settings
    }

    private func expectStop(_ end: SendEnd, _ settlements: [Settlement], saying words: String...) {
        guard case .stopped(let text) = end else {
            Issue.record("it did not stop: \(end)")
            return
        }
        for word in words { #expect(text.contains(word), "\(text)") }
        #expect(settlements.allSatisfy { $0.outcome == .unsent })
    }

    /// A TLS server that knows nothing of HTTP/2, and says nothing of its own accord.
    private func withOtherServer(_ options: [String], _ body: (_ port: Int, _ authority: String) throws -> Void) throws {
        let authority = CertificateAuthority(commonName: "Volley test")
        let certificate = authority.issueServerCertificate(names: ["localhost"], addresses: ["127.0.0.1", "::1"])
        let folder = try TemporaryFolder()
        let pem = try folder.write("server.pem", certificate.pem)
        let port = try Sockets.freePort()
        let server = try ServerProcess(
            "openssl", ["s_server", "-accept", "\(port)", "-cert", pem, "-key", pem, "-quiet"] + options, port: port)
        try withExtendedLifetime(server) { try body(port, try folder.write("ca.pem", authority.certificatePEM)) }
    }

    @Test("nobody listens: the run stops, naming host and port")
    func nobodyListens() throws {
        let port = try Sockets.freePort()
        let began = Timestamp.now()
        let (end, settlements) = try send(settings(port: port, authority: nil), pushes: 5)
        expectStop(end, settlements, saying: "localhost:\(port)", "Check host and port")
        #expect(Timestamp.now().epochMilliseconds - began.epochMilliseconds < 5_000)
    }

    @Test("a certificate from elsewhere stops the run at once")
    func certificateFromElsewhere() throws {
        let simulator = try APNsSimulator(SimulatorConfiguration())
        let folder = try TemporaryFolder()
        let other = try folder.write("ca.pem", CertificateAuthority(commonName: "Someone else").certificatePEM)
        let (end, settlements) = try send(settings(port: simulator.port, authority: other), pushes: 5)
        expectStop(end, settlements, saying: "localhost:\(simulator.port)", "cannot be trusted")
        #expect(simulator.stop().requests == 0)
    }

    @Test("a server without HTTP/2 stops the run before anything is sent")
    func noHTTP2() throws {
        try withOtherServer(["-www"]) { port, authority in
            let (end, settlements) = try send(settings(port: port, authority: authority), pushes: 5)
            expectStop(end, settlements, saying: "localhost:\(port)", "HTTP/2")
        }
    }

    @Test("a server that takes connections and never answers stops the run, and is not believed to have nothing")
    func neverAnswers() throws {
        try withOtherServer(["-alpn", "h2"]) { port, authority in
            var settings = settings(port: port, authority: authority)
            settings.connectTimeoutSeconds = 0.2
            let (end, settlements) = try send(settings, pushes: 5)
            guard case .stopped(let text) = end else {
                Issue.record("it did not stop: \(end)")
                return
            }
            #expect(text.contains("localhost:\(port)"))
            #expect(settlements.count { $0.outcome == .unsent } == 4)
            #expect(settlements.count { $0.outcome == .unknown } == 1)
        }
    }

    @Test("an authority file that is missing or no PEM is refused before the run")
    func brokenAuthority() throws {
        #expect(throws: Diagnostic.self) { try Sender(settings(port: 1, authority: "/nonexistent/ca.pem")) }
        let folder = try TemporaryFolder()
        let file = try folder.write("ca.pem", "hello")
        #expect(throws: Diagnostic.self) { try Sender(settings(port: 1, authority: file)) }
    }
}
