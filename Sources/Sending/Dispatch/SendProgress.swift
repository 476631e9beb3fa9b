import Base
import Synchronization

/// What has been settled so far, counted where outcomes are recorded and shown from elsewhere.
final class SendProgress: Sendable {
    private struct Counts {
        var outcomes = [Int](repeating: 0, count: Outcome.allCases.count)
    }

    private let counts = Mutex(Counts())
    /// Recipients of the run.
    let total: Int
    private let before: Int

    /// - Parameter settled: recipients by outcome before this process began.
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

    /// Recorded recipients by outcome.
    var outcomes: [Outcome: Int] {
        let values = counts.withLock { $0.outcomes }
        return Dictionary(uniqueKeysWithValues: Outcome.allCases.map { ($0, values[$0.rawValue]) })
    }

    /// Recorded recipients.
    var done: Int { counts.withLock { $0.outcomes.reduce(0, +) } }

    /// Recipients that were recorded by this process.
    var doneHere: Int { done - before }
}
