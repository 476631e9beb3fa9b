import Base
import Campaigns
import Delivery
import Runs
import Workspace

/// What the gate reads of a run apart from its own record: its scheduled time and its approval.
extension ScheduledTime {
    /// Finds out which run has the scheduled time, and why this run cannot have it; nil if it can.
    func inspect(_ step: SendGate.Step) throws -> (SendGate.Facts.Time, Diagnostic?) {
        let saved = try catalog.schedule.read()
        let present = saved.scheduledRuns.first { $0.key == scheduledRun.key }
        if let present, present.run != run.plan.id, isScheduler || present.state != .skipped {
            return (.taken, isTaken(by: present))
        }
        // The record of sending has the runs that have begun, even without the schedule's record or
        // under the campaign's former name.
        if let other = try catalog.history.run(having: onRecord, besides: run.plan.id) {
            return (.taken, isTaken(by: other))
        }
        if step == .begin,
            let other = try runByItsFile()
        {
            return (.taken, isTaken(by: other))
        }
        let isOwn = present?.run == run.plan.id, isOpen = present?.state.isOpen ?? false
        // A person has taken the run over.
        if isScheduler, let present, !isOpen { return (.taken, isTaken(by: present)) }
        if !isScheduler, step == .begin, catalog.schedule.isAtWork,
            saved.campaigns.contains(where: { $0.name == run.plan.campaign && !$0.times.isEmpty })
        {
            return (.taken, isForSchedule(isOwn: isOwn))
        }
        // What a person sends is theirs before the first push, so that `volley schedule` does not
        // continue what they stop, nor what is killed.
        let isTakenOver = !isScheduler && step != .retry && isOpen
        return (isOwn && !isTakenOver ? .own : .free, nil)
    }

    private func isForSchedule(isOwn: Bool) -> Diagnostic {
        var mistake = Diagnostic(
            "`volley schedule` is running with this folder of runs and sends '\(run.plan.campaign)' at its times; nothing was sent",
            file: run.place,
            remedy: isOwn
                ? "It sends this plan by itself; `volley schedule --list` shows when."
                : "`volley schedule --list` shows when. To send it by hand, end `volley schedule` first.",
            isOwn ? [.leaveToSender, .seeCalendar] : [.seeCalendar, .ask(.sendNow)])
        mistake.plainMessage = "the sender sends '\(run.plan.campaign)' at its times; nothing was sent"
        return mistake
    }
}

extension ApprovalDemand {
    /// Finds out whether approval is required now, for a run that was planned earlier.
    init(of run: RunFile, _ settings: RunSettings) {
        let file = run.plan.campaignFile
        let folder = FilePaths.folder(of: file)
        guard FilePaths.exists(run.plan.projectFile) else {
            self.init(ofMoved: run.plan, from: ["", run.catalog.place, folder])
            return
        }
        guard FilePaths.exists(folder) else {
            self = .unknown(
                "the folder of its campaign, \(folder), with its volley.yaml, does not exist or cannot be read")
            return
        }
        self.init(
            app: run.plan.app, campaignFile: file, realFile: settings.realCampaignFile ?? FilePaths.absolute(file))
    }

    /// Finds out for a plan whose volley.yaml is missing. Another volley.yaml counts as that file,
    /// moved, if the campaign is at the same place relative to it and is unchanged.
    /// - Parameter folders: the folders from which to search for volley.yaml.
    private init(ofMoved plan: RunPlan, from folders: [String]) {
        let former = FilePaths.folder(of: plan.projectFile)
        let place =
            plan.campaignFile.hasPrefix(former + "/")
            ? String(plan.campaignFile.dropFirst(former.count + 1)) : FilePaths.absolute(plan.campaignFile)
        for project in Set(folders.compactMap { Project.find(startingAt: $0) }).sorted() {
            let campaign = FilePaths.resolve(place, besideFile: project)
            guard let source = try? FilePaths.read(campaign), source == Array(plan.campaignSource.utf8) else {
                continue
            }
            self.init(app: plan.app, campaignFile: campaign, realFile: FilePaths.absolute(campaign))
            return
        }
        self = .unknown(
            "\(plan.projectFile), the volley.yaml of the plan, does not exist, and the unchanged campaign is not next to another one"
        )
    }
}
