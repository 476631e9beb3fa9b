import ArgumentParser
import Automation
import Base
import Commands

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
