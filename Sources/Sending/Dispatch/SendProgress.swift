import Base
import Synchronization

/// The outcomes so far. The recorder's thread counts them, and another thread shows them.
final class SendProgress: Sendable {
    private struct Counts {
        var outcomes = [Int](repeating: 0, count: Outcome.allCases.count)
        /// What other machines have recorded since this sending began.
        var elsewhere = [Int](repeating: 0, count: Outcome.allCases.count)
    }

    private let counts = Mutex(Counts())
    /// How many recipients the run has.
    let total: Int
    private let before: Int

    /// - Parameter settled: the recipients by outcome before this sending began.
    package init(total: Int, settled: [Outcome: Int] = [:]) {
        self.total = total
        before = settled.values.reduce(0, +)
        counts.withLock { counts in
            for (outcome, count) in settled { counts.outcomes[outcome.rawValue] = count }
        }
    }

    func add(_ settlements: [Settlement]) {
        counts.withLock { counts in
            for settlement in settlements { counts.outcomes[settlement.outcome.rawValue] += 1 }
        }
    }

    /// Notes what other machines have recorded since this sending began, in place of what was noted of it before.
    func note(elsewhere outcomes: [Outcome: Int]) {
        counts.withLock { counts in
            for outcome in Outcome.allCases { counts.elsewhere[outcome.rawValue] = outcomes[outcome, default: 0] }
        }
    }

    /// Recorded recipients by outcome.
    var outcomes: [Outcome: Int] {
        let counts = counts.withLock { $0 }
        return Dictionary(
            uniqueKeysWithValues: Outcome.allCases.map { ($0, counts.outcomes[$0.rawValue] + counts.elsewhere[$0.rawValue]) })
    }

    /// How many recipients are recorded.
    var done: Int { counts.withLock { $0.outcomes.reduce(0, +) + $0.elsewhere.reduce(0, +) } }

    /// How many recipients this sending has recorded.
    var doneHere: Int { counts.withLock { $0.outcomes.reduce(0, +) } - before }
}
