import Base
package import Runs
package import Simulators

/// A comparison of a run's report with the ledger of the simulator that it was sent to. The ledger has the pushes of one process only.
public struct LedgerCheck: Sendable {
    /// Whether the simulator accepted as many pushes as the report says.
    public let agrees: Bool
    /// The comparison in one sentence.
    public let text: String

    /// Compares the figures: every accepted recipient must be in the ledger, and any other device that it accepted must be unknown in the
    /// report.
    /// - Parameter before: how many recipients the simulators of earlier processes accepted.
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
