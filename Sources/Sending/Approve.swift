public import Workspace
public import Base
import Campaigns
public import Runs

/// The longest name of an approver, in characters.
private let longestName = 100

/// Cleans up the name of an approver for the record.
/// - Throws: `Diagnostic` if it cannot be recorded: it is empty, too long, or has invisible
///   characters.
public func approver(_ name: String) throws -> String {
    let name = name.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    guard !name.isEmpty, name.count <= longestName,
        name.unicodeScalars.allSatisfy({ !$0.properties.isDefaultIgnorableCodePoint }),
        !name.unicodeScalars.contains(where: { $0.properties.generalCategory == .control })
    else {
        var mistake = Diagnostic(
            "--by needs the name of the person who approves, at most \(longestName) characters",
            remedy: "For example: --by 'Anna Roth'.",
            [.ask(.shortenName)])
        mistake.plainMessage =
            "the name of an account that approves has at most \(longestName) characters, and only visible ones"
        throw mistake
    }
    return name
}

/// Checks that a run can be approved. It must be unchanged since its preview and still go where
/// volley.yaml sends it. It is either a plan, or a run that stopped, was cancelled or is paused,
/// and began without an approval.
/// - Returns: the settings that the plan froze.
/// - Throws: `Diagnostic`: why it cannot be approved.
public func checkApprovable(_ run: RunFile, in choice: ProjectChoice) throws -> RunSettings {
    let state = try run.status().state
    let isStopped =
        try [.stopped, .paused, .cancelled].contains(state) && run.hasBegun() && run.approval() == nil
        && (state == .paused || run.sendingSince == nil)
    guard state == .planned || isStopped else {
        throw Diagnostic(
            "the run is \(state.rawValue); only a plan can be approved", file: run.place,
            remedy: state == .stopped
                ? "It was approved before: `volley resume \(run.plan.id)` continues it."
                : "`volley report \(run.plan.id)` shows its progress.",
            [state == .stopped ? .resume(run: run.plan.id) : .watch(run: run.plan.id)])
    }
    guard run.hasDigest else {
        throw Diagnostic(
            "a plan of this older format cannot be approved", file: run.place, remedy: "Plan the campaign again.",
            [.planAgain])
    }
    let settings = try run.plan.settings.get()
    try run.checkPlace(home: settings.runsFolder)
    try run.checkUnchanged()
    for present in try CurrentProject.all(of: run, in: choice) { try present.checkUnchanged(settings) }
    return settings
}

/// Records that a person approves sending the run exactly as it is. Call `checkApprovable` first.
/// - Returns: what was recorded; a warning if something else went wrong.
/// - Throws: `Diagnostic`: the run was replaced, or another command holds it.
///
/// ```swift
/// let (approval, warning) = try approve(run, by: "Anna Roth", at: .now())
/// ```
public func approve(_ run: RunFile, by name: String, at now: Timestamp) throws -> (
    approval: RunApproval, warning: String?
) {
    // Another command may prune a stopped run at any time and put another file in its place, so
    // hold its lock. A plan cannot be pruned and may be about to begin; a paused run cannot be
    // pruned either. So neither is locked.
    if try run.status().state != .planned, run.sendingSince == nil { try run.lockForSending(isSending: false) }
    try run.checkNotReplaced()
    let approval = RunApproval(name: name, approvedAt: now)
    try run.approve(approval)
    // The approval is recorded, even if SQLite's extra files cannot be merged into the run file.
    do { try run.closeIntoOneFile() } catch { return (approval, "\(error)") }
    return (approval, nil)
}

/// Cancels a plan that a person looked at and does not approve. Its report names the person and the
/// reason.
/// - Parameter reason: may be blank.
/// - Returns: warnings, in sentences; the plan is cancelled anyway.
/// - Throws: `Diagnostic`: it is no plan any more, or another command holds it.
///
/// ```swift
/// let warnings = try reject(run, by: "Anna Roth", reason: "The link is wrong.")
/// ```
public func reject(_ run: RunFile, by name: String, reason: String) throws -> [String] {
    try cancelPlan(run, because: .rejected(by: name, reason: reason), "rejected")
}

/// Cancels a plan for people that may ask for one, whether it was approved or not.
/// - Returns: as `reject`.
/// - Throws: as `reject`.
public func withdraw(_ run: RunFile) throws -> [String] { try cancelPlan(run, because: .cancelled, "withdrawn") }

private func cancelPlan(_ run: RunFile, because cause: StopCause, _ done: String) throws -> [String] {
    try cancel(run, because: cause, planOnly: done).warnings
}

/// - Parameter done: the past participle of what is done to the plan.
/// - Throws: `Diagnostic`: the run is no plan any more.
func checkIsPlan(_ run: RunFile, _ done: String) throws {
    let state = try run.status().state
    guard try state == .planned && !run.hasBegun() else {
        throw Diagnostic(
            "the run is \(state.rawValue); only a plan can be \(done)", file: run.place,
            remedy: "`volley report \(run.plan.id)` shows its progress; `volley cancel \(run.plan.id)` ends it.",
            [.watch(run: run.plan.id)] + (state.hasEnded ? [] : [.cancel(run: run.plan.id)]))
    }
}
