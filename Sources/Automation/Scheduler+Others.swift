import Base
import Campaigns
import Runs

/// Times that the `volley schedule` of another machine has, or had.
extension Scheduler {
    /// Another machine has taken over an open time while this one stood still. Its plan, if there is one, must not be sent any more.
    mutating func lost(_ key: ScheduledRun.Key, to problem: ScheduleProblem, at now: Timestamp) -> [Action] {
        guard let entry = open[key] else { return [] }
        var lost = entry.scheduledRun
        (lost.state, lost.problem, lost.changedAt) = (.skipped, problem, now)
        open[key] = nil
        failures[key] = nil
        let hasPlan = entry.scheduledRun.state != .planning
        return [.save([lost], [])] + (hasPlan ? [.withdraw(lost)] : [])
    }

    /// A machine that is gone had claimed a time and not begun it: this one plans it anew, unless it is too late, or the campaign is not known here.
    mutating func takeOver(_ key: ScheduledRun.Key, of app: String, at now: Timestamp) -> (run: ScheduledRun, actions: [Action])? {
        guard open[key] == nil, let campaign = campaigns[key.campaign], campaign.isValid, campaign.app == app,
            let time = campaign.schedule.occurrence(named: key.occurrence), time.begins <= now,
            !campaign.schedule.isTooLate(for: time.ends, at: now)
        else { return nil }
        let run = ScheduledRun(
            key: key, file: campaign.file, run: makeRunID(key.campaign, now), state: .planning, begins: time.begins, ends: time.ends,
            changedAt: now)
        open[key] = (run, .planning)
        note(run)
        return (run, [.save([run], []), .plan(run)])
    }
}
