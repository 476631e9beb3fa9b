import Base
import Cryptography
import PushServices
import Simulators
import TestServers
import Testing
import TransportConformance

@testable import Delivery

@Suite("few large requests, over libcurl")
struct CurlTransportTests {
    private static func settings(_ peer: Peer, inFlight: Int, in folder: TemporaryFolder) throws -> SenderSettings {
        var settings = SenderSettings(
            BatchService(1),
            endpoint: Endpoint(
                host: peer.address.host, port: peer.address.port,
                certificateAuthorityFile: try folder.write("ca.pem", peer.address.authorityPEM)),
            credentials: .token(SimulatorRun.source(.generate())),
            options: PushOptions(topic: SimulatorRun.topic, pushType: .alert, priority: .high), runSeed: .random())
        settings.wire = .calls(inFlight: inFlight)
        return settings
    }

    /// Takes turns with the peer until a condition holds, at most ten seconds. Returns the events.
    private static func go(_ transport: CurlTransport, _ peer: Peer, until isDone: ([TransportEvent]) -> Bool) throws
        -> [TransportEvent]
    {
        let start = monotonicNanoseconds()
        var events: [TransportEvent] = []
        while !isDone(events) {
            transport.poll(until: monotonicNanoseconds() + 1_000_000)
            events += transport.events
            transport.events = []
            peer.turn()
            try #require(monotonicNanoseconds() - start < 10_000_000_000, "it does not happen: \(events)")
        }
        return events
    }

    private static func submit(_ requests: Range<Int>, to transport: CurlTransport) {
        for request in requests {
            Array("body".utf8).withUnsafeBufferPointer { body in
                transport.submit(
                    request: request, id: PushID(runSeed: RunSeed.random(), recipient: request), on: 0,
                    target: .init(start: nil, count: 0), body: body)
            }
        }
    }

    @Test("over HTTP/1.1 no more sockets are open than requests may be in flight, and they are used again")
    func sockets() throws {
        let peer = try Peer(.http1), folder = try TemporaryFolder()
        let transport = try CurlTransport(Self.settings(peer, inFlight: 3, in: folder))
        try withPipeSignalBlocked {
            Result {
                transport.open(0)
                Self.submit(0..<9, to: transport)
                var answered = Set<Int>()
                let events = try Self.go(transport, peer) { events in
                    for (index, session) in peer.sessions.enumerated() where session.requests.last?.isComplete == true {
                        let request = session.requests.count - 1
                        if answered.insert(index << 16 | request).inserted { session.answer(request) }
                    }
                    return events.count { if case .answered = $0 { true } else { false } } == 9
                }
                #expect(events.count == 10, "the opening, and an answer to each")
                #expect((1...3).contains(peer.sessions.count))
                #expect(peer.sessions.reduce(0) { $0 + $1.requests.count } == 9)
            }
        }.get()
    }

    @Test(
        "a request that nobody gives up ends a little after its time, and is in doubt",
        arguments: [Peer.Language.http2, .http1])
    func deadline(language: Peer.Language) throws {
        let peer = try Peer(language), folder = try TemporaryFolder()
        var settings = try Self.settings(peer, inFlight: 3, in: folder)
        settings.answerTimeoutSeconds = 0.1
        let transport = try CurlTransport(settings)
        try withPipeSignalBlocked {
            Result {
                transport.open(0)
                Self.submit(0..<1, to: transport)
                let events = try Self.go(transport, peer) {
                    $0.contains { if case .reset = $0 { true } else { false } }
                }
                #expect(events.count == 2)
                #expect(peer.sessions.count == 1 && peer.sessions[0].requests.count == 1)
            }
        }.get()
    }

    @Test("a service that asks for calls is sent to over libcurl by one loop, however many cores there are")
    func wire() throws {
        let folder = try TemporaryFolder()
        let settings = try Self.settings(try Peer(), inFlight: 7, in: folder)
        let machine = MachineSettings(settings)
        #expect(machine.connections == 1 && machine.streamsPerConnection == 7)
        #expect(APNs().wire == .http2 && FCM().wire == .http2)
    }

