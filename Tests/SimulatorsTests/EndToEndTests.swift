import Base
import Cryptography
import Glibc
import Testing

@testable import Simulators

/// A running simulator and what a command-line client needs to reach it.
private struct Stand {
    let simulator: ServiceSimulator
    let provider = Provider()
    let folder = TemporaryFolder()
    private let authority: String
    private let payload: String

    init(_ change: (inout SimulatorConfiguration, TemporaryFolder) -> Void = { _, _ in }) throws {
        var configuration = SimulatorConfiguration()
        configuration.keys = [provider.trusted]
        change(&configuration, folder)
        simulator = try StandIn.apns.start(configuration)
        authority = folder.write(simulator.certificateAuthorityPEM, to: "ca.pem")
        payload = folder.write(#"{"aps":{"alert":"Hello"}}"#, to: "payload.json")
    }

    var headers: String {
        "-H 'authorization: bearer \(provider.token(issuedAt: Timestamp.now().epochSeconds))' -H 'apns-topic: com.example.shop'"
            + " -H 'apns-push-type: alert'"
    }

    func url(_ token: String = someToken, host: String = "localhost") -> String {
        "https://\(host):\(simulator.port)/3/device/\(token)"
    }

    /// Status line, headers and body of a push.
    func push(
        _ token: String = someToken, host: String = "localhost", headers: String? = nil, options: String = "--http2"
    ) -> (
        output: String, exitCode: Int32
    ) {
        let trust = "--cacert \(authority)"
        return run(
            "curl -sS -i --max-time 5 \(options) \(trust) \(headers ?? self.headers) -d @\(payload) '\(url(token, host: host))'"
        )
    }

    /// The frames of pushes that are sent at once on one connection.
    func frames(_ tokens: [String]) -> String { run(frameCommand(tokens)).output }

    /// Sends pushes in the background.
    func startFrames(_ tokens: [String], output file: String) {
        run("(\(frameCommand(tokens)) > \(file) 2>&1 < /dev/null &)")
    }

    /// Sends pushes to all URLs in turn, with this many streams at a time.
    func load(urls: [String], pushes: Int, connections: Int = 1, streams: Int = 100) -> String {
        let list = folder.write(urls.joined(separator: "\n") + "\n", to: "urls.txt")
        return run(
            "timeout 20 h2load -t1 -c\(connections) -m\(streams) -n\(pushes) -d \(payload) -i \(list) \(headers)"
        ).output
    }

    private func frameCommand(_ tokens: [String]) -> String {
        let urls = tokens.map { "'\(url($0, host: "127.0.0.1"))'" }.joined(separator: " ")
        return "timeout 5 nghttp -nv --no-dep \(headers) -H ':method: POST' -d \(payload) \(urls)"
    }
}

private let tokens = (0..<4).map { String(repeating: "\($0)a", count: 32) }

@Suite("A simulator, reached with curl,", .enabled(if: isInstalled("curl"), "the program curl is not installed"))
struct CurlTests {
    @Test(
        "accepts a push on both loopback addresses and echoes its id", arguments: ["localhost", "127.0.0.1", "[::1]"])
    func accepts(_ host: String) throws {
        let stand = try Stand()
        let id = "0b7a1c52-88f2-4b0e-9d1c-2f3a4b5c6d7e"
        let result = stand.push(host: host, headers: stand.headers + " -H 'apns-id: \(id)'")
        #expect(result.output.contains("HTTP/2 200"), "\(result.output)")
        #expect(result.output.contains("apns-id: \(id)"))
        #expect(stand.simulator.summary.accepted == 1)
        #expect(stand.simulator.stop().acceptedTokens == 1)
    }

    @Test("makes an id where there is none") func makesID() throws {
        let output = try Stand().push().output
        #expect(output.contains(/apns-id: [0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}/))
    }

    @Test("says reason and timestamp of a dead token") func unregistered() throws {
        let stand = try Stand()
        let output = stand.push("00000410" + someToken).output
        #expect(output.contains("HTTP/2 410"))
        #expect(output.contains(/\{"reason":"Unregistered","timestamp":[0-9]{13}\}/))
        #expect(stand.simulator.stop().reasons == ["Unregistered": 1])
    }

