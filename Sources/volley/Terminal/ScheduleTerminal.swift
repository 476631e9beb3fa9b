import Automation
import Base
import Logs
import Reports
import Runs
import Scheduling
import Sending
import Synchronization

/// Shows the work of `volley schedule` as lines on a terminal, or in a log.
final class ScheduleTerminal: Sendable {
    private let console: Console
    private let run: RunTerminal
    /// The apps of the campaigns that were read.
    private let apps = Mutex<[String: String]>([:])

    private init(_ console: Console) { (self.console, run) = (console, RunTerminal(console)) }

    /// Makes an observer that shows one process.
    static func observer(_ console: Console) -> ScheduleObserver {
        let terminal = ScheduleTerminal(console)
        return Observer { terminal.show($0) }
    }

    private func subject(_ campaign: String, run: String? = nil) -> LogSubject {
        LogSubject(app: apps.withLock { $0[campaign] }, campaign: campaign, run: run)
    }

    private func show(_ event: ScheduleEvent) {
        switch event {
        case .planning(let event): console.show(event)
        case .run(let event, let plan): run.show(event, about: LogSubject(plan))
        case .noticeDelivery(let event): console.warn(event.text)
        case .notice(let notice): console.warn(notice.text, about: LogSubject(app: notice.app, campaign: notice.campaign, run: notice.run))
        case .started, .ending, .recordLost, .recordBusy, .recordAway, .recordBack, .monitoringFailed, .storeAway, .storeBack, .storeQuiet:
            showProcess(event)
        case .invalid, .mended, .next, .gone, .ignored, .unscheduled: showFile(event)
        case .due, .sending, .planFailed, .postponed, .sendFailed, .ended, .taken, .elsewhere, .takenOver, .planNotCancelled,
            .fileNotClosed,
            .statisticsMissing:
            showTime(event)
        case .order(let event): show(event)
        case .tick: break
        }
    }

    private func show(_ event: OrderEvent) {
        switch event {
        case .taken(let order): console.say("Order of \(TextFormat.inLine(order.by)): \(order.kind.words).")
        case .ended(let order, let state):
            let text = "Order of \(TextFormat.inLine(order.by)), \(order.kind.words): \(state.sentence)"
            if case .done = state { console.say(text) } else { console.warn(text) }
        case .warning(let run, let words): console.warn("\(run): \(words)", about: LogSubject(run: run))
        case .unusable(let mistake): console.warn("No orders are taken until this is mended; all else goes on. \(mistake)")
        }
    }

    private func showProcess(_ event: ScheduleEvent) {
        switch event {
        case .started(let record): console.say("volley schedule is at work; its record is \(record).")
        case .ending: console.say("Interrupted: what is being sent stops cleanly, and continues when you start volley schedule again.")
        case .recordLost(let error):
            console.fail("volley schedule cannot continue without its record; what was being sent has stopped cleanly. \(error)")
        case .recordBusy(let path): console.warn("Another program holds \(path); volley schedule waits until it is done.")
        case .recordAway(let trouble): console.fail("\(trouble)")
        case .recordBack: console.say("The record of the schedule is in its place again; volley schedule goes on.")
        case .storeAway(let trouble):
            console.warn(
                "Until the store can be reached, no time is sent: another machine may send it. What is being sent goes on as it can. \(trouble)"
            )
        case .storeBack: console.say("The store can be reached again.")
        case .storeQuiet:
            console.say(
                "The store has just come up: for half a minute no time begins, while machines write there again what they have sent.")
        case .monitoringFailed(let error): console.warn("Monitoring: \(error)")
        default: break
        }
    }

    private func showFile(_ event: ScheduleEvent) {
        switch event {
        case .invalid(let file, let mistakes):
            console.warn("\(TextFormat.inLine(file)) has mistakes; nothing of it is sent until you correct them:\n\(mistakes)")
        case .mended(let file, let isGone): console.say("\(TextFormat.inLine(file)) \(isGone ? "is gone" : "no longer has mistakes").")
        case .next(let campaign, let app, let next, let zone):
            apps.withLock { $0[campaign] = app }
            console.say("\(campaign): \(Self.text(next, zone))", about: subject(campaign))
        case .gone(let campaign): console.say("\(campaign) is gone, and no longer sent.", about: subject(campaign))
        case .ignored(let files): console.say(ScheduleList.words(ignoredFiles: files))
        case .unscheduled(let file): console.detail("\(TextFormat.inLine(file)) has no schedule, and is ignored.")
        default: break
        }
    }

    private static func text(_ next: Occurrence?, _ zone: Schedule.Zone) -> String {
        guard let next else { return "there is no further time" }
        if zone.isRecipient { return "next \(next.localTime.words) on each device's clock, from \(next.begins) on" }
        return "next \(next.localTime.words) \(zone.fallback.name) (\(next.begins))"
    }

    private func showTime(_ event: ScheduleEvent) {
        switch event {
        case .due(let key, let run): console.say("\(key) is due: planning \(run).", about: subject(key.campaign, run: run))
        case .sending(let key, let run): console.say("\(key) is being sent as \(run).", about: subject(key.campaign, run: run))
        case .planFailed(let key, let words): console.warn("\(key) cannot be planned. \(words)", about: subject(key.campaign))
        case .postponed(let key, let problem): console.say("\(key) waits: \(problem.sentence).", about: subject(key.campaign))
        case .sendFailed(let key, let mistake): console.warn("\(key) cannot be sent. \(mistake)", about: subject(key.campaign))
        case .ended(let key, let state, let problem):
            console.say("\(key): \(state.rawValue)\(problem.map { ": \($0.sentence)" } ?? "")", about: subject(key.campaign))
        case .taken(let key): console.warn("\(key) was claimed by another process, which sends it.", about: subject(key.campaign))
        case .elsewhere(let key, let machine, ""):
            console.say("\(key) was left out on another machine, \(machine).", about: subject(key.campaign))
        case .elsewhere(let key, let machine, let run):
            console.say("\(key) is up to another machine, \(machine), as \(run).", about: subject(key.campaign, run: run))
        case .takenOver(let key, let machine):
            console.say("\(key) is planned here: \(machine), which had it, is gone.", about: subject(key.campaign))
        case .planNotCancelled(let run, let error):
            console.warn("The plan \(run) cannot be cancelled. \(error)", about: LogSubject(run: run))
        case .statisticsMissing(let run, let trouble): console.warn("\(run): \(trouble)", about: LogSubject(run: run))
        case .fileNotClosed(let run, let error):
            console.warn("\(run) is over, but its file cannot be closed. \(error)", about: LogSubject(run: run))
        default: break
        }
    }
}

extension Console {
    var noticeObserver: NoticeObserver { Observer { self.warn($0.text) } }
}
