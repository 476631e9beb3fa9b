public import Base
import Campaigns
public import Runs
import Workspace

/// What was sent of an app's campaign before, from the files of its runs and the record next to them.
public struct EarlierRuns: Sendable {
    /// The newest runs that have an audience, newest first, back to one that reached a device.
    private let runs: [RunFile]
    private let now: Timestamp
    private let settings: RunSettings
    /// The last sending that reached a device; if none did, the last attempt.
    public let lastSending: PreviousSending?
    /// Runs that were put back from a backup before they had ended, since when no other run has reached a device.
    private let held: [HeldSending]
    /// A run that began only hours ago, when no file shows which devices it reached.
    public let unaccounted: (id: String, begunAt: Timestamp)?

    /// - Throws: `Diagnostic`: the folder of runs cannot be listed.
    public init(
        of campaign: String, app: String, in settings: RunSettings, catalog: RunsFolder, now: Timestamp,
        besides own: String? = nil
    )
        throws
    {
        let all = try catalog.lastStarted(of: campaign, app: app, limit: 10).filter { $0.plan.id != own }
        // Older runs are not read: counting what they reached means reading their files.
        var sendings: [PreviousSending?] = []
        for run in all where sendings.last.map({ $0?.accepted == 0 }) ?? true { sendings.append(PreviousSending(of: run, now: now)) }
        runs = Array(all.prefix(sendings.count))
        let known = sendings.compactMap(\.self)
        lastSending = known.last.map { $0.accepted == 0 ? known[0] : $0 }
        self.now = now
        self.settings = settings
        let record = HistorySnapshot(of: catalog)
        let earliest = now.adding(seconds: -Double(PreviousSending.hours * 3600))
        held = record.restored(of: campaign).compactMap { id in
            guard id != own, let run = try? catalog.open(id) else { return nil }
            defer { run.close() }
            // What cannot be read must not keep the campaign from being planned.
            return try? HeldSending(run, among: record, app: app, settings)
        }.filter { held in
            // The moment of a backup has no milliseconds.
            !known.contains {
                $0.run != held.run && $0.accepted ?? 0 > 0 && $0.began.epochSeconds > held.backupAt.epochSeconds
            }
        }
        unaccounted = record.begun(of: campaign).filter { id, entry in
            guard id != own, entry.begunAt >= earliest, let scope = entry.scope, !scope.isTest, scope.app == app,
                settings.sharesList(with: scope.environment), !settings.isRehearsal
            else { return false }
            guard let run = try? catalog.open(id) else { return true }
            defer { run.close() }
            return !run.isBeingSent && record.gap(of: run)?.isKnown ?? false
        }.map { (id: $0.key, begunAt: $0.value.begunAt) }.max { $0.begunAt < $1.begunAt }
    }

    /// The plan of the newest run.
    var last: RunPlan? { runs.first?.plan }

    /// Closes their files.
    public func close() { for run in runs { run.close() } }

    /// Warnings about a last run that could be resumed, was sent a short while ago, or lost its file: a new run sends again to devices that
    /// it has reached.
    /// - Parameter lately: how many devices other runs of the app reached in the last hours; nil if nothing is known of them.
    func warnings(_ context: CampaignContext, _ lately: ReachedLately? = nil) -> [Diagnostic] {
        let lost = (unaccounted.map { [lostWarning($0, context)] } ?? []) + held.map { $0.warning(context) }
        let unfinished = runs.lazy.compactMap { unfinishedWarning($0, context) }.first
        let sent = unfinished == nil ? recent : nil
        return lost + [unfinished, sent?.warning(context, lately)].compactMap(\.self)
            + (lately?.warnings(context) { sending in sending.run == sent?.run || held.contains { $0.run == sending.run } } ?? [])
    }

    /// The last sending, if it was only hours ago.
    private var recent: PreviousSending? {
        guard let sending = lastSending, !held.contains(where: { $0.run == sending.run }),
            sending.isRecent(in: settings.firstService.environment)
        else { return nil }
        return sending
    }

    private func lostWarning(_ run: (id: String, begunAt: Timestamp), _ context: CampaignContext) -> Diagnostic {
        .warning(
            .sentRecently,
            message:
                "a run of this campaign, \(run.id), began \(PreviousSending.ago(run.begunAt, now: now)), but its file is missing, damaged, or an older copy: "
                + "which devices it reached is not known, and a new run sends to all of them again",
            at: context.campaign.audience.position,
            remedy: "Put its file back, with the files next to it; `volley runs` shows what is there.", [.ask(.restoreRun(run.id))])
    }

    private func unfinishedWarning(_ run: RunFile, _ context: CampaignContext) -> Diagnostic? {
        guard let state = try? run.status().state, [.running, .paused, .stopped].contains(state) else { return nil }
        guard LedgerGap(of: run) == nil, let claims = try? run.claims().claimed, !claims.isEmpty,
            run.isBeingSent || claims.count < run.plan.audience || (try? run.figures().outcomes[.unsent, default: 0]) ?? 0 > 0
        else { return nil }
        let id = run.plan.id
        let (fact, remedy, remedies): (String, String, [Remedy]) =
            if !run.isBeingSent {
                (
                    "ended before it was finished", "`volley resume \(id)` resumes it, and sends only to the other devices.",
                    [.resume(run: id)]
                )
            } else if state == .paused {
                (
                    "is paused", "`volley resume \(id)` continues it, and `volley cancel \(id)` ends it.",
                    [.resume(run: id), .cancel(run: id)]
                )
            } else {
                ("is being sent", "`volley report \(id)` shows its progress.", [.watch(run: id)])
            }
        return .warning(
            .lastRunUnfinished,
            message: "the last run of this campaign, \(id), \(fact); a new run sends again to devices that it has reached",
            at: context.campaign.audience.position, remedy: remedy, remedies)
    }
}
