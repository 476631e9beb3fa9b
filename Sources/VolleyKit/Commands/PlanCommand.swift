import Audience
import Base
import Campaigns
import Runs

/// `volley plan`: freezes the audience into a run file and sends nothing.
public enum PlanCommand {
    /// Prints the preview and the run's id; with `--json` the preview's document with the members `run` and `file` in front.
    public static func run(file: String, options: CommonOptions, console: Console) throws -> ExitStatus {
        Interruption.install()
        let now = Timestamp.now()
        let context = try CampaignContext.read(file: file, options: options, now: now)
        var planner = try Planner(context: context, memory: options.memory, console.planning, now: now)
        planner.sendingTime = try .ofPlanning(context, now: now, runsFolder: context.runsFolder(options))
        let settings = try RunSettings(context)
        let (run, preview) = try planner.plan(settings, runsFolder: context.runsFolder(options))
        let gate = try SendPermission(run: run, settings: RunSettings(json: run.plan.settings, runFile: run.path), options: options)
        let needsApproval = try gate.lacksApproval(CurrentProject.all(of: run, options))
        let done = "Planned as \(run.plan.id) in \(run.path)"
        let answer: String
        if options.isJSON {
            guard case .object(let members) = preview.json else { return .done }
            answer =
                JSONValue.object([JSONMember("run", .string(run.plan.id)), JSONMember("file", .string(run.path))] + members).indentedText
        } else {
            let text = preview.text(
                width: console.width, colour: console.colour, isVerbose: console.options.isVerbose, cards: Preview.cardsBesidePlan)
            let waiting = run.plan.waves.contains { $0.due > now } ? " (which waits for its times)" : ""
            let approval = needsApproval ? "Approve it with: volley approve \(run.plan.id) --by NAME\n" : ""
            answer = "\(text)\n\n\(done)\n\(approval)Send it with: volley send --plan \(run.plan.id)\(waiting)"
        }
        let status = console.answer(answer, done: "\(done).")
        if needsApproval { Notices.tell(.approvalNeeded, of: run, context.project, console.noticeObserver) }
        return status
    }
}
