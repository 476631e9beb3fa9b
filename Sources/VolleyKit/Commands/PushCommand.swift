import Base
import Campaigns
import Content
import Delivery
import Glibc
import Reports

/// `volley push`: one push, and APNs' answer in words. The test tool.
public enum PushCommand {
    /// What to push.
    public struct Message: Sendable {
        /// The visible texts.
        public var title: String?, subtitle: String?, body: String?
        /// aps.sound
        public var sound: String?
        /// aps.badge
        public var badge: Int?
        /// A background push.
        public var isSilent = false
        /// A file with the whole payload as JSON, instead of all of the above.
        public var payloadFile: String?
        /// apns-collapse-id
        public var collapseID: String?

        /// Nothing yet.
        public init() {}
    }

    /// - Parameters:
    ///   - app: a name below `apps` in volley.yaml.
    ///   - token: the device token in hex.
    public static func run(app name: String, token text: String, message: Message, options: CommonOptions, console: Console) throws
        -> ExitStatus
    {
        Interruption.install()
        guard let project = try Project.find(with: options) else {
            throw Diagnostic("there is no volley.yaml here or above", remedy: "Name one with --config, or run `volley init`.")
        }
        guard let app = project.app(named: name) else {
            let nearest = nearestName(to: name, among: project.apps.map(\.name.value)).map { "Did you mean '\($0)'?" }
            throw Diagnostic(
                "there is no app '\(name)'", file: project.file,
                remedy: nearest ?? "It has: \(project.apps.map(\.name.value).joined(separator: ", ")).")
        }
        guard let token = DeviceToken(text) else {
            throw Diagnostic(
                "'\(DeviceToken.redact(text))' cannot be a device token", remedy: "A token is hex digits only, an even number of them.")
        }
        let template = try PayloadTemplate(message.content())
        guard template.columns.isEmpty else {
            throw Diagnostic("a single push has no export to fill '{{ \(template.columns[0].value) }}' from", remedy: "Write the text out.")
        }
        var payload: [UInt8] = []
        if case .tooLarge(let bytes) = template.render([], into: &payload) {
            throw Diagnostic("the payload has \(bytes) bytes; APNs takes \(template.pushType.maximumPayloadBytes)")
        }
        var settings = try RunSettings(app, projectFile: project.file, pushType: template.pushType)
        settings.collapseID = message.collapseID
        let route = try Route(options.transport, app.proxy, to: settings.environment)
        return try send(token, payload, settings, route, options, console)
    }

    private static func send(
        _ token: DeviceToken, _ payload: [UInt8], _ settings: RunSettings, _ route: Route, _ options: CommonOptions, _ console: Console
    ) throws -> ExitStatus {
        let now = Timestamp.now()
        let gateway = try Gateway(settings, now: now)
        console.show(gateway.warnings)
        let seed = RunSeed.random()
        var sender = SenderSettings(
            endpoint: gateway.endpoint, credentials: gateway.credentials, headers: settings.headers(startingAt: now), runSeed: seed)
        route.apply(to: &sender)
        sender.connections = 1
        sender.retry.maximumAttempts = 1
        sender.resendsUnknown = false
        let batches = BoundedQueue<PushBatch>(capacity: 1), results = BoundedQueue<[Settlement]>(capacity: 16)
        var batch = PushBatch()
        batch.append(recipient: 0, token: token.hex, payload: payload)
        batches.put(batch)
        batches.close()
        let (delivery, control) = (try Sender(sender), SendControl())
        let loop = WorkerThread("deliver") { delivery.run(source: batches, results: results, control: control) }
        Interruption.pass(to: control, until: loop, console)
        let end = loop.join()
        _ = gateway.close()
        guard let settlement = results.take()?.first else { preconditionFailure("a push was not settled") }
        return try show(settlement, end, token, APNsID(runSeed: seed, recipient: 0), options, console)
    }

    private static func show(
        _ settlement: Settlement, _ end: SendEnd, _ token: DeviceToken, _ id: APNsID, _ options: CommonOptions, _ console: Console
    ) throws -> ExitStatus {
        if options.isJSON {
            try console.out(
                .object(pairs: [
                    ("device_token", .string(token.redacted)),
                    ("outcome", .string(settlement.outcome.name)),
                    ("status", settlement.status == 0 ? .null : .integer(Int64(settlement.status))),
                    ("reason", settlement.reason.isEmpty ? .null : .string(settlement.reason)),
                    ("apns_id", .string(id.description)),
                    ("latency_ms", .integer(Int64(settlement.latencyMilliseconds))),
                ]))
        } else {
            var line = "\(token.redacted): \(settlement.outcome.name)"
            if settlement.status != 0 {
                line += " (APNs answered \(settlement.status)\(settlement.reason.isEmpty ? "" : " \(settlement.reason)"))"
            }
            try console.out("\(line) after \(settlement.latencyMilliseconds) ms, apns-id \(id)")
            if let advice = APNsReason.explanation(of: settlement.reason) { console.say(advice) }
        }
        switch end {
        case .finished: break
        case .interrupted: return .interrupted
        case .stopped(let reason):
            console.warn(reason)
            return .stopped
        }
        return settlement.outcome == .accepted ? .done : .doneWithFailures
    }
}

extension PushCommand.Message {
    /// The message as a campaign's content.
    fileprivate func content() throws -> MessageContent {
        let place = SourcePosition(file: payloadFile ?? "volley push", line: 1, column: 1)
        var content = MessageContent(position: place)
        if let payloadFile {
            guard title == nil, subtitle == nil, body == nil, sound == nil, badge == nil, !isSilent else {
                throw Diagnostic("--payload is the whole payload; it cannot be combined with --title, --body and the like")
            }
            do {
                content.payload = ContentNode(try JSONValue(parsing: try FilePaths.read(payloadFile)), at: place)
            } catch let error as JSONSyntaxError {
                throw Diagnostic("the payload is not JSON: \(error)", file: payloadFile)
            }
            guard case .object = content.payload else { throw Diagnostic("the payload is not a JSON object", file: payloadFile) }
            return content
        }
        func text(_ value: String?) -> SourceText? { value.map { SourceText($0, at: place, style: .folded) } }
        (content.title, content.subtitle, content.body, content.sound) = (text(title), text(subtitle), text(body), text(sound))
        content.badge = badge
        content.isSilent = isSilent
        guard title != nil || subtitle != nil || body != nil || sound != nil || badge != nil || isSilent else {
            throw Diagnostic("there is nothing to push", remedy: "Add --title and --body, --silent, or --payload FILE.")
        }
        return content
    }
}

extension ContentNode {
    /// JSON from a file, all of it at one place.
    fileprivate init(_ value: JSONValue, at place: SourcePosition) {
        switch value {
        case .null: self = .null(place)
        case .bool(let flag): self = .bool(flag, place)
        case .integer(let number): self = .integer(number, place)
        case .double(let number): self = .double(number, place)
        case .string(let text): self = .text(SourceText(text, at: place, style: .folded))
        case .array(let values): self = .array(values.map { ContentNode($0, at: place) }, place)
        case .object(let members):
            self = .object(
                members.map { ContentMember(SourceText($0.name, at: place, style: .folded), ContentNode($0.value, at: place)) }, place)
        }
    }
}
