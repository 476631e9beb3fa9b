public import Base

/// Requests to JPush. Source: docs.jiguang.cn, "Push API v3".
extension JPush {
    /// A POST that names the devices.
    public func request(_ options: PushOptions) -> RequestTemplate { template("/v3/push", options) }

    /// JPush checks it as it checks a push, and sends nothing.
    public func probeRequest(_ options: PushOptions) -> RequestTemplate { template("/v3/push/validate", options) }

    /// A request to an audience that JPush keeps.
    func audienceRequest(_ path: String, _ options: PushOptions) -> RequestTemplate { template(path, options, .own) }

    private func template(_ path: String, _ options: PushOptions, _ kind: JPushRequestBody.Audience = .devices)
        -> RequestTemplate
    {
        let body = JPushRequestBody(options, kind)
        return RequestTemplate(
            pathPrefix: path, headers: [.init("content-type", value: "application/json")], idHeader: Self.idHeader
        ) { call, now, bytes in body.append(call, now: now, to: &bytes) }
    }

    /// A notification for both systems, with the campaign's own data in it.
    public func payload(of content: MessageContent) -> PayloadDraft { JPushPayload.draft(of: content) }

    /// There is no payload that is written by hand.
    public func lint(payload: [ContentMember]) -> PayloadLint { PayloadLint() }

    /// No device has such a registration id, which begins with zeros.
    public var probe: ProbePush {
        ProbePush(
            target: String(repeating: "0", count: 19),
            payload: JPushRequestBody.opening + "\"alert\":\"Volley\"}}" + JPushRequestBody.options
                + JPushRequestBody.end)
    }
}

/// Puts the devices, and what all pushes of a run have in common, around a payload.
///
/// Payloads have a fixed beginning and a fixed end (`JPushPayload`), so that neither needs to be
/// searched: `{"cid":"…","audience":{"registration_id":[…]},"notification":{"android":{` priority
/// …`},…},…,"options":{`… time to live, … `}}`, or `…,"live_activity":{"ios":{"apns-priority":`
/// priority `,` times …`}},"platform":"all","options":{`….
struct JPushRequestBody: Sendable {
    static let opening = "{\"notification\":{\"android\":{", options = ",\"platform\":\"all\",\"options\":{", end = "}}"
    static let priorityKey = "apns-priority"
    private static let activityOpening = "{\"live_activity\":{\"ios\":{\"\(priorityKey)\":"
    /// The bytes of a payload around `ios` of a Live Activity.
    static let aroundActivity = "{\"live_activity\":{\"ios\":}".utf8.count + options.utf8.count + end.utf8.count
    /// Three days. Source: docs.jiguang.cn, "Push API v3", options.
    static let longestSeconds: Int64 = 259_200
    /// A day, for pushes without a time to live. Source: as above.
    static let usualSeconds: Int64 = 86_400

    /// Members without their braces, as JSON; with a comma behind them for the notification of
    /// Android, which has others.
    private let android: [UInt8], options: [UInt8]
    private let expiration: Int64?
    private let audience: Audience
    /// The priority of a Live Activity.
    private let activityPriority: Int

    /// What its targets are.
    enum Audience {
        /// Registration ids.
        case devices
        /// One call to an audience that JPush keeps.
        case own
    }

    init(_ options: PushOptions, _ audience: Audience = .devices) {
        self.audience = audience
        expiration = options.expiration
        activityPriority = options.priority.rawValue
        android = Self.priority(options.priority).map { Array("\"priority\":\($0),".utf8) } ?? []
        // JPush and its SDKs disagree about what holds if it is not there.
        var members: [(String, JSONValue)] = [("apns_production", .bool(options.isProduction))]
        if let collapseID = options.collapseID { members.append(("apns_collapse_id", .string(collapseID))) }
        var bytes: [UInt8] = []
        JSONValue.object(pairs: members).append(to: &bytes)
        self.options = Array(bytes.dropFirst().dropLast())
    }

    /// How Android ranks the notification, from −2 to 2; nil for the usual rank.
    private static func priority(_ priority: PushPriority) -> Int? {
        switch priority {
        case .low: -2
        case .normal: -1
        case .high: nil
        }
    }

    /// - Parameters:
    ///   - call: at least one push, all with the same payload.
    ///   - now: epoch seconds.
    func append(_ call: RequestCall, now: Int64, to bytes: inout [UInt8]) {
        guard let payload = call.first?.payload else { return }
        let isActivity = payload.starts(with: Self.activityOpening.utf8)
        let opening = isActivity ? Self.activityOpening : Self.opening
        precondition(payload.starts(with: opening.utf8), "payloads begin as JPushPayload has them written")
        bytes.append(UInt8(ascii: "{"))
        if let name = call.name {
            bytes += "\"cid\":".utf8
            JSONWriter.appendString(name, to: &bytes)
            bytes.append(UInt8(ascii: ","))
        }
        bytes += "\"audience\":".utf8
        switch audience {
        case .devices: appendDevices(call, to: &bytes)
        case .own: appendOwn(call, to: &bytes)
        }
        bytes.append(UInt8(ascii: ","))
        bytes += opening.utf8.dropFirst()
        var rest = payload.dropFirst(opening.utf8.count).dropLast(Self.end.utf8.count)
        if isActivity {
            bytes += String(activityPriority).utf8
            // The zero that has its place.
            rest = rest.dropFirst()
            ActivityStamp.appendTimes(of: &rest, now: now, to: &bytes)
        } else {
            bytes += android
        }
        bytes += rest
        if rest.last != UInt8(ascii: "{") { bytes.append(UInt8(ascii: ",")) }
        bytes += options
        if let expiration { bytes += ",\"time_to_live\":\(min(max(0, expiration - now), Self.longestSeconds))".utf8 }
        bytes += Self.end.utf8
    }

    private func appendDevices(_ call: RequestCall, to bytes: inout [UInt8]) {
        bytes += "{\"registration_id\":[".utf8
        for (index, push) in call.enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            bytes.append(UInt8(ascii: "\""))
            bytes += push.target
            bytes.append(UInt8(ascii: "\""))
        }
        bytes += "]}".utf8
    }

    private func appendOwn(_ call: RequestCall, to bytes: inout [UInt8]) {
        guard let own = call.first.flatMap({ AudienceCall(target: $0.target) }) else {
            preconditionFailure("a run to audiences of JPush has calls for targets")
        }
        let key: String? =
            switch own.selector {
            case nil: nil
            case .tags: "tag"
            case .aliases: "alias"
            case .registrationIDs: "registration_id"
            case .channel: preconditionFailure("JPush has no channels")
            }
        let value = key.map { JSONValue.object(pairs: [($0, .array(own.names.map { .string($0) }))]) } ?? .string("all")
        value.append(to: &bytes)
    }
}
