import Base
import Testing

@testable import PushServices

@Suite("Requests to Getui")
struct GetuiRequestTests {
    private static let cid = "7d3f0a1b2c3d4e5f60718293a4b548b3", other = "0123456789abcdef0123456789abcdef"
    private static let plain =
        #"{"settings":{"strategy":{"default":1,"ios":2}},"push_channel":{"ios":{"type":"notify"}},"push_message":{"notification":{"title":"Hi"}}}"#
    private static let inApp =
        #"{"settings":{"strategy":{"default":1,"ios":2}},"push_message":{"transmission":"{\"a\":{\"b\":{}}}"}}"#

    private static func options(_ change: (inout PushOptions) -> Void = { _ in }) -> PushOptions {
        var options = PushOptions(topic: "Jz1kA9xW2pQ7vB4nL5sT8y", pushType: .alert, priority: .high)
        change(&options)
        return options
    }

    private static func push(_ payload: String, to target: String = cid, recipient: Int = 0) -> RequestPush {
        ProbePush(target: target, payload: payload).push(
            PushID(runSeed: RunSeed(high: 0xFEDC_BA98_7654_3210, low: 7), recipient: recipient))
    }

    private static func body(
        _ pushes: [RequestPush], at now: Int64 = 1_000_000, _ change: (inout PushOptions) -> Void = { _ in }
    ) -> String {
        var bytes: [UInt8] = []
        Getui().request(options(change)).body?(RequestCall(pushes), now, &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The only message of a body.
    private static func message(_ payload: String, at now: Int64 = 1_000_000, _ change: (inout PushOptions) -> Void)
        throws -> JSONValue
    {
        let body = try JSONValue(parsing: body([push(payload)], at: now, change))
        guard case .array(let messages)? = body["msg_list"] else { return .null }
        return try #require(messages.first)
    }

    private static func name(_ push: RequestPush) -> String {
        var bytes: [UInt8] = []
        GetuiMessage.appendName(of: push, to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test("the path names the app, and headers hold no secret")
    func template() {
        let template = Getui().request(Self.options())
        #expect(
            template.pathPrefix == "/v2/Jz1kA9xW2pQ7vB4nL5sT8y/push/single/batch/cid"
                && template.idHeader == "x-request-id")
        #expect(template.headers == [.init("content-type", value: "application/json;charset=utf-8")])
        #expect(Getui().batching == Batching(largestTargets: 200, hasOwnTexts: true, paceUnit: .targets))
    }

    @Test("the body has a message for each push, with its own text, and waits for the answer")
    func whole() {
        let pushes = [Self.push(Self.plain), Self.push(Self.inApp, to: Self.other, recipient: 1)]
        #expect(
            Self.body(pushes)
                == #"{"is_async":false,"msg_list":[{"request_id":"\#(Self.name(pushes[0]))","audience":{"cid":["\#(Self.cid)"]},\#(Self.plain.dropFirst()),"#
                + #"{"request_id":"\#(Self.name(pushes[1]))","audience":{"cid":["\#(Self.other)"]},\#(Self.inApp.dropFirst())]}"#
        )
    }

    @Test("a push's name is 32 hex digits that follow from its id alone")
    func names() {
        let names = (0..<1000).map { Self.name(Self.push(Self.plain, recipient: $0)) }
        #expect(Set(names).count == 1000 && names.allSatisfy { $0.wholeMatch(of: /[0-9a-f]{32}/) != nil })
        #expect(names[3] == Self.name(Self.push(Self.inApp, to: Self.other, recipient: 3)))
        #expect(names[3] == Self.push(Self.plain, recipient: 3).id.description.replacing("-", with: ""))
    }

    @Test("a push that Getui refused gets a new name, as those of refused messages may be lost")
    func generations() {
        let names = (0..<50).flatMap { recipient in
            (0..<20).map { generation in
                var push = Self.push(Self.plain, recipient: recipient)
                push.generation = generation
                return Self.name(push)
            }
        }
        #expect(Set(names).count == 1000 && names.allSatisfy { $0.wholeMatch(of: /[0-9a-f]{32}/) != nil })
        guard case .derived(let seconds) = Getui().repeatProtection else { return #expect(Bool(false)) }
        #expect(seconds >= Getui().retry.maximumTotalSeconds, "a push is not tried under a name that may be forgotten")
    }

    @Test("pushes are counted by the run's label")
    func label() throws {
        #expect(try Self.message(Self.plain) { $0.label = "sale-2026-1" }["group_name"] == .string("sale-2026-1"))
        #expect(try Self.message(Self.plain) { _ in }["group_name"] == nil)
    }

    @Test(
        "the time to live is what is left at the moment of sending, in milliseconds, at most three days",
        arguments: [(1_000_090, 90_000), (1_000_000, -1), (999_999, -1), (0, -1), (1_000_000 + 259_201, 259_200_000)])
    func timeToLive(expiration: Int64, milliseconds: Int64) throws {
        let message = try Self.message(Self.plain) { $0.expiration = expiration }
        #expect(message["settings"]?["ttl"] == .integer(milliseconds))
        #expect(message["settings"]?["strategy"]?["ios"] == .integer(2))
        #expect(try Self.message(Self.plain) { _ in }["settings"]?["ttl"] == nil, "without an end it is Getui's own")
    }

    @Test("a collapse id is for both systems: as it is, and as a number")
    func collapse() throws {
        let message = try Self.message(Self.plain) { $0.collapseID = #"a"b"# }
        #expect(message["push_channel"]?["ios"]?["apns-collapse-id"] == .string(#"a"b"#))
        #expect(message["push_channel"]?["ios"]?["type"] == .string("notify"))
        #expect(
            message["push_message"]?["notification"]?["notify_id"] == .integer(Int64(GetuiMessage.number(of: #"a"b"#))))
        #expect(message["push_message"]?["notification"]?["title"] == .string("Hi"))
        #expect(GetuiMessage.number(of: "sale") != GetuiMessage.number(of: "sale2"))
        for id in ["", "a", "sale", String(repeating: "z", count: 64)] {
            #expect(GetuiMessage.number(of: id) <= 0x7FFF_FFFF)
        }
    }

    @Test("the number is also for the notifications that makers and HarmonyOS show, whatever texts hold")
    func collapseAtMakers() throws {
        let ios =
            #"{"settings":{"strategy":{"default":1,"ios":2}},"push_channel":{"ios":{"payload":"},\"android\":{\"ups\":{\"notification\":{"}"#
        let end = #"},"push_message":{"notification":{"title":"Hi"}}}"#, id = Int64(GetuiMessage.number(of: "sale"))
        func channel(_ parts: String) throws -> JSONValue? {
            try Self.message(ios + parts + end) { $0.collapseID = "sale" }["push_channel"]
        }
        let both = try channel(
            #","android":{"ups":{"notification":{"title":"Hi"},"options":{}}},"harmony":{"notification":{"title":"Hi"}}"#
        )
        let number = JSONValue.object(pairs: [("notify_id", .integer(id)), ("title", .string("Hi"))])
        #expect(both?["android"]?["ups"]?["notification"] == number && both?["harmony"]?["notification"] == number)
        let one = try channel(#","harmony":{"notification":{}}"#)
        #expect(
            one?["harmony"]?["notification"] == .object(pairs: [("notify_id", .integer(id))]) && one?["android"] == nil)
        for part in [#""android":{"ups":{"notification":{}}}"#, #""harmony":{"notification":{}}"#] {
            let first = #"{"settings":{"strategy":{"default":1,"ios":2}},"push_channel":{"# + part + end
            let channel = try Self.message(first) { $0.collapseID = "sale" }["push_channel"]
            let shown = channel?["android"]?["ups"]?["notification"] ?? channel?["harmony"]?["notification"]
            #expect(shown?["notify_id"] == .integer(id), "\(part)")
        }
        #expect(one?["ios"]?["payload"] == .string(#"},"android":{"ups":{"notification":{"#))
    }

    @Test("a payload without a notification or a part for iPhones has nothing to collapse there")
    func collapseNowhere() throws {
        #expect(Self.body([Self.push(Self.inApp)]) { $0.collapseID = "x" } == Self.body([Self.push(Self.inApp)]))
        let empty = Self.inApp.replacing("},\"push_message\"", with: "},\"push_channel\":{\"ios\":{}},\"push_message\"")
        #expect(
            try Self.message(empty) { $0.collapseID = "x" }["push_channel"]?["ios"]
                == .object(pairs: [("apns-collapse-id", .string("x"))]))
    }

    @Test("the probe is a message that shows nothing, to a target that could be one")
    func probe() throws {
        let probe = Getui().probe
        #expect(Getui().target.target(probe.target) != nil)
        let message = try Self.message(probe.payload) { $0.expiration = 1_000_010 }
        #expect(
            message["push_message"] == .object(pairs: [("transmission", .string("{}"))])
                && message["push_channel"] == nil)
        #expect(message["settings"]?["ttl"] == .integer(10_000))
    }
}
