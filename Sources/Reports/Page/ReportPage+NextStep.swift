import Base
import PushServices
import Runs

/// Why the run is not complete, and what to do about it.
extension ReportPage {
    var nextStep: HTML {
        if state == .finished, isDone || report.isPruned || report.plan.isTest || isRetried { return nothingToDo }
        if report.isHeld || report.restored != nil && !report.nextSteps.isEmpty { return restoredAdvice }
        let (title, words, command) = advice
        // Its state already says that it was cancelled.
        let because = report.status.cause == .cancelled ? nil : report.status.because(for: report.face)
        let reason: HTML = because.map { "<p dir=\"auto\">\(Prose.html($0))</p>" } ?? ""
        if report.isPruned {
            return """
                <section class="warnings" id="next"><h2>\(title)</h2>\(reason)<p>Its recipients were removed from the run file, so nothing more can be sent from it.</p></section>
                """
        }
        let typed: HTML = command.isEmpty ? "" : " <code>\(command)</code>"
        let said: HTML = report.face == .console ? consoleAdvice : "\(words)\(typed)"
        let main: HTML = state == .finished && repeats == 0 ? "" : "<p>\(said)</p>"
        // A run that waits only for its sender needs no warning.
        let look: HTML = state == .planned || state == .running ? "panel next" : "warnings"
        return "<section class=\"\(look)\" id=\"next\"><h2>\(title)</h2>\(reason)\(main)\(missedAdvice)</section>"
    }

    /// Devices that a retry could still reach.
    var repeats: Int { report.count(.failed) + report.count(.unknown) }

    private var isDone: Bool { repeats + report.missedForGood == 0 }

    private var isRetried: Bool { report.chain.contains { $0.retryOf == report.plan.id } }

    private var nothingToDo: HTML {
        let gone = report.count(.invalidToken)
        let words: HTML =
            if isRetried {
                "This run has a retry. What both achieved together is below."
            } else if report.isPruned, !isDone {
                "Its recipients were removed from the run file, so nothing more can be sent from it."
            } else if report.plan.isTest {
                report.face == .console
                    ? "This was a test. If it looks right, “Plan” on the campaign’s page leads to sending it."
                    : "This was a test. If it looks right, you can send the campaign: <code>volley send \(FilePaths.inShell(report.campaignFile))</code>"
            } else if gone > 0, !report.doubtsTokens, report.count(.rejected) == 0 {
                "Nothing is left to do. \(TextFormat.plural(gone, one: "The device")) without the app \(TextFormat.plural(gone, one: "is", many: "are")) left out from now on."
            } else if report.count(.rejected) > 0 {
                "Sending again would not help. The reasons below say what to change before the next campaign."
            } else {
                "Nothing is left to do."
            }
        return "<section class=\"panel next\" id=\"next\"><p><b>Next step.</b> \(words)</p></section>"
    }

    /// What to do about an order that other machines do not have yet.
    private func adviceOnPassingOn(_ order: RunOrder) -> (title: String, words: HTML, command: String) {
        let state = order == .pause ? "Paused" : "Cancelled"
        let words = Prose.html(TextFormat.capitalized(report.wordsOfPassingOn))
        return ("\(state) here, and not yet for the other machines", words, report.command(order))
    }

    /// What to do about a run that passed a limit of its campaign.
    private var adviceOnLimit: (title: String, words: HTML, command: String) {
        let others = report.nextSteps.dropFirst().map { step in
            "\(Prose.html(TextFormat.capitalized(step.words))) <code>\(step.command ?? "")</code> " as HTML
        }
        let words: HTML =
            "\(HTML(joined: others))Once you have fixed the cause, this resumes the run, with the limit of its plan. \(onlyOnce):"
        return ("Why it stopped", words, "volley resume \(report.plan.id)")
    }

