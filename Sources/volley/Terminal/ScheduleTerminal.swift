import Automation
import Base
import Logs
import Reports
import Runs
import Sending
import Synchronization

/// Shows the work of `volley schedule` as lines on a terminal, or in a log.
final class ScheduleTerminal: Sendable {
    private let console: Console
    private let run: RunTerminal
    private let subjects = Mutex(Subjects())

    private init(_ console: Console) { (self.console, run) = (console, RunTerminal(console)) }

    /// Makes an observer that shows one process.
    static func observer(_ console: Console) -> ScheduleObserver {
        let terminal = ScheduleTerminal(console)
        return Observer { terminal.show($0) }
    }

    private func show(_ event: ScheduleEvent) {
        switch event {
        case .tick: return
        case .run(let news, let plan):
            // These come with every batch of answers, so each takes only one lock.
            let about = subjects.withLock { subjects in
                subjects.note(event)
                return subjects.known[plan.id]
            }
            return run.show(news, about: about ?? LogSubject(plan))
        default: break
        }
        subjects.withLock { $0.note(event) }
        defer { subjects.withLock { $0.forget(after: event) } }
        switch event {
        case .planning(let event, let key): console.show(event, about: key.map(subject) ?? .none)
        case .noticeDelivery(let event): console.noticeObserver(event)
        case .notice(let notice): console.warn(notice.text, about: LogSubject(notice))
        case .started, .ending, .recordLost, .recordBusy, .recordAway, .recordBack, .monitoringFailed, .obstructed,
            .storeAway, .storeBack,
            .storeQuiet:
            showProcess(event)
        case .invalid, .mended, .next, .gone, .zonesChanged, .ignored, .unscheduled: showFile(event)
        case .due, .sending, .planFailed, .postponed, .sendFailed, .ended, .paused, .taken, .elsewhere, .takenOver,
            .planNotCancelled,
            .fileNotClosed,
            .statisticsMissing, .damaged:
            showTime(event)
        case .order(let event): show(event)
        case .run, .tick: break
        }
    }

    private func show(_ event: OrderEvent) {
        switch event {
        case .taken(let order):
            console.say("Order of \(TextFormat.inLine(order.by)): \(order.kind.words).", about: subject(of: order, nil))
        case .ended(let order, let state):
            let text = "Order of \(TextFormat.inLine(order.by)), \(order.kind.words): \(state.sentence)"
            let about = subject(of: order, state.run)
            if state.isWell { console.say(text, about: about) } else { console.warn(text, about: about) }
        case .warning(let plan, let words): console.warn("\(plan.id): \(words)", about: LogSubject(plan))
        case .unusable(let mistake):
            console.warn("No orders are taken until this is mended; everything else continues. \(mistake)")
        }
    }

    private func showProcess(_ event: ScheduleEvent) {
        switch event {
        case .started(let record): console.say("volley schedule is at work; its record is \(record).")
        case .ending:
            console.say(
                "Interrupted: what is being sent stops cleanly. Times of the schedule continue when you start volley schedule again. What is paused, and what a person resumed or ordered, waits for `volley resume`."
            )
        case .recordLost(let error):
            console.fail(
                "volley schedule cannot continue without its record; what was being sent has stopped cleanly. \(error)")
        case .recordBusy(let path):
            console.warn("Another program holds \(path); volley schedule waits until it is done.")
        case .recordAway(let trouble): console.fail("\(trouble)")
        case .recordBack: console.say("The record of the schedule is in its place again; volley schedule continues.")
        case .storeAway(let trouble, let seconds):
            let since = seconds > 0 ? " It has been away for \(TextFormat.span(seconds: Int64(seconds)))." : ""
            console.warn(
                "Until the store can be reached, no time is sent: another machine may send it. What is being sent continues as it can.\(since) \(trouble)"
            )
        case .storeBack(let seconds):
            console.say(
                "The store can be reached again, after \(TextFormat.span(seconds: Int64(seconds))): times are sent again."
            )
        case .storeQuiet:
            console.say(
                "The store has just come up: for half a minute no time begins, while machines write there again what they have sent."
            )
        case .monitoringFailed(let error): console.warn("Monitoring: \(error)")
        case .obstructed(let obstacle): console.show([obstacle])
        default: break
        }
    }

