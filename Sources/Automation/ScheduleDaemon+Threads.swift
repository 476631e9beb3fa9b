import Base
import Campaigns
import PushServices
import Runs
import Sending
import Workspace

/// The threads that do long work. Each tells the main loop of its results.
extension ScheduleDaemon {
    func startPlanner() throws(Diagnostic) -> WorkerThread<Void> {
        try WorkerThread("plan") { [plans, events, work, orderWork, notices, heartbeats, cancellation] in
            var quiet = StableFiles()
            while let plan = plans.take() {
                // Orders that were not begun are on record as taken; the next process reports that
                // they had no effect.
                if cancellation.isRequested { continue }
                switch plan {
                case .scheduled(let scheduledRun, let approval, let at):
                    events.add(
                        .planned(
                            scheduledRun.key,
                            heartbeats.during(.planning(scheduledRun.key)) {
                                work.plan(scheduledRun, approval, queuedAt: at, &quiet)
                            }))
                case .ordered(let placed):
                    events.add(
                        .order(
                            placed.order.nonce,
                            heartbeats.during(.order(placed.order)) { orderWork.carryOut(placed, notices) }))
                }
            }
        }
    }

    func startWatchdog() throws(Diagnostic) -> WorkerThread<Void> {
        let (project, catalog, metrics, observer, notices) = (project, work.catalog, work.metrics, observer, notices)
        return try watchdog.start(
            tell: { silence in
                var notice = Notice(.stuck)
                (notice.campaign, notice.occurrence) = (silence.job.key?.campaign, silence.job.key?.occurrence)
                notice.reason = silence.text
                observer(.notice(notice))
                notices.post(notice)
            },
            write: {
                ScheduleMonitoring(project, catalog, sending: metrics, observer.monitoring).writeHealth($0, at: .now())
            })
    }

    func startLooker() throws(Diagnostic) -> WorkerThread<Void> {
        try WorkerThread("look") { [looks, events, store, work, orderWork, notices, heartbeats, cancellation] in
            while let look = looks.take() {
                switch look {
                case .examine(let scheduledRun, let approval):
                    guard !cancellation.isRequested else { continue }
                    let finding = heartbeats.during(.looking(scheduledRun.key)) {
                        // A record that cannot be read ends the main loop.
                        (try? store.isTaken(scheduledRun)) ?? false ? .taken : work.examine(scheduledRun, approval)
                    }
                    events.add(.found(scheduledRun.key, finding))
                case .withdraw(let scheduledRun):
                    heartbeats.during(.looking(scheduledRun.key)) { work.withdraw(scheduledRun) }
                case .order(let placed):
                    // The next process does it.
                    guard !cancellation.isRequested else { continue }
                    events.add(
                        .order(
                            placed.order.nonce,
                            heartbeats.during(.order(placed.order)) { orderWork.carryOut(placed, notices) }))
                case .remains(let placed):
                    guard !cancellation.isRequested else { continue }
                    events.add(
                        .order(
                            placed.order.nonce,
                            .remains(heartbeats.during(.order(placed.order)) { orderWork.remains(of: placed) })))
                }
            }
        }
    }

    /// It is not watched: it only waits for services, or reads whole files, and nothing waits for
    /// it.
    func startAsker() throws(Diagnostic) -> WorkerThread<Void> {
        let (catalog, choice, context, pages) = (work.catalog, work.choice, work.options.context, inspection.pages)
        return try WorkerThread("ask") { [observer, cancellation] in
            var rounds = StatisticsCollector(catalog: catalog, choice: choice, context: context, observer: observer)
            while !cancellation.isRequested {
                rounds.look(at: .now(), until: cancellation)
                _ = pages.read(catalog, endedOnly: true, until: cancellation)
                cancellation.waitForRequest(atMost: StatisticsCollector.secondsPerLook)
            }
        }
    }
}

/// Queries services for statistics of the last week's runs: an hour after a run ended, and then
/// once a day. The answers are kept in the runs, where reports find them.
struct StatisticsCollector {
    /// How long after its beginning a run is queried: after a week a phone that was off does not
    /// get a push any more.
    static let days = 7
    static let secondsAfterEnd = 3600.0
    static let secondsBetween = 86_400.0
    /// Between two looks at the runs.
    static let secondsPerLook = 3600.0

    let catalog: RunsFolder
    let choice: ProjectChoice
    let context: SendingContext
    let observer: ScheduleObserver
    /// When this process last queried runs, even if the services did not answer.
    private var triedAt: [String: Timestamp] = [:]
    /// Files that were named as damaged.
    private var damaged: Set<String> = []

    init(catalog: RunsFolder, choice: ProjectChoice, context: SendingContext, observer: ScheduleObserver) {
        self.catalog = catalog
        self.choice = choice
        self.context = context
        self.observer = observer
    }

    /// Whether a run must be queried now.
    /// - Parameter lastAsked: nil if it was never queried.
    static func isDue(startedAt: Timestamp?, endedAt: Timestamp?, lastAsked: Timestamp?, now: Timestamp) -> Bool {
        guard let startedAt, let endedAt, startedAt <= now, now < startedAt.adding(seconds: Double(days) * 86_400)
        else { return false }
        return lastAsked.map { now >= $0.adding(seconds: secondsBetween) }
            ?? (now >= endedAt.adding(seconds: secondsAfterEnd))
    }

    /// Looks at all runs, and queries those that are due.
    mutating func look(at now: Timestamp, until cancellation: Cancellation) {
        guard let listing = try? catalog.list() else { return }
        for mistake in listing.broken where damaged.insert(mistake.file ?? "").inserted { observer(.damaged(mistake)) }
        let runs = listing.runs
        triedAt = triedAt.filter { now < $0.value.adding(seconds: Self.secondsBetween) }
        for run in runs {
            if cancellation.isRequested { return }
            guard isDue(run, at: now) else { continue }
            triedAt[run.plan.id] = now
            do {
                let writable = try catalog.open(run.plan.id, readOnly: false)
                let troubles = try askStatistics(of: writable, in: choice, context, at: now)
                try writable.closeIntoOneFile()
                for trouble in troubles { observer(.statisticsMissing(run.plan, trouble)) }
            } catch is CancellationError { return } catch {
                observer(.statisticsMissing(run.plan, Diagnostic(explaining: error)))
            }
        }
    }

    /// Tests, rehearsals and runs that a process is sending are not queried.
    private func isDue(_ run: RunFile, at now: Timestamp) -> Bool {
        guard triedAt[run.plan.id] == nil, !run.plan.isTest,
            run.plan.services.contains(where: { $0.statistics.map { !$0.needsTracking } ?? false }),
            let status = try? run.status(), status.state.hasEnded, let settings = try? run.plan.settings.get(),
            !settings.isRehearsal,
            let asked = try? run.statistics()
        else { return false }
        let last = asked.map(\.askedAt).max()
        return Self.isDue(startedAt: status.startedAt, endedAt: status.finishedAt, lastAsked: last, now: now)
            && !run.isBeingSent
    }
}
