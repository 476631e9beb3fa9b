import Base
import Testing

@testable import PushServices

/// Broadcasts to channels, next to Apple's "Sending broadcast push notification requests to APNs"
/// and "Sending channel management requests to APNs".
@Suite("Broadcasts of APNs")
struct BroadcastTests {
    private static let place = SourcePosition(file: "delivery.yaml", line: 1, column: 1)
    private static let id = "dHN0LXNyY2gtY2hubA=="

    private var own: OwnAudience { get throws { try #require(APNs().ownAudience) } }
    private var rules: BroadcastRules { get throws { try #require(own.broadcasts) } }

    private func options(_ expiration: Int64? = nil) throws -> PushOptions {
        let topic = try own.service.topic("com.example.shop", for: .liveactivity)
        var options = PushOptions(topic: topic, pushType: .liveactivity, priority: .normal, expiration: expiration)
        options.channel = Self.id
        return options
    }

    @Test(
        "one request to the app's broadcasts names the channel, the type, the priority and the expiration, and no topic"
    )
    func request() throws {
        let template = try own.service.request(options())
        let payload = #"{"aps":{"timestamp":0,"stale-date":-60,"event":"update","content-state":{"goals":1}}}"#
        let push = ProbePush(target: AudienceCall(.channel, [Self.id]).target.text, payload: payload).push(
            PushID(runSeed: RunSeed(high: 0, low: 0), recipient: 0))
        let (path, body) = template.single(push, at: 1_795_219_200)
        #expect(path == "/4/broadcasts/apps/com.example.shop" && template.idHeader == "apns-request-id")
        #expect(
            template.headers.map { "\($0.name): \($0.value)" } == [
                "apns-push-type: liveactivity", "apns-priority: 5", "apns-expiration: 0", "apns-channel-id: \(Self.id)",
            ])
        #expect(
            String(decoding: body, as: UTF8.self)
                == #"{"aps":{"timestamp":1795219200,"stale-date":1795219260,"event":"update","content-state":{"goals":1}}}"#
        )
        #expect(
            try own.service.request(options(1_795_220_000)).headers.contains(
                .init("apns-expiration", value: "1795220000")))
    }

    @Test("a payload has 5,120 bytes with its times")
    func limit() throws {
        var content = MessageContent(position: Self.place)
        content.activity = ActivityContent(position: Self.place, event: .end)
        #expect(try own.service.payload(of: content).byteLimit + ActivityStamp.bytes == 5120)
        #expect(try own.service.payloadLimit(of: .liveactivity) + ActivityStamp.bytes == 5120)
        #expect(APNs().payload(of: content).byteLimit + ActivityStamp.bytes == 4096)
    }

    @Test("a channel is a target of ASCII, and reads back as it was")
    func target() throws {
        let call = try #require(own.calls(to: [.channel: [Self.id]]).first)
        #expect(
            call.target.text == "channel/dHN0LXNyY2gtY2hubA%3D%3D"
                && AudienceCall(target: call.target.text.utf8) == call)
        #expect(call.words == "channel \(Self.id)")
        #expect(try own.service.target.target(call.target.text) == call.target)
    }

