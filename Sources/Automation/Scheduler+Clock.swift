import Base
import Campaigns
import Runs

/// The times that are due.
extension Scheduler {
    /// Notes the time on the clock. Call it often. Setting the clock changes only what is due.
    mutating func timePassed(to now: Timestamp) -> [Action] {
        var actions: [Action] = []
        if decided.count > Self.knownNames {
            let limit = now.adding(seconds: -Self.lookBackSeconds - 2 * 86_400)
            decided = decided.filter { $0.value >= limit }
            decidedByFile = decidedByFile.filter { $0.value >= limit }
        }
        for name in campaigns.keys.sorted() { actions += dueTimes(of: name, at: now) }
        for key in open.keys.sorted(by: { ($0.campaign, $0.occurrence) < ($1.campaign, $1.occurrence) }) {
            actions += reconsider(key, at: now)
        }
        return actions
    }

    /// The next time of a campaign; nil if the campaign is unknown or has no further time. Skipped
    /// times do not count.
    func nextTime(of name: String, after now: Timestamp) -> Occurrence? {
        guard let campaign = campaigns[name] else { return nil }
        var after = max(now, records[name]?.decidedThrough ?? now)
        while let next = campaign.schedule.next(after: after) {
            if decided[.init(campaign: name, occurrence: next.name)] == nil { return next }
            after = next.begins
        }
        return nil
    }

    /// The time of a campaign that has come and is not decided yet; nil without one.
    func dueTime(of name: String, at now: Timestamp) -> Occurrence? {
        guard let campaign = campaigns[name], let record = records[name],
            let next = campaign.schedule.next(after: record.decidedThrough), next.begins <= now
        else { return nil }
        return decided[.init(campaign: name, occurrence: next.name)] == nil ? next : nil
    }

    // MARK: - Times

    private mutating func dueTimes(of name: String, at now: Timestamp) -> [Action] {
        guard let campaign = campaigns[name], var record = records[name] else { return [] }
        if record.decidedThrough.epochSeconds - now.epochSeconds > Self.longestStepSeconds {
            // The clock had been wrong. Times that fired or were skipped in the meantime are
            // recorded by name, and do not fire again.
            record.decidedThrough = now
            (records[name], next[name]) = (record, nil)
            return [.save([], [record])]
        }
        if next[name] == nil { next[name] = .some(campaign.schedule.next(after: record.decidedThrough)?.begins) }
        guard let due = next[name] ?? nil, due <= now else { return [] }
        let (times, forgotten) = missedTimes(of: campaign, since: &record.decidedThrough, at: now)
        var saved: [ScheduledRun] = []
        var told: [Action] = [], done: [Action] = []
        for (index, time) in times.enumerated() {
            // The mistake in the file may still be corrected in time.
            if !campaign.isValid, !isTooLate(campaign, ends: time.ends, at: now) { break }
            record.decidedThrough = max(record.decidedThrough, time.begins)
            guard decided[.init(campaign: name, occurrence: time.name)] == nil else { continue }
            var scheduledRun = ScheduledRun(
                key: .init(campaign: name, occurrence: time.name), file: campaign.file, run: nil, state: .planning,
                begins: time.begins,
                ends: time.ends, changedAt: now)
            if let problem = problem(
                campaign, time, later: index + 1 < times.count ? times[times.count - 1] : nil, at: now)
            {
                scheduledRun.state = .skipped
                scheduledRun.problem = index == 0 && forgotten > 0 ? .andBefore(times: forgotten, problem) : problem
                told.append(.notify(.skipped, scheduledRun))
            } else {
                let (superseded, actions) = supersede(campaign, by: time, at: now)
                saved += superseded
                told += actions
                scheduledRun.run = makeRunID(name, now)
                open[scheduledRun.key] = (scheduledRun, .planning)
                done.append(.plan(scheduledRun))
            }
            note(scheduledRun)
            saved.append(scheduledRun)
        }
        next[name] = nil
        guard record != records[name] else { return [] }
        records[name] = record
        return [.save(saved, [record])] + told + done
    }

    /// All times that are due and not decided, the oldest first: the last `recordedMisses` at most,
    /// and the number of those before them.
    private func missedTimes(
        of campaign: Campaign, since decided: inout Timestamp, at now: Timestamp
    ) -> (times: [Occurrence], forgotten: Int) {
        guard campaign.schedule.repeat != nil else {
            // A single time counts however long ago it is.
            let time = campaign.schedule.at.map { campaign.schedule.occurrence(at: $0) }
            return ([time].compactMap(\.self).filter { $0.begins > decided && $0.begins <= now }, 0)
        }
        decided = max(decided, now.adding(seconds: -Self.lookBackSeconds))
        let times = campaign.schedule.occurrences(
            from: Timestamp(epochMilliseconds: decided.epochMilliseconds + 1), through: now)
        return (Array(times.suffix(Self.recordedMisses)), max(0, times.count - Self.recordedMisses))
    }

