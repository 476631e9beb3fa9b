public import Workspace
public import Base
import Campaigns
public import Runs

/// Characters of a name at most.
private let longestName = 100

/// A name as it is recorded.
/// - Throws: `Diagnostic` if it cannot be.
public func approver(_ name: String) throws -> String {
    let name = name.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    guard !name.isEmpty, name.count <= longestName, name.unicodeScalars.allSatisfy({ !$0.properties.isDefaultIgnorableCodePoint }),
        !name.unicodeScalars.contains(where: { $0.properties.generalCategory == .control })
    else {
        throw Diagnostic(
            "--by needs the name of the person who approves, at most \(longestName) characters", remedy: "For example: --by 'Anna Roth'.")
    }
    return name
}

/// What can be approved: a plan that is as it was previewed, and goes where volley.yaml sends it; or a run that has stopped, when approval was
/// demanded only after it was begun, or is paused then.
public func checkApprovable(_ run: any RecordedRun, in choice: ProjectChoice) throws -> RunSettings {
    let state = try run.status().state
    let isStopped =
        try [.stopped, .paused, .cancelled].contains(state) && run.hasBegun() && run.approval() == nil
        && (state == .paused || run.sendingSince == nil)
    guard state == .planned || isStopped else {
        throw Diagnostic(
            "the run is \(state.rawValue); only a plan can be approved", file: run.place,
            remedy: state == .stopped
                ? "It was approved before: `volley resume \(run.plan.id)` continues it."
                : "`volley report \(run.plan.id)` shows its progress.")
    }
    guard run.hasDigest else {
        throw Diagnostic("a plan of this older format cannot be approved", file: run.place, remedy: "Plan the campaign again.")
    }
    let settings = try run.plan.settings.get()
    try run.checkPlace(home: settings.runsFolder)
    try run.checkUnchanged()
    for present in try CurrentProject.all(of: run, in: choice) { try present.checkUnchanged(settings) }
    return settings
}

/// Records that a person approves sending the run exactly as it is. Call `checkApprovable` first.
/// - Returns: what was recorded, and what went wrong beside it.
/// - Throws: `Diagnostic`: it was replaced, or another command holds it.
public func approve(_ run: any RecordedRun, by name: String, at now: Timestamp) throws -> (approval: RunApproval, warning: String?) {
    // A run that has stopped may be pruned at any time, which puts another file in its place; a plan may not, and may be about to begin. Nor may one
    // that a process has paused.
    if try run.status().state != .planned, run.sendingSince == nil { try run.lockForSending(isSending: false) }
    try run.checkNotReplaced()
    let approval = RunApproval(name: name, approvedAt: now)
    try run.approve(approval)
    // It is approved by now, whatever becomes of the files that SQLite lays beside it.
    do { try run.closeIntoOneFile() } catch { return (approval, "\(error)") }
    return (approval, nil)
}
