import Workspace
import Sending
public import Base
public import Campaigns
import Reports
public import Runs
import Scheduling
import Synchronization

/// The work of `volley schedule`: reads the files and the clock, asks the `Scheduler` what to do, and does it. One thread plans, one plan
/// after the other, as each plan uses all cores. Every run that is sent has a thread. A further thread reads run files, so that a process
/// that holds one delays nothing else.
public final class ScheduleDaemon {
    /// A result from one of the threads.
    private enum Event: Sendable {
        case planned(ScheduledRun.Key, ScheduledRunWork.Planned)
        case found(ScheduledRun.Key, Scheduler.Finding)
        case sent(ScheduledRun.Key, Result<ScheduledRunWork.SendOutcome, Diagnostic>)
    }

    /// A task for the thread that reads run files.
    private enum Look: Sendable {
        case examine(ScheduledRun)
        case withdraw(ScheduledRun)
    }

    /// The pause between two readings of the files and the clock. They are polled because a network file system does not report changes,
    /// and because the lock's file must be created again if it was removed.
    private static let secondsPerLook = 1.0
    private static let looksPerReport = 5

    private let work: ScheduledRunWork
    private let store: ScheduleStore
    private let observer: ScheduleObserver
    private let cancellation: Cancellation
    private let monitoring: ScheduleMonitoring
    private let lock: ScheduleLock
    private var files: ScheduleFiles
    private var scheduler: Scheduler
    private var notices: Notices
    private var mistakes: [String: Diagnostics] = [:]
    private var sending: [ScheduledRun.Key: WorkerThread<Void>] = [:]
    private let events: EventList
    private let plans = BoundedQueue<(scheduledRun: ScheduledRun, at: Timestamp)>(capacity: 10_000)
    private let looks = BoundedQueue<Look>(capacity: 10_000)
    private let heartbeats = Heartbeats()
    private let watchdog: WatchdogThread
    private let project: Project

    private final class EventList: Sendable {
        private let events = Mutex<[Event]>([])
        /// Woken by each event.
        let added: Wakeup

        init() throws(Diagnostic) { added = try Wakeup() }

        func add(_ event: Event) {
            events.withLock { $0.append(event) }
            added.wake()
        }

        func take() -> [Event] {
            added.clear()
            return events.withLock { events in
                defer { events = [] }
                return events
            }
        }
    }

    /// - Parameters:
    ///   - project: names the receivers of notices and the files of `monitoring`.
    ///   - lock: ensures that this is the only `volley schedule` for the record.
    /// - Throws: a `Diagnostic` if the record cannot be used.
    public init(
        files: ScheduleFiles, project: Project, lock: ScheduleLock, _ attendance: ScheduleAttendance
    ) throws {
        let catalog = files.catalog
        self.files = files
        self.lock = lock
        self.project = project
        events = try EventList()
        observer = attendance.observer
        cancellation = attendance.cancellation
        watchdog = WatchdogThread(heartbeats)
        work = ScheduledRunWork(catalog: catalog, choice: files.choice, attendance: attendance, heartbeats: heartbeats)
        store = try catalog.schedule.open()
        notices = Notices(project, patience: .long, observer.notices)
        monitoring = ScheduleMonitoring(project, catalog, counting: work.counter, observer.monitoring)
        let since = Timestamp.now().adding(seconds: -Scheduler.lookBackSeconds - 2 * 86_400)
        scheduler = Scheduler(scheduledRuns: try store.scheduledRuns(since: since), campaigns: try store.campaigns()) { campaign, now in
            RunID.make(campaign: campaign, now: now, seed: .random())
        }
    }

    /// Works until it is interrupted or its record fails. A failed record goes to the observer and is not thrown: pushes may have been sent
    /// by then.
    /// - Throws: a `Diagnostic` if its threads cannot be started; then nothing was done.
    public func run() throws(Diagnostic) -> ScheduleEnd {
        heartbeats.sign(of: .mainLoop)
        watchdog.note(.init(isUp: true, campaigns: [:], next: [:], open: [], mistakes: [:], last: []))
        let planner = try startPlanner(), looker: WorkerThread<Void>, watcher: WorkerThread<Void>
        do throws(Diagnostic) { looker = try startLooker() } catch {
            plans.close()
            planner.join()
            throw error
        }
        do throws(Diagnostic) { watcher = try startWatchdog() } catch {
            plans.close()
            looks.close()
            planner.join()
            looker.join()
            throw error
        }
        // Without it only the statistics of reports are missing.
        let asker = try? startAsker()
        var failure: (any Error)?
        do {
            try loop()
            observer(.ending)
        } catch {
            // Nothing more may be sent without the record.
            failure = error
            cancellation.request()
        }
        // From here on the main loop only waits for the other threads.
        heartbeats.ended(.mainLoop)
        plans.close()
        looks.close()
        planner.join()
        looker.join()
        asker?.join()
        for thread in sending.values { thread.join() }
        // Each thread may be joined only once.
        sending = [:]
        for event in events.take() where failure == nil { try? handle(event, isEnding: true) }
        notices.finish(withinSeconds: Notices.longestFlushSeconds)
        watchdog.end()
        watcher.join()
        report(isUp: false)
        store.close()
        guard let failure else { return .cancelled }
        observer(.recordLost(failure))
        return .recordLost
    }

