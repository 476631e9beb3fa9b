import Base
import Campaigns
import Glibc
import Runs
import Scheduling
import Synchronization

/// `volley schedule` at work: reads files and clock, asks the `Scheduler` what to do, and does it. Planning has a thread of its own, one plan after the
/// other, as each takes all cores; every run that is sent has one too. A further one looks into run files: whoever holds one holds up nothing else.
final class ScheduleDaemon {
    /// What a thread has to say.
    private enum Event: Sendable {
        case planned(Firing.Key, FiringWork.Planned)
        case found(Firing.Key, Scheduler.Finding)
        case sent(Firing.Key, Result<FiringWork.Sent, Diagnostic>)
    }

    /// What is done with a run file.
    private enum Look: Sendable {
        case examine(Firing)
        case withdraw(Firing)
    }

    private static let tickMicroseconds: UInt32 = 100_000
    private static let ticksPerLook = 10
    private static let ticksPerReport = 50

    private let work: FiringWork
    private let store: ScheduleStore
    private let console: Console
    private let monitoring: ScheduleMonitoring
    private let lock: ScheduleLock
    private var files: ScheduleFiles
    private var scheduler: Scheduler
    private var notices: Notices
    private var mistakes: [String: Diagnostics] = [:]
    private var sending: [Firing.Key: WorkerThread<Void>] = [:]
    private let events = EventList()
    private let plans = BoundedQueue<(firing: Firing, at: Timestamp)>(capacity: 10_000)
    private let looks = BoundedQueue<Look>(capacity: 10_000)
    private let signs = LifeSigns()
    private let watchdog: WatchdogThread
    private let project: Project

    private final class EventList: Sendable {
        private let events = Mutex<[Event]>([])
        func add(_ event: Event) { events.withLock { $0.append(event) } }
        func take() -> [Event] {
            events.withLock { events in
                defer { events = [] }
                return events
            }
        }
    }

    /// - Parameters:
    ///   - project: whom to tell, and what to keep up to date.
    ///   - lock: the right to be the only one.
    /// - Throws: `Diagnostic`: the record cannot be used.
    init(
        files: ScheduleFiles, project: Project, runsFolder: String, lock: ScheduleLock, options: CommonOptions, console: Console
    ) throws {
        (self.files, self.lock, self.console) = (files, lock, console)
        self.project = project
        watchdog = WatchdogThread(signs)
        work = FiringWork(runsFolder: runsFolder, options: options, console: console, signs: signs)
        store = try ScheduleStore(folder: runsFolder)
        notices = Notices(project, patience: .long, console: console)
        monitoring = ScheduleMonitoring(project, runsFolder: runsFolder, console: console)
        let since = Timestamp.now().adding(seconds: -Scheduler.lookBackSeconds - 2 * 86_400)
        scheduler = Scheduler(firings: try store.firings(since: since), campaigns: try store.campaigns()) { campaign, now in
            RunID.make(campaign: campaign, now: now, seed: .random())
        }
    }

    /// Works until somebody interrupts it, or its record fails. That is said here: pushes may have been sent by then.
    /// - Throws: a `Diagnostic` when there are no threads for it; nothing was done.
    func run() throws(Diagnostic) -> ExitStatus {
        signs.sign(of: .mainLoop)
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
        var tick = 0
        var failure: (any Error)?
        do {
            while !Interruption.isRequested {
                if tick % Self.ticksPerLook == 0 { try look() }
                for event in events.take() { try handle(event) }
                if tick % Self.ticksPerReport == 0 { report(isUp: true) }
                usleep(Self.tickMicroseconds)
                signs.sign(of: .mainLoop)
                tick += 1
            }
            console.say("Interrupted: what is being sent stops in good order, and goes on when volley schedule is started again.")
        } catch {
            // Without a record nothing may be sent any more.
            failure = error
            Interruption.request()
        }
        // From here on it waits for the others.
        signs.ended(.mainLoop)
        plans.close()
        looks.close()
        planner.join()
        looker.join()
        for thread in sending.values { thread.join() }
        // A thread is joined once.
        sending = [:]
        for event in events.take() where failure == nil { try? handle(event, isEnding: true) }
        notices.finish(withinSeconds: Notices.longestFarewellSeconds)
        watchdog.end()
        watcher.join()
        report(isUp: false)
        store.close()
        guard let failure else { return .interrupted }
        console.warn("volley schedule cannot go on without its record; what was being sent has stopped in good order. \(failure)")
        return .stopped
    }

