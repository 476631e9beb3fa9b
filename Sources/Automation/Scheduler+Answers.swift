import Planning
import Sending
import Base
import Campaigns
import Runs

/// The results of actions.
extension Scheduler {
    /// The plan of a scheduled run is ready. Planning began in time, but the machine may have slept meanwhile.
    mutating func planned(_ key: ScheduledRun.Key, _ consent: Consent, at now: Timestamp) -> [Action] {
        guard let scheduledRun = open[key]?.scheduledRun else { return [] }
        if isTooLate(scheduledRun, at: now.adding(seconds: -Self.planningSeconds)) {
            return skip(scheduledRun, because: .plannedTooLate, hasPlan: true, at: now)
        }
        var waiting = scheduledRun
        (waiting.state, waiting.problem, waiting.changedAt) = (.waiting, nil, now)
        switch consent {
        case .given: return send(scheduledRun, at: now)
        case .missing: break
        case .void(let problem): waiting.problem = problem
        }
        failures[key] = nil
        open[key] = (waiting, .idle)
        return [.save([waiting], []), .notify(.approvalNeeded, waiting)]
    }

    /// A scheduled run could not be planned, or sending it could not begin or continue. It is tried again as long as `late` allows, and
    /// without limit once something was sent.
    mutating func failed(_ key: ScheduledRun.Key, because problem: ScheduleProblem, at now: Timestamp) -> [Action] {
        guard let entry = open[key] else { return [] }
        var scheduledRun = entry.scheduledRun
        let failures = failures[key, default: 0] + 1
        self.failures[key] = failures
        let pause = min(Self.firstPauseSeconds * Double(1 << min(failures - 1, 10)), Self.longestPauseSeconds)
        let isNews = scheduledRun.problem != problem
        (scheduledRun.problem, scheduledRun.changedAt) = (problem, now)
        open[key] = (scheduledRun, .retrying(at: now.adding(seconds: pause)))
        return isNews ? [.save([scheduledRun], [])] + (failures == 1 ? [.notify(.failed, scheduledRun)] : []) : []
    }

    /// A scheduled run was not planned because a file that it is planned from may still be being written. That is not a failure: it is
    /// tried again soon, as long as `late` allows.
    mutating func postponed(_ key: ScheduledRun.Key, because problem: ScheduleProblem, at now: Timestamp) -> [Action] {
        guard var scheduledRun = open[key]?.scheduledRun else { return [] }
        let isNews = scheduledRun.problem != problem
        if isNews { (scheduledRun.problem, scheduledRun.changedAt) = (problem, now) }
        open[key] = (scheduledRun, .retrying(at: now.adding(seconds: Self.quietPauseSeconds)))
        return isNews ? [.save([scheduledRun], [])] : []
    }

    /// The campaign was changed between the time and its planning, and no longer has this time.
    mutating func cancelledPlan(_ key: ScheduledRun.Key, because problem: ScheduleProblem, at now: Timestamp) -> [Action] {
        guard let scheduledRun = open[key]?.scheduledRun else { return [] }
        return skip(scheduledRun, because: problem, hasPlan: false, at: now)
    }

