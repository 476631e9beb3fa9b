import ArgumentParser
import VolleyKit

/// Which run.
struct RunArgument: ParsableArguments {
    @Argument(help: "A run's id, its file, or `last`.", completion: .file(extensions: ["sqlite"]))
    var run: String
}

struct Runs: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "All runs: campaign, state, audience, outcomes.")

    @OptionGroup var json: JSONOption
    @OptionGroup var shared: SharedOptions

    func run() throws {
        let console = shared.console
        try perform(console, json) { try RunsCommand.run(options: shared.common(json: json), console: console) }
    }
}

struct Resume: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Go on with a run that was stopped, paused, interrupted, cancelled or killed.",
        discussion:
            "What is settled stays settled, what is unsent is sent. Pushes whose answer is unknown are sent again, or not, as `delivery.unknown` of the campaign says. A run that another terminal paused goes on there."
    )

    @OptionGroup var target: RunArgument
    @OptionGroup var json: JSONOption
    @OptionGroup var shared: SharedOptions

    func run() throws {
        let console = shared.console
        try perform(console, json) { try ResumeCommand.run(target.run, options: shared.common(json: json), console: console) }
    }
}

struct Approve: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Agree that a plan be sent, exactly as it is.",
        discussion: """
            Shows the preview of the plan and asks; who approved it and when stands in the run file and in its report. Apps with \
            `approval: required` in volley.yaml send nothing that was not approved. What was changed after it was planned is refused.
            """)

    @OptionGroup var target: RunArgument

    @Option(name: .long, help: "Who approves.")
    var by: String

    @Flag(name: .long, help: "Do not ask.")
    var yes = false

    @OptionGroup var json: JSONOption
    @OptionGroup var shared: SharedOptions

    func run() throws {
        let console = shared.console
        try perform(console, json) {
            try ApproveCommand.run(target.run, by: by, isConfirmed: yes, options: shared.common(json: json), console: console)
        }
    }
}

struct Pause: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Let a run that is being sent wait until it is resumed.",
        discussion: "Answers that are under way are awaited; nothing more is sent.")

    @OptionGroup var target: RunArgument
    @OptionGroup var json: JSONOption
    @OptionGroup var shared: SharedOptions

    func run() throws {
        let console = shared.console
        try perform(console, json) { try PauseCommand.run(target.run, options: shared.common(json: json), console: console) }
    }
}

struct Cancel: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Send nothing more of a run.",
        discussion: "Whom it reached stays in the report, the others are unsent. A run that is being sent ends in good order.")

    @OptionGroup var target: RunArgument
    @OptionGroup var json: JSONOption
    @OptionGroup var shared: SharedOptions

    func run() throws {
        let console = shared.console
        try perform(console, json) { try CancelCommand.run(target.run, options: shared.common(json: json), console: console) }
    }
}

struct Retry: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Send again to those for whom a run failed, or whose answer it never got.",
        discussion:
            "Makes a new run with the campaign and the settings of the first; the reports of both show the chain. Asks on a terminal, unless --yes is given."
    )

    @OptionGroup var target: RunArgument

    @Option(
        name: .long,
        help: ArgumentHelp("Outcomes to send to again, with commas: failed, unknown, rejected, unsent.", valueName: "outcomes"))
    var outcome = "failed,unknown"

    @Flag(name: .long, help: "Do not ask.")
    var yes = false

    @OptionGroup var json: JSONOption
    @OptionGroup var shared: SharedOptions

    func run() throws {
        let console = shared.console
        let outcomes = outcome.split { $0 == "," || $0 == " " }.map(String.init)
        try perform(console, json) {
            try RetryCommand.run(target.run, outcomes: outcomes, isConfirmed: yes, options: shared.common(json: json), console: console)
        }
    }
}

struct Report: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "The delivery report of a run.",
        discussion: "csv has a line for every device: its outcome, APNs' reason, attempts and latency. html is one page for a browser or paper.")

    enum Form: String, CaseIterable, ExpressibleByArgument { case text, json, csv, html }

    @OptionGroup var target: RunArgument

    @Option(name: .long, help: "The form.")
    var format = Form.text

    @Option(name: .long, help: "A file instead of standard output.", completion: .file())
    var output: String?

    @OptionGroup var json: JSONOption
    @OptionGroup var shared: SharedOptions

    func run() throws {
        let console = shared.console
        try perform(console, json) {
            let form = json.json ? .json : ReportCommand.Format(rawValue: format.rawValue) ?? .text
            return try ReportCommand.run(target.run, format: form, output: output, options: shared.common(json: json), console: console)
        }
    }
}
