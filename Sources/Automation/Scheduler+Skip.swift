import Base
import Campaigns
import Runs
import Scheduling

/// Times that a person leaves out before they come.
extension Scheduler {
    /// What leaving out a time leads to.
    struct LeavingOut: Hashable {
        /// A `save` that makes it last, and a notice; none if the time was left out before.
        var actions: [Action] = []
        /// Why the time cannot be left out; nil if it can.
        var refusal: OrderRefusal?
    }

    /// Records that a time is not sent, before it comes. From then on it is decided like any time that was skipped: it does not fire, whatever happens to the
    /// campaign's file, its name or the clock. The plan of a time that has come can only be cancelled.
    /// - Parameter name: the person.
    mutating func leaveOut(_ key: ScheduledRun.Key, by name: String, at now: Timestamp) -> LeavingOut {
        guard let campaign = campaigns[key.campaign], let local = LocalTime(key.occurrence) else { return LeavingOut(refusal: .noSuchTime) }
        let begins = campaign.schedule.occurrence(at: local).begins
        guard let time = campaign.schedule.occurrences(from: begins, through: begins).first(where: { $0.name == key.occurrence }) else {
            return LeavingOut(refusal: .noSuchTime)
        }
        if let open = open[key]?.scheduledRun { return LeavingOut(refusal: .timeHasCome(run: open.run)) }
        guard time.begins > now else { return LeavingOut(refusal: .timeHasCome(run: nil)) }
        // A time to come is decided only if it was left out, or if a clock that was wrong had shown it.
        if decided[key] != nil { return LeavingOut() }
        let scheduledRun = ScheduledRun(
            key: key, file: campaign.file, run: nil, state: .skipped, problem: .leftOut(by: name), begins: time.begins, ends: time.ends,
            changedAt: now)
        note(scheduledRun)
        return LeavingOut(actions: [.save([scheduledRun], []), .notify(.skipped, scheduledRun)])
    }
}
