import Base
import Logs
import PushServices
import Runs
import Synchronization
import Planning
import Sending

/// Shows the sending of a run as lines on a terminal.
final class RunTerminal: Sendable {
    private let console: Console
    private let sparse = Mutex(SparseProgress())
    /// The run that was started last.
    private let subject = Mutex(LogSubject.none)

    init(_ console: Console) { self.console = console }

    /// Makes an observer that shows one run.
    static func observer(_ console: Console) -> RunObserver {
        let terminal = RunTerminal(console)
        return Observer { event in
            if case .started(let run) = event { terminal.subject.withLock { $0 = LogSubject(run.plan) } }
            terminal.show(event, about: terminal.subject.withLock { $0 })
        }
    }

    /// Shows an event of a run.
    func show(_ event: RunEvent, about run: LogSubject) {
        switch event {
        case .tick, .settled, .started, .ended: break
        case .begins: SendingFlag.set()
        case .resumes(let resumption): console.show(resumption, about: run)
        case .checking:
            console.progress("checking whether it may be sent: is the plan unchanged, does another command hold it")
        case .closing:
            console.progress("closing the run file, and leaving devices without the app out of later campaigns")
        case .closed, .progressOver: console.clearProgress()
        case .progress(let progress): show(progress, about: run)
        case .waitingProgress(let wait):
            guard console.showsProgress else { return }
            console.progress(
                "waiting  \(TextFormat.span(seconds: Int64(wait.seconds)))\(Self.why(wait)) until \(Self.text(wait.until))"
            )
        case .waitingForMachines(let machines):
            console.progress(
                "waiting for \(machines.joined(separator: "; ")) to record the last answers, or to be gone for certain (a minute at most)"
            )
        case .destination(let to):
            console.detail(
                "Sending \(to.run) to \(to.endpoint)\(to.proxy) as \(SecretText.hidden(in: to.topic)), at most \(to.pace?.description ?? "as fast as it goes").",
                about: run)
        case .wave(let devices, let time):
            console.detail("Sending to \(TextFormat.count(devices)) devices at \(Self.text(time)).", about: run)
        case .waiting(let wait):
            let others =
                wait.later > 0 ? "; \(wait.later) more \(TextFormat.plural(wait.later, one: "time")) after that" : ""
            console.say(
                "Waiting \(TextFormat.duration(seconds: wait.seconds))\(Self.why(wait)) until \(Self.text(wait.until))\(others). "
                    + "Ctrl-C ends here, and `volley resume \(wait.run)` continues.", about: run)
        case .paused(let id):
            console.say("Paused. `volley resume \(id)` in another terminal continues; Ctrl-C ends here.", about: run)
        case .resumed: console.say("Continuing.", about: run)
        case .silent(let silent): console.warn(silent.sentence, about: run)
        case .answersAgain(let service): console.say("\(service.displayName) answers again.", about: run)
        case .draining:
            console.say(
                "Interrupted: waiting for the answers that are under way. A second interrupt stops at once.", about: run
            )
        case .storeBack: console.say("The store answers again.", about: run)
        case .rejoins:
            console.say(
                "This process stood still, or was cut off from the store, for longer than half a minute: other machines counted it as gone. "
                    + "It takes part again.", about: run)
        case .storeAway, .warnings, .capped, .tooLate, .unrecorded, .endNotNoted, .suppressed, .notSuppressed,
            .suppressionFailed, .gap:
            warn(of: event, about: run)
        }
    }

    private func show(_ progress: RunProgress, about run: LogSubject) {
        if console.showsProgress { return console.progress(progress.line) }
        guard console.staysInformed else { return }
        if sparse.withLock({ $0.isDue(progress.wait, at: progress.seconds) }) { console.say(progress.line, about: run) }
    }

