import Base
import Testing

@testable import PushServices

@Suite("Audiences that a service keeps")
struct OwnAudienceTests {
    private static let jpush = JPush().ownAudience

    @Test(
        "a call is a target of ASCII, and reads back as it was",
        arguments: [
            (AudienceCall.everyone, "everyone"), (AudienceCall(.tags, ["vip", "new"]), "tags/vip:new"),
            (AudienceCall(.aliases, ["李", "a:b/c%d", "x@y.z"]), "aliases/%E6%9D%8E:a%3Ab%2Fc%25d:x%40y.z"),
            (AudienceCall(.registrationIDs, ["1a0018970a8d0000001"]), "registration_ids/1a0018970a8d0000001"),
        ])
    func targets(call: AudienceCall, text: String) throws {
        #expect(call.target.text == text)
        #expect(AudienceCall(target: text.utf8) == call)
        #expect(try #require(Self.jpush).service.target.target(text) == call.target)
    }

    @Test(
        "what Volley would not write is no call",
        arguments: [
            "", "all", "tags", "tags/", "tags/a:", "tags/a,b", "tags/a b", "tags/%4", "tags/%e6%9d%8e", "tags/%FF",
            "rooms/a", "tags/a/b",
        ])
    func noTargets(text: String) { #expect(AudienceCall(target: text.utf8) == nil) }

    @Test("tags are twenty a call, aliases and ids a thousand, and each name is called once")
    func dividing() throws {
        let own = try #require(Self.jpush)
        let names = (0..<2001).map { "n\($0)" }
        let calls = own.calls(to: [.tags: Array(names.prefix(41)) + ["n0"], .aliases: names, .registrationIDs: ["x"]])
        #expect(calls.map(\.selector) == [.tags, .tags, .tags, .aliases, .aliases, .aliases, .registrationIDs])
        #expect(calls.map(\.names.count) == [20, 20, 1, 1000, 1000, 1, 1])
        #expect(calls[..<3].flatMap(\.names) == Array(names.prefix(41)))
        #expect(own.calls(to: [:]).isEmpty)
    }

    @Test("several calls may reach a device several times, unless it has only one of the names")
    func overlap() throws {
        let own = try #require(Self.jpush)
        let tags = [AudienceCall(.tags, ["a"]), AudienceCall(.tags, ["b"])]
        let aliases = [AudienceCall(.aliases, ["a"]), AudienceCall(.aliases, ["b"])]
        #expect(own.mayOverlap(tags) && own.mayOverlap([tags[0], aliases[0]]))
        #expect(!own.mayOverlap(aliases) && !own.mayOverlap([tags[0]]) && !own.mayOverlap([.everyone]))
    }

    @Test("words for people name a few names, and the number of the others")
    func words() {
        #expect(AudienceCall.everyone.words == "everyone")
        #expect(AudienceCall(.tags, ["vip"]).words == "tag vip")
        #expect(
            AudienceCall(.registrationIDs, ["18071adc030dcba91c0", "18071adc030dcba91c1"]).words == "2 registration ids"
        )
        #expect(AudienceCall(.aliases, ["a", "b", "c", "d", "e", "f"]).words == "aliases a, b, c, d, e, f")
        #expect(AudienceCall(.aliases, (1...1000).map(String.init)).words == "aliases 1, 2, 3, 4, 5 and 995 more")
    }

    @Test("many calls are shown by the kinds of their names")
    func manyCalls() {
        let calls =
            [AudienceCall(.tags, ["a", "b"])] + (1...10).map { AudienceCall(.aliases, ["\($0)"]) }
            + [AudienceCall(.registrationIDs, ["x"]), AudienceCall(.registrationIDs, ["y"])]
        #expect(AudienceCall.lines(calls, atMost: 13) == calls.map(\.words))
        #expect(
            AudienceCall.lines(calls, atMost: 12) == [
                "tags a, b", "10 aliases in 10 calls: 1, 2, 3, 4, 5 and 5 more", "2 registration ids in 2 calls",
            ])
        #expect(AudienceCall.lines([.everyone], atMost: 0) == ["everyone"])
    }

    @Test("a service that keeps audiences has one to send to them, which volley.yaml does not name")
    func services() {
        #expect(PushServices.named("jpush-audience")?.accountName == "jpush")
        #expect(!PushServices.all.contains { $0.name == "jpush-audience" })
        #expect(PushServices.keepingAudiences.allSatisfy { $0.ownAudience?.service.name == "\($0.name)-audience" })
        #expect(PushServices.all.allSatisfy { $0.accountName == $0.name && !$0.choosesDevices })
    }
}

