import ArgumentParser
import Base
import Commands

struct Suppression: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "The devices that get no more pushes because their tokens are invalid.",
        discussion: """
            A run puts the devices whose tokens the service called invalid on the list of its app; plans leave them out as `suppressed`, unless the \
            export says in `registered_at` that they registered later. Each environment of an app, and each of its services, has its own list: what the simulator \
            says suppresses no device in production. These commands act on the environment that volley.yaml gives the app.
            """,
        subcommands: [SuppressionListing.self, SuppressionImport.self, SuppressionExport.self, SuppressionRemove.self])
}

/// The option that names the app of a list.
struct ListOption: ParsableArguments {
    @Option(name: .long, help: "The app's name in volley.yaml; may be omitted if there is only one.")
    var app: String?

    @Option(
        name: .long,
        help: "One of the app's services; may be omitted if there is only one. `list` without it shows all.")
    var service: String?

    var choice: SuppressionCommand.ListChoice { .init(app: app, service: service) }
}

struct SuppressionListing: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "How many devices are suppressed and why; tokens are shown with eight digits only.")

    @OptionGroup var list: ListOption
    @OptionGroup var json: JSONOption
    @OptionGroup var shared: SharedOptions

    func run() throws {
        let console = shared.console
        try perform(console, json) {
            try SuppressionCommand.list(list.choice, options: shared.common(json: json), console: console)
        }
    }
}

struct SuppressionImport: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import", abstract: "Add devices from a file.",
        discussion: """
            The file has one token a line, or is a CSV or TSV with a column of tokens and optional columns reason and invalid_since. If \
            a line cannot be read, nothing is imported. An export is refused, as most of its devices are valid; --every-device accepts it.
            """)

    @Argument(help: "The file.", completion: .file(), transform: FilePaths.given)
    var file: String

    @Option(name: .long, help: "The reason for devices without one in the file.")
    var reason: String?

    @Flag(name: .long, help: "The file is an export, and you mean every device in it.")
    var everyDevice = false

    @OptionGroup var list: ListOption
    @OptionGroup var json: JSONOption
    @OptionGroup var shared: SharedOptions

    func run() throws {
        let console = shared.console
        try perform(console, json) {
            try SuppressionCommand.add(
                .init(path: file, reason: reason, mayBeExport: everyDevice), to: list.choice,
                options: shared.common(json: json),
                console: console)
        }
    }
}

struct SuppressionExport: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export", abstract: "Write the list as CSV, with whole tokens; import reads it again.")

    @Option(
        name: .long, help: "A file, which only its owner may read; - is standard output, even on a terminal.",
        completion: .file(),
        transform: FilePaths.given)
    var output: String?

    @Flag(name: .long, help: ExcelHelp.text)
    var excel = false

    @OptionGroup var list: ListOption
    @OptionGroup var json: JSONOption
    @OptionGroup var shared: SharedOptions

    func validate() throws {
        guard !json.json || output ?? "-" != "-" else {
            throw ValidationError("--json needs a file for the list: --output FILE.")
        }
    }

    func run() throws {
        let console = shared.console
        try perform(console, json) {
            try SuppressionCommand.export(
                list.choice, output: output, isForExcel: excel, options: shared.common(json: json), console: console)
        }
    }
}

struct SuppressionRemove: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove", abstract: "Remove devices from the list, so that plans may include them again.",
        discussion: "They come back when the service calls their tokens invalid again.")

    @Argument(help: "A \(ServiceWords.target).")
    var token: String?

    @Option(
        name: .long, help: "A file of tokens, like one for import.", completion: .file(), transform: FilePaths.given)
    var file: String?

    @Flag(name: .long, help: "All devices of the app in its environment.")
    var all = false

    @Flag(name: .long, help: "Do not ask.")
    var yes = false

    @OptionGroup var list: ListOption
    @OptionGroup var json: JSONOption
    @OptionGroup var shared: SharedOptions

    func validate() throws {
        guard [token != nil, file != nil, all].filter(\.self).count == 1 else {
            throw ValidationError("Name a token, a file of tokens with --file, or all with --all.")
        }
        guard all || !yes else { throw ValidationError("--yes is for --all.") }
    }

    func run() throws {
        let console = shared.console
        let removal: SuppressionCommand.Removal =
            token.map { .token($0) } ?? file.map { .file($0) } ?? .all(isConfirmed: yes)
        try perform(console, json) {
            try SuppressionCommand.remove(
                removal, from: list.choice, options: shared.common(json: json), console: console)
        }
    }
}
