import APNsSimulator
import Base
import Cryptography
import Delivery
import Glibc
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
        let port = try freePort()
        var arguments = ["openssl", "s_server", "-accept", "\(port)", "-cert", pem, "-key", pem, "-quiet"] + options
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        for descriptor in Int32(0)...2 { posix_spawn_file_actions_addopen(&actions, descriptor, "/dev/null", O_RDWR, 0) }
        var process = pid_t()
        var pointers = arguments.map { strdup($0) } + [nil]
        defer { for pointer in pointers { free(pointer) } }
        #expect(posix_spawnp(&process, "openssl", &actions, nil, &pointers, environ) == 0)
        defer {
            kill(process, SIGKILL)
            waitpid(process, nil, 0)
        }
        arguments.removeAll()
        try waitForListener(port)
        try body(port, try folder.write("ca.pem", authority.certificatePEM))
    }

    private func freePort() throws -> Int {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        withUnsafeMutableBytes(of: &address) { bytes in
            guard let pointer = bytes.bindMemory(to: sockaddr.self).baseAddress else { return }
            bind(descriptor, pointer, length)
            getsockname(descriptor, pointer, &length)
        }
        return Int(UInt16(bigEndian: address.sin_port))
    }

    private func waitForListener(_ port: Int) throws {
        for _ in 0..<200 {
            let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            defer { close(descriptor) }
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = UInt16(port).bigEndian
            address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
            let result = withUnsafeBytes(of: &address) { bytes -> Int32 in
                guard let pointer = bytes.bindMemory(to: sockaddr.self).baseAddress else { return -1 }
                return connect(descriptor, pointer, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
            if result == 0 { return }
            usleep(20_000)
        }
        Issue.record("openssl s_server does not listen")
    }

    @Test("nobody listens: the run stops, naming host and port")
    func nobodyListens() throws {
        let port = try freePort()
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
