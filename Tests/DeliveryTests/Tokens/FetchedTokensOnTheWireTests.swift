import Base
import Glibc
import PushServices
import Synchronization
import Testing
import TransportConformance

@testable import Delivery

/// Whole runs with fetched tokens: one server gives them out, another takes pushes with the last
/// one only.
@Suite("fetched tokens, on the wire")
struct FetchedTokensOnTheWireTests {
    private final class Flag: Sendable { let isSet = Atomic(false) }

    /// What the server saw.
    private struct Log: Sendable {
        /// Requests by the header `authorization`.
        var requests: [String: Int] = [:]
        var accepted: Set<String> = []
    }

    /// Serves until it is told to stop.
    /// - Parameter isGood: whether a token is taken after this many accepted pushes.
    private static func serve(_ peer: Peer, until isOver: () -> Bool, isGood: (String, Int) -> Bool) -> Log {
        var log = Log()
        var answered: [Int] = []
        while !isOver() {
            peer.turn()
            while answered.count < peer.sessions.count { answered.append(0) }
            for (index, session) in peer.sessions.enumerated() {
                while answered[index] < session.requests.count, session.requests[answered[index]].isComplete {
                    let request = session.requests[answered[index]]
                    let token = request.headers["authorization"] ?? ""
                    log.requests[token, default: 0] += 1
                    if isGood(token, log.accepted.count) {
                        log.accepted.insert(String(decoding: request.body, as: UTF8.self))
                        session.answer(answered[index])
                    } else {
                        session.answer(answered[index], status: 403, body: #"{"reason":"ExpiredProviderToken"}"#)
                    }
                    answered[index] += 1
                }
            }
        }
        return log
    }

    private func run(
        _ tokens: FetchedTokenSource, pushes: Int, isGood: @escaping @Sendable (String, Int) -> Bool
    ) throws -> (end: RunEnd, settlements: [Settlement], log: Log) {
        let peer = try Peer()
        let folder = try TemporaryFolder()
        var settings = SenderSettings(
            BatchService(1),
            endpoint: Endpoint(
                host: peer.address.host, port: peer.address.port,
                certificateAuthorityFile: try folder.write("ca.pem", peer.address.authorityPEM)),
            credentials: .fetched(tokens),
            options: PushOptions(topic: SimulatorRun.topic, pushType: .alert, priority: .high), runSeed: .random())
        settings.streamsPerConnection = 10
        settings.retry.firstDelaySeconds = 0.01
        settings.loops = 1
        let isOver = Flag(), sent = Mutex<(RunEnd, [Settlement])?>(nil)
        let final = settings
        let thread = try WorkerThread("send") {
            defer { isOver.isSet.store(true, ordering: .releasing) }
            let result = try? send(final, pushes: pushes)
            sent.withLock { $0 = result }
        }
        let log = Self.serve(peer, until: { isOver.isSet.load(ordering: .acquiring) }, isGood: isGood)
        thread.join()
        let (end, settlements) = try #require(sent.withLock { $0 })
        return (end, settlements, log)
    }

    @Test("a token that the service refuses in the middle is replaced while the run waits, and every push arrives")
    func renews() throws {
        let server = try TokenServer { number, _ in TokenServer.token("token\(number)") }
        let source = try server.source(shortest: 0)
        try source.start()
        defer { source.stop() }
        let result = try run(source, pushes: 200) { token, accepted in
            token == (accepted < 80 ? "Bearer token0" : "Bearer token1")
        }
        #expect(result.end == .finished)
        #expect(result.settlements.count { $0.outcome == .accepted } == 200)
        #expect(result.log.accepted.count == 200)
        #expect(Set(result.log.requests.keys) == ["Bearer token0", "Bearer token1"])
        #expect(server.requests.count == 2)
    }

    @Test("a token that ends while the run is sent is replaced before")
    func ends() throws {
        let server = try TokenServer { number, _ in TokenServer.token("token\(number)", seconds: 2) }
        let source = try server.source(early: 1, shortest: 0)
        try source.start()
        let clock = ContinuousClock()
        let start = clock.now
        let result = try run(source, pushes: 3000) { _, _ in
            usleep(1000)
            return true
        }
        source.stop()
        #expect(result.end == .finished)
        #expect(result.settlements.count { $0.outcome == .accepted } == 3000)
        #expect(clock.now - start > .seconds(2) && result.log.requests.count >= 2, "\(result.log.requests)")
    }

    @Test("the run waits while the server of tokens is away, and goes on when it is back")
    func outage() throws {
        let server = try TokenServer { number, _ in
            number == 0
                ? TokenServer.token("token0")
                : number < 3 ? TokenServer.answer("503 Service Unavailable", "{}") : TokenServer.token("token\(number)")
        }
        let source = try server.source(shortest: 0)
        try source.start()
        defer { source.stop() }
        let result = try run(source, pushes: 60) { token, accepted in
            token == (accepted < 20 ? "Bearer token0" : "Bearer token3")
        }
        #expect(result.end == .finished)
        #expect(result.settlements.count { $0.outcome == .accepted } == 60)
        #expect(server.requests.count == 4)
    }

    @Test("a server that gives no more tokens, and a new token that is refused at once, stop the run")
    func stops() throws {
        let refusing = try TokenServer { number, _ in
            number == 0
                ? TokenServer.token("token0")
                : TokenServer.answer(
                    "400 Bad Request", #"{"error":"invalid_grant","error_description":"Invalid JWT Signature."}"#)
        }
        let first = try refusing.source(shortest: 0)
        try first.start()
        let refused = try run(first, pushes: 60) { _, accepted in accepted < 20 }
        first.stop()
        #expect(
            refused.end
                == .stopped(
                    .service(
                        "apns",
                        .tokenRefused(
                            reason: "invalid_grant: Invalid JWT Signature.", status: 400, clockLagSeconds: nil))))
        #expect(refused.settlements.count { $0.outcome == .accepted } == 20)
        #expect(refused.settlements.allSatisfy { $0.outcome == .accepted || $0.outcome == .unsent })

        let generous = try TokenServer { number, _ in TokenServer.token("token\(number)") }
        let second = try generous.source(shortest: 0)
        try second.start()
        let result = try run(second, pushes: 10) { _, _ in false }
        second.stop()
        guard case .stopped(.service(_, .tokenExpired)) = result.end else {
            Issue.record("it did not stop: \(result.end)")
            return
        }
        #expect(generous.requests.count == 2, "the first refusal renews the token, the second one stops the run")
    }
}
