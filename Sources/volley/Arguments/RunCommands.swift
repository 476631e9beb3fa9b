import ArgumentParser
import Base
import Commands

/// The argument that names a run.
struct RunArgument: ParsableArguments {
    @Argument(help: "A run's id, its file, or `last`.", completion: runCompletion, transform: FilePaths.given)
    var run: String
}

struct Runs: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "All runs: campaign, state, audience, outcomes.",
        discussion: "You can combine options that choose runs: a run must match all of them.")

    @Option(name: .long, help: "Only runs of this campaign.")
    var campaign: String?

    @Option(name: .long, help: "Only runs of this app.")
    var app: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "Only runs in these states, separated by commas: planned, running, paused, stopped, finished, cancelled.",
            valueName: "states"))
    var state = ""

    @Option(
        name: .long,
        help: ArgumentHelp("Only runs planned since a date (UTC), or within a time such as 7d.", valueName: "when"))
    var since: String?

    @OptionGroup var json: JSONOption
    @OptionGroup var shared: SharedOptions

    func run() throws {
        let console = shared.console
        let wanted = RunsCommand.Wanted(campaign: campaign, app: app, states: state.words, since: since)
        try perform(console, json) { try RunsCommand.run(wanted, options: shared.common(json: json), console: console) }
    }
}

struct Orders: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "What people ordered in the console, and what became of it.",
        discussion: """
            The console writes down what people ask for, and `volley schedule` does it: approvals, sendings, tests, plans, resumptions, \
            retries, pauses, cancellations, and times that are left out. What was not begun in time lapses, and is never done.
            """)

    @Option(name: .long, help: ArgumentHelp("How many of the newest orders to show.", valueName: "count"))
    var last = 50

    @OptionGroup var json: JSONOption
    @OptionGroup var shared: SharedOptions

    func run() throws {
        let console = shared.console
        try perform(console, json) {
            try OrdersCommand.run(last: last, options: shared.common(json: json), console: console)
        }
    }
}

struct Prune: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Remove the recipients of old runs from their files, and keep the figures.",
        discussion: """
            Permanently removes device tokens, registration ids, aliases and cells of runs that ended longer ago than --keep. Their \
            reports stay the same, except the CSV. Runs that could still be resumed or retried stay unchanged without --include-stopped. \
            Also removes plans that a killed process left unfinished, whatever --keep says. Suppression lists stay unchanged. Asks on \
            a terminal, unless --yes is given.
            """)

    @Option(
        name: .long,
        help: ArgumentHelp("How long recipients are kept after a run has ended, as 90d or 12w.", valueName: "time"))
    var keep: String

    @Flag(name: .long, help: "Also runs that could be resumed or retried.")
    var includeStopped = false

    @Flag(name: .long, help: "Only say what would be removed.")
    var dryRun = false

    @Flag(name: .long, help: "Do not ask.")
    var yes = false

    @OptionGroup var json: JSONOption
    @OptionGroup var shared: SharedOptions

    func run() throws {
        let console = shared.console
        try perform(console, json) {
            try PruneCommand.run(
                .init(keep: keep, includesStopped: includeStopped, isDryRun: dryRun, isConfirmed: yes),
                options: shared.common(json: json), console: console)
        }
    }
}

struct Resume: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Continue a run that was stopped, paused, interrupted, cancelled or killed.",
        discussion:
            "Settled pushes stay settled, and unsent ones are sent. The campaign's `delivery.unknown` decides whether pushes whose answer is unknown are sent again. A run that is paused in another terminal continues there."
    )

    @OptionGroup var target: RunArgument
    @OptionGroup var sending: SendingOptions
    @OptionGroup var json: JSONOption
    @OptionGroup var log: LogOptions
    @OptionGroup var shared: SharedOptions

    func run() throws {
        let console = shared.console(log)
        try perform(console, json) {
            try ResumeCommand.run(
                target.run, options: shared.common(json: json, sending: sending, console: console), console: console)
        }
    }
}

