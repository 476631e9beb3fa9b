import Workspace
package import Base
package import Campaigns
package import Runs

/// A run that was planned just now.
package struct PlannedRun {
    package let run: any RecordedRun
    package let preview: Preview
    /// volley.yaml as it was planned with.
    package let project: Project

    /// Whether it waits for times that are still to come.
    package func waitsForTimes(at now: Timestamp) -> Bool { run.plan.waves.contains { $0.due > now } }
}

/// When a campaign is to be planned for.
package enum PlanningPurpose: Hashable, Sendable {
    /// To be sent now or not at all, as whoever asks looks on.
    /// - Parameter ignoresSchedule: at once and to everybody, whatever the campaign's schedule says.
    case sending(ignoresSchedule: Bool)
    /// To be sent later, at its time.
    case keeping
}

/// Freezes a campaign's audience, texts and settings into a run. Nothing of it remains when this throws.
/// - Throws: `Diagnostics`, `Diagnostic`: what is wrong with the campaign, volley.yaml, exports, keys or the way to the server; that its time has not come.
package func plan(
    _ campaign: CampaignFile, for purpose: PlanningPurpose, _ attendance: PlanningAttendance, at now: Timestamp
) throws -> PlannedRun {
    let context = try CampaignContext.read(campaign, now: now)
    let catalog = context.catalog
    var planner = try Planner(context: context, attendance, now: now)
    let settings = try RunSettings(context)
    switch purpose {
    case .keeping: planner.sendingTime = try .ofPlanning(context, now: now, in: catalog)
    case .sending(let ignoresSchedule):
        planner.sendingTime = try .ofSending(context, isNow: ignoresSchedule, now: now, in: catalog)
        // What it could not be sent without is said before anything is planned.
        _ = try context.route(settings)
        planner.credentialWarnings = try context.placingCredentials { try AppCredentials.check(settings, now: now) }
    }
    let (run, preview) = try planner.plan(settings, in: catalog)
    return PlannedRun(run: run, preview: preview, project: context.project)
}

/// Makes a run for the app's test devices: each gets every text once.
/// - Throws: as `plan`; that no test device can be sent to.
package func planTest(
    _ campaign: CampaignFile, _ attendance: PlanningAttendance, at now: Timestamp
) throws -> any RecordedRun {
    let context = try CampaignContext.read(campaign, now: now)
    let settings = try RunSettings(context)
    _ = try context.route(settings)
    _ = try context.placingCredentials { try AppCredentials.check(settings, now: now) }
    let planner = TestPlanner(context: context, attendance: attendance, now: now)
    return try planner.plan(settings, in: context.catalog)
}
