import ArgumentParser
import Commands

struct Store: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Set up and check the PostgreSQL database that several machines share to send one run.",
        discussion: "`store` of volley.yaml names the environment variable that holds its address.",
        subcommands: [StoreMigrate.self, StoreChecking.self])
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
