import ArgumentParser
import Automation
import Base
import Commands

struct BackUp: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup",
        abstract:
            "Copy everything that matters of a project, also while it is being sent: a folder that `volley restore` puts back.",
        discussion: """
            Takes along volley.yaml, campaigns, the lists of names in them, and the folder of runs with its records, suppression lists and the \
            console's accounts, each file as it is at one moment, with a list of sums. Keys stay out without --with-keys; device \
            exports and the PostgreSQL store stay out. The backup appears under its name when it is complete. It holds device \
            tokens: only its owner may read it.
            """)

    @Argument(
        help: "The folder that gets the backup, as a folder volley-backup-DATE.", completion: .directory,
        transform: FilePaths.given)
    var target: String

    @Argument(
        help: "Folders of campaigns that do not lie below that of volley.yaml.", completion: .directory,
        transform: FilePaths.given)
    var campaigns: [String] = []

    @Flag(name: .long, help: "Also the keys and certificates that lie below the folder of volley.yaml.")
    var withKeys = false

    @OptionGroup var json: JSONOption
    @OptionGroup var shared: SharedOptions

    func run() throws {
        let console = shared.console
        try perform(console, json) {
            try BackupCommand.run(
                .init(target: target, campaigns: campaigns, includesKeys: withKeys), options: shared.common(json: json),
                console: console)
        }
    }
}

struct PutBack: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore",
        abstract:
            "Put a backup back: all of it, or nothing. What was sent after the backup is not sent again by itself.",
        discussion: """
            Checks every sum first, and overwrites nothing. Runs that had not ended when the backup was made are not sent any more, as nobody \
            knows what was sent of them since; their reports say so. Times of schedules up to now are skipped.
            """)

    @Argument(help: "A backup: the folder volley-backup-DATE.", completion: .directory, transform: FilePaths.given)
    var backup: String

    @Option(
        name: .long,
        help: ArgumentHelp("The folder that volley.yaml comes into; otherwise where it was.", valueName: "folder"),
        completion: .directory, transform: FilePaths.given)
    var into: String?

    @Flag(
        name: .long,
        help:
            "You know that nothing was sent after the backup, because Volley was stopped before it, for example: runs can be sent as before."
    )
    var nothingSentSince = false

    @OptionGroup var json: JSONOption
    @OptionGroup var shared: SharedOptions

    func run() throws {
        let console = shared.console
        try perform(console, json) {
            try RestoreCommand.run(
                .init(backup: backup, folder: into, runs: shared.runs, nothingSentSince: nothingSentSince),
                options: shared.common(json: json), console: console)
        }
    }
}

struct VersionFacts: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "version",
        abstract:
            "Say which Volley this is; with --verbose also the libraries, system, formats of files and limits that it runs with.",
        discussion: "Holds no secret and no name: paste it where you ask for help.")

    @OptionGroup var json: JSONOption
    @OptionGroup var shared: SharedOptions

    func run() throws {
        let console = shared.console
        try perform(console, json) { try VersionCommand.run(options: shared.common(json: json), console: console) }
    }
}

struct SupportBundling: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "support-bundle",
        abstract: "Gather what those whom you ask for help need: no device tokens, aliases, registration ids or keys.",
        discussion: """
            A folder with files that you can read before you pass them on: versions and limits, the keys of volley.yaml with the values that cannot \
            be secret, the states of the steps of `volley doctor`, runs with their figures, times of schedules. Asks no service \
            without --ask.
            """)

    @Argument(
        help: "The folder that gets the bundle, as a folder volley-support-DATE.", completion: .directory,
        transform: FilePaths.given)
    var target: String

    @Argument(
        help: "With --with-texts: folders of campaigns that do not lie below that of volley.yaml.",
        completion: .directory,
        transform: FilePaths.given)
    var campaigns: [String] = []

    @Flag(name: .long, help: "Also ask the services, as `volley doctor` does.")
    var ask = false

    @Flag(name: .long, help: "Also the campaigns as they are written, with their texts and the names in them.")
    var withTexts = false

    @OptionGroup var json: JSONOption
    @OptionGroup var shared: SharedOptions

    func run() throws {
        let console = shared.console
        try perform(console, json) {
            try SupportCommand.run(
                .init(target: target, asksServices: ask, includesTexts: withTexts, campaigns: campaigns),
                options: shared.common(json: json), console: console)
        }
    }
}