    /// The state of a scheduled run's run was found.
    mutating func found(_ key: ScheduledRun.Key, _ finding: Finding, at now: Timestamp) -> [Action] {
        guard let (scheduledRun, _) = open[key] else { return [] }
        switch (scheduledRun.state, finding) {
        case (_, .ended(let state, let problem)): return observedEnd(scheduledRun, as: state, problem, at: now)
        case (_, .taken):
            taken(key)
            return []
        case (_, .elsewhere), (_, .paused): return rest(scheduledRun, at: now)
        case (_, .unfinished): return send(scheduledRun, at: now)
        case (.sending, .unreadable(let words)): return failed(key, because: .described(words), at: now)
        case (_, .unreadable(let words)):
            // Nothing of it was sent.
            if isTooLate(scheduledRun, at: now) { return skip(scheduledRun, because: .described(words), hasPlan: true, at: now) }
            return failed(key, because: .described(words), at: now)
        case (.planning, .nothing):
            if isTooLate(scheduledRun, at: now) {
                return skip(scheduledRun, because: scheduledRun.problem ?? .planningEnded, hasPlan: false, at: now)
            }
            guard let campaign = campaigns[key.campaign] else { return plan(scheduledRun) }
            guard campaign.isValid else { return failed(key, because: .campaignBroken, at: now) }
            // The campaign's file may have another name by now.
            var moved = scheduledRun
            moved.file = campaign.file
            return (moved == scheduledRun ? [] : [.save([moved], [])]) + plan(moved)
        case (_, .nothing): return observedEnd(scheduledRun, as: .stopped, .runGone, at: now)
        case (.waiting, .plan(.missing)), (.waiting, .plan(.void)):
            if isTooLate(scheduledRun, at: now) { return skip(scheduledRun, because: .approvedTooLate, hasPlan: true, at: now) }
            return rest(scheduledRun, at: now)
        case (_, .plan(let consent)):
            // Nothing of it was sent.
            if isTooLate(scheduledRun, at: now) {
                return skip(scheduledRun, because: scheduledRun.problem ?? .begunTooLate, hasPlan: true, at: now)
            }
            return planned(key, consent, at: now)
        }
    }

    /// Sending has ended. An interruption is not an end: the next process continues the run.
    mutating func ended(_ key: ScheduledRun.Key, _ state: ScheduledRun.State, because problem: ScheduleProblem?, at now: Timestamp)
        -> [Action]
    {
        guard let scheduledRun = open[key]?.scheduledRun else { return [] }
        return end(scheduledRun, as: state, problem, at: now)
    }

    /// Another process has claimed the time of a scheduled run for a person, who has sent, resumed or cancelled it.
    mutating func taken(_ key: ScheduledRun.Key) {
        open[key] = nil
        failures[key] = nil
    }

    private mutating func plan(_ scheduledRun: ScheduledRun) -> [Action] {
        open[scheduledRun.key] = (scheduledRun, .planning)
        note(scheduledRun)
        return [.plan(scheduledRun)]
    }

    private mutating func send(_ scheduledRun: ScheduledRun, at now: Timestamp) -> [Action] {
        var sending = scheduledRun
        (sending.state, sending.problem, sending.changedAt) = (.sending, nil, now)
        open[scheduledRun.key] = (sending, .sending)
        return (scheduledRun.state == .sending && scheduledRun.problem == nil ? [] : [.save([sending], [])]) + [.send(sending)]
    }

    /// Clears the failures of a scheduled run that only has to wait; it is examined again soon. Why it waits although it was approved ahead stays.
    private mutating func rest(_ scheduledRun: ScheduledRun, at now: Timestamp) -> [Action] {
        var calm = scheduledRun
        failures[scheduledRun.key] = nil
        if let problem = scheduledRun.problem, !problem.isAboutApproval { (calm.problem, calm.changedAt) = (nil, now) }
        open[scheduledRun.key] = (calm, .idle)
        return calm == scheduledRun ? [] : [.save([calm], [])]
    }

    /// Notes the end of a run that this process did not send. If the run stopped, a notice may be missing, so one is posted.
    private mutating func observedEnd(
        _ scheduledRun: ScheduledRun, as state: ScheduledRun.State, _ problem: ScheduleProblem?, at now: Timestamp
    )
        -> [Action]
    {
        var ended = scheduledRun
        (ended.state, ended.problem, ended.changedAt) = (state, problem, now)
        return end(scheduledRun, as: state, problem, at: now) + (state == .stopped ? [.notify(.stopped, ended)] : [])
    }

    private mutating func end(_ scheduledRun: ScheduledRun, as state: ScheduledRun.State, _ problem: ScheduleProblem?, at now: Timestamp)
        -> [Action]
    {
        var ended = scheduledRun
        (ended.state, ended.problem, ended.changedAt) = (state, problem, now)
        open[scheduledRun.key] = nil
        failures[scheduledRun.key] = nil
        return [.save([ended], [])]
    }
}
