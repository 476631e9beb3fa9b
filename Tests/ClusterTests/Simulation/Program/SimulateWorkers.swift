import Base
import Glibc
import Synchronization

/// `volley-simulate-workers [--seeds COUNT] [--first SEED] [--threads N] [--breakage NAME]` plays
/// many histories of a run that several workers send; `--seed SEED` plays one and shows what
/// happens in it. Exit code 0 if everything held, 1 if not, 2 for a mistake in the command.
@main enum SimulateWorkers {
    static func main() {
        var options: [String: String] = [:]
        var arguments = CommandLine.arguments.dropFirst()
        while let name = arguments.popFirst() {
            guard let value = arguments.popFirst(),
                ["--seeds", "--first", "--threads", "--breakage", "--seed"].contains(name)
            else {
                complain()
            }
            options[name] = value
        }
        let breakage = options["--breakage"].map(breakage(_:))
        if let seed = number(options["--seed"]) { return replay(seed, breakage) }
        let first = number(options["--first"]) ?? 0
        let seeds = first..<first + (number(options["--seeds"]) ?? 1_000_000)
        let threads = number(options["--threads"]).map(Int.init) ?? availableCores()
        simulate(WorkerHistories(seeds: seeds, breakage: breakage), threads: min(max(1, threads), 64))
    }

    private static func number(_ text: String?) -> UInt64? {
        guard let text else { return nil }
        guard let number = UInt64(text) else { complain() }
        return number
    }

    private static func breakage(_ name: String) -> WorkerWorld.Breakage {
        guard let breakage = WorkerWorld.Breakage(rawValue: name) else { complain() }
        return breakage
    }

    private static func complain() -> Never {
        print("volley-simulate-workers takes --seeds COUNT, --first SEED, --threads N, --seed SEED and --breakage NAME")
        exit(2)
    }

    /// Plays one history and shows what happens in it.
    private static func replay(_ seed: UInt64, _ breakage: WorkerWorld.Breakage?) {
        var world = WorkerWorld(seed: seed, breakage: breakage) { print($0) }
        world.run()
        for failure in world.failures { print("FAILED: \(failure)") }
        if !world.failures.isEmpty { exit(1) }
        print("Everything held.")
    }

    private static func simulate(_ histories: WorkerHistories, threads: Int) {
        let clock = ContinuousClock()
        let start = clock.now
        let result = histories.play(threads: threads)
        let seconds = max(0.1, Double((clock.now - start) / .milliseconds(1)) / 1_000)
        for situation in Situation.allCases { print("\(situation): \(result.counts[situation])") }
        print(
            "\(result.played) histories in \(Int(seconds)) s on \(threads) threads, \(Int(Double(result.played) / seconds)) a second"
        )
        for failure in result.failures.prefix(20) {
            print("FAILED: \(failure.what)\n  make simulate-workers SEED=\(failure.seed)")
        }
        print(result.failures.isEmpty ? "Everything held." : "\(result.failures.count) of them failed.")
        if !result.failures.isEmpty { exit(1) }
    }
}

/// Many histories, in blocks on several threads; no thread takes more once twenty have failed.
struct WorkerHistories: Sendable {
    struct Result: Sendable {
        var counts = Counts()
        var played = 0
        var failures: [(seed: UInt64, what: String)] = []
    }

    private final class Shared: Sendable {
        let next: Atomic<UInt64>
        let failed = Atomic(0)
        init(first: UInt64) { next = Atomic(first) }
    }

    private static let blockSize: UInt64 = 64

    var seeds: Range<UInt64>
    var breakage: WorkerWorld.Breakage?

    func play(threads: Int) -> Result {
        let shared = Shared(first: seeds.lowerBound)
        let workers = (0..<threads).map { _ in
            do { return try WorkerThread("members") { play(shared) } } catch { fatalError("\(error)") }
        }
        var result = Result()
        for worker in workers {
            let part = worker.join()
            result.counts.add(part.counts)
            result.played += part.played
            result.failures += part.failures
        }
        result.failures.sort { $0.seed < $1.seed }
        return result
    }

    private func play(_ shared: Shared) -> Result {
        var result = Result()
        while shared.failed.load(ordering: .relaxed) < 20 {
            let first = shared.next.add(Self.blockSize, ordering: .relaxed).oldValue
            guard first < seeds.upperBound else { break }
            for seed in first..<min(first + Self.blockSize, seeds.upperBound) {
                var world = WorkerWorld(seed: seed, breakage: breakage)
                world.run()
                result.counts.add(world.counts)
                result.played += 1
                guard let failure = world.failures.first else { continue }
                result.failures.append((seed, failure))
                shared.failed.add(1, ordering: .relaxed)
            }
        }
        return result
    }
}
