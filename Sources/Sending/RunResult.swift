public import Base
public import Reports
public import Runs

/// The result of sending a run.
public struct RunResult: Sendable {
    /// The run's plan.
    public let plan: RunPlan
    /// How the run ended.
    public let end: RunEnd
    /// The run's report; nil if its file cannot be read.
    public let report: Report?
    /// The comparison of the report with the built-in simulator's ledger; nil if the run was not sent to it.
    public let ledger: LedgerCheck?
    /// Why the finished sending cannot be shown in full; nil if it can.
    public let failure: (any Error)?

    /// Whether the service refused the devices of a test so often that old tokens or the settings are to blame.
    public var blamesSettings: Bool { plan.isTest && (report?.pointsAtSettings ?? false) }

    /// Whether the report is clean and complete, and agrees with the simulator's ledger if there is one.
    public var isClean: Bool { failure == nil && (report?.isClean ?? false) && (ledger?.agrees ?? true) }
}