    @Test(
        "each answer is about the broadcast or the settings, never about a device",
        arguments: [
            (200, "", AnswerMeaning.accepted), (400, "ChannelNotRegistered", .stop), (400, "BadChannelId", .stop),
            (400, "MissingChannelId", .stop), (400, "CannotCreateChannelConfig", .stop),
            (400, "InvalidPushType", .stop),
            (400, "MissingPushType", .stop), (403, "FeatureNotEnabled", .stop), (400, "BadExpirationDate", .stop),
            (429, "TooManyRequests", .retry(.deviceBusy)), (500, "InternalServerError", .retry(.serviceBusy)),
            (503, "ServiceUnavailable", .retry(.serviceBusy)), (413, "PayloadTooLarge", .rejected),
            (410, "Unregistered", .rejected),
            (403, "InvalidProviderToken", .stop), (403, "ExpiredProviderToken", .retry(.credentialExpired)),
        ])
    func answers(status: Int, reason: String, meaning: AnswerMeaning) throws {
        let service = try own.service
        #expect(service.meaning(of: ServiceAnswer(status: status, reason: reason, id: .own)) == meaning)
        guard status != 200 else { return }
        let words = try #require(service.words(about: reason)).explanation
        #expect(words.hasSuffix(".") && (reason == "Unregistered" || !words.contains("hese devices")), "\(words)")
        if meaning == .stop { #expect(service.advice(status: status, reason: reason).hasSuffix(".")) }
        // A run keeps its channel and its expiry: to resume it would make the same call again.
        let isKept = ["ChannelNotRegistered", "BadChannelId", "BadExpirationDate"].contains(reason)
        #expect(service.blamesMessage(status: status, reason: reason) == isKept)
    }

    @Test("a broadcast without an answer is not repeated by itself: its id is for logs alone")
    func repeats() throws {
        #expect(try !own.service.recognizesRepeats && own.service.isForMany && own.service.choosesDevices)
        #expect(
            !PushServices.keepingAudiences.contains { $0.name == "apns" } && PushServices.broadcasting?.name == "apns")
    }

    @Test(
        "channels are managed as Apple's page says",
        arguments: [
            (
                ChannelDeed.create(.nothing),
                ChannelRequest(
                    method: "POST", path: "/1/apps/com.example.shop/channels",
                    headers: [.init("content-type", value: "application/json")],
                    body: Array(#"{"message-storage-policy":0,"push-type":"LiveActivity"}"#.utf8), goodStatus: 201,
                    idHeader: "apns-channel-id")
            ),
            (
                .list,
                ChannelRequest(
                    method: "GET", path: "/1/apps/com.example.shop/all-channels", goodStatus: 200,
                    idHeader: "apns-channel-id")
            ),
            (
                .read(id),
                ChannelRequest(
                    method: "GET", path: "/1/apps/com.example.shop/channels",
                    headers: [.init("apns-channel-id", value: id)],
                    goodStatus: 200, idHeader: "apns-channel-id")
            ),
            (
                .delete(id),
                ChannelRequest(
                    method: "DELETE", path: "/1/apps/com.example.shop/channels",
                    headers: [.init("apns-channel-id", value: id)],
                    goodStatus: 204, idHeader: "apns-channel-id")
            ),
        ])
    func management(deed: ChannelDeed, request: ChannelRequest) throws {
        #expect(try rules.request(deed, "com.example.shop") == request)
    }

    @Test("a channel that keeps the newest broadcast has the policy 1")
    func newest() throws {
        let body = try rules.request(.create(.newest), "a").body
        #expect(String(decoding: body, as: UTF8.self) == #"{"message-storage-policy":1,"push-type":"LiveActivity"}"#)
    }

    @Test("each environment has a server of its own, with its own port")
    func servers() throws {
        #expect(try rules.manager(APNs.production) == ("api-manage-broadcast.push.apple.com", 2196))
        #expect(try rules.manager(APNs.sandbox) == ("api-manage-broadcast.sandbox.push.apple.com", 2195))
    }

    @Test("answers are read whole, or not at all")
    func reading() throws {
        let rules = try rules
        #expect(
            rules.ids(try JSONValue(parsing: #"{"channels":["dHN0LXNyY2gtY2hubA==","abcd"]}"#)) == [Self.id, "abcd"])
        #expect(rules.ids(try JSONValue(parsing: #"{"channels":["a b"]}"#)) == nil && rules.ids(.object([])) == nil)
        #expect(
            rules.storage(try JSONValue(parsing: #"{"message-storage-policy":0,"push-type":"LiveActivity"}"#))
                == .nothing)
        #expect(rules.storage(try JSONValue(parsing: #"{"message-storage-policy":1}"#)) == .newest)
        #expect(rules.storage(try JSONValue(parsing: #"{"message-storage-policy":2}"#)) == nil)
    }

    @Test(
        "an id is base64",
        arguments: [("", false), ("a b", false), ("=", false), ("ab===", false), ("a=b", false), ("A+/9", true)])
    func ids(text: String, isID: Bool) throws { #expect(try (rules.id(text) != nil) == isID) }
}
