import Base
import PushServices
import Synchronization
import Testing
import TransportConformance

@testable import Delivery

/// Calls to a server that answers them with 200, as JPush would not.
@Suite("answers of 200 that JPush would not give")
struct OddAnswersOfJPushTests {
    private final class Flag: Sendable { let isSet = Atomic(false) }

    /// Sends one call with two devices.
    /// - Parameter answer: the body of the answer to the push of a number, from 1 on.
    /// - Returns: the settlements, and the cids of the pushes in the order in which they came.
    private func send(_ answer: (Int) -> String) throws -> (settlements: [Settlement], cids: [String]) {
        let peer = try Peer(.http1), folder = try TemporaryFolder()
        var settings = SenderSettings(
            JPush(),
            endpoint: Endpoint(
                host: peer.address.host, port: peer.address.port,
                certificateAuthorityFile: try folder.write("ca.pem", peer.address.authorityPEM)),
            credentials: .fixed(FixedTokenSource(basic: AppSecret(topic: "app", secret: "secret"))),
            options: PushOptions(topic: "app", pushType: .alert, priority: .high), runSeed: .random())
        (settings.retry.shortestDelaySeconds, settings.retry.firstDelaySeconds, settings.retry.longestDelaySeconds) = (0, 0.01, 0.02)
        settings.wire = .calls(inFlight: 1)
        settings.resendsUnknown = false
        let source = BoundedQueue<PushBatch>(capacity: 1), results = BoundedQueue<[Settlement]>(capacity: 100)
        var batch = PushBatch()
        for recipient in 0..<2 {
            batch.append(recipient: recipient, token: "1a0018970a8d000000\(recipient)", payload: Array(JPush().probe.payload.utf8))
        }
        source.put(batch)
        source.close()
        let sender = try Sender(settings), isOver = Flag()
        let thread = try WorkerThread("send") {
            defer { isOver.isSet.store(true, ordering: .releasing) }
            return sender.run(source: source, results: results, control: SendControl())
        }
        var cids: [String] = []
        var answered: [Int] = []
        while !isOver.isSet.load(ordering: .acquiring) {
            peer.turn()
            while answered.count < peer.sessions.count { answered.append(0) }
            for (index, session) in peer.sessions.enumerated() {
                while answered[index] < session.requests.count, session.requests[answered[index]].isComplete {
                    let number = answered[index], request = session.requests[number]
                    answered[index] += 1
                    guard request.headers[":method"] == "POST" else {
                        session.answer(number, body: #"{"cidlist":["c1","c2","c3"]}"#)
                        continue
                    }
                    cids.append(try JSONValue(parsing: request.body)["cid"]?.stringValue ?? "")
                    session.answer(number, body: answer(cids.count))
                }
            }
        }
        _ = thread.join()
        var settlements: [Settlement] = []
        while let group = results.take() { settlements += group }
        return (settlements.sorted { $0.recipient < $1.recipient }, cids)
    }

    /// Bodies of such answers.
    private static let odd = [
        "", "{}", "<html>OK</html>", #"{"sendno":"0","msg_id":""}"#, #"{"sendno":"0","msg_id":"18"#,
        #"{"error":{"code":1011,"message":"m"}}"#,
    ]

    @Test("are no acceptance: the call goes again under its cid, and what JPush says then counts", arguments: odd)
    func again(body: String) throws {
        let sent = try send { $0 < 3 ? body : #"{"sendno":"0","msg_id":"1828256757"}"# }
        #expect(sent.cids == ["c1", "c1", "c1"])
        #expect(sent.settlements.map(\.outcome) == [.accepted, .accepted] && sent.settlements.map(\.attempts) == [3, 3])
    }

    @Test("leave the devices unknown if no other comes")
    func never() throws {
        let sent = try send { _ in "{}" }
        #expect(sent.cids.count > 1 && Set(sent.cids) == ["c1"])
        #expect(sent.settlements.map(\.outcome) == [.unknown, .unknown])
        #expect(sent.settlements.allSatisfy { $0.reason == "HTTP200" }, "\(sent.settlements)")
    }
}
