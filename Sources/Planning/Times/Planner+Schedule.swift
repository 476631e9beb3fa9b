import Audience
import Base
import Campaigns
import Runs
import Scheduling

extension Planner {
    private var occurrence: Occurrence? { if case .at(let occurrence) = sendingTime { occurrence } else { nil } }

    /// What the run keeps of the schedule; nil when it goes out at once.
    var frozenSchedule: FrozenSchedule? {
        guard sendingTime != .now, let schedule = context.campaign.schedule else { return nil }
        return FrozenSchedule(schedule, occurrence)
    }

    /// Who gets it when; nil when all get it at once.
    func sendTimes() throws(Diagnostic) -> SendTimes? {
        guard sendingTime != .now, let schedule = context.campaign.schedule else { return nil }
        return try SendTimes(schedule, occurrence, now: now)
    }

    /// What devices' zones are judged by; nil when they do not matter. Whoever sends at once in spite of quiet hours is told how many are in theirs.
    func deviceClocks(_ times: SendTimes?) throws(Diagnostic) -> SendTimes? {
        if let times { return times.isByDevice ? times : nil }
        guard let schedule = context.campaign.schedule, schedule.quietHours != nil else { return nil }
        return try SendTimes(schedule, nil, now: now)
    }

    /// What a preview says of when it goes out; nil for a campaign without a schedule.
    func previewSchedule(_ times: SendTimes?, _ counts: [Int: Int]) -> PreviewSchedule? {
        guard let schedule = context.campaign.schedule else { return nil }
        return PreviewSchedule(schedule, sendingTime, times, counts, now: now)
    }
}
