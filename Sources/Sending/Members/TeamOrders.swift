import Base
import Campaigns
import PostgresRuns
public import Runs
public import Workspace

// Orders to a run that other machines send.

/// Gives an order to the machines that send a run through the store. This machine need not have its file.
/// - Parameter id: the run's.
/// - Returns: false if volley.yaml names no store, or the store has no such run.
/// - Throws: `Diagnostic`: nobody sends it, or it is in a state in which the order makes no sense; the store cannot be asked.
public func give(_ order: RunOrder, toSharedRun id: String, in choice: ProjectChoice) throws -> Bool {
    guard let (project, store) = try projectWithStore(in: choice) else { return false }
    let now = Timestamp.now().adding(seconds: try store.clockOffsetSeconds())
    return try store.give(order, toRun: id, in: project.catalog(choice), at: now)
}

/// Whether machines send a run through the store at this moment.
/// - Throws: `Diagnostic`: the store cannot be asked.
public func isSentByMachines(_ id: String, in choice: ProjectChoice) throws -> Bool {
    try projectWithStore(in: choice)?.store.isBeingSent(id) ?? false
}

/// The project and its store; nil if volley.yaml names none.
private func projectWithStore(in choice: ProjectChoice) throws -> (project: Project, store: Store)? {
    guard let project = try Project.find(with: choice), let settings = project.store else { return nil }
    return (project, try StoreAddress(variable: settings.variable).open(asked: nil))
}

/// Cancels a run in the store that no process of this machine sends, and brings what became of it into its file: others may be sending it. The caller holds
/// the file.
/// - Returns: what the store has forgotten: devices of whom the file says that they were never sent to may have got the push.
func cancelInStore(_ run: RunFile, in choice: ProjectChoice) throws -> LedgerStop? {
    guard try run.hasBegun(), let project = try? CurrentProject(of: run, in: choice).project,
        let settings = project.store, RunToSend.isForTeam(run.plan, project, try run.plan.settings.get()),
        !run.isWithoutStore
    else { return nil }
    guard let ledger = try StoreAddress(variable: settings.variable).open(asked: nil).reopen(run) else { return nil }
    try ledger.cancelAndFetch()
    return try ledger.forgetting()
}
