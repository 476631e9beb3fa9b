public import ArgumentParser
import Base
import Commands
import Logs
import Workspace
public import Planning

/// The options of every command.
struct SharedOptions: ParsableArguments {
    @Option(
        name: .long, help: "volley.yaml; by default Volley looks next to the campaign file, then upward.",
        completion: .file(extensions: ["yaml", "yml"]), transform: FilePaths.given)
    var config: String?

    @Option(
        name: .long, help: "Folder of run files; otherwise the one that volley.yaml names.", completion: .directory,
        transform: FilePaths.given)
    var runs: String?

    @Flag(name: .long, help: "Show only results and errors.")
    var quiet = false

    @Flag(name: .long, help: "Say more about what happens.")
    var verbose = false

    /// Shells leave `~` as it is in `--runs=~/runs`, and systemd always does: the runs would be in
    /// a folder named `~`.
    func validate() throws {
        for (option, path) in [("--config", config), ("--runs", runs)] {
            guard let path, path == "~" || path.hasPrefix("~/") else { continue }
            throw ValidationError(
                "\(option) begins with '~', which the shell or systemd left as it is. Write the whole path, or in a shell \(option) \(path)."
            )
        }
    }

    var console: Console { Console(.init(isQuiet: quiet, isVerbose: verbose)) }

    /// - Parameter hasProgress: whether a line may show progress; false if several things happen at
    ///   once.
    func console(_ log: LogOptions, hasProgress: Bool = true) -> Console {
        Console(.init(isQuiet: quiet, isVerbose: verbose, hasProgress: hasProgress, log: log.logFormat?.format))
    }

    /// - Parameter console: of the command, where it has options of its own.
    func common(
        json: JSONOption? = nil, planning: PlanningOptions? = nil, sending: SendingOptions? = nil,
        console: Console? = nil
    ) -> CommonOptions {
        var project = ProjectChoice(file: config, runs: runs)
        project.conversions = (console ?? self.console).conversionObserver
        return CommonOptions(
            project: project, memory: planning?.memory, threads: sending?.threads,
            isJSON: json?.json ?? false)
    }
}

/// The option that prints results as one JSON document.
struct JSONOption: ParsableArguments {
    @Flag(name: .long, help: "Print exactly one JSON document.")
    var json = false
}

/// The option for log collectors.
struct LogOptions: ParsableArguments {
    /// The formats that a person can choose; a process in systemd's journal chooses by itself.
    enum Choice: String, CaseIterable, ExpressibleByArgument {
        case text, json

        var format: LogFormat { self == .text ? .text : .json }
    }

    @Option(
        name: .long,
        help: ArgumentHelp(
            "Write messages for programs: each on one line, with time, level, app, campaign and run, as text or as JSON.",
            valueName: "format"))
    var logFormat: Choice?
}

/// The option for planning an audience.
struct PlanningOptions: ParsableArguments {
    @Option(
        name: .long,
        help: ArgumentHelp(
            "Memory that planning may use, as 512M or 1G; the rest goes to temporary files. By default, all it needs.",
            valueName: "size"))
    var memory: MemoryBudget?
}

/// The option for sending a run.
struct SendingOptions: ParsableArguments {
    /// The most threads: a service would treat more connections as abuse.
    private static let most = 128

    @Option(
        name: .long,
        help: ArgumentHelp(
            "Maximum number of threads that deliver; by default one per core. They start when needed, and a run with a pace has one.",
            valueName: "n"))
    var threads: Int?

    func validate() throws {
        guard (1...Self.most).contains(threads ?? 1) else {
            throw ValidationError("--threads takes a number from 1 to \(Self.most).")
        }
    }
}

extension MemoryBudget: @retroactive ExpressibleByArgument {
    /// Reads a size with its unit.
    public init?(argument: String) { self.init(argument) }
}

/// The help for a CSV laid out for Excel.
enum ExcelHelp {
    static let text: ArgumentHelp =
        "Lay out the csv for Excel: a byte order mark, semicolons where the locale (LC_ALL, LC_NUMERIC, LANG) has a decimal comma, and ids that stay text."
}

/// The shell completion of a campaign file.
let campaignCompletion = CompletionKind.file(extensions: ["yaml", "yml"])

/// The shell completion of a run's file.
let runCompletion = CompletionKind.file(extensions: ["sqlite"])

extension ParsableCommand {
    /// Runs a command and exits with its code.
    func perform(_ console: Console, _ json: JSONOption? = nil, _ body: () throws -> ExitStatus) throws {
        let status = Commands.run(console, isJSON: json?.json ?? false, body)
        if status != .done { throw ExitCode(status.rawValue) }
    }
}