extension PushService {
    /// The path and the body of the request for a call to an audience that the service keeps.
    /// - Parameter name: that the service gave out for it.
    func request(for call: AudienceCall, name: String? = nil, _ change: (inout PushOptions) -> Void = { _ in }) throws
        -> (
            path: String, body: JSONValue
        )
    {
        var options = PushOptions(topic: "k", pushType: .alert, priority: .high)
        change(&options)
        let template = try #require(ownAudience).service.request(options)
        let push = ProbePush(target: call.target.text, payload: probe.payload).push(
            PushID(runSeed: RunSeed(high: 0, low: 0), recipient: 0))
        let calls = RequestCall([push], name: name)
        var bytes: [UInt8] = []
        let write = try #require(template.body)
        write(calls, 0, &bytes)
        return (template.pathPrefix + (template.pathEnd?(calls) ?? ""), try JSONValue(parsing: bytes))
    }
}

@Suite("Audiences of JPush")
struct JPushAudienceTests {
    @Test(
        "a request names the audience as JPush does, and is otherwise a push like any other",
        arguments: [
            (AudienceCall.everyone, #""all""#), (AudienceCall(.tags, ["vip", "李\"x"]), #"{"tag":["vip","李\"x"]}"#),
            (AudienceCall(.aliases, ["u1"]), #"{"alias":["u1"]}"#),
            (AudienceCall(.registrationIDs, ["1a"]), #"{"registration_id":["1a"]}"#),
        ])
    func requests(call: AudienceCall, audience: String) throws {
        let (path, body) = try JPush().request(for: call, name: "k-1")
        #expect(path == "/v3/push")
        #expect(body["audience"]?.text == audience)
        #expect(
            body["cid"] == .string("k-1") && body["platform"] == .string("all")
                && body["notification"]?["android"]?["alert"] != nil)
    }

    @Test("a check goes to another path, and has no cid")
    func check() throws {
        let checker = try #require(JPush().ownAudience?.checker)
        #expect(
            checker.request(PushOptions(topic: "k", pushType: .alert, priority: .high)).pathPrefix
                == "/v3/push/validate")
        guard case .none = checker.repeatProtection else { throw Mistake("a check would use up a cid") }
    }

    @Test("no answer calls a device gone, and what would divide a request of devices is a refusal of the call")
    func answers() throws {
        let service = try #require(JPush().ownAudience).service
        func meaning(_ status: Int, _ reason: String) -> AnswerMeaning {
            service.meaning(of: ServiceAnswer(status: status, reason: reason))
        }
        #expect(service.meaning(of: ServiceAnswer(status: 200, hasReceipt: true)) == .accepted)
        #expect(
            meaning(200, "") == .maybeTaken && meaning(400, "1011") == .rejected
                && meaning(400, "1003") == .rejectedLikeAll)
        #expect(meaning(401, "1004") == .stop && meaning(429, "2002") == .retry(.quota))
        for status in 200..<600 {
            for reason in [""] + JPush.rows.map(\.reason) {
                switch meaning(status, reason) {
                case .invalidTarget, .split: Issue.record("\(status) \(reason)")
                default: break
                }
            }
        }
        #expect(service.blamingReasons.isEmpty && service.goneReasons.isEmpty)
        #expect(
            service.words(about: "1011")?.meaning == .rejected
                && service.words(about: "1011")?.explanation.contains("names") == true)
    }

    @Test(
        "tags and aliases have up to 40 bytes of letters, digits, Chinese characters and some signs",
        arguments: [
            ("vip", true), ("新用户", true), ("a_@!#$&*+=.|￥9", true), (String(repeating: "a", count: 40), true),
            (String(repeating: "a", count: 41), false), (String(repeating: "李", count: 14), false), ("a b", false),
            ("a-b", false),
            ("é", false), ("", false), ("😀", false),
        ])
    func names(name: String, isName: Bool) throws {
        let own = try #require(JPush().ownAudience)
        for selector in [AudienceCall.Selector.tags, .aliases] {
            let mistake = try #require(own.names(selector)).mistake(about: name, in: "JPush")
            #expect((mistake == nil) == isName, "\(name)")
            #expect(mistake.map { $0.remedy?.contains("40 bytes") == true } ?? true)
        }
    }
}
