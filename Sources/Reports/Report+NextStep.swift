import Base
import PushServices
import Runs

/// What to do about a run, and with which command.
struct NextStep: Hashable, Sendable {
    var words: String
    /// nil if no command helps.
    var command: String?
}

extension Report {
    /// The remaining steps, starting with the one that concerns most devices; empty if nothing is
    /// left to do.
    var nextSteps: [NextStep] {
        let id = plan.id
        if isPruned { return [] }
        if isHeld { return stepsOfHeld }
        if let orderToPassOn { return [NextStep(words: wordsOfPassingOn, command: command(orderToPassOn))] }
        switch status.state {
        case .planned: return [stepOfPlan]
        case .running where !status.isSenderHidden:
            let words =
                isShared
                ? "it is still being sent, and its figures are fetched at the end; this shows them:"
                : "it is still being sent; this shows newer figures:"
            return [NextStep(words: words, command: "volley report \(id)")]
        case .running, .paused, .stopped, .cancelled:
            if let retry = takenOver {
                return [
                    NextStep(
                        words: "\(retry) has taken over; this shows its progress:", command: "volley report \(retry)")
                ]
            }
            return stepsToGoOn
        case .finished where plan.isTest:
            return [
                NextStep(
                    words: "if it looks right, this sends it to its audience:",
                    command: "volley send \(FilePaths.inShell(campaignFile))")
            ]
        case .finished where chain.contains { $0.retryOf == id }: return []
        case .finished where restored != nil: return stepsAfterEnd.isEmpty ? [] : [stepOfRestored]
        case .finished: return stepsAfterEnd
        }
    }

    /// The last retry of this run that was begun; nil for none.
    var takenOver: String? { chain.last { $0.retryOf == plan.id && $0.hasBegun }?.id }

    /// A run that had finished by the backup is not retried, as that may have been done since.
    private var stepOfRestored: NextStep {
        newPlan(
            after:
                "no command retries it, as it was put back from a backup of \(backupMoment), and may have been retried since. "
                + "Accept that devices may get the push twice")
    }

    private var stepsToGoOn: [NextStep] {
        let id = plan.id
        switch status.state {
        case _ where isLeftToOthers:
            return [
                NextStep(
                    words: "\(wordsOfOthers); this goes on with it, and fetches what became of it:",
                    command: "volley resume \(id)")
            ]
                + (isWithoutLedger
                    ? [NextStep(words: "if the store is lost, this ends it:", command: "volley cancel \(id)")] : [])
        case .running, .paused: return [NextStep(words: "this resumes it:", command: "volley resume \(id)")]
        case .stopped where forgetting != nil && isAnythingLeft: return stepsWithoutStore
        case .stopped where hasStoppedServices: return stepsOfStoppedServices
        case .stopped where needsNewRun:
            return [NextStep(words: "correct the settings, then plan and send it again\(atOnce):", command: sendAgain)]
        case .stopped where needsNewMessage: return [newPlan(after: "correct the campaign's content")]
        case .stopped where !isAnythingLeft: return stepWhenNothingIsLeft.map { [$0] } ?? []
        case .stopped where hasPassedLimit:
            return [
                NextStep(
                    words: "fix the cause, then this resumes it, with the limit of its plan:",
                    command: "volley resume \(id)"),
                newPlan(after: "to send the rest with another limit, write it as delivery.stop_when in the campaign"),
            ]
        case .stopped:
            let fix = isInterrupted ? "" : "fix the cause, then "
            return [NextStep(words: "\(fix)this resumes it where it stopped:", command: "volley resume \(id)")]
        case .cancelled where isNotFetched:
            return [
                NextStep(words: "this brings what other machines have recorded:", command: "volley store fetch \(id)"),
                NextStep(words: "to resume it after all:", command: "volley resume \(id)"),
                NextStep(
                    words:
                        "if the store is lost, a new plan reaches the rest. This lists all that may have got it, for \(exclusion):",
                    command: listCommand),
            ]
        case .cancelled where forgetting != nil: return isAnythingLeft ? [stepAlone, listOfReached] : []
        case .cancelled:
            if status.startedAt == nil { return [] }
            return isAnythingLeft
                ? [NextStep(words: "to resume it after all:", command: "volley resume \(id)")] : stepsAfterEnd
        case .planned, .finished: return []
        }
    }

    /// What is to be done about an order that the store does not have.
    var wordsOfPassingOn: String {
        "the store could not be told of this, and other machines may still send the run; this tells it, once it answers:"
    }

    /// What gives an order to stop.
    func command(_ order: RunOrder) -> String { "volley \(order == .pause ? "pause" : "cancel") \(plan.id)" }