    private var advice: (title: String, words: HTML, command: String) {
        let id = report.plan.id
        if let order = report.orderToPassOn { return adviceOnPassingOn(order) }
        switch state {
        case .planned: return ("Next step: send it", "This sends it:", "volley send --plan \(id)")
        case .running:
            return (
                "Still running: these figures are as of \(Self.moment(madeAt))", "This shows newer figures:",
                "volley report \(id)"
            )
        case .paused: return ("Paused", "This resumes it where it paused:", "volley resume \(id)")
        case .stopped where report.isLeftToOthers:
            return (
                "Stopped here",
                "\(TextFormat.capitalized(report.wordsOfOthers)). This goes on with it, and fetches what became of it:",
                "volley resume \(id)"
            )
        case .stopped where report.forgetting != nil && report.isAnythingLeft:
            let (pro, contra) = report.proAndContraOfGoingOn
            return (
                "Why it stopped",
                "\(TextFormat.capitalized(contra)): <code>volley cancel \(id)</code> \(TextFormat.capitalized(pro)), by this machine alone, from the run’s file:",
                "volley resume \(id)"
            )
        case .stopped where report.needsNewRun:
            let again = report.count(.accepted) > 0 ? ", also to the devices for which it was accepted" : ""
            return (
                "Why it stopped",
                "This run keeps the settings that it was planned with. Correct them; then this plans the campaign again and sends it\(again)\(report.atOnce):",
                report.sendAgain
            )
        case .stopped
        where report.hasStoppedServices && report.resumableServices.isEmpty && report.servicesWithoutMessage.isEmpty:
            return (
                "Why it stopped",
                "Nothing is left to send in this run. This checks the settings of \(report.stoppedServices):",
                "volley doctor \(report.plan.app)"
            )
        case .stopped where report.hasStoppedServices && !report.resumableServices.isEmpty:
            return (
                "Why it stopped",
                "Once you have fixed that, this sends what is left through \(Report.listed(report.resumableServices.map(\.displayName), by: "and")). \(onlyOnce):",
                "volley resume \(id)"
            )
        case .stopped where report.hasStoppedServices || report.needsNewMessage || !report.isAnythingLeft:
            let step = report.nextSteps.first
            return (
                "Why it stopped", Prose.html(TextFormat.capitalized(step?.words ?? "nothing is left to send.")),
                step?.command ?? ""
            )
        case .stopped where report.isInterrupted:
            return ("Why it stopped", "This resumes the run. \(onlyOnce):", "volley resume \(id)")
        case .stopped where report.hasPassedLimit: return adviceOnLimit
        case .stopped:
            return (
                "Why it stopped", "Once you have fixed that, this resumes the run. \(onlyOnce):", "volley resume \(id)"
            )
        case .cancelled where report.forgetting != nil && report.isAnythingLeft:
            let pro = report.proAndContraOfGoingOn.pro
            return (
                "Cancelled",
                "If nobody may get it twice, \(report.conclusionOfForgetting). \(TextFormat.capitalized(pro)), by this machine alone, from the run’s file:",
                "volley resume \(id)"
            )
        case .cancelled:
            let step = report.nextSteps.first
            return (
                "Cancelled", Prose.html(TextFormat.capitalized(step?.words ?? "nothing is left to do.")),
                step?.command ?? ""
            )
        case .finished:
            return (
                report.service.choosesDevices
                    ? "Next step: make some calls again" : "Next step: send to some devices again",
                "\(report.service.recipients(repeats)) failed or gave \(report.guide.noAnswer). The latter may have \(report.words("got it. This sends to them", ofCalls: "gone out. This makes them")) again:",
                "volley retry \(id)"
            )
        }
    }

    /// Why a run that was put back from a backup is not continued, and what a person can do.
    private var restoredAdvice: HTML {
        let title: HTML = report.isHeld ? "Held: put back from a backup" : "Put back from a backup"
        let facts: HTML =
            report.isHeld ? "<p>\(Prose.html(TextFormat.capitalized(report.whatMayHaveBeenSent)))</p>" : ""
        if report.face == .console {
            return "<section class=\"warnings\" id=\"next\"><h2>\(title)</h2>\(facts)<p>\(consoleAdvice)</p></section>"
        }
        let steps = report.nextSteps.map { step -> HTML in
            let command: HTML = step.command.map { " <code>\($0)</code>" } ?? ""
            return "<p>\(Prose.html(TextFormat.capitalized(step.words)))\(command)</p>"
        }
        return "<section class=\"warnings\" id=\"next\"><h2>\(title)</h2>\(facts)\(HTML(joined: steps))</section>"
    }

    /// What a resumption does not do again.
    var onlyOnce: String {
        report.service.choosesDevices
            ? "Calls that were accepted are not made twice" : "Devices that got the push do not get it twice"
    }

    /// How missed devices can still get it.
    private var missedAdvice: HTML {
        let count = report.missedForGood
        guard count > 0, report.face == .terminal || report.takenOver == nil else { return "" }
        let devices = TextFormat.counted(count, one: "\(noun) was", many: "\(noun)s were")
        let othersToo = report.count(.unsent) > count
        if report.face == .console {
            let leftOut = othersToo ? " That includes the devices that frequency left out." : ""
            return
                "<p>\(devices) never \(report.words("sent to", ofCalls: "made")). \(Remedy.retryUnsent(run: report.plan.id).sentence)\(leftOut)</p>"
        }
        let others = othersToo ? ", and to the devices that frequency left out" : ""
        return """
            <p>\(devices) never \(report.words("sent to", ofCalls: "made")). If the message still holds and its expiry is not a moment in the past, this \(report.words("sends to", ofCalls: "makes")) \(TextFormat.plural(count, one: "it", many: "them"))\(others): \
            <code>volley retry \(report.plan.id) --outcome unsent</code></p>
            """
    }
}

