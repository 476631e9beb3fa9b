import Base

/// Broadcast channels of Live Activities, from iOS 18 on: 10,000 for each app and environment.
/// Source: Apple, "Sending channel management requests to APNs", "Sending broadcast push
/// notification requests to APNs".
extension APNs {
    /// Broadcasts to the phones that follow a channel.
    public var ownAudience: OwnAudience? { Self.channels }

    private static let channelHeader = "apns-channel-id", requestIDHeader = "apns-request-id"
    private static let again = "You can send the broadcast again."
    /// More than any id that APNs gives out; their length is not fixed.
    private static let longestChannelID = 256

    private static let channels = OwnAudience(
        of: APNs(),
        names: [
            OwnAudience.Names(
                .channel, mostOfCall: 1, isOnlyOne: true,
                rule: "A channel's id is base64: `volley channels list` shows those of the app",
                normalize: channelID)
        ],
        answers: AudienceAnswers(
            words: [
                "TooManyRequests":
                    "The channel got too many broadcasts in a short time. Try again later, and less often.",
                "InternalServerError": "APNs had internal errors until the retries ran out. \(again)",
                "ServiceUnavailable": "APNs was not available until the retries ran out. \(again)",
                "Shutdown": "APNs was shutting a server down until the retries ran out. \(again)",
                "IdleTimeout": "APNs closed an idle connection. \(again)",
                "PayloadTooLarge": "The broadcast is larger than 5,120 bytes. Shorten the state or the text.",
                "BadExpirationDate":
                    "The channel does not take this expiry: one that keeps nothing takes none, and another keeps a broadcast for 8 hours at most. \(replan)",
            ],
            advice: [
                "BadExpirationDate":
                    "`volley channels list` shows what the channel keeps. If that is nothing, remove delivery.expires from the campaign; otherwise write 8h at most."
            ], aboutCampaign: ["BadExpirationDate", "ChannelNotRegistered", "BadChannelId"]),
        request: { broadcast($0) }, check: nil,
        broadcasts: BroadcastRules(
            payloadBytes: 5120 - ActivityStamp.bytes, longestStorageSeconds: 8 * 3600, events: [.update, .end],
            id: channelID,
            manager: { environment in
                environment.name == sandbox.name
                    ? ("api-manage-broadcast.sandbox.push.apple.com", 2195)
                    : ("api-manage-broadcast.push.apple.com", 2196)
            }, request: request, ids: ids, storage: storage))

    @Sendable private static func channelID(_ text: String) -> String? {
        let digits = text.prefix { $0 != "=" }, padding = text.dropFirst(digits.count)
        let isID =
            (1...longestChannelID).contains(text.utf8.count) && !digits.isEmpty && padding.utf8.count <= 2
            && padding.allSatisfy { $0 == "=" }
            && digits.utf8.allSatisfy { ASCIISet.lettersAndDigits.contains($0) || "+/-_".utf8.contains($0) }
        return isID ? text : nil
    }

    /// A POST to `/4/broadcasts/apps/BUNDLE`, which names the channel in a header. It has no topic.
    private static func broadcast(_ options: PushOptions) -> RequestTemplate {
        let suffix = APNs().topicSuffix(of: .liveactivity)
        let bundle = options.topic.hasSuffix(suffix) ? String(options.topic.dropLast(suffix.count)) : options.topic
        return RequestTemplate(
            pathPrefix: "/4/broadcasts/apps/\(bundle)",
            headers: [
                .init(pushTypeHeader, value: PushType.liveactivity.rawValue),
                .init("apns-priority", value: String(options.priority.rawValue)),
                // A channel that keeps nothing takes no other expiration than 0.
                .init("apns-expiration", value: String(options.expiration ?? 0)),
            ] + (options.channel.map { [.init(channelHeader, value: $0)] } ?? []), idHeader: requestIDHeader,
            body: { call, now, bytes in
                if let push = call.first { ActivityStamp.append(push.payload, now: now, to: &bytes) }
            })
    }

    @Sendable private static func request(_ deed: ChannelDeed, topic: String) -> ChannelRequest {
        let path = "/1/apps/\(topic)/channels"
        func named(_ id: String, _ method: String, goodStatus: Int) -> ChannelRequest {
            ChannelRequest(
                method: method, path: path, headers: [.init(channelHeader, value: id)], goodStatus: goodStatus,
                idHeader: channelHeader)
        }
        switch deed {
        case .create(let storage):
            let body = JSONValue.object(pairs: [
                (storagePolicy, .integer(storage == .nothing ? 0 : 1)), ("push-type", .string("LiveActivity")),
            ])
            return ChannelRequest(
                method: "POST", path: path, headers: [.init("content-type", value: "application/json")],
                body: Array(body.text.utf8),
                goodStatus: 201, idHeader: channelHeader)
        case .list:
            return ChannelRequest(
                method: "GET", path: "/1/apps/\(topic)/all-channels", goodStatus: 200, idHeader: channelHeader)
        case .read(let id): return named(id, "GET", goodStatus: 200)
        case .delete(let id): return named(id, "DELETE", goodStatus: 204)
        }
    }

    private static let storagePolicy = "message-storage-policy"

    @Sendable private static func ids(in answer: JSONValue) -> [String]? {
        guard case .array(let list)? = answer["channels"] else { return nil }
        let ids = list.compactMap { $0.stringValue.flatMap(channelID) }
        return ids.count == list.count ? ids : nil
    }

    @Sendable private static func storage(in answer: JSONValue) -> ChannelStorage? {
        switch answer[storagePolicy]?.integerValue {
        case 0: .nothing
        case 1: .newest
        default: nil
        }
    }
}