    private func startPlanner() throws(Diagnostic) -> WorkerThread<Void> {
        try WorkerThread("plan") { [plans, events, work, signs] in
            var quiet = QuietFiles()
            while let (firing, at) = plans.take() {
                if Interruption.isRequested { continue }
                events.add(.planned(firing.key, signs.during(.planning(firing.key)) { work.plan(firing, queuedAt: at, &quiet) }))
            }
        }
    }

    private func startWatchdog() throws(Diagnostic) -> WorkerThread<Void> {
        let (project, folder, console, notices) = (project, work.runsFolder, console, notices)
        return try watchdog.start(
            tell: { silence in
                var notice = Notice(.stuck)
                (notice.campaign, notice.occurrence) = (silence.job.key?.campaign, silence.job.key?.occurrence)
                notice.reason = silence.text
                console.warn(notice.text)
                notices.post(notice)
            },
            write: { ScheduleMonitoring(project, runsFolder: folder, console: console).writeHealth($0, at: .now()) })
    }

    private func startLooker() throws(Diagnostic) -> WorkerThread<Void> {
        try WorkerThread("look") { [looks, events, work, signs] in
            while let look = looks.take() {
                switch look {
                case .examine(let firing):
                    guard !Interruption.isRequested else { continue }
                    events.add(.found(firing.key, signs.during(.looking(firing.key)) { work.examine(firing) }))
                case .withdraw(let firing): signs.during(.looking(firing.key)) { work.withdraw(firing) }
                }
            }
        }
    }

    // MARK: - What happens

    private func look() throws {
        let now = Timestamp.now()
        try lock.keep()
        if let reading = files.readIfChanged(now: now) { try take(reading, now) }
        try perform(scheduler.timePassed(to: now))
    }

    private func take(_ reading: ScheduleFiles.Reading, _ now: Timestamp) throws {
        let before = scheduler.campaigns
        for (file, found) in reading.mistakes.sorted(by: { $0.key < $1.key }) where mistakes[file]?.all != found.all {
            console.warn("\(TextFormat.inLine(file)) has mistakes; nothing of it is sent until they are put right:\n\(found)")
            var notice = Notice(.invalid)
            let campaign = before.values.first { $0.file == file }
            (notice.file, notice.campaign, notice.app) = (file, campaign?.name, campaign?.app)
            notice.reason = found.all.first?.description ?? ""
            notices.post(notice)
        }
        for file in mistakes.keys.sorted() where reading.mistakes[file] == nil {
            console.say("\(TextFormat.inLine(file)) \(FilePaths.exists(file) ? "has no mistakes any more" : "is gone").")
        }
        mistakes = reading.mistakes
        try perform(scheduler.campaignsRead(reading.campaigns, unreadable: reading.unreadable, at: now))
        for (name, campaign) in scheduler.campaigns.sorted(by: { $0.key < $1.key }) where before[name] != campaign && campaign.isValid {
            console.say("\(name): \(nextInWords(name, now))")
        }
        for name in before.keys.sorted() where scheduler.campaigns[name] == nil { console.say("\(name) is gone, and not sent any more.") }
        if !reading.passedOver.isEmpty { console.say(ScheduleList.words(passedOver: reading.passedOver)) }
        for file in reading.withoutTimes { console.detail("\(TextFormat.inLine(file)) has no schedule, and is left alone.") }
    }

    private func nextInWords(_ name: String, _ now: Timestamp) -> String {
        guard let next = scheduler.nextTime(of: name, after: now), let zone = scheduler.campaigns[name]?.schedule.zone else {
            return "no further time is to come"
        }
        if zone.isRecipient { return "next \(next.localTime.words) on each device's clock, from \(next.begins) on" }
        return "next \(next.localTime.words) \(zone.fallback.name) (\(next.begins))"
    }

    private func handle(_ event: Event, isEnding: Bool = false) throws {
        let now = Timestamp.now()
        switch event {
        case .planned(let key, .planned(let needsApproval)):
            // Whoever starts next finds the plan.
            if !isEnding { try perform(scheduler.planned(key, needsApproval: needsApproval, at: now)) }
        case .planned(let key, .failed(let reason)):
            console.warn("\(key) cannot be planned. \(reason)")
            try perform(scheduler.failed(key, because: reason, at: now))
        case .planned(let key, .postponed(let reason)):
            let actions = scheduler.postponed(key, because: reason, at: now)
            if !actions.isEmpty { console.say("\(key) waits: \(reason).") }
            try perform(actions)
        case .planned(let key, .withdrawn(let reason)): try perform(scheduler.withdrawn(key, because: reason, at: now))
        // Whoever starts next looks again.
        case .found(let key, let finding): if !isEnding { try perform(scheduler.found(key, finding, at: now)) }
        case .planned(_, .interrupted): break
        case .sent(_, .success(let sent)) where sent.end == .interrupted: break
        case .sent(let key, let result):
            sending.removeValue(forKey: key)?.join()
            try handleEnd(key, result, now)
        }
    }

