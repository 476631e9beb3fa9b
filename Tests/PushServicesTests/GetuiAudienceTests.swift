import Base
import Testing

@testable import PushServices

@Suite("Audiences of Getui")
struct GetuiAudienceTests {
    private func own() throws -> OwnAudience { try #require(Getui().ownAudience) }

    @Test(
        "a request names the audience as Getui does, at the path for it, and is otherwise a message like any other",
        arguments: [
            (AudienceCall.everyone, "all", #""all""#),
            (
                AudienceCall(.tags, ["vip", "李\"x"]), "tag",
                #"{"tag":[{"key":"custom_tag","values":["vip","李\"x"],"opt_type":"or"}]}"#
            ), (AudienceCall(.aliases, ["u1"]), "single/alias", #"{"alias":["u1"]}"#),
            (AudienceCall(.registrationIDs, ["7d3f"]), "single/cid", #"{"cid":["7d3f"]}"#),
        ])
    func requests(call: AudienceCall, path: String, audience: String) throws {
        let request = try Getui().request(for: call) { ($0.label, $0.expiration) = ("run-1", 60) }
        #expect(request.path == "/v2/k/push/\(path)" && request.body["audience"]?.text == audience)
        #expect(request.body["group_name"] == .string("run-1") && request.body["settings"]?["ttl"] == .integer(60_000))
        #expect(
            request.body["request_id"]?.stringValue?.utf8.count == 32
                && request.body["push_message"]?["transmission"] != nil)
    }

    @Test("lists of an app change nothing: only what has a request_id is recognized when it comes again")
    func lists() throws {
        let service = try #require(Getui().switched(on: ["lists"]).ownAudience).service
        #expect(
            service.recognizesRepeats && service.switchedOn.isEmpty && service.switched(on: ["lists"]).recognizesRepeats
        )
        guard case .derived = service.repeatProtection else { throw Mistake("a call is not recognized") }
        let template = service.switched(on: ["lists"]).request(
            PushOptions(topic: "k", pushType: .alert, priority: .high))
        #expect(template.keptTexts == nil && service.batching.largestTargets == 1)
        #expect(try own().checker == nil, "Getui checks nothing without sending it")
    }

    @Test("tags are a hundred a call, aliases and client ids one; a client id in capitals is the same")
    func dividing() throws {
        let cid = "7d3f0a1b2c3d4e5f60718293a4b548b3"
        let calls = try own().calls(to: [
            .tags: (0..<101).map { "t\($0)" }, .aliases: ["a", "A", "a"], .registrationIDs: [cid.uppercased(), cid],
        ])
        #expect(calls.map(\.names.count) == [100, 1, 1, 1, 1])
        #expect(calls.dropFirst(2).map(\.names) == [["a"], ["A"], [cid]])
        #expect(try !own().mayOverlap(Array(calls[2...3])) && own().mayOverlap(Array(calls[..<2])))
    }

    @Test(
        "an answer is read for the call: one device that gets it is enough, and a call of which none does is rejected")
    func details() throws {
        let service = try own().service
        func meaning(_ body: String, status: Int = 200) throws -> (AnswerMeaning, String) {
            let details = service.details(of: try JSONValue(parsing: body))
            #expect(details.targets.isEmpty && details.receipt.isEmpty)
            return (service.meaning(of: ServiceAnswer(status: status, reason: details.reason)), details.reason)
        }
        let accepted = [
            #"{"code":0,"msg":"","data":{"taskid":"RASA_1"}}"#,
            #"{"code":0,"data":{"RASS_1":{"a":"successed_online"}}}"#,
            #"{"code":0,"data":{"RASS_1":{"a":"successed_ignore","b":"successed_offline"}}}"#,
        ]
        for body in accepted { #expect(try meaning(body).0 == .accepted, "\(body)") }
        #expect(
            try meaning(#"{"code":0,"data":{"RASS_1":{"a":"successed_ignore"}}}"#) == (.rejected, "successed_ignore"))
        #expect(try meaning(#"{"code":0,"data":{"RASS_1":{"a":"fallback_failed"}}}"#) == (.rejected, "fallback_failed"))
        #expect(try meaning(#"{"code":0,"data":{"RASS_1":{}}}"#) == (.rejected, "no status"))
        #expect(service.words(about: "no status")?.meaning == .rejected)
        for body in [#"{"code":0,"msg":""}"#, #"{"code":0,"data":{}}"#, #"{"msg":""}"#] {
            #expect(try meaning(body).0 == .maybeTaken, "\(body)")
        }
        #expect(try meaning(#"{"code":20001,"msg":"target user is invalid"}"#, status: 400).0 == .rejected)
        #expect(try meaning(#"{"code":20001,"msg":"title is too long"}"#, status: 400).0 == .rejectedLikeAll)
    }

    @Test("no answer calls a device gone; limits of a minute wait, those of a day stop")
    func answers() throws {
        let service = try own().service
        func meaning(_ reason: String, status: Int = 403) -> AnswerMeaning {
            service.meaning(of: ServiceAnswer(status: status, reason: reason))
        }
        for status in 200..<600 {
            for reason in [""] + Getui.rows.map(\.reason) {
                switch meaning(reason, status: status) {
                case .invalidTarget, .split: Issue.record("\(status) \(reason)")
                default: break
                }
            }
        }
        #expect(["30012", "30014"].allSatisfy { meaning($0) == .retry(.quota) })
        #expect(["30003", "30005", "30016"].allSatisfy { meaning($0) == .stop })
        #expect(["30007", "30010"].allSatisfy { meaning($0) == .usedUp })
        #expect(service.meaning(of: ServiceAnswer(status: 400, reason: Getui.badTarget, isCutOff: true)) == .maybeTaken)
        #expect(service.words(about: Getui.badTarget)?.explanation.contains("no device under these aliases") == true)
        #expect(service.words(about: "20001 (x)")?.explanation.contains("a name of the audience") == true)
        #expect(
            service.advice(status: 400, reason: "20001 (x)").contains("plan again") && service.blamingReasons.isEmpty)
        #expect(
            service.blamesMessage(status: 403, reason: "30016") && !service.blamesMessage(status: 403, reason: "30010"))
        #expect(!service.blamesMessage(status: 400, reason: Getui.badTarget))
    }

    @Test(
        "tags have up to 31 characters without a space or a comma",
        arguments: [
            ("vip", true), ("新用户", true), ("a-b_@#;，", true), (String(repeating: "李", count: 31), true),
            (String(repeating: "a", count: 32), false), ("a b", false), ("a,b", false), ("a\u{3000}b", false),
            ("a\u{7}", false),
            ("", false),
        ])
    func tags(name: String, isName: Bool) throws { try expect(name, of: .tags, isName, rule: "at most 31 characters") }

    @Test(
        "aliases have up to 39 letters, digits, Chinese characters, and the signs of addresses",
        arguments: [
            ("u1", true), ("李_9", true), ("anna.b+c@x-y.de", true), (String(repeating: "a", count: 39), true),
            (String(repeating: "a", count: 40), false), ("a b", false), ("a,b", false), ("a/b", false), ("é", false),
            ("", false),
        ])
    func aliases(name: String, isName: Bool) throws {
        try expect(name, of: .aliases, isName, rule: "at most 39 characters")
    }

    @Test("client ids have 32 hex digits", arguments: [("7d3f0a1b2c3d4e5f60718293a4b548b3", true), ("7d3f", false)])
    func ids(name: String, isName: Bool) throws {
        try expect(name, of: .registrationIDs, isName, rule: "32 hex digits")
    }

    private func expect(_ name: String, of selector: AudienceCall.Selector, _ isName: Bool, rule: String) throws {
        let mistake = try #require(own().names(selector)).mistake(about: name, in: "Getui")
        #expect((mistake == nil) == isName, "\(name)")
        #expect(mistake.map { $0.remedy?.contains(rule) == true } ?? true)
    }
}