    @Test("accepts nothing with a wrong signature") func wrongSignature() throws {
        let stand = try Stand()
        let foreign = Provider().token(issuedAt: Timestamp.now().epochSeconds)
        let output = stand.push(
            headers: "-H 'authorization: bearer \(foreign)' -H 'apns-topic: a.b' -H 'apns-push-type: alert'"
        ).output
        #expect(output.contains("HTTP/2 403"))
        #expect(output.contains(#"{"reason":"InvalidProviderToken"}"#))
        #expect(stand.simulator.stop().accepted == 0)
    }

    @Test("names the seconds to wait with 429 and 503") func retryAfter() throws {
        let stand = try Stand { configuration, _ in configuration.faults.retryAfterSeconds = 7 }
        #expect(stand.push("00000429" + someToken).output.contains("retry-after: 7"))
        #expect(!stand.push().output.contains("retry-after"))
    }

    @Test("takes a client certificate instead of a provider token") func clientCertificate() throws {
        let stand = try Stand()
        let pem = CertificateAuthority(commonName: "someone").issueClientCertificate(commonName: "com.example.shop").pem
        let file = stand.folder.write(pem, to: "client.pem")
        let bare = "-H 'apns-topic: com.example.shop' -H 'apns-push-type: alert'"
        #expect(stand.push(headers: bare, options: "--http2 --cert \(file)").output.contains("HTTP/2 200"))
        #expect(stand.push(headers: bare).output.contains("MissingProviderToken"))
    }

    @Test("refuses a client certificate that has expired, or is of another authority than the configured one")
    func badCertificates() throws {
        let authority = CertificateAuthority(commonName: "ours")
        let authorityPEM = authority.certificatePEM
        let stand = try Stand { configuration, folder in
            configuration.clientAuthorityFile = folder.write(authorityPEM, to: "clients.pem")
        }
        let bare = "-H 'apns-topic: com.example.shop' -H 'apns-push-type: alert'"
        let good = stand.folder.write(authority.issueClientCertificate(commonName: "a").pem, to: "good.pem")
        #expect(stand.push(headers: bare, options: "--http2 --cert \(good)").output.contains("HTTP/2 200"))
        let foreign = stand.folder.write(
            CertificateAuthority(commonName: "theirs").issueClientCertificate(commonName: "a").pem, to: "foreign.pem")
        #expect(stand.push(headers: bare, options: "--http2 --cert \(foreign)").exitCode != 0)
        let open = try Stand()
        let expired = stand.folder.write(
            authority.issueClientCertificate(commonName: "a", days: -1).pem, to: "expired.pem")
        #expect(open.push(headers: bare, options: "--http2 --cert \(expired)").output.contains("BadCertificate"))
    }

    @Test("speaks HTTP/2 over TLS 1.2 or later and nothing else") func protocols() throws {
        let stand = try Stand()
        #expect(stand.push(options: "--http1.1").exitCode == 35)
        // curl speaks HTTP/1.1 then.
        #expect(stand.push(options: "--no-alpn").exitCode != 0)
        #expect(stand.push(options: "--http2 --tlsv1.0 --tls-max 1.1").exitCode == 35)
        #expect(stand.push(options: "--http2 --tls-max 1.2").output.contains("HTTP/2 200"))
    }

    @Test(
        "speaks HTTP/2 with clients that offer nothing in TLS",
        .enabled(if: isInstalled("openssl"), "the program openssl is not installed"))
    func withoutOffer() throws {
        let stand = try Stand()
        let client = FrameClient(stand.simulator, stand.provider, offersProtocol: false)
        client.push()
        #expect(client.readAnswers(1).last?.isAccepted == true)
    }

    @Test("accepts without an answer when told to, and the ledger says so") func silent() throws {
        let stand = try Stand { configuration, folder in
            configuration.faults.silentEvery = 1
            configuration.ledgerFile = folder.path + "/ledger.jsonl"
        }
        #expect(stand.push(options: "--http2 --max-time 0.3").exitCode == 28)
        #expect(stand.simulator.stop().accepted == 1)
        let line = try JSONValue(parsing: run("cat \(stand.folder.path)/ledger.jsonl").output)
        #expect(line["answered"] == .bool(false))
        #expect(line["status"]?.integerValue == 200)
    }

