import Base
import Campaigns
import Runs

/// Times that a person leaves out before they come.
extension Scheduler {
    /// Records that a time is not sent, before it comes. From then on it is decided like any time that was skipped: it does not fire, whatever happens to the
    /// campaign's file, its name or the clock. The plan of a time that has come can only be cancelled.
    /// - Parameter name: the person.
    mutating func leaveOut(_ key: ScheduledRun.Key, by name: String, at now: Timestamp) -> Change {
        let (coming, refusal) = comingTime(key, at: now)
        guard let time = coming else { return Change(refusal: refusal) }
        // A time to come is decided only if it was left out, or if a clock that was wrong had shown it.
        guard decided[key] == nil, let file = campaigns[key.campaign]?.file else { return Change() }
        let scheduledRun = ScheduledRun(
            key: key, file: file, run: nil, state: .skipped, problem: .leftOut(by: name), begins: time.begins, ends: time.ends,
            changedAt: now)
        note(scheduledRun)
        return Change(actions: [.save([scheduledRun], []), .notify(.skipped, scheduledRun)])
    }
}