    /// Whether this machine has left it, and others may be sending it, or may have finished it.
    var isLeftToOthers: Bool { isShared && forgetting == nil && (status.state == .stopped || status.state == .running) }

    /// Whether the last `resume` found that the store could not be used, which may be lost for
    /// good.
    private var isWithoutLedger: Bool { if case .ledger(.unusable)? = status.cause { true } else { false } }

    /// What that means.
    var wordsOfOthers: String {
        let others = "other machines may be sending it, or have finished it"
        switch status.cause {
        case nil, .interrupted?: return others
        default: return "\(others); fix the cause here"
        }
    }

    /// What the store of several machines has lost, or may have lost, so that the run stopped, or
    /// was cancelled while part of its work is unknown.
    var forgetting: LedgerStop? {
        guard [.stopped, .cancelled].contains(status.state), case .ledger(let stop)? = status.cause, stop.isForgetting
        else { return nil }
        return stop
    }

    /// The reasons for and against continuing a run whose store has lost something.
    var proAndContraOfGoingOn: (pro: String, contra: String) {
        if case .forgotten? = forgetting {
            return (
                "whoever was sent to in what was forgotten would get the push twice; if that is better than never, the rest can be sent",
                "if nobody may get it twice, the run must end; \(conclusionOfForgetting)"
            )
        }
        return (
            "if the database only crashed, or was restarted, nothing is missing, and the rest can be sent",
            "if a backup was brought back, it is not known who was sent to since then: the run must end, and a new plan has to leave out those who were reached"
        )
    }

    /// The next step if no device may get the push twice.
    var conclusionOfForgetting: String {
        "a new plan has to leave out those who were reached, also after what was forgotten"
    }

    private var stepAlone: NextStep {
        NextStep(
            words: "\(proAndContraOfGoingOn.pro), by this machine alone, from the run's file:",
            command: "volley resume \(plan.id)")
    }

    private var stepsWithoutStore: [NextStep] {
        [stepAlone, NextStep(words: "\(proAndContraOfGoingOn.contra):", command: "volley cancel \(plan.id)")]
    }

    private var stepsOfStoppedServices: [NextStep] {
        func names(_ services: [ServiceReport]) -> String { Self.listed(services.map(\.displayName), by: "and") }
        let (resumable, refusing) = (resumableServices, servicesWithoutMessage)
        var steps: [NextStep] = []
        if !resumable.isEmpty {
            steps.append(
                NextStep(
                    words: "fix the cause, then this sends what is left through \(names(resumable)):",
                    command: "volley resume \(plan.id)"))
        }
        if !refusing.isEmpty { steps.append(newPlan(after: "correct the content for \(names(refusing))")) }
        if !steps.isEmpty { return steps }
        return [
            NextStep(
                words: "nothing is left to send; this checks the settings of \(stoppedServices):",
                command: "volley doctor \(plan.app)")
        ]
    }

    /// Whether the service does not accept the message: a run keeps it, so that resuming would not
    /// help.
    var needsNewMessage: Bool { status.cause?.blamesMessage() ?? false }

    /// Whether it passed a limit of the campaign: a run keeps those of its plan.
    var hasPassedLimit: Bool { if case .limit? = status.cause { true } else { false } }

    /// Whether it was a person, or the machine, that ended the process: there is no cause to fix.
    var isInterrupted: Bool { status.cause == .interrupted }

    /// Whether a resumption would send or settle anything.
    var isAnythingLeft: Bool { plan.left(figures) > 0 }

    /// nil if every device has the push, or no longer has the app.
    private var stepWhenNothingIsLeft: NextStep? {
        let again = count(.failed) + count(.unknown)
        guard again > 0 else {
            let fix = isInterrupted ? "see why they were refused" : "fix the cause"
            return count(.rejected) > 0 ? newPlan(after: "nothing is left to send; \(fix)") : nil
        }
        return NextStep(
            words:
                "nothing is left to send. \(isInterrupted ? "Once" : "Fix the cause; once") this has ended the run, `volley retry \(plan.id)` sends to "
                + "\(service.recipients(again)) again:", command: "volley cancel \(plan.id)")
    }

    /// A new plan of the campaign, without the recipients that have its push or may have it.
    /// - Parameter cause: what must be done first.
    func newPlan(after cause: String) -> NextStep {
        let reached = count(.accepted) + count(.unknown)
        let isForAll = reached == 0 || service.choosesDevices
        guard !isForAll else {
            let again = reached == 0 ? "" : ", also for the \(service.recipients(reached)) that went out, or may have"
            return NextStep(words: "\(cause), then plan and send it again\(again)\(atOnce):", command: sendAgain)
        }
        let have = TextFormat.plural(reached, one: "has", many: "have")
        return NextStep(
            words:
                "\(cause), then plan the campaign again without the \(service.recipients(reached)) that \(have) its push or may have it. "
                + "This lists them, for \(exclusion). Then `\(sendAgain)` sends it\(atOnce):", command: listCommand)
    }

