import ArgumentParser
import Base
import Commands

struct Store: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract:
            "Set up and check the PostgreSQL database that several machines share to send one run, and see which runs are there.",
        discussion: "`store` of volley.yaml names the environment variable that holds its address.",
        subcommands: [StoreMigrate.self, StoreChecking.self, StoreListing.self, StoreFetching.self, StoreRemoving.self])
}

struct StoreMigrate: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "migrate", abstract: "Make the tables of the store, or upgrade those of an older Volley.",
        discussion: """
            Run it once, on one machine; where there is nothing to do, it changes nothing. All of it is one transaction. The role that runs it \
            owns the tables, and need be no superuser.
            """)

    @OptionGroup var json: JSONOption
    @OptionGroup var shared: SharedOptions

    func run() throws {
        let console = shared.console
        try perform(console, json) { try StoreCommand.migrate(options: shared.common(json: json), console: console) }
    }
}

struct StoreChecking: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check", abstract: "Check the store, without changing anything.",
        discussion: """
            Looks at connection and role, server, tables, rights, what a commit is worth there, clock and latency. Each step is ok, failed or \
            skipped, with what to do. `volley doctor` does the same beside its other checks.
            """)

    @OptionGroup var json: JSONOption
    @OptionGroup var shared: SharedOptions

    func run() throws {
        let console = shared.console
        try perform(console, json) { try StoreCommand.check(options: shared.common(json: json), console: console) }
    }
}

struct StoreListing: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "The runs in the store: state, audience, how many devices are claimed, size, and who sends them.",
        discussion: "Where processes send runs, it takes a few seconds to see which of them still report.")

    @OptionGroup var json: JSONOption
    @OptionGroup var shared: SharedOptions

    func run() throws {
        let console = shared.console
        try perform(console, json) { try StoreCommand.list(options: shared.common(json: json), console: console) }
    }
}

struct StoreFetching: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fetch",
        abstract: "Make a run's file here from what the store has of it, or bring the file here up to date.",
        discussion: """
            For when the machine that planned the run is gone, or to read a run elsewhere: report, retry and exports work on the file. It is \
            never sent from. A run that is being sent cannot be fetched; processes that stopped without a word are waited for, for half a \
            minute.
            """)

    @Argument(
        help: ArgumentHelp(
            "A run's id, its file, or `last`: of those in the store, the one that was planned last.", valueName: "run"),
        completion: runCompletion, transform: FilePaths.given)
    var id: String

    @Option(
        name: .long, help: ArgumentHelp("The folder of runs that the file is put into.", valueName: "folder"),
        completion: .directory,
        transform: FilePaths.given)
    var into: String?

    @OptionGroup var json: JSONOption
    @OptionGroup var shared: SharedOptions

    func run() throws {
        let console = shared.console
        try perform(console, json) {
            try StoreCommand.fetch(id, into: into, options: shared.common(json: json), console: console)
        }
    }
}

struct StoreRemoving: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove",
        abstract: "Remove a run from the store, once its file here holds all that the store knows of it.",
        discussion: "The run's file stays. A run that is being sent cannot be removed.")

    @Argument(
        help: ArgumentHelp(
            "A run's id, its file, or `last`: of those in the store, the one that was planned last.", valueName: "run"),
        completion: runCompletion, transform: FilePaths.given)
    var id: String

    @Flag(
        help:
            "Remove it even if its file here lacks outcomes, or there is none: nobody can say then what became of its devices."
    )
    var force = false

    @OptionGroup var json: JSONOption
    @OptionGroup var shared: SharedOptions

    func run() throws {
        let console = shared.console
        try perform(console, json) {
            try StoreCommand.remove(id, isForced: force, options: shared.common(json: json), console: console)
        }
    }
}

struct Work: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Help to send what other machines send through the store.",
        discussion: """
            Takes part in every run of the apps in this machine's volley.yaml that another machine sends through the same store, for which this \
            machine has the key. It ends with Ctrl-C; the others go on, and what it had not sent is sent by them.
            """)

    @Option(
        name: .customLong("run"), help: ArgumentHelp("Help with this run only, until it has ended.", valueName: "id"))
    var onlyRun: String?
    @OptionGroup var sending: SendingOptions
    @OptionGroup var log: LogOptions
    @OptionGroup var shared: SharedOptions

    func run() throws {
        let console = shared.console(log)
        try perform(console) {
            try WorkCommand.run(
                on: onlyRun, options: shared.common(sending: sending, console: console), console: console)
        }
    }
}
