import Base
import Campaigns
import Delivery
import Glibc
import Logs
import PushServices
import Runs
import Sending
import Workspace

/// `volley resume`: continues a run that was stopped, paused, interrupted, cancelled or killed.
public enum ResumeCommand {
    /// Settled pushes stay settled, and unsent ones are sent. The campaign says whether unknown
    /// ones are sent again.
    /// - Parameter argument: a run's id, a path to its file, or `last`.
    public static func run(_ argument: String, options: CommonOptions, console: Console) throws -> ExitStatus {
        Interruption.install()
        let (id, found) = try SharedOrder.run(argument, givingElsewhere: .goOn, options)
        guard let run = found else {
            return RunAnswer.show(
                id, .running, text: "\(id) continues on the machines that paused it.", options, console)
        }
        if run.sendingSince != nil {
            if let doubt = try wake(run, in: options.project) {
                console.warn(
                    "The store could not be asked whether another machine has ended \(id): then it does not continue. \(doubt)"
                )
            }
            return RunAnswer.show(
                id, .running, text: "\(id) continues in the process that paused it.", options, console)
        }
        var stageOptions = console.running(options)
        let proposal = try proposeToGoOn(run, in: options.project, stageOptions.context)
        let about = LogSubject(run.plan)
        console.show(proposal.warnings, about: about)
        if let resumption = try proposal.resumption() {
            console.show(resumption, about: about)
        } else {
            // Another machine may begin a run of the campaign first.
            stageOptions.observer = Observer { [shown = stageOptions.observer] event in
                if case .started = event {
                    console.say(
                        "Resuming \(id): the store that machines share has the devices that are left.", about: about)
                }
                shown(event)
            }
        }
        return try console.send(proposal, stageOptions, options)
    }

