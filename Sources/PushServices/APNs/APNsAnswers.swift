public import Base

extension APNs {
    /// Reasons that APNs gives only for a token that was valid here once.
    public var goneReasons: [String] { Self.answers.gone }

    /// Reasons that blame a token, although a wrong environment or topic causes them for all
    /// tokens.
    public var blamingReasons: Set<String> { Self.answers.blaming }

    static let answers = AnswerTable(rows)

    /// A row that tells `doctor` that something else answers, unless it says otherwise: its push
    /// reaches no device.
    private static func row(
        _ statuses: ClosedRange<Int>, _ reason: String, _ meaning: AnswerMeaning, explanation: String,
        advice: String? = nil,
        probe: ProbeMeaning = .notTheService, mayBeClock: Bool = false
    ) -> DocumentedAnswer {
        DocumentedAnswer(
            statuses, reason, meaning, explanation: explanation, advice: advice, probe: probe, mayBeClock: mayBeClock)
    }

    private static let badRequest = 400...400, forbidden = 403...403, channels = 400...404, wrongPath = 404...405,
        gone = 410...410,
        tooMany = 429...429
    /// The reason decides, whichever of these statuses comes with it.
    private static let trouble = 500...999

    static let replan = "Correct the campaign or volley.yaml, then plan it again: every push would have failed."
    private static let credentials = "Check the app's key or certificate in volley.yaml."
    private static let otherEnvironment =
        "The credentials belong to the other environment: check environment (production or sandbox) in volley.yaml."
    private static let ownFault =
        "The request itself is wrong. This is a fault in Volley or in a proxy in between: please report it."
    private static let tooManyTokens =
        "New signatures were made with the key too often. Send from one place at a time, and try again in 20 minutes."
    private static let unknownChannel =
        "`volley channels list` shows the channels of the app: check audience.channel in the campaign, and environment (production or sandbox) in volley.yaml."
    private static let unknownPath =
        "The server does not understand APNs requests: check environment (host and port) in volley.yaml."

    /// Source: Apple, "Handling notification responses from APNs", table "Values for the APNs JSON
    /// reason key".
    static let rows = aboutDevices + aboutCampaigns + aboutChannels + aboutCredentials + aboutTheServer

    private static let aboutDevices: [DocumentedAnswer] = [
        row(
            gone, "Unregistered", .invalidTarget(blamesSettings: false),
            explanation:
                "The app was removed from these devices, or its push token has changed. Take them out of the next export.",
            probe: .fine),
        row(
            gone, "ExpiredToken", .invalidTarget(blamesSettings: false),
            explanation: "These tokens have expired. Take them out of the next export.", probe: .fine),
        row(
            badRequest, "BadDeviceToken", .invalidTarget(blamesSettings: true),
            explanation:
                "These tokens are not valid here. When there are many, the tokens come from the other environment (sandbox or production).",
            probe: .fine),
        row(
            badRequest, "DeviceTokenNotForTopic", .invalidTarget(blamesSettings: true),
            explanation:
                "These tokens belong to another app. Check the app's topic and which export the campaign reads.",
            probe: .wrongTopic),
        row(
            tooMany, "TooManyRequests", .retry(.deviceBusy),
            explanation: "These devices got too many pushes in a short time. Try again later, and less often."),
    ]

    private static let aboutCampaigns: [DocumentedAnswer] = [
        row(
            badRequest, "BadCollapseId", .stop, explanation: "The collapse id is longer than 64 bytes. \(replan)",
            advice: "Check delivery.collapse in the campaign: at most 64 bytes."),
        row(
            badRequest, "BadExpirationDate", .stop, explanation: "The expiry is not a valid time. \(replan)",
            advice: "Check delivery.expires in the campaign."),
        row(
            badRequest, "BadMessageId", .stop,
            explanation: "APNs did not accept the push's id. This is a fault in Volley: please report it.",
            advice: ownFault),
        row(
            badRequest, "BadPriority", .stop, explanation: "APNs does not know the priority. \(replan)",
            advice: "Check delivery.priority in the campaign; silent pushes must not be high."),
        row(
            badRequest, "BadTopic", .stop, explanation: "The app's topic is not valid. \(replan)",
            advice: "Check the app's topic (its bundle id) in volley.yaml and the push type's suffix.",
            probe: .wrongTopic),
        row(
            badRequest, "TopicDisallowed", .stop,
            explanation: "Pushes to this topic are not allowed with these credentials. \(replan)",
            advice: "The key or certificate may not push to this topic: check topic, key and team in volley.yaml.",
            probe: .wrongTopic),
        row(
            badRequest, "MissingTopic", .stop,
            explanation: "The app has no topic, and the certificate is for several. \(replan)",
            advice: "Check the app's topic (its bundle id) in volley.yaml and the push type's suffix.",
            probe: .wrongTopic),
        row(
            badRequest, "InvalidPushType", .stop,
            explanation: "The push type does not fit the payload or the topic. \(replan)",
            advice: "Check the kind of push in the campaign: silent or visible."),
        row(
            badRequest, "PayloadEmpty", .stop, explanation: "The message was empty. \(replan)",
            advice: "The rendered payload is empty: check the campaign's content.", probe: .fine),
        row(
            413...413, "PayloadTooLarge", .rejected,
            explanation: "The message is larger than 4,096 bytes. Shorten the text or your own data."),
        row(
            badRequest, "DuplicateHeaders", .stop,
            explanation: "APNs saw a header twice. This is a fault in Volley: please report it.", advice: ownFault),
        row(
            badRequest, "MissingDeviceToken", .stop,
            explanation: "The push named no device. This is a fault in Volley: please report it.", advice: ownFault),
        row(
            wrongPath, "BadPath", .stop,
            explanation: "APNs did not understand the request. This is a fault in Volley: please report it.",
            advice: unknownPath),
        row(
            wrongPath, "MethodNotAllowed", .stop,
            explanation: "APNs did not understand the request. This is a fault in Volley: please report it.",
            advice: unknownPath),
    ]

