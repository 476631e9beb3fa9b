import Base
import Testing

@testable import Simulators

private let provider = Provider()

/// A change to a valid push, and APNs' required answer.
struct Flaw: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let status: Int
    let reason: String
    let spoil: @Sendable (inout Push) -> Void

    init(_ what: String, _ status: Int, _ reason: String, _ spoil: @escaping @Sendable (inout Push) -> Void) {
        (testDescription, self.status, self.reason, self.spoil) = (what, status, reason, spoil)
    }
}

private func answer(
    to push: Push, trust: ConnectionTrust = ConnectionTrust(),
    _ change: (inout SimulatorConfiguration) -> Void = { _ in }
) -> Answer {
    var configuration = SimulatorConfiguration()
    configuration.keys = [provider.trusted]
    change(&configuration)
    var checker = RequestChecker(configuration)
    var trust = trust
    return checker.check(push.request, trust: &trust, now: noon)
}

private func flawless(token: String = someToken) -> Push {
    Push(authorization: "bearer \(provider.token())", token: token)
}

private let headerFlaws = [
    Flaw("an apns-id in upper case", 400, "BadMessageId") { $0[.id] = "0B7A1C52-88F2-4B0E-9D1C-2F3A4B5C6D7E" },
    Flaw("an apns-id without hyphens", 400, "BadMessageId") { $0[.id] = "0b7a1c5288f24b0e9d1c2f3a4b5c6d7e" },
    Flaw("an apns-id with a hyphen for a digit", 400, "BadMessageId") {
        $0[.id] = "0b7a1c52-88f2-4b0e-9d1c-2f3a4b5c6d7-"
    },
    Flaw("a GET", 405, "MethodNotAllowed") { $0[.method] = "GET" },
    Flaw("a header that appears twice", 400, "DuplicateHeaders") { $0.headers.append((.topic, "com.example.shop")) },
    Flaw("no topic", 400, "MissingTopic") { $0[.topic] = nil },
    Flaw("an empty topic", 400, "MissingTopic") { $0[.topic] = "" },
    Flaw("a topic that is no bundle id", 400, "BadTopic") { $0[.topic] = "com example" },
    Flaw("voip without its suffix", 400, "BadTopic") { $0[.pushType] = "voip" },
    Flaw("alert with the suffix of voip", 400, "BadTopic") { $0[.topic] = "com.example.shop.voip" },
    Flaw("a live activity with the suffix of widgets", 400, "BadTopic") {
        ($0[.pushType], $0[.topic]) = ("liveactivity", "com.example.shop.push-type.widgets")
    },
    Flaw("a suffix and nothing else", 400, "BadTopic") { ($0[.pushType], $0[.topic]) = ("voip", ".voip") },
    Flaw("a collapse id of 65 bytes", 400, "BadCollapseId") { $0[.collapseID] = String(repeating: "c", count: 65) },
    Flaw("priority 7", 400, "BadPriority") { $0[.priority] = "7" },
    Flaw("priority 100", 400, "BadPriority") { $0[.priority] = "100" },
    Flaw("a background push with priority 10", 400, "BadPriority") { $0[.pushType] = "background" },
    Flaw("a background push without priority", 400, "BadPriority") {
        ($0[.pushType], $0[.priority]) = ("background", nil)
    },
    Flaw("a background push with priority 1", 400, "BadPriority") {
        ($0[.pushType], $0[.priority]) = ("background", "1")
    },
    Flaw("an unknown push type", 400, "InvalidPushType") { $0[.pushType] = "shout" },
    Flaw("no push type, to the topic of a type that came with it", 400, "InvalidPushType") {
        ($0[.pushType], $0[.topic]) = (nil, "com.example.shop.push-type.liveactivity")
    },
    Flaw("an expiration before 1970", 400, "BadExpirationDate") { $0[.expiration] = "-1" },
    Flaw("an expiration in words", 400, "BadExpirationDate") { $0[.expiration] = "tomorrow" },
    Flaw("an empty expiration", 400, "BadExpirationDate") { $0[.expiration] = "" },
]

