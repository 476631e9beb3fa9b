import ArgumentParser
import Base
import Commands

struct ChannelManagement: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "channels", abstract: "The broadcast channels of Live Activities: make, list and delete them.",
        discussion: """
            From iOS 18 on, phones follow a channel, and one request reaches them all: audience: {channel: ID} in a campaign. Channels belong to \
            an app (its topic) and an environment, and these commands act on the environment that volley.yaml gives the app. \
            \(ServiceWords.broadcasting) must have broadcasts switched on for the app. Nothing is sent to any device.
            """,
        subcommands: [ChannelCreation.self, ChannelListing.self, ChannelDeletion.self])
}

/// The option that names the app of a channel.
struct ChannelAppOption: ParsableArguments {
    @Option(name: .long, help: "The app's name in volley.yaml; may be omitted if there is only one.")
    var app: String?
}

struct ChannelCreation: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "create", abstract: "Make a channel and print its id.",
        discussion: """
            What a channel keeps cannot be changed later. One that keeps nothing takes more broadcasts, and phones that are off miss them; one \
            that keeps the newest broadcast delivers it when a phone comes back within the campaign's expiry, 8 hours at most.
            """)

    @Option(
        name: .long,
        help: "What it keeps for phones that are off: \(ChannelsCommand.storageNames.joined(separator: " or ")).")
    var keeps: String = ChannelsCommand.storageNames[0]

    @OptionGroup var choice: ChannelAppOption
    @OptionGroup var json: JSONOption
    @OptionGroup var shared: SharedOptions

    func validate() throws {
        guard ChannelsCommand.storageNames.contains(keeps) else {
            throw ValidationError("--keeps takes \(ChannelsCommand.storageNames.joined(separator: " or ")).")
        }
    }

    func run() throws {
        let console = shared.console
        try perform(console, json) {
            try ChannelsCommand.create(
                app: choice.app, keeps: keeps, options: shared.common(json: json), console: console)
        }
    }
}

struct ChannelListing: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the channels of an app, with what each keeps.",
        discussion: "What a channel keeps is read for the first 100.")

    @OptionGroup var choice: ChannelAppOption
    @OptionGroup var json: JSONOption
    @OptionGroup var shared: SharedOptions

    func run() throws {
        let console = shared.console
        try perform(console, json) {
            try ChannelsCommand.list(app: choice.app, options: shared.common(json: json), console: console)
        }
    }
}

struct ChannelDeletion: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete", abstract: "Delete a channel for good.", discussion: "Asks first, unless --yes is given.")

    @Argument(help: "The channel's id.")
    var channel: String

    @Flag(name: .long, help: "Do not ask.")
    var yes = false

    @OptionGroup var choice: ChannelAppOption
    @OptionGroup var json: JSONOption
    @OptionGroup var shared: SharedOptions

    func run() throws {
        let console = shared.console
        try perform(console, json) {
            try ChannelsCommand.delete(
                channel, app: choice.app, isConfirmed: yes, options: shared.common(json: json), console: console)
        }
    }
}
