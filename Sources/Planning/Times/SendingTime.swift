import Workspace
import Base
import Campaigns
import Runs

/// When a campaign is to go out, as its sender decided.
enum SendingTime: Hashable, Sendable {
    /// At once and to all devices, whatever its schedule says.
    case now
    /// At once, but not to devices in quiet hours.
    case byHand
    /// At a time of its schedule.
    case at(Occurrence)
}

extension SendingTime {
    /// What `volley send FILE` does, unless its time was already sent. That refusal says more than
    /// "too late", and `--now`, the remedy for that, would reach every device again.
    static func ofSending(_ context: CampaignContext, isNow: Bool, now: Timestamp, in catalog: RunsFolder) throws
        -> SendingTime
    {
        try unlessSentAlready(context.campaign, catalog) { () throws(Diagnostic) in
            try ofSending(context.campaign, isNow: isNow, now: now)
        }
    }

    /// What `volley plan FILE` freezes, unless that time was already sent.
    static func ofPlanning(_ context: CampaignContext, now: Timestamp, in catalog: RunsFolder) throws -> SendingTime {
        try unlessSentAlready(context.campaign, catalog) { () throws(Diagnostic) in
            try ofPlanning(context.campaign, now: now)
        }
    }

    private static func unlessSentAlready(
        _ campaign: Campaign, _ catalog: RunsFolder, _ decide: () throws(Diagnostic) -> SendingTime
    ) throws -> SendingTime {
        do throws(Diagnostic) {
            let sendingTime = try decide()
            guard case .at(let occurrence) = sendingTime else { return sendingTime }
            if let taken = try refusal(campaign, time: occurrence.localTime, catalog) { throw taken }
            return sendingTime
        } catch {
            guard let schedule = campaign.schedule, schedule.repeat == nil, let at = schedule.at else { throw error }
            throw try refusal(campaign, time: at, catalog) ?? error
        }
    }

    private static func refusal(_ campaign: Campaign, time: LocalTime, _ catalog: RunsFolder) throws(Diagnostic)
        -> Diagnostic?
    {
        do { return try ScheduledTime.refusal(campaign, occurrence: time, in: catalog) } catch {
            throw Diagnostic(explaining: error)
        }
    }

    /// What `volley send FILE` does: it sends now or not at all, as a person is watching.
    /// - Parameter isNow: `--now`.
    /// - Throws: `Diagnostic` when the campaign's time has not come, or has passed by too much.
    static func ofSending(_ campaign: Campaign, isNow: Bool, now: Timestamp) throws(Diagnostic) -> SendingTime {
        guard let schedule = campaign.schedule, !isNow else { return .now }
        guard schedule.hasTimes else { return .byHand }
        guard schedule.repeat == nil, let at = schedule.at else {
            let next = schedule.nextOccurrence(from: now)
            throw refused(campaign, when: "repeats" + (next.map { ", next at \(words($0, schedule))" } ?? ""))
        }
        let occurrence = schedule.occurrence(at: at)
        if occurrence.begins > now { throw refused(campaign, when: "goes out at \(words(occurrence, schedule))") }
        if schedule.isPast(occurrence, at: now) { throw past(campaign, occurrence, schedule) }
        return .at(occurrence)
    }

    /// What `volley plan FILE` freezes: the next time, or the one under way.
    /// - Throws: `Diagnostic` when no time is left.
    static func ofPlanning(_ campaign: Campaign, now: Timestamp) throws(Diagnostic) -> SendingTime {
        let sendingTime = ofPreview(campaign, now: now)
        if case .at(let occurrence) = sendingTime, let schedule = campaign.schedule,
            schedule.isPast(occurrence, at: now)
        {
            throw past(campaign, occurrence, schedule)
        }
        return sendingTime
    }

    /// What a preview shows: the next time, otherwise the last one.
    static func ofPreview(_ campaign: Campaign, now: Timestamp) -> SendingTime {
        guard let schedule = campaign.schedule else { return .now }
        if let next = schedule.nextOccurrence(from: now) { return .at(next) }
        return schedule.at.map { .at(schedule.occurrence(at: $0)) } ?? .byHand
    }

    private static func refused(_ campaign: Campaign, when: String) -> Diagnostic {
        refused(
            campaign, when: when,
            remedy:
                "`volley schedule \(campaign.file)` waits for it. `volley send \(campaign.file) --now` sends it to all devices at once, and "
                + "`volley schedule` sends it again at its time.", [.leaveToSender, .ask(.sendNow)])
    }

    private static func refused(_ campaign: Campaign, when: String, remedy: String, _ remedies: [Remedy]) -> Diagnostic
    {
        let message = "'\(campaign.name.value)' \(when); nothing was sent"
        return campaign.schedulePosition.map { Diagnostic(message, at: $0, remedy: remedy, remedies) }
            ?? Diagnostic(message, remedy: remedy, remedies)
    }

    private static func past(_ campaign: Campaign, _ occurrence: Occurrence, _ schedule: Schedule) -> Diagnostic {
        refused(
            campaign,
            when:
                "was to go out at \(words(occurrence, schedule)), and it is too late for that now (late: \(schedule.late))",
            remedy: "Write a later time; `volley send \(campaign.file) --now` sends it to all devices at once.",
            [.giveAnotherTime, .ask(.sendNow)])
    }

    /// `2026-12-01 09:00 in Europe/Berlin (2026-12-01 08:00 in Etc/UTC)`: in the campaign's zone
    /// and in this machine's.
    static func words(_ occurrence: Occurrence, _ schedule: Schedule) -> String {
        let here = ZoneDatabase.system.displayZone
        let begins = "\(here.localTime(at: occurrence.begins).words) in \(here.name)"
        guard schedule.zone.isRecipient else {
            return "\(occurrence.localTime.words) in \(schedule.zone.fallback.name) (\(begins))"
        }
        return "\(occurrence.localTime.words) by each person's clock (from \(begins) on)"
    }
}
