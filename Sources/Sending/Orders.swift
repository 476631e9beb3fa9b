public import Base
import Campaigns
import Cluster
import Delivery
import Glibc
public import Runs
public import Workspace

// Orders to a run that a process may be sending.

/// Pauses a run until it is woken. The process that sends it first waits for the outstanding
/// answers. A run that is paused here and not in the store that machines share is paused there, and
/// so is one that only other machines send.
/// - Returns: which machines have the order.
/// - Throws: `Diagnostic` if no process is sending it; other machines may send it, and the store
///   cannot be told.
///
/// ```swift
/// let reach = try pause(run, at: .now(), in: choice)
/// ```
public func pause(_ run: RunFile, at now: Timestamp, in choice: ProjectChoice = ProjectChoice()) throws -> OrderReach {
    let state = try run.status().state
    if try run.orderToPassOn() == .pause {
        if let why = try obstacleToPassingOn(.pause, of: run, in: choice) {
            throw isUntold(.pause, run, why, isGiven: true)
        }
        return .passedOn
    }
    // Others may send a run whose process here is gone.
    if !run.isBeingSent, !state.hasEnded || state == .stopped, try pauseInStore(run, in: choice) { return .all }
    guard run.isBeingSent, state == .running else {
        // No command resumes a run whose file may miss something.
        let gap = LedgerGap(of: run)?.diagnostic
        throw Diagnostic(
            "the run is \(state.rawValue); only a run that is being sent can be paused", file: run.place,
            remedy: gap.map { $0.remedy ?? "" } ?? pauseRemedy(state, run),
            gap?.remedies ?? waysInsteadOfPause(state, run))
    }
    try run.append(.ordered(.pause, at: now))
    return try obstacleToPassingOn(.pause, of: run, in: choice).map(OrderReach.hereOnly) ?? .all
}

private func pauseRemedy(_ state: RunState, _ run: RunFile) -> String {
    let id = run.plan.id
    return switch state {
    case .planned where isOfScheduler(run):
        "`volley schedule` sends this plan by itself, as soon as it may; `volley cancel \(id)` keeps it from being sent."
    case .planned: "A plan sends nothing by itself."
    case .running: "Its process is gone: `volley resume \(id)` resumes it."
    case .paused: "`volley resume \(id)` continues it."
    case .stopped: "It is not being sent; `volley resume \(id)` resumes it."
    case .finished, .cancelled: "`volley report \(id)` shows what was sent."
    }
}

/// What `pauseRemedy` says, as values.
private func waysInsteadOfPause(_ state: RunState, _ run: RunFile) -> [Remedy] {
    let id = run.plan.id
    return switch state {
    case .planned: isOfScheduler(run) ? [.cancel(run: id)] : []
    case .running, .paused, .stopped: [.resume(run: id)]
    case .finished, .cancelled: [.readReport(run: id)]
    }
}

/// Whether a plan was made by `volley schedule`, which sends it by itself, also when it is started
/// again.
private func isOfScheduler(_ run: RunFile) -> Bool {
    guard let settings = try? run.plan.settings.get() else { return false }
    return settings.isOfScheduler && run.plan.retryOf == nil
}

/// Lets the process that paused a run continue it, if the run may continue now.
/// - Returns: why the store could not be asked: another machine may have ended the run, and
///   then it does not continue.
/// - Throws: `Diagnostic`: the run is not paused; why it may not continue.
public func wake(_ run: RunFile, in choice: ProjectChoice) throws -> Diagnostic? {
    guard try run.status().state == .paused else {
        throw Diagnostic(
            "another volley process is sending this run", file: run.place,
            remedy: "There is nothing to do; `volley report \(run.plan.id)` shows its progress.",
            [.watch(run: run.plan.id)])
    }
    let doubt = try requireNotEnded(run, in: choice)
    try SendPermission(run, in: choice).check(.goOn)
    try run.append(.ordered(.goOn, at: .now()))
    return doubt
}

