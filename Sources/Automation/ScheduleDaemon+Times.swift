import Base
import CLinux
import Campaigns
import Planning
import Reports
import Runs
import Sending

/// Campaigns at their times: events from files, clock and threads go to the scheduler, and its
/// decisions are carried out.
extension ScheduleDaemon {
    // MARK: - Events

    func readFiles() throws {
        let now = Timestamp.now()
        try lock.keep()
        if let reading = files.readIfChanged(now: now) { try apply(reading, now: now) }
        if try mayFindTimes(at: now) { try perform(scheduler.timePassed(to: now)) }
    }

    func apply(_ reading: ScheduleFiles.Reading, now: Timestamp) throws {
        let before = scheduler.campaigns
        for (file, found) in reading.mistakes.sorted(by: { $0.key < $1.key }) where mistakes[file]?.all != found.all {
            observer(.invalid(file: file, found))
            var notice = Notice(.invalid)
            let campaign = before.values.first { $0.file == file }
            (notice.file, notice.campaign, notice.app) = (file, campaign?.name, campaign?.app)
            notice.reason = found.all.first?.description ?? ""
            notices.post(notice)
        }
        for file in mistakes.keys.sorted() where reading.mistakes[file] == nil {
            observer(.mended(file: file, isGone: !FilePaths.exists(file)))
        }
        mistakes = reading.mistakes
        try perform(scheduler.campaignsRead(reading.campaigns, unreadable: reading.unreadable, at: now))
        let zones = scheduler.campaigns.values.filter { Scheduler.hasOtherRules($0, before[$0.name]) }.map(
            \.schedule.zone.fallback.name)
        if !zones.isEmpty { observer(.zonesChanged(Set(zones).sorted())) }
        for (name, campaign) in scheduler.campaigns.sorted(by: { $0.key < $1.key })
        where before[name] != campaign && campaign.isValid {
            // A time that has come is the next one, not the end of all.
            let next = scheduler.dueTime(of: name, at: now) ?? scheduler.nextTime(of: name, after: now)
            observer(.next(campaign: name, app: campaign.app, next, campaign.schedule.zone))
        }
        for name in before.keys.sorted() where scheduler.campaigns[name] == nil {
            let waiting = scheduler.open.values.map(\.scheduledRun).filter {
                $0.key.campaign == name && $0.state == .waiting
            }
            observer(.gone(campaign: name, waiting: waiting.compactMap(\.run).sorted()))
        }
        if !reading.ignoredFiles.isEmpty { observer(.ignored(files: reading.ignoredFiles)) }
        for file in reading.unscheduledFiles { observer(.unscheduled(file: file)) }
    }

    func handle(_ event: Event, isEnding: Bool = false) throws {
        let now = Timestamp.now()
        switch event {
        case .planned(let key, .planned(let consent)):
            // The next process finds the plan.
            guard !isEnding, let scheduledRun = scheduler.open[key]?.scheduledRun else { break }
            if try perform(scheduler.planned(key, consent, at: now)).contains(key) {
                var cancelled = scheduledRun
                cancelled.problem = .stopped(.cancelled)
                looks.put(.withdraw(cancelled))
            }
        case .planned(let key, .failed(let words)):
            observer(.planFailed(key, words: words))
            try perform(scheduler.failed(key, because: .described(words), at: now))
        case .planned(let key, .postponed(let problem)):
            let actions = scheduler.postponed(key, because: problem, at: now)
            if !actions.isEmpty { observer(.postponed(key, problem)) }
            try perform(actions)
        case .planned(let key, .moved(let time)):
            let actions = scheduler.moved(key, to: time, at: now)
            if !actions.isEmpty { observer(.postponed(key, .zoneChanged)) }
            try perform(actions)
        case .planned(let key, .cancelledPlan(let problem)):
            try perform(scheduler.cancelledPlan(key, because: problem, at: now))
        case .found(let key, .taken):
            if scheduler.open[key] != nil { try leave(key) }
        // The next process examines it again.
        case .found(let key, let finding):
            if let run = scheduler.open[key]?.scheduledRun.run, work.metrics.note(run, isPaused: finding == .paused) {
                observer(.paused(key, run: run))
            }
            if !isEnding { try perform(scheduler.found(key, finding, at: now)) }
        case .planned(_, .interrupted): break
        case .sent(_, .success(let sent)) where sent.end == .interrupted: break
        case .sent(let key, let result):
            sending.removeValue(forKey: key)?.join()
            returnMemory()
            try handleEnd(key, result, now: now)
        case .order(let nonce, let answer): handle(nonce, answer)
        }
    }

    /// The threads of a run have ended, but their memory is still in their heaps.
    func returnMemory() { volley_return_memory() }

    func handleEnd(_ key: ScheduledRun.Key, _ result: Result<ScheduledRunWork.SendOutcome, Diagnostic>, now: Timestamp)
        throws
    {
        switch result {
        case .failure(let mistake):
            observer(.sendFailed(key, mistake))
            try perform(scheduler.failed(key, because: .described(mistake.description), at: now))
        case .success(let sent):
            let (state, problem): (ScheduledRun.State, ScheduleProblem?) =
                switch sent.end {
                case .finished: (.finished, sent.problem)
                case .stopped(let cause): (.stopped, .stopped(cause))
                case .cancelled, .interrupted: (.cancelled, .stopped(.cancelled))
                }
            observer(.ended(key, state, problem))
            try perform(scheduler.ended(key, state, because: problem, at: now))
        }
    }

