import Accounts
public import Base
public import Campaigns
import Planning
import Cluster
import Reports
public import Runs
import Sending
import Synchronization
import Workspace

/// The work of `volley schedule`: reads the files, the orders and the clock, lets the `Scheduler`
/// and the `OrderQueue` decide what to do, and does it. One thread plans, one plan after the other,
/// as each plan uses all cores. Every run that is sent has a thread. A further thread reads run
/// files and does small orders, so that a process that holds one delays nothing else.
///
/// ```swift
/// let options = ScheduleOptions(observer: .silent, cancellation: try Cancellation())
/// let daemon = try ScheduleDaemon(
///     files: files, project: project, lock: runs.schedule.lock(), rights: { _ in nil }, options)
/// let end = try daemon.run()
/// ```
public final class ScheduleDaemon {
    /// A result from one of the threads.
    enum Event: Sendable {
        case planned(ScheduledRun.Key, ScheduledRunWork.Planned)
        case found(ScheduledRun.Key, Scheduler.Finding)
        case sent(ScheduledRun.Key, Result<ScheduledRunWork.SendOutcome, Diagnostic>)
        /// Of the order with this nonce.
        case order(String, OrderWork.Answer)
    }

    /// A task for the thread that plans.
    enum Plan: Sendable {
        case scheduled(ScheduledRun, AdvanceApproval?, queuedAt: Timestamp)
        case ordered(PlacedOrder)
    }

    /// A task for the thread that reads run files.
    enum Look: Sendable {
        case examine(ScheduledRun, AdvanceApproval?)
        case withdraw(ScheduledRun)
        case order(PlacedOrder)
        /// The state of an order whose process is gone.
        case remains(PlacedOrder)
    }

    /// The pause between two readings of the files and the clock. They are polled because a network
    /// file system does not report changes, and because the lock's file must be created again if it
    /// was removed.
    private static let secondsPerLook = 1.0
    private static let looksPerReport = 5
    private static let looksPerInspection = 60

    let work: ScheduledRunWork
    let orderWork: OrderWork
    let store: ScheduleStore
    let orders: OrderRegistry
    let observer: ScheduleObserver
    let cancellation: Cancellation
    let monitoring: ScheduleMonitoring
    let lock: ScheduleLock
    var files: ScheduleFiles
    var scheduler: Scheduler
    var notices: Notices
    var mistakes: [String: Diagnostics] = [:]
    var sending: [ScheduledRun.Key: WorkerThread<Void>] = [:]
    /// The threads of orders that send, by nonce.
    var sendingOrders: [String: WorkerThread<Void>] = [:]
    let events: EventList<Event>
    let plans = BoundedQueue<Plan>(capacity: 10_000)
    let looks = BoundedQueue<Look>(capacity: 10_000)
    let heartbeats = Heartbeats()
    let watchdog: WatchdogThread
    let project: Project
    /// This process among those of other machines; nil without a store.
    let service: ScheduleService?
    /// Times that were claimed in the store since this machine's record was written there last.
    var claimed: Set<ScheduledRun.Key> = []
    /// Claimed times whose runs will not be sent, until the store has that state.
    var givenUp: [String: SharedFiring.State] = [:]
    var storeOutageReports = StoreOutageReports()
    /// What the health file says of a store that is away; without the times that wait for it.
    var storeAbsence: ScheduleMonitoring.StoreAbsence?
    /// Whether the store has come up so recently that no time may become due.
    var isQuiet = false
    var inspection: ProjectInspection
    private var accountInspection: AccountInspection
    var campaignInspection = CampaignInspection()
    /// What the last inspection found.
    var obstacles: [Diagnostic] = []
    /// Why no time becomes due: the record is not in its place.
    var recordAbsence: Diagnostic?

