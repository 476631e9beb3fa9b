import Base
import Cryptography
import PushServices
import Synchronization
import Testing
import TransportConformance

@testable import Delivery

/// Whole runs through a service that gives out names, remembers what it took under each, and loses
/// answers.
@Suite("requests with names, on the wire")
struct NamesOnTheWireTests {
    private final class Flag: Sendable { let isSet = Atomic(false) }

    /// What the server saw.
    private struct Log {
        /// The targets of each request, in the order in which they came, with its name.
        var requests: [(name: String, targets: [String])] = []
        /// How often each target was pushed to.
        var pushed: [String: Int] = [:]
        var taken: Set<String> = []
        var given = 0
        var lost = 0
        var questions = 0
    }

    private static let names = FetchedNames(
        mostAtATime: 10, lifetimeSeconds: 86_400, path: { "/names?count=\($0)&type=push" }
    ) { body in
        guard case .array(let names)? = body["names"] else { return nil }
        return names.compactMap(\.stringValue)
    }

    /// Serves until it is told to stop.
    /// - Parameters:
    ///   - loses: whether the answer to the request of this number is lost after it was carried
    ///     out.
    ///   - refuses: the status of the answer to the question for names of this number; nil for
    ///     names.
    private static func serve(
        _ peer: Peer, until isOver: () -> Bool, loses: (Int) -> Bool, refuses: (Int) -> Int?
    ) -> Log {
        var log = Log()
        var answered: [Int] = []
        while !isOver() {
            peer.turn()
            while answered.count < peer.sessions.count { answered.append(0) }
            for (index, session) in peer.sessions.enumerated() {
                while answered[index] < session.requests.count, session.requests[answered[index]].isComplete {
                    let number = answered[index]
                    answered[index] += 1
                    if session.requests[number].headers[":method"] == "GET" {
                        giveNames(session, number, refusing: refuses(log.questions + 1), &log)
                        continue
                    }
                    note(session.requests[number], in: &log)
                    guard loses(log.requests.count) else {
                        session.answer(number)
                        continue
                    }
                    log.lost += 1
                    session.cut()
                }
            }
        }
        return log
    }

