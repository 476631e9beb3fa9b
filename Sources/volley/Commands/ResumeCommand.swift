import Workspace
import Base
import Campaigns
import Delivery
import Logs
import PushServices
import Runs
import Sending

/// `volley resume`: continues a run that was stopped, paused, interrupted, cancelled or killed.
public enum ResumeCommand {
    /// Settled pushes stay settled, and unsent ones are sent. The campaign says whether unknown ones are sent again.
    /// - Parameter argument: a run's id, a path to its file, or `last`.
    public static func run(_ argument: String, options: CommonOptions, console: Console) throws -> ExitStatus {
        Interruption.install()
        let (id, found) = try SharedOrder.run(argument, givingElsewhere: .goOn, options)
        guard let run = found else {
            return RunAnswer.show(id, .running, text: "\(id) continues on the machines that paused it.", options, console)
        }
        if run.sendingSince != nil {
            try wake(run, in: options.project)
            return RunAnswer.show(run.plan.id, .running, text: "\(run.plan.id) continues in the process that paused it.", options, console)
        }
        let attendance = console.running(options)
        let proposal = try proposeToGoOn(run, in: options.project, attendance.context)
        let about = LogSubject(run.plan)
        console.show(proposal.warnings, about: about)
        if let resumption = try proposal.resumption() {
            console.show(resumption, about: about)
        } else {
            console.say("Resuming \(id): the store that machines share has the devices that are left.", about: about)
        }
        return try console.send(proposal, attendance, options)
    }

    /// What happens to pushes that the service recognizes.
    static func note(recognized count: Int, _ service: any PushService) -> String {
        let (devices, pushes) =
            count == 1 ? ("1 device may have its push", "it") : ("\(TextFormat.count(count)) devices may have their pushes", "them")
        return
            "\(devices) already. Volley sends \(pushes) again, and \(service.displayName) delivers \(pushes) once: it recognizes \(pushes) by name."
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

extension Console {
    /// Shows how many pushes of a run that goes on are left, and how many of them may reach a device twice.
    func show(_ resumption: Resumption, about run: LogSubject = .none) {
        let plan = resumption.plan, parts = resumption.parts
        say(
            "Resuming \(plan.id): \(TextFormat.count(resumption.unsent)) of \(parts[0].settings.service.recipients(plan.audience)) are unsent\(Self.unsent(parts)).",
            about: run)
        for part in parts {
            let service = part.settings.service, policy = part.settings.unknownPolicy
            let name = parts.count > 1 ? "\(service.displayName): " : ""
            if part.recognized > 0 { say(name + ResumeCommand.note(recognized: part.recognized, service), about: run) }
            if part.unknown > 0 { warn(name + ResumeCommand.warning(unknown: part.unknown, policy, service), about: run) }
        }
    }

    /// The services that are still sent to, each with its unsent devices; blank where one takes all pushes.
    private static func unsent(_ parts: [Resumption.Part]) -> String {
        guard parts.count > 1 else { return "" }
        let parts = parts.filter { $0.unsent > 0 }.map { "\($0.settings.service.displayName) \(TextFormat.count($0.unsent))" }
        return parts.isEmpty ? "" : " (\(parts.joined(separator: ", ")))"
    }
}
