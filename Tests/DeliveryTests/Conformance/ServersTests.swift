import Simulators
import Base
import Cryptography
import Delivery
import PushServices
import TestServers
import Testing

@Suite("conformance: servers that are not there")
struct ServersTests {
    private func settings(host: String = "localhost", port: Int, authority: String?) -> SenderSettings {
        let tokens = SignedTokenSource(key: .generate(), keyID: "ABC123DEFG", teamID: "DEF123GHIJ")
        var settings = SenderSettings(
            endpoint: Endpoint(host: host, port: port, certificateAuthorityFile: authority),
            credentials: .token(tokens),
            options: PushOptions(topic: SimulatorRun.topic, pushType: .alert, priority: .high),
            runSeed: RunSeed.random())
        settings.connectTimeoutSeconds = 2
        settings.answerTimeoutSeconds = 0.3
        settings.retry.firstDelaySeconds = 0.02
        return settings
    }

    private func send(_ settings: SenderSettings) throws -> RunResult {
        let (end, settlements) = try DeliveryTests.send(settings, pushes: 5)
        return RunResult(settings: settings, end: end, settlements: settlements, ledger: LedgerSummary())
    }

    /// A TLS server that does not know HTTP/2, and sends nothing by itself.
    private func withOtherServer(_ options: [String], _ body: (_ port: Int, _ authority: String) throws -> Void) throws
    {
        let authority = CertificateAuthority(commonName: "Volley test")
        let certificate = authority.issueServerCertificate(names: ["localhost"], addresses: ["127.0.0.1", "::1"])
        let folder = try TemporaryFolder()
        let pem = try folder.write("server.pem", certificate.pem)
        let (server, port) = try ServerProcess.onFreePort("openssl") {
            ["s_server", "-accept", "\($0)", "-cert", pem, "-key", pem, "-quiet"] + options
        }
        try withExtendedLifetime(server) { try body(port, try folder.write("ca.pem", authority.certificatePEM)) }
    }

    @Test("nobody listens: the run stops, naming host and port")
    func nobodyListens() throws {
        let port = try Sockets.freePort()
        let result = try send(settings(port: port, authority: nil))
        result.expectStop(saying: "localhost:\(port)", "Check the host and port")
        #expect(result.count(.unsent) == 5)
    }

    @Test("a name that does not exist stops the run and is named")
    func unknownName() throws {
        let result = try send(settings(host: "no-such-server.invalid", port: 443, authority: nil))
        result.expectStop(saying: "no-such-server.invalid:443", "not known")
        #expect(result.count(.unsent) == 5)
    }

    @Test("a server without HTTP/2 stops the run before anything is sent")
    func noHTTP2() throws {
        try withOtherServer(["-www"]) { port, authority in
            let result = try send(settings(port: port, authority: authority))
            result.expectStop(saying: "localhost:\(port)", "HTTP/2")
            #expect(result.count(.unsent) == 5)
        }
    }

    @Test("a server that closes connections without an answer stops the run")
    func closes() throws {
        try withOtherServer(["-alpn", "h2"]) { port, authority in
            var settings = settings(port: port, authority: authority)
            settings.connectTimeoutSeconds = 1
            let result = try send(settings)
            result.expectStop(saying: "localhost:\(port)")
            #expect(result.count(.unsent) + result.count(.unknown) == 5)
        }
    }

    @Test("a server that takes connections and says nothing in TLS is given up")
    func noHandshake() throws {
        let (listener, port) = try Sockets.listen()
        defer { Sockets.close(listener) }
        var settings = settings(port: port, authority: nil)
        settings.connectTimeoutSeconds = 0.1
        let result = try send(settings)
        result.expectStop(saying: "localhost:\(port)", "Check the host and port")
        #expect(result.count(.unsent) == 5)
    }

    @Test("an authority file that is missing or no PEM is refused before the run")
    func brokenAuthority() throws {
        #expect(throws: Diagnostic.self) { try Sender(settings(port: 1, authority: "/nonexistent/ca.pem")) }
        let folder = try TemporaryFolder()
        let file = try folder.write("ca.pem", "hello")
        #expect(throws: Diagnostic.self) { try Sender(settings(port: 1, authority: file)) }
    }

    @Test("a header with a line break is refused before the run")
    func brokenHeaders() throws {
        for control in ["\r\n", "\n", "\u{0}", "\u{1B}", "\u{7F}"] {
            let value = "x\(control)apns-priority: 1"
            for options in [
                PushOptions(topic: value, pushType: .alert, priority: .high),
                PushOptions(topic: "com.example.shop", pushType: .alert, priority: .high, collapseID: value),
            ] {
                var settings = settings(port: 1, authority: nil)
                settings.options = options
                let mistake = #expect(throws: Diagnostic.self) { try Sender(settings) }
                #expect(mistake?.message.contains("control character") == true)
            }
        }
    }

    @Test("so is one that begins or ends with a space", arguments: [" x", "x "])
    func spacesAround(value: String) throws {
        var settings = settings(port: 1, authority: nil)
        settings.options = PushOptions(topic: "com.example.shop", pushType: .alert, priority: .high, collapseID: value)
        let mistake = #expect(throws: Diagnostic.self) { try Sender(settings) }
        #expect(mistake?.message.contains("begins or ends with a space") == true)
    }

    // MARK: Addresses

    @Test("an IPv6 address serves as the host, with and without brackets", arguments: ["::1", "[::1]", "127.0.0.1"])
    func addresses(host: String) throws {
        try SimulatorRun { $0.endpoint.host = host }.run().expectAllAcceptedOnce()
    }

    private static let needsTwoAddresses: ConditionTrait = .enabled(
        if: Sockets.localhostHasBothAddresses, "localhost is not ::1 and 127.0.0.1 on this machine")

    @Test(
        "the addresses of a name are tried one after the other", needsTwoAddresses, arguments: [Sockets.Family.v4, .v6])
    func severalAddresses(family: Sockets.Family) throws {
        let relay = try TestRelay(family)
        var run = SimulatorRun {
            relay.lead(to: $0.endpoint.port)
            $0.endpoint.port = relay.port
            $0.connectTimeoutSeconds = 5
        }
        run.pushes = 10
        try run.run().expectAllAcceptedOnce()
        #expect(relay.connections == 1)
    }
}