    private func showFile(_ event: ScheduleEvent) {
        switch event {
        case .invalid(let file, let mistakes):
            console.warn(
                "\(TextFormat.inLine(file)) has mistakes; nothing of it is sent until you correct them:\n\(mistakes)")
        case .mended(let file, let isGone):
            console.say("\(TextFormat.inLine(file)) \(isGone ? "is gone" : "no longer has mistakes").")
        case .next(let campaign, let app, let next, let zone):
            console.say("\(campaign): \(Self.text(next, zone))", about: LogSubject(app: app, campaign: campaign))
        case .gone(let campaign, let waiting):
            let plans = waiting.map {
                " Its plan \($0) is still sent once it is approved; `volley cancel \($0)` cancels it."
            }.joined()
            let fact = "\(campaign) is gone, or has no times any more: no further time of it is planned."
            console.say(fact + plans, about: subject(ofCampaign: campaign))
        case .zonesChanged(let zones):
            console.say(
                "The time zone database was updated: times in \(zones.joined(separator: ", ")) follow the new rules from now on."
            )
        case .ignored(let files): console.say(ScheduleList.words(ignoredFiles: files))
        case .unscheduled(let file): console.detail("\(TextFormat.inLine(file)) has no schedule, and is ignored.")
        default: break
        }
    }

    private static func text(_ next: Occurrence?, _ zone: Schedule.Zone) -> String {
        guard let next else { return "there is no further time" }
        if zone.isRecipient { return "next \(next.localTime.words) on each person's clock, from \(next.begins) on" }
        return "next \(next.localTime.words) \(zone.fallback.name) (\(next.begins))"
    }

    private func showTime(_ event: ScheduleEvent) {
        switch event {
        case .due(let key, let run): console.say("\(key) is due: planning \(run).", about: subject(key))
        case .sending(let key, let run): console.say("\(key) is being sent as \(run).", about: subject(key))
        case .planFailed(let key, let words): console.warn("\(key) cannot be planned. \(words)", about: subject(key))
        case .postponed(let key, let problem): console.say("\(key) waits: \(problem.sentence).", about: subject(key))
        case .sendFailed(let key, let mistake): console.warn("\(key) cannot be sent. \(mistake)", about: subject(key))
        case .ended(let key, let state, let problem):
            let text = "\(key): \(state.rawValue)\(problem?.sentence(behind: state).map { ": \($0)" } ?? "")"
            // A run that stopped, or missed devices, needs a person; one that a person cancelled
            // does not.
            let isWell = state == .cancelled || state == .finished && problem == nil
            if isWell { console.say(text, about: subject(key)) } else { console.warn(text, about: subject(key)) }
        case .paused(let key, let run):
            console.warn("\(key) is paused as \(run). `volley resume \(run)` continues it.", about: subject(key))
        case .taken(let key):
            console.warn(
                "\(key): a person has sent, resumed or cancelled it with another command; volley schedule leaves it alone.",
                about: subject(key))
        case .elsewhere(let key, let machine, ""):
            console.say("\(key) was left out on another machine, \(machine).", about: subject(key))
        case .elsewhere(let key, let machine, let run):
            console.say("\(key) is up to another machine, \(machine), as \(run).", about: subject(key))
        case .takenOver(let key, let machine):
            console.say("\(key) is planned here: \(machine), which had it, is gone.", about: subject(key))
        case .planNotCancelled(let scheduledRun, let error):
            console.warn(
                "The plan \(scheduledRun.run ?? "") cannot be cancelled. \(error)", about: subject(scheduledRun.key))
        case .statisticsMissing(let plan, let trouble): console.warn("\(plan.id): \(trouble)", about: LogSubject(plan))
        case .fileNotClosed(let plan, let error):
            console.warn("\(plan.id) is over, but its file cannot be closed. \(error)", about: subject(ofRun: plan.id))
        case .damaged(let mistake): console.warn("A run is left out, and everything else continues. \(mistake)")
        default: break
        }
    }
}