// Orders to a run that other machines send.

/// Gives an order to the machines that send a run through the store. This machine need not have its
/// file.
/// - Parameter id: the run's.
/// - Returns: false if volley.yaml names no store, or the store has no such run.
/// - Throws: `Diagnostic`: no process sends it, or its state does not allow the order; the store
///   cannot be queried.
public func give(_ order: RunOrder, toSharedRun id: String, in choice: ProjectChoice) throws -> Bool {
    guard let (project, store) = try projectWithStore(in: choice) else { return false }
    let now = Timestamp.now().adding(seconds: try store.clockOffsetSeconds())
    return try store.give(order, toRun: id, in: project.catalog(choice), at: now)
}

/// Whether machines send a run through the store at this moment.
/// - Throws: `Diagnostic`: the store cannot be queried.
public func isSentByMachines(_ id: String, in choice: ProjectChoice) throws -> Bool {
    try projectWithStore(in: choice)?.store.isBeingSent(id) ?? false
}

/// The project and its store; nil if volley.yaml names none.
private func projectWithStore(in choice: ProjectChoice) throws -> (project: Project, store: Store)? {
    guard let project = try Project.find(with: choice), let settings = project.store else { return nil }
    return (project, try StoreAddress(variable: settings.variable).open(asked: nil))
}

/// How far an order has come that was given where the run was planned.
public enum OrderReach: Sendable {
    /// It holds for all machines that send the run.
    case all
    /// It had been given before, while the store was away: now the store has it, and the other
    /// machines also stop.
    case passedOn
    /// It holds on this machine. Other machines may still send: why the store could not be told.
    case hereOnly(Diagnostic)
}

/// Passes the order that a run's file records on to the store, unless that has it.
/// - Returns: why the store could not be told; nil if it has the order.
func obstacleToPassingOn(_ order: RunOrder, of run: RunFile, in choice: ProjectChoice) throws -> Diagnostic? {
    guard try run.orderToPassOn() == order else { return nil }
    do {
        guard let settings = try projectToStop(run, in: choice)?.store else { return namesNoStore }
        // A store that does not have the run has no machines send it.
        _ = try StoreAddress(variable: settings.variable).open(asked: nil).reopen(run)?.passOn(order)
        try run.notePassedOn(order)
        return nil
    } catch { return Diagnostic(explaining: error) }
}

private var namesNoStore: Diagnostic {
    Diagnostic(
        "No volley.yaml names a store",
        remedy: "Name the file with --config FILE that names the store which the run was sent through.",
        [.ask(.nameProject)])
}

/// Why an order does not hold for the machines that may be sending a run.
/// - Parameter isGiven: whether it was given before, and holds on this machine.
func isUntold(_ order: RunOrder, _ run: RunFile, _ why: Diagnostic, isGiven: Bool) -> Diagnostic {
    let word = order == .pause ? "paused" : "cancelled"
    let state =
        isGiven
        ? "the run is \(word) on this machine, and the store can still not be told"
        : "the run was not \(word), as the store cannot be told"
    return Diagnostic(
        "\(state): other machines may be sending it. Give the order again once it can be told. \(TextFormat.capitalized(why.message))",
        file: run.place, remedy: why.remedy, why.remedies)
}

/// The volley.yaml of a run, as far as stopping it needs one; nil if none exists.
private func projectToStop(_ run: RunFile, in choice: ProjectChoice) throws -> Project? {
    try CurrentProject.file(of: run, in: choice).map { try Project.readToStop(file: $0) }
}

