import Base
package import Reports
package import Runs

/// How sending a run ended, and what there is to say of it.
package struct RunResult {
    package let plan: RunPlan
    package let end: RunEnd
    /// nil when its file cannot be read.
    package let report: Report?
    /// The report held against the ledger of the built-in simulator, when the run was sent to it.
    package let ledger: LedgerCheck?
    /// Why the run is over, and cannot be shown whole.
    package let failure: (any Error)?

    /// Whether the devices of a test refused so often that old tokens, or the settings, are to blame.
    package var blamesSettings: Bool { plan.isTest && (report?.pointsAtSettings ?? false) }

    /// Whether everybody got it, and everything can be shown and agrees.
    package var isClean: Bool { failure == nil && (report?.isClean ?? false) && (ledger?.agrees ?? true) }
}
