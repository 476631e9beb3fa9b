public import Base
public import Campaigns
import Delivery
public import PushServices
import Runs
import Workspace

/// The broadcast channels of an app: makes, lists and deletes them at the service, and sends
/// nothing to a device.
public struct Channels: Sendable {
    /// A channel.
    public struct Channel: Sendable {
        /// As the service writes it.
        public var id: String
        /// What it keeps; nil if that was not read.
        public var storage: ChannelStorage?
    }

    /// How many channels of a list are read one by one.
    public static let mostRead = 100

    /// The app, where its channels are, and the service that has them, for people.
    public let app: String, environment: String, service: String
    private let settings: RunSettings
    private let rules: BroadcastRules
    private let topic: String
    private let setting: ProxySetting?
    private let now: Timestamp
    private let context: SendingContext

    /// - Throws: a `Diagnostic` if the app has no service with channels, or goes to the simulator
    ///   inside Volley.
    public init(of app: App, in project: Project, at now: Timestamp, _ context: SendingContext) throws {
        guard let broadcasting = PushServices.broadcasting, let rules = broadcasting.ownAudience?.broadcasts,
            let through = app.sending(toAudiencesOf: broadcasting.name)
        else {
            let name = PushServices.broadcasting?.displayName ?? ""
            throw Diagnostic(
                "the app '\(app.name.value)' does not use \(name), and only \(name) has broadcast channels",
                at: app.name.position,
                remedy: "Name another app with --app, or add \(name) to this one in volley.yaml.")
        }
        settings = try RunSettings(through, projectFile: project.file, pushType: .alert)
        guard settings.firstService.environment.address != nil else {
            throw Diagnostic(
                "the simulator inside Volley ends with each run and keeps no channels; a campaign may name any there",
                at: app.name.position, remedy: "`volley simulate` starts one that stays.")
        }
        (self.app, environment, service) = (
            app.name.value, settings.firstService.environment.name, broadcasting.displayName
        )
        (self.rules, topic, setting, self.now, self.context) = (
            rules, settings.firstService.topic, app.proxy, now, context
        )
    }

    /// Makes a channel.
    /// - Returns: its id.
    public func create(_ storage: ChannelStorage) throws -> String {
        try withQuery { query in
            guard let id = try ask(query, .create(storage)).channel.flatMap(rules.id) else {
                throw Diagnostic(
                    "\(service) made a channel, but its answer does not name it",
                    remedy: "`volley channels list` shows it.")
            }
            return id
        }
    }

    /// All channels of the app, in the service's order. What they keep is read for the first
    /// `mostRead`.
    public func list() throws -> [Channel] {
        try withQuery { query in
            guard let ids = try ask(query, .list).json.flatMap(rules.ids) else { throw unreadable }
            return try ids.enumerated().map { number, id in
                if context.cancellation?.isRequested == true { throw CancellationError() }
                guard number < Self.mostRead else { return Channel(id: id) }
                return Channel(id: id, storage: try ask(query, .read(id)).json.flatMap(rules.storage))
            }
        }
    }

    /// Deletes a channel for good.
    public func delete(_ id: String) throws {
        let known = try checked(id)
        _ = try withQuery { try ask($0, .delete(known)) }
    }

    /// What a channel keeps.
    /// - Throws: a `Diagnostic` that says why it is not known; with the service's reason if there
    ///   is no such channel.
    public func storage(of id: String) throws -> ChannelStorage {
        let known = try checked(id)
        return try withQuery { query in
            guard let storage = try ask(query, .read(known)).json.flatMap(rules.storage) else { throw unreadable }
            return storage
        }
    }

    /// The step of `volley doctor` about a channel.
    public func step(_ id: String) -> CheckStep {
        do {
            let keeps =
                try storage(of: id) == .nothing
                ? "nothing for phones that are off" : "the newest broadcast for phones that are off"
            return .ok("channel", message: "\(id) exists and keeps \(keeps)")
        } catch {
            var mistake = Diagnostic(explaining: error)
            mistake.message = "\(id): \(mistake.message)"
            return .failed("channel", mistake)
        }
    }

    private func checked(_ id: String) throws(Diagnostic) -> String {
        guard let known = rules.id(id) else {
            let shown = TextFormat.foreign(id, maximumBytes: 60)
            throw Diagnostic(
                "'\(shown)' is not the id of a channel", remedy: "Copy a whole id from `volley channels list`.")
        }
        return known
    }

    private var unreadable: Diagnostic {
        Diagnostic("the answer of \(service) cannot be read", remedy: "Try again later.")
    }

    /// The server that manages the channels.
    private var manager: (host: String, port: Int)? {
        if case .named(let environment) = settings.firstService.environment { rules.manager(environment) } else { nil }
    }

    private func withQuery<Result>(_ body: (ServiceQuery) throws -> Result) throws -> Result {
        var place = settings.firstService.environment
        if let manager { place = .server(host: manager.host, port: manager.port, certificateAuthority: nil) }
        let route = try ProxyRoute(setting, to: place)
        let gateway = try Gateway(settings, context, proxy: route.tokenProxyURL, now: now)
        defer { _ = gateway.close() }
        let endpoint = manager.map { Endpoint(host: $0.host, port: $0.port) } ?? gateway.endpoint
        var sender = SenderSettings(
            settings.service, endpoint: endpoint, credentials: gateway.credentials,
            options: settings.options(startingAt: now),
            runSeed: .random())
        route.apply(to: &sender)
        return try body(ServiceQuery(sender))
    }

    private func ask(_ query: ServiceQuery, _ deed: ChannelDeed) throws -> ServiceQuery.Reply {
        let request = rules.request(deed, topic), reply: ServiceQuery.Reply
        do { reply = try query.ask(request) } catch {
            var mistake = Diagnostic(explaining: error)
            if let manager {
                mistake.remedy =
                    "Channels are managed at \(manager.host), port \(manager.port): a firewall must leave that open. Otherwise try again later."
            }
            throw mistake
        }
        guard reply.status != request.goodStatus else { return reply }
        throw Diagnostic(
            "\(service) answered \(reply.status) \(reply.reasonText)",
            remedy: settings.service.advice(status: reply.status, reason: reply.reason))
    }
}
