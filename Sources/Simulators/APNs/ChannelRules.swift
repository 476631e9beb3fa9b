import Base

/// Decides how APNs would answer requests about broadcast channels: those that make, read, list and
/// delete them, and broadcasts.
///
/// Where Apple's documentation leaves it open: a broadcast without `apns-expiration` is
/// BadExpirationDate, priority 1 is BadPriority, and one that starts an activity is
/// InvalidPushType. Both servers of Apple are one port here.
struct ChannelRules {
    static let channelHeader: StaticString = "apns-channel-id", requestIDHeader: StaticString = "apns-request-id"
    private static let broadcastPath: StaticString = "/4/broadcasts/apps/", managementPath: StaticString = "/1/apps/"

    /// What a request is about.
    enum Subject {
        case broadcast(bundle: String)
        case channels(bundle: String)
        case allChannels(bundle: String)
    }

    /// What each channel keeps (0 nothing, 1 the newest), by its id, for each bundle id.
    private var channels: [String: [String: Int64]] = [:]
    /// Whether every well-formed id is a channel.
    private let knowsAll: Bool
    private var fixed: [String: SimulatedAnswer]

    private static let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")
    private static let mostChannels = 10_000, mostPayloadBytes = 5120
    private static let longestStorageSeconds: Int64 = 8 * 3600

    init(_ configuration: SimulatorConfiguration) {
        knowsAll = configuration.knowsAllChannels
        fixed = configuration.faults.answers
    }

    /// Whether a request may be a broadcast or a push to a device, and manages no channels.
    static func isPush(_ request: PushRequest) -> Bool {
        !(request[.path]?.starts(with: managementPath.bytes) ?? false)
    }

    /// What a request is about; nil for a request that is not about channels.
    static func subject(of request: PushRequest) -> Subject? {
        guard let path = request[.path] else { return nil }
        func rest(_ start: StaticString) -> [Substring]? {
            guard path.starts(with: start.bytes) else { return nil }
            return String(decoding: path.dropFirst(start.bytes.count), as: UTF8.self).split(
                separator: "/", omittingEmptySubsequences: false)
        }
        if let parts = rest(broadcastPath) { return parts.count == 1 ? .broadcast(bundle: String(parts[0])) : nil }
        guard let parts = rest(managementPath), parts.count == 2 else { return nil }
        switch parts[1] {
        case "channels": return .channels(bundle: String(parts[0]))
        case "all-channels": return .allChannels(bundle: String(parts[0]))
        default: return nil
        }
    }

    // MARK: Broadcasts

    /// The refusal of a broadcast by its headers; nil if they are right.
    func headerRefusal(of request: PushRequest, bundle: String, now: Timestamp) -> Answer? {
        guard Self.text(request[.method]) == "POST" else { return Answer(status: 405, reason: "MethodNotAllowed") }
        guard let type = Self.text(request[.pushType]) else { return .badRequest("MissingPushType") }
        guard type == "liveactivity" else { return .badRequest("InvalidPushType") }
        guard let priority = Self.text(request[.priority]), ["5", "10"].contains(priority) else {
            return .badRequest("BadPriority")
        }
        guard let expiration = Self.text(request[.expiration]).flatMap(Int64.init), expiration >= 0 else {
            return .badRequest("BadExpirationDate")
        }
        let (id, refusal) = channel(of: request, bundle: bundle)
        if let refusal { return refusal }
        let keeps = channels[bundle]?[id] ?? 1
        guard expiration == 0 || keeps == 1 && expiration <= now.epochSeconds + Self.longestStorageSeconds else {
            return .badRequest("BadExpirationDate")
        }
        return nil
    }

    /// The refusal of a broadcast by its payload; nil if it is right.
    func payloadRefusal(of request: PushRequest) -> Answer? {
        guard request.payloadBytes > 0 else { return .badRequest("PayloadEmpty") }
        guard request.payloadBytes <= Self.mostPayloadBytes else {
            return Answer(status: 413, reason: "PayloadTooLarge")
        }
        guard let payload = try? JSONValue(parsing: Array(request.payload)), case .object? = payload["aps"] else {
            return .badRequest("PayloadEmpty")
        }
        return ["update", "end"].contains(payload["aps"]?["event"]?.stringValue) ? nil : .badRequest("InvalidPushType")
    }