    /// - Parameters:
    ///   - project: names the receivers of notices and the files of `monitoring`.
    ///   - lock: ensures that this is the only `volley schedule` for the record.
    ///   - rights: checked again before an order is carried out.
    ///   - confines: whether a campaign file may name only what the console may read.
    /// - Throws: a `Diagnostic` if the record cannot be used.
    public init(
        files: ScheduleFiles, project: Project, lock: ScheduleLock, rights: @escaping OrderRights,
        confines: @escaping @Sendable (String) -> Bool = { _ in false }, _ options: ScheduleOptions
    ) throws {
        let catalog = files.catalog
        try ScheduleMonitoring.check(project, catalog)
        self.files = files
        accountInspection = AccountInspection(beside: catalog.place)
        self.lock = lock
        self.project = project
        events = try EventList()
        observer = options.observer
        cancellation = options.cancellation
        watchdog = WatchdogThread(heartbeats)
        work = ScheduledRunWork(
            catalog: catalog, choice: files.choice, options: options, heartbeats: heartbeats, rights: rights,
            confines: confines)
        orderWork = OrderWork(work: work)
        store = try catalog.schedule.open()
        inspection = ProjectInspection(project, catalog, schedule: store)
        service = try project.store.map { try ScheduleService(StoreAddress(variable: $0.variable)) }
        orders = OrderRegistry(epoch: Notice.randomID()) { catalog.orders.isThere ? try catalog.orders.open() : nil }
        notices = Notices(project, retries: .long, observer.notices)
        monitoring = ScheduleMonitoring(
            project, catalog, sending: work.metrics, latest: options.metrics, observer.monitoring)
        let since = Timestamp.now().adding(seconds: -Scheduler.lookBackSeconds - 2 * 86_400)
        scheduler = Scheduler(
            scheduledRuns: try store.scheduledRuns(since: since), campaigns: try store.campaigns(),
            approvals: try store.approvals(),
            unknownThrough: try store.restoredAt()
        ) { campaign, now in RunID.make(campaign: campaign, now: now, seed: .random()) }
    }

    /// Works until it is interrupted or its record fails. A failed record is reported to the
    /// observer and not thrown: pushes may already have been sent.
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
        for thread in sendingOrders.values { thread.join() }
        // Each thread may be joined only once.
        (sending, sendingOrders) = ([:], [:])
        for event in events.take() {
            if case .order(let nonce, let answer) = event {
                handle(nonce, answer)
            } else if failure == nil {
                try? handle(event, isEnding: true)
            }
        }
        finishOrders()
        notices.finish(until: cancellation)
        watchdog.end()
        watcher.join()
        report(isUp: false, end: failure.map { Diagnostic(explaining: $0) })
        service?.end()
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
                // Without its record no time becomes due: sent campaigns would be sent again.
                if try isRecordThere() {
                    try readFiles()
                    try takeOrders()
                }
                next = clock.now + .seconds(Self.secondsPerLook)
            }
            for event in events.take() { try handle(event) }
            if isLook {
                if looks % Self.looksPerInspection == 0 { inspect() }
                if looks % Self.looksPerReport == 0 { report(isUp: true) }
                looks += 1
            }
            cancellation.waitForRequest(
                atMost: clock.now.duration(to: next) / .seconds(1), orReadable: events.added.descriptor)
            heartbeats.sign(of: .mainLoop)
            observer(.tick)
        }
    }

    /// Reports once what this user cannot use, and problems with the lists and files of campaigns,
    /// hours before a time needs them.
    private func inspect() {
        let before = Set(obstacles)
        obstacles = inspection.obstacles() + [accountInspection.obstacle()].compactMap(\.self)
        let campaigns = scheduler.campaigns.values.sorted { $0.file < $1.file }.map { campaign in
            var file = CampaignFile(campaign.file, in: files.choice)
            file.isConfined = work.confines(campaign.file)
            return file
        }
        obstacles += campaignInspection.obstacles(to: campaigns, besides: obstacles, now: .now())
        for obstacle in obstacles where !before.contains(obstacle) { observer(.obstructed(obstacle)) }
    }

    private func isRecordThere() throws -> Bool {
        let absence = try store.absence()
        if let absence, recordAbsence == nil { observer(.recordAway(absence)) }
        if absence == nil, recordAbsence != nil { observer(.recordBack) }
        recordAbsence = absence
        return absence == nil
    }
}

/// The messages of threads to the main loop, in order.
final class EventList<Event: Sendable>: Sendable {
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

/// Orders: each action of the registry runs on the thread that it belongs to.
extension ScheduleDaemon {
    /// Reads the orders, and begins what can be begun.
    func takeOrders() throws {
        let steps = orders.look(at: .now())
        tell(steps)
        for placed in steps.toExamine { looks.put(.remains(placed)) }
        for placed in steps.toDo {
            observer(.order(.taken(placed.order)))
            try begin(placed)
        }
    }

