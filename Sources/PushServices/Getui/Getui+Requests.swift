public import Base

/// Requests to Getui. Source: docs.getui.com, RestAPI V2, "push": batches of single pushes by cid.
extension Getui {
    static let headers = [RequestTemplate.Header("content-type", value: "application/json;charset=utf-8")]

    /// A POST with up to 200 messages, or to the devices of a list.
    public func request(_ options: PushOptions) -> RequestTemplate {
        let message = GetuiMessage(options)
        guard usesLists else {
            return RequestTemplate(
                pathPrefix: "/v2/\(options.topic)/push/single/batch/cid", headers: Self.headers,
                idHeader: Self.idHeader,
                body: message.appendBatch)
        }
        return RequestTemplate(
            pathPrefix: "/v2/\(options.topic)/push/", headers: Self.headers, idHeader: Self.idHeader,
            body: { call, now, bytes in
                if let task = call.name {
                    GetuiList.append(call, task: task, to: &bytes)
                } else {
                    message.appendBatch(call, now: now, to: &bytes)
                }
            }, pathEnd: { $0.name == nil ? "single/batch/cid" : "list/cid" },
            keptTexts: GetuiList.texts(options, message))
    }

    /// A message with the campaign's own data in it.
    public func payload(of content: MessageContent) -> PayloadDraft { GetuiPayload.draft(of: content) }

    /// No device has this client id.
    public var probe: ProbePush {
        ProbePush(
            target: String(repeating: "0", count: Self.digits),
            payload: GetuiMessage.opening + GetuiPayload.strategyText(.appleOnly)
                + "},\"push_message\":{\"transmission\":\"{}\"}}")
    }
}

/// Puts the target of a push, and what all pushes of a run have in common, into a payload.
///
/// Payloads have a fixed order (`GetuiPayload`), so that nothing in them needs to be parsed:
/// `{"settings":{` time to live … `"strategy":{…}},"push_channel":{"ios":{` collapse id
/// …`},"android":{"ups":{"notification":{` number … `}}},"harmony":{"notification":{` number
/// …`}}},"push_message":{…` number of the notification `}}}`. `push_channel`, its parts and the
/// notification need not be there.
struct GetuiMessage: Sendable {
    static let opening = "{\"settings\":{"
    private static let openingOfChannel = ",\"push_channel\":{"
    private static let endOfSettings = "}}", openingOfIOS = openingOfChannel + "\"ios\":{", endOfNotification = "}}}"
    /// No text can hold these, as quotes in texts are escaped.
    private static let openingsOfMakers = [",", openingOfChannel].flatMap { before in
        ["\"android\":{\"ups\":{\"notification\":{", "\"harmony\":{\"notification\":{"].map { before + $0 }
    }
    /// Three days, in seconds. Source: docs.getui.com, "push", settings.
    static let longestSeconds: Int64 = 259_200
    /// How long a message lives that names no time: two hours. Source: as above.
    static let usualSeconds: Int64 = 7200

    /// What is between the request's id and the target, and the members for the two systems, as
    /// JSON.
    private let label: [UInt8], apnsCollapse: [UInt8], androidCollapse: [UInt8]
    private let expiration: Int64?

    init(_ options: PushOptions) {
        expiration = options.expiration
        label = options.label.isEmpty ? [] : Array("\"group_name\":\"\(options.label)\",".utf8)
        guard let id = options.collapseID else {
            (apnsCollapse, androidCollapse) = ([], [])
            return
        }
        var text = Array("\"apns-collapse-id\":".utf8)
        JSONWriter.appendString(id, to: &text)
        apnsCollapse = text
        androidCollapse = Array(",\"notify_id\":\(Self.number(of: id))".utf8)
    }

    /// The number by which Android replaces a notification: the same for the same id. Source:
    /// docs.getui.com, "push": 0 to 2³¹ − 1.
    static func number(of collapseID: String) -> UInt32 {
        // FNV-1a.
        collapseID.utf8.reduce(2_166_136_261 as UInt32) { ($0 ^ UInt32($1)) &* 16_777_619 } & 0x7FFF_FFFF
    }

    /// A message for each push, with its own text.
    /// - Parameter now: epoch seconds.
    @Sendable func appendBatch(_ pushes: RequestCall, now: Int64, to bytes: inout [UInt8]) {
        // An answer to a request that is not waited for says nothing about its targets.
        bytes += "{\"is_async\":false,\"msg_list\":[".utf8
        var isFirst = true
        for push in pushes {
            if !isFirst { bytes.append(UInt8(ascii: ",")) }
            isFirst = false
            append(push, now: now, to: &bytes)
        }
        bytes += "]}".utf8
    }

    private func append(_ push: RequestPush, now: Int64, to bytes: inout [UInt8]) {
        appendStart(of: push, to: &bytes)
        bytes += "{\"cid\":[\"".utf8
        bytes += push.target
        bytes += "\"]},".utf8
        appendContent(push.payload, now: now, to: &bytes)
    }

    /// A message to an audience that Getui keeps.
    /// - Parameter now: epoch seconds.
    func append(_ push: RequestPush, audience: JSONValue, now: Int64, to bytes: inout [UInt8]) {
        appendStart(of: push, to: &bytes)
        audience.append(to: &bytes)
        bytes.append(UInt8(ascii: ","))
        appendContent(push.payload, now: now, to: &bytes)
    }

    /// A message up to its audience.
    private func appendStart(of push: RequestPush, to bytes: inout [UInt8]) {
        bytes += "{\"request_id\":\"".utf8
        Self.appendName(of: push, to: &bytes)
        bytes += "\",".utf8
        bytes += label
        bytes += "\"audience\":".utf8
    }