    /// Reads the files and the clock and acts on them until it is interrupted.
    private func loop() throws {
        let clock = ContinuousClock()
        var next = clock.now, looks = 0
        while !cancellation.isRequested {
            let isLook = clock.now >= next
            if isLook {
                try readFiles()
                next = clock.now + .seconds(Self.secondsPerLook)
            }
            for event in events.take() { try handle(event) }
            if isLook {
                if looks % Self.looksPerReport == 0 { report(isUp: true) }
                looks += 1
            }
            cancellation.waitForRequest(atMost: clock.now.duration(to: next) / .seconds(1), orReadable: events.added.descriptor)
            heartbeats.sign(of: .mainLoop)
        }
    }

    private func startPlanner() throws(Diagnostic) -> WorkerThread<Void> {
        try WorkerThread("plan") { [plans, events, work, heartbeats, cancellation] in
            var quiet = StableFiles()
            while let (scheduledRun, at) = plans.take() {
                if cancellation.isRequested { continue }
                events.add(
                    .planned(
                        scheduledRun.key, heartbeats.during(.planning(scheduledRun.key)) { work.plan(scheduledRun, queuedAt: at, &quiet) }))
            }
        }
    }

    private func startWatchdog() throws(Diagnostic) -> WorkerThread<Void> {
        let (project, catalog, counter, observer, notices) = (project, work.catalog, work.counter, observer, notices)
        return try watchdog.start(
            tell: { silence in
                var notice = Notice(.stuck)
                (notice.campaign, notice.occurrence) = (silence.job.key?.campaign, silence.job.key?.occurrence)
                notice.reason = silence.text
                observer(.notice(notice))
                notices.post(notice)
            },
            write: { ScheduleMonitoring(project, catalog, counting: counter, observer.monitoring).writeHealth($0, at: .now()) })
    }

    private func startLooker() throws(Diagnostic) -> WorkerThread<Void> {
        try WorkerThread("look") { [looks, events, work, heartbeats, cancellation] in
            while let look = looks.take() {
                switch look {
                case .examine(let scheduledRun):
                    guard !cancellation.isRequested else { continue }
                    events.add(.found(scheduledRun.key, heartbeats.during(.looking(scheduledRun.key)) { work.examine(scheduledRun) }))
                case .withdraw(let scheduledRun): heartbeats.during(.looking(scheduledRun.key)) { work.withdraw(scheduledRun) }
                }
            }
        }
    }

    /// It is not watched: it only waits for services, and nobody waits for it.
    private func startAsker() throws(Diagnostic) -> WorkerThread<Void> {
        let (catalog, choice, context) = (work.catalog, work.choice, work.attendance.context)
        return try WorkerThread("ask") { [observer, cancellation] in
            var rounds = StatisticsRounds(catalog: catalog, choice: choice, context: context, observer: observer)
            while !cancellation.isRequested {
                rounds.look(at: .now(), until: cancellation)
                cancellation.waitForRequest(atMost: StatisticsRounds.secondsPerLook)
            }
        }
    }

    // MARK: - Events

    private func readFiles() throws {
        let now = Timestamp.now()
        try lock.keep()
        if let reading = files.readIfChanged(now: now) { try apply(reading, now: now) }
        try perform(scheduler.timePassed(to: now))
    }

    private func apply(_ reading: ScheduleFiles.Reading, now: Timestamp) throws {
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
        for (name, campaign) in scheduler.campaigns.sorted(by: { $0.key < $1.key }) where before[name] != campaign && campaign.isValid {
            observer(.next(campaign: name, scheduler.nextTime(of: name, after: now), campaign.schedule.zone))
        }
        for name in before.keys.sorted() where scheduler.campaigns[name] == nil { observer(.gone(campaign: name)) }
        if !reading.ignoredFiles.isEmpty { observer(.ignored(files: reading.ignoredFiles)) }
        for file in reading.unscheduledFiles { observer(.unscheduled(file: file)) }
    }

