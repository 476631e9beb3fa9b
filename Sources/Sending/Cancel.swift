import Workspace
import Base
import Campaigns
public import Runs

/// Ends a run for good: who was not sent to stays unsent. A process that sends it awaits the answers that are under way, and ends.
/// - Returns: what went wrong beside it, in sentences: it is cancelled all the same.
/// - Throws: `Diagnostic`: it is over, or another command holds it.
public func cancel(_ run: any RecordedRun) throws -> [String] {
    var warnings: [String] = []
    // So long another command may be at work with the run without sending it: while it begins, is retried or is pruned.
    var retries = Retries(atMost: 250, milliseconds: 20)
    while try !cancel(run, isLast: retries.left == 0, warnings: &warnings) { _ = retries.pause() }
    return warnings
}

/// - Returns: false when another command is at work with the run just now.
/// - Throws: why it cannot be cancelled; when it `isLast`, also that another command is at work with it.
private func cancel(_ run: any RecordedRun, isLast: Bool, warnings: inout [String]) throws -> Bool {
    let state = try run.status().state
    guard state != .finished, state != .cancelled else {
        throw Diagnostic(
            "the run is already \(state.rawValue)", file: run.place, remedy: "`volley report \(run.plan.id)` shows its outcomes.")
    }
    if run.sendingSince != nil {
        // The process that sends it would not see what is written here.
        if let gap = LedgerGap(of: run), !gap.isUnreadable { throw gap.diagnostic }
        if state == .running || state == .paused {
            try run.give(.cancel, at: .now())
            return true
        }
    }
    // No other command may begin, retry or replace it meanwhile.
    do { try run.lockForSending(isSending: false) } catch {
        guard isLast || !run.isBeingSent else { return false }
        throw error
    }
    try run.checkNotReplaced()
    noteCancelled(run, warnings: &warnings)
    // A killed process left `running` behind.
    try run.setState(.cancelled, cause: .cancelled, at: .now(), from: [.planned, .running, .paused, .stopped])
    if let gap = LedgerGap(of: run) { warnings.append("\(gap.diagnostic)") }
    // It is cancelled by now, whatever becomes of the files that SQLite lays beside it.
    do { try run.closeIntoOneFile() } catch { warnings.append("\(error)") }
    return true
}

/// Of a plan of which nothing was begun the record beside it says that it is cancelled, as a copy of its file would say nothing of that. A time that
/// `volley schedule` has planned it for is not planned again either.
private func noteCancelled(_ run: any RecordedRun, warnings: inout [String]) {
    do {
        let record = run.catalog.history
        // One that was noted, and not begun, may have been killed between the two.
        guard try !run.hasBegun(), try record.entry(of: run.plan.id).map({ try $0.previousLife == run.life() }) ?? true else { return }
        let (scheduledRuns, _) = try run.catalog.schedule.read()
        let settings = try run.plan.settings.get()
        let time = ScheduledTime.onRecord(run, settings)
        // schedule.sqlite may have been lost.
        let others = scheduledRuns.filter {
            $0.run != run.plan.id && $0.key.campaign == time?.campaign && $0.key.occurrence == time?.occurrence
        }
        let isFired = settings.isOfScheduler && run.plan.retryOf == nil
        let hasTime = scheduledRuns.contains { $0.run == run.plan.id } || isFired && others.isEmpty
        try record.noteCancelled(run.plan.id, having: hasTime ? time : nil)
    } catch { warnings.append("The cancellation is in the run's file only, not in the record next to it. \(error)") }
}
