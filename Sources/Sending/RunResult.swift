import Base
public import Reports
public import Runs

/// How sending a run ended, and what there is to say of it.
public struct RunResult: Sendable {
    /// What was planned.
    public let plan: RunPlan
    /// How the run ended.
    public let end: RunEnd
    /// nil when its file cannot be read.
    public let report: Report?
    /// The report compared with the ledger of the built-in simulator, if the run was sent to it.
    public let ledger: LedgerCheck?
    /// Why the run is over, and cannot be shown whole.
    public let failure: (any Error)?

    /// Whether the devices of a test refused so often that old tokens, or the settings, are to blame.
    public var blamesSettings: Bool { plan.isTest && (report?.pointsAtSettings ?? false) }

    /// Whether everybody got it, and everything can be shown and agrees.
    public var isClean: Bool { failure == nil && (report?.isClean ?? false) && (ledger?.agrees ?? true) }
}
