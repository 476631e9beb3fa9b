import Base
import PushServices
import Runs

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
            if report.status.startedAt == nil {
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