    /// The answer that a test gave a channel; nil without one.
    mutating func fixedAnswer(to request: PushRequest) -> Answer? {
        let id = request.own(Self.channelHeader).map { String(decoding: $0, as: UTF8.self) } ?? ""
        guard var answer = fixed[id], answer.times != 0 else { return nil }
        answer.times = answer.times.map { $0 - 1 }
        fixed[id] = answer
        return Answer(status: answer.status, reason: answer.reason)
    }

    // MARK: Channels

    /// The answer to a request that manages channels, whose sender may do so.
    mutating func manage(_ request: PushRequest, _ subject: Subject) -> Answer {
        let method = Self.text(request[.method])
        switch (subject, method) {
        case (.allChannels(let bundle), "GET"):
            let ids = (channels[bundle] ?? [:]).keys.sorted().map { JSONValue.string($0) }
            request.answerText = Array(JSONValue.object(pairs: [("channels", .array(ids))]).text.utf8)
            return Answer(status: 200, reason: "")
        case (.channels(let bundle), "POST"): return create(request, bundle: bundle)
        case (.channels(let bundle), "GET"):
            let (id, refusal) = channel(of: request, bundle: bundle)
            if let refusal { return refusal }
            request.answerText = Array(
                JSONValue.object(pairs: [
                    ("message-storage-policy", .integer(channels[bundle]?[id] ?? 1)),
                    ("push-type", .string("LiveActivity")),
                ]).text.utf8)
            return Answer(status: 200, reason: "")
        case (.channels(let bundle), "DELETE"):
            let (id, refusal) = channel(of: request, bundle: bundle)
            if let refusal { return refusal }
            channels[bundle]?[id] = nil
            return Answer(status: 204, reason: "")
        default: return Answer(status: 405, reason: "MethodNotAllowed")
        }
    }

    private mutating func create(_ request: PushRequest, bundle: String) -> Answer {
        guard let body = try? JSONValue(parsing: Array(request.payload)), let type = body["push-type"]?.stringValue
        else {
            return .badRequest("MissingPushType")
        }
        guard type == "LiveActivity" else { return .badRequest("InvalidPushType") }
        guard let policy = body["message-storage-policy"]?.integerValue, [0, 1].contains(policy),
            channels[bundle]?.count ?? 0 < Self.mostChannels
        else { return .badRequest("CannotCreateChannelConfig") }
        // 16 bytes in base64, as APNs' are.
        let id = String((0..<22).map { _ in Self.digits[Int.random(in: Self.digits.indices)] }) + "=="
        channels[bundle, default: [:]][id] = policy
        request.answerFields = [AnswerField(name: Self.channelHeader, value: id)]
        return Answer(status: 201, reason: "")
    }

    /// The channel that a request names, or why it names none.
    private func channel(of request: PushRequest, bundle: String) -> (id: String, refusal: Answer?) {
        guard let value = request.own(Self.channelHeader), !value.isEmpty else {
            return ("", .badRequest("MissingChannelId"))
        }
        let id = String(decoding: value, as: UTF8.self)
        guard id.wholeMatch(of: /[A-Za-z0-9+\/]+={0,2}/) != nil, value.count % 4 == 0 else {
            return (id, .badRequest("BadChannelId"))
        }
        return (id, knowsAll || channels[bundle]?[id] != nil ? nil : .badRequest("ChannelNotRegistered"))
    }

    private static func text(_ value: UnsafeBufferPointer<UInt8>?) -> String? {
        value.map { String(decoding: $0, as: UTF8.self) }
    }
}

extension RequestChecker {
    /// Decides the answer to a request about channels.
    mutating func check(
        _ request: PushRequest, about subject: ChannelRules.Subject, hasPayload: Bool, trust: inout ConnectionTrust,
        now: Timestamp
    ) -> Answer {
        if let id = request[.id], !Self.isLowerCaseUUID(id) { return .badRequest("BadMessageId") }
        if request.hasDuplicateHeader { return .badRequest("DuplicateHeaders") }
        let bundle: String
        switch subject {
        case .broadcast(let name), .channels(let name), .allChannels(let name): bundle = name
        }
        guard knows(bundle) else { return .badRequest("TopicDisallowed") }
        guard case .broadcast = subject else {
            request.kind = .other
            return authorizationRefusal(of: request, trust: &trust, now: now) ?? channels.manage(request, subject)
        }
        if let refusal = channels.headerRefusal(of: request, bundle: bundle, now: now) { return refusal }
        if let refusal = authorizationRefusal(of: request, trust: &trust, now: now) { return refusal }
        if hasPayload, let refusal = channels.payloadRefusal(of: request) { return refusal }
        return channels.fixedAnswer(to: request) ?? .accepted
    }
}
