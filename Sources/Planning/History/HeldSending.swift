import Base
import Campaigns
import Runs

/// A run of a campaign that was put back from a backup before it had ended. What was sent of it since then is not known, however long ago that is.
struct HeldSending {
    let run: String
    /// In whole seconds.
    let backupAt: Timestamp
    /// Devices that had or may have had the push by the backup, and those that may have got it since.
    private let reached: Int, unsent: Int

    /// nil for a run that is not held, or whose devices are none of this campaign's.
    init?(_ run: RunFile, among record: HistorySnapshot, app: String, _ settings: RunSettings) throws {
        guard let restored = RestoredRun(run, among: record), restored.isHeld, run.plan.app == app, !run.plan.isTest,
            try settings.sharesList(with: run.plan.settings.get().listName)
        else { return nil }
        let outcomes = try run.figures().outcomes
        (self.run, backupAt) = (run.plan.id, restored.backupAt)
        unsent = outcomes[.unsent, default: 0]
        reached = outcomes[.accepted, default: 0] + outcomes[.unknown, default: 0]
    }

    func warning(_ context: CampaignContext) -> Diagnostic {
        .warning(
            .lastRunUnfinished,
            message:
                "\(run) of this campaign is held, as it was put back from a backup of \(backupAt) before it had ended: by then it had reached "
                + "\(TextFormat.devices(reached)), and it may have reached \(TextFormat.count(unsent)) more since. A new run sends to all of them",
            at: context.campaign.audience.position,
            remedy:
                "No command resumes or retries it. `volley report \(run)` says how to leave out those that it had reached; the others may get the push twice.",
            [.readReport(run: run), .ask(.leaveOutReached(runs: [run]))])
    }
}
