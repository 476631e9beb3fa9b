import Workspace
import Base
import Logs
import Campaigns
import Runs
import Planning
import Sending
import Automation

/// `volley send`: plans, shows the preview, waits for a confirmation, sends, reports.
public enum SendCommand {
    /// The source of the run to send.
    public enum Source: Sendable {
        /// A campaign file, planned now.
        case campaign(file: String)
        /// A run that was planned before: an id, a path, or `last`.
        case plan(run: String)
        /// A campaign file, to the app's test devices only.
        case test(file: String)
    }

    /// Sends a campaign, a plan or a test.
    /// - Parameters:
    ///   - isConfirmed: `--yes`: whether to skip the question. It does not replace an approval that
    ///     the app requires.
    ///   - isNow: `--now`: whether to send at once to the whole audience, whatever the campaign's
    ///     schedule says.
    public static func run(
        _ source: Source, isConfirmed: Bool, isNow: Bool = false, options: CommonOptions, console: Console
    ) throws -> ExitStatus {
        Interruption.install()
        switch source {
        case .campaign(let file):
            try checkConsent(isConfirmed, console)
            return try sendCampaign(file, isConfirmed: isConfirmed, isNow: isNow, options, console)
        case .plan(let run):
            try checkConsent(isConfirmed, console)
            return try sendPlan(run, isConfirmed: isConfirmed, options, console)
        // No question: a person agreed to these devices by writing them into volley.yaml.
        case .test(let file): return try sendTest(file, options, console)
        }
    }

    private static func checkConsent(_ isConfirmed: Bool, _ console: Console) throws {
        try console.checkCanAsk(
            unless: isConfirmed, "volley send", does: "sends",
            remedy: "Add --yes to send without a question. Nothing was sent.")
    }

    private static func sendTest(_ file: String, _ options: CommonOptions, _ console: Console) throws -> ExitStatus {
        let run = try planTest(CampaignFile(file, in: options.project), console.planning(options), at: .now())
        do {
            let text = run.plan.previewText + "\n"
            if options.isJSON || console.options.isQuiet { console.say(text) } else { try console.out(text) }
            let stageOptions = console.running(options)
            let proposal = try proposeTest(run, in: options.project, stageOptions.context)
            console.show(proposal.warnings, about: LogSubject(proposal.run.plan))
            return try console.send(proposal, stageOptions, options)
        } catch {
            try? run.remove()
            throw error
        }
    }

    private static func sendCampaign(
        _ file: String, isConfirmed: Bool, isNow: Bool, _ options: CommonOptions, _ console: Console
    ) throws -> ExitStatus {
        let planned = try plan(
            CampaignFile(file, in: options.project), for: .sending(ignoresSchedule: isNow), console.planning(options),
            at: .now())
        do {
            let text = planned.preview.text(
                width: console.width, colour: console.colour && !options.isJSON, isVerbose: console.options.isVerbose,
                cards: Preview.cardsBesidePlan)
            // With --json, standard output is for the report only, but the person must see the
            // question.
            if options.isJSON {
                console.say(text)
            } else if !console.options.isQuiet || !isConfirmed {
                try console.out(text + "\n")
            }
            // A store that is away is waited for once more, and people are told within ten seconds.
            if console.options.isQuiet, let away = planned.preview.storeAway { console.warn("\(away)") }
        } catch {
            try planned.run.remove()
            throw error
        }
        do {
            let stageOptions = console.running(options)
            let proposal = try propose(planned.run, isKept: false, in: options.project, stageOptions.context)
            guard try isAgreed(proposal, isConfirmed: isConfirmed, console) else {
                console.warn(afterNo(planned.run, try discard(planned.run)))
                return .wrong
            }
            return try console.send(proposal, stageOptions, options)
        } catch {
            // Nothing was sent. A plan that waits for approval is kept.
            if !(error is CancellationError), (try? needsApproval(planned.run, in: options.project)) ?? false {
                Notices.notify(
                    .approvalNeeded, of: planned.run, planned.project, until: Interruption.process,
                    console.noticeObserver)
            } else {
                _ = try? discard(planned.run)
            }
            throw error
        }
    }

    /// The message about a plan after the answer no.
    static func afterNo(_ run: RunFile, _ discarded: Discarded) -> String {
        switch discarded {
        case .gone: "Nothing was sent, and the plan was removed."
        case .kept(.begun):
            "This command sent nothing, but another one has begun to send \(run.plan.id): `volley report \(run.plan.id)` shows its progress."
        case .kept(.planned): "Nothing was sent; the plan is kept."
        case .kept(.cancelled): "Nothing was sent; the plan was cancelled in the meantime."
        }
    }

    private static func sendPlan(_ argument: String, isConfirmed: Bool, _ options: CommonOptions, _ console: Console)
        throws -> ExitStatus
    {
        let run = try Project.catalog(options.project).open(named: argument, readOnly: false)
        let stageOptions = console.running(options)
        let proposal = try propose(run, in: options.project, stageOptions.context)
        console.show(proposal.warnings, about: LogSubject(proposal.run.plan))
        if let change = ApproveCommand.change(of: run) { console.warn(change) }
        guard try isAgreed(proposal, isConfirmed: isConfirmed, console) else {
            console.warn(afterNo(run, .kept(try kept(run))))
            return .wrong
        }
        return try console.send(proposal, stageOptions, options)
    }

    private static func isAgreed(_ proposal: SendProposal, isConfirmed: Bool, _ console: Console) throws -> Bool {
        if proposal.run.plan.audience == 0 { console.warn("The audience has no devices: there is nothing to send.") }
        if isConfirmed { return true }
        return try console.confirms(SendQuestion(proposal.run, proposal.settings, now: .now()).text)
    }
}
