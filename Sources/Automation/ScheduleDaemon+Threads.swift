import Base
import Campaigns
import Runs
import Sending

/// The threads that do long work. Each tells the main loop of its results.
extension ScheduleDaemon {
    func startPlanner() throws(Diagnostic) -> WorkerThread<Void> {
        try WorkerThread("plan") { [plans, events, work, orderWork, notices, heartbeats, cancellation] in
            var quiet = StableFiles()
            while let plan = plans.take() {
                // What was ordered and not begun is on record as taken; the next process says that nothing came of it.
                if cancellation.isRequested { continue }
                switch plan {
                case .scheduled(let scheduledRun, let approval, let at):
                    events.add(
                        .planned(
                            scheduledRun.key,
                            heartbeats.during(.planning(scheduledRun.key)) { work.plan(scheduledRun, approval, queuedAt: at, &quiet) }))
                case .ordered(let placed):
                    events.add(
                        .order(placed.order.nonce, heartbeats.during(.order(placed.order)) { orderWork.plan(placed, notices) }))
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
            write: { ScheduleMonitoring(project, catalog, sending: metrics, observer.monitoring).writeHealth($0, at: .now()) })
    }

    func startLooker() throws(Diagnostic) -> WorkerThread<Void> {
        try WorkerThread("look") { [looks, events, store, work, orderWork, heartbeats, cancellation] in
            while let look = looks.take() {
                switch look {
                case .examine(let scheduledRun, let approval):
                    guard !cancellation.isRequested else { continue }
                    let finding = heartbeats.during(.looking(scheduledRun.key)) {
                        // A record that cannot be read ends the main loop.
                        (try? store.isTaken(scheduledRun)) ?? false ? .taken : work.examine(scheduledRun, approval)
                    }
                    events.add(.found(scheduledRun.key, finding))
                case .withdraw(let scheduledRun): heartbeats.during(.looking(scheduledRun.key)) { work.withdraw(scheduledRun) }
                case .order(let placed):
                    // The next process does it.
                    guard !cancellation.isRequested else { continue }
                    events.add(.order(placed.order.nonce, heartbeats.during(.order(placed.order)) { orderWork.change(placed) }))
                case .remains(let placed):
                    guard !cancellation.isRequested else { continue }
                    events.add(
                        .order(placed.order.nonce, .remains(heartbeats.during(.order(placed.order)) { orderWork.remains(of: placed) })))
                }
            }
        }
    }

    /// It is not watched: it only waits for services, and nobody waits for it.
    func startAsker() throws(Diagnostic) -> WorkerThread<Void> {
        let (catalog, choice, context) = (work.catalog, work.choice, work.attendance.context)
        return try WorkerThread("ask") { [observer, cancellation] in
            var rounds = StatisticsRounds(catalog: catalog, choice: choice, context: context, observer: observer)
            while !cancellation.isRequested {
                rounds.look(at: .now(), until: cancellation)
                cancellation.waitForRequest(atMost: StatisticsRounds.secondsPerLook)
            }
        }
    }
}
