package import Simulators
import Base
package import Runs
package import Simulators

/// Compares the report of a run with the ledger of the simulator that it was sent to. The ledger knows the pushes of one process only.
public struct LedgerCheck: Sendable {
    /// Whether the simulator accepted as many pushes as the report says.
    public let agrees: Bool
    /// The comparison in one sentence.
    public let text: String

    /// Every accepted recipient must stand in the ledger, and whatever else does must be unknown to the report.
    /// - Parameter before: accepted by simulators of processes that sent the run earlier.
    package init(_ ledger: LedgerSummary, figures: RunFigures, acceptedBefore before: Int = 0) {
        let accepted = (figures.outcomes[.accepted] ?? 0) - before
        let unknown = figures.outcomes[.unknown] ?? 0
        agrees = (accepted...accepted + unknown).contains(ledger.acceptedTokens)
        let seen =
            "The simulator's ledger: \(TextFormat.count(ledger.requests)) requests, \(TextFormat.count(ledger.acceptedTokens)) devices accepted"
        text =
            agrees
            ? "\(seen); the report agrees."
            : "\(seen); the report says \(TextFormat.count(accepted))\(before > 0 ? " since it was resumed" : ""). They should agree. Please report this: it is a defect in Volley."
    }
}
