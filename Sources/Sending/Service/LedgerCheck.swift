import Base
package import Runs
package import Simulators

/// A comparison of a run's report with the ledger of the simulator that it was sent to. The ledger
/// has the pushes of one process only.
public struct LedgerCheck: Sendable {
    /// Whether the simulator accepted as many pushes as the report says.
    public let agrees: Bool
    /// The comparison in one sentence.
    public let text: String

    /// Compares the figures: every accepted recipient must be in the ledger, and any other device
    /// that it accepted must be unknown in the report.
    /// - Parameters:
    ///   - ledgers: those of the simulators, by the numbers of their services.
    ///   - before: the run's figures before this process, whose simulators have a ledger of their
    ///     own.
    package init(
        _ ledgers: [Int: LedgerSummary], figures: RunFigures, acceptedBefore earlier: RunFigures = RunFigures()
    ) {
        func count(_ outcome: Outcome, of service: Int, _ figures: RunFigures) -> Int {
            figures.figures(ofService: service).outcomes[outcome] ?? 0
        }
        let before = ledgers.keys.reduce(0) { $0 + count(.accepted, of: $1, earlier) }
        let accepted = ledgers.keys.reduce(0) { $0 + count(.accepted, of: $1, figures) } - before
        agrees = ledgers.allSatisfy { number, ledger in
            let accepted = count(.accepted, of: number, figures) - count(.accepted, of: number, earlier)
            return (accepted...accepted + count(.unknown, of: number, figures)).contains(ledger.acceptedTokens)
        }
        let requests = ledgers.values.reduce(0) { $0 + $1.requests },
            devices = ledgers.values.reduce(0) { $0 + $1.acceptedTokens }
        let whose = ledgers.count > 1 ? "The simulators' ledgers" : "The simulator's ledger"
        let seen = "\(whose): \(TextFormat.count(requests)) requests, \(TextFormat.count(devices)) devices accepted"
        text =
            agrees
            ? "\(seen); the report agrees."
            : "\(seen); the report says \(TextFormat.count(accepted))\(before > 0 ? " since it was resumed" : ""). They should agree. Please report this: it is a defect in Volley."
    }
}
