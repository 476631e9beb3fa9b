import Base
import Cryptography
import PushServices
import Synchronization
import Testing
import TransportConformance

@testable import Delivery

@Suite("requests of several pushes, on the wire")
struct RequestsOnTheWireTests {
    /// What a server accepted, and how many requests it got.
    private struct Log: Sendable {
        var requests: [[String]] = []
        var accepted: [String: String] = [:]
        var acceptedTwice = 0
    }

    private final class Flag: Sendable { let isSet = Atomic(false) }

    /// Serves until it is told to stop: refuses a request with a bad target, and names it.
    private static func serve(_ peer: Peer, badTargets: Set<String>, until isOver: () -> Bool) -> Log {
        var log = Log()
        var answered: [Int] = []
        while !isOver() {
            peer.turn()
            while answered.count < peer.sessions.count { answered.append(0) }
            for (index, session) in peer.sessions.enumerated() {
                while answered[index] < session.requests.count, session.requests[answered[index]].isComplete {
                    answer(session, answered[index], badTargets, &log)
                    answered[index] += 1
                }
            }
        }
        return log
    }

    private static func answer(_ session: any PeerSession, _ request: Int, _ badTargets: Set<String>, _ log: inout Log)
    {
        let lines = String(decoding: session.requests[request].body, as: UTF8.self).split(separator: "\n")
        let pushes = lines.map { $0.split(separator: " ", maxSplits: 1).map(String.init) }
        log.requests.append(pushes.map { $0[0] })
        let bad = pushes.filter { badTargets.contains($0[0]) }.map { "\"\($0[0])\":\"BadDeviceToken\"" }
        guard bad.isEmpty else {
            return session.answer(
                request, status: 400, body: "{\"reason\":\"BadTarget\",\"bad\":{\(bad.joined(separator: ","))}}")
        }
        for push in pushes {
            if log.accepted.updateValue(push[1], forKey: push[0]) != nil { log.acceptedTwice += 1 }
        }
        session.answer(request)
    }

    @Test(
        "every target gets its own text once, and those that an answer names are invalid",
        arguments: [
            (Wire.http2, Peer.Language.http2), (.calls(inFlight: 4), .http2), (.calls(inFlight: 4), .http1),
            (.calls(inFlight: 1), .http1),
        ])
    func delivers(wire: Wire, language: Peer.Language) throws {
        let texts = ["Hi", "Hello", "Hey"]
        let (log, outcomes) = try Self.send(BatchService(10), wire, language, badTargets: ["t7", "t100", "t101"]) {
            Array(texts[$0 % 3].utf8)
        }
        #expect(outcomes.filter { $0.value == .invalidToken }.keys.sorted() == [7, 100, 101])
        #expect(outcomes.values.count { $0 == .accepted } == 247)
        #expect(log.accepted.count == 247 && log.acceptedTwice == 0)
        #expect((0..<250).allSatisfy { [nil, texts[$0 % 3]].contains(log.accepted["t\($0)"]) })
        #expect(log.requests.allSatisfy { $0.count <= 10 } && log.requests.count < 40)
    }

    @Test(
        "a place for an id splits no request: a shared text has the id of the request's first push, a text of its own that of its push",
        arguments: [false, true])
    func tracked(hasOwnTexts: Bool) throws {
        let service = BatchService(10, hasOwnTexts: hasOwnTexts), seed = RunSeed(high: 1, low: 2)
        func text(_ recipient: Int, place: Bool) -> [UInt8] {
            var text = Array(["Hi ", "Hello "][recipient % 2].utf8)
            if place { PushIDPlace.append(to: &text) }
            return text
        }
        func send(place: Bool) throws -> Log {
            // In one batch, so that all are there before the first request leaves.
            try Self.send(service, .calls(inFlight: 4), .http2, seed: seed, batchSize: 250) { text($0, place: place) }
                .log
        }
        let (plain, tracked) = (try send(place: false), try send(place: true))
        #expect(tracked.requests.count == plain.requests.count && plain.requests.count < 40)
        #expect(tracked.accepted.count == 250)
        func id(_ target: String) -> String {
            PushID(runSeed: seed, recipient: Int(target.dropFirst()) ?? -1).description
        }
        for request in tracked.requests {
            // What follows the first push is not read where a service takes one text.
            for target in hasOwnTexts ? request : Array(request.prefix(1)) {
                #expect(
                    tracked.accepted[target]?.hasSuffix(" \(id(target))") == true, "\(tracked.accepted[target] ?? "")")
            }
        }
    }

    /// Sends 250 pushes to the targets t0, t1, … with these payloads.
    private static func send(
        _ service: BatchService, _ wire: Wire, _ language: Peer.Language, badTargets: Set<String> = [],
        seed: RunSeed = .random(),
        batchSize: Int = 50, _ payload: (Int) -> [UInt8]
    ) throws -> (log: Log, outcomes: [Int: Outcome]) {
        let peer = try Peer(language)
        let folder = try TemporaryFolder()
        var settings = SenderSettings(
            service,
            endpoint: Endpoint(
                host: peer.address.host, port: peer.address.port,
                certificateAuthorityFile: try folder.write("ca.pem", peer.address.authorityPEM)),
            credentials: .token(SimulatorRun.source(.generate())),
            options: PushOptions(topic: SimulatorRun.topic, pushType: .alert, priority: .high), runSeed: seed)
        settings.loops = 1
        settings.wire = wire
        let source = BoundedQueue<PushBatch>(capacity: 10)
        for start in stride(from: 0, to: 250, by: batchSize) {
            var batch = PushBatch()
            for recipient in start..<start + batchSize {
                batch.append(recipient: recipient, token: "t\(recipient)", payload: payload(recipient))
            }
            source.put(batch)
        }
        source.close()
        let results = BoundedQueue<[Settlement]>(capacity: 10_000)
        let sender = try Sender(settings), isOver = Flag()
        let thread = try WorkerThread("send") {
            defer { isOver.isSet.store(true, ordering: .releasing) }
            return sender.run(source: source, results: results, control: SendControl())
        }
        let log = serve(peer, badTargets: badTargets) { isOver.isSet.load(ordering: .acquiring) }
        #expect(thread.join() == .finished)
        var outcomes: [Int: Outcome] = [:]
        while let group = results.take() {
            for settlement in group { outcomes[settlement.recipient] = settlement.outcome }
        }
        return (log, outcomes)
    }
}