    private func isTooLate(_ campaign: Campaign, ends: Timestamp, at now: Timestamp) -> Bool {
        campaign.schedule.isTooLate(for: ends, at: now)
    }

    /// Why a time is not sent; nil if it is.
    private func problem(_ campaign: Campaign, _ time: Occurrence, later: Occurrence?, at now: Timestamp)
        -> ScheduleProblem?
    {
        if let unknownThrough, time.begins <= unknownThrough { return .restored }
        if isTooLate(campaign, ends: time.ends, at: now) {
            let seconds = Int(now.epochSeconds - time.ends.epochSeconds)
            return campaign.isValid ? .noticedLate(seconds: seconds) : .brokenTooLong(seconds: seconds)
        }
        if decidedByFile[.init(campaign: campaign.file, occurrence: time.name)] != nil {
            return .sentUnderAnotherName
        }
        // Devices that missed several times get the push once, at the last of them.
        if let later, time.ends < now { return .nextHadCome(later.name) }
        return nil
    }

    /// Skips the times of a campaign that are still waiting when its next time is due.
    private mutating func supersede(_ campaign: Campaign, by time: Occurrence, at now: Timestamp) -> (
        saved: [ScheduledRun], actions: [Action]
    ) {
        var saved: [ScheduledRun] = [], actions: [Action] = []
        for (key, entry) in open
        where key.campaign == campaign.name && entry.scheduledRun.ends < now && entry.scheduledRun.ends < time.begins {
            switch (entry.scheduledRun.state, entry.phase) {
            case (.waiting, _), (.planning, .retrying): break
            default: continue
            }
            var scheduledRun = entry.scheduledRun
            let before = scheduledRun.state == .waiting ? .unapproved : scheduledRun.problem
            (scheduledRun.state, scheduledRun.problem, scheduledRun.changedAt) = (
                .skipped, .superseded(by: time.name, before), now
            )
            open[key] = nil
            saved.append(scheduledRun)
            if entry.scheduledRun.state == .waiting { actions.append(.withdraw(scheduledRun)) }
            actions.append(.notify(.skipped, scheduledRun))
        }
        return (saved, actions)
    }

    // MARK: - Open scheduled runs

    private mutating func reconsider(_ key: ScheduledRun.Key, at now: Timestamp) -> [Action] {
        guard let (scheduledRun, phase) = open[key] else { return [] }
        switch phase {
        case .planning, .sending, .examining: return []
        case .retrying(let time):
            // If there is a plan, examine the run first: something may have been sent.
            if scheduledRun.state == .planning, isTooLate(scheduledRun, at: now) {
                return skip(scheduledRun, because: scheduledRun.problem, hasPlan: false, at: now)
            }
            // A clock that was set back must not prolong the wait.
            guard now >= time || time.epochSeconds - now.epochSeconds > Int64(Self.longestPauseSeconds) else {
                return []
            }
            open[key]?.phase = .examining
            return [.examine(scheduledRun)]
        case .idle:
            open[key]?.phase = .examining
            return [.examine(scheduledRun)]
        }
    }

    /// Whether a scheduled run is too late to begin. If the campaign's file no longer exists, the
    /// default of `late` applies.
    func isTooLate(_ scheduledRun: ScheduledRun, at now: Timestamp) -> Bool {
        campaigns[scheduledRun.key.campaign]?.schedule.isTooLate(for: scheduledRun.ends, at: now)
            ?? LatePolicy.usual.isTooLate(bySeconds: Int(now.epochSeconds - scheduledRun.ends.epochSeconds))
    }

    /// Ends a scheduled run without sending it.
    /// - Parameter hasPlan: whether there is a plan, which must be cancelled so that it cannot be
    ///   sent.
    mutating func skip(
        _ scheduledRun: ScheduledRun, because problem: ScheduleProblem?, hasPlan: Bool, at now: Timestamp
    ) -> [Action] {
        var skipped = scheduledRun
        (skipped.state, skipped.problem, skipped.changedAt) = (.skipped, problem, now)
        open[scheduledRun.key] = nil
        failures[scheduledRun.key] = nil
        return [.save([skipped], [])] + (hasPlan ? [.withdraw(skipped)] : []) + [.notify(.skipped, skipped)]
    }
}
