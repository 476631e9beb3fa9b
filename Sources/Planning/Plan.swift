import Workspace
public import Base
public import Campaigns
public import Runs

/// A run that has just been planned.
public struct PlannedRun: Sendable {
    /// The run, planned and not yet sent.
    public let run: RunFile
    /// What was previewed.
    public let preview: Preview
    /// The volley.yaml that it was planned with.
    public let project: Project

    /// Whether some of its waves are not due yet.
    public func waitsForTimes(at now: Timestamp) -> Bool { run.plan.waves.contains { $0.due > now } }
}

/// The moment to plan a campaign for.
public enum PlanningPurpose: Hashable, Sendable {
    /// Sent now or not at all: a person is watching.
    /// - Parameter ignoresSchedule: at once and to all devices, whatever the campaign's schedule
    ///   says.
    case sending(ignoresSchedule: Bool)
    /// Sent later, at its time.
    case keeping
}

/// Freezes a campaign's audience, texts and settings into a run. When this throws, nothing of the
/// run remains.
/// - Parameter id: of the run; nil makes one.
/// - Throws: `Diagnostics`, `Diagnostic`: what is wrong with the campaign, volley.yaml, exports,
///   keys or the way to the server; that its time has not come.
///
/// ```swift
/// let planned = try plan(campaign, for: .keeping, planning, at: .now())
/// print(planned.run.plan.id, planned.run.plan.audience)
/// ```
public func plan(
    _ campaign: CampaignFile, for purpose: PlanningPurpose, id: String? = nil, _ options: PlanOptions, at now: Timestamp
) throws -> PlannedRun {
    let context = try CampaignContext.read(campaign, now: now)
    let catalog = context.catalog
    var planner = try Planner(context: context, options, now: now)
    let settings = try RunSettings(context)
    switch purpose {
    case .keeping: planner.sendingTime = try .ofPlanning(context, now: now, in: catalog)
    case .sending(let ignoresSchedule):
        planner.sendingTime = try .ofSending(context, isNow: ignoresSchedule, now: now, in: catalog)
        // Checked before planning, which takes long: the run could not be sent without these.
        try context.checkRoutes(settings)
        planner.credentialWarnings = try context.credentialWarnings(settings, now: now)
    }
    let (run, preview) = try planner.plan(settings, in: catalog, id: id)
    return PlannedRun(run: run, preview: preview, project: context.project)
}

/// Makes a run for the app's test devices: each gets every text once.
/// - Parameters:
///   - choice: which of them, and which texts.
///   - id: of the run; nil makes one.
/// - Throws: as `plan`; also when no test device can be sent to.
///
/// ```swift
/// let test = try planTest(campaign, planning, at: .now())
/// ```
public func planTest(
    _ campaign: CampaignFile, choosing choice: TestChoice = TestChoice(), id: String? = nil, _ options: PlanOptions,
    at now: Timestamp
) throws -> RunFile {
    let context = try CampaignContext.read(campaign, now: now, isTest: true)
    let settings = try RunSettings(context)
    try context.checkRoutes(settings)
    _ = try context.credentialWarnings(settings, now: now)
    let planner = TestPlanner(context: context, options: options, now: now, choice: choice)
    return try planner.plan(settings, in: context.catalog, id: id)
}
