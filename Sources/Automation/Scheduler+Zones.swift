import Base
import Campaigns
import Runs

/// Times when the rules of their zone change: the time zone database is updated while this process works, or between two processes.
///
/// A time is known by its name on the zone's clock. One that was decided stays decided, whatever the moment is called by the new rules. One that was to come is
/// still to come, earlier or later; if its moment is past by the new rules, `late` decides.
extension Scheduler {
    /// Whether a campaign was read by other rules of its zone, and has the same times.
    static func hasOtherRules(_ campaign: Campaign, _ old: Campaign?) -> Bool {
        guard let old else { return false }
        return old.schedule.zone != campaign.schedule.zone && old.schedule.timesInWords == campaign.schedule.timesInWords
    }

    /// The moment after which a campaign's times count: no later than just before the first that the rules before left to come.
    /// - Parameter old: the campaign by the rules before; nil if another process decided the last times.
    func decidedThrough(_ record: ScheduledCampaign, of campaign: Campaign, before old: Campaign?, at now: Timestamp) -> Timestamp {
        guard let first = firstUndecided(record, of: campaign, before: old) else { return record.decidedThrough }
        let begins = campaign.schedule.occurrence(at: first).begins
        // Names are remembered for as long: an older time may have fired.
        guard begins > now.adding(seconds: -Self.lookBackSeconds) else { return record.decidedThrough }
        return min(record.decidedThrough, Timestamp(epochMilliseconds: begins.epochMilliseconds - 1))
    }

    private func firstUndecided(_ record: ScheduledCampaign, of campaign: Campaign, before old: Campaign?) -> LocalTime? {
        let schedule = campaign.schedule
        guard let rule = schedule.repeat else {
            return schedule.at.flatMap { decided[.init(campaign: campaign.name, occurrence: $0.description)] == nil ? $0 : nil }
        }
        if let old { return old.schedule.next(after: record.decidedThrough)?.localTime }
        guard let last = lastDecided[campaign.name], last.begins == record.decidedThrough, let local = LocalTime(last.occurrence),
            schedule.occurrence(at: local).begins != last.begins
        else { return nil }
        if let at = schedule.at, at > local { return at }
        return rule.next(from: local.adding(minutes: 1))
    }

    /// Examines what waits of a campaign at once: by the new rules it may be due.
    mutating func reexamine(_ campaign: Campaign) {
        for (key, entry) in open where key.campaign == campaign.name && entry.scheduledRun.state == .planning {
            if case .retrying = entry.phase { open[key]?.phase = .idle }
        }
    }

    /// Whether a time that was found due is still to come by the rules that count now. A clock that was set back is no reason to wait again.
    static func isStillToCome(_ time: Occurrence, of scheduledRun: ScheduledRun, at now: Timestamp) -> Bool {
        time.begins > now && (time.begins != scheduledRun.begins || scheduledRun.problem == .zoneChanged)
    }

    /// The rules changed after a time was found due, and by the new ones it is still to come: it waits.
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