    @Test(
        "is understood whatever its answers are dressed up with",
        arguments: ["103", "trailers", "large headers", "strange frames"])
    func dressedUp(_ fault: String) throws {
        let stand = try Stand { configuration, _ in
            configuration.faults.informationEvery = fault == "103" ? 1 : 0
            configuration.faults.trailersEvery = fault == "trailers" ? 1 : 0
            configuration.faults.largeHeadersEvery = fault == "large headers" ? 1 : 0
            configuration.faults.strangeFramesEvery = fault == "strange frames" ? 1 : 0
        }
        #expect(stand.push().output.contains("HTTP/2 200"))
        #expect(stand.push("00000410" + someToken).output.contains(#"{"reason":"Unregistered""#))
    }

    @Test("cuts a connection without an answer when told to") func disconnect() throws {
        let stand = try Stand { configuration, _ in configuration.faults.disconnectEvery = 1 }
        let result = stand.push()
        #expect(result.exitCode != 0)
        #expect(!result.output.contains("HTTP/2 200"))
        #expect(stand.simulator.stop().accepted == 1)
    }

    @Test("holds answers back when told to") func latency() throws {
        let stand = try Stand { configuration, _ in configuration.faults.latencyMilliseconds = 300 }
        let start = Timestamp.now()
        #expect(stand.push().output.contains("HTTP/2 200"))
        #expect(Timestamp.now().epochMilliseconds - start.epochMilliseconds >= 300)
    }
}

@Suite("A simulator, frame by frame,", .enabled(if: isInstalled("nghttp"), "the program nghttp is not installed"))
struct FrameTests {
    @Test("allows one stream until the first push is accepted, then the full limit") func streamLimit() throws {
        let stand = try Stand { configuration, _ in configuration.faults.streamLimit = 77 }
        let output = stand.frames([tokens[0]])
        let first = output.firstRange(of: "SETTINGS_MAX_CONCURRENT_STREAMS(0x03):1]")
        let answer = output.firstRange(of: ":status: 200")
        let second = output.firstRange(of: "SETTINGS_MAX_CONCURRENT_STREAMS(0x03):77]")
        #expect(first != nil && answer != nil && second != nil, "\(output)")
    }

    @Test("keeps one stream while pushes are refused") func noRise() throws {
        let output = try Stand().frames(["00000400" + someToken])
        #expect(output.contains(":status: 400"), "\(output)")
        #expect(!output.contains("SETTINGS_MAX_CONCURRENT_STREAMS(0x03):1000]"))
    }

    @Test("ends a connection with the last stream it processed when told to") func goAway() throws {
        let stand = try Stand { configuration, _ in
            configuration.faults.goAwayEvery = 2
            configuration.faults.firstStreamLimit = 100
        }
        let output = stand.frames(tokens)
        let ids = output.matches(of: /recv \(stream_id=([0-9]+)\) :status: 200/).compactMap { Int($0.1) }
        let last = output.firstMatch(
            of: /last_stream_id=([0-9]+), error_code=NO_ERROR\(0x00\), opaque_data\(21\)=\[\{"reason":"Shutdown"\}\]/)
        #expect(ids.count == 2, "\(output)")
        #expect(last.flatMap { Int($0.1) } == ids.max(), "\(output)")
        #expect(stand.simulator.stop().accepted == 2)
    }

    @Test("resets a stream as unprocessed when told to") func refusedStream() throws {
        let stand = try Stand { configuration, _ in
            configuration.faults.refusedStreamEvery = 2
            configuration.faults.firstStreamLimit = 100
        }
        let output = stand.frames(tokens)
        #expect(output.matches(of: /error_code=REFUSED_STREAM\(0x07\)/).count == 2, "\(output)")
        let summary = stand.simulator.stop()
        #expect(summary.accepted == 2)
        #expect(summary.refusedStreams == 2)
    }

    @Test("says IdleTimeout to a connection that has nothing to say") func idle() throws {
        let stand = try Stand { configuration, _ in
            configuration.faults.silentEvery = 1
            configuration.faults.idleTimeoutSeconds = 1
        }
        #expect(stand.frames([tokens[0]]).contains(#"[{"reason":"IdleTimeout"}]"#))
    }