    /// What happens to pushes that the service recognizes.
    static func note(recognized count: Int, _ service: any PushService) -> String {
        let (devices, pushes) =
            count == 1
            ? ("1 device may have its push", "it")
            : ("\(TextFormat.count(count)) devices may have their pushes", "them")
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
    /// Shows how many pushes of a continued run are left, and how many of them may reach a device
    /// twice.
    func show(_ resumption: Resumption, about run: LogSubject = .none) {
        let plan = resumption.plan, parts = resumption.parts
        say(
            "Resuming \(plan.id): \(TextFormat.count(resumption.unsent)) of \(parts[0].settings.service.recipients(plan.audience)) are unsent\(Self.unsent(parts)).",
            about: run)
        for part in parts {
            let service = part.settings.service, policy = part.settings.unknownPolicy
            let name = parts.count > 1 ? "\(service.displayName): " : ""
            if part.recognized > 0 { say(name + ResumeCommand.note(recognized: part.recognized, service), about: run) }
            if part.unknown > 0 {
                warn(name + ResumeCommand.warning(unknown: part.unknown, policy, service), about: run)
            }
        }
    }

    /// The services that are still sent to, each with its unsent devices; blank where one takes all
    /// pushes.
    private static func unsent(_ parts: [Resumption.Part]) -> String {
        guard parts.count > 1 else { return "" }
        let parts = parts.filter { $0.unsent > 0 }.map {
            "\($0.settings.service.displayName) \(TextFormat.count($0.unsent))"
        }
        return parts.isEmpty ? "" : " (\(parts.joined(separator: ", ")))"
    }
}

/// `volley pause`: pauses a run that is being sent until it is resumed.
public enum PauseCommand {
    /// Returns at once; the process that sends the run waits for the outstanding answers, and then
    /// pauses.
    /// - Parameter argument: a run's id, a path to its file, or `last`.
    public static func run(_ argument: String, options: CommonOptions, console: Console) throws -> ExitStatus {
        var options = options
        options.project.isForStopping = true
        let (id, run) = try SharedOrder.run(argument, givingElsewhere: .pause, options)
        let reach = try run.map { try pause($0, at: .now(), in: options.project) } ?? .all
        return reach.show(id, .paused, "`volley resume \(id)` continues it.", options, console)
    }
}

/// `volley cancel`: sends nothing more of a run.
public enum CancelCommand {
    /// Unsent devices stay unsent. A process that sends the run waits for the outstanding answers,
    /// and ends.
    /// - Parameter argument: a run's id, a path to its file, or `last`.
    public static func run(_ argument: String, options: CommonOptions, console: Console) throws -> ExitStatus {
        var options = options
        options.project.isForStopping = true
        let id: String, run: RunFile?
        do { (id, run) = try SharedOrder.run(argument, givingElsewhere: .cancel, options) } catch {
            // The log and the list of `volley schedule` name a run before it has a file.
            guard let warnings = try cancelPlanning(of: argument, in: Project.catalog(options.project)) else {
                throw error
            }
            (id, run) = (argument, nil)
            for warning in warnings { console.warn(warning) }
        }
        let (reach, warnings) = try run.map { try cancel($0, in: options.project) } ?? (.all, [])
        for warning in warnings { console.warn(warning) }
        return reach.show(id, .cancelled, "", options, console)
    }
}

/// Orders to runs whose files are on other machines.
enum SharedOrder {
    /// The run that an argument names, if its file is here. If it is not, or is a copy of one that
    /// is being sent, the order is given to the machines that send the run through the store.
    /// - Returns: the run's id; no run if the order was given.
    /// - Throws: `Diagnostic`: there is no such run here, nor in the store; the order cannot be
    ///   given.
    static func run(
        _ argument: String, givingElsewhere order: RunOrder, _ options: CommonOptions
    ) throws -> (id: String, run: RunFile?) {
        let run: RunFile
        do { run = try Project.catalog(options.project).open(named: argument, readOnly: false) } catch {
            guard argument != "last", !argument.contains("/"),
                try give(order, toSharedRun: argument, in: options.project)
            else {
                throw error
            }
            return (argument, nil)
        }
        let id = run.plan.id
        // A copy says how the run was when it was fetched, and may be cancelled with it.
        guard try run.copiedAt() != nil, try order != .cancel || [.cancelled, .finished].contains(run.status().state),
            try isSentByMachines(id, in: options.project), try give(order, toSharedRun: id, in: options.project)
        else { return (id, run) }
        return (id, nil)
    }
}

/// The answers of the commands that change a run's state.
enum RunAnswer {
    static func show(_ run: String, _ state: RunState, text: String, _ options: CommonOptions, _ console: Console)
        -> ExitStatus
    {
        let answer = JSONValue.object(pairs: [("run", .string(run)), ("state", .string(state.rawValue))])
        return console.answer(options.isJSON ? answer.indentedText : text, done: text)
    }
}

extension OrderReach {
    /// The answer to an order to stop.
    /// - Parameter next: what may be done next; may be blank.
    /// - Returns: exit code 1 if other machines may still send the run.
    func show(_ run: String, _ state: RunState, _ next: String, _ options: CommonOptions, _ console: Console)
        -> ExitStatus
    {
        let order = state == .paused ? "pause" : "cancel", stop = state == .paused ? "pause" : "end"
        let text =
            switch self {
            case .all: "\(run) is \(state.rawValue)\(state == .paused ? "." : ": nothing more of it is sent.")"
            case .passedOn:
                "\(run) was \(state.rawValue) on this machine before. Now the store has the order too, and other machines \(stop) the run as well."
            case .hereOnly: "\(run) is \(state.rawValue) on this machine, and not yet for other machines."
            }
        if case .hereOnly(let why) = self {
            console.warn(
                "The store could not be told, so machines that help may still send \(run). \(TextFormat.capitalized(why.message)). "
                    + "Give `volley \(order) \(run)` again once the store answers.")
        }
        let status = RunAnswer.show(run, state, text: next.isEmpty ? text : "\(text) \(next)", options, console)
        if case .hereOnly = self, status == .done { return .doneWithFailures }
        return status
    }
}

/// `volley retry`: sends a new run to devices of an earlier one whose pushes failed, or whose
/// answers were lost.
public enum RetryCommand {
    /// Waits for a confirmation, unless `isConfirmed`, and sends.
    /// - Parameters:
    ///   - argument: a run's id, a path to its file, or `last`.
    ///   - outcomes: names of outcomes; empty for failed and unknown.
    public static func run(
        _ argument: String, outcomes names: [String], isConfirmed: Bool, options: CommonOptions, console: Console
    ) throws -> ExitStatus {
        let outcomes = try outcomes(names)
        try console.checkCanAsk(
            unless: isConfirmed, "volley retry", does: "sends",
            remedy: "Add --yes to send without a question. Nothing was sent.")
        Interruption.install()
        let run = try Project.catalog(options.project).openToRead(argument, options.project)
        guard let retry = try planRetry(of: run, outcomes: outcomes, in: options.project, at: .now()) else {
            let words = Outcome.allCases.filter(outcomes.contains).map(\.name).joined(separator: " or ")
            let retries = try RunChain(of: run).retries(of: run.plan.id)
            let planned = try retries.last { try $0.status().state == .planned }
            if let last = planned, let theirs = (try? last.plan.settings.get())?.retriedOutcomes,
                !outcomes.isDisjoint(with: theirs)
            {
                throw Diagnostic(
                    "its devices that are \(words) are in the retry \(last.plan.id), of which nothing was sent",
                    file: run.place,
                    remedy:
                        "`volley send --plan \(last.plan.id)` sends it; `volley cancel \(last.plan.id)` gives it up, and this command can plan another."
                )
            }
            throw Diagnostic(
                "no device of this run is \(words)\(retries.isEmpty ? "" : " and not yet sent to again by a retry")",
                file: run.place,
                remedy: RunRemainder.remedyForMore(run, retries)
                    ?? "`volley report \(run.plan.id)` shows the outcome of each device; --outcome selects others.")
        }
        if !retry.mayRepeat.isEmpty {
            let words = retry.mayRepeat[.unsent] == nil ? "unknown" : "unknown, or unsent as far as the store knows,"
            console.warn("Devices that are \(words) may already have got the push, and would get it twice.")
        }
        if let leftOut = retry.run.plan.leftOutOfRetry { console.warn("\(leftOut).") }
        let stageOptions = console.running(options)
        do {
            let proposal = try retry.propose(in: options.project, stageOptions.context)
            console.show(proposal.warnings + retry.warnings, about: LogSubject(retry.run.plan))
            guard try isConfirmed || console.confirms(SendQuestion(proposal.run, proposal.settings, now: .now()).text)
            else {
                console.warn(SendCommand.afterNo(retry.run, try removeUnsent(retry: retry.run)))
                return .wrong
            }
            return try console.send(proposal, stageOptions, options)
        } catch {
            // Nothing was sent. A plan that stays would keep its devices from the next retry, so
            // only one that needs approval does: the first run was sent when no approval was
            // required.
            if (error as? SendRefused)?.why != .needsApproval { _ = try? removeUnsent(retry: retry.run) }
            throw error
        }
    }

    private static func outcomes(_ names: [String]) throws -> Set<Outcome> {
        if names.isEmpty { return [.failed, .unknown] }
        return Set(
            try names.map { name in
                guard let outcome = Outcome.allCases.first(where: { $0.name == name }) else {
                    let nearest = nearestName(to: name, among: Outcome.retriable.map(\.name).sorted())
                    throw Diagnostic(
                        "'\(name)' is not an outcome", remedy: nearest.map { "Did you mean '\($0)'?" } ?? allowed)
                }
                guard Outcome.retriable.contains(outcome) else {
                    throw Diagnostic("devices that are \(name) are not sent to again", remedy: allowed)
                }
                return outcome
            })
    }

    private static let allowed = "Allowed are failed, unknown, rejected and unsent."
}