    @Test(
        "each request is signed anew: with the digest of secret, a number of its own and the time",
        arguments: [Peer.Language.http1, .http2])
    private func signatures(wire: Peer.Language) throws {
        let peer = try Peer(wire), folder = try TemporaryFolder()
        var settings = try Self.settings(peer, inFlight: 4, in: folder)
        let facts = RequestSignature(
            account: "app-key", nonce: "nonce", nonceDigits: 16, timestamp: "timestamp", signature: "signature")
        settings.credentials = .signed(RequestSigner(facts, AppSecret(topic: "k1", secret: "s3cret")))
        let transport = try CurlTransport(settings)
        var headers: [[String: String]] = []
        try withPipeSignalBlocked {
            Result {
                transport.open(0)
                // The second three use the handles of the first three.
                for round in 0..<2 {
                    Self.submit(round * 3..<round * 3 + 3, to: transport)
                    var answered = 0
                    _ = try Self.go(transport, peer) { events in
                        for session in peer.sessions {
                            for (index, request) in session.requests.enumerated()
                            where request.isComplete && !session.isGivenUp(index) {
                                guard !headers.contains(where: { $0["id"] == request.headers["id"] }) else { continue }
                                headers.append(request.headers)
                                session.answer(index)
                            }
                        }
                        answered = events.count { if case .answered = $0 { true } else { false } }
                        return answered == 3
                    }
                }
            }
        }.get()
        #expect(headers.count == 6 && Set(headers.map { $0["nonce"] }).count == 6)
        for header in headers {
            let (nonce, time) = (header["nonce"] ?? "", header["timestamp"] ?? "")
            #expect(header["app-key"] == "k1" && nonce.utf8.count == 16 && header["topic"] != nil)
            #expect(abs(Timestamp.now().epochSeconds - (Int64(time) ?? 0)) < 60)
            #expect(header["signature"] == SHA1.hex(of: "s3cret\(nonce)\(time)"))
        }
    }

    @Test(
        "a server that cannot be reached is left for a spare one, and one that sends elsewhere is left, too; at most once in a while"
    )
    func spareServers() throws {
        let peer = try Peer(.http1), folder = try TemporaryFolder()
        var settings = try Self.settings(peer, inFlight: 2, in: folder)
        // Nothing listens at this address of the machine.
        settings.endpoint.spareHosts = [settings.endpoint.host]
        settings.endpoint.host = "127.0.0.2"
        let transport = try CurlTransport(settings)
        try withPipeSignalBlocked {
            Result {
                transport.open(0)
                Self.submit(0..<1, to: transport)
                _ = try Self.go(transport, peer) {
                    $0.contains { if case .failed(connection: 0, .unreachable) = $0 { true } else { false } }
                }
                transport.close(0)
                transport.open(1)
                // Too soon to go back, or elsewhere.
                transport.changeServer(to: nil)
                transport.changeServer(to: "127.0.0.3")
                Array("body".utf8).withUnsafeBufferPointer {
                    transport.submit(
                        request: 1, id: PushID(runSeed: RunSeed.random(), recipient: 1), on: 1,
                        target: .init(start: nil, count: 0),
                        body: $0)
                }
                _ = try Self.go(transport, peer) { _ in peer.sessions.contains { $0.requests.last?.isComplete == true }
                }
            }
        }.get()
    }

    @Test("new connections go to the server that the service names, where it has several", arguments: [true, false])
    func namedServer(isOneOfSeveral: Bool) throws {
        let peer = try Peer(.http1), folder = try TemporaryFolder()
        var settings = try Self.settings(peer, inFlight: 2, in: folder)
        let name = settings.endpoint.host
        settings.endpoint.host = "127.0.0.2"
        if isOneOfSeveral { settings.endpoint.spareHosts = ["127.0.0.3"] }
        let transport = try CurlTransport(settings)
        try withPipeSignalBlocked {
            Result {
                transport.changeServer(to: name)
                transport.open(0)
                Self.submit(0..<1, to: transport)
                let events = try Self.go(transport, peer) { events in
                    peer.sessions.contains { $0.requests.last?.isComplete == true }
                        || events.contains { if case .failed(connection: 0, .unreachable) = $0 { true } else { false } }
                }
                let failed = events.contains { if case .failed = $0 { true } else { false } }
                #expect(failed != isOneOfSeveral && peer.sessions.isEmpty != isOneOfSeveral, "\(events)")
            }
        }.get()
    }

