import Base
import Cryptography
import Delivery

/// The sender alone, in a process of its own: payloads lie ready in memory, outcomes are only counted. No run file, no rendering.
struct TransportBenchmark {
    let host: String
    let port: Int
    let authorityFile: String
    let keyFile: String
    let pushes: Int
    let transport: Transport

    private static let batchSize = 1000

    /// - Returns: how many were accepted.
    func run() throws -> Int {
        let tokens = ProviderTokenSource(key: try SigningKey(file: keyFile), keyID: "SIMULATOR1", teamID: "VOLLEYTEAM")
        var settings = SenderSettings(
            endpoint: Endpoint(host: host, port: port, certificateAuthorityFile: authorityFile), credentials: .token(tokens),
            headers: PushHeaders(topic: "com.example.shop", pushType: .alert, priority: .high), runSeed: .random())
        settings.transport = transport
        let sender = try Sender(settings)
        let source = BoundedQueue<PushBatch>(capacity: pushes / Self.batchSize + 1)
        let payload = Array(SenderBenchmark.payload.utf8)
        for start in stride(from: 0, to: pushes, by: Self.batchSize) {
            var batch = PushBatch()
            for push in start..<min(start + Self.batchSize, pushes) {
                batch.append(recipient: push, token: SenderBenchmark.token(push), payload: payload)
            }
            source.put(batch)
        }
        source.close()
        let results = BoundedQueue<[Settlement]>(capacity: 64)
        let counter = WorkerThread("count") {
            var accepted = 0
            while let group = results.take() { accepted += group.count { $0.outcome == .accepted } }
            return accepted
        }
        _ = sender.run(source: source, results: results, control: SendControl())
        return counter.join()
    }
}
