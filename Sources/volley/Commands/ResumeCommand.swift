import Workspace
import Base
import Campaigns
import Delivery
import PushServices
import Runs
import Sending

/// `volley resume`: continues a run that was stopped, paused, interrupted, cancelled or killed.
public enum ResumeCommand {
    /// Settled pushes stay settled, and unsent ones are sent. The campaign says whether unknown ones are sent again.
    /// - Parameter argument: a run's id, a path to its file, or `last`.
    public static func run(_ argument: String, options: CommonOptions, console: Console) throws -> ExitStatus {
        Interruption.install()
        let run = try Project.catalog(options.project).open(named: argument, readOnly: false)
        if run.sendingSince != nil {
            try wake(run, in: options.project)
            return RunAnswer.show(run, .running, text: "\(run.plan.id) continues in the process that paused it.", options, console)
        }
        let attendance = console.running(options)
        let proposal = try proposeToGoOn(run, in: options.project, attendance.context)
        console.show(proposal.warnings)
        try announce(run, proposal.settings, console)
        return try console.send(proposal, attendance, options)
    }

    /// Shows how many pushes are left, and how many of them may reach a device twice.
    private static func announce(_ run: any RecordedRun, _ settings: RunSettings, _ console: Console) throws {
        // Count only once: it reads every outcome.
        let figures = try run.figures()
        let unsent = figures.outcomes[.unsent, default: 0]
        console.say(
            "Resuming \(run.plan.id): \(TextFormat.count(unsent)) of \(settings.service.recipients(run.plan.audience)) are unsent\(parts(figures, settings))."
        )
        for number in settings.services.indices {
            let (own, unknown) = (settings.ofService(number), figures.figures(ofService: number).outcomes[.unknown, default: 0])
            guard unknown > 0 else { continue }
            let service = settings.services.count > 1 ? "\(own.service.displayName): " : ""
            console.warn(service + warning(unknown: unknown, own.unknownPolicy, own.service))
        }
    }

    /// The services that are still sent to, each with its unsent devices; blank where one takes all pushes.
    private static func parts(_ figures: RunFigures, _ settings: RunSettings) -> String {
        guard settings.services.count > 1 else { return "" }
        let parts = settings.services.enumerated().compactMap { number, service -> String? in
            let unsent = figures.figures(ofService: number).outcomes[.unsent, default: 0]
            return unsent > 0 ? "\(service.service.displayName) \(TextFormat.count(unsent))" : nil
        }
        return parts.isEmpty ? "" : " (\(parts.joined(separator: ", ")))"
    }

    /// What happens to pushes without an answer.
    static func warning(unknown: Int, _ policy: UnknownPolicy, _ service: any PushService) -> String {
        let devices =
            unknown == 1
            ? "1 \(service.recipientNoun) is unknown: its push went out, or was about to,"
            : "\(service.recipients(unknown)) are unknown: their pushes went out, or were about to,"
        let fate =
            switch policy {
            case .resend:
                "sent again\(service.recognizesRepeats ? " under the same \(service.terms.pushID)" : ""), so that some may show twice "
                    + "(delivery.unknown: resend)"
            case .skip: "not sent again (delivery.unknown: skip)"
            }
        return "\(devices) and no answer was recorded. They are \(fate)."
    }
}
