import Base
import Campaigns
import Runs
import Planning
import Sending
import Automation

/// `volley plan`: freezes the audience into a run file and sends nothing.
public enum PlanCommand {
    /// Prints the preview and the run's id; with `--json` the preview's document with the members
    /// `run` and `file` in front.
    public static func run(file: String, options: CommonOptions, console: Console) throws -> ExitStatus {
        Interruption.install()
        let now = Timestamp.now()
        let planned = try plan(
            CampaignFile(file, in: options.project), for: .keeping, console.planning(options), at: now)
        let (run, preview) = (planned.run, planned.preview)
        let needsApproval = try needsApproval(run, in: options.project)
        let done = "Planned as \(run.plan.id) in \(run.place)"
        let answer: String
        if options.isJSON {
            guard case .object(let members) = preview.json else { return .done }
            answer =
                JSONValue.object(
                    [JSONMember("run", .string(run.plan.id)), JSONMember("file", .string(run.place))] + members
                ).indentedText
        } else {
            let text = preview.text(
                width: console.width, colour: console.colour, isVerbose: console.options.isVerbose,
                cards: Preview.cardsBesidePlan)
            let waiting = planned.waitsForTimes(at: now) ? " (which waits for its times)" : ""
            let approval = needsApproval ? "Approve it with: volley approve \(run.plan.id) --by NAME\n" : ""
            answer =
                console.options.isQuiet
                ? done : "\(text)\n\n\(done)\n\(approval)Send it with: volley send --plan \(run.plan.id)\(waiting)"
        }
        let status = console.answer(answer, done: "\(done).")
        if needsApproval {
            Notices.notify(
                .approvalNeeded, of: run, planned.project, until: Interruption.process, console.noticeObserver)
        }
        return status
    }
}
