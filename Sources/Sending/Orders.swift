public import Workspace
public import Base
import Delivery
import Glibc
public import Runs

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
