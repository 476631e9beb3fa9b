import Base
import Testing

@testable import PushServices

@Suite("Lists of Getui")
struct GetuiListTests {
    private static let plain =
        #"{"settings":{"strategy":{"default":1,"ios":2}},"push_channel":{"ios":{"type":"notify"}},"push_message":{"notification":{"title":"Hi"}}}"#
    private let getui = Getui().switched(on: ["lists"])

    private func options(_ change: (inout PushOptions) -> Void = { _ in }) -> PushOptions {
        var options = PushOptions(topic: "App", pushType: .alert, priority: .high)
        change(&options)
        return options
    }

    private func call(_ count: Int, name: String? = nil) -> RequestCall {
        let pushes = (0..<count).map { number in
            ProbePush(target: String(repeating: "a", count: 31) + String(number), payload: Self.plain).push(
                PushID(runSeed: RunSeed(high: 1, low: 7), recipient: number))
        }
        return RequestCall(pushes, name: name)
    }

    private func body(_ call: RequestCall, _ service: any PushService) -> String {
        var bytes: [UInt8] = []
        service.request(options()).body?(call, 1_000_000, &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test("are sent only by an app that has the switch on")
    func switches() {
        #expect(
            Getui().switchedOn.isEmpty && Getui().request(options()).keptTexts == nil && !Getui().batching.keepsTexts)
        #expect(
            getui.switchedOn == ["lists"] && getui.name == "getui" && getui.account.switches.map(\.key) == ["lists"])
        #expect(getui.switched(on: []).switchedOn.isEmpty)
    }

    @Test("are for more than 200 devices, and for 1,000 at most; a slow pace needs none")
    func sizes() {
        let batching = getui.batching
        #expect([200, 201, 1000].map(batching.namesText) == [false, true, true])
        var paces = RequestPaces(batching)
        #expect(paces.largestRequest == 1000)
        paces.keep(Pace(pushes: 4000, intervalSeconds: 1), counting: .targets)
        #expect(paces.largestRequest == 200)
    }

    @Test("leave unknown whom an answer was lost for, as nothing in them is recognized; batches are")
    func protection() {
        #expect(!getui.recognizesRepeats && Getui().recognizesRepeats)
        guard case .derived = getui.repeatProtection else { return #expect(Bool(false), "batches are recognized") }
    }

    @Test("name devices and the task, and wait for the answer")
    func request() {
        let template = getui.request(options()), list = call(2, name: "RASL_1")
        let cids = list.map { String(decoding: $0.target, as: UTF8.self) }
        #expect(template.pathPrefix + (template.pathEnd?(list) ?? "") == "/v2/App/push/list/cid")
        #expect(
            body(list, getui)
                == #"{"audience":{"cid":["\#(cids[0])","\#(cids[1])"]},"taskid":"RASL_1","is_async":false}"#)
    }

    @Test("leave all other requests as they are without the switch")
    func batches() {
        let template = getui.request(options()), batch = call(2)
        #expect(template.pathPrefix + (template.pathEnd?(batch) ?? "") == Getui().request(options()).pathPrefix)
        #expect(body(batch, getui) == body(batch, Getui()))
        #expect(template.single(batch[0], at: 0).path == Getui().request(options()).pathPrefix)
    }

    @Test("have their text handed over as a message without devices or id")
    func text() throws {
        let texts = try #require(
            getui.request(
                options {
                    ($0.label, $0.expiration, $0.collapseID) = ("run-1", 1_003_600, "sale")
                }
            ).keptTexts)
        var bytes: [UInt8] = []
        texts.body(Array(Self.plain.utf8)[...], 1_000_000, &bytes)
        let message = try JSONValue(parsing: bytes)
        #expect(texts.path == "/v2/App/push/list/message")
        guard case .object(let members) = message else { return #expect(Bool(false)) }
        #expect(members.map(\.name) == ["group_name", "settings", "push_channel", "push_message"])
        #expect(message["settings"]?["ttl"] == .integer(3_600_000) && message["group_name"] == .string("run-1"))
        #expect(message["push_message"]?["notification"]?["notify_id"] != nil)
    }

    @Test("use a task for less time than Getui keeps it, which is as long as the message lives")
    func lifetime() throws {
        func seconds(_ expiration: Int64?) -> Double? {
            getui.request(options { $0.expiration = expiration }).keptTexts?.usableSeconds(1_000_000)
        }
        #expect(seconds(nil) == 6480 && seconds(1_001_000) == 900 && seconds(2_000_000) == 0.9 * 259_200)
        #expect([1_000_000, 0].allSatisfy { seconds($0) == 60 })
    }

    @Test("have a task whose id the answer names")
    func task() throws {
        let texts = try #require(getui.request(options()).keptTexts)
        #expect(texts.read(try JSONValue(parsing: #"{"code":0,"msg":"","data":{"taskid":"RASL_1"}}"#)) == "RASL_1")
        for answer in [
            #"{"code":20001,"msg":"x","data":{"taskid":"RASL_1"}}"#, #"{"code":0,"data":{}}"#,
            #"{"code":0,"data":{"taskid":7}}"#,
        ] {
            #expect(texts.read(try JSONValue(parsing: answer)) == nil)
        }
    }

    @Test("have their text handed over again after a refusal of a parameter that is not a device")
    func forgotten() {
        func may(_ reason: String) -> Bool { getui.mayHaveForgottenText(ServiceAnswer(status: 400, reason: reason)) }
        #expect(may("20001 (taskid is invalid)") && may("20001"))
        #expect(!may("20001 (target user is invalid)") && !may("30008") && !may("21001"))
    }
}