    @Test("says goodbye to open connections when it stops") func goodbye() throws {
        let stand = try Stand { configuration, _ in configuration.faults.silentEvery = 1 }
        let file = stand.folder.path + "/frames.txt"
        stand.startFrames([tokens[0]], output: file)
        for _ in 0..<500 where stand.simulator.summary.accepted == 0 { usleep(10_000) }
        #expect(stand.simulator.stop().accepted == 1)
        #expect(
            run("for i in $(seq 50); do grep Shutdown \(file) && break; sleep 0.1; done").output.contains(
                #"[{"reason":"Shutdown"}]"#))
    }
}

@Suite("A simulator, under load,", .enabled(if: isInstalled("h2load"), "the program h2load is not installed"))
struct LoadTests {
    /// Headers arrive in halves here, and streams end between the halves.
    @Test("answers every push of a fast sender for itself") func fastSender() throws {
        let stand = try Stand { configuration, _ in configuration.faults.firstStreamLimit = 1000 }
        // Long enough that a read ends within some push's headers.
        let urls = (0..<500).map {
            stand.url(String(repeating: "ab", count: 252) + String(10_000_000 + $0), host: "127.0.0.1")
        }
        let output = stand.load(urls: urls, pushes: 10_000, streams: 1000)
        let summary = stand.simulator.stop()
        #expect(output.contains("10000 2xx"), "\(output)")
        #expect(summary.reasons.isEmpty)
        #expect(summary.accepted == 10_000)
        #expect(summary.acceptedTokens == 500)
        #expect(summary.repeatedTokens == 500)
        #expect(summary.repeatedIDs == 0)
    }

    @Test("takes every push through windows that are smaller than its payload") func tinyWindows() throws {
        let stand = try Stand { configuration, _ in
            configuration.faults.firstStreamLimit = 1000
            configuration.faults.windows = SimulatedWindows(streamBytes: 16, connectionBytes: 64, delayMilliseconds: 1)
        }
        // More bytes than the connection's initial window.
        let output = stand.load(urls: [stand.url(host: "127.0.0.1")], pushes: 3_500)
        #expect(output.contains("3500 2xx"), "\(output)")
        #expect(stand.simulator.stop().accepted == 3_500)
    }

    @Test("counts in its ledger file what it counts in memory, whatever goes wrong") func ledgerAgrees() throws {
        let stand = try Stand { configuration, folder in
            configuration.faults.firstStreamLimit = 100
            configuration.faults.latencyMilliseconds = 5
            configuration.faults.unavailableEvery = 7
            configuration.faults.refusedStreamEvery = 11
            configuration.faults.disconnectEvery = 900
            configuration.ledgerFile = folder.path + "/ledger.jsonl"
        }
        let urls = (0..<100).map { stand.url("abcd" + String(10_000_000 + $0), host: "127.0.0.1") }
        _ = stand.load(urls: urls, pushes: 2_000, connections: 2)
        let summary = stand.simulator.stop()
        let file = stand.folder.path + "/ledger.jsonl"
        #expect(run("grep -c '' \(file)").output == "\(summary.requests)\n")
        #expect(run("grep -c '\"status\":200' \(file)").output == "\(summary.accepted)\n")
        #expect(summary.connections == 2)
        #expect(summary.accepted > 1_000)
        #expect(summary.refusedStreams > 100)
        #expect(summary.reasons["ServiceUnavailable", default: 0] > 100)
    }
}

@Suite("A simulator")
struct StartTests {
    @Test("says which port is taken and what to do") func portTaken() throws {
        let first = try StandIn.apns.start(SimulatorConfiguration())
        var configuration = SimulatorConfiguration()
        configuration.port = first.port
        let error = #expect(throws: Diagnostic.self) { try StandIn.apns.start(configuration) }
        #expect(error?.message == "Volley cannot listen at localhost:\(first.port): the address is already in use")
        #expect(error?.remedy != nil)
    }

    @Test("says that a ledger cannot be written, and where") func ledgerUnwritable() {
        var configuration = SimulatorConfiguration()
        configuration.ledgerFile = "/nonexistent/ledger.jsonl"
        let error = #expect(throws: Diagnostic.self) { try StandIn.apns.start(configuration) }
        #expect(error?.file == "/nonexistent/ledger.jsonl")
    }

    @Test("stops more than once and frees its port") func stopsTwice() throws {
        var configuration = SimulatorConfiguration()
        let first = try StandIn.apns.start(configuration)
        #expect(first.stop() == first.stop())
        configuration.port = first.port
        let second = try StandIn.apns.start(configuration)
        #expect(second.port == first.port)
    }
}
