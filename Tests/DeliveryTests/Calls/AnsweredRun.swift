import Base
import PushServices
import Synchronization
import TransportConformance

@testable import Delivery

/// A sender's whole run against a server that answers each request as a test says.
struct AnsweredRun {
    private final class Flag: Sendable { let isSet = Atomic(false) }

    let service: any PushService
    let language: Peer.Language
    let wire: Wire
    /// The targets of the pushes, one each.
    let targets: [String]
    var resendsUnknown = false
    /// Waits and limits: by default, waits that a test does not notice.
    var retry: RetryPolicy
    /// The answer to a request that is not a push, such as one for names of calls.
    var otherAnswer = ""

    init(_ service: any PushService, _ language: Peer.Language, _ wire: Wire, targets: [String]) {
        self.service = service
        self.language = language
        self.wire = wire
        self.targets = targets
        retry = service.retry
        (retry.shortestDelaySeconds, retry.firstDelaySeconds, retry.longestDelaySeconds) = (0, 0.01, 0.02)
    }

    private func settings(_ peer: Peer, _ folder: TemporaryFolder) throws -> SenderSettings {
        let authority = try folder.write("ca.pem", peer.address.authorityPEM)
        var settings = SenderSettings(
            service,
            endpoint: Endpoint(host: peer.address.host, port: peer.address.port, certificateAuthorityFile: authority),
            credentials: .fixed(FixedTokenSource(basic: AppSecret(topic: "app", secret: "secret"))),
            options: PushOptions(topic: "app", pushType: .alert, priority: .high), runSeed: .random())
        settings.retry = retry
        settings.wire = wire
        settings.resendsUnknown = resendsUnknown
        return settings
    }

    private func source() -> BoundedQueue<PushBatch> {
        let source = BoundedQueue<PushBatch>(capacity: 1)
        var batch = PushBatch()
        for (recipient, target) in targets.enumerated() {
            batch.append(recipient: recipient, token: target, payload: Array(service.probe.payload.utf8))
        }
        source.put(batch)
        source.close()
        return source
    }

    /// Sends the pushes.
    /// - Parameter answer: the answer to the push request of a number, from 1 on, with its body.
    /// - Returns: how it ended, and the settlements by recipient.
    func send(_ answer: (Int, [UInt8]) -> PeerAnswer) throws -> (end: RunEnd, settlements: [Settlement]) {
        let peer = try Peer(language), folder = try TemporaryFolder()
        let results = BoundedQueue<[Settlement]>(capacity: 10_000), source = source()
        let sender = try Sender(try settings(peer, folder)), isOver = Flag()
        let thread = try WorkerThread("send") {
            defer { isOver.isSet.store(true, ordering: .releasing) }
            return sender.run(source: source, results: results, control: SendControl())
        }
        var answered: [Int] = [], pushes = 0
        while !isOver.isSet.load(ordering: .acquiring) {
            peer.turn()
            while answered.count < peer.sessions.count { answered.append(0) }
            for (index, session) in peer.sessions.enumerated() {
                while answered[index] < session.requests.count, session.requests[answered[index]].isComplete {
                    let number = answered[index], request = session.requests[number]
                    answered[index] += 1
                    guard request.headers[":method"] == "POST" else {
                        session.answer(number, body: otherAnswer)
                        continue
                    }
                    pushes += 1
                    session.answer(number, answer(pushes, request.body))
                }
            }
        }
        let end = thread.join()
        var settlements: [Settlement] = []
        while let group = results.take() { settlements += group }
        return (end, settlements.sorted { $0.recipient < $1.recipient })
    }
}
