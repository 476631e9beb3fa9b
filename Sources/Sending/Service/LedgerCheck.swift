package import Simulators
import Base
package import Runs
package import Simulators

/// The report of a run held against the ledger of the simulator that it was sent to. The ledger knows one process's pushes alone.
package struct LedgerCheck {
    package let agrees: Bool
    package let text: String

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
            : "\(seen); the report says \(TextFormat.count(accepted))\(before > 0 ? " since it went on" : ""). They should agree: please report this as a mistake of Volley."
    }
}
