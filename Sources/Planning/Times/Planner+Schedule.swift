import Audience
import Base
import Campaigns
import Runs

extension Planner {
    private var occurrence: Occurrence? { if case .at(let occurrence) = sendingTime { occurrence } else { nil } }

    /// The part of the schedule that the run keeps; nil when it goes out at once.
    var frozenSchedule: FrozenSchedule? {
        guard sendingTime != .now, let schedule = context.campaign.schedule else { return nil }
        return FrozenSchedule(schedule, occurrence)
    }

    /// When each device gets it; nil when all get it at once.
    func sendTimes() throws(Diagnostic) -> SendTimes? {
        guard sendingTime != .now, let schedule = context.campaign.schedule else { return nil }
        return try SendTimes(schedule, occurrence, now: now)
    }

    /// The times that devices' zones are judged with; nil when zones do not matter. Also when a
    /// campaign is sent at once despite quiet hours: a warning says how many devices are in theirs.
    func deviceClocks(_ times: SendTimes?) throws(Diagnostic) -> SendTimes? {
        if let times { return times.isByDevice ? times : nil }
        guard let schedule = context.campaign.schedule, schedule.quietHours != nil else { return nil }
        return try SendTimes(schedule, nil, now: now)
    }

    /// The times of the campaign in a preview; nil without a schedule.
    func previewSchedule(_ times: SendTimes?, _ counts: [Int: Int]) -> PreviewSchedule? {
        guard let schedule = context.campaign.schedule else { return nil }
        return PreviewSchedule(schedule, sendingTime, times, counts, now: now)
    }
}
