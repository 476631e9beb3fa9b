import Base
import Reports
import Runs
import Scheduling
import Sending
import Automation

/// Shows the work of `volley schedule` as lines on a terminal.
extension Console {
    var scheduleObserver: ScheduleObserver {
        let run = RunTerminal.observer(self)
        return Observer { self.show($0, run) }
    }

    var noticeObserver: NoticeObserver { Observer { self.warn($0.text) } }

    private func show(_ event: ScheduleEvent, _ run: RunObserver) {
        switch event {
        case .planning(let event): show(event)
        case .run(let event): run(event)
        case .noticeDelivery(let event): warn(event.text)
        case .notice(let notice): warn(notice.text)
        case .started, .ending, .recordLost, .recordBusy, .monitoringFailed, .storeAway, .storeBack: showProcess(event)
        case .invalid, .mended, .next, .gone, .ignored, .unscheduled: showFile(event)
        case .due, .sending, .planFailed, .postponed, .sendFailed, .ended, .taken, .elsewhere, .takenOver, .planNotCancelled,
            .fileNotClosed,
            .statisticsMissing:
            showTime(event)
        case .order(let event): show(event)
        }
    }

    private func show(_ event: OrderEvent) {
        switch event {
        case .taken(let order): say("Order of \(TextFormat.inLine(order.by)): \(order.kind.words).")
        case .ended(let order, let state):
            let text = "Order of \(TextFormat.inLine(order.by)), \(order.kind.words): \(state.sentence)"
            if case .done = state { say(text) } else { warn(text) }
        case .warning(let run, let words): warn("\(run): \(words)")
        case .unusable(let mistake): warn("No orders are taken until this is mended; all else goes on. \(mistake)")
        }
    }

    private func showProcess(_ event: ScheduleEvent) {
        switch event {
        case .started(let record): say("volley schedule is at work; its record is \(record).")
        case .ending: say("Interrupted: what is being sent stops cleanly, and continues when you start volley schedule again.")
        case .recordLost(let error):
            warn("volley schedule cannot continue without its record; what was being sent has stopped cleanly. \(error)")
        case .recordBusy(let path): warn("Another program holds \(path); volley schedule waits until it is done.")
        case .storeAway(let trouble):
            warn(
                "Until the store can be reached, no time is sent: another machine may send it. What is being sent goes on as it can. \(trouble)"
            )
        case .storeBack: say("The store can be reached again.")
        case .monitoringFailed(let error): warn("Monitoring: \(error)")
        default: break
        }
    }

    private func showFile(_ event: ScheduleEvent) {
        switch event {
        case .invalid(let file, let mistakes):
            warn("\(TextFormat.inLine(file)) has mistakes; nothing of it is sent until you correct them:\n\(mistakes)")
        case .mended(let file, let isGone): say("\(TextFormat.inLine(file)) \(isGone ? "is gone" : "no longer has mistakes").")
        case .next(let campaign, let next, let zone): say("\(campaign): \(Self.text(next, zone))")
        case .gone(let campaign): say("\(campaign) is gone, and no longer sent.")
        case .ignored(let files): say(ScheduleList.words(ignoredFiles: files))
        case .unscheduled(let file): detail("\(TextFormat.inLine(file)) has no schedule, and is ignored.")
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
        case .due(let key, let run): say("\(key) is due: planning \(run).")
        case .sending(let key, let run): say("\(key) is being sent as \(run).")
        case .planFailed(let key, let words): warn("\(key) cannot be planned. \(words)")
        case .postponed(let key, let problem): say("\(key) waits: \(problem.sentence).")
        case .sendFailed(let key, let mistake): warn("\(key) cannot be sent. \(mistake)")
        case .ended(let key, let state, let problem): say("\(key): \(state.rawValue)\(problem.map { ": \($0.sentence)" } ?? "")")
        case .taken(let key): warn("\(key) was claimed by another process, which sends it.")
        case .elsewhere(let key, let machine, ""): say("\(key) was left out on another machine, \(machine).")
        case .elsewhere(let key, let machine, let run): say("\(key) is up to another machine, \(machine), as \(run).")
        case .takenOver(let key, let machine): say("\(key) is planned here: \(machine), which had it, is gone.")
        case .planNotCancelled(let run, let error): warn("The plan \(run) cannot be cancelled. \(error)")
        case .statisticsMissing(let run, let trouble): warn("\(run): \(trouble)")
        case .fileNotClosed(let run, let error): warn("\(run) is over, but its file cannot be closed. \(error)")
        default: break
        }
    }
}
