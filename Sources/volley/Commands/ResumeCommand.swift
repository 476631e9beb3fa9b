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
        guard let run = try SharedOrder.run(argument, givingElsewhere: .goOn, options) else {
            return RunAnswer.show(argument, .running, text: "\(argument) continues on the machines that paused it.", options, console)
        }
        if run.sendingSince != nil {
            try wake(run, in: options.project)
            return RunAnswer.show(run.plan.id, .running, text: "\(run.plan.id) continues in the process that paused it.", options, console)
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
        var figures = try run.figures()
        let lost = try settings.services.indices.map { try LostDevices(of: run, at: settings.ofService($0).service, number: $0) }
        for (number, lost) in lost.enumerated() { figures.countAsUnsent(lost.unsent, ofService: number) }
        let unsent = figures.outcomes[.unsent, default: 0]
        console.say(
            "Resuming \(run.plan.id): \(TextFormat.count(unsent)) of \(settings.service.recipients(run.plan.audience)) are unsent\(parts(figures, settings))."
        )
        for (number, lost) in lost.enumerated() {
            let own = settings.ofService(number)
            let unknown = figures.figures(ofService: number).outcomes[.unknown, default: 0] - lost.recognized
            let service = settings.services.count > 1 ? "\(own.service.displayName): " : ""
            if lost.recognized > 0 { console.say(service + note(recognized: lost.recognized, own.service)) }
            if unknown > 0 { console.warn(service + warning(unknown: unknown, own.unknownPolicy, own.service)) }
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

    /// What happens to pushes that the service recognizes.
    static func note(recognized count: Int, _ service: any PushService) -> String {
        let (devices, pushes) =
            count == 1 ? ("1 device may have its push", "it") : ("\(TextFormat.count(count)) devices may have their pushes", "them")
        return
            "\(devices) already. Volley sends \(pushes) again, and \(service.displayName) delivers \(pushes) once: it knows \(pushes) by name."
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

extension RunFigures {
    /// Counts devices without an outcome, of which it is known that nothing was sent to them, as unsent.
    fileprivate mutating func countAsUnsent(_ count: Int, ofService number: Int) {
        outcomes[.unknown, default: 0] -= count
        outcomes[.unsent, default: 0] += count
        if !services.isEmpty { services[number].countAsUnsent(count, ofService: 0) }
    }
}
