import Base
import Campaigns
import Runs

/// What became of actions.
extension Scheduler {
    /// The plan of a firing is made. It was begun in time; but a machine may have slept meanwhile.
    mutating func planned(_ key: Firing.Key, needsApproval: Bool, at now: Timestamp) -> [Action] {
        guard let firing = open[key]?.firing else { return [] }
        if isTooLate(firing, at: now.adding(seconds: -Self.planningSeconds)) {
            return skip(firing, because: "its plan was ready too late", hasPlan: true, at: now)
        }
        guard needsApproval else { return send(firing, at: now) }
        failures[key] = nil
        var waiting = firing
        (waiting.state, waiting.reason, waiting.changedAt) = (.waiting, "", now)
        open[key] = (waiting, .idle)
        return [.save([waiting], []), .tell(.approvalNeeded, waiting)]
    }

    /// A firing could not be planned, or sending it could not begin or go on. It is tried again: as long as `late` allows, and without an end once
    /// something was sent.
    mutating func failed(_ key: Firing.Key, because reason: String, at now: Timestamp) -> [Action] {
        guard let entry = open[key] else { return [] }
        var firing = entry.firing
        let failures = failures[key, default: 0] + 1
        self.failures[key] = failures
        let pause = min(Self.firstPauseSeconds * Double(1 << min(failures - 1, 10)), Self.longestPauseSeconds)
        let isNews = firing.reason != reason
        (firing.reason, firing.changedAt) = (reason, now)
        open[key] = (firing, .retrying(at: now.adding(seconds: pause)))
        return isNews ? [.save([firing], [])] + (failures == 1 ? [.tell(.failed, firing)] : []) : []
    }

    /// A firing was not planned, because what it is planned from may still be being written. That is no failure: it is tried again soon, as long as
    /// `late` allows.
    mutating func postponed(_ key: Firing.Key, because reason: String, at now: Timestamp) -> [Action] {
        guard var firing = open[key]?.firing else { return [] }
        let isNews = firing.reason != reason
        if isNews { (firing.reason, firing.changedAt) = (reason, now) }
        open[key] = (firing, .retrying(at: now.adding(seconds: Self.quietPauseSeconds)))
        return isNews ? [.save([firing], [])] : []
    }

    /// Between the time and its planning the campaign was changed, so that this is no time of it any more.
    mutating func withdrawn(_ key: Firing.Key, because reason: String, at now: Timestamp) -> [Action] {
        guard let firing = open[key]?.firing else { return [] }
        return skip(firing, because: reason, hasPlan: false, at: now)
    }

    /// What there is of a firing's run.
    mutating func found(_ key: Firing.Key, _ finding: Finding, at now: Timestamp) -> [Action] {
        guard let (firing, _) = open[key] else { return [] }
        switch (firing.state, finding) {
        case (_, .ended(let state, let reason)): return foundEnded(firing, as: state, reason, at: now)
        case (_, .elsewhere): return rest(firing, at: now)
        case (_, .unfinished): return send(firing, at: now)
        case (.sending, .unreadable(let reason)): return failed(key, because: reason, at: now)
        case (_, .unreadable(let reason)):
            // Nothing of it was sent.
            if isTooLate(firing, at: now) { return skip(firing, because: reason, hasPlan: true, at: now) }
            return failed(key, because: reason, at: now)
        case (.planning, .nothing):
            if isTooLate(firing, at: now) {
                let reason = firing.reason.isEmpty ? "the process that planned it was ended, and there was no other in time" : firing.reason
                return skip(firing, because: reason, hasPlan: false, at: now)
            }
            guard let campaign = campaigns[key.campaign] else { return plan(firing) }
            guard campaign.isValid else { return failed(key, because: "its file has mistakes, or cannot be read", at: now) }
            // Its file may have another name by now.
            var moved = firing
            moved.file = campaign.file
            return (moved == firing ? [] : [.save([moved], [])]) + plan(moved)
        case (_, .nothing): return foundEnded(firing, as: .stopped, "the file of its run is gone", at: now)
        case (.waiting, .plan(needsApproval: true)):
            if isTooLate(firing, at: now) { return skip(firing, because: "nobody approved it in time", hasPlan: true, at: now) }
            return rest(firing, at: now)
        case (_, .plan(let needsApproval)):
            // Nothing of it was sent.
            if isTooLate(firing, at: now) {
                return skip(
                    firing, because: firing.reason.isEmpty ? "it could not be begun in time" : firing.reason, hasPlan: true, at: now)
            }
            return planned(key, needsApproval: needsApproval, at: now)
        }
    }

    /// Sending has ended. `interrupted` is no end: whoever comes next goes on.
    mutating func ended(_ key: Firing.Key, _ state: Firing.State, because reason: String, at now: Timestamp) -> [Action] {
        guard let firing = open[key]?.firing else { return [] }
        return end(firing, as: state, reason, at: now)
    }

    /// A firing could not be saved, as another process has claimed its time: that one sends it, or has.
    mutating func taken(_ key: Firing.Key) {
        open[key] = nil
        failures[key] = nil
    }

    private mutating func plan(_ firing: Firing) -> [Action] {
        open[firing.key] = (firing, .planning)
        note(firing)
        return [.plan(firing)]
    }

    private mutating func send(_ firing: Firing, at now: Timestamp) -> [Action] {
        var sending = firing
        (sending.state, sending.reason, sending.changedAt) = (.sending, "", now)
        open[firing.key] = (sending, .sending)
        return (firing.state == .sending && firing.reason.isEmpty ? [] : [.save([sending], [])]) + [.send(sending)]
    }

    /// All is well with a firing, and it is looked at again soon.
    private mutating func rest(_ firing: Firing, at now: Timestamp) -> [Action] {
        var calm = firing
        failures[firing.key] = nil
        if !firing.reason.isEmpty { (calm.reason, calm.changedAt) = ("", now) }
        open[firing.key] = (calm, .idle)
        return calm == firing ? [] : [.save([calm], [])]
    }

    /// A run came to an end that this process has not seen. Of one that stopped perhaps nobody was told.
    private mutating func foundEnded(_ firing: Firing, as state: Firing.State, _ reason: String, at now: Timestamp) -> [Action] {
        var ended = firing
        (ended.state, ended.reason, ended.changedAt) = (state, reason, now)
        return end(firing, as: state, reason, at: now) + (state == .stopped ? [.tell(.stopped, ended)] : [])
    }

    private mutating func end(_ firing: Firing, as state: Firing.State, _ reason: String, at now: Timestamp) -> [Action] {
        var ended = firing
        (ended.state, ended.reason, ended.changedAt) = (state, reason, now)
        open[firing.key] = nil
        failures[firing.key] = nil
        return [.save([ended], [])]
    }
}
