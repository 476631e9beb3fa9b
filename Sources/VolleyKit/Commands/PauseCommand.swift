import Base
import Campaigns
import Runs

/// `volley pause`: a run that is being sent waits until it is resumed.
public enum PauseCommand {
    /// Returns at once; the process that sends the run awaits the answers that are under way, and then waits.
    /// - Parameter argument: a run's id, a path to its file, or `last`.
    public static func run(_ argument: String, options: CommonOptions, console: Console) throws -> ExitStatus {
        let run = try RunStore(path: RunStore.resolve(argument, in: Project.runsFolder(options)))
        let state = try run.status().state
        guard run.isBeingSent, state == .running else {
            throw Diagnostic(
                "the run is \(state.rawValue); only a run that is being sent can be paused", file: run.path,
                remedy: state == .planned ? "It sends nothing by itself." : nil)
        }
        try run.ask(for: .paused, reason: "", at: .now(), from: [.running])
        return RunAnswer.show(run, .paused, "\(run.plan.id) is paused. `volley resume \(run.plan.id)` goes on.", options, console)
    }
}

/// `volley cancel`: nothing more of a run is sent.
public enum CancelCommand {
    /// Who was not sent to stays unsent. A process that sends the run awaits the answers that are under way, and ends.
    /// - Parameter argument: a run's id, a path to its file, or `last`.
    public static func run(_ argument: String, options: CommonOptions, console: Console) throws -> ExitStatus {
        let run = try RunStore(path: RunStore.resolve(argument, in: Project.runsFolder(options)))
        let state = try run.status().state
        guard state != .finished, state != .cancelled else {
            throw Diagnostic(
                "the run is \(state.rawValue) already", file: run.path, remedy: "`volley report \(run.plan.id)` shows its outcomes.")
        }
        if run.isBeingSent {
            try run.ask(for: .cancelled, reason: RunEnd.cancelReason, at: .now(), from: [.running, .paused])
        } else {
            // A killed process left `running` behind.
            try run.setState(.cancelled, reason: RunEnd.cancelReason, at: .now(), from: [.planned, .running, .paused, .stopped])
            // It is cancelled by now, whatever becomes of the files that SQLite lays beside it.
            do { try run.settleDown() } catch { console.warn("\(error)") }
        }
        return RunAnswer.show(run, .cancelled, "\(run.plan.id) is cancelled: nothing more of it is sent.", options, console)
    }
}

/// What the commands answer that change a run's state.
enum RunAnswer {
    static func show(_ run: RunStore, _ state: RunState, _ text: String, _ options: CommonOptions, _ console: Console) -> ExitStatus {
        let answer = JSONValue.object(pairs: [("run", .string(run.plan.id)), ("state", .string(state.rawValue))])
        return console.answer(options.isJSON ? answer.indentedText : text, done: text)
    }
}
