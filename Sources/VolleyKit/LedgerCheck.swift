import APNsSimulator
import Base
import Runs

/// The report of a run held against the ledger of the simulator that it was sent to.
struct LedgerCheck {
    let agrees: Bool
    let text: String

    /// Every accepted recipient must stand in the ledger, and whatever else does must be unknown to the report.
    init(_ ledger: LedgerSummary, figures: RunFigures) {
        let accepted = figures.outcomes[.accepted] ?? 0
        let unknown = figures.outcomes[.unknown] ?? 0
        agrees = (accepted...accepted + unknown).contains(ledger.acceptedTokens)
        let seen =
            "The simulator's ledger: \(TextFormat.count(ledger.requests)) requests, \(TextFormat.count(ledger.acceptedTokens)) devices accepted"
        text =
            agrees
            ? "\(seen); the report agrees."
            : "\(seen); the report says \(TextFormat.count(accepted)). They should agree: please report this as a mistake of Volley."
    }
}