    @Test(
        "what is left of a budget is read, whatever else a server writes there",
        arguments: [
            ("0", "12", 12.0 as Double?), ("0", "0", 1), ("3", "12", nil), ("0", "soon", nil), ("0", "-5", nil),
            ("", "12", nil),
            ("0", "9999999999", nil),
        ])
    func budget(remaining: String, reset: String, expected: Double?) throws {
        let peer = try Peer(.http1), folder = try TemporaryFolder()
        let old = try Self.settings(peer, inFlight: 2, in: folder)
        var service = BatchService(1)
        service.budgetHeaders = BudgetHeaders(remaining: "x-left", reset: "x-reset")
        var settings = SenderSettings(
            service, endpoint: old.endpoint, credentials: old.credentials, options: old.options, runSeed: old.runSeed)
        settings.wire = old.wire
        let transport = try CurlTransport(settings)
        var seen: [DeliveryMachine.Answer] = []
        try withPipeSignalBlocked {
            Result {
                transport.open(0)
                for (number, status) in [200, 429].enumerated() {
                    Self.submit(number..<number + 1, to: transport)
                    var isAnswered = false
                    let events = try Self.go(transport, peer) { events in
                        if let session = peer.sessions.last, session.requests.count == number + 1,
                            session.requests[number].isComplete,
                            !isAnswered
                        {
                            isAnswered = true
                            session.answer(
                                number, status: status, headers: [("x-left", remaining), ("x-reset", reset)])
                        }
                        return events.contains { if case .answered = $0 { true } else { false } }
                    }
                    for case .answered(request: _, let answer) in events { seen.append(answer) }
                }
            }
        }.get()
        #expect(seen.map(\.budgetReturnsAfterSeconds) == [expected, expected])
        let asked = Double(reset).flatMap { (0..<1e9).contains($0) ? max(1, $0) : nil }
        #expect(seen.map(\.retryAfterSeconds) == [nil, asked])
    }

    @Test("a body of 200 counts where the service says so")
    func acceptedBodies() {
        let body = Array(#"{"reason":"Behind a good status"}"#.utf8)
        func reason(_ service: any PushService) -> String {
            AnswerReader(service).answer(status: 200, retryAfterSeconds: nil, date: nil, body: body).reason
        }
        #expect(reason(BatchService(1)) == "")
        var reading = BatchService(1)
        reading.readsAcceptedBodies = true
        #expect(reason(reading) == "Behind a good status")
    }

    private enum Ending { case closed, reset, goAway, inMidFrame, withoutGoAway }

    /// The server's own faults, as its ledger sees them: nothing is sent twice that may have been
    /// taken.
    @Test(
        "what a server does to connections never makes libcurl send a push again",
        arguments: [Ending.closed, .reset, .goAway, .inMidFrame, .withoutGoAway], [false, true])
    private func faults(ending: Ending, speaksHTTP1: Bool) throws {
        var faults = SimulatorFaults()
        switch ending {
        case .closed: faults.disconnectEvery = 15
        case .reset: faults.resetConnectionEvery = 15
        case .goAway: faults.goAwayEvery = 15
        case .inMidFrame: faults.cutMidFrameEvery = 15
        case .withoutGoAway: faults.closeWithoutGoAwayEvery = 15
        }
        var run = SimulatorRun(faults: faults, pushes: 120) {
            $0.wire = Self.calls
            $0.resendsUnknown = false
        }
        run.speaksHTTP1 = speaksHTTP1
        let result = try run.run()
        #expect(result.end == .finished)
        #expect(result.count(.accepted) > 40, "\(result.outcomes)")
        #expect(result.count(.accepted) + result.count(.unknown) == 120, "\(result.outcomes)")
    }

    @Test("every push of a run is accepted once, over as many sockets as HTTP/1.1 needs", arguments: [false, true])
    func accepted(speaksHTTP1: Bool) throws {
        var run = SimulatorRun(pushes: 500) { $0.wire = Self.calls }
        run.speaksHTTP1 = speaksHTTP1
        let result = try run.run()
        result.expectAllAcceptedOnce()
        #expect((1...6).contains(result.ledger.connections))
    }

    @Test("refusals, pages of a gateway, and answers that never come are what they are over HTTP/1.1, too")
    func trouble() throws {
        var faults = SimulatorFaults()
        (faults.tooManyRequestsEvery, faults.unavailableEvery, faults.gatewayEvery, faults.silentEvery) = (
            11, 13, 17, 41
        )
        faults.latencyMilliseconds = 2
        var run = SimulatorRun(faults: faults, pushes: 200) {
            $0.wire = Self.calls
            $0.resendsUnknown = false
            $0.answerTimeoutSeconds = 0.5
        }
        run.speaksHTTP1 = true
        let result = try run.run()
        #expect(result.end == .finished)
        #expect(result.count(.accepted) > 150 && result.count(.unknown) >= 10, "\(result.outcomes)")
        #expect(result.count(.accepted) + result.count(.unknown) == 200, "\(result.outcomes)")
        #expect(
            result.outcomes.contains { $0.key.hasPrefix("unknown") && $0.key.contains("NoAnswer") },
            "\(result.outcomes)")
    }

