import Base
import Testing

@testable import PushServices

@Suite("Requests to FCM")
struct FCMRequestTests {
    private static let token = "d123456789012345678901:APA91b" + String(repeating: "x", count: 120)

    private func body(
        _ payload: String, to target: String = token, at now: Int64 = 1_000_000,
        _ change: (inout PushOptions) -> Void = { _ in }
    ) -> String {
        var options = PushOptions(topic: "shop-1a2b", pushType: .alert, priority: .high)
        change(&options)
        let push = ProbePush(target: target, payload: payload).push(
            PushID(runSeed: RunSeed(high: 0, low: 0), recipient: 0))
        return String(decoding: FCM().request(options).single(push, at: now).body, as: UTF8.self)
    }

    private static let plain = #"{"message":{"apns":{"headers":{}},"notification":{"title":"Hi"},"android":{}}}"#

    @Test("the path names the project, and headers hold no secret")
    func template() {
        let template = FCM().request(PushOptions(topic: "shop-1a2b", pushType: .alert, priority: .high))
        #expect(template.pathPrefix == "/v1/projects/shop-1a2b/messages:send" && template.idHeader == "x-request-id")
        #expect(template.headers == [.init("content-type", value: "application/json")])
    }

    @Test("the body is the payload with its target, the headers for APNs and the options for Android")
    func whole() {
        #expect(
            body(Self.plain)
                == #"{"message":{"token":"\#(Self.token)","apns":{"headers":{"apns-push-type":"alert","apns-priority":"10"}},"notification":{"title":"Hi"},"android":{"priority":"HIGH"}}}"#
        )
    }

    @Test("members that a payload has already stay where they are")
    func members() {
        let payload =
            #"{"message":{"apns":{"headers":{"apns-topic":"a"},"payload":{"aps":{"badge":1}}},"android":{"notification":{"sound":"x"}}}}"#
        #expect(
            body(payload)
                == #"{"message":{"token":"\#(Self.token)","apns":{"headers":{"apns-push-type":"alert","apns-priority":"10","apns-topic":"a"},"payload":{"aps":{"badge":1}}},"android":{"notification":{"sound":"x"},"priority":"HIGH"}}}"#
        )
    }

    @Test("22 characters are an installation id")
    func installationID() {
        #expect(
            body(Self.plain, to: "d123456789012345678901").hasPrefix(
                #"{"message":{"fid":"d123456789012345678901","apns":"#))
    }

    @Test(
        "the time to live is what is left at the moment of sending",
        arguments: [
            (1_000_090, "90s"), (1_000_000, "0s"), (999_999, "0s"), (0, "0s"), (1_000_000 + 2_419_201, "2419200s"),
        ])
    func timeToLive(expiration: Int64, ttl: String) {
        let body = body(Self.plain) { $0.expiration = expiration }
        #expect(body.hasSuffix(#""android":{"priority":"HIGH","ttl":"\#(ttl)"}}}"#))
        #expect(body.contains(#""apns-expiration":"\#(expiration)""#))
    }

    @Test("a push without an end leaves it to FCM")
    func noExpiry() { #expect(!body(Self.plain).contains("ttl") && !body(Self.plain).contains("expiration")) }

    @Test(
        "priorities of both systems",
        arguments: [(PushPriority.high, "10", "HIGH"), (.normal, "5", "NORMAL"), (.low, "1", "NORMAL")])
    func priorities(priority: PushPriority, apple: String, android: String) {
        let body = body(Self.plain) { $0.priority = priority }
        #expect(body.contains(#""apns-priority":"\#(apple)""#) && body.contains(#""priority":"\#(android)""#))
    }

    @Test("a silent push has the only priority that Apple takes for it")
    func silent() {
        let silent = body(Self.plain) { ($0.pushType, $0.priority) = (.background, .normal) }
        #expect(silent.contains(#""apns-push-type":"background","apns-priority":"5""#) && silent.contains("NORMAL"))
        let urgent = body(Self.plain) { $0.pushType = .background }
        #expect(urgent.contains(#""apns-push-type":"background","apns-priority":"5""#) && urgent.contains("HIGH"))
    }

    @Test("a collapse id is for both systems, and is written as JSON")
    func collapse() {
        let body = body(Self.plain) { $0.collapseID = #"a"b"# }
        #expect(body.contains(#""apns-collapse-id":"a\"b""#) && body.contains(#""collapse_key":"a\"b""#))
    }

    @Test("what a run adds to a payload fits into what is left of 4,096 bytes")
    func limit() {
        let body = body(Self.plain, to: "d123456789012345678901") {
            ($0.pushType, $0.priority) = (.background, .normal)
            ($0.expiration, $0.collapseID) = (9_999_999_999, String(repeating: "c", count: 64))
        }
        let target = #""fid":"d123456789012345678901","#
        #expect(body.utf8.count - target.utf8.count - Self.plain.utf8.count <= 4096 - FCM().payloadLimit(of: .alert))
        #expect(
            PushType.allCases.allSatisfy { FCM().payloadLimit(of: $0) == 3796 && FCM().topicSuffix(of: $0).isEmpty })
    }

    @Test("the probe is only checked by FCM, and is valid JSON to a target that could be one")
    func probe() throws {
        let probe = FCM().probe
        #expect(FCM().target.target(probe.target) != nil)
        let sent = try JSONValue(parsing: body(probe.payload, to: probe.target) { $0.expiration = 1_000_010 })
        #expect(sent["validate_only"] == .bool(true) && sent["message"]?["token"]?.stringValue == probe.target)
        #expect(sent["message"]?["notification"] == nil && sent["message"]?["android"]?["ttl"] == .string("10s"))
    }
}