    /// Source: Apple, "Sending broadcast push notification requests to APNs", "Sending channel
    /// management requests to APNs".
    private static let aboutChannels: [DocumentedAnswer] = [
        row(
            channels, "ChannelNotRegistered", .stop,
            explanation: "The app has no such channel in this environment (production or sandbox). \(replan)",
            advice: unknownChannel),
        row(
            channels, "BadChannelId", .stop, explanation: "The channel's id is not one of APNs. \(replan)",
            advice: unknownChannel),
        row(
            channels, "MissingChannelId", .stop,
            explanation: "The request named no channel. This is a fault in Volley: please report it.", advice: ownFault),
        row(
            channels, "MissingPushType", .stop,
            explanation: "The request named no push type. This is a fault in Volley: please report it.",
            advice: ownFault),
        row(
            channels, "CannotCreateChannelConfig", .stop,
            explanation: "The app has as many channels in this environment as APNs allows: 10,000.",
            advice: "Delete channels that are no longer used: volley channels delete ID."),
        row(
            channels, "FeatureNotEnabled", .stop,
            explanation:
                "Broadcasts are not switched on for the app. Switch on Broadcast Capability, below Push Notifications, for its identifier on Apple's developer site.",
            advice:
                "Switch on Broadcast Capability, below Push Notifications, for the app's identifier on Apple's developer site."
        ),
    ]

    private static let aboutCredentials: [DocumentedAnswer] = [
        row(
            forbidden, "ExpiredProviderToken", .retry(.credentialExpired),
            explanation: "The signature was too old for APNs. Check that this machine's clock is right.",
            mayBeClock: true),
        row(
            forbidden, "InvalidProviderToken", .stop,
            explanation: "APNs did not accept the key, its id or the team. \(credentials)",
            advice:
                "Check in volley.yaml that the key file, its id and the team id belong together, that the key was not revoked, and that this machine's "
                + "clock is right.", mayBeClock: true),
        row(
            forbidden, "MissingProviderToken", .stop,
            explanation: "APNs got neither a key's signature nor a certificate. \(credentials)",
            advice: "Check that the app in volley.yaml has a key, or a certificate that is valid for this server."),
        row(
            forbidden, "BadCertificate", .stop, explanation: "APNs did not accept the certificate. \(credentials)",
            advice: "Check the app's certificate in volley.yaml: it may be expired, revoked or for another app."),
        row(
            forbidden, "BadCertificateEnvironment", .stop,
            explanation: "The certificate is for the other environment (sandbox or production). \(credentials)",
            advice: otherEnvironment),
        row(
            forbidden, "BadEnvironmentKeyInToken", .stop,
            explanation: "The key is for the other environment (sandbox or production). \(credentials)",
            advice: otherEnvironment),
        row(
            forbidden, "BadEnvironmentKeyIdInToken", .stop,
            explanation: "The key is for the other environment (sandbox or production). \(credentials)",
            advice: otherEnvironment),
        row(
            forbidden, "UnrelatedKeyIdInToken", .stop,
            explanation: "The key id belongs to another team or connection. \(credentials)",
            advice:
                "Another key was used on this connection before: check that volley.yaml names one key for each team and topic."
        ),
        row(
            forbidden, "Forbidden", .stop, explanation: "These credentials may not send this. \(credentials)",
            advice: "Check that the key may push to this topic, and that the team's membership is active."),
        row(
            tooMany, "TooManyProviderTokenUpdates", .retry(.serviceBusy),
            explanation: tooManyTokens, advice: tooManyTokens),
    ]

    private static let aboutTheServer: [DocumentedAnswer] = [
        row(
            badRequest, "IdleTimeout", .retry(.connectionIdle),
            explanation: "APNs closed an idle connection. You can send to these devices again."),
        row(
            trouble, "InternalServerError", .retry(.serviceBusy),
            explanation: "APNs had internal errors until the retries ran out. You can send to these devices again."),
        row(
            trouble, "ServiceUnavailable", .retry(.serviceBusy),
            explanation: "APNs was not available until the retries ran out. You can send to these devices again."),
        row(
            trouble, "Shutdown", .retry(.serviceLeaves),
            explanation:
                "APNs was shutting a server down until the retries ran out. You can send to these devices again."),
    ]
}

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
