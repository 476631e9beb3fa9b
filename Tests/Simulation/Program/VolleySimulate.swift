import Base
import Glibc

/// `volley-simulate [--seeds COUNT] [--first SEED] [--threads N]` runs many campaigns;
/// `volley-simulate --seed SEED` runs one, and shows everything that happens in it. Exit code 0 if
/// everything held, 1 if not, 2 for a mistake in the command, 3 for a failed precondition.
@main enum VolleySimulate {
    static func main() {
        TrapReport.install()
        var options = Options(CommandLine.arguments.dropFirst())
        if let seed = options.take("--seed") { return replay(seed) }
        let count = options.take("--seeds") ?? 1_000_000
        let first = options.take("--first") ?? 0
        let threads = options.take("--threads") ?? UInt64(availableCores())
        options.finish()
        simulate(first..<first + count, threads: Int(min(threads, 64)))
    }

    private static func replay(_ seed: UInt64) {
        TrapReport.note(seed, worker: 0)
        let campaign = SimulatedCampaign(seed: seed, isTraced: true)
        campaign.run()
        let commands = SimulatedFolder.runAll(of: seed) { Output.say($0) }
        if let violation = campaign.violation ?? commands.violation ?? SimulatedShares.violation(of: seed) {
            Output.say("FAILED: \(SimulationRun.Failure(seed: seed, violation: violation))")
            exit(1)
        }
        Output.say("Everything held.")
    }

    private static func simulate(_ seeds: Range<UInt64>, threads: Int) {
        let clock = ContinuousClock()
        let start = clock.now
        let progress = ProgressLine(total: seeds.count)
        let result = SimulationRun(seeds: seeds, threads: threads).run { progress.show($0) }
        progress.clear()
        let tenths = Int((clock.now - start) / .milliseconds(100))
        let rate = result.tally.campaigns * 10 / max(1, tenths)
        Output.say("\(tenths / 10).\(tenths % 10) s on \(threads) threads, \(rate) campaigns a second")
        guard result.failures.isEmpty else {
            for failure in result.failures { Output.say("FAILED: \(failure)") }
            exit(1)
        }
        Output.say("Everything held.")
    }
}

/// Options that take a number.
private struct Options {
    private var arguments: [String]

    init(_ arguments: some Sequence<String>) { self.arguments = Array(arguments) }

    mutating func take(_ name: String) -> UInt64? {
        guard let index = arguments.firstIndex(of: name) else { return nil }
        guard index + 1 < arguments.count, let number = UInt64(arguments[index + 1]) else {
            fail("\(name) takes a number")
        }
        arguments.removeSubrange(index...index + 1)
        return number
    }

    func finish() {
        if let first = arguments.first { fail("\(first) is no option: --seed, --seeds, --first, --threads") }
    }

    private func fail(_ why: String) -> Never {
        Output.say("volley-simulate: \(why)", on: STDERR_FILENO)
        exit(2)
    }
}

/// How many campaigns are done, on a terminal.
private struct ProgressLine: Sendable {
    let total: Int
    private let isTerminal = isatty(STDERR_FILENO) == 1

    init(total: Int) { self.total = total }

    func show(_ done: Int) { write("\r\(done) of \(total) campaigns") }

    func clear() { write("\r\u{1B}[K") }

    private func write(_ text: String) {
        guard isTerminal else { return }
        var text = text
        Output.show(&text, on: STDERR_FILENO)
    }
}
