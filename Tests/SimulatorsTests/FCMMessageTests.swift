import Base
import Testing

@testable import Simulators

/// A message, and the field that FCM finds wrong in it.
struct BadMessage: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let body: String
    /// The field of the detail BadRequest; nil without one.
    let field: String?
    /// Whether FCM's own word is among the details: not if the JSON itself is wrong.
    let hasWord: Bool

    init(_ what: String, _ body: String, _ field: String?, hasWord: Bool = true) {
        (testDescription, self.body, self.field, self.hasWord) = (what, body, field, hasWord)
    }

    static func form(_ what: String, _ body: String, _ field: String?) -> BadMessage {
        BadMessage(what, body, field, hasWord: false)
    }
}

private let badForms: [BadMessage] = [
    .form("no JSON", "hello", nil), .form("no body", "", nil), .form("half an object", #"{"message":{"#, nil),
    .form("a list", "[]", nil), .form("bytes after the object", fcmMessage() + "x", nil),
    .form("an unknown key at the top", #"{"message":{"token":"\#(fcmToken)"},"priority":"high"}"#, nil),
    .form("a key twice at the top", #"{"message":{"token":"\#(fcmToken)"},"message":{"token":"\#(fcmToken)"}}"#, nil),
    .form("validate_only as a text", #"{"validate_only":"true","message":{"token":"\#(fcmToken)"}}"#, "validate_only"),
    .form("an unknown key in the message", fcmMessage(#""time_to_live":3"#), "message"),
    .form("the name that only answers have", fcmMessage(#""name":"x""#), "message"),
    .form("a key twice in the message", fcmMessage(#""data":{},"data":{}"#), "message"),
    .form("a key in both notations", fcmMessage(#""fcm_options":{},"fcmOptions":{}"#), "message"),
    .form("null for a key", fcmMessage(#""data":null"#), "message.data"),
    .form("a number in data", fcmMessage(#""data":{"order":7}"#), "message.data.order"),
    .form("an object in data", fcmMessage(#""data":{"order":{}}"#), "message.data.order"),
    .form("a key twice in data", fcmMessage(#""data":{"a":"1","a":"2"}"#), "message.data"),
    .form("true in data of android", fcmMessage(#""android":{"data":{"a":true}}"#), "message.android.data.a"),
    .form("an unknown key in notification", fcmMessage(#""notification":{"text":"x"}"#), "message.notification"),
    .form("a title that is a number", fcmMessage(#""notification":{"title":1}"#), "message.notification.title"),
    .form("an unknown key in android", fcmMessage(#""android":{"time_to_live":"3s"}"#), "message.android"),
    .form("an unknown priority", fcmMessage(#""android":{"priority":"urgent"}"#), "message.android.priority"),
    .form("a ttl that is a number", fcmMessage(#""android":{"ttl":3600}"#), "message.android.ttl"),
    .form("a ttl without s", fcmMessage(#""android":{"ttl":"3600"}"#), "message.android.ttl"),
    .form("a ttl that is s alone", fcmMessage(#""android":{"ttl":"s"}"#), "message.android.ttl"),
    .form("a ttl with two signs", fcmMessage(#""android":{"ttl":"--1s"}"#), "message.android.ttl"),
    .form("a ttl without whole seconds", fcmMessage(#""android":{"ttl":".5s"}"#), "message.android.ttl"),
    .form("a ttl with two points", fcmMessage(#""android":{"ttl":"1.5.5s"}"#), "message.android.ttl"),
    .form("a ttl in hours", fcmMessage(#""android":{"ttl":"1h"}"#), "message.android.ttl"),
    .form("a ttl with ten decimals", fcmMessage(#""android":{"ttl":"1.0000000001s"}"#), "message.android.ttl"),
    .form(
        "an unknown key in android.notification", fcmMessage(#""android":{"notification":{"badge":1}}"#),
        "message.android.notification"),
    .form(
        "a count that is a text", fcmMessage(#""android":{"notification":{"notification_count":"1"}}"#),
        "message.android.notification.notification_count"),
    .form(
        "arguments that are not texts", fcmMessage(#""android":{"notification":{"body_loc_args":["a",1]}}"#),
        "message.android.notification.body_loc_args.1"),
    .form(
        "an unknown key in a color", fcmMessage(#""android":{"notification":{"light_settings":{"color":{"pink":1}}}}"#),
        "message.android.notification.light_settings.color"),
    .form("an unknown key in apns", fcmMessage(#""apns":{"aps":{}}"#), "message.apns"),
    .form(
        "a number in the headers", fcmMessage(#""apns":{"headers":{"apns-priority":10}}"#),
        "message.apns.headers.apns-priority"),
    .form("a payload that is no object", fcmMessage(#""apns":{"payload":"x"}"#), "message.apns.payload"),
    .form(
        "a key twice deep in a payload", fcmMessage(#""apns":{"payload":{"a":[{"b":1,"b":2}]}}"#),
        "message.apns.payload.a.0"),
    .form(
        "an unknown key in apns.fcm_options", fcmMessage(#""apns":{"fcm_options":{"link":"x"}}"#),
        "message.apns.fcm_options"),
    .form("an unknown key in webpush", fcmMessage(#""webpush":{"ttl":"3s"}"#), "message.webpush"),
    .form(
        "a number in the headers of webpush", fcmMessage(#""webpush":{"headers":{"TTL":3}}"#),
        "message.webpush.headers.TTL"),
    .form("an unknown key in fcm_options", fcmMessage(#""fcm_options":{"label":"x"}"#), "message.fcm_options"),
    .form("a token and a topic", fcmMessage(target: #""token":"\#(fcmToken)","topic":"news""#), "message"),
    .form(
        "a fid and a token", fcmMessage(target: #""fid":"cXk3fLq0Qm2abcdefghijk","token":"\#(fcmToken)""#), "message"),
]

private func messageOf(bytes: Int, target: String = #""token":"\#(fcmToken)""#) -> String {
    // What is measured is {"data":{"k":"…"}}: 17 bytes around the text.
    fcmMessage(#""data":{"k":"\#(String(repeating: "x", count: bytes - 17))"}"#, target: target)
}

private let badValues = [
    BadMessage("no message", #"{"validate_only":false}"#, "message"),
    BadMessage("no target", #"{"message":{"data":{"a":"b"}}}"#, "message"),
    BadMessage("an empty token", fcmMessage(target: #""token":"""#), "message.token"),
    BadMessage("a token with a space", fcmMessage(target: #""token":"abcd efgh ijkl""#), "message.token"),
    BadMessage(
        "a token of 99 characters", fcmMessage(target: #""token":"\#(String(repeating: "a", count: 99))""#),
        "message.token"),
    BadMessage(
        "a token of 4,097 characters", fcmMessage(target: #""token":"\#(String(repeating: "a", count: 4097))""#),
        "message.token"),
    BadMessage(
        "a fid of 21 characters", fcmMessage(target: #""fid":"\#(String(repeating: "a", count: 21))""#), "message.fid"),
    BadMessage("a fid with a colon", fcmMessage(target: #""fid":"cXk3fLq0Qm2:APA91bABCD""#), "message.fid"),
    BadMessage("a topic with its old beginning", fcmMessage(target: #""topic":"/topics/news""#), "message.topic"),
    BadMessage("an empty topic", fcmMessage(target: #""topic":"""#), "message.topic"),
    BadMessage("a condition without topics", fcmMessage(target: #""condition":"news""#), "message.condition"),
    BadMessage(
        "a condition with one half", fcmMessage(target: #""condition":"'a' in topics &&""#), "message.condition"),
    BadMessage("an open parenthesis", fcmMessage(target: #""condition":"('a' in topics""#), "message.condition"),
    BadMessage(
        "a condition of six topics",
        fcmMessage(target: #""condition":"\#((0..<6).map { "'t\($0)' in topics" }.joined(separator: " || "))""#),
        "message.condition"),
    BadMessage("data with from", fcmMessage(#""data":{"from":"x"}"#), "message.data.from"),
    BadMessage("data with message_type", fcmMessage(#""data":{"message_type":"x"}"#), "message.data.message_type"),
    BadMessage("data with gcm…", fcmMessage(#""data":{"gcm.n.e":"x"}"#), "message.data.gcm.n.e"),
    BadMessage(
        "data with google…", fcmMessage(#""android":{"data":{"google.x":"x"}}"#), "message.android.data.google.x"),
    BadMessage("a ttl below 0", fcmMessage(#""android":{"ttl":"-1s"}"#), "message.android.ttl"),
    BadMessage("a ttl of more than four weeks", fcmMessage(#""android":{"ttl":"2419200.5s"}"#), "message.android.ttl"),
    BadMessage(
        "a color by its name", fcmMessage(#""android":{"notification":{"color":"red"}}"#),
        "message.android.notification.color"),
    BadMessage(
        "content-available true", fcmMessage(#""apns":{"payload":{"aps":{"content-available":true}}}"#),
        contentAvailable),
    BadMessage(
        "content-available 2", fcmMessage(#""apns":{"payload":{"aps":{"content-available":2}}}"#), contentAvailable),
    BadMessage(
        "content-available as a text", fcmMessage(#""apns":{"payload":{"aps":{"content-available":"1"}}}"#),
        contentAvailable),
    BadMessage(
        "content-available 1.0", fcmMessage(#""apns":{"payload":{"aps":{"content-available":1.0}}}"#), contentAvailable),
    BadMessage(
        "mutable-content true", fcmMessage(#""apns":{"payload":{"aps":{"mutable-content":true}}}"#),
        "message.apns.payload.aps.mutable-content"),
    BadMessage("priority 7", fcmMessage(#""apns":{"headers":{"apns-priority":"7"}}"#), applePriority),
    BadMessage(
        "background with priority 10",
        fcmMessage(
            #""apns":{"headers":{"apns-push-type":"background","apns-priority":"10"},"payload":{"aps":{"content-available":1}}}"#
        ),
        applePriority),
    BadMessage(
        "a silent payload with priority 10",
        fcmMessage(#""apns":{"headers":{"apns-priority":"10"},"payload":{"aps":{"content-available":1}}}"#),
        applePriority),
    BadMessage(
        "an expiration in words", fcmMessage(#""apns":{"headers":{"apns-expiration":"now"}}"#),
        "message.apns.headers.apns-expiration"),
    BadMessage(
        "a collapse id of 65 bytes",
        fcmMessage(#""apns":{"headers":{"apns-collapse-id":"\#(String(repeating: "c", count: 65))"}}"#),
        "message.apns.headers.apns-collapse-id"),
    BadMessage(
        "a label with a space", fcmMessage(#""fcm_options":{"analytics_label":"a b"}"#),
        "message.fcm_options.analytics_label"),
    BadMessage("4,097 bytes", messageOf(bytes: 4097), "message"),
    BadMessage("2,049 bytes to a topic", messageOf(bytes: 2049, target: #""topic":"news""#), "message"),
]

private let contentAvailable = "message.apns.payload.aps.content-available",
    applePriority = "message.apns.headers.apns-priority"

private let goodMessages = [
    fcmMessage(), fcmMessage(target: #""fid":"cXk3fLq0Qm2abcdefghijk""#),
    fcmMessage(target: #""topic":"news-1_a.b~c%20""#),
    fcmMessage(
        target: #""condition":"'a' in topics && ('b' in topics || !('c' in topics)) || 'd' in topics && 'e' in topics""#
    ),
    messageOf(bytes: 4096), messageOf(bytes: 2048, target: #""topic":"news""#),
    fcmMessage(#""data":{"order":"7","fromage":"x"}"#), fcmMessage(#""android":{"ttl":"0s"}"#),
    fcmMessage(#""android":{"ttl":"2419200s"}"#),
    fcmMessage(#""android":{"ttl":"3.000000001s"}"#),
    fcmMessage(#""android":{"priority":"high","collapseKey":"sale"}"#),
    fcmMessage(
        ##""android":{"notification":{"color":"#00ff7F","vibrate_timings":["0.2s"],"visibility":"PUBLIC","notification_count":3}}"##
    ),
    fcmMessage(
        #""apns":{"headers":{"apns-push-type":"background","apns-priority":"5"},"payload":{"aps":{"content-available":1}}}"#
    ),
    fcmMessage(
        #""apns":{"headers":{"apns-priority":"10"},"payload":{"aps":{"content-available":1,"mutable-content":1,"alert":"x"},"own":[{"a":1}]}}"#
    ),
    fcmMessage(
        #""webpush":{"headers":{"TTL":"3"},"notification":{"any":{"thing":true}},"fcm_options":{"link":"https://a.b"}}"#
    ),
    fcmMessage(#""android":{"notification":{"sticky":1,"local_only":0,"default_sound":true}}"#),
    fcmMessage(#""fcm_options":{"analytics_label":"sale-2026"}"#),
    #"{"validate_only":false,"message":{"token":"\#(fcmToken)"}}"#,
]

@Suite("A message to FCM")
struct FCMMessageTests {
    @Test("the Data API counts labels by day, for tokens of the whole cloud, and knows its own projects only")
    func deliveryData() throws {
        let fixture = FCMFixture(),
            path = "/v1beta1/projects/shop-1a2b/androidApps/1:2:android:ab/deliveryData?pageSize=10000"
        func ask(_ token: String?, _ path: String = path) -> FCMReply {
            fixture.decide(
                fcmRequest(path: path, method: "GET", type: nil, authorization: "Bearer \(token ?? "")", body: ""))
        }
        var assertion = FCMAssertion()
        assertion.scope = "https://www.googleapis.com/auth/cloud-platform"
        let token = fixture.accessToken(assertion)
        #expect(json(ask(token)) == .object([]))
        for label in ["a", "b", "a"] {
            let (answer, request) = fixture.send(fcmMessage(#""fcm_options":{"analytics_label":"\#(label)"}"#))
            #expect(answer.status == 200)
            fixture.rules.take(request)
        }
        guard case .array(let days)? = json(ask(token))?["androidDeliveryData"] else {
            Issue.record("no data")
            return
        }
        #expect(days.map { $0["analyticsLabel"]?.stringValue } == ["a", "b"])
        #expect(days.map { $0["data"]?["countMessagesAccepted"]?.stringValue } == ["2", "1"])
        #expect(days[0]["date"]?["year"] != nil && days[0]["appId"] == .string("1:2:android:ab"))
        #expect(ask(fixture.accessToken()).status == 403, "a token for messages alone")
        #expect(ask(token, path.replacing("shop-1a2b", with: "news-3c4d")).status == 403)
        #expect(ask("x").status == 401 && ask(token, path.replacing(":android:", with: ":ios:")).status == 404)
    }

    @Test("that keeps all rules is accepted and gets a name", arguments: goodMessages) func accepted(_ body: String) {
        let (answer, request) = FCMFixture().send(body)
        #expect(answer.status == 200, "\(String(decoding: answer.text, as: UTF8.self))")
        let name = json(answer)?["name"]?.stringValue
        #expect(name?.hasPrefix("projects/shop-1a2b/messages/0:") == true)
        #expect(request.addressee?.id == name)
        #expect(request.kind == .push)
    }

    @Test("that breaks a rule is INVALID_ARGUMENT at its field", arguments: badForms + badValues) func refused(
        _ bad: BadMessage
    ) {
        let answer = FCMFixture().send(bad.body).answer
        #expect((answer.status, answer.reason) == (400, "INVALID_ARGUMENT"))
        let error = json(answer)?["error"]
        #expect(error?["code"] == .integer(400))
        #expect(error?["status"] == .string("INVALID_ARGUMENT"))
        #expect(error?["message"]?.stringValue?.isEmpty == false)
        #expect(violatedField(answer) == bad.field)
        #expect(errorCode(answer) == (bad.hasWord ? "INVALID_ARGUMENT" : nil))
    }

    @Test("that is not UTF-8 is refused") func notUTF8() {
        let fixture = FCMFixture()
        let request = fcmRequest(
            path: fcmPath, type: "application/json", authorization: "Bearer \(fixture.accessToken() ?? "")",
            body: #"{"message":{"token":""#
        )
        [0xFF, 0xFE].withUnsafeBufferPointer { request.addPayload($0) }
        withBytes(of: #""}}"#) { request.addPayload($0) }
        #expect(fixture.decide(request).status == 400)
    }

    @Test(
        "needs the content type of JSON",
        arguments: [nil, "text/plain", fcmFormType, "application/json; charset=latin1"])
    func contentType(_ type: String?) { #expect(FCMFixture().send(fcmMessage(), type: type).answer.status == 400) }

    @Test(
        "may have a content type with parameters",
        arguments: [
            "application/json; charset=UTF-8", "application/json;charset=\"utf-8\"",
            "Application/JSON; v=1; charset=utf-8",
        ])
    func parameters(_ type: String) { #expect(FCMFixture().send(fcmMessage(), type: type).answer.status == 200) }

    @Test(
        "to another path or by another method is answered in HTML, and is no push",
        arguments: [
            ("POST", "/v1/projects/shop-1a2b/messages"), ("POST", "/v1/projects//messages:send"), ("POST", "/"),
            ("GET", fcmPath),
            ("POST", "/v1/projects/a/b/messages:send"), ("GET", "/token"), ("POST", fcmPath + "?alt=json"),
        ])
    func elsewhere(_ method: String, _ path: String) {
        let fixture = FCMFixture()
        let bearer = "Bearer \(fixture.accessToken() ?? "")"
        let request = fcmRequest(
            path: path, method: method, type: "application/json", authorization: bearer, body: fcmMessage())
        #expect(fixture.decide(request).status == 404)
        #expect(request.kind == .other)
        #expect(String(decoding: fixture.rules.header(of: request).value, as: UTF8.self).hasPrefix("text/html"))
    }

    @Test(
        "with validate_only is checked, named fake_message_id, and not in the ledger",
        arguments: ["validate_only", "validateOnly"])
    func dryRun(_ key: String) {
        let fixture = FCMFixture()
        let (answer, request) = fixture.send(#"{"\#(key)":true,"message":{"token":"\#(fcmToken)"}}"#)
        #expect(json(answer)?["name"] == .string("projects/shop-1a2b/messages/fake_message_id"))
        #expect(request.kind == .dryRun)
        #expect(fixture.send(#"{"validate_only":true,"message":{"token":"x"}}"#).answer.status == 400)
    }

    @Test("names every accepted message differently") func names() {
        let fixture = FCMFixture()
        #expect(Set((0..<100).map { _ in fixture.send(fcmMessage()).request.addressee?.id }).count == 100)
    }

    @Test("whose headers alone have come is not accepted") func early() {
        let fixture = FCMFixture()
        let bearer = "Bearer \(fixture.accessToken() ?? "")"
        let request = fcmRequest(path: fcmPath, type: "application/json", authorization: bearer, body: "")
        #expect(fixture.decide(request, hasBody: false).status == 503)
    }
}

@Suite("The quota of a project of FCM")
struct FCMQuotaTests {
    @Test("is for any minute: what is one too many is refused, and only that does not count")
    func minute() {
        let fixture = FCMFixture { $0.issuer.messagesPerMinute = 3 }
        let bearer = "Bearer \(fixture.accessToken() ?? "")"
        func status(at seconds: Double, _ body: String = fcmMessage()) -> Int {
            fixture.send(body, authorization: bearer, at: noon.adding(seconds: seconds)).answer.status
        }
        #expect([status(at: 30), status(at: 40, "{}"), status(at: 50)] == [200, 400, 200])
        let refused = fixture.send(fcmMessage(), authorization: bearer, at: noon.adding(seconds: 61)).answer
        #expect((refused.status, refused.reason) == (429, "QUOTA_EXCEEDED"))
        #expect([status(at: 89), status(at: 90), status(at: 91), status(at: 100)] == [429, 200, 429, 200])
    }

    @Test("is each project's own")
    func projects() {
        let fixture = FCMFixture { $0.issuer.messagesPerMinute = 1 }
        var assertion = FCMAssertion()
        (assertion.account, assertion.issuer, assertion.keyID) = (
            FCMFixture.other, FCMFixture.other.clientEmail, FCMFixture.other.keyID
        )
        let other = "Bearer \(fixture.accessToken(assertion) ?? "")"
        #expect(fixture.send(fcmMessage()).answer.status == 200)
        #expect(fixture.send(fcmMessage()).answer.status == 429)
        #expect(
            fixture.send(fcmMessage(), path: "/v1/projects/news-3c4d/messages:send", authorization: other).answer.status
                == 200)
    }
}

@Suite("A device of FCM")
struct FCMDeviceTests {
    @Test(
        "with certain first digits is refused for good",
        arguments: [
            ("00000404", 404, "UNREGISTERED", "NOT_FOUND"), ("00000400", 400, "INVALID_ARGUMENT", "INVALID_ARGUMENT"),
            ("00000403", 403, "SENDER_ID_MISMATCH", "PERMISSION_DENIED"),
            ("00000401", 401, "THIRD_PARTY_AUTH_ERROR", "UNAUTHENTICATED"),
            ("00000000", 400, "INVALID_ARGUMENT", "INVALID_ARGUMENT"),
        ])
    func permanent(_ prefix: String, _ status: Int, _ code: String, _ word: String) {
        let fixture = FCMFixture()
        for key in ["token", "fid"] {
            for _ in 0..<2 {
                let length = key == "fid" ? 22 : 142
                let rest = String(repeating: prefix == "00000000" ? "0" : "a", count: length - prefix.utf8.count)
                let device = prefix + rest
                let answer = fixture.send(fcmMessage(target: #""\#(key)":"\#(device)""#)).answer
                #expect((answer.status, answer.reason) == (status, code))
                #expect(json(answer)?["error"]?["status"] == .string(word))
                #expect(errorCode(answer) == code)
                #expect(violatedField(answer) == (status == 400 ? "message.\(key)" : nil))
            }
        }
    }

    @Test(
        "with other first digits is refused once",
        arguments: [
            ("00000429", 429, "QUOTA_EXCEEDED", "RESOURCE_EXHAUSTED"), ("00000500", 500, "INTERNAL", "INTERNAL"),
            ("00000503", 503, "UNAVAILABLE", "UNAVAILABLE"),
        ])
    func temporary(_ prefix: String, _ status: Int, _ code: String, _ word: String) {
        let fixture = FCMFixture()
        let body = fcmMessage(target: #""token":"\#(fcmDevice(prefix))""#)
        let answer = fixture.send(body).answer
        #expect((answer.status, answer.reason) == (status, code))
        #expect(json(answer)?["error"]?["status"] == .string(word))
        #expect(errorCode(answer) == code)
        #expect(fixture.send(body).answer.status == 200)
    }

    @Test("with an answer of its own gets it as often as configured, and its case matters") func fixedAnswers() {
        let fixture = FCMFixture {
            $0.faults.answers[fcmToken] = SimulatedAnswer(status: 404, reason: "UNREGISTERED", times: 2)
        }
        #expect(fixture.send(fcmMessage(target: #""token":"\#(fcmToken.lowercased())""#)).answer.status == 200)
        #expect((0..<3).map { _ in fixture.send(fcmMessage()).answer.status } == [404, 404, 200])
    }

    @Test("with an answer that no word of FCM explains gets one without it") func withoutWord() {
        let fixture = FCMFixture { $0.faults.answers[fcmToken] = SimulatedAnswer(status: 404, reason: "NOT_FOUND") }
        let answer = fixture.send(fcmMessage()).answer
        #expect(json(answer)?["error"]?["status"] == .string("NOT_FOUND"))
        #expect(errorCode(answer) == nil)
    }

    @Test("is told with both details, one or none", arguments: RefusalDetails.allCases) func details(
        _ details: RefusalDetails
    ) {
        let fixture = FCMFixture { $0.issuer.errorDetails = details }
        let answer = fixture.send(fcmMessage(target: #""token":"\#(fcmDevice("00000400"))""#)).answer
        #expect(json(answer)?["error"]?["status"] == .string("INVALID_ARGUMENT"))
        #expect(errorCode(answer) == (details == .none ? nil : "INVALID_ARGUMENT"))
        #expect(violatedField(answer) == (details == .both ? "message.token" : nil))
        #expect((json(answer)?["error"]?["details"] == nil) == (details == .none))
    }
}

private func details(_ answer: FCMReply, _ type: String) -> JSONValue? {
    guard case .array(let details)? = json(answer)?["error"]?["details"] else { return nil }
    return details.first { $0["@type"]?.stringValue == "type.googleapis.com/\(type)" }
}

private func errorCode(_ answer: FCMReply) -> String? {
    details(answer, "google.firebase.fcm.v1.FcmError")?["errorCode"]?.stringValue
}

private func violatedField(_ answer: FCMReply) -> String? {
    guard case .array(let violations)? = details(answer, "google.rpc.BadRequest")?["fieldViolations"] else {
        return nil
    }
    return violations.first?["field"]?.stringValue
}
