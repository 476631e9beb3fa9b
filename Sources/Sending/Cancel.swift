public import Workspace
public import Base
import Campaigns
import Reports
public import Runs

/// Ends a run for good: devices without a push stay unsent. A process that sends it waits for the
/// outstanding answers, and ends. A run that is cancelled here and perhaps not in the store that
/// machines share is cancelled there.
/// - Parameters:
///   - cause: what the run's file says of it, if no process sends the run.
///   - planOnly: refuses a run that is no plan any more, also one that began while this waited for
///     it; the past participle of what is done to the plan. nil for a run in any state.
/// - Returns: which machines have the order; warnings, in sentences: the run is cancelled anyway.
/// - Throws: `Diagnostic`: the run is over, or another command holds it; other machines may send
///   it, and the store cannot be asked.
///
/// ```swift
/// let warnings = try cancel(run, in: choice).warnings
/// ```
public func cancel(
    _ run: RunFile, because cause: StopCause = .cancelled, in choice: ProjectChoice = ProjectChoice(),
    planOnly: String? = nil
) throws -> (reach: OrderReach, warnings: [String]) {
    var warnings: [String] = []
    // Another command may hold the run this long without sending it: while it begins, retries or
    // prunes the run.
    var retries = Retries(atMost: 250, milliseconds: 20)
    while true {
        if let planOnly { try checkIsPlan(run, planOnly) }
        if let reach = try cancel(run, because: cause, in: choice, (planOnly, retries.left == 0), warnings: &warnings) {
            return (reach, warnings)
        }
        _ = retries.pause()
    }
}

extension RunFile {
    /// Whether the run is cancelled here, and according to this file, other machines may still send
    /// it.
    fileprivate func mayOutliveCancellation(_ state: RunState) throws -> Bool {
        guard state == .cancelled, !isWithoutStore else { return false }
        return try orderToPassOn() == .cancel || sharedSince() != nil && sendingSince == nil
    }
}

/// Tries once to cancel a run.
/// - Parameter attempt: why only a plan may be cancelled, if so, and whether this is the last try.
/// - Returns: nil if another command holds the run at the moment.
/// - Throws: why the run cannot be cancelled; on the last try, also that another command holds it.
private func cancel(
    _ run: RunFile, because cause: StopCause, in choice: ProjectChoice, _ attempt: (planOnly: String?, isLast: Bool),
    warnings: inout [String]
) throws -> OrderReach? {
    let state = try run.status().state, isCancelledHere = try run.mayOutliveCancellation(state),
        planOnly = attempt.planOnly
    guard state != .finished, state != .cancelled || isCancelledHere else {
        throw isOver(run, "is already \(state.rawValue)")
    }
    // A plan that a process begins at this moment is waited for: then it is known whether it still
    // is one.
    if planOnly == nil, run.sendingSince != nil {
        // With a gap, the sending process would not see an order that is written here.
        if let gap = LedgerGap(of: run), !gap.isUnreadable { throw gap.diagnostic }
        if state == .running || state == .paused {
            try run.append(.ordered(.cancel, at: .now()))
            return try obstacleToPassingOn(.cancel, of: run, in: choice).map(OrderReach.hereOnly) ?? .all
        }
        if isCancelledHere {
            if let why = try obstacleToPassingOn(.cancel, of: run, in: choice) {
                throw isUntold(.cancel, run, why, isGiven: true)
            }
            return .passedOn
        }
    }
    // From here on no other command may begin, retry or replace the run.
    do { try run.lockForSending(isSending: false) } catch {
        guard attempt.isLast || !run.isBeingSent else { return nil }
        throw error
    }
    try run.checkNotReplaced()
    if let planOnly { try checkIsPlan(run, planOnly) }
    let inStore: StoreCancellation
    do { inStore = try cancelInStore(run, in: choice) } catch {
        guard try isCancelledHere || run.sharedSince() != nil else { throw error }
        throw isUntold(.cancel, run, Diagnostic(explaining: error), isGiven: isCancelledHere)
    }
    if inStore.hasFinished {
        try run.append(.state(.finished, cause: nil, at: .now(), from: [.running, .paused, .stopped, .cancelled]))
        try run.closeIntoOneFile()
        throw isOver(run, "has finished: other machines had sent the rest of it before they could be told")
    }
    if let forgotten = inStore.forgotten {
        warnings.append("\(StopCause.ledger(forgotten).sentence) Devices that count as unsent may have got the push.")
    }
    noteCancelled(run, warnings: &warnings)
    // A killed process left `running` behind.
    try run.append(
        .state(
            .cancelled, cause: inStore.forgotten.map(StopCause.ledger) ?? cause, at: .now(),
            from: Set([.planned, .running, .paused, .stopped] + (isCancelledHere ? [.cancelled] : []))))
    if let gap = LedgerGap(of: run) { warnings.append("\(gap.diagnostic)") }
    if inStore.obstacle == nil { try run.notePassedOn(.cancel) }
    // The run is cancelled, even if SQLite's extra files cannot be merged into the run file.
    do { try run.closeIntoOneFile() } catch { warnings.append("\(error)") }
    return inStore.obstacle.map(OrderReach.hereOnly) ?? (isCancelledHere ? .passedOn : .all)
}

