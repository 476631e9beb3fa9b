import Base
import Cryptography
import Testing

@testable import Simulators

private func users(_ count: Int, start: String = "user") -> [String] { (0..<count).map { "\(start)\($0)" } }

/// A body that breaks a rule.
struct BadPush: CustomTestStringConvertible {
    var testDescription: String
    var body: String
    var code: Int64
    /// What the text of the answer begins with.
    var place: String

    init(_ name: String, _ body: String, _ place: String, code: Int64 = 1002) {
        (testDescription, self.body, self.code, self.place) = (name, body, code, place)
    }
}

private let badPushes = [
    BadPush("no users", #"{"notification":{"pushContent":"x"}}"#, "userIds: it is required"),
    BadPush("an empty list of users", rongCloudPush([]), "userIds: 0 values"),
    BadPush("101 users", rongCloudPush(users(101)), "userIds: 101 values"),
    BadPush("users as a text", #"{"userIds":"anna","notification":{"pushContent":"x"}}"#, "userIds: it must be a list"),
    BadPush(
        "a user that is a number", #"{"userIds":[7],"notification":{"pushContent":"x"}}"#,
        "userIds.0: it must be a text"),
    BadPush("an empty user", rongCloudPush([""]), "userIds.0: it is no user ID"),
    BadPush("a user with a sign", rongCloudPush(["anna", "bert@example.com"]), "userIds.1: it is no user ID"),
    BadPush(
        "a user of 65 characters", rongCloudPush([String(repeating: "a", count: 65)]), "userIds.0: a user ID has",
        code: 1005),
    BadPush("a user twice", rongCloudPush(["anna", "bert", "anna"]), "A user comes twice"),
    BadPush("no notification", #"{"userIds":["anna"]}"#, "notification: it is required"),
    BadPush("no text", rongCloudPush(text: #""title":"x""#), "notification.pushContent: it is required"),
    BadPush(
        "an empty text", rongCloudPush(text: #""pushContent":"""#), "notification.pushContent: it must not be empty"),
    BadPush(
        "a blank text", rongCloudPush(text: #""pushContent":" \n""#), "notification.pushContent: it must not be empty"),
    BadPush(
        "a text that is null", rongCloudPush(text: #""pushContent":null"#),
        "notification.pushContent: it must be a text"),
    BadPush(
        "the text's name of another call", rongCloudPush(text: #""alert":"x""#), "notification.alert: unknown name"),
    BadPush(
        "a title of 51 characters", rongCloudPush(["anna"], #""title":"\#(String(repeating: "t", count: 51))""#),
        "notification.title: at most 50",
        code: 1005),
    BadPush(
        "a title of 26 emoji, which Java counts twice",
        rongCloudPush(["anna"], #""title":"\#(String(repeating: "🎉", count: 26))""#),
        "notification.title: at most 50", code: 1005),
    BadPush("an unknown name", rongCloudPush(["anna"], #""sound":"bell.caf""#), "notification.sound: unknown name"),
    BadPush(
        "an unknown name at the top", #"{"userIds":["anna"],"userids":[],"notification":{"pushContent":"x"}}"#,
        "userids: unknown name"),
    BadPush(
        "a name twice", rongCloudPush(["anna"], #""title":"a","title":"b""#),
        "notification.title: it occurs more than once"),
    BadPush(
        "a name twice in extras", rongCloudPush(["anna"], #""ios":{"extras":{"a":"1","a":"2"}}"#),
        "notification.ios.extras.a: it occurs"),
    BadPush(
        "a number in extras", rongCloudPush(["anna"], #""ios":{"extras":{"order":7}}"#),
        "notification.ios.extras.order: it must be a text"),
    BadPush(
        "extras as a text", rongCloudPush(["anna"], #""android":{"extras":"{}"}"#),
        "notification.android.extras: it must be an object"),
    BadPush(
        "an object in extras of HarmonyOS", rongCloudPush(["anna"], #""harmonyOS":{"extras":{"a":{}}}"#),
        "notification.harmonyOS.extras.a: it must be a text"),
    BadPush(
        "contentAvailable true", rongCloudPush(["anna"], #""ios":{"contentAvailable":true}"#),
        "notification.ios.contentAvailable: it must be a"),
    BadPush(
        "contentAvailable 2", rongCloudPush(["anna"], #""ios":{"contentAvailable":2}"#),
        "notification.ios.contentAvailable: it must be from"),
    BadPush(
        "a badge of 10,000", rongCloudPush(["anna"], #""ios":{"badge":10000}"#),
        "notification.ios.badge: it must be from"),
    BadPush(
        "a badge as a text", rongCloudPush(["anna"], #""ios":{"badge":"+1"}"#),
        "notification.ios.badge: it must be a whole number"),
    BadPush(
        "a collapse id of 65 characters",
        rongCloudPush(["anna"], #""ios":{"apns-collapse-id":"\#(String(repeating: "c", count: 65))"}"#),
        "notification.ios.apns-collapse-id: at most 64", code: 1005),
    BadPush(
        "an image without a category", rongCloudPush(["anna"], #""ios":{"richMediaUri":"https://a.example/b.png"}"#),
        "notification.ios.rich"),
    BadPush(
        "an image that is not secure",
        rongCloudPush(["anna"], #""ios":{"richMediaUri":"http://a.example/b.png","category":"c"}"#),
        "notification.ios.richMediaUri: it must begin"),
    BadPush(
        "a class of vivo as a number", rongCloudPush(["anna"], #""android":{"vivo":{"classification":0}}"#),
        "notification.android.vivo.classification: it must be a text"),
    BadPush(
        "a badge of Android", rongCloudPush(["anna"], #""android":{"badge":1}"#),
        "notification.android.badge: unknown name"),
    BadPush(
        "a platform, which this call has not", rongCloudPush(["anna"], #""platform":["ios"]"#),
        "notification.platform: unknown name"),
    BadPush("a list", "[]", "it must be an object"), BadPush("no JSON", "{", "The body is not JSON"),
    BadPush("nothing", "", "There is no data", code: 1003),
    BadPush(
        "4,097 bytes", rongCloudPush(text: #""pushContent":"\#(String(repeating: "x", count: 4097 - 18))""#),
        "notification: 4097 bytes",
        code: 1005),
]

private let goodPushes = [
    // As RongCloud's SDK for Go writes them.
    rongCloudPush(["anna"], #""ios":{"threadId":"news","interruption-level":"passive"}"#),
    rongCloudPush(
        ["anna"],
        #""android":{"channelId":"c","importance":"LOW","large_icon_uri":"https://a.b/c.png","classification":"0"}"#),
    rongCloudPush(
        ["anna"],
        #""android":{"honor":{"importance":"LOW"},"fcm":{"channelId":"c"},"oppo":{"category":"c","notify_level":2}}"#),
    rongCloudPush(), rongCloudPush(users(100)), rongCloudPush([String(repeating: "A-_+=9", count: 10) + "abcd"]),
    rongCloudPush(["anna"], #""title":"\#(String(repeating: "字", count: 50))""#),
    rongCloudPush(text: #""pushContent":"\#(String(repeating: "x", count: 4096 - 18))""#),
    rongCloudPush(
        ["anna"],
        #""ios":{"badge":0,"thread-id":"news","apns-collapse-id":"sale","contentAvailable":1,"extras":{"link":"shop://a"}}"#
    ),
    rongCloudPush(
        ["anna"],
        #""ios":{"badge":-1,"category":"rich","richMediaUri":"https://a.example/b.png"},"forceShowPushContent":1"#),
    rongCloudPush(
        ["anna"],
        #""android":{"extras":{"a":"1"},"hw":{"channelId":"c","importance":"NORMAL"},"vivo":{"classification":"1"}}"#),
    rongCloudPush(
        ["anna"],
        #""android":{"hw":{"category":"MARKETING"},"honor":{"importance":"LOW"},"oppo":{"channelId":"c","category":"MARKETING"},"vivo":{"classification":"0","category":"MARKETING"}}"#
    ),
    rongCloudPush(
        ["anna"],
        #""harmonyOS":{"alert":"Hi","extras":{},"ohos":{"image":"https://a.example/b.png","category":"MARKETING"}}"#),
]

@Suite("A push to users of RongCloud")
struct RongCloudPushTests {
    @Test("that keeps all rules is accepted, and all its users share one id", arguments: goodPushes) func accepted(
        _ body: String
    ) throws {
        let fixture = RongCloudFixture()
        let request = RongCloudHeaders().request(body: body)
        let answer = fixture.decide(request)
        #expect((answer.status, answer.code) == (200, 200), "\(answer.text)")
        let id = try #require(answer.id)
        #expect(request.addressees.allSatisfy { $0.id == id && $0.kind == "user" } && !request.addressees.isEmpty)
        #expect(request.kind == .push)
    }

    @Test("that breaks a rule is refused at its place", arguments: badPushes) func refused(_ bad: BadPush) {
        let answer = RongCloudFixture().send(bad.body)
        #expect((answer.status, answer.code) == (400, bad.code))
        #expect(answer.text.hasPrefix(bad.place), "\(answer.text)")
        #expect(answer.id == nil)
    }

    @Test("that is not UTF-8 is refused") func notUTF8() {
        let request = RongCloudHeaders().request(body: #"{"userIds":[""#)
        [0xFF, 0xFE].withUnsafeBufferPointer { request.addPayload($0) }
        withBytes(of: #""],"notification":{"pushContent":"x"}}"#) { request.addPayload($0) }
        #expect(RongCloudFixture().decide(request).code == 1002)
    }

    @Test(
        "needs the content type of JSON",
        arguments: [nil, "text/plain", "application/x-www-form-urlencoded", "application/json; charset=gbk"])
    func contentType(_ type: String?) { #expect(RongCloudFixture().send(rongCloudPush(), type: type).code == 1002) }

    @Test(
        "may have a content type with parameters",
        arguments: ["application/json; charset=UTF-8", "application/json;charset:utf-8"])
    func parameters(_ type: String) { #expect(RongCloudFixture().send(rongCloudPush(), type: type).code == 200) }

    @Test(
        "to another path or by another method is no push",
        arguments: [
            (404, "POST", "/push/users.json"), (404, "POST", "/push/user.xml"), (404, "POST", "/"),
            (404, "POST", rongCloudPath + "?a=b"),
            (405, "GET", rongCloudPath),
        ])
    func elsewhere(_ status: Int, _ method: String, _ path: String) {
        let request = RongCloudHeaders().request(path: path, method: method, body: rongCloudPush())
        #expect(RongCloudFixture().decide(request).status == status)
        #expect(request.kind == .other)
    }

    @Test("whose headers alone have come is not accepted") func early() {
        let answer = RongCloudFixture().decide(RongCloudHeaders().request(body: ""), hasBody: false)
        #expect((answer.status, answer.code) == (500, 1000))
    }

    @Test("has an id of its own") func ids() {
        let fixture = RongCloudFixture()
        #expect(Set((0..<50).map { fixture.send(rongCloudPush(["user\($0)"])).id }).count == 50)
    }
}

@Suite("The signature of a request to RongCloud")
struct RongCloudSignatureTests {
    private func answer(_ change: (inout RongCloudHeaders) -> Void) -> RongCloudAnswer {
        var headers = RongCloudHeaders()
        change(&headers)
        return RongCloudFixture().decide(headers.request(body: rongCloudPush()))
    }

    @Test("is the SHA-1 of secret, number and time, as sha1sum calculates it") func known() {
        // printf '%s' 6gs1PwtMDVkU8v143141796000000 | sha1sum
        let answer = answer {
            ($0.nonce, $0.time, $0.signature) = ("14314", "1796000000", "d74753b2be6790d6600ff14aa98920e5a25954a9")
        }
        #expect(answer.code == 200)
    }

    @Test("counts for the header values of this request alone") func otherValues() {
        #expect(answer { $0.nonce? += "1" }.code == 1004)
        #expect(answer { $0.time = String(noon.epochSeconds + 1) }.code == 1004)
        #expect(answer { $0.signature = $0.signature?.uppercased() }.code == 1004)
        #expect(answer { $0.sign(with: RongCloudFixture.other.secret) }.code == 1004)
        #expect(answer { $0.account = RongCloudFixture.other.app }.code == 1004)
        #expect(answer { _ in }.code == 200)
    }

    @Test("of an app that does not exist is refused as one with a wrong secret") func unknownApp() {
        let answer = answer { $0.account = "nobody" }
        #expect((answer.status, answer.code) == (401, 1001))
    }

    @Test("needs each of its headers") func missing() {
        for path in [\RongCloudHeaders.account, \.nonce, \.time, \.signature] {
            let answer = answer { $0[keyPath: path] = nil }
            #expect((answer.status, answer.code) == (401, 1004))
        }
    }

    @Test("takes a number of 1 to 18 characters") func nonceLength() {
        func code(_ length: Int) -> Int64? {
            answer {
                $0.nonce = String(repeating: "7", count: length)
                $0.sign()
            }.code
        }
        #expect([code(1), code(18), code(19), code(0)] == [200, 200, 1004, 1004])
    }

    @Test("takes a number once, also with a refused request, from each app") func nonceReuse() {
        let fixture = RongCloudFixture()
        func code(of app: TrustedSecret, _ nonce: String, body: String = rongCloudPush()) -> Int64? {
            var headers = RongCloudHeaders(of: app)
            headers.nonce = nonce
            headers.sign(with: app.secret)
            return fixture.decide(headers.request(body: body)).code
        }
        #expect(
            [
                code(of: RongCloudFixture.app, "1"), code(of: RongCloudFixture.app, "1"),
                code(of: RongCloudFixture.other, "1"),
            ] == [
                200, 1004, 200,
            ])
        #expect(
            [code(of: RongCloudFixture.app, "2", body: "{}"), code(of: RongCloudFixture.app, "2")] == [1002, 1004])
    }

    @Test("takes seconds and milliseconds, near its own clock") func times() {
        func code(_ time: String) -> Int64? {
            answer {
                $0.time = time
                $0.sign()
            }.code
        }
        let now = noon.epochSeconds
        #expect(
            [code("\(now)"), code("\(now)123"), code("\(now + 300)"), code("\(now - 300)")] == [200, 200, 200, 200])
        #expect([code("\(now + 301)"), code("\(now - 301)"), code("\(now - 301)999")] == [1004, 1004, 1004])
        #expect([code("\(now)1"), code("-\(now)"), code("now"), code("\(now).5")] == [1004, 1004, 1004, 1004])
    }

    @Test("comes once: a header that is there twice is refused") func twice() {
        let request = RongCloudHeaders().request(body: rongCloudPush())
        withBytes(of: "nonce") { name in withBytes(of: "5") { request.add(named: name, $0) } }
        #expect(RongCloudFixture().decide(request).status == 404)
    }
}

@Suite("The limits of an app of RongCloud")
struct RongCloudQuotaTests {
    @Test("are 100 recipients in a second, however many calls carry them, and what is refused does not count")
    func recipients() {
        let fixture = RongCloudFixture()
        func code(_ count: Int, _ start: String, at seconds: Double) -> Int64? {
            fixture.send(rongCloudPush(users(count, start: start)), at: noon.adding(seconds: seconds)).code
        }
        #expect(
            [code(60, "a", at: 0), code(39, "b", at: 0.5), code(2, "c", at: 0.8), code(1, "d", at: 0.9)] == [
                200, 200, 1008, 200,
            ])
        #expect([code(1, "e", at: 0.95), code(100, "f", at: 1), code(1, "g", at: 1.9)] == [1008, 200, 1008])
        #expect(fixture.send("{}", at: noon.adding(seconds: 2)).code == 1002)
        #expect(code(100, "h", at: 2) == 200)
        #expect(fixture.send(rongCloudPush(users(1)), at: noon.adding(seconds: 2)).status == 429)
    }

    @Test("are more for an app that bought more, and each app's own") func bought() {
        let fixture = RongCloudFixture { $0.issuer.messagesPerMinute = 12_000 }
        #expect((0..<3).map { fixture.send(rongCloudPush(users(100, start: "\($0)x"))).code } == [200, 200, 1008])
        #expect(fixture.send(rongCloudPush(users(100)), of: RongCloudFixture.other).code == 200)
    }

    @Test("let no call count that a fault kept from the service") func faults() {
        let fixture = RongCloudFixture()
        let request = RongCloudHeaders().request(body: rongCloudPush(users(100)))
        fixture.rules.decide(request, hasBody: true, memory: ConnectionMemory(), now: noon)
        fixture.rules.refuse(request, as: Answer(status: 429, reason: "TooManyRequests"))
        #expect(RongCloudAnswer(request).code == 1008 && request.addressees.allSatisfy { $0.id.isEmpty })
        #expect(fixture.send(rongCloudPush(users(100))).code == 200)
    }

    @Test("are two broadcasts in any hour, and three on a day in Beijing") func broadcasts() {
        let fixture = RongCloudFixture()
        let body = #"{"platform":["ios","android"],"audience":{"is_to_all":true},"notification":{"alert":"Hello"}}"#
        // Noon of the tests, 2026-11-30 00:53:20 UTC, is 08:53:20 in Beijing: the day ends a little
        // more than fifteen hours later.
        func code(atHour hour: Double) -> Int64? {
            fixture.send(body, path: "/push.json", at: noon.adding(seconds: hour * 3600)).code
        }
        #expect([code(atHour: 0), code(atHour: 0.5), code(atHour: 0.9), code(atHour: 1.0)] == [200, 200, 1008, 200])
        #expect([code(atHour: 5), code(atHour: 15), code(atHour: 15.2)] == [1008, 1008, 200])
    }

    @Test("are twenty calls of Push Plus in any hour") func custom() {
        let fixture = RongCloudFixture()
        let body =
            #"{"platform":["ios"],"audience":{"is_to_all":false,"tag":["vip"]},"notification":{"alert":"Hello"}}"#
        let codes = (0..<22).map {
            fixture.send(body, path: "/push/custom.json", at: noon.adding(seconds: Double($0))).code
        }
        #expect(codes == Array(repeating: 200, count: 20) + [1008, 1008])
    }
}

@Suite("A broadcast of RongCloud")
struct RongCloudBroadcastTests {
    private static func body(
        _ audience: String, platform: String = #"["ios"]"#, notification: String = #"{"alert":"x"}"#
    ) -> String {
        #"{"platform":\#(platform),"audience":\#(audience),"notification":\#(notification)}"#
    }

    @Test(
        "to everybody, tags, a package or users is accepted",
        arguments: [
            (body(#"{"is_to_all":true}"#), 1), (body(#"{"is_to_all":false,"tag":["a","b"],"tag_or":["c"]}"#), 3),
            (body(#"{"is_to_all":false,"packageName":"com.example.shop"}"#), 1),
            (body(#"{"is_to_all":false,"userid":[\#(users(1000).map { "\"\($0)\"" }.joined(separator: ","))]}"#), 1000),
        ])
    func accepted(_ body: String, _ targets: Int) {
        let request = RongCloudHeaders().request(path: "/push.json", body: body)
        #expect(RongCloudFixture().decide(request).code == 200)
        #expect(request.addressees.count == targets)
    }

    @Test(
        "that says too little or too much is refused",
        arguments: [
            body("{}"), body(#"{"is_to_all":false}"#), body(#"{"is_to_all":1}"#),
            body(#"{"is_to_all":true}"#, platform: "[]"),
            body(#"{"is_to_all":true}"#, platform: #"["windows"]"#),
            body(#"{"is_to_all":true}"#, notification: #"{"pushContent":"x"}"#),
            body(#"{"is_to_all":false,"tag":[\#(users(21).map { "\"\($0)\"" }.joined(separator: ","))]}"#),
            body(#"{"is_to_all":false,"userid":[\#(users(1001).map { "\"\($0)\"" }.joined(separator: ","))]}"#),
            #"{"audience":{"is_to_all":true},"notification":{"alert":"x"}}"#,
        ])
    func refused(_ body: String) { #expect(RongCloudFixture().send(body, path: "/push.json").code == 1002) }

    @Test("of Push Plus names tags by rules, and no users") func custom() {
        func code(_ audience: String) -> Int64? {
            RongCloudFixture().send(Self.body(audience), path: "/push/custom.json").code
        }
        #expect(
            code(
                #"{"is_to_all":false,"tagItems":[{"tags":["a"],"isNot":true,"tagsOperator":"AND","itemsOperator":"OR"}]}"#
            ) == 200)
        #expect(code(#"{"is_to_all":false,"userid":["anna"]}"#) == 1002)
    }
}

@Suite("A user of RongCloud")
struct RongCloudUserTests {
    @Test(
        "with the digits of a code gives that code to the whole request",
        arguments: [
            (1001, 401), (1002, 400), (1003, 400), (1004, 401), (1005, 400), (1006, 401), (1007, 401), (1009, 430),
            (1050, 504),
            (2007, 403),
        ])
    func permanent(_ code: Int, _ status: Int) {
        let fixture = RongCloudFixture()
        for _ in 0..<2 {
            let answer = fixture.send(rongCloudPush(["anna", "0000\(code)x", "bert"]))
            #expect((answer.status, answer.code) == (status, Int64(code)))
        }
    }

    @Test("with the digits of a code that passes is refused once", arguments: [(1000, 500), (1008, 429)])
    func temporary(
        _ code: Int, _ status: Int
    ) {
        let fixture = RongCloudFixture()
        let first = fixture.send(rongCloudPush(["0000\(code)x"]))
        #expect((first.status, first.code) == (status, Int64(code)))
        #expect(fixture.send(rongCloudPush(["0000\(code)x"])).code == 200)
    }

    @Test(
        "with other digits is a user like any other",
        arguments: ["00000404x", "00009999", "1002", "00000000", "0000100"])
    func others(_ user: String) { #expect(RongCloudFixture().send(rongCloudPush([user])).code == 200) }

    @Test("with an answer of its own gets it as often as configured, and its case matters") func fixedAnswers() {
        let fixture = RongCloudFixture {
            $0.faults.answers["anna"] = SimulatedAnswer(status: 400, reason: "1005", times: 2)
        }
        #expect(fixture.send(rongCloudPush(["Anna"])).code == 200)
        #expect((0..<3).map { _ in fixture.send(rongCloudPush(["anna", "bert"])).code } == [1005, 1005, 200])
    }
}