    /// Plans the campaign again and sends it.
    var sendAgain: String { "volley send \(FilePaths.inShell(campaignFile))\(plan.hasTimes ? " --now" : "")" }

    /// Why that names `--now`.
    var atOnce: String {
        guard plan.hasTimes else { return "" }
        return plan.repeats
            ? " (at once, whatever its times say)"
            : " (at once, as each time goes out only once; or write a later time)"
    }

    /// The recipients that a new plan has to leave out, as far as they are known.
    private var listOfReached: NextStep {
        NextStep(
            words:
                "if nobody may get it twice, \(conclusionOfForgetting). This lists those that are known, for \(exclusion):",
            command: listCommand)
    }

    /// Absolute: the command writes it relative to the working directory, and the campaign reads it
    /// relative to its own folder.
    private var reachedFile: String { FilePaths.join(FilePaths.absolute(folder), name: "reached-\(plan.id).csv") }

    /// What the campaign says then.
    private var exclusion: String {
        "`exclude: {devices: \(FilePaths.inYAML(reachedFile))}` in the campaign, in addition to what it excludes already"
    }

    private var listCommand: String {
        "volley report \(plan.id) --format csv --outcome accepted,unknown --output \(FilePaths.inShell(reachedFile))"
    }

    /// The words for a run to devices, or for one whose recipients are calls.
    func words(_ ofDevices: String, ofCalls: String) -> String { service.choosesDevices ? ofCalls : ofDevices }

    /// The services whose settings may be why tokens were refused, with how many were.
    private var tokenDoubts: [(service: any PushService, refused: Int)] {
        let all =
            services.isEmpty
            ? [(service, doubtsTokens, count(.invalidToken))]
            : services.map { ($0.service, $0.doubtsTokens, $0.count(.invalidToken)) }
        return all.filter { $0.1 && $0.2 > 0 }.map { (service: $0.0, refused: $0.2) }
    }

    private var stepOfPlan: NextStep {
        let settings = try? plan.settings.get()
        if settings?.needsApproval == true, approval == nil {
            return NextStep(words: "it needs an approval:", command: "volley approve \(plan.id) --by NAME")
        }
        if settings?.schedule?.occurrence != nil {
            return NextStep(words: "`volley schedule` sends it at its time.")
        }
        return NextStep(words: "this sends it:", command: "volley send --plan \(plan.id)")
    }

    private var stepsAfterEnd: [NextStep] {
        var steps: [(count: Int, step: NextStep)] = []
        let (failed, unknown, noAnswer) = (count(.failed), count(.unknown), guide.noAnswer)
        if failed + unknown > 0 {
            let sends = self.words("sends to", ofCalls: "makes")
            let words =
                unknown == 0
                ? "\(service.recipients(failed)) failed temporarily; this \(sends) \(TextFormat.plural(failed, one: "it", many: "them")) again:"
                : failed == 0
                    ? "\(service.recipients(unknown)) gave \(noAnswer) and may have \(self.words("got it", ofCalls: "gone out")); if twice is better than never:"
                    : "\(service.recipients(failed)) failed temporarily; this \(sends) them again, but not \(self.words("to devices", ofCalls: "those")) that gave \(noAnswer) and may have got it:"
            let outcome = unknown == 0 || failed > 0 ? "failed" : "unknown"
            steps.append(
                (failed + unknown, NextStep(words: words, command: "volley retry \(plan.id) --outcome \(outcome)")))
        }
        if missedForGood > 0 {
            steps.append(
                (
                    missedForGood,
                    NextStep(
                        words:
                            "\(service.recipients(missedForGood)) \(TextFormat.plural(missedForGood, one: "was", many: "were")) never \(words("sent to", ofCalls: "made")); if the message still holds:",
                        command: "volley retry \(plan.id) --outcome unsent")
                ))
        }
        steps += tokenDoubts.map { service, refused in
            (
                refused,
                NextStep(
                    words:
                        "\(TextFormat.devices(refused)) had \(TextFormat.withArticle(service.target.shortNoun)) that \(service.displayName) refused; this checks the settings:",
                    command: "volley doctor \(plan.app)")
            )
        }
        let rejected = count(.rejected)
        if rejected > 0 {
            steps.append(
                (
                    rejected,
                    NextStep(
                        words:
                            "\(service.recipients(rejected)) \(TextFormat.plural(rejected, one: "was", many: "were")) refused permanently; see the reasons."
                    )
                ))
        }
        return steps.sorted { $0.count > $1.count }.map(\.step)
    }
}
