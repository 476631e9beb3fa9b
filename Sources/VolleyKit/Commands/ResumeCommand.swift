import Base
import Campaigns
import Runs

/// `volley resume`: goes on with a run that was stopped, paused, interrupted, cancelled or killed.
public enum ResumeCommand {
    /// Settled stays settled; who is unsent is sent; who is unknown is sent again, or not, as the campaign says.
    /// - Parameter argument: a run's id, a path to its file, or `last`.
    public static func run(_ argument: String, options: CommonOptions, console: Console) throws -> ExitStatus {
        Interruption.install()
        let run = try RunStore(path: RunStore.resolve(argument, in: Project.runsFolder(options)))
        if run.isBeingSent { return try wake(run, options, console) }
        let state = try run.status().state
        switch state {
        case .planned:
            throw Diagnostic(
                "the run was not begun yet", file: run.path,
                remedy: "`volley send --plan \(run.plan.id)` begins it, and asks before it does.")
        case .finished:
            throw Diagnostic(
                "the run is finished: every device has its outcome", file: run.path,
                remedy: "`volley report \(run.plan.id)` shows them.")
        case .running, .paused, .stopped, .cancelled: break
        }
        if let retry = try RunChain(of: run).retries(of: run.plan.id).last {
            throw Diagnostic(
                "the run was cancelled and then retried as \(retry.plan.id)", file: run.path,
                remedy: "Go on with that one: the two would send the same pushes.")
        }
        try run.checkIntegrity()
        // Whoever approved or agreed did so to what was planned.
        try run.checkUnchanged()
        let dispatch = try RunDispatch(run, options, console)
        try announce(run, dispatch.settings, console)
        // A killed process left `running` behind.
        return try dispatch.send(from: [.stopped, .paused, .cancelled, .running], options, console)
    }

    /// A process is there already: it goes on if it is paused.
    private static func wake(_ run: RunStore, _ options: CommonOptions, _ console: Console) throws -> ExitStatus {
        guard try run.status().state == .paused else {
            throw Diagnostic(
                "this run is being sent by another volley", file: run.path,
                remedy: "Nothing is left to do; `volley report \(run.plan.id)` shows how far it is.")
        }
        try run.ask(for: .running, reason: "", at: .now(), from: [.paused])
        return RunAnswer.show(run, .running, "\(run.plan.id) goes on in the process that paused it.", options, console)
    }

    /// Says what is left to do, and what of it may reach a device twice.
    private static func announce(_ run: RunStore, _ settings: RunSettings, _ console: Console) throws {
        // Counted once: that reads every outcome.
        let outcomes = try run.figures().outcomes
        let (unknown, unsent) = (outcomes[.unknown, default: 0], outcomes[.unsent, default: 0])
        console.say("Resuming \(run.plan.id): \(TextFormat.count(unsent)) of \(TextFormat.count(run.plan.audience)) devices are unsent.")
        guard unknown > 0 else { return }
        let devices =
            unknown == 1
            ? "1 device is unknown: its push went out, or was about to,"
            : "\(TextFormat.count(unknown)) devices are unknown: their pushes went out, or were about to,"
        if settings.unknownPolicy == .resend {
            console.warn(
                "\(devices) and no answer was recorded. They are sent again under the same apns-id, so that some may "
                    + "show twice (delivery.unknown: resend).")
        } else {
            console.warn(
                "\(devices) and no answer was recorded. They are not sent again (delivery.unknown: skip).")
        }
    }
}