    private func handle(_ event: Event, isEnding: Bool = false) throws {
        let now = Timestamp.now()
        switch event {
        case .planned(let key, .planned(let needsApproval)):
            // The next process finds the plan.
            if !isEnding { try perform(scheduler.planned(key, needsApproval: needsApproval, at: now)) }
        case .planned(let key, .failed(let words)):
            observer(.planFailed(key, words: words))
            try perform(scheduler.failed(key, because: .described(words), at: now))
        case .planned(let key, .postponed(let problem)):
            let actions = scheduler.postponed(key, because: problem, at: now)
            if !actions.isEmpty { observer(.postponed(key, problem)) }
            try perform(actions)
        case .planned(let key, .cancelledPlan(let problem)): try perform(scheduler.cancelledPlan(key, because: problem, at: now))
        // The next process examines it again.
        case .found(let key, let finding): if !isEnding { try perform(scheduler.found(key, finding, at: now)) }
        case .planned(_, .interrupted): break
        case .sent(_, .success(let sent)) where sent.end == .interrupted: break
        case .sent(let key, let result):
            sending.removeValue(forKey: key)?.join()
            try handleEnd(key, result, now: now)
        }
    }

    private func handleEnd(_ key: ScheduledRun.Key, _ result: Result<ScheduledRunWork.SendOutcome, Diagnostic>, now: Timestamp) throws {
        switch result {
        case .failure(let mistake):
            observer(.sendFailed(key, mistake))
            try perform(scheduler.failed(key, because: .described(mistake.description), at: now))
        case .success(let sent):
            let (state, problem): (ScheduledRun.State, ScheduleProblem?) =
                switch sent.end {
                case .finished: (.finished, sent.missed.map { .missed($0) })
                case .stopped(let cause): (.stopped, .stopped(cause))
                case .cancelled, .interrupted: (.cancelled, .stopped(.cancelled))
                }
            observer(.ended(key, state, problem))
            try perform(scheduler.ended(key, state, because: problem, at: now))
        }
    }

    // MARK: - Actions

    private func perform(_ actions: [Scheduler.Action]) throws {
        var taken: Set<ScheduledRun.Key> = []
        for action in actions where !(action.key.map(taken.contains) ?? false) {
            switch action {
            case .save(let scheduledRuns, let campaigns):
                for key in try store.save(scheduledRuns, campaigns, waits: waitsForRecord).sorted(by: { $0.description < $1.description }) {
                    taken.insert(key)
                    scheduler.taken(key)
                    observer(.taken(key))
                }
            case .plan(let scheduledRun):
                observer(.due(scheduledRun.key, run: scheduledRun.run ?? ""))
                plans.put((scheduledRun, .now()))
            case .examine(let scheduledRun): looks.put(.examine(scheduledRun))
            case .send(let scheduledRun): send(scheduledRun)
            case .withdraw(let scheduledRun): if !looks.put(.withdraw(scheduledRun)) { work.withdraw(scheduledRun) }
            case .notify(let event, let scheduledRun): notify(event, scheduledRun)
            }
        }
    }

    /// Reports that another program holds the record. Nothing is decided meanwhile, and runs continue to be sent. Waiting gives no sign of
    /// life, so the watchdog notices a long wait.
    private func waitsForRecord() -> Bool {
        observer(.recordBusy(path: store.place))
        return !cancellation.isRequested
    }

    private func send(_ scheduledRun: ScheduledRun) {
        observer(.sending(scheduledRun.key, run: scheduledRun.run ?? ""))
        do throws(Diagnostic) {
            sending[scheduledRun.key] = try WorkerThread("send") { [work, events, notices, heartbeats] in
                let result: Result<ScheduledRunWork.SendOutcome, Diagnostic>
                do { result = .success(try heartbeats.during(.sending(scheduledRun.key)) { try work.send(scheduledRun, notices) }) } catch {
                    result = .failure(Diagnostic(explaining: error))
                }
                events.add(.sent(scheduledRun.key, result))
            }
        } catch { events.add(.sent(scheduledRun.key, .failure(error))) }
    }

    private func notify(_ event: NoticeEvent, _ scheduledRun: ScheduledRun) {
        var notice = Notice(event)
        (notice.campaign, notice.occurrence, notice.run) = (scheduledRun.key.campaign, scheduledRun.key.occurrence, scheduledRun.run)
        (notice.file, notice.reason) = (scheduledRun.file, scheduledRun.problem?.sentence ?? "")
        notice.app = scheduler.campaigns[scheduledRun.key.campaign]?.app
        notice.isPlanned = scheduledRun.state != .planning
        if event == .approvalNeeded { notice.state = .planned }
        if event == .stopped { notice.state = .stopped }
        observer(.notice(notice))
        notices.post(notice)
    }

    // MARK: - Monitoring

    private func report(isUp: Bool) {
        let now = Timestamp.now()
        var next: [String: Occurrence] = [:]
        for name in scheduler.campaigns.keys { next[name] = scheduler.nextTime(of: name, after: now) }
        let status = ScheduleMonitoring.Status(
            isUp: isUp, campaigns: scheduler.campaigns, next: next, open: scheduler.open.values.map(\.scheduledRun), mistakes: mistakes,
            last: (try? store.lastEnded()) ?? [], silentJobs: heartbeats.silentJobs)
        watchdog.note(status)
        monitoring.write(status, at: now)
    }
}
