import Base
import Campaigns
import Runs

/// Times that a person approves before they are planned.
extension Scheduler {
    /// Whether a plan may be sent, as far as approvals go.
    enum Consent: Hashable {
        /// It is approved, or needs no approval.
        case given
        case missing
        /// An approval that was given ahead does not hold for it.
        case void(ScheduleProblem)
    }

    /// Records an approval of a time to come, in place of an earlier one. Whether it holds is judged when the time is planned.
    mutating func approve(_ approval: AdvanceApproval, at now: Timestamp) -> Change {
        if let refusal = refusal(of: approval.key, at: now) { return Change(refusal: refusal) }
        if approvals[approval.key] == approval { return Change() }
        approvals[approval.key] = approval
        return Change(actions: [.approve(approval)])
    }

    /// Takes the approval of a time to come back.
    mutating func withdrawApproval(of key: ScheduledRun.Key, at now: Timestamp) -> Change {
        if let open = open[key]?.scheduledRun { return Change(refusal: .timeHasCome(run: open.run)) }
        guard approvals.removeValue(forKey: key) != nil else { return Change() }
        return Change(actions: [.withdrawApproval(key)])
    }

    private func refusal(of key: ScheduledRun.Key, at now: Timestamp) -> OrderRefusal? {
        // What is decided before it is due was left out by a person.
        comingTime(key, at: now).refusal ?? (decided[key] == nil ? nil : .noSuchTime)
    }

    /// A time of a campaign's schedule that is not due yet, or why there is none of that name.
    func comingTime(_ key: ScheduledRun.Key, at now: Timestamp) -> (time: Occurrence?, refusal: OrderRefusal?) {
        guard let campaign = campaigns[key.campaign], let local = LocalTime(key.occurrence) else { return (nil, .noSuchTime) }
        let begins = campaign.schedule.occurrence(at: local).begins
        guard let time = campaign.schedule.occurrences(from: begins, through: begins).first(where: { $0.name == key.occurrence }) else {
            return (nil, .noSuchTime)
        }
        if let open = open[key]?.scheduledRun { return (nil, .timeHasCome(run: open.run)) }
        return time.begins > now ? (time, nil) : (nil, .timeHasCome(run: nil))
    }
}
