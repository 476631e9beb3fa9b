import Base
import Campaigns
import Content
import Delivery
import Glibc
import PushServices
import Reports
import Runs
import Workspace
import Sending

/// `volley push`, the test tool: sends one push, and shows the service's answer in words.
public enum PushCommand {
    /// The message to push.
    public struct Message: Sendable {
        /// The visible texts.
        public var title: String?, subtitle: String?, body: String?
        /// The name of a sound.
        public var sound: String?
        /// The number on the app's icon, as it was typed.
        public var badge: String?
        /// Whether it is a background push.
        public var isSilent = false
        /// A file with the whole payload as JSON or YAML, instead of all of the above.
        public var payloadFile: String?
        /// A newer push replaces an older one with the same id.
        public var collapseID: String?
        /// The name of the push type; nil for alert or background, as the payload shows.
        public var pushTypeName: String?
        /// The priority: high, normal or low; nil for high, or for normal with a background push.
        public var priorityName: String?
        /// When the push expires, written like `delivery.expires` of a campaign.
        public var expires: String?

        /// Creates an empty message.
        public init() {}

        /// Checks that the service has everything that the options ask for.
        /// - Throws: a `Diagnostic` for the first option that it lacks.
        func check(for service: any PushService) throws(Diagnostic) {
            let content: [(ContentKey, String, isUsed: Bool)] = [
                (.title, "--title", title != nil), (.subtitle, "--subtitle", subtitle != nil),
                (.body, "--body", body != nil),
                (.sound, "--sound", sound != nil), (.badge, "--badge", badge != nil), (.silent, "--silent", isSilent),
                (.payload, "--payload", payloadFile != nil),
            ]
            let delivery: [(DeliveryKey, String, isUsed: Bool)] = [
                (.priority, "--priority", priorityName != nil), (.expires, "--expires", expires != nil),
                (.collapse, "--collapse", collapseID != nil),
            ]
            let lacking =
                content.filter { $0.isUsed && !service.rules.contentKeys.contains($0.0) }.map {
                    (key: $0.0.rawValue, option: $0.1)
                }
                + delivery.filter { $0.isUsed && !service.rules.deliveryKeys.contains($0.0) }.map {
                    (key: $0.0.rawValue, option: $0.1)
                }
            if let first = lacking.first {
                throw Diagnostic("\(service.displayName) has no '\(first.key)'", remedy: "Omit \(first.option).")
            }
            guard let pushTypeName, !service.pushTypes.contains(where: { $0.rawValue == pushTypeName }) else { return }
            throw Diagnostic(
                "\(service.displayName) has no \(service.terms.pushType) '\(pushTypeName)'",
                remedy:
                    "Omit --push-type, or write one of: \(service.pushTypes.map(\.rawValue).joined(separator: ", ")).")
        }
    }

    /// - Parameter token: the device token in hex.
    public static func run(
        _ target: Target, token text: String, message: Message, options: CommonOptions, console: Console
    ) throws
        -> ExitStatus
    {
        Interruption.install()
        let service = try target.service(for: text, options)
        try target.checkHeaders(for: service)
        try message.check(for: service)
        try HeaderText.check(
            message.collapseID, of: "--collapse", for: service, maximumBytes: service.rules.collapseIDBytes)
        guard let token = service.target.target(text) else {
            throw Diagnostic(service.target.flaw(of: text) ?? "", remedy: service.target.remedy)
        }
        let template = try PayloadTemplate(message.content(console, service), for: service)
        console.show(template.warnings)
        guard template.columns.isEmpty else {
            throw Diagnostic(
                "a single push has no export to fill '{{ \(template.columns[0].value) }}' from",
                remedy: "Write the text out.")
        }
        var payload: [UInt8] = []
        if case .tooLarge(let bytes) = template.render([], into: &payload) {
            throw Diagnostic("the payload has \(bytes) bytes; \(template.serviceName) takes \(template.byteLimit)")
        }
        let pushType = message.pushTypeName.flatMap(PushType.init) ?? template.pushType
        var (settings, proxy) = try target.settings(pushType, service, options, console)
        settings.collapseID = message.collapseID
        if let priority = message.priorityName.flatMap(PushPriority.init(name:)) { settings.priority = priority }
        settings.expiry = try message.expires.map { try Expiry(notation: $0) }
        let route = try ProxyRoute(
            proxy, to: settings.firstService.environment, tokens: settings.service.account.tokenExchange)
        let stageOptions = console.running(options)
        let single = try SinglePush(settings, route, stageOptions.context, at: .now())
        console.show(single.warnings)
        let result = try single.send(payload, to: token, stageOptions)
        return show(result, token, settings.service, options, console)
    }