    @Test("a server that limits resets, as nghttp2 does, is left before, so that nothing is in doubt")
    func leavesInTime() throws {
        let result = try SimulatorRun(pushes: 4000) {
            $0.wire = Self.calls
            $0.resendsUnknown = false
        }.run()
        result.expectAllAcceptedOnce()
        #expect((4...6).contains(result.ledger.connections), "\(result.ledger.connections)")
    }

    @Test("a server at which nobody is, and one that is not trusted, stop the run, and nothing is sent")
    func stops() throws {
        let port = try Sockets.freePort()
        try SimulatorRun {
            $0.wire = Self.calls
            $0.endpoint.port = port
        }.run().expectNothingSent(saying: "localhost:\(port)", "attempts")
        let folder = try TemporaryFolder()
        let other = try folder.write("other.pem", CertificateAuthority(commonName: "Someone else").certificatePEM)
        try SimulatorRun {
            $0.wire = Self.calls
            $0.endpoint.certificateAuthorityFile = other
        }.run().expectNothingSent(saying: "certificate of localhost:", "cannot be trusted")
    }

    @Test("a wrong signature stops the run at once, as on any transport")
    func wrongKey() throws {
        var run = SimulatorRun(pushes: 30) { $0.wire = Self.calls }
        run.tokens = { _ in SimulatorRun.source(.generate()) }
        let result = try run.run()
        result.expectStop(saying: "InvalidProviderToken")
        #expect(result.ledger.requests == 1)
    }

    // MARK: Proxies

    private static let calls = Wire.calls(inFlight: 6)

    private func run(_ proxy: TestProxy, _ kind: TestProxy.Kind, as user: String = "") throws -> RunResult {
        try SimulatorRun(pushes: 60) {
            $0.wire = Self.calls
            $0.proxy = "\(kind.rawValue)://\(user)127.0.0.1:\(proxy.port)"
        }.run()
    }

    @Test("every push is accepted once through a proxy, which sees nothing of it", arguments: TestProxy.Kind.allCases)
    func proxied(kind: TestProxy.Kind) throws {
        let proxy = try TestProxy(kind)
        let result = try run(proxy, kind)
        result.expectAllAcceptedOnce()
        #expect(proxy.requests.count == 1 && proxy.tunnels == 1)
        let head = proxy.requests.first?.head.lowercased() ?? ""
        #expect(!head.contains("bearer") && !head.contains("apns"), "\(head)")
    }

    @Test(
        "a wrong password stops the run at once and names the proxy",
        arguments: [TestProxy.Kind.http, .socks5, .socks5h])
    func wrongPassword(kind: TestProxy.Kind) throws {
        var behaviour = TestProxy.Behaviour()
        (behaviour.user, behaviour.password) = ("volley", "right")
        let proxy = try TestProxy(kind, behaviour)
        try run(proxy, kind, as: "volley:s3cret@").expectNothingSent(
            saying: "proxy 127.0.0.1:\(proxy.port)", "user and password")
        #expect(proxy.requests.count == 1, "asked again: \(proxy.requests)")
    }

    @Test(
        "a proxy that forbids the server stops the run at once, and one that cannot reach it is tried again",
        arguments: [403, 502])
    func refused(status: Int) throws {
        var behaviour = TestProxy.Behaviour()
        behaviour.refusal = status
        let proxy = try TestProxy(.http, behaviour)
        try run(proxy, .http).expectNothingSent(saying: "proxy 127.0.0.1:\(proxy.port)", "\(status)")
        #expect(proxy.requests.count == (status == 403 ? 1 : 5))
    }

    @Test(
        "a proxy that is not there stops the run and is named, without its password", arguments: TestProxy.Kind.allCases
    )
    func noProxy(kind: TestProxy.Kind) throws {
        let port = try Sockets.freePort()
        try SimulatorRun(pushes: 5) {
            $0.wire = Self.calls
            $0.proxy =
                "\(kind.rawValue)://volley\(kind == .socks4 || kind == .socks4a ? "" : ":s3cret")@127.0.0.1:\(port)"
        }.run().expectNothingSent(saying: "through the proxy 127.0.0.1:\(port)", "attempts")
    }
}