/// What to do next, for users of the console's pages and buttons.
extension ReportPage {
    /// What `advice` says for users of the command line.
    var consoleAdvice: HTML {
        let run = report.plan.id
        func told(_ before: String, _ remedies: [Remedy], _ after: String = "") -> HTML {
            Prose.html(([before] + remedies.map(\.sentence) + [after]).filter { !$0.isEmpty }.joined(separator: " "))
        }
        if report.restored != nil {
            let why =
                report.isHeld
                ? "It may have been sent on since the backup" : "It may have been retried since the backup"
            return told("\(why), so nothing goes on with it here.", [.ask(.restoreRun(run))] + planAnew + repetition)
        }
        if let order = report.orderToPassOn {
            let button = order == .pause ? "“Pause”" : "“Cancel”"
            return told(
                "The store could not be told of this, and other machines may still send the run. \(button) on the run’s page tells it, once it answers.",
                [])
        }
        return switch state {
        case .planned: told("", stepsOfPlan)
        case .running: told("", [.watch(run: run)])
        case .cancelled where report.forgetting != nil && report.isAnythingLeft:
            told(
                "If no device may get it twice, \(report.conclusionOfForgetting). \(TextFormat.capitalized(report.proAndContraOfGoingOn.pro)).",
                [.ask(.resumeCancelled(run: run))])
        case .cancelled: consoleAdviceOfCancelled
        case .paused: told("", [.resume(run: run)])
        case .stopped where report.isLeftToOthers:
            told(
                "\(TextFormat.capitalized(report.wordsOfOthers)).",
                [report.isAnythingLeft ? .resume(run: run) : .watch(run: run)])
        case .stopped where report.forgetting != nil && report.isAnythingLeft:
            told(
                "\(TextFormat.capitalized(report.proAndContraOfGoingOn.contra)). \(Remedy.cancel(run: run).sentence) "
                    + "\(TextFormat.capitalized(report.proAndContraOfGoingOn.pro)).",
                [.resume(run: run)])
        case .stopped where report.needsNewRun:
            told(
                "This run keeps the settings that it was planned with. Have them corrected, then plan the campaign again.",
                planAnew + repetition)
        case .stopped where report.hasStoppedServices && !report.resumableServices.isEmpty:
            told("Once that is fixed:", [.resume(run: run)], "\(onlyOnce).")
        case .stopped where report.needsNewMessage || !report.servicesWithoutMessage.isEmpty:
            told("Correct the campaign’s content: a run keeps its message.", planAnew + repetition)
        case .stopped where !report.isAnythingLeft || report.hasStoppedServices:
            told("Nothing is left to send in this run.", afterNothingLeft)
        case .stopped where report.hasPassedLimit:
            told(
                "Once that is fixed:", [.resume(run: run)],
                "\(onlyOnce). It keeps the limit of its plan: to send the rest with another one, change that in the campaign. "
                    + (planAnew + repetition).map(\.sentence).joined(separator: " "))
        case .stopped: told(report.isInterrupted ? "" : "Once that is fixed:", [.resume(run: run)], "\(onlyOnce).")
        case .finished:
            told(
                "\(report.service.recipients(repeats)) failed or gave \(report.guide.noAnswer). The latter may have "
                    + "\(report.words("got it", ofCalls: "gone out")). “Retry” on the run’s page \(report.words("sends to them", ofCalls: "makes them")) again.",
                [])
        }
    }

    /// What the page of a plan offers.
    private var stepsOfPlan: [Remedy] {
        let settings = try? report.plan.settings.get(), run = report.plan.id
        if report.plan.audience == 0 { return [.planAgain] }
        if settings?.needsApproval == true, report.approval == nil, !report.plan.isTest { return [.approve(run: run)] }
        return settings?.schedule?.occurrence != nil ? [.leaveToSender] : [.send(run: run)]
    }

    /// “Cancel” ends a run for good in the console: the page of a cancelled run has no button that
    /// continues it, and one for a retry.
    private var consoleAdviceOfCancelled: HTML {
        let run = report.plan.id
        let (before, remedies): (String, [Remedy]) =
            if let retry = report.takenOver {
                ("A retry has taken over the devices that are left.", [.watch(run: retry)])
            } else if report.status.startedAt == nil {
                ("It was cancelled before any of it was sent.", planAnew)
            } else if report.isAnythingLeft {
                (
                    "",
                    [
                        report.count(.unsent) > 0 && !report.plan.isTest
                            ? .retryUnsent(run: run) : .ask(.resumeCancelled(run: run))
                    ]
                        + planAnew + repetition
                )
            } else if repeats > 0, !report.plan.isTest {
                ("Nothing is left to send in this run.", [.retry(run: run)])
            } else {
                ("Nothing is left to do.", [])
            }
        return Prose.html(([before] + remedies.map(\.sentence)).filter { !$0.isEmpty }.joined(separator: " "))
    }

    /// How to make a new plan: “Plan” is refused for a campaign whose only time this run has used.
    private var planAnew: [Remedy] {
        report.plan.hasTimes && !report.plan.repeats ? [.giveAnotherTime, .ask(.sendNow)] : [.planAgain]
    }

    /// What a new plan would do to devices that have the push.
    private var repetition: [Remedy] {
        report.count(.accepted) + report.count(.unknown) == 0
            ? []
            : [.newPlanRepeats]
                + (report.service.choosesDevices ? [] : [.ask(.leaveOutReached(runs: [report.plan.id]))])
    }

    private var afterNothingLeft: [Remedy] {
        [.ask(.checkCredentials)] + (repeats > 0 ? [.cancel(run: report.plan.id), .retry(run: report.plan.id)] : [])
    }
}