struct Approve: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Approve a plan to be sent exactly as it is.",
        discussion: """
            Shows the preview of the plan and asks. The run file and its report say who approved it and when. Apps with \
            `approval: required` in volley.yaml send only what was approved. What was changed after it was planned is refused.
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
            try ApproveCommand.run(
                target.run, by: by, isConfirmed: yes, options: shared.common(json: json), console: console)
        }
    }
}

struct Pause: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Pause a run that is being sent until it is resumed.",
        discussion: "Waits for answers that are under way; sends nothing more.")

    @OptionGroup var target: RunArgument
    @OptionGroup var json: JSONOption
    @OptionGroup var shared: SharedOptions

    func run() throws {
        let console = shared.console
        try perform(console, json) {
            try PauseCommand.run(target.run, options: shared.common(json: json), console: console)
        }
    }
}

struct Cancel: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Send nothing more of a run.",
        discussion:
            "Devices that it reached stay in the report; the others are unsent. A run that is being sent ends cleanly.")

    @OptionGroup var target: RunArgument
    @OptionGroup var json: JSONOption
    @OptionGroup var shared: SharedOptions

    func run() throws {
        let console = shared.console
        try perform(console, json) {
            try CancelCommand.run(target.run, options: shared.common(json: json), console: console)
        }
    }
}

struct Retry: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Send again to devices for which a run failed or never got an answer.",
        discussion:
            "Makes a new run with the campaign and the settings of the first; the reports of both show the chain. Asks before it sends, unless --yes is given."
    )

    @OptionGroup var target: RunArgument

    @Option(
        name: .long,
        help: ArgumentHelp(
            "Outcomes to send to again, separated by commas: failed, unknown, rejected, unsent.", valueName: "outcomes")
    )
    var outcome = "failed,unknown"

    @Flag(name: .long, help: "Do not ask.")
    var yes = false

    @OptionGroup var sending: SendingOptions
    @OptionGroup var json: JSONOption
    @OptionGroup var log: LogOptions
    @OptionGroup var shared: SharedOptions

    func run() throws {
        let console = shared.console(log)
        try perform(console, json) {
            try RetryCommand.run(
                target.run, outcomes: outcome.words, isConfirmed: yes,
                options: shared.common(json: json, sending: sending, console: console),
                console: console)
        }
    }
}

struct Report: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "The delivery report of a run.",
        discussion: """
            csv has a line for every device: its outcome, the service's reason, attempts and latency; --outcome, --language and --variant choose lines. \
            html is one page for a browser or paper, made for people who do not use a terminal. --refresh asks services that count what became of \
            pushes, such as how many phones got them, and keeps the answer in the run. docs/reports.md says what each figure means.
            """)

    enum Form: String, CaseIterable, ExpressibleByArgument { case text, json, csv, html }

    @OptionGroup var target: RunArgument

    @Option(name: .long, help: "The format.")
    var format = Form.text

    @Option(
        name: .long,
        help: ArgumentHelp("An earlier run: shows both side by side, and what differs.", valueName: "earlier"),
        completion: runCompletion, transform: FilePaths.given)
    var compare: String?

    @Flag(name: .long, help: "First ask the run's services what became of the pushes; not all services say.")
    var refresh = false

    @Option(
        name: .long,
        help: ArgumentHelp(
            "For csv: only devices with these outcomes, separated by commas: accepted, invalid_token, rejected, failed, unknown, unsent.",
            valueName: "outcomes"))
    var outcome = ""

    @Option(name: .long, help: "For csv: only devices of this language; `unknown` for devices without one.")
    var language: String?

    @Option(name: .long, help: "For csv: only devices of this variant.")
    var variant: String?

    @Flag(name: .long, help: ExcelHelp.text)
    var excel = false

    @Option(name: .long, help: "A file instead of standard output.", completion: .file(), transform: FilePaths.given)
    var output: String?

    @OptionGroup var json: JSONOption
    @OptionGroup var shared: SharedOptions

    func run() throws {
        let console = shared.console
        let lines = ReportCommand.Lines(outcomes: outcome.words, language: language, variant: variant)
        try perform(console, json) {
            let form = json.json ? .json : ReportCommand.Format(rawValue: format.rawValue) ?? .text
            return try ReportCommand.run(
                target.run, comparedWith: compare, isRefreshed: refresh, format: form, lines: lines, output: output,
                isForExcel: excel,
                options: shared.common(json: json), console: console)
        }
    }
}

extension String {
    /// The words of a list that commas or spaces separate.
    fileprivate var words: [String] { split { $0 == "," || $0 == " " }.map(String.init) }
}
