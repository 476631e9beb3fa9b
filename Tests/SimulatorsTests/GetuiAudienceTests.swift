import Base
import Testing

@testable import Simulators

@Suite("An audience of Getui")
struct GetuiAudienceTests {
    private static let alias = "push/single/alias", tag = "push/tag", all = "push/all"

    private func message(_ audience: String, _ number: Int = 1) -> String {
        getuiMessage(number, members: #","group_name":"sale""#).replacing(
            #"{"cid":["\#(cid(number))"]}"#, with: audience)
    }

    private func condition(_ values: [String], key: String = "custom_tag", operation: String = "or") -> String {
        let list = values.map { "\"\($0)\"" }.joined(separator: ",")
        return #"{"tag":[{"key":"\#(key)","values":[\#(list)],"opt_type":"\#(operation)"}]}"#
    }

    @Test(
        "that is an alias has the status of its device, which the answer names, and is in the ledger under its own name"
    )
    func aliases() {
        let fixture = GetuiFixture()
        let answer = fixture.send(message(#"{"alias":["李"]}"#), to: Self.alias)
        #expect(
            answer.code == 0 && Array(answer.statuses.values) == ["successed_online"] && answer.statuses["李"] == nil)
        #expect(answer.statuses.keys.allSatisfy(CidRules.isTarget) && answer.recorded == ["李"])
        #expect(answer.request.addressees.map(\.kind) == ["alias"])
        let idle = fixture.send(message(#"{"alias":["00000090a"]}"#, 2), to: Self.alias)
        #expect(
            Array(idle.statuses.values) == ["successed_ignore"]
                && idle.request.answer(to: 0).reason == "successed_ignore")
        let unknown = fixture.send(message(#"{"alias":["00020001a"]}"#, 3), to: Self.alias)
        #expect((unknown.status, unknown.code, unknown.message) == (400, 20001, "target user is invalid"))
        let again = fixture.send(message(#"{"alias":["李"]}"#), to: Self.alias)
        #expect(
            again.code == 0 && again.statuses == answer.statuses && again.recorded.isEmpty, "its request_id was seen")
    }

    @Test(
        "that is not one alias, or not everyone, is refused",
        arguments: [
            (alias, #"{"alias":[]}"#), (alias, #"{"alias":["a","b"]}"#), (alias, #"{"cid":["a"]}"#),
            (alias, #"{"alias":"a"}"#),
            (alias, #"{"alias":["\#(String(repeating: "a", count: 40))"]}"#), (all, #""everyone""#),
            (all, #"{"all":true}"#),
            (tag, #""all""#), (tag, #"{"tag":[]}"#), (tag, #"{"tag":["vip"]}"#),
            (tag, #"{"tag":[{"key":"custom_tag","values":["a"]}]}"#),
            (tag, #"{"tag":[{"key":"custom_tag","values":[],"opt_type":"or"}]}"#),
            (tag, #"{"tag":[{"key":"tag","values":["a"],"opt_type":"or"}]}"#),
            (tag, #"{"tag":[{"key":"custom_tag","values":["a"],"opt_type":"any"}]}"#),
            (tag, #"{"tag":[{"key":"custom_tag","values":["a","a"],"opt_type":"or"}]}"#),
            (tag, #"{"tag":[{"key":"custom_tag","values":["a b"],"opt_type":"or"}]}"#),
            (tag, #"{"tag":[{"key":"custom_tag","values":["a,b"],"opt_type":"or"}]}"#),
        ])
    func flaws(path: String, audience: String) {
        let answer = GetuiFixture().send(message(audience), to: path)
        #expect((answer.status, answer.code) == (400, 20001), "\(audience)")
        #expect(GetuiFixture().send(message(audience).replacing("request_id", with: "id"), to: path).code == 20001)
    }

    @Test("of tags has a task, a line of the ledger for each tag, and counts for its group")
    func tags() {
        let fixture = GetuiFixture()
        let answer = fixture.send(message(condition(["vip", "新用户"])), to: Self.tag)
        #expect(answer.code == 0 && answer.body?["data"]?["taskid"]?.stringValue?.hasPrefix("RASA_") == true)
        #expect(
            answer.recorded == ["vip", "新用户"]
                && answer.request.addressees.allSatisfy { $0.kind == "tag" && $0.id == requestID(1) })
        #expect(fixture.send(message(condition(["vip"])), to: Self.tag).recorded.isEmpty, "its request_id was seen")
        #expect(fixture.send(message(#""all""#, 2), to: Self.all).recorded == ["all"])
        let report = fixture.decide(
            getuiRequest(to: "report/push/task_group/sale", method: "GET", token: fixture.token(), body: ""))
        #expect(report.body?["data"]?["sale"]?["total"]?["target_num"] == .integer(3))
    }

    @Test("of tags that are too long or too many, or of an app without the right, has a code of its own")
    func tagCodes() {
        func code(_ tags: [String], _ change: (inout SimulatorConfiguration) -> Void = { _ in }) -> Int? {
            GetuiFixture(change).send(message(condition(tags)), to: Self.tag).code
        }
        #expect(code([String(repeating: "李", count: 31)]) == 0 && code([String(repeating: "a", count: 32)]) == 30005)
        #expect(code((0..<100).map { "t\($0)" }) == 0 && code((0..<101).map { "t\($0)" }) == 30016)
        #expect(code(["vip"]) { $0.takesTags = false } == 30003)
        #expect(GetuiFixture { $0.takesTags = false }.send(message(#""all""#), to: Self.all).code == 0)
    }

    @Test("may be everyone or tags five times a minute, and a hundred times a day, together")
    func quotas() {
        let fixture = GetuiFixture()
        func code(_ number: Int, _ path: String, after seconds: Double) -> Int? {
            let audience = path == Self.all ? #""all""# : condition(["vip"])
            return fixture.send(message(audience, number), to: path, at: noon.adding(seconds: seconds)).code
        }
        #expect((1...5).map { code($0, $0 % 2 == 0 ? Self.all : Self.tag, after: 0) } == [0, 0, 0, 0, 0])
        #expect(
            code(6, Self.all, after: 1) == 30014 && code(7, Self.tag, after: 59) == 30014
                && code(8, Self.tag, after: 60) == 0)
        #expect(fixture.send(message(#"{"alias":["a"]}"#, 9), to: Self.alias).code == 0, "an alias is no push to tags")
        let sparing = GetuiFixture { ($0.broadcastsPerDay, $0.broadcastsPerMinute) = (2, 0) }
        func sparingCode(_ number: Int, _ path: String, after hours: Double = 0) -> Int? {
            let audience = path == Self.all ? #""all""# : condition(["vip"])
            return sparing.send(message(audience, number), to: path, at: noon.adding(seconds: hours * 3600)).code
        }
        #expect(
            [sparingCode(1, Self.all), sparingCode(2, Self.tag), sparingCode(3, Self.tag), sparingCode(4, Self.all)]
                == [
                    0, 0, 30010, 30007,
                ])
        // The day begins at midnight in China.
        #expect([sparingCode(5, Self.all, after: 15), sparingCode(6, Self.all, after: 16)] == [30007, 0])
    }
}