/// There is nothing to cancel any more.
private func isOver(_ run: RunFile, _ what: String) -> Diagnostic {
    Diagnostic(
        "the run \(what)", file: run.place, remedy: "`volley report \(run.plan.id)` shows its outcomes.",
        [.readReport(run: run.plan.id)])
}

/// Notes the cancellation of a plan that never began in the record next to it: an older copy of its
/// file would not show the cancellation. `volley schedule` then does not plan the same time again
/// either.
private func noteCancelled(_ run: RunFile, warnings: inout [String]) {
    do {
        let record = run.catalog.history
        // A process may have been killed after it noted the beginning and before it began: the run
        // counts as not begun.
        guard try !run.hasBegun(),
            try record.entry(of: run.plan.id).map({ try $0.previousEpoch == run.status().epoch }) ?? true
        else {
            return
        }
        let scheduledRuns = try run.catalog.schedule.read().scheduledRuns
        let settings = try run.plan.settings.get()
        let time = ScheduledTime.onRecord(run, settings)
        // schedule.sqlite may be lost; then the plan itself shows that `volley schedule` made it.
        let others = scheduledRuns.filter {
            $0.run != run.plan.id && $0.key.campaign == time?.campaign && $0.key.occurrence == time?.occurrence
        }
        let isFired = settings.isOfScheduler && run.plan.retryOf == nil
        let hasTime = scheduledRuns.contains { $0.run == run.plan.id } || isFired && others.isEmpty
        try record.noteCancelled(run.plan.id, having: hasTime ? time : nil)
    } catch { warnings.append("The cancellation is in the run's file only, not in the record next to it. \(error)") }
}

/// Cancels the time that `volley schedule` is planning a run for: also while it waits for an
/// export.
/// - Returns: warnings, in sentences, as the time is cancelled anyway; nil when no time is planned
///   into this run.
/// - Throws: `Diagnostic`: the record of the schedule cannot be used.
public func cancelPlanning(of run: String, in catalog: RunsFolder) throws -> [String]? {
    guard try catalog.schedule.read().scheduledRuns.contains(where: { $0.run == run && $0.state == .planning }) else {
        return nil
    }
    let store = try catalog.schedule.open()
    defer { store.close() }
    guard let time = try store.cancelPlanning(of: run, at: .now()) else { return nil }
    do {
        // Also a plan that is finished at this moment is sent by no other command then.
        try catalog.history.noteCancelled(
            run,
            having: SendingHistory.Time(
                campaign: time.key.campaign, occurrence: time.key.occurrence, file: FilePaths.named(time.file),
                realFile: FilePaths.absolute(time.file)))
        return []
    } catch {
        return ["The cancellation is in the record of the schedule only, not in that of what was sent. \(error)"]
    }
}