    private static func show(
        _ result: SinglePush.Result, _ token: Base.Target, _ service: any PushService, _ options: CommonOptions,
        _ console: Console
    ) -> ExitStatus {
        let (settlement, id) = (result.settlement, result.id)
        let advice = ReasonText.explanation(of: settlement.reason, by: service)
        let answer = JSONValue.object(pairs: [
            ("device_token", .string(token.redacted)),
            ("outcome", .string(settlement.outcome.name)),
            ("status", settlement.status == 0 ? .null : .integer(Int64(settlement.status))),
            ("reason", settlement.reason.isEmpty ? .null : .string(settlement.reason)),
            (service.idColumn, .string(id.description)),
            ("latency_ms", .integer(Int64(settlement.latencyMilliseconds))),
            ("advice", advice.map { .string($0) } ?? .null),
        ])
        var line = "\(token.redacted): \(settlement.outcome.name)"
        if settlement.status != 0 {
            line +=
                " (\(service.displayName) answered \(settlement.status)\(settlement.reason.isEmpty ? "" : " \(settlement.reason)"))"
        } else if !settlement.reason.isEmpty {
            line += " (\(settlement.reason))"
        }
        line += " after \(settlement.latencyMilliseconds) ms, \(service.terms.pushID) \(id)"
        // The push was sent or refused. Failing to show that does not change it.
        let shown = console.answer(
            options.isJSON ? answer.indentedText : [line, advice].compactMap(\.self).joined(separator: "\n"),
            done: "\(line).")
        switch result.end {
        case .finished: break
        case .interrupted, .cancelled: return .interrupted
        case .stopped(let cause):
            console.warn(cause.sentence)
            return .stopped
        }
        return settlement.outcome == .accepted ? shown : .doneWithFailures
    }
}

extension PushCommand.Message {
    /// Reads the number of `--badge`.
    /// - Throws: `Diagnostic`: it is not a number of 0 or more.
    static func badge(_ text: String, for service: any PushService) throws -> Int {
        if text.hasPrefix("+"), let number = Int(text) {
            throw Diagnostic(
                "\(service.displayName) cannot add to a badge, it shows the number that it is sent",
                remedy: "Write --badge \(number).")
        }
        guard let number = Int(text), number >= 0 else { throw Diagnostic("--badge takes a number of 0 or more") }
        return number
    }

    /// The message as a campaign's content.
    fileprivate func content(_ console: Console, _ service: any PushService) throws -> MessageContent {
        let place = SourcePosition(file: payloadFile ?? "volley push", line: 1, column: 1)
        var content = MessageContent(position: place)
        if let payloadFile {
            guard title == nil, subtitle == nil, body == nil, sound == nil, badge == nil, !isSilent else {
                throw Diagnostic(
                    "--payload is the whole payload; it cannot be combined with --title, --body and the like")
            }
            content.payload = try Self.payload(payloadFile, at: place, service, console)
            return content
        }
        func text(_ value: String?) -> SourceText? { value.map { SourceText($0, at: place, style: .folded) } }
        (content.title, content.subtitle, content.body, content.sound) = (
            text(title), text(subtitle), text(body), text(sound)
        )
        content.badge = try badge.map { try Self.badge($0, for: service) }
        content.isSilent = isSilent
        let hasText = [title, subtitle, body].contains { text in text.map { !Blank.isText($0) } ?? false }
        guard hasText || sound != nil || badge != nil || isSilent else {
            throw Diagnostic("there is nothing to push", remedy: "Add --title and --body, --silent, or --payload FILE.")
        }
        return content
    }
}

extension PushCommand.Message {
    /// `.yaml` and `.yml` are YAML, everything else is JSON.
    private static func payload(
        _ file: String, at place: SourcePosition, _ service: any PushService, _ console: Console
    ) throws -> ContentNode {
        if file.hasSuffix(".yaml") || file.hasSuffix(".yml") {
            let (payload, warnings) = try ContentNode.read(payloadFile: file, for: service)
            console.show(warnings)
            return payload
        }
        let read = try FilePaths.read(file)
        let bytes: [UInt8]
        do { bytes = try TextEncoding.withoutMarks(read) } catch { throw Diagnostic(error, file: file) }
        do {
            let payload = ContentNode(try JSONValue(parsing: bytes), at: place)
            guard case .object = payload else {
                throw Diagnostic(
                    "the payload is not a JSON object", file: file, remedy: "It begins with { and ends with }.")
            }
            return payload
        } catch let error as Mistake {
            throw Diagnostic(
                "the payload is not JSON: \(error.message)",
                at: SourcePosition(file: file, utf8Offset: error.utf8Offset, in: bytes),
                remedy: "A file with YAML must be named .yaml.")
        }
    }
}

extension ContentNode {
    /// Converts JSON from a file; every part gets the same position.
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
                members.map {
                    ContentMember(SourceText($0.name, at: place, style: .folded), ContentNode($0.value, at: place))
                }, place)
        }
    }
}

extension PushPriority {
    /// Reads the name as campaigns write it.
    fileprivate init?(name: String) {
        switch name {
        case "high": self = .high
        case "normal": self = .normal
        case "low": self = .low
        default: return nil
        }
    }
}