private let pathFlaws = [
    Flaw("another path", 404, "BadPath") { $0[.path] = "/3/broadcast/\(someToken)" },
    Flaw("no token", 400, "MissingDeviceToken") { $0[.path] = "/3/device/" },
    Flaw("no token and no slash", 400, "MissingDeviceToken") { $0[.path] = "/3/device" },
    Flaw("a token that is not hex", 400, "BadDeviceToken") {
        $0[.path] = "/3/device/" + String(repeating: "xy", count: 32)
    },
    Flaw("half a byte", 400, "BadDeviceToken") { $0[.path] = "/3/device/\(someToken)a" },
    Flaw("a token of six digits", 400, "BadDeviceToken") { $0[.path] = "/3/device/abcdef" },
    Flaw("a token of 514 digits", 400, "BadDeviceToken") {
        $0[.path] = "/3/device/" + String(repeating: "ab", count: 257)
    },
    Flaw("a query behind the token", 400, "BadDeviceToken") { $0[.path] = "/3/device/\(someToken)?a=12" },
    Flaw("a token of the 400 family", 400, "BadDeviceToken") { $0[.path] = "/3/device/00000400\(someToken)" },
]

private let payloadFlaws = [
    Flaw("no payload", 400, "PayloadEmpty") { $0.payload = "" },
    Flaw("a payload that is not JSON", 400, "PayloadEmpty") { $0.payload = #"{"aps":{"alert":"x"}"# },
    Flaw("a payload without aps", 400, "PayloadEmpty") { $0.payload = #"{"alert":"x"}"# },
    Flaw("an aps that is no object", 400, "PayloadEmpty") { $0.payload = #"{"aps":"x"}"# },
    Flaw("an aps deeper down", 400, "PayloadEmpty") { $0.payload = #"{"my":{"aps":{}}}"# },
    Flaw("4097 bytes", 413, "PayloadTooLarge") { $0.payload = payload(bytes: 4097) },
    Flaw("5121 bytes over voip", 413, "PayloadTooLarge") {
        ($0[.pushType], $0[.topic], $0.payload) = ("voip", "com.example.shop.voip", payload(bytes: 5121))
    },
    Flaw("a megabyte", 413, "PayloadTooLarge") { $0.payload = payload(bytes: 1 << 20) },
]

private func payload(bytes: Int) -> String {
    let frame = #"{"aps":{"alert":""}}"#
    return #"{"aps":{"alert":""# + String(repeating: "x", count: bytes - frame.utf8.count) + #""}}"#
}

@Suite("A request")
struct RequestCheckerTests {
    @Test("that is flawless is accepted") func accepted() { #expect(answer(to: flawless()) == .accepted) }

    @Test("with a flaw is refused with Apple's status and reason", arguments: headerFlaws + pathFlaws + payloadFlaws)
    func refused(_ flaw: Flaw) {
        var push = flawless()
        flaw.spoil(&push)
        let answer = answer(to: push)
        #expect(answer.status == flaw.status)
        #expect(answer.reason == flaw.reason)
    }

    @Test(
        "with two flaws is refused for the one that is checked first",
        arguments: [
            (["id", "method"], "BadMessageId"), (["method", "topic"], "MethodNotAllowed"),
            (["topic", "collapse"], "MissingTopic"),
            (["collapse", "priority"], "BadCollapseId"), (["priority", "type"], "BadPriority"),
            (["type", "expiration"], "InvalidPushType"),
            (["expiration", "path"], "BadExpirationDate"), (["path", "authorization"], "BadPath"),
            (["token", "authorization"], "BadDeviceToken"),
            (["authorization", "payload"], "MissingProviderToken"),
        ])
    func order(_ flaws: [String], _ reason: String) {
        var push = flawless()
        if flaws.contains("id") { push[.id] = "x" }
        if flaws.contains("method") { push[.method] = "PUT" }
        if flaws.contains("topic") { push[.topic] = nil }
        if flaws.contains("collapse") { push[.collapseID] = String(repeating: "c", count: 65) }
        if flaws.contains("priority") { push[.priority] = "0" }
        if flaws.contains("type") { push[.pushType] = "x" }
        if flaws.contains("expiration") { push[.expiration] = "x" }
        if flaws.contains("path") { push[.path] = "/" }
        if flaws.contains("token") { push[.path] = "/3/device/x" }
        if flaws.contains("authorization") { push[.authorization] = nil }
        if flaws.contains("payload") { push.payload = "" }
        #expect(answer(to: push).reason == reason)
    }

    @Test("at every limit is accepted") func limits() {
        var push = flawless(token: String(repeating: "AB", count: 256))
        push[.collapseID] = String(repeating: "c", count: 64)
        push[.expiration] = "999999999999999999"
        push.payload = payload(bytes: 4096)
        #expect(answer(to: push) == .accepted)
    }

    @Test("of voip may be 5120 bytes and needs no aps") func voip() {
        var push = flawless()
        (push[.pushType], push[.topic], push.payload) = ("voip", "com.example.shop.voip", payload(bytes: 5120))
        #expect(answer(to: push) == .accepted)
        push.payload = #"{"call":1}"#
        #expect(answer(to: push) == .accepted)
    }

    @Test("of every push type passes with its suffix", arguments: PushType.allCases) func suffixes(_ type: PushType) {
        var push = flawless()
        (push[.pushType], push[.topic], push[.priority]) = (type.rawValue, "com.example.shop" + type.topicSuffix, "5")
        #expect(answer(to: push) { $0.topics = ["com.example.shop"] } == .accepted)
    }

    @Test("without the optional headers is accepted") func minimal() {
        var push = flawless()
        (push[.id], push[.priority], push[.expiration], push[.pushType]) = (nil, nil, nil, nil)
        #expect(answer(to: push) == .accepted)
    }

    @Test(
        "without a push type is what its topic says",
        arguments: [
            ("com.example.shop", #"{"x":1}"#, "PayloadEmpty"),
            ("com.example.shop", #"{"aps":{"content-available":1}}"#, ""),
            ("com.example.shop.voip", payload(bytes: 5120), ""),
            ("com.example.shop.voip", payload(bytes: 5121), "PayloadTooLarge"),
            ("com.example.shop.complication", #"{"x":1}"#, ""),
            ("com.example.shop.pushkit.fileprovider", #"{"x":1}"#, ""),
            ("com.apple.mgmt.External.x", #"{"mdm":"x"}"#, ""),
            ("com.example.shop.voip-ptt", #"{"aps":{}}"#, "InvalidPushType"),
        ])
    func withoutPushType(_ topic: String, _ payload: String, _ reason: String) {
        var push = flawless()
        (push[.pushType], push[.topic], push.payload) = (nil, topic, payload)
        #expect(answer(to: push).reason == reason)
    }

    @Test("for a bundle id that does not exist is TopicDisallowed") func unknownTopic() {
        #expect(answer(to: flawless()) { $0.topics = ["com.example.other"] }.reason == "TopicDisallowed")
    }

    @Test("for a token of another topic is DeviceTokenNotForTopic") func foreignToken() {
        #expect(
            answer(to: flawless()) { $0.tokenTopics = [someToken: "com.example.other"] }.reason
                == "DeviceTokenNotForTopic")
        #expect(
            answer(to: flawless()) { $0.tokenTopics = [someToken: "com.example.sh"] }.reason == "DeviceTokenNotForTopic"
        )
        #expect(answer(to: flawless()) { $0.tokenTopics = [someToken: "com.example.shop"] } == .accepted)
    }

    @Test("for an unregistered token says since when") func unregistered() {
        let answer = answer(to: flawless(token: "00000410" + someToken))
        #expect(answer.status == 410)
        #expect(answer.reason == "Unregistered")
        #expect(answer.invalidSinceMilliseconds == noon.epochMilliseconds - 3 * 86_400_000)
        #expect(String(decoding: answer.body, as: UTF8.self) == #"{"reason":"Unregistered","timestamp":1795740800000}"#)
    }

    @Test(
        "for a token of a temporary family is refused once",
        arguments: [("00000429", "TooManyRequests"), ("00000503", "ServiceUnavailable")])
    func temporary(_ prefix: String, _ reason: String) {
        var configuration = SimulatorConfiguration()
        configuration.keys = [provider.trusted]
        var checker = RequestChecker(configuration)
        var trust = ConnectionTrust()
        let reasons = [someToken, someToken, String(repeating: "cd", count: 32)].map { token in
            checker.check(flawless(token: prefix + token).request, trust: &trust, now: noon).reason
        }
        #expect(reasons == [reason, "", reason])
    }

    @Test("for a token with a fixed answer gets it as often as configured") func fixedAnswers() {
        var configuration = SimulatorConfiguration()
        configuration.keys = [provider.trusted]
        configuration.faults.answers[someToken] = SimulatedAnswer(status: 500, reason: "InternalServerError", times: 2)
        var checker = RequestChecker(configuration)
        var trust = ConnectionTrust()
        let statuses = (1...3).map { _ in
            checker.check(flawless(token: someToken.uppercased()).request, trust: &trust, now: noon).status
        }
        #expect(statuses == [500, 500, 200])
    }

    @Test("with a flaw does not use up a temporary answer") func flawsFirst() {
        var push = flawless(token: "00000429" + someToken)
        push[.authorization] = nil
        #expect(answer(to: push).reason == "MissingProviderToken")
    }
}