    private func handleEnd(_ key: Firing.Key, _ result: Result<FiringWork.Sent, Diagnostic>, _ now: Timestamp) throws {
        switch result {
        case .failure(let mistake):
            console.warn("\(key) cannot be sent. \(mistake)")
            try perform(scheduler.failed(key, because: mistake.description, at: now))
        case .success(let sent):
            let (state, reason): (Firing.State, String) =
                switch sent.end {
                case .finished: (.finished, sent.missed)
                case .stopped(let reason): (.stopped, reason)
                case .cancelled, .interrupted: (.cancelled, RunEnd.cancelReason)
                }
            console.say("\(key): \(state.rawValue)\(reason.isEmpty ? "" : ": \(reason)")")
            try perform(scheduler.ended(key, state, because: reason, at: now))
        }
    }

    // MARK: - What is done

    private func perform(_ actions: [Scheduler.Action]) throws {
        var taken: Set<Firing.Key> = []
        for action in actions where !(action.key.map(taken.contains) ?? false) {
            switch action {
            case .save(let firings, let campaigns):
                for key in try store.save(firings, campaigns, waits: waitsForRecord).sorted(by: { $0.description < $1.description }) {
                    taken.insert(key)
                    scheduler.taken(key)
                    console.warn("\(key) was claimed by another process: it is that one's to send.")
                }
            case .plan(let firing):
                console.say("\(firing.key) is due: planning \(firing.run ?? "").")
                plans.put((firing, .now()))
            case .examine(let firing): looks.put(.examine(firing))
            case .send(let firing): send(firing)
            case .withdraw(let firing): if !looks.put(.withdraw(firing)) { work.withdraw(firing) }
            case .tell(let event, let firing): tell(event, firing)
            }
        }
    }

    /// Another program holds the record: nothing is decided meanwhile, and what is being sent goes on. It is no sign of life to wait for it.
    private func waitsForRecord() -> Bool {
        console.warn("Another program holds \(store.path); volley schedule waits until it is done.")
        return !Interruption.isRequested
    }

    private func send(_ firing: Firing) {
        console.say("\(firing.key) is being sent as \(firing.run ?? "").")
        do throws(Diagnostic) {
            sending[firing.key] = try WorkerThread("send") { [work, events, notices, signs] in
                let result: Result<FiringWork.Sent, Diagnostic>
                do { result = .success(try signs.during(.sending(firing.key)) { try work.send(firing, notices) }) } catch {
                    result = .failure(error as? Diagnostic ?? Diagnostic("\(error)"))
                }
                events.add(.sent(firing.key, result))
            }
        } catch { events.add(.sent(firing.key, .failure(error))) }
    }

    private func tell(_ event: NoticeEvent, _ firing: Firing) {
        var notice = Notice(event)
        (notice.campaign, notice.occurrence, notice.run) = (firing.key.campaign, firing.key.occurrence, firing.run)
        (notice.file, notice.reason) = (firing.file, firing.reason)
        notice.app = scheduler.campaigns[firing.key.campaign]?.app
        notice.isPlanned = firing.state != .planning
        if event == .approvalNeeded { notice.state = .planned }
        if event == .stopped { notice.state = .stopped }
        console.warn(notice.text)
        notices.post(notice)
    }

    // MARK: - What is shown

    private func report(isUp: Bool) {
        let now = Timestamp.now()
        var next: [String: Occurrence] = [:]
        for name in scheduler.campaigns.keys { next[name] = scheduler.nextTime(of: name, after: now) }
        let status = ScheduleMonitoring.Status(
            isUp: isUp, campaigns: scheduler.campaigns, next: next, open: scheduler.open.values.map(\.firing), mistakes: mistakes,
            last: (try? store.lastEnded()) ?? [], silences: signs.silences)
        watchdog.note(status)
        monitoring.write(status, at: now)
    }
}
