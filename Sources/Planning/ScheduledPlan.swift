package import Base
import Campaigns
package import Runs
import Workspace

/// A campaign that is about to be planned for a time of its schedule, with no one watching.
package struct ScheduledPlan {
    private let context: CampaignContext
    /// By the rules of the zone as they are now.
    package let time: Occurrence
    private let now: Timestamp

    /// Reads the campaign's current file; nil when it is no longer sent at that time or under that
    /// name.
    /// - Throws: `Diagnostics`: mistakes in the campaign or in volley.yaml.
    package init?(_ campaign: CampaignFile, for scheduledRun: ScheduledRun, at now: Timestamp) throws {
        context = try CampaignContext.read(campaign, now: now)
        guard context.campaign.name.value == scheduledRun.key.campaign,
            let time = context.campaign.schedule?.occurrence(named: scheduledRun.key.occurrence)
        else { return nil }
        self.time = time
        self.now = now
    }

    /// The campaign, its lists and its exports.
    package var inputFiles: [String] { context.inputFiles(now: now) }

    /// Freezes the campaign into a run.
    /// - Parameters:
    ///   - run: the run's id; the remains of a killed process are removed first.
    ///   - catalog: the one that `volley schedule` uses: volley.yaml may name a new folder.
    ///   - queuedAt: since when it has waited for its turn.
    /// - Throws: as `plan`. Then nothing of the run remains.
    public func plan(
        into run: String?, of catalog: RunsFolder, queuedAt: Timestamp, _ options: PlanOptions
    ) throws -> RunFile {
        var settings = try RunSettings(context)
        settings.isOfScheduler = true
        try context.checkRoutes(settings)
        var planner = try Planner(context: context, options, now: now)
        planner.sendingTime = .at(time)
        planner.queuedAt = queuedAt
        planner.isUnattended = true
        planner.credentialWarnings = try context.credentialWarnings(settings, now: now)
        try catalog.removeUnfinishedPlan(of: run ?? "")
        return try planner.plan(settings, in: catalog, id: run).run
    }
}
