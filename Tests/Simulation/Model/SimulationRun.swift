import Base
import Synchronization

/// Many campaigns on several threads.
struct SimulationRun: Sendable {
    struct Failure: Sendable {
        var seed: UInt64
        var violation: Violation
    }

    struct Result: Sendable {
        var tally = Tally()
        /// What the commands on folders of runs met.
        var met: Set<String> = []
        /// The first seeds that failed, ascending.
        var failures: [Failure] = []
    }

    /// The number of seeds that a thread takes at a time.
    private static let blockSize = 64

    private final class Shared: Sendable {
        let next: Atomic<UInt64>
        let done = Atomic<Int>(0)
        let hasFailed = Atomic(false)
        init(first: UInt64) { next = Atomic(first) }
    }

    var seeds: Range<UInt64>
    var threads: Int

    /// Runs all seeds, or up to the first failures: no thread takes more once one has failed.
    /// - Parameter progress: called from time to time by one of the threads, with the number of
    ///   campaigns done.
    func run(progress: @escaping @Sendable (Int) -> Void = { _ in }) -> Result {
        let shared = Shared(first: seeds.lowerBound)
        let workers = (0..<max(1, threads)).map { index in
            do { return try WorkerThread("simulate") { work(shared, index, progress) } } catch {
                fatalError("\(error)")
            }
        }
        var result = Result()
        for worker in workers {
            let part = worker.join()
            result.tally.add(part.tally)
            result.met.formUnion(part.met)
            result.failures += part.failures
        }
        result.failures.sort { $0.seed < $1.seed }
        return result
    }

    private func work(_ shared: Shared, _ index: Int, _ progress: (Int) -> Void) -> Result {
        var result = Result()
        while !shared.hasFailed.load(ordering: .relaxed) {
            let first = shared.next.add(UInt64(Self.blockSize), ordering: .relaxed).oldValue
            guard first < seeds.upperBound else { break }
            for seed in first..<min(first + UInt64(Self.blockSize), seeds.upperBound) {
                TrapReport.note(seed, worker: index)
                let campaign = SimulatedCampaign(seed: seed)
                campaign.run()
                result.tally.add(campaign.tally)
                let commands = SimulatedFolder.runAll(of: seed)
                result.met.formUnion(commands.met)
                guard let violation = campaign.violation ?? commands.violation ?? SimulatedShares.violation(of: seed)
                else { continue }
                result.failures.append(Failure(seed: seed, violation: violation))
                shared.hasFailed.store(true, ordering: .relaxed)
                break
            }
            let done = shared.done.add(Self.blockSize, ordering: .relaxed).newValue
            if index == 0 { progress(min(done, seeds.count)) }
        }
        return result
    }
}

extension SimulationRun.Failure: CustomStringConvertible {
    var description: String {
        "\(violation.invariant.rawValue): \(violation.text) (seed \(seed), after \(Double(violation.time / 1_000_000) / 1000) s)\n"
            + "  \(SimulationRun.replay(seed))"
    }
}

extension SimulationRun {
    /// The command that shows what happened.
    static func replay(_ seed: UInt64) -> String { "make simulate SEED=\(seed)" }
}
