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
        let (id, run) = try SharedOrder.run(argument, givingElsewhere: .pause, options)
        // Others may send a run whose process is gone here.
        if let run, run.isBeingSent || (try? give(.pause, toSharedRun: run.plan.id, in: options.project)) != true {
            try pause(run, at: .now())
        }
        return RunAnswer.show(id, .paused, text: "\(id) is paused. `volley resume \(id)` continues it.", options, console)
    }
}

/// `volley cancel`: sends nothing more of a run.
public enum CancelCommand {
    /// Unsent devices stay unsent. A process that sends the run waits for the outstanding answers, and ends.
    /// - Parameter argument: a run's id, a path to its file, or `last`.
    public static func run(_ argument: String, options: CommonOptions, console: Console) throws -> ExitStatus {
        let id: String, run: RunFile?
        do { (id, run) = try SharedOrder.run(argument, givingElsewhere: .cancel, options) } catch {
            // The log and the list of `volley schedule` name a run before it has a file.
            guard let warnings = try cancelPlanning(of: argument, in: Project.catalog(options.project)) else { throw error }
            (id, run) = (argument, nil)
            for warning in warnings { console.warn(warning) }
        }
        if let run { for warning in try cancel(run, in: options.project) { console.warn(warning) } }
        return RunAnswer.show(id, .cancelled, text: "\(id) is cancelled: nothing more of it is sent.", options, console)
    }
}

/// Orders to runs whose files are on other machines.
enum SharedOrder {
    /// The run that an argument means, if its file is here. If it is not, or is a copy of one that is being sent, the order is given to the machines that
    /// send the run through the store.
    /// - Returns: the run's id; no run if the order was given.
    /// - Throws: `Diagnostic`: there is no such run here, nor in the store; the order cannot be given.
    static func run(
        _ argument: String, givingElsewhere order: RunOrder, _ options: CommonOptions
    ) throws -> (id: String, run: RunFile?) {
        let run: RunFile
        do { run = try Project.catalog(options.project).open(named: argument, readOnly: false) } catch {
            guard argument != "last", !argument.contains("/"), try give(order, toSharedRun: argument, in: options.project) else {
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
    static func show(_ run: String, _ state: RunState, text: String, _ options: CommonOptions, _ console: Console) -> ExitStatus {
        let answer = JSONValue.object(pairs: [("run", .string(run)), ("state", .string(state.rawValue))])
        return console.answer(options.isJSON ? answer.indentedText : text, done: text)
    }
}