    // MARK: - Actions

    /// - Returns: the times that could not be saved, as other processes have them.
    @discardableResult
    func perform(_ actions: [Scheduler.Action]) throws -> Set<ScheduledRun.Key> {
        var taken: Set<ScheduledRun.Key> = []
        for action in actions where !(action.key.map(taken.contains) ?? false) {
            switch action {
            case .save(let scheduledRuns, let campaigns):
                guard let scheduledRuns = try claimed(scheduledRuns, &taken) else { continue }
                for key in try store.save(scheduledRuns, campaigns, waits: waitsForRecord).sorted(by: {
                    $0.description < $1.description
                }) {
                    taken.insert(key)
                    try leave(key)
                }
            case .plan(let scheduledRun):
                // One that waits for its files is planned every two seconds, and was already
                // reported.
                if scheduledRun.problem == nil { observer(.due(scheduledRun.key, run: scheduledRun.run ?? "")) }
                plans.put(.scheduled(scheduledRun, scheduler.approvals[scheduledRun.key], queuedAt: .now()))
            case .examine(let scheduledRun):
                // A process that ended between a plan and its approval left it to this one.
                let approval = scheduledRun.state == .planning ? scheduler.approvals[scheduledRun.key] : nil
                looks.put(.examine(scheduledRun, approval))
            case .approve(let approval): try store.save(approval)
            case .withdrawApproval(let key): try store.removeApproval(of: key)
            case .send(let scheduledRun): send(scheduledRun)
            case .withdraw(let scheduledRun): if !looks.put(.withdraw(scheduledRun)) { work.withdraw(scheduledRun) }
            case .notify(let event, let scheduledRun): notify(event, scheduledRun)
            }
        }
        return taken
    }

    /// Leaves a time to the person that has sent, resumed or cancelled it.
    private func leave(_ key: ScheduledRun.Key) throws {
        scheduler.taken(key)
        // Other machines must not take it over.
        if let cancelled = try store.scheduledRun(key), cancelled.state == .cancelled { noteEnd(of: cancelled) }
        observer(.taken(key))
    }

    /// Reports that another program holds the record. Until it is free, nothing is decided, and
    /// runs continue to be sent. Waiting gives no sign of life, so the watchdog notices a long
    /// wait.
    func waitsForRecord() -> Bool {
        observer(.recordBusy(path: store.place))
        return !cancellation.isRequested
    }

    func send(_ scheduledRun: ScheduledRun) {
        observer(.sending(scheduledRun.key, run: scheduledRun.run ?? ""))
        do throws(Diagnostic) {
            sending[scheduledRun.key] = try WorkerThread("send") { [work, events, notices, heartbeats] in
                let result: Result<ScheduledRunWork.SendOutcome, Diagnostic>
                do {
                    result = .success(
                        try heartbeats.during(.sending(scheduledRun.key)) { try work.send(scheduledRun, notices) })
                } catch {
                    result = .failure(Diagnostic(explaining: error))
                }
                events.add(.sent(scheduledRun.key, result))
            }
        } catch { events.add(.sent(scheduledRun.key, .failure(error))) }
    }

    func notify(_ event: NoticeEvent, _ scheduledRun: ScheduledRun) {
        var notice = Notice(event)
        (notice.campaign, notice.occurrence, notice.run) = (
            scheduledRun.key.campaign, scheduledRun.key.occurrence, scheduledRun.run
        )
        (notice.file, notice.reason) = (scheduledRun.file, scheduledRun.problem?.sentence ?? "")
        notice.app = scheduler.campaigns[scheduledRun.key.campaign]?.app
        notice.isPlanned = scheduledRun.state != .planning
        if event == .approvalNeeded { notice.state = .planned }
        if event == .stopped { notice.state = .stopped }
        // `planFailed` or `sendFailed` already logged it.
        if event != .failed { observer(.notice(notice)) }
        notices.post(notice)
    }

    // MARK: - Monitoring

    /// - Parameter end: why the process ends by itself; nil when it does not.
    func report(isUp: Bool, end: Diagnostic? = nil) {
        let now = Timestamp.now()
        var next: [String: Occurrence] = [:]
        for name in scheduler.campaigns.keys { next[name] = scheduler.nextTime(of: name, after: now) }
        var storeAbsence = isUp ? storeAbsence : nil
        storeAbsence?.waiting = scheduler.campaigns.keys.sorted().compactMap { name in
            scheduler.dueTime(of: name, at: now).map { .init(campaign: name, occurrence: $0.name) }
        }
        let status = ScheduleMonitoring.Status(
            isUp: isUp, campaigns: scheduler.campaigns, next: next, open: scheduler.open.values.map(\.scheduledRun),
            mistakes: mistakes,
            last: ((try? store.lastEnded(at: now)) ?? []).filter { !($0.problem?.isElsewhere ?? false) },
            silentJobs: heartbeats.silentJobs,
            silentServices: work.metrics.longSilences(uptime: Heartbeats.uptime), trouble: end ?? recordAbsence,
            storeAbsence: storeAbsence, obstacles: obstacles,
            paused: work.metrics.paused)
        watchdog.note(status)
        monitoring.write(status, at: now)
    }
}
