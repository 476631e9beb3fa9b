import PushServices
import Base
import Campaigns
import Runs
import Workspace
import Sending

/// `volley approve`: approves a plan to be sent exactly as it is.
public enum ApproveCommand {
    /// Shows the preview of the plan and, after a confirmation, records the approver and the time.
    /// - Parameters:
    ///   - argument: a run's id, a path to its file, or `last`.
    ///   - name: the person that approves.
    ///   - isConfirmed: `--yes`: whether to skip the question.
    public static func run(
        _ argument: String, by name: String, isConfirmed: Bool, options: CommonOptions, console: Console
    ) throws -> ExitStatus {
        let name = try approver(name)
        try console.checkCanAsk(
            unless: isConfirmed, "volley approve", does: "approves",
            remedy: "Add --yes to approve without a question. Nothing was approved.")
        Interruption.install()
        let run = try Project.catalog(options.project).open(named: argument, readOnly: false)
        let settings = try checkApprovable(run, in: options.project)
        if let change = change(of: run) { console.warn(change) }
        if options.isJSON { console.say(text(run, settings)) } else { try console.out(text(run, settings) + "\n") }
        if let earlier = try run.approval() {
            console.say("Already approved by \(earlier.name), \(earlier.approvedAt).")
        }
        guard try isConfirmed || console.confirms(question(run, settings, name: name)) else {
            console.warn("Nothing was approved.")
            return .wrong
        }
        let approved = try approve(run, by: name, at: .now())
        if let warning = approved.warning { console.warn(warning) }
        let answer = JSONValue.object(pairs: [
            ("run", .string(run.plan.id)), ("approved_by", .string(name)),
            ("approved_at", .string(approved.approval.approvedAt.description)),
        ])
        let done = "\(run.plan.id) is approved by \(name)."
        let text = (try? next(run, settings)).map { "\(done)\n\($0)" } ?? done
        return console.answer(options.isJSON ? answer.indentedText : text, done: done)
    }

    /// What happened to the campaign's file after a plan was made, and what to do instead of
    /// sending the plan; nil if it is as it was.
    static func change(of run: RunFile) -> String? {
        let (id, file) = (run.plan.id, run.plan.campaignFile)
        guard let change = CampaignChange(since: run.plan, at: .now()) else { return nil }
        // A cancelled plan of `volley schedule` has used its time.
        let anew =
            (try? run.plan.settings.get())?.isOfScheduler ?? false
            ? "To send what the file says now instead, cancel this plan with `volley cancel \(id)` and give the campaign another time."
            : "To send what the file says now instead, cancel this plan with `volley cancel \(id)` and plan it again: volley plan \(FilePaths.inShell(file))"
        // Another plan would reach devices that this run has reached.
        if (try? run.hasBegun()) ?? true { return change.sentences(calling: file) }
        let remedy =
            switch change {
            case .gone: "`volley cancel \(id)` cancels it."
            case .unreadable: "Make it readable for this user, and compare."
            case .changed: anew
            }
        return "\(change.sentences(calling: file)) \(remedy)"
    }

    private static func next(_ run: RunFile, _ settings: RunSettings) throws -> String {
        let id = run.plan.id
        guard try run.status().state == .planned else { return "Continue it with: volley resume \(id)" }
        if ScheduledTime(run, settings, isScheduler: false)?.isForSchedule ?? false {
            return "volley schedule sends it at its time."
        }
        return "Send it with: volley send --plan \(id)"
    }

    private static func text(_ run: RunFile, _ settings: RunSettings) -> String {
        let planned = "\(run.plan.plannedAt) as \(run.plan.id)"
        let topics = settings.services.map { (TextFormat.capitalized($0.service.account.topic.noun), $0.topic) }
        let lines = [("Planned", planned)] + topics
        return ([run.plan.previewText] + lines.map { TextFormat.padded($0.0, to: 14) + $0.1 }).joined(separator: "\n")
    }

    private static func environments(_ settings: RunSettings) -> String {
        guard settings.services.count > 1 else { return settings.firstService.environment.name }
        return settings.services.map { "\($0.service.displayName) \($0.environment.name)" }.joined(separator: ", ")
    }

    private static func question(_ run: RunFile, _ settings: RunSettings, name: String) -> String {
        let devices = settings.service.recipients(run.plan.audience)
        return
            "Approve '\(run.plan.campaign)' for \(devices) of \(run.plan.app) (\(environments(settings))) as \(name)?"
    }
}