    private func warn(of event: RunEvent, about run: LogSubject) {
        switch event {
        case .warnings(let warnings): console.show(warnings, about: run)
        case .storeAway(let trouble):
            console.warn(
                "\(trouble) Sending waits for the store, and continues by itself. Ctrl-C ends here.", about: run)
        case .capped(let count):
            console.warn(
                "\(TextFormat.counted(count, one: "device does", many: "devices do")) not get this push: with what other runs sent or will send, "
                    + "\(TextFormat.plural(count, one: "it has", many: "they have")) as many as 'frequency' allows (unsent, \(OwnReason.frequencyCap.rawValue)).",
                about: run)
        case .tooLate(let id, let count, let wave, let seconds):
            console.warn(
                "\(TextFormat.counted(count, one: "device was", many: "devices were")) due at \(Self.text(wave)): "
                    + "that is too late by \(TextFormat.duration(seconds: Double(seconds))), "
                    + "so \(TextFormat.plural(count, one: "it does", many: "they do")) not get the push (schedule.late). "
                    + "`volley retry \(id) --outcome unsent` sends to them anyway, once the run is over.", about: run)
        case .unrecorded(let count, let others): console.warn(Self.unrecordedText(count, byOthers: others), about: run)
        case .endNotNoted(let error):
            console.warn(
                "The run's progress could not be noted next to it, so an older copy of its file would not be recognised. \(error)",
                about: run)
        case .suppressed(let count, let list):
            console.detail("\(TextFormat.count(count)) devices are suppressed from now on, in \(list)", about: run)
        case .notSuppressed(let count, let target, let topicKey, let service):
            console.warn(Self.notSuppressedText(count, target: target, topicKey: topicKey, of: service), about: run)
        case .suppressionFailed(let error):
            console.warn(
                "The devices that the app is gone from could not be put on the suppression list, so the next plan will name them again. \(error)",
                about: run)
        case .gap(let gap): console.warn("\(gap)", about: run)
        default: break
        }
    }

    static func unrecordedText(_ count: Int, byOthers others: UnknownPolicy?) -> String {
        let answers = "\(TextFormat.counted(count, one: "answer")) could not be recorded"
        guard others == .resend else { return "\(answers); the report counts their devices as unknown." }
        return
            "\(answers), so another machine may send to their devices again (delivery.unknown: resend). The report does not count the pushes without a record."
    }

    private static func notSuppressedText(_ count: Int, target: String, topicKey: String, of service: String?) -> String
    {
        let devices =
            count == 1
            ? "1 device is not suppressed although its \(target) was"
            : "\(TextFormat.count(count)) devices are not suppressed although their \(target)s were"
        return
            "\(devices) refused\(service.map { " by \($0)" } ?? ""): too few others were accepted to tell whether the \(target)s are bad or the settings wrong. Check environment and \(topicKey)\(service.map { " of \($0)" } ?? "") in volley.yaml, and that the export belongs to this app."
    }

    private static func why(_ wait: RunEvent.WaveWait) -> String {
        wait.isForQuietHours ? " for the end of quiet hours" : ""
    }

    /// `09:00 in Asia/Tokyo (2026-12-01T00:00:00Z)`
    private static func text(_ time: RunEvent.WaveTime) -> String {
        guard let zone = time.zone else { return time.moment.description }
        return "\(zone.localTime(at: time.moment).words) in \(zone.name) (\(time.moment))"
    }
}

extension LogSubject {
    /// The run of a plan.
    init(_ plan: RunPlan) { self.init(app: plan.app, campaign: plan.campaign, run: plan.id) }
}

extension Console {
    /// Shows planning, and ends it with Ctrl-C.
    func planning(_ options: CommonOptions) -> PlanOptions {
        PlanOptions(observer: planningObserver, cancellation: Interruption.process, memory: options.memory)
    }

    /// Shows the sending of one run, and ends it with Ctrl-C.
    func running(_ options: CommonOptions) -> RunOptions {
        RunOptions(
            context: SendingContext(threads: options.threads, cancellation: Interruption.process),
            observer: RunTerminal.observer(self),
            cancellation: Interruption.process)
    }
}
