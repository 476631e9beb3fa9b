import Base
import Synchronization

/// Recipients by outcome, over all runs that this process has sent.
final class PushCounter: Sendable {
    struct Label: Hashable, Sendable { var app: String, campaign: String, outcome: Outcome }

    private let values = Mutex<[Label: Int]>([:])

    func add(app: String, campaign: String, _ settlements: [Settlement]) {
        var counts = [Int](repeating: 0, count: Outcome.allCases.count)
        for settlement in settlements { counts[settlement.outcome.rawValue] += 1 }
        values.withLock { values in
            for outcome in Outcome.allCases where counts[outcome.rawValue] > 0 {
                values[Label(app: app, campaign: campaign, outcome: outcome), default: 0] += counts[outcome.rawValue]
            }
        }
    }

    /// The counts, in a fixed order.
    var counts: [(label: Label, count: Int)] {
        values.withLock { $0 }.sorted {
            ($0.key.app, $0.key.campaign, $0.key.outcome.rawValue) < ($1.key.app, $1.key.campaign, $1.key.outcome.rawValue)
        }
        .map { ($0.key, $0.value) }
    }
}
