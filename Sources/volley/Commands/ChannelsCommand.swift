import Base
import Campaigns
import PushServices
import Sending
import Workspace

/// `volley channels`: makes, lists and deletes the broadcast channels of an app.
public enum ChannelsCommand {
    /// What a new channel may keep, by its names.
    public static let storageNames = ChannelStorage.allCases.map(\.rawValue)

    /// Makes a channel.
    /// - Parameter keeps: one of `storageNames`.
    public static func create(app: String?, keeps: String, options: CommonOptions, console: Console) throws
        -> ExitStatus
    {
        guard let storage = ChannelStorage(rawValue: keeps) else {
            throw Diagnostic(
                "'\(keeps)' is not what a channel can keep", remedy: "Write \(storageNames.joined(separator: " or ")).")
        }
        let channels = try channels(of: app, options, console)
        let id = try channels.create(storage)
        let answer = document(channels, [("channel", .string(id)), ("keeps", .string(storage.rawValue))])
        return console.answer(
            options.isJSON ? answer.indentedText : "\(id)\nIn a campaign: audience: {channel: \(id)}",
            done: "The channel \(id) was made.")
    }

    /// Lists the channels.
    public static func list(app: String?, options: CommonOptions, console: Console) throws -> ExitStatus {
        let channels = try channels(of: app, options, console)
        let list = try channels.list()
        if options.isJSON {
            let items = list.map { channel in
                JSONValue.object(pairs: [
                    ("channel", .string(channel.id)), ("keeps", channel.storage.map { .string($0.rawValue) } ?? .null),
                ])
            }
            try console.out(document(channels, [("channels", .array(items))]).indentedText)
            return .done
        }
        let width = list.map(\.id.count).max() ?? 0
        let title = "\(channels.app) (\(channels.environment)): \(TextFormat.counted(list.count, one: "channel"))"
        let lines = list.map { channel in
            "  \(TextFormat.padded(channel.id, to: width))  \(channel.storage.map { "keeps \($0 == .nothing ? "nothing" : "the newest broadcast")" } ?? "not read")"
        }
        try console.out(([title] + lines).joined(separator: "\n"))
        return .done
    }

    /// Deletes a channel after a confirmation.
    /// - Parameter isConfirmed: `--yes`: whether to skip the question.
    public static func delete(
        _ id: String, app: String?, isConfirmed: Bool, options: CommonOptions, console: Console
    ) throws -> ExitStatus {
        try console.checkCanAsk(
            unless: isConfirmed, "volley channels delete", does: "deletes",
            remedy: "Add --yes to delete without a question. Nothing was deleted.")
        let channels = try channels(of: app, options, console)
        let question =
            "Delete the channel \(id) of \(channels.app) (\(channels.environment)) for good? Phones that follow it get no more updates."
        guard try isConfirmed || console.confirms(question) else {
            console.warn("Nothing was deleted.")
            return .wrong
        }
        try channels.delete(id)
        let answer = document(channels, [("channel", .string(id)), ("deleted", .bool(true))])
        return console.answer(
            options.isJSON ? answer.indentedText : "deleted \(id)", done: "The channel \(id) was deleted.")
    }

    private static func channels(of name: String?, _ options: CommonOptions, _ console: Console) throws -> Channels {
        Interruption.install()
        guard let path = options.project.file ?? Project.find(startingAt: ".") else {
            throw Diagnostic(
                "there is no volley.yaml here or above", remedy: "Name one with --config, or run `volley init`.")
        }
        let (project, warnings) = try Project.read(file: path)
        console.show(warnings)
        return try Channels(
            of: project.app(calledOrOnly: name), in: project, at: .now(),
            SendingContext(cancellation: Interruption.process))
    }

    private static func document(_ channels: Channels, _ members: [(String, JSONValue)]) -> JSONValue {
        .object(pairs: [("app", .string(channels.app)), ("environment", .string(channels.environment))] + members)
    }
}
