import Base
import Campaigns
import Planning
import Runs
import Sending

/// The results of actions.
extension Scheduler {
    /// The plan of a scheduled run is ready. Planning began in time, but the machine may have slept
    /// since.
    mutating func planned(_ key: ScheduledRun.Key, _ consent: ApprovalState, at now: Timestamp) -> [Action] {
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

    /// A scheduled run could not be planned, or sending it could not begin or continue. It is tried
    /// again as long as `late` allows, and without limit once something was sent.
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

    /// A scheduled run was not planned because a file that it is planned from may still be being
    /// written. That is not a failure: it is tried again soon, as long as `late` allows.
    mutating func postponed(_ key: ScheduledRun.Key, because problem: ScheduleProblem, at now: Timestamp) -> [Action] {
        guard var scheduledRun = open[key]?.scheduledRun else { return [] }
        let isNews = scheduledRun.problem != problem
        if isNews { (scheduledRun.problem, scheduledRun.changedAt) = (problem, now) }
        open[key] = (scheduledRun, .retrying(at: now.adding(seconds: Self.quietPauseSeconds)))
        return isNews ? [.save([scheduledRun], [])] : []
    }

    /// The campaign was changed between the time and its planning, and no longer has this time.
    mutating func cancelledPlan(_ key: ScheduledRun.Key, because problem: ScheduleProblem, at now: Timestamp)
        -> [Action]
    {
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
            if isTooLate(scheduledRun, at: now) {
                return skip(scheduledRun, because: .described(words), hasPlan: true, at: now)
            }
            return failed(key, because: .described(words), at: now)
        case (.planning, .nothing):
            if isTooLate(scheduledRun, at: now) {
                return skip(scheduledRun, because: scheduledRun.problem ?? .planningEnded, hasPlan: false, at: now)
            }
            guard let campaign = campaigns[key.campaign] else { return plan(scheduledRun) }
            guard campaign.isValid else { return failed(key, because: .campaignBroken, at: now) }
            // The campaign's file may have a new name.
            var moved = scheduledRun
            moved.file = campaign.file
            return (moved == scheduledRun ? [] : [.save([moved], [])]) + plan(moved)
        case (_, .nothing): return observedEnd(scheduledRun, as: .stopped, .runGone, at: now)
        case (.waiting, .plan(.missing)), (.waiting, .plan(.void)):
            if isTooLate(scheduledRun, at: now) {
                return skip(scheduledRun, because: .approvedTooLate, hasPlan: true, at: now)
            }
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
    mutating func ended(
        _ key: ScheduledRun.Key, _ state: ScheduledRun.State, because problem: ScheduleProblem?, at now: Timestamp
    )
        -> [Action]
    {
        guard let scheduledRun = open[key]?.scheduledRun else { return [] }
        return end(scheduledRun, as: state, problem, at: now)
    }

    /// Another process has claimed the time of a scheduled run because a person has sent, resumed
    /// or cancelled it.
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
        return (scheduledRun.state == .sending && scheduledRun.problem == nil ? [] : [.save([sending], [])]) + [
            .send(sending)
        ]
    }

    /// Clears the failures of a scheduled run that only has to wait; it is examined again soon. Why
    /// it waits although it was approved ahead stays.
    private mutating func rest(_ scheduledRun: ScheduledRun, at now: Timestamp) -> [Action] {
        var calm = scheduledRun
        failures[scheduledRun.key] = nil
        if let problem = scheduledRun.problem, !problem.isAboutApproval { (calm.problem, calm.changedAt) = (nil, now) }
        open[scheduledRun.key] = (calm, .idle)
        return calm == scheduledRun ? [] : [.save([calm], [])]
    }

    /// Notes the end of a run that this process did not send. If the run stopped, a notice may be
    /// missing, so one is posted.
    private mutating func observedEnd(
        _ scheduledRun: ScheduledRun, as state: ScheduledRun.State, _ problem: ScheduleProblem?, at now: Timestamp
    )
        -> [Action]
    {
        var ended = scheduledRun
        (ended.state, ended.problem, ended.changedAt) = (state, problem, now)
        return end(scheduledRun, as: state, problem, at: now) + (state == .stopped ? [.notify(.stopped, ended)] : [])
    }

    private mutating func end(
        _ scheduledRun: ScheduledRun, as state: ScheduledRun.State, _ problem: ScheduleProblem?, at now: Timestamp
    )
        -> [Action]
    {
        var ended = scheduledRun
        (ended.state, ended.problem, ended.changedAt) = (state, problem, now)
        open[scheduledRun.key] = nil
        failures[scheduledRun.key] = nil
        return [.save([ended], [])]
    }
}

/// Times when the rules of their zone change: the time zone database is updated while this process
/// works, or between two processes.
///
/// A time is known by its name on the zone's clock. A decided time stays decided, whatever its
/// moment by the new rules. A future time stays in the future, earlier or later; if its moment is
/// past by the new rules, `late` decides.
extension Scheduler {
    /// Whether a campaign was read by other rules of its zone, and has the same times.
    static func hasOtherRules(_ campaign: Campaign, _ old: Campaign?) -> Bool {
        guard let old else { return false }
        return old.schedule.zone != campaign.schedule.zone
            && old.schedule.timesInWords == campaign.schedule.timesInWords
    }

