import Workspace
import Base
import Campaigns
import Glibc
import Runs
import Sending

/// `volley pause`: pauses a run that is being sent until it is resumed.
public enum PauseCommand {
    /// Returns at once; the process that sends the run waits for the outstanding answers, and then pauses.
    /// - Parameter argument: a run's id, a path to its file, or `last`.
    public static func run(_ argument: String, options: CommonOptions, console: Console) throws -> ExitStatus {
        let run = try Project.catalog(options.project).open(named: argument, readOnly: false)
        try pause(run, at: .now())
        return RunAnswer.show(
            run, .paused, text: "\(run.plan.id) is paused. `volley resume \(run.plan.id)` continues it.", options, console)
    }
}

/// `volley cancel`: sends nothing more of a run.
public enum CancelCommand {
    /// Unsent devices stay unsent. A process that sends the run waits for the outstanding answers, and ends.
    /// - Parameter argument: a run's id, a path to its file, or `last`.
    public static func run(_ argument: String, options: CommonOptions, console: Console) throws -> ExitStatus {
        let run = try Project.catalog(options.project).open(named: argument, readOnly: false)
        for warning in try cancel(run) { console.warn(warning) }
        return RunAnswer.show(run, .cancelled, text: "\(run.plan.id) is cancelled: nothing more of it is sent.", options, console)
    }
}

/// The answers of the commands that change a run's state.
enum RunAnswer {
    static func show(_ run: any RecordedRun, _ state: RunState, text: String, _ options: CommonOptions, _ console: Console) -> ExitStatus {
        let answer = JSONValue.object(pairs: [("run", .string(run.plan.id)), ("state", .string(state.rawValue))])
        return console.answer(options.isJSON ? answer.indentedText : text, done: text)
    }
}
