public import Base

/// Requests to APNs and the answers to them. Source: Apple, "Sending notification requests to
/// APNs", "Handling notification responses from APNs".
extension APNs {
    /// A POST to `/3/device/TOKEN` with the headers of the push.
    public func request(_ options: PushOptions) -> RequestTemplate {
        var headers = [
            RequestTemplate.Header("apns-topic", value: options.topic),
            .init(Self.pushTypeHeader, value: options.pushType.rawValue),
            .init("apns-priority", value: String(options.priority.rawValue)),
        ]
        if let expiration = options.expiration { headers.append(.init("apns-expiration", value: String(expiration))) }
        if let collapseID = options.collapseID { headers.append(.init(Self.collapseHeader, value: collapseID)) }
        guard options.pushType == .liveactivity else {
            return RequestTemplate(pathPrefix: "/3/device/", headers: headers, idHeader: Self.idHeader)
        }
        return RequestTemplate(
            pathPrefix: "/3/device/", headers: headers, idHeader: Self.idHeader,
            body: { call, now, bytes in
                if let push = call.first { ActivityStamp.append(push.payload, now: now, to: &bytes) }
            }, pathEnd: { $0.first.map { String(decoding: $0.target, as: UTF8.self) } ?? "" })
    }

    /// `{"reason": "Unregistered", "timestamp": 1700000000000}`
    public func details(of body: JSONValue) -> AnswerDetails {
        var details = AnswerDetails()
        details.reason = body["reason"]?.stringValue ?? ""
        // A time outside the years that `Timestamp` can write is ignored.
        if let milliseconds = body["timestamp"]?.integerValue, (0...253_402_300_799_999).contains(milliseconds) {
            details.invalidSince = Timestamp(epochMilliseconds: milliseconds)
        }
        return details
    }

    /// Device tokens are random; no device has one of only zeros.
    public var probe: ProbePush { ProbePush(target: String(repeating: "0", count: 64), payload: "{\"aps\":{}}") }

    /// Source: Apple, "Sending notification requests to APNs", apns-topic.
    public func topicSuffix(of type: PushType) -> String {
        switch type {
        case .alert, .background, .mdm: ""
        case .voip: ".voip"
        case .complication: ".complication"
        case .fileprovider: ".pushkit.fileprovider"
        case .location: ".location-query"
        case .liveactivity: ".push-type.liveactivity"
        case .pushtotalk: ".voip-ptt"
        case .widgets: ".push-type.widgets"
        case .controls: ".push-type.controls"
        }
    }

    /// The `aps` dictionary with the campaign's own data next to it.
    public func payload(of content: MessageContent) -> PayloadDraft { APNsPayload.draft(of: content) }

    /// Bytes.
    public func payloadLimit(of type: PushType) -> Int { Self.payloadLimit(of: type) }

    /// Bytes. Source: Apple, "Generating a remote notification".
    static func payloadLimit(of type: PushType) -> Int {
        switch type {
        case .voip: 5120
        case .liveactivity: 4096 - ActivityStamp.bytes
        default: 4096
        }
    }
}