    /// The moment after which a campaign's times count: no later than just before the first future
    /// time by the old rules.
    /// - Parameter old: the campaign by the old rules; nil if another process decided the last
    ///   times.
    func decidedThrough(_ record: ScheduledCampaign, of campaign: Campaign, before old: Campaign?, at now: Timestamp)
        -> Timestamp
    {
        guard let first = firstUndecided(record, of: campaign, before: old) else { return record.decidedThrough }
        let begins = campaign.schedule.occurrence(at: first).begins
        // Names are kept equally long: an older time may have fired.
        guard begins > now.adding(seconds: -Self.lookBackSeconds) else { return record.decidedThrough }
        return min(record.decidedThrough, Timestamp(epochMilliseconds: begins.epochMilliseconds - 1))
    }

    private func firstUndecided(_ record: ScheduledCampaign, of campaign: Campaign, before old: Campaign?) -> LocalTime?
    {
        let schedule = campaign.schedule
        guard let rule = schedule.repeat else {
            return schedule.at.flatMap {
                decided[.init(campaign: campaign.name, occurrence: $0.description)] == nil ? $0 : nil
            }
        }
        if let old { return old.schedule.next(after: record.decidedThrough)?.localTime }
        guard let last = lastDecided[campaign.name], last.begins == record.decidedThrough,
            let local = LocalTime(last.occurrence),
            schedule.occurrence(at: local).begins != last.begins
        else { return nil }
        if let at = schedule.at, at > local { return at }
        return rule.next(from: local.adding(minutes: 1))
    }

    /// Examines the waiting times of a campaign at once: by the new rules they may be due.
    mutating func reexamine(_ campaign: Campaign) {
        for (key, entry) in open where key.campaign == campaign.name && entry.scheduledRun.state == .planning {
            if case .retrying = entry.phase { open[key]?.phase = .idle }
        }
    }

    /// Whether a time that became due is in the future by the present rules. A clock that was set
    /// back is no reason to wait again.
    static func isStillToCome(_ time: Occurrence, of scheduledRun: ScheduledRun, at now: Timestamp) -> Bool {
        time.begins > now && (time.begins != scheduledRun.begins || scheduledRun.problem == .zoneChanged)
    }

    /// The rules changed after a time became due, and by the new ones it is in the future: it
    /// waits.
    mutating func moved(_ key: ScheduledRun.Key, to time: Occurrence, at now: Timestamp) -> [Action] {
        guard var scheduledRun = open[key]?.scheduledRun else { return [] }
        failures[key] = nil
        let isNews = scheduledRun.begins != time.begins || scheduledRun.problem != .zoneChanged
        (scheduledRun.begins, scheduledRun.ends) = (time.begins, time.ends)
        (scheduledRun.problem, scheduledRun.changedAt) = (.zoneChanged, now)
        open[key] = (scheduledRun, .retrying(at: min(time.begins, now.adding(seconds: Self.longestPauseSeconds))))
        note(scheduledRun)
        return isNews ? [.save([scheduledRun], [])] : []
    }
}
