import Base
import Reports
import Runs
import Sending

/// `volley work`: helps to send what other machines send through the store.
public enum WorkCommand {
    /// Helps until it is asked to end, or until one run has ended.
    /// - Parameter run: the id of the only run to help with; nil for all.
    public static func run(on run: String?, options: CommonOptions, console: Console) throws -> ExitStatus {
        Interruption.install()
        let attendance = RunAttendance(
            context: SendingContext(threads: options.threads, cancellation: Interruption.process),
            observer: Observer { event in
                if case .warnings(let warnings) = event { console.show(warnings) }
            }, cancellation: Interruption.process)
        let work = try TeamWork(in: options.project, attendance, Observer { show($0, console) })
        try work.work(on: run)
        return .done
    }

    private static func show(_ event: TeamWorkEvent, _ console: Console) {
        switch event {
        case .waiting(let apps): console.say("Waiting for runs of \(apps.joined(separator: ", ")). Ctrl-C ends.\n")
        case .joined(let run, let campaign, let devices):
            console.say("Helping with \(run): \(campaign), \(TextFormat.count(devices)) devices.\n")
        case .left(let run, let end, let isOver): console.say("No longer helping with \(run): \(words(end, isOver: isOver))\n")
        case .refused(let run, let mistake): console.warn("\(run) is left to other machines: \(mistake)")
        case .storeAway(let mistake): console.warn("\(mistake)")
        case .storeBack: console.say("The store answers again.\n")
        case .tick: break
        }
    }

    private static func words(_ end: RunEnd, isOver: Bool) -> String {
        switch end {
        case .finished: "it has finished."
        case .cancelled: "it was cancelled."
        case .interrupted: isOver ? "it was stopped." : "this machine was asked to end, and the others go on."
        case .stopped(let cause) where isOver: "it was stopped. \(cause.sentence)"
        case .stopped(let cause): "this machine cannot send it, and the others go on. \(cause.sentence)"
        }
    }
}