    private static func giveNames(_ session: any PeerSession, _ request: Int, refusing status: Int?, _ log: inout Log) {
        log.questions += 1
        if let status {
            return session.answer(
                request, status: status, body: #"{"reason":"\#(status == 403 ? "InvalidProviderToken" : "Busy")"}"#)
        }
        let names = (0..<10).map { "\"n\(log.given + $0)\"" }.joined(separator: ",")
        log.given += 10
        session.answer(request, body: "{\"names\":[\(names)]}")
    }

    private static func note(_ request: PeerRequest, in log: inout Log) {
        let lines = String(decoding: request.body, as: UTF8.self).split(separator: "\n").map(String.init)
        let name = String(lines.first { $0.hasPrefix("=") }?.dropFirst() ?? "")
        let targets = lines.filter { !$0.hasPrefix("=") }.map { String($0.prefix { $0 != " " }) }
        log.requests.append((name, targets))
        // A request under a known name does nothing.
        guard log.taken.insert(name).inserted else { return }
        for target in targets { log.pushed[target, default: 0] += 1 }
    }

    private func send(
        _ pushes: Int, loses: @escaping @Sendable (Int) -> Bool = { _ in false },
        refuses: @escaping @Sendable (Int) -> Int? = { _ in nil },
        control: SendControl = SendControl(), largest: Int = 10,
        _ change: (inout SenderSettings) -> Void = { _ in }, onRecorded: ([Settlement]) -> Void = { _ in }
    ) throws -> (end: RunEnd?, outcomes: [Int: Outcome], log: Log, committed: [String: [Int]]) {
        let peer = try Peer(.http1)
        let folder = try TemporaryFolder()
        var service = BatchService(largest)
        service.repeatProtection = .fetched(Self.names)
        var settings = SenderSettings(
            service,
            endpoint: Endpoint(
                host: peer.address.host, port: peer.address.port,
                certificateAuthorityFile: try folder.write("ca.pem", peer.address.authorityPEM)),
            credentials: .token(SimulatorRun.source(.generate())),
            options: PushOptions(topic: SimulatorRun.topic, pushType: .alert, priority: .high), runSeed: .random())
        settings.loops = 1
        settings.wire = .calls(inFlight: 4)
        settings.resendsUnknown = false
        settings.retry.firstDelaySeconds = 0.01
        let committed = Mutex<[String: [Int]]>([:])
        settings.commitCalls = { calls in
            committed.withLock { known in for call in calls { known[call.name] = call.recipients } }
            return true
        }
        change(&settings)
        let source = BoundedQueue<PushBatch>(capacity: 100)
        for start in stride(from: 0, to: pushes, by: max(50, largest)) {
            var batch = PushBatch()
            for recipient in start..<min(start + max(50, largest), pushes) {
                batch.append(recipient: recipient, token: "t\(recipient)", payload: Array("Hi".utf8))
            }
            source.put(batch)
        }
        source.close()
        let results = BoundedQueue<[Settlement]>(capacity: 10_000)
        let sender = try Sender(settings), isOver = Flag()
        let thread = try WorkerThread("send") {
            defer { isOver.isSet.store(true, ordering: .releasing) }
            return sender.run(source: source, results: results, control: control)
        }
        let log = Self.serve(peer, until: { isOver.isSet.load(ordering: .acquiring) }, loses: loses, refuses: refuses)
        let end = thread.join()
        var outcomes: [Int: Outcome] = [:]
        while let group = results.take() {
            onRecorded(group)
            for settlement in group { outcomes[settlement.recipient] = settlement.outcome }
        }
        return (end, outcomes, log, committed.withLock { $0 })
    }

    @Test(
        "every device is pushed to once, although every fifth answer is lost, and every name stood for its devices before it left"
    )
    func lostAnswers() throws {
        let sent = try send(500, loses: { $0 % 5 == 2 })
        #expect(sent.end == .finished)
        #expect(sent.outcomes.count == 500 && sent.outcomes.values.allSatisfy { $0 == .accepted })
        #expect(sent.log.lost > 5)
        #expect(sent.log.pushed.count == 500 && sent.log.pushed.values.allSatisfy { $0 == 1 })
        for request in sent.log.requests { #expect(sent.committed[request.name]?.map { "t\($0)" } == request.targets) }
    }

    @Test("what an answer settles is recorded together, however many devices its request has")
    func together() throws {
        var groups: [Set<String>] = []
        let sent = try send(
            2500, largest: 2500, onRecorded: { group in groups.append(Set(group.map { "t\($0.recipient)" })) })
        #expect(sent.outcomes.count == 2500)
        #expect(
            sent.log.requests.contains { $0.targets.count > 1000 }, "more than settlements are put together otherwise")
        for request in sent.log.requests { #expect(groups.contains { $0.isSuperset(of: request.targets) }) }
    }

    @Test("while the service gives out no names nothing leaves, and once it does everything goes on")
    func noNamesForNow() throws {
        let sent = try send(30, refuses: { $0 < 3 ? 503 : nil })
        #expect(sent.end == .finished)
        #expect(sent.outcomes.values.count { $0 == .accepted } == 30)
        #expect(sent.log.questions >= 3)
    }

    @Test("a service that does not know the sender gives out no names: the run stops, and nothing has left")
    func refused() throws {
        let sent = try send(30, refuses: { _ in 403 })
        guard case .stopped(.service(_, .namesRefused(let reason, let status))) = sent.end else {
            Issue.record("\(String(describing: sent.end))")
            return
        }
        #expect(reason == "InvalidProviderToken" && status == 403)
        #expect(sent.log.requests.isEmpty)
        #expect(sent.outcomes.count == 30 && sent.outcomes.values.allSatisfy { $0 == .unsent })
    }

    @Test("what cannot be committed does not leave")
    func notCommitted() throws {
        let control = SendControl()
        let sent = try send(30, control: control) {
            $0.commitCalls = { _ in
                control.interrupt()
                return false
            }
        }
        #expect(sent.end == .interrupted)
        #expect(sent.log.questions == 1 && sent.log.requests.isEmpty)
        #expect(sent.outcomes.count == 30 && sent.outcomes.values.allSatisfy { $0 == .unsent })
    }
}
