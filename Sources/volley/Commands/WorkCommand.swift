import Automation
import Base
import Campaigns
import Logs
import Reports
import Runs
import Sending
import Workspace

/// `volley work`: helps to send what other machines send through the store.
public enum WorkCommand {
    /// Helps until it is told to end, or until one run has ended.
    /// - Parameter run: the id of the only run to help with; nil for all.
    public static func run(on run: String?, options: CommonOptions, console: Console) throws -> ExitStatus {
        try HangupSignal.expect(console)
        Interruption.install()
        let stageOptions = RunOptions(
            context: SendingContext(threads: options.threads, cancellation: Interruption.process),
            observer: Observer { event in
                if case .warnings(let warnings) = event { console.show(warnings) }
            }, cancellation: Interruption.process)
        let manager = ServiceManager()
        if let flaw = manager.flaw { console.warn(flaw) }
        let work = try StoreWorker(
            in: options.project, stageOptions,
            Observer { event in
                show(event, console)
                tell(manager, of: event)
                if case .tick = event { HangupSignal.answer(console) }
            })
        if let project = try Project.find(with: options.project) {
            var inspection = ProjectInspection(project, project.catalog(options.project))
            console.show(inspection.obstacles())
        }
        try work.work(on: run)
        manager.stopping()
        return .done
    }

    private static func tell(_ manager: ServiceManager, of event: StoreWorkerEvent) {
        switch event {
        case .waiting: manager.ready()
        case .joined(let plan): manager.status("helping with \(plan.id)")
        case .left: manager.status("waiting for runs")
        case .tick: manager.alive()
        case .refused, .storeAway, .storeBack: break
        }
    }

    private static func show(_ event: StoreWorkerEvent, _ console: Console) {
        switch event {
        case .waiting(let apps): console.say("Waiting for runs of \(apps.joined(separator: ", ")). Ctrl-C ends.")
        case .joined(let plan):
            console.say(
                "Helping with \(plan.id): \(plan.campaign), \(TextFormat.count(plan.audience)) devices.",
                about: LogSubject(plan))
        case .left(let plan, let end, let isOver):
            // The machine that planned the run has its figures.
            console.say("No longer helping with \(plan.id): \(words(end, isOver: isOver))", about: LogSubject(plan))
        case .refused(let run, let mistake):
            console.warn("\(run) is left to other machines: \(mistake)", about: LogSubject(run: run))
        case .storeAway(let mistake): console.warn("\(mistake)")
        case .storeBack: console.say("The store answers again.")
        case .tick: break
        }
    }

    private static func words(_ end: RunEnd, isOver: Bool) -> String {
        switch end {
        case .finished: "it has finished."
        case .cancelled: "it was cancelled."
        case .interrupted:
            isOver ? "it was stopped." : "this machine was asked to end. Other machines that send it continue."
        case .stopped(.interrupted) where isOver: "it was interrupted where it was planned."
        case .stopped(let cause) where isOver: "it was stopped. \(cause.sentence)"
        case .stopped(let cause):
            "this machine cannot send it. Other machines that can send it continue. \(cause.sentence)"
        }
    }
}
