import Base
import Testing

@testable import Simulators

@Suite("The simulator of JPush")
struct JPushMessageTests {
    private func code(_ body: String, isPaid: Bool = false) -> Int64? {
        JPushFixture { $0.isPaid = isPaid }.send(body).code
    }

    @Test("takes a push, repeats its number, and gives it an id") func takes() {
        let answer = JPushFixture().send(
            JPushBody.with { $0.options = #"{"apns_production":false,"sendno":18,"time_to_live":60}"# })
        #expect(answer.status == 200 && answer.code == nil)
        #expect(answer.body?["sendno"] == .string("18"))
        #expect(answer.messageID?.isEmpty == false)
        #expect(answer.request.addressees.map(\.target) == [jpushID(1), jpushID(2)])
        #expect(answer.request.addressees.allSatisfy { $0.kind == "registration_id" && $0.id == answer.messageID })
    }

    // MARK: Method, path, credentials, form

    @Test("refuses other paths and methods") func pathsAndMethods() {
        let fixture = JPushFixture()
        #expect(fixture.send(JPushBody().text, path: "/v3/pushes").code == 1020)
        #expect(fixture.send(JPushBody().text, path: "/v3/push?x=1").code == 1020)
        func method(_ path: String, _ method: String) -> JPushAnswer {
            fixture.decide(
                JPushFixture.request(
                    path: path, method: method, type: nil, authorization: JPushFixture.authorization, body: ""))
        }
        #expect(method("/v3/push", "GET").code == 1001 && method("/v3/push", "GET").status == 405)
        #expect(method("/v3/push/cid", "POST").code == 1001)
    }

    @Test(
        "demands the app key and its secret",
        arguments: [
            (nil, 401, 1004), (JPushFixture.basic(JPushFixture.app, "wrong"), 401, 1004),
            (JPushFixture.basic("unknown", "x"), 400, 1008),
            (JPushFixture.basic(JPushFixture.app, "another"), 401, 1004), ("Bearer abc", 401, 1004),
            ("Basic !!!!", 401, 1004),
            (JPushFixture.authorization.lowercased(), 401, 1004), (JPushFixture.basic("other", "another"), 200, nil),
        ] as [(String?, Int, Int64?)])
    func credentials(_ header: String?, _ status: Int, _ code: Int64?) {
        let answer = JPushFixture().send(JPushBody().text, authorization: header)
        #expect(answer.status == status && answer.code == code)
    }

    @Test("demands JSON, said to be JSON", arguments: [nil, "text/plain", "application/json; charset=gbk"])
    func contentType(
        _ type: String?
    ) {
        #expect(JPushFixture().send(JPushBody().text, type: type).code == 1009)
        // JPush's SDK for Python writes the second one.
        for type in ["application/json; charset=utf-8", "application/json;charset:utf-8", "application/json; v=1"] {
            #expect(JPushFixture().send(JPushBody().text, type: type).status == 200, "\(type)")
        }
        #expect(JPushFixture().send("{").code == 1009)
        #expect(JPushFixture().send("\u{FF}").code == 1009)
    }

    @Test("accepts nothing that it has not read") func unread() {
        let fixture = JPushFixture()
        let request = JPushFixture.request(
            path: "/v3/push", type: "application/json", authorization: JPushFixture.authorization, body: "")
        #expect(fixture.decide(request, hasBody: false).code == 1030)
    }

    @Test(
        "refuses keys that it does not know, and keys that occur twice",
        arguments: [
            JPushBody.with { $0.more = #","title":"Hello""# }, JPushBody.with { $0.more = #","platform":"all""# },
            JPushBody.with { $0.notification = #"{"ios":{"alert":"x","contentAvailable":true}}"# },
            JPushBody.with { $0.notification = #"{"ios":{"alert":"x","extras":{"a":1,"a":2}}}"# },
            JPushBody.with { $0.options = #"{"apns_production":true,"ttl":1}"# },
            JPushBody.with { $0.audience = #"{"registration_ids":["\#(jpushID(1))"]}"# },
        ])
    func unknownKeys(_ body: String) { #expect(code(body) == 1009, "\(body)") }

    // MARK: What must be there

    @Test("demands platform, audience and something to say") func required() {
        #expect(code(JPushBody.with { $0.platform = nil }) == 1002)
        #expect(code(JPushBody.with { $0.audience = nil }) == 1002)
        #expect(code(JPushBody.with { $0.options = nil }) == nil)
        #expect(code(JPushBody.with { $0.options = #"{"sendno":1}"# }) == nil)
        #expect(code(JPushBody.with { $0.notification = nil }) == 1002)
        #expect(code(JPushBody.with { $0.notification = "{}" }) == 1002)
        #expect(code(JPushBody.with { $0.notification = #"{"ios":{"badge":"1"}}"# }) == 1002)
        #expect(code(JPushBody.with { ($0.notification, $0.message) = (nil, #"{"title":"x"}"#) }) == 1002)
        #expect(code(JPushBody.with { ($0.notification, $0.message) = (nil, #"{"msg_content":"x"}"#) }) == nil)
        #expect(code(JPushBody.with { $0.notification = #"{"alert":"Hello"}"# }) == nil)
    }

    @Test(
        "knows its platforms",
        arguments: [
            (#""all""#, nil), (#"["ios"]"#, nil), (#"["android","hmos","quickapp"]"#, nil), (#"["winphone"]"#, nil),
            (#""ios""#, 1003),
            (#"["symbian"]"#, 1003), ("[]", 1003), ("1", 1003),
        ] as [(String, Int64?)])
    func platforms(_ platform: String, _ expected: Int64?) {
        #expect(code(JPushBody.with { $0.platform = platform }) == expected)
    }

    @Test(
        "refuses an audience of nobody",
        arguments: ["{}", #"{"registration_id":[]}"#, #"{"registration_id":[],"tag":[]}"#, #""everyone""#, "[]"])
    func emptyAudience(_ audience: String) {
        #expect(code(JPushBody.with { $0.audience = audience }) == 1003)
        #expect(code(JPushBody.with { $0.audience = #""all""# }) == nil)
    }

    private static func names(_ key: String, _ count: Int) -> String {
        let names = (0..<count).map { key == "registration_id" ? jpushID($0) : "name\($0)" }
        return #"{"\#(key)":[\#(names.map { "\"\($0)\"" }.joined(separator: ","))]}"#
    }

    @Test(
        "counts names",
        arguments: [
            ("tag", 20), ("tag_and", 20), ("tag_not", 20), ("alias", 1000), ("registration_id", 1000), ("segment", 1),
        ])
    func counts(_ key: String, _ most: Int) {
        #expect(code(JPushBody.with { $0.audience = Self.names(key, most) }) == nil)
        #expect(code(JPushBody.with { $0.audience = Self.names(key, most + 1) }) == 1003)
    }

    @Test("takes an id once in a call") func repeatedID() {
        #expect(code(JPushBody.to([jpushID(1), jpushID(2), jpushID(1)])) == 1003)
    }

    @Test("takes everyone, tags and aliases, names them in the ledger, and knows names that no device has")
    func ownAudiences() {
        let fixture = JPushFixture()
        func send(_ audience: String) -> JPushAnswer { fixture.send(JPushBody.with { $0.audience = audience }) }
        let everyone = send(#""all""#), tags = send(#"{"tag":["a","b"]}"#), aliases = send(#"{"alias":["c"]}"#)
        #expect([everyone, tags, aliases].allSatisfy { $0.status == 200 && $0.messageID != nil })
        #expect(everyone.request.addressees.map { [$0.kind, $0.target] } == [["audience", "all"]])
        #expect(tags.request.addressees.map { [$0.kind, $0.target] } == [["tag", "a"], ["tag", "b"]])
        #expect(aliases.request.addressees.map { [$0.kind, $0.target] } == [["alias", "c"]])
        #expect(send(#"{"tag":["00001011x"]}"#).code == 1011 && send(#"{"alias":["00001011x"]}"#).code == 1011)
        #expect(send(#"{"tag":["00001011x","a"]}"#).status == 200)
        #expect(send(#"{"tag":["00000503x"]}"#).code == 1030 && send(#"{"tag":["00000503x"]}"#).status == 200)
    }

    @Test(
        "measures tags and aliases in bytes, and looks at their characters",
        arguments: [
            (String(repeating: "x", count: 40), nil), (String(repeating: "x", count: 41), 1003),
            (String(repeating: "深", count: 13), nil),
            (String(repeating: "深", count: 14), 1003), ("", 1003), ("a_@!#$&*+=.|￥9", nil), ("a b", 1003),
            ("a-b", 1003), ("é", 1003),
        ] as [(String, Int64?)])
    func names(_ name: String, _ expected: Int64?) {
        for key in ["tag", "alias"] {
            #expect(code(JPushBody.with { $0.audience = #"{"\#(key)":["\#(name)"]}"# }) == expected, "\(key)")
        }
    }

    // MARK: Values

    private static func ios(_ members: String) -> String {
        JPushBody.with { $0.notification = #"{"ios":{"alert":"x",\#(members)}}"# }
    }

    @Test("measures the object for iPhones, and what Android gets") func sizes() {
        func text(_ count: Int) -> String { String(repeating: "x", count: count) }
        // `{"alert":"x","sound":"…"}` has 24 bytes without the sound.
        #expect(code(Self.ios(#""sound":"\#(text(2000 - 24))""#)) == nil)
        #expect(code(Self.ios(#""sound":"\#(text(2000 - 23))""#)) == 1005)
        #expect(code(JPushBody.with { $0.notification = #"{"android":{"alert":"\#(text(3990))"}}"# }) == 1005)
        let both = JPushBody.with {
            $0.notification = #"{"android":{"alert":"\#(text(2000))"}}"#
            $0.message = #"{"msg_content":"\#(text(2000))"}"#
        }
        #expect(code(both) == 1005)
        #expect(code(JPushBody.with { $0.message = #"{"msg_content":"\#(text(3990))"}"# }) == 1005)
    }

    @Test(
        "knows how a badge is written",
        arguments: [
            (#""0""#, nil), (#""99""#, nil), (#""+1""#, nil), (#""-1""#, nil), (#""""#, nil), ("5", nil),
            (#""100""#, 1003),
            (#""++1""#, 1003), (#""one""#, 1003), ("100", 1003), ("-1", 1003), ("true", 1003),
        ] as [(String, Int64?)])
    func badges(_ badge: String, _ expected: Int64?) { #expect(code(Self.ios(#""badge":\#(badge)"#)) == expected) }

    @Test(
        "demands a text, a category and an intent for HarmonyOS",
        arguments: [
            (
                #"{"alert":"x","category":"MARKETING","intent":{"url":"action.system.home"},"badge_set_num":3,"test_message":true}"#,
                nil
            ),
            (#"{"alert":"","category":"MARKETING","intent":{"url":"a://b"}}"#, 1002),
            (#"{"alert":"x","intent":{"url":"a://b"}}"#, 1002),
            (#"{"alert":"x","category":"MARKETING"}"#, 1002),
            (#"{"alert":"x","category":"A","intent":{"url":"a"},"thread-id":"t"}"#, 1009),
        ] as [(String, Int64?)])
    func harmony(_ hmos: String, _ expected: Int64?) {
        #expect(code(JPushBody.with { $0.notification = #"{"hmos":\#(hmos)}"# }) == expected)
    }

    @Test(
        "knows the channels of makers, and their keys",
        arguments: [
            (
                #"{"vivo":{"classification":0,"category":"MARKETING"},"huawei":{"importance":"LOW","distribution":"first_ospush"}}"#,
                nil
            ),
            (#"{"sony":{}}"#, 1009), (#"{"vivo":{"klass":0}}"#, 1009), (#"{"vivo":{"classification":"0"}}"#, 1003),
        ] as [(String, Int64?)])
    func channels(_ channels: String, _ expected: Int64?) {
        let options = #"{"apns_production":true,"third_party_channel":\#(channels)}"#
        #expect(code(JPushBody.with { $0.options = options }) == expected)
    }

    @Test("takes true and false, and no numbers for them") func booleans() {
        for key in ["content-available", "mutable-content"] {
            #expect(code(Self.ios(#""\#(key)":true"#)) == nil)
        }
        #expect(code(JPushBody.with { $0.options = #"{"apns_production":1}"# }) == 1003)
        #expect(code(JPushBody.with { $0.options = #"{"apns_production":"true"}"# }) == 1003)
    }

    @Test(
        "knows the ranges of options",
        arguments: [
            (#""sendno":0"#, 1003), (#""sendno":-7"#, nil), (#""time_to_live":0"#, nil),
            (#""time_to_live":259200"#, nil),
            (#""time_to_live":259201"#, 1003), (#""time_to_live":"60""#, 1003), (#""big_push_duration":1400"#, nil),
            (#""big_push_duration":1401"#, 1003), (#""apns_collapse_id":"\#(String(repeating: "x", count: 64))""#, nil),
            (#""apns_collapse_id":"\#(String(repeating: "x", count: 65))""#, 1003),
        ] as [(String, Int64?)])
    func options(_ member: String, _ expected: Int64?) {
        #expect(code(JPushBody.with { $0.options = #"{"apns_production":true,\#(member)}"# }) == expected)
    }

    @Test(
        "takes 1 for what iPhones may do in the background and before they show a push, as JPush's SDK for Python writes it"
    )
    func numbersForFlags() {
        for key in ["content-available", "mutable-content"] {
            for value in ["1", "0"] { #expect(code(Self.ios(#""\#(key)":\#(value)"#)) == nil) }
            for value in ["2", #""1""#] { #expect(code(Self.ios(#""\#(key)":\#(value)"#)) == 1003) }
        }
    }

    @Test("takes every key that JPush's SDKs for Java and Python write") func keys() {
        let body = JPushBody.with {
            $0.notification =
                #"{"android":{"alert":"x","custom_buttons":[{"text":"Open"}],"mipns_content_forshort":"m","oppns_content_forshort":"o","#
                + #""vpns_content_forshort":"v","mzpns_content_forshort":"z"},"#
                + #""hmos":{"alert":"x","category":"MARKETING","intent":{"url":"action.system.home"}},"#
                + #""voip":{"call":1},"winphone":{"alert":"x"}}"#
            $0.options =
                #"{"target_event":["a"],"test_message":true,"test_model":false,"receipt_id":"r","active_push":true,"need_backup":false,"#
                + #""business_operation_code":"b","notification_3rd_ver":"v2"}"#
            $0.more = #","notification_3rd":{"android":{"alert":"x"}},"inapp_message":{"inapp_message":true}"#
        }
        #expect(code(body) == nil)
        #expect(
            code(Self.activity(#""event":"update","attributes-type":null,"alert":null,"content-state":{"a":1}"#)) == nil
        )
    }

    private static func activity(_ ios: String, notification: String? = nil) -> String {
        JPushBody.with { ($0.notification, $0.more) = (notification, #","live_activity":{"ios":{\#(ios)}}"#) }
    }

    @Test(
        "a Live Activity has what its event needs, and nothing else is in its push",
        arguments: [
            (
                #""event":"start","attributes-type":"D","attributes":{},"content-state":{},"apns-priority":5,"relevance-score":100"#,
                nil
            ),
            (
                #""event":"end","content-state":{},"dismissal-date":1,"stale-date":2,"alert":{"title":"x","body":"y","sound":"z"}"#,
                nil
            ),
            (#""event":"end""#, 1002), (#""content-state":{}"#, 1002), (#""event":"start","content-state":{}"#, 1002),
            (#""event":"stop","content-state":{}"#, 1003), (#""event":"end","content-state":{},"stale-date":-5"#, 1003),
            (#""event":"end","content-state":{},"timestamp":5"#, 1009),
            (#""event":"end","content-state":{},"relevance-score":0"#, 1003),
            (#""event":"end","content-state":{"a":"\#(String(repeating: "a", count: 3550))"}"#, 1005),
        ] as [(String, Int64?)])
    func activities(ios: String, expected: Int64?) { #expect(code(Self.activity(ios)) == expected) }

    @Test("a Live Activity next to a notification is refused") func activityAlone() {
        #expect(code(Self.activity(#""event":"end","content-state":{}"#, notification: #"{"alert":"x"}"#)) == 1003)
    }

    @Test("replaces what the app pushed within a day, and refuses 1003 for another number") func replacements() throws {
        let fixture = JPushFixture()
        let first = try #require(fixture.send(JPushBody().text).messageID)
        let replacing = JPushBody.with { $0.options = #"{"override_msg_id":\#(first)}"# }
        #expect(fixture.send(replacing).status == 200)
        let other = fixture.send(replacing, authorization: JPushFixture.basic("other", "another"))
        let late = fixture.send(replacing, at: noon.adding(seconds: 86_400))
        let unknown = fixture.send(JPushBody.with { $0.options = #"{"override_msg_id":4711}"# })
        for answer in [other, late, unknown] {
            #expect(answer.status == 400 && answer.code == 1003)
            #expect(answer.body?["error"]?["illegal_rids"] == nil, "it is about the text, not about a device")
        }
    }

    @Test("lets apps that have paid keep a push for ten days") func epochOfVIP() {
        let body = JPushBody.with { $0.options = #"{"apns_production":true,"time_to_live":864000}"# }
        #expect(code(body) == 1003)
        #expect(code(body, isPaid: true) == nil)
    }

    // MARK: Registration ids

    private static let malformed = [
        "short", "has blanks in it", "0000100300000000000", "1a0018970a8d-0001", String(repeating: "a", count: 31),
    ]

    @Test(
        "refuses a call with ids that are none, and names them in one of two places or not at all",
        arguments: RefusalDetails.allCases)
    func malformedIDs(_ details: RefusalDetails) {
        let fixture = JPushFixture { $0.issuer.errorDetails = details }
        let answer = fixture.send(JPushBody.to([jpushID(1)] + Self.malformed))
        #expect(answer.status == 400 && answer.code == 1003)
        let named = JSONValue.array(Self.malformed.map { .string($0) })
        #expect(answer.body?["error"]?["illegal_rids"] == (details == .both ? named : nil))
        #expect(answer.body?["illegal_rids"] == (details == .one ? named : nil))
        #expect(answer.request.addressees.allSatisfy { $0.id.isEmpty })
        #expect(fixture.send(JPushBody.to([jpushID(1)])).status == 200)
    }

    @Test("refuses a call that reaches no device, and takes one that reaches some") func unknownIDs() {
        let fixture = JPushFixture { $0.faults.answers = [jpushID(7): SimulatedAnswer(status: 400, reason: "1011")] }
        #expect(fixture.send(JPushBody.to(["0000101100000000000", jpushID(7)])).code == 1011)
        #expect(fixture.send(JPushBody.to(["0000101100000000000", jpushID(7), jpushID(8)])).status == 200)
    }

    @Test(
        "fails once for some ids",
        arguments: [("00000429", 429, 2002), ("00000500", 500, 1000), ("00000503", 503, 1030)] as [(String, Int, Int64)]
    )
    func failingIDs(_ start: String, _ status: Int, _ code: Int64) {
        let fixture = JPushFixture(), body = JPushBody.to([jpushID(1), start + "00000000000"])
        let answer = fixture.send(body)
        #expect(answer.status == status && answer.code == code)
        #expect(fixture.send(body).status == 200)
    }

    // MARK: Validation

    @Test("checks a push without sending it") func validation() throws {
        let fixture = JPushFixture()
        let cid = try #require(fixture.cids("count=1").cids.first)
        let body = JPushBody.with { $0.more = #","cid":"\#(cid)""# }
        let checked = fixture.send(body, path: "/v3/push/validate")
        #expect(checked.status == 200 && checked.request.kind == .dryRun)
        #expect(fixture.send(JPushBody.with { $0.platform = nil }, path: "/v3/push/validate").code == 1002)
        #expect(fixture.send(JPushBody.to(["short"]), path: "/v3/push/validate").code == 1003)
        // The cid is still good for a push.
        let sent = fixture.send(body)
        #expect(sent.request.kind == .push && sent.messageID != checked.messageID)
    }
}

@Suite("The simulator of JPush counts")
struct JPushCallTests {
    @Test("cids: ten a call, a thousand for apps that have paid, each with the app key and a UUID") func cids() throws {
        let fixture = JPushFixture()
        let cids = fixture.cids().cids
        #expect(cids.count == 10 && Set(cids).count == 10)
        #expect(
            cids.allSatisfy {
                $0.wholeMatch(of: /0a1b2c3d4e5f60718293a4b5-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/) != nil
            })
        #expect(fixture.cids("").cids.count == 1)
        for query in ["count=11", "count=0", "count=x", "count=1&type=other", "number=1"] {
            #expect(fixture.cids(query).code == 1003, "\(query)")
        }
        #expect(JPushFixture { $0.isPaid = true }.cids("count=1000&type=push").cids.count == 1000)
    }

    private static func body(cid: String, to number: Int = 1) -> String {
        JPushBody.with {
            $0.audience = #"{"registration_id":["\#(jpushID(number))"]}"#
            $0.more = #","cid":"\#(cid)""#
        }
    }

    @Test("a push with the same cid once, and repeats its answer for a day") func repeats() throws {
        let fixture = JPushFixture()
        let cid = try #require(fixture.cids("count=1").cids.first)
        let first = fixture.send(Self.body(cid: cid)),
            second = fixture.send(Self.body(cid: cid, to: 2), at: noon.adding(seconds: 86_399))
        #expect(first.status == 200 && first.request.kind == .push)
        #expect(second.status == 200 && second.messageID == first.messageID)
        #expect(second.request.kind == .dryRun, "the ledger has no second entry")
        #expect(fixture.send(Self.body(cid: cid), at: noon.adding(seconds: 86_400)).code == 1003)
    }

    @Test("a refused push for nothing: its cid is still good") func refusedCid() throws {
        let fixture = JPushFixture()
        let cid = try #require(fixture.cids("count=1").cids.first)
        #expect(
            fixture.send(
                JPushBody.with {
                    $0.platform = nil; $0.more = #","cid":"\#(cid)""#
                }
            ).code == 1002)
        let request = JPushFixture.request(
            path: "/v3/push", type: "application/json", authorization: JPushFixture.authorization,
            body: Self.body(cid: cid))
        fixture.rules.decide(request, hasBody: true, memory: ConnectionMemory(), now: noon)
        fixture.rules.refuse(request, as: Answer(status: 429, reason: ""))
        #expect(JPushAnswer(request).code == 2002)
        let sent = fixture.send(Self.body(cid: cid))
        #expect(sent.status == 200 && sent.request.kind == .push)
    }

    @Test("no cid that it did not give to this app") func foreignCids() throws {
        let fixture = JPushFixture()
        let other = try #require(
            fixture.cids("count=1", authorization: JPushFixture.basic("other", "another")).cids.first)
        #expect(fixture.send(Self.body(cid: other)).code == 1003)
        #expect(fixture.send(Self.body(cid: "\(JPushFixture.app)-6b1f0c1e-5f0a-4f0e-9c0a-1234567890ab")).code == 1003)
    }

    @Test("the calls of a minute, and says how many are left") func budget() {
        let fixture = JPushFixture { $0.issuer.messagesPerMinute = 3 }
        #expect(fixture.cids("count=1").fields["x-rate-limit-remaining"] == "2")
        let second = fixture.send(JPushBody().text, at: noon.adding(seconds: 20.5))
        #expect(second.fields["x-rate-limit-limit"] == "3" && second.fields["x-rate-limit-quota"] == "3")
        #expect(second.fields["x-rate-limit-reset"] == "40")
        #expect(
            fixture.send(JPushBody().text, path: "/v3/push/validate", at: noon.adding(seconds: 59)).fields[
                "x-rate-limit-remaining"] == "0")
        let refused = fixture.send(JPushBody().text, at: noon.adding(seconds: 59))
        #expect(refused.status == 429 && refused.code == 2002)
        #expect(refused.fields["x-rate-limit-remaining"] == "0" && refused.fields["x-rate-limit-reset"] == "1")
        #expect(
            fixture.send(
                JPushBody().text, authorization: JPushFixture.basic("other", "another"), at: noon.adding(seconds: 59)
            ).status
                == 200)
        #expect(fixture.send(JPushBody().text, at: noon.adding(seconds: 60)).status == 200)
        #expect(JPushFixture().cids().fields["x-rate-limit-limit"] == "600")
    }

    private static let everyone = JPushBody.with { $0.audience = "\"all\"" }

    @Test("ten pushes to everyone in a day, and then 2008, with which nothing is sent") func broadcasts() throws {
        let fixture = JPushFixture()
        for _ in 0..<10 { #expect(fixture.send(Self.everyone).status == 200) }
        let refused = fixture.send(Self.everyone, at: noon.adding(seconds: 86_399))
        #expect(refused.status == 403 && refused.code == 2008)
        #expect(fixture.send(Self.everyone, path: "/v3/push/validate").code == 2008)
        #expect(fixture.send(JPushBody().text).status == 200, "others go on")
        #expect(fixture.send(Self.everyone, authorization: JPushFixture.basic("other", "another")).status == 200)
        #expect(fixture.send(Self.everyone, at: noon.adding(seconds: 86_400)).status == 200)
    }

    @Test("a push to everyone that is not sent uses none of the day's up") func unusedBroadcasts() throws {
        let fixture = JPushFixture { $0.broadcastsPerDay = 1 }
        for _ in 0..<3 { #expect(fixture.send(Self.everyone, path: "/v3/push/validate").status == 200) }
        #expect(fixture.send(JPushBody.with { ($0.audience, $0.platform) = ("\"all\"", nil) }).code == 1002)
        let cid = try #require(fixture.cids("count=1").cids.first)
        let named = JPushBody.with { ($0.audience, $0.more) = ("\"all\"", ",\"cid\":\"\(cid)\"") }
        let first = fixture.send(named)
        #expect(first.status == 200 && fixture.send(named).messageID == first.messageID, "a repetition is not counted")
        #expect(fixture.send(Self.everyone).code == 2008)
        #expect(JPushFixture { $0.broadcastsPerDay = 0 }.send(Self.everyone).code == 2008)
    }

    @Test("tags, unless it stands for an app that has not paid: then 2006") func tags() {
        for key in ["tag", "tag_and", "tag_not"] {
            let tagged = JPushBody.with { $0.audience = #"{"\#(key)":["vip"],"alias":["u1"]}"# }
            #expect(JPushFixture().send(tagged).status == 200)
            let refused = JPushFixture { $0.takesTags = false }.send(tagged)
            #expect(refused.status == 403 && refused.code == 2006)
        }
        #expect(
            JPushFixture { $0.takesTags = false }.send(JPushBody.with { $0.audience = #"{"tag":[],"alias":["u1"]}"# })
                .status == 200)
        #expect(JPushFixture { $0.takesTags = false }.send(JPushBody().text).status == 200)
    }

    @Test("no calls of senders that it does not know") func unknownSenders() {
        let fixture = JPushFixture { $0.issuer.messagesPerMinute = 1 }
        #expect(
            fixture.send(JPushBody().text, authorization: JPushFixture.basic(JPushFixture.app, "wrong")).fields.isEmpty)
        #expect(fixture.send(JPushBody().text).status == 200)
    }

    // MARK: Batches

    private static func batch(_ pushes: [(cid: String, target: String)]) -> String {
        let list = pushes.map { cid, target in
            #""\#(cid)":{"platform":"all","target":"\#(target)","notification":{"alert":"x"},"options":{"apns_production":true}}"#
        }
        return #"{"pushlist":{\#(list.joined(separator: ","))}}"#
    }

    @Test("batches among what only apps get that have paid") func vip() throws {
        let fixture = JPushFixture()
        let cid = try #require(fixture.cids("count=1").cids.first)
        let answer = fixture.send(Self.batch([(cid, jpushID(1))]), path: "/v3/push/batch/regid/single")
        #expect(answer.status == 403 && answer.code == 2006)
    }

    @Test("each push of a batch by itself, with an id, an error, or both", arguments: [RefusalDetails.both, .one])
    func batches(_ details: RefusalDetails) throws {
        let fixture = JPushFixture {
            $0.isPaid = true
            $0.issuer.errorDetails = details
        }
        let cids = fixture.cids("count=3").cids
        try #require(cids.count == 3)
        let targets = [jpushID(1), "0000101100000000000", "short"]
        let body = Self.batch(Array(zip(cids, targets)))
        let answer = fixture.send(body, path: "/v3/push/batch/regid/single")
        #expect(answer.status == 200)
        #expect(answer.body?[cids[0]]?["msg_id"] != nil && answer.body?[cids[0]]?["error"] == nil)
        #expect(answer.body?[cids[1]]?["error"]?["code"] == .integer(1011))
        #expect(answer.body?[cids[2]]?["error"]?["code"] == .integer(1003))
        #expect((answer.body?[cids[1]]?["msg_id"] != nil) == (details == .both))
        #expect(answer.request.addressees.map(\.target) == targets)
        #expect((0..<3).map { answer.request.answer(to: $0).status } == [200, 400, 400])
        #expect(answer.request.addressees.map(\.name) == cids)
        let again = fixture.send(body, path: "/v3/push/batch/regid/single")
        #expect(again.body?[cids[0]]?["msg_id"] == answer.body?[cids[0]]?["msg_id"])
        let alias = fixture.send(
            Self.batch([(cids[1], String(repeating: "x", count: 41))]), path: "/v3/push/batch/alias/single")
        #expect(alias.body?[cids[1]]?["error"]?["code"] == .integer(1003))
        #expect(fixture.send(#"{"pushlist":{}}"#, path: "/v3/push/batch/regid/single").code == 1003)
    }
}
