import Base
import Cryptography
import Delivery
import Glibc
import PushServices

/// The sender alone in its own process: payloads are ready in memory, and outcomes are only counted. No run file, no rendering.
struct TransportBenchmark {
    let settings: SenderSettings
    let pushes: Int
    let target: (Int) -> String
    let payload: String

    private static let batchSize = 1000

    /// What delivery alone cost, without starting the process and making the payloads.
    struct Result {
        var seconds: Double
        var cpuSeconds: Double
        var accepted: Int

        /// One line of JSON for the measuring process.
        var json: String { "{\"seconds\":\(Self.microseconds(seconds)),\"cpu\":\(Self.microseconds(cpuSeconds)),\"accepted\":\(accepted)}" }

        /// Reads the line of JSON, in which both times are whole microseconds.
        init(json text: String) throws {
            let document = try JSONValue(parsing: text)
            guard let seconds = document["seconds"]?.integerValue, let cpu = document["cpu"]?.integerValue,
                let accepted = document["accepted"]?.integerValue
            else { throw Diagnostic("no result of the transport alone: \(text.prefix(200))") }
            self.init(seconds: Double(seconds) / 1e6, cpuSeconds: Double(cpu) / 1e6, accepted: Int(accepted))
        }

        init(seconds: Double, cpuSeconds: Double, accepted: Int) {
            self.seconds = seconds
            self.cpuSeconds = cpuSeconds
            self.accepted = accepted
        }

        private static func microseconds(_ seconds: Double) -> Int { Int((seconds * 1e6).rounded()) }
    }

    func run() throws -> Result {
        let sender = try Sender(settings)
        let source = fullSource()
        let results = BoundedQueue<[Settlement]>(capacity: 64)
        let counter = try WorkerThread("count") {
            var accepted = 0
            while let group = results.take() { accepted += group.count { $0.outcome == .accepted } }
            return accepted
        }
        let cpuBefore = Self.cpuNow(), start = ContinuousClock.now
        _ = sender.run(source: source, results: results, control: SendControl())
        let accepted = counter.join()
        return Result(seconds: (ContinuousClock.now - start) / .seconds(1), cpuSeconds: Self.cpuNow() - cpuBefore, accepted: accepted)
    }

    private func fullSource() -> BoundedQueue<PushBatch> {
        let source = BoundedQueue<PushBatch>(capacity: pushes / Self.batchSize + 1)
        let payload = Array(payload.utf8)
        for start in stride(from: 0, to: pushes, by: Self.batchSize) {
            var batch = PushBatch()
            for push in start..<min(start + Self.batchSize, pushes) {
                batch.append(recipient: push, token: target(push), payload: payload)
            }
            source.put(batch)
        }
        source.close()
        return source
    }

    /// Returns the CPU time of all threads of this process.
    static func cpuNow() -> Double {
        var usage = rusage()
        getrusage(RUSAGE_SELF.rawValue, &usage)
        return usage.cpuSeconds
    }
}
