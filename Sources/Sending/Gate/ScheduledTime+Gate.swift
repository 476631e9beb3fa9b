import Base
import Delivery
import Runs
import Workspace

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