    /// A message without an audience.
    /// - Parameter now: epoch seconds.
    func appendMessage(_ payload: ArraySlice<UInt8>, now: Int64, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "{"))
        bytes += label
        appendContent(payload, now: now, to: &bytes)
    }

    /// The payload, with what all pushes of a run have in common in it, and the brace that ends the
    /// message.
    private func appendContent(_ payload: ArraySlice<UInt8>, now: Int64, to bytes: inout [UInt8]) {
        precondition(payload.starts(with: Self.opening.utf8), "payloads begin as GetuiPayload has them written")
        bytes += Self.opening.utf8.dropFirst()
        if let expiration {
            // Milliseconds; −1 is for devices that are online now.
            bytes += "\"ttl\":\(expiration <= now ? -1 : min(expiration - now, Self.longestSeconds) * 1000),".utf8
        }
        let rest = payload.dropFirst(Self.opening.utf8.count)
        if apnsCollapse.isEmpty { bytes += rest } else { appendCollapsing(rest, to: &bytes) }
    }

    private func appendCollapsing(_ payload: ArraySlice<UInt8>, to bytes: inout [UInt8]) {
        var rest = payload
        // The strategy is the last of the settings, and holds numbers alone.
        let brace = UInt8(ascii: "}")
        let end = rest.indices.dropLast().first { rest[$0] == brace && rest[$0 + 1] == brace }
        guard let end else { preconditionFailure("payloads have settings as GetuiPayload has them written") }
        bytes += rest[..<(end + 2)]
        rest = rest[(end + 2)...]
        if rest.starts(with: Self.openingOfIOS.utf8) {
            bytes += Self.openingOfIOS.utf8
            rest = rest.dropFirst(Self.openingOfIOS.utf8.count)
            bytes += apnsCollapse
            if rest.first != brace { bytes.append(UInt8(ascii: ",")) }
        }
        for opening in Self.openingsOfMakers {
            guard let end = Self.end(of: opening, in: rest) else { continue }
            bytes += rest[..<end]
            bytes += androidCollapse.dropFirst()
            rest = rest[end...]
            if rest.first != brace { bytes.append(UInt8(ascii: ",")) }
        }
        // A transmission is a text: only a notification ends in three braces.
        guard rest.suffix(3).elementsEqual(Self.endOfNotification.utf8) else {
            bytes += rest
            return
        }
        bytes += rest.dropLast(3)
        bytes += androidCollapse
        bytes += Self.endOfNotification.utf8
    }

    /// Where what follows an opening begins; nil if it is not there.
    private static func end(of opening: String, in bytes: ArraySlice<UInt8>) -> Int? {
        let opening = Array(opening.utf8)
        var start = bytes.startIndex
        while let place = bytes[start...].firstIndex(of: opening[0]) {
            if bytes[place...].starts(with: opening) { return place + opening.count }
            start = place + 1
        }
        return nil
    }

    /// 32 hex digits that no other push of any run has: those of the push's id, changed by its
    /// generation in the half that all pushes of a run share.
    static func appendName(of push: RequestPush, to bytes: inout [UInt8]) {
        for half in [push.id.high ^ UInt64(push.generation) << 16, push.id.low] {
            for shift in stride(from: 60, through: 0, by: -4) {
                let digit = UInt8(truncatingIfNeeded: half >> UInt64(shift) & 15)
                bytes.append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") - 10 + digit)
            }
        }
    }
}

/// Lists: Getui is handed a text once (`/push/list/message`) and keeps it as a task, to which up to
/// 1,000 devices are then named at a time (`/push/list/cid`). The text does not travel again, but a
/// list has no `request_id`: Getui does not recognize one that comes again.
/// Source: docs.getui.com, RestAPI V2, "push", toList; the SDK for Java, `PushApi.createMsg` and
/// `pushListByCid`.
extension Getui {
    /// The key that has lists sent.
    static let lists = AccountSwitch(
        "lists",
        description:
            "Whether more than 200 devices that share a text get it as a list of up to 1,000. That is faster, but Getui does not recognize a "
            + "list that comes again: where an answer is lost, up to 1,000 devices are unknown.")

    /// The switches that are on.
    public var switchedOn: Set<String> { usesLists ? [Self.lists.key] : [] }

    /// Getui with lists, or without.
    public func switched(on names: Set<String>) -> any PushService { Getui(usesLists: names.contains(Self.lists.key)) }
}

/// The requests of lists.
enum GetuiList {
    private static let shortestSeconds = 60.0

    /// The devices of a list.
    /// - Parameter task: the id that Getui gave the text.
    static func append(_ call: RequestCall, task: String, to bytes: inout [UInt8]) {
        bytes += "{\"audience\":{\"cid\":[".utf8
        for (index, push) in call.enumerated() {
            bytes += (index == 0 ? "\"" : ",\"").utf8
            bytes += push.target
            bytes.append(UInt8(ascii: "\""))
        }
        bytes += "]},\"taskid\":".utf8
        JSONWriter.appendString(task, to: &bytes)
        bytes += ",\"is_async\":false}".utf8
    }

    /// How Getui is handed texts. It keeps one for as long as the message lives; a tenth of that is
    /// left for requests that wait.
    static func texts(_ options: PushOptions, _ message: GetuiMessage) -> KeptTexts {
        let expiration = options.expiration
        return KeptTexts(
            path: "/v2/\(options.topic)/push/list/message",
            body: { payload, now, bytes in message.appendMessage(payload, now: now, to: &bytes) },
            usableSeconds: { now in
                let lifetime =
                    expiration.map { min($0 - now, GetuiMessage.longestSeconds) } ?? GetuiMessage.usualSeconds
                return max(shortestSeconds, Double(lifetime) * 0.9)
            },
            read: { body in body["code"] == .integer(0) ? body["data"]?["taskid"]?.stringValue : nil })
    }
}
