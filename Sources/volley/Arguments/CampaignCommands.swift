import ArgumentParser
import Commands
import Planning

struct Init: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Write volley.yaml, a sample campaign and a sample export that run against the simulator.")

    @Argument(help: "The folder; made when missing.", completion: .directory)
    var folder = "."

    @OptionGroup var json: JSONOption
    @OptionGroup var shared: SharedOptions

    func run() throws {
        let console = shared.console
        try perform(console, json) { try InitCommand.run(folder: folder, options: shared.common(json: json), console: console) }
    }
}

struct Check: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Read and validate campaigns; nothing is expanded.")

    @Argument(help: "Campaign files.", completion: campaignCompletion)
    var files: [String]

    @OptionGroup var json: JSONOption
    @OptionGroup var shared: SharedOptions

    func run() throws {
        let console = shared.console
        try perform(console, json) { try CheckCommand.run(files: files, options: shared.common(json: json), console: console) }
    }
}

struct Preview: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Dry run: who gets a campaign, and what. Nothing is written or sent.",
        discussion:
            """
            Counts recipients by selector, language and variant and skipped rows by reason; compares with the campaign's last run; shows for each text \
            how it reads on a phone (with --verbose the whole payload), payload sizes, and the time needed.
            """
    )

    @Argument(help: "The campaign file.", completion: campaignCompletion)
    var file: String

    @Option(
        name: .long,
        help: ArgumentHelp("Samples to show of each text that anybody gets; 3, or 1 of each when there are several texts.", valueName: "n"))
    var show: Int?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "Say step by step why somebody gets it or not: a device token (also shortened, as 7276…89f1), an alias, or a registration id.",
            valueName: "who"))
    var why: String?

    @Option(
        name: .long,
        help: ArgumentHelp("Write the preview as a page that needs no network, for those who do not use a terminal.", valueName: "file"),
        completion: .file(extensions: ["html"]))
    var html: String?

    @OptionGroup var planning: PlanningOptions
    @OptionGroup var json: JSONOption
    @OptionGroup var shared: SharedOptions

    func validate() throws {
        guard why == nil || html == nil else { throw ValidationError("--why answers in text or JSON; it makes no page.") }
        guard (0...500).contains(show ?? 0) else { throw ValidationError("--show takes a number from 0 to 500.") }
    }

    func run() throws {
        let console = shared.console
        try perform(console, json) {
            let options = shared.common(json: json, planning: planning)
            if let why { return try PreviewCommand.explain(file: file, who: why, options: options, console: console) }
            return try PreviewCommand.run(file: file, samples: show, page: html, options: options, console: console)
        }
    }
}

struct Plan: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Make the run file (frozen audience) and send nothing.", discussion: "Send it later with `volley send --plan RUN`.")

    @Argument(help: "The campaign file.", completion: campaignCompletion)
    var file: String

    @OptionGroup var planning: PlanningOptions
    @OptionGroup var json: JSONOption
    @OptionGroup var shared: SharedOptions

    func run() throws {
        let console = shared.console
        let options = shared.common(json: json, planning: planning)
        try perform(console, json) { try PlanCommand.run(file: file, options: options, console: console) }
    }
}

struct Send: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Plan, show the preview, ask, send, report.",
        discussion: "Every device of the audience gets an outcome in the report. Ctrl-C stops in good order; a second one at once.")

    @Argument(help: "The campaign file.", completion: campaignCompletion)
    var file: String?

    @Option(name: .long, help: ArgumentHelp("Send exactly a plan made before: a run's id, its file, or `last`.", valueName: "run"))
    var plan: String?

    @Flag(name: .long, help: "Send each text once to the app's test devices in volley.yaml, and to nobody else. Asks nothing.")
    var test = false

    @Flag(name: .long, help: "Send at once and to everybody, whatever the campaign's schedule says.")
    var now = false

    @Flag(name: .long, help: "Do not ask.")
    var yes = false

    @OptionGroup var planning: PlanningOptions
    @OptionGroup var sending: SendingOptions
    @OptionGroup var json: JSONOption
    @OptionGroup var shared: SharedOptions

    func validate() throws {
        guard plan == nil || !now else { throw ValidationError("--now is for a campaign file: a plan keeps its times.") }
        guard (file == nil) != (plan == nil) else { throw ValidationError("Name a campaign file, or a plan with --plan.") }
        guard plan == nil || !test else { throw ValidationError("--test is for a campaign file: its plan is one of its own.") }
        guard plan == nil || planning.memory == nil else {
            throw ValidationError("--memory is for planning, and --plan names what was planned.")
        }
    }

    func run() throws {
        let console = shared.console
        try perform(console, json) {
            let source: SendCommand.Source = plan.map { .plan(run: $0) } ?? (test ? .test(file: file ?? "") : .campaign(file: file ?? ""))
            return try SendCommand.run(
                source, isConfirmed: yes, isNow: now, options: shared.common(json: json, planning: planning, sending: sending),
                console: console)
        }
    }
}

struct Schedule: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Wait, and send each campaign at its time; the process that stays.",
        discussion: """
            Sends every campaign with a `schedule` when it is due: planned afresh from the export as it is then. Files may be added, changed and \
            removed meanwhile. No time fires twice, whatever is restarted when; what was missed follows `late` of the campaign. Ctrl-C or SIGTERM \
            stop in good order, and the next start goes on. docs/operating.md says how to run it for months.
            """)

    @Argument(help: "Campaign files, or folders of them.", completion: campaignCompletion)
    var paths: [String]

    @Flag(name: .long, help: "Show what comes within 30 days and what became of the last week, and end.")
    var list = false

    @OptionGroup var planning: PlanningOptions
    @OptionGroup var sending: SendingOptions
    @OptionGroup var json: JSONOption
    @OptionGroup var shared: SharedOptions

    func validate() throws {
        guard list || !json.json else { throw ValidationError("--json is for --list; volley schedule itself never ends with a result.") }
    }

    func run() throws {
        let console = Console(.init(isQuiet: shared.quiet, isVerbose: shared.verbose, hasProgress: false))
        let options = shared.common(json: json, planning: planning, sending: sending)
        try perform(console, json) {
            try list
                ? ScheduleCommand.list(paths, options: options, console: console)
                : ScheduleCommand.run(paths, options: options, console: console)
        }
    }
}
