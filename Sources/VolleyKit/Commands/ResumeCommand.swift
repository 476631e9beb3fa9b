import Base
import Campaigns
import Delivery
import Runs

/// `volley resume`: goes on with a run that was stopped, paused, interrupted, cancelled or killed.
public enum ResumeCommand {
    /// Settled stays settled; who is unsent is sent; who is unknown is sent again, or not, as the campaign says.
    /// - Parameter argument: a run's id, a path to its file, or `last`.
    public static func run(_ argument: String, options: CommonOptions, console: Console) throws -> ExitStatus {
        Interruption.install()
        let run = try RunStore(path: RunStore.resolve(argument, in: Project.runsFolder(options)))
        let gate = try SendPermission(run: run, settings: RunSettings(json: run.plan.settings, runFile: run.path), options: options)
        if run.sendingSince != nil { return try wake(run, gate, console) }
        try gate.check(.goOn)
        let running = console.running()
        let dispatch = try RunToSend(run, options, running.context)
        console.show(dispatch.warnings)
        try announce(run, dispatch.settings, console)
        return console.show(try dispatch.send(.goOn, options, running), options)
    }

    /// A process is there already: it goes on if it is paused, and if it might begin now.
    private static func wake(_ run: RunStore, _ gate: SendPermission, _ console: Console) throws -> ExitStatus {
        guard try run.status().state == .paused else {
            throw Diagnostic(
                "this run is being sent by another volley", file: run.path,
                remedy: "Nothing is left to do; `volley report \(run.plan.id)` shows how far it is.")
        }
        try gate.check(.goOn)
        try run.ask(for: .running, reason: "", at: .now(), from: [.paused])
        return RunAnswer.show(run, .running, "\(run.plan.id) goes on in the process that paused it.", gate.options, console)
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