/// The subject of each line. Events name only a time or a run; the rest is known from earlier
/// events.
extension ScheduleTerminal {
    private struct Subjects {
        /// By campaign.
        private(set) var apps: [String: String] = [:]
        private(set) var runs: [ScheduledRun.Key: String] = [:]
        /// By run.
        private(set) var known: [String: LogSubject] = [:]

        mutating func note(_ event: ScheduleEvent) {
            switch event {
            case .next(let campaign, let app, _, _): apps[campaign] = app
            case .due(let key, let run), .sending(let key, let run), .paused(let key, let run),
                .elsewhere(let key, _, let run):
                note(run, of: key)
            case .planNotCancelled(let scheduledRun, _): note(scheduledRun.run ?? "", of: scheduledRun.key)
            case .run(.ended(let run), let plan):
                known[plan.id] = LogSubject(plan)
                guard let figures = try? run.figures() else { return }
                known[plan.id]?.figures = LogSubject.figures(figures.outcomes, of: plan.audience)
            case .run(_, let plan): if known[plan.id] == nil { known[plan.id] = LogSubject(plan) }
            default: break
            }
        }

        private mutating func note(_ run: String, of key: ScheduledRun.Key) {
            guard !run.isEmpty else { return }
            runs[key] = run
            if known[run] == nil { known[run] = LogSubject(app: apps[key.campaign], campaign: key.campaign, run: run) }
        }

        /// Drops subjects without later events, so that the memory of a process that stays does not
        /// grow.
        mutating func forget(after event: ScheduleEvent) {
            switch event {
            case .ended(let key, _, _), .elsewhere(let key, _, _), .taken(let key):
                if let run = runs.removeValue(forKey: key) { known[run] = nil }
            case .planNotCancelled(let scheduledRun, _):
                if let run = runs.removeValue(forKey: scheduledRun.key) { known[run] = nil }
            case .order(.ended(_, let state)): if let run = state.run, !runs.values.contains(run) { known[run] = nil }
            case .gone(let campaign, _): apps[campaign] = nil
            default: break
            }
        }
    }

    private func subject(_ key: ScheduledRun.Key) -> LogSubject {
        subjects.withLock { subjects in
            subjects.runs[key].flatMap { subjects.known[$0] }
                ?? LogSubject(app: subjects.apps[key.campaign], campaign: key.campaign)
        }
    }

    private func subject(ofRun run: String) -> LogSubject {
        subjects.withLock { $0.known[run] } ?? LogSubject(run: run)
    }

    private func subject(ofCampaign campaign: String) -> LogSubject {
        LogSubject(app: subjects.withLock { $0.apps[campaign] }, campaign: campaign)
    }

    /// - Parameter made: the run that the order made or was about, once it is known.
    private func subject(of order: Order, _ made: String?) -> LogSubject {
        if let run = made ?? order.kind.run { return subject(ofRun: run) }
        return order.kind.time.map(subject) ?? .none
    }
}

extension OrderState {
    /// The run that an order was about, or made, once it was done.
    fileprivate var run: String? { if case .done(let result) = self { result.run } else { nil } }

    /// Whether it was carried out, and no run of it stopped by itself.
    fileprivate var isWell: Bool {
        guard case .done(let result) = self else { return false }
        if case .stopped = result.end { return false }
        return true
    }
}

extension LogSubject {
    /// What a notice is about.
    init(_ notice: Notice) {
        self.init(app: notice.app, campaign: notice.campaign, run: notice.run)
        if let audience = notice.audience, !notice.outcomes.isEmpty {
            figures = Self.figures(notice.outcomes, of: audience)
        }
    }

    /// The figures of a run that has ended, by the names of a report.
    static func figures(_ outcomes: [Outcome: Int], of audience: Int) -> [String: Int] {
        var figures = ["audience": audience]
        for outcome in Outcome.allCases { figures[outcome.name] = outcomes[outcome, default: 0] }
        return figures
    }
}

extension Console {
    var noticeObserver: NoticeObserver {
        Observer { event in
            let subject = event.notice.map(LogSubject.init) ?? .none
            event.isWarning ? self.warn(event.text, about: subject) : self.say(event.text, about: subject)
        }
    }
}