    private func begin(_ placed: PlacedOrder) throws {
        switch placed.order.kind.thread {
        case .looks: looks.put(.order(placed))
        case .plans: plans.put(.ordered(placed))
        case .own: send(placed)
        case .scheduler: try change(placed.order)
        }
    }

    private func send(_ placed: PlacedOrder) {
        let nonce = placed.order.nonce
        do throws(Diagnostic) {
            sendingOrders[nonce] = try WorkerThread("order") { [orderWork, events, notices, heartbeats] in
                let answer = heartbeats.during(.order(placed.order)) {
                    orderWork.carryOut(placed, notices) { events.add(.order(nonce, .begun)) }
                }
                events.add(.order(nonce, answer))
            }
        } catch { events.add(.order(nonce, .ended(.refused(.described(error.description))))) }
    }

    /// Skips a time, approves it ahead, or withdraws that approval. It changes the scheduler's own
    /// record, so it is done here.
    private func change(_ order: Order) throws {
        let now = OrderMoment.now()
        guard let key = order.kind.time else { preconditionFailure("\(order.kind.name) is about no time") }
        if let refusal = orderWork.rights(order) ?? sourceRefusal(order, at: now.time) {
            return tell(orders.ended(order.nonce, as: .refused(refusal), at: now))
        }
        let change =
            switch order.kind {
            case .approveTime(_, _, let digest, let most):
                scheduler.approve(
                    AdvanceApproval(key: key, digest: digest, mostDevices: most, name: order.by, approvedAt: now.time),
                    at: now.time)
            case .withdrawApproval: scheduler.withdrawApproval(of: key, at: now.time)
            default: scheduler.leaveOut(key, by: order.by, at: now.time)
            }
        // A time that another process has sent by hand in the meantime cannot be skipped.
        let refusal = try change.refusal ?? (perform(change.actions).contains(key) ? .timeHasCome(run: nil) : nil)
        tell(orders.ended(order.nonce, as: refusal.map { .refused($0) } ?? .done(OrderResult(run: nil)), at: now))
        guard case .skip = order.kind, refusal == nil, let campaign = scheduler.campaigns[key.campaign] else { return }
        let next = scheduler.nextTime(of: key.campaign, after: now.time)
        observer(.next(campaign: key.campaign, app: campaign.app, next, campaign.schedule.zone))
    }

    /// Why a time cannot be approved as the page showed its campaign, or cannot be left out now;
    /// nil for other orders.
    private func sourceRefusal(_ order: Order, at now: Timestamp) -> OrderRefusal? {
        if case .skip = order.kind, let service, !service.mayFind {
            return .described(
                service.isInTouch
                    ? "the store that machines share has just come up, so another machine may have it: try again in half a minute"
                    : "the store that machines share cannot be reached, so another machine might send it")
        }
        guard case .approveTime(let campaign, _, let digest, _) = order.kind else { return nil }
        guard let file = scheduler.campaigns[campaign]?.file else { return .noSuchTime }
        do {
            let source = try CampaignSource(CampaignFile(file, in: files.choice), now: now)
            guard source.hasOwnDevices else { return .devicesUnknown }
            return source.campaign == campaign && source.digest == digest ? nil : .fileDiffers
        } catch { return .described(Diagnostics(explaining: error).inConsole) }
    }

    /// A thread has done something about an order.
    func handle(_ nonce: String, _ answer: OrderWork.Answer) {
        switch answer {
        case .begun: return orders.begun(nonce)
        case .ended(let state): tell(orders.ended(nonce, as: state, at: .now()))
        case .remains(let remains): tell(orders.found(nonce, remains, at: .now()))
        }
        sendingOrders.removeValue(forKey: nonce)?.join()
        returnMemory()
    }

    /// Records ends that could not be recorded before, and lapsed orders.
    func finishOrders() {
        tell(orders.look(isTaking: false, at: .now()))
        orders.close()
    }

    private func tell(_ steps: OrderRegistry.Steps) {
        for (placed, state) in steps.ended { observer(.order(.ended(placed.order, state))) }
        for mistake in steps.damaged { observer(.damaged(mistake)) }
        if let failure = steps.failure { observer(.order(.unusable(failure))) }
    }
}
