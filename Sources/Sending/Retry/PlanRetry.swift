public import Workspace
public import Base
public import Runs

/// A new run for the devices of an earlier run that ended in certain outcomes.
public struct PlannedRetry: Sendable {
    /// The retry, planned and not yet sent.
    public let run: RunFile
    /// How many devices of the earlier run may get the push twice, by their outcomes in it: unknown, or unsent
    /// according to the store of several machines.
    public let mayRepeat: [Outcome: Int]
    /// Warnings that the retry would reach devices in their quiet hours, or that suppressed devices of other machines
    /// are not known.
    public let warnings: [Diagnostic]
    fileprivate let parent: RunFile

    /// Checks whether the retry may be sent now. The approval of the first run covers these devices and this text.
    /// - Throws: what `propose` throws.
    public func propose(in choice: ProjectChoice, _ context: SendingContext) throws -> SendProposal {
        if let approval = try parent.approval() { try run.approve(approval) }
        return try Sending.propose(run, isKept: false, in: choice, context)
    }
}

/// Makes the new run, while the earlier one is locked: until the new file shows which devices it takes over, no other
/// command may take them over.
/// - Parameter id: of the new run; nil makes one.
/// - Returns: nil if no device is left.
/// - Throws: `Diagnostic`: the run is a test, it may not be retried now, or its file is damaged.
public func planRetry(
    of run: RunFile, outcomes: Set<Outcome>, id: String? = nil, in choice: ProjectChoice, at now: Timestamp
) throws -> PlannedRetry? {
    if run.plan.isTest {
        throw Diagnostic(
            "the run is a test, which is not retried", file: run.place, remedy: "Send another: volley send FILE --test.",
            [.sendTest])
    }
    let gate = try SendPermission(run, in: choice)
    var warnings: [Diagnostic] = []
    let planned = try gate.retrying {
        let project = try CurrentProject(of: run, in: choice).project
        warnings += [try project.exchangeLists(of: run.plan.app, run.plan.settings.get(), in: run.catalog)].compactMap(\.self)
        return try RetryPlanner(run: run, outcomes: outcomes, now: now, id: id).plan()
    }
    guard let planned else { return nil }
    do {
        let doubtful: Set<Outcome> = try run.status().cause?.isForgetting == true ? [.unknown, .unsent] : [.unknown]
        let figures = try doubtful.isDisjoint(with: outcomes) ? [:] : run.figures().outcomes
        let mayRepeat = figures.filter { outcomes.contains($0.key) && doubtful.contains($0.key) && $0.value > 0 }
        let settings = try planned.plan.settings.get()
        warnings += [try RetryInQuietHours.warning(planned, settings, at: now)].compactMap(\.self)
        return PlannedRetry(run: planned, mayRepeat: mayRepeat, warnings: warnings, parent: run)
    } catch {
        try planned.remove()
        throw error
    }
}
