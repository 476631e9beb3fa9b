import ArgumentParser
import Base
import Commands
import Planning
import PushServices

struct Init: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Write volley.yaml, a sample campaign and a sample export that run against the simulator.")

    @Argument(help: "The folder; created if missing. (default: .)", completion: .directory, transform: FilePaths.given)
    var folder = "."

    @Option(
        name: .long, help: "The push service of the app in volley.yaml: \(ServiceWords.standIns).",
        completion: .list(ServiceWords.standInList))
    var service = PushServices.standard.name

    @OptionGroup var json: JSONOption
    @OptionGroup var shared: SharedOptions

    func validate() throws {
        guard ServiceWords.standInList.contains(service) else {
            throw ValidationError("There is no service '\(service)'. --service takes \(ServiceWords.standIns).")
        }
    }

    func run() throws {
        let console = shared.console
        let service = PushServices.named(service) ?? PushServices.standard
        try perform(console, json) {
            try InitCommand.run(folder: folder, service: service, options: shared.common(json: json), console: console)
        }
    }
}

struct Check: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Read and validate campaigns; nothing is expanded.")

    @Argument(help: "Campaign files.", completion: campaignCompletion, transform: FilePaths.given)
    var files: [String]

    @OptionGroup var json: JSONOption
    @OptionGroup var shared: SharedOptions

    func run() throws {
        let console = shared.console
        try perform(console, json) {
            try CheckCommand.run(files: files, options: shared.common(json: json), console: console)
        }
    }
}

struct Preview: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Dry run: who gets a campaign, and what. Nothing is written or sent.",
        discussion:
            """
            Counts recipients by selector, language and variant, and skipped rows by reason. Compares them with the campaign's last run. \
            Shows how each text reads on a phone (with --verbose the whole payload), payload sizes, and the time needed.
            """
    )

    @Argument(help: "The campaign file.", completion: campaignCompletion, transform: FilePaths.given)
    var file: String

    @Option(
        name: .long,
        help: ArgumentHelp(
            "Samples to show of each text that devices get; 3, or 1 of each when there are several texts.",
            valueName: "n"))
    var show: Int?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "Explain why a device gets it or not: a device token (also shortened, as 7276…89f1), an alias, or a registration id.",
            valueName: "who"))
    var why: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "Write the preview as a page that needs no network, for people who do not use a terminal.",
            valueName: "file"),
        completion: .file(extensions: ["html"]), transform: FilePaths.given)
    var html: String?

    @Flag(
        name: .long,
        help:
            "Ask the service to check the calls of a campaign whose devices it chooses (`by` under `audience`). It sends nothing."
    )
    var ask = false

    @OptionGroup var planning: PlanningOptions
    @OptionGroup var json: JSONOption
    @OptionGroup var shared: SharedOptions

    func validate() throws {
        guard why == nil || !ask else { throw ValidationError("--why is about one device, and --ask about all calls.") }
        guard why == nil || html == nil else {
            throw ValidationError("--why answers in text or JSON; it makes no page.")
        }
        guard (0...500).contains(show ?? 0) else { throw ValidationError("--show takes a number from 0 to 500.") }
    }

    func run() throws {
        let console = shared.console
        try perform(console, json) {
            let options = shared.common(json: json, planning: planning)
            if let why { return try PreviewCommand.explain(file: file, who: why, options: options, console: console) }
            return try PreviewCommand.run(
                file: file, samples: show, page: html, asks: ask, options: options, console: console)
        }
    }
}

struct Plan: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Make the run file (frozen audience) and send nothing.",
        discussion: "Send it later with `volley send --plan RUN`.")

    @Argument(help: "The campaign file.", completion: campaignCompletion, transform: FilePaths.given)
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
        discussion:
            "Every device in the audience gets an outcome in the report. Ctrl-C stops cleanly; a second one stops at once."
    )

    @Argument(help: "The campaign file.", completion: campaignCompletion, transform: FilePaths.given)
    var file: String?

    @Option(
        name: .long,
        help: ArgumentHelp("Send exactly a plan made before: a run's id, its file, or `last`.", valueName: "run"),
        completion: runCompletion, transform: FilePaths.given)
    var plan: String?

    @Flag(
        name: .long,
        help: "Send each text once to the app's test devices in volley.yaml, and to no other device. Does not ask.")
    var test = false

    @Flag(name: .long, help: "Send at once to the whole audience, whatever the campaign's schedule says.")
    var now = false

    @Flag(name: .long, help: "Do not ask.")
    var yes = false

    @OptionGroup var planning: PlanningOptions
    @OptionGroup var sending: SendingOptions
    @OptionGroup var json: JSONOption
    @OptionGroup var log: LogOptions
    @OptionGroup var shared: SharedOptions

    func validate() throws {
        guard plan == nil || !now else {
            throw ValidationError("--now is for a campaign file: a plan keeps its times.")
        }
        guard file == nil || plan == nil else {
            throw ValidationError(
                "Name a campaign file or a plan, not both: a file is planned anew, and --plan sends what is planned already."
            )
        }
        guard file != nil || plan != nil else { throw ValidationError("Name a campaign file, or a plan with --plan.") }
        guard plan == nil || !test else {
            throw ValidationError("--test is for a campaign file: it makes its own plan.")
        }
        guard plan == nil || planning.memory == nil else {
            throw ValidationError("--memory is for planning; --plan names a plan that is already made.")
        }
    }

    func run() throws {
        let console = shared.console(log)
        try perform(console, json) {
            let source: SendCommand.Source =
                plan.map { .plan(run: $0) } ?? (test ? .test(file: file ?? "") : .campaign(file: file ?? ""))
            return try SendCommand.run(
                source, isConfirmed: yes, isNow: now,
                options: shared.common(json: json, planning: planning, sending: sending, console: console),
                console: console)
        }
    }
}

struct Schedule: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Keep running, and send each campaign at its time.",
        discussion: """
            Sends every campaign with a `schedule` when it is due, planned from the export as it is then. You can add, change and remove \
            files meanwhile. No time fires twice, whatever you restart and when. The campaign's `late` decides about missed times. \
            Ctrl-C or SIGTERM stops it cleanly, and the next start continues. docs/operating.md says how to run it for months.
            """)

    @Argument(help: "Campaign files, or folders of them.", completion: campaignCompletion, transform: FilePaths.given)
    var paths: [String]

    @Flag(name: .long, help: "Show what comes within 30 days and the results of the last week, then exit.")
    var list = false

    @Option(
        name: .long,
        help: ArgumentHelp(
            "Offer metrics for Prometheus at this address and port, as 127.0.0.1:9464.", valueName: "address"))
    var metrics: String?

    @OptionGroup var planning: PlanningOptions
    @OptionGroup var sending: SendingOptions
    @OptionGroup var json: JSONOption
    @OptionGroup var log: LogOptions
    @OptionGroup var shared: SharedOptions

    func validate() throws {
        guard !list || metrics == nil else {
            throw ValidationError("--metrics is for the process that stays, not for --list.")
        }
        guard list || !json.json else {
            throw ValidationError("--json is for --list; volley schedule itself never ends with a result.")
        }
    }

    func run() throws {
        let console = shared.console(log, hasProgress: false)
        let options = shared.common(json: json, planning: planning, sending: sending, console: console)
        try perform(console, json) {
            try list
                ? ScheduleCommand.list(paths, options: options, console: console)
                : ScheduleCommand.run(paths, metricsAt: metrics, options: options, console: console)
        }
    }
}
