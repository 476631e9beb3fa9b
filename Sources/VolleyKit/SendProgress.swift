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
    init(total: Int, settled: [Outcome: Int] = [:]) {
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

    /// A line for a person: `sending  45.2 %  9,040 of 20,000  500/s  22 s left  at the pace of 500/s  9,001 accepted, 39 invalid_token`. What it waits for stands
    /// before the outcomes, as a narrow terminal cuts the end.
    /// - Parameters:
    ///   - rate: pushes per second over the last moments.
    ///   - wait: what it waits for, in words; nil for nothing.
    func line(rate: Double, waitingFor wait: String? = nil) -> String {
        let outcomes = outcomes
        let done = outcomes.values.reduce(0, +)
        var line = "sending  \(TextFormat.percent(total == 0 ? 1 : Double(done) / Double(total)))"
        line += "  \(TextFormat.count(done)) of \(TextFormat.count(total))  \(TextFormat.count(Int(rate)))/s"
        if rate >= 1, done < total { line += "  \(TextFormat.duration(seconds: Double(total - done) / rate)) left" }
        if let wait { line += "  \(wait)" }
        let parts = Outcome.allCases.compactMap { outcome in
            outcomes[outcome].flatMap { $0 > 0 ? "\(TextFormat.count($0)) \(outcome.name)" : nil }
        }
        return line + (parts.isEmpty ? "" : "  " + parts.joined(separator: ", "))
    }
}