/// Tells the store of orders that were given on this machine while it was away, and whose processes
/// have ended here.
/// - Parameter ids: runs that the store has.
/// - Returns: the orders that it has now, by the ids of runs.
@discardableResult
func passOnOrders(ofRuns ids: [String], _ store: Store, in catalog: RunsFolder) -> [String: RunOrder] {
    var passed: [String: RunOrder] = [:]
    for id in ids where catalog.holds(id) {
        guard let run = try? catalog.open(id, readOnly: false) else { continue }
        defer { run.close() }
        guard run.sendingSince == nil, let order = try? run.orderToPassOn(), let ledger = try? store.reopen(run),
            (try? ledger.passOn(order)) != nil
        else { continue }
        try? run.notePassedOn(order)
        passed[id] = order
    }
    return passed
}

/// Pauses a run in the store that no process of this machine sends.
/// - Returns: false if no other machine sends it.
/// - Throws: `Diagnostic`: other machines may send it, and the store cannot be told.
func pauseInStore(_ run: RunFile, in choice: ProjectChoice) throws -> Bool {
    guard try run.sharedSince() != nil, !run.isWithoutStore else { return false }
    do {
        guard let settings = try projectToStop(run, in: choice)?.store else { throw namesNoStore }
        guard let ledger = try StoreAddress(variable: settings.variable).open(asked: nil).reopen(run),
            try ledger.status().state == .running
        else { return false }
        return try ledger.passOn(.pause) == .paused
    } catch { throw isUntold(.pause, run, Diagnostic(explaining: error), isGiven: false) }
}

/// Checks that a run which is paused here has not been ended by another machine, before the process
/// that sends it here has noticed.
/// - Returns: why that is not known.
/// - Throws: `Diagnostic`: it has ended.
func requireNotEnded(_ run: RunFile, in choice: ProjectChoice) throws -> Diagnostic? {
    guard try run.sharedSince() != nil, !run.isWithoutStore else { return nil }
    let state: RunState
    do {
        guard let settings = try projectToStop(run, in: choice)?.store else { return namesNoStore }
        guard let ledger = try StoreAddress(variable: settings.variable).open(asked: nil).reopen(run) else {
            return nil
        }
        state = try ledger.status().state
    } catch { return Diagnostic(explaining: error) }
    guard state.hasEnded else { return nil }
    let id = run.plan.id
    throw Diagnostic(
        "according to the store, the run is \(state.rawValue): another machine has ended it", file: run.place,
        remedy: state == .finished
            ? "`volley report \(id)` shows what was sent, once its process here has ended."
            : "Its process here also ends. Once it has, `volley resume \(id)` continues the run for all machines.",
        [state == .finished ? .readReport(run: id) : .resume(run: id)])
}

/// What cancelling a run in the store has shown.
struct StoreCancellation {
    /// What the store has forgotten: devices that count as unsent in the file may have got the
    /// push.
    var forgotten: LedgerStop?
    /// Whether the other machines had sent the rest before.
    var hasFinished = false
    /// Why there is no store to tell, although other machines may send the run; nil for most.
    var obstacle: Diagnostic?
}

/// Cancels a run in the store that no process of this machine sends, and brings its outcomes into
/// its file: others may be sending it. The caller holds the file.
/// - Throws: `Diagnostic`: other machines may send it, and the store cannot be told.
func cancelInStore(_ run: RunFile, in choice: ProjectChoice) throws -> StoreCancellation {
    guard try run.hasBegun(), !run.isWithoutStore else { return StoreCancellation() }
    let isShared = try run.sharedSince() != nil
    let project = isShared ? try projectToStop(run, in: choice) : (try? projectToStop(run, in: choice)) ?? nil
    guard let project, let settings = project.store else {
        return StoreCancellation(obstacle: isShared ? namesNoStore : nil)
    }
    guard RunToSend.goesThroughStore(run.plan, project, try run.plan.settings.get()),
        let ledger = try StoreAddress(variable: settings.variable).open(asked: nil).reopen(run)
    else { return StoreCancellation() }
    try ledger.cancelAndFetch()
    return StoreCancellation(forgotten: try ledger.forgetting(), hasFinished: try ledger.status().state == .finished)
}
