import Base
import Testing

@testable import PushServices

@Suite("Requests to JPush")
struct JPushRequestTests {
    private func options(_ change: (inout PushOptions) -> Void = { _ in }) -> PushOptions {
        var options = PushOptions(topic: "7d431e42dfa6a6d693ac2d04", pushType: .alert, priority: .high)
        change(&options)
        return options
    }

    private func body(
        _ payload: String = plain, to ids: [String] = ["1a0018970a8d0000001"], at now: Int64 = 1_000_000,
        name: String? = nil, _ change: (inout PushOptions) -> Void = { _ in }
    ) throws -> String {
        let seed = RunSeed(high: 0, low: 0)
        let pushes = ids.enumerated().map { number, id in
            ProbePush(target: id, payload: payload).push(PushID(runSeed: seed, recipient: number))
        }
        var bytes: [UInt8] = []
        let write = try #require(JPush().request(options(change)).body)
        write(RequestCall(pushes, name: name), now, &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    private static let plain =
        #"{"notification":{"android":{"alert":"Hi"},"ios":{"alert":{"body":"Hi"}}},"platform":"all","options":{}}"#

    @Test("a call goes to one path, validation to another, and headers hold no secret")
    func template() {
        let push = JPush().request(options()), validation = JPush().probeRequest(options())
        #expect(push.pathPrefix == "/v3/push" && validation.pathPrefix == "/v3/push/validate")
        #expect(
            push.headers == [.init("content-type", value: "application/json")] && validation.headers == push.headers)
        #expect(push.idHeader == "x-request-id")
    }

    @Test("the body is the payload with its devices, and says which of Apple's servers they belong to")
    func whole() throws {
        #expect(
            try body(to: ["a000000001", "b000000002"])
                == #"{"audience":{"registration_id":["a000000001","b000000002"]},"notification":{"android":{"alert":"Hi"},"ios":{"alert":{"body":"Hi"}}},"platform":"all","options":{"apns_production":true}}"#
        )
        #expect(try body { $0.isProduction = false }.hasSuffix(#""options":{"apns_production":false}}"#))
    }

    @Test("a Live Activity goes to its devices with its priority, and with lengths of time from its sending")
    func activity() throws {
        let payload =
            #"{"live_activity":{"ios":{"apns-priority":0,"stale-date":-1800,"event":"start","attributes-type":"DeliveryAttributes","#
            + #""attributes":{"order":"7"},"content-state":{"minutes":12},"relevance-score":100,"#
            + #""alert":{"title":"On its way","body":"12 minutes left","sound":"default"}}},"platform":"all","options":{}}"#
        let start =
            #"{"cid":"7d43-1","audience":{"registration_id":["a000000001","b000000002"]},"live_activity":{"ios":{"apns-priority":"#
        let rest =
            #","stale-date":1795221000,"event":"start","attributes-type":"DeliveryAttributes","attributes":{"order":"7"},"#
            + #""content-state":{"minutes":12},"relevance-score":100,"#
            + #""alert":{"title":"On its way","body":"12 minutes left","sound":"default"}}},"platform":"all","#
            + #""options":{"apns_production":true}}"#
        for (priority, number) in [(PushPriority.high, 10), (.normal, 5)] {
            let body = try body(payload, to: ["a000000001", "b000000002"], at: 1_795_219_200, name: "7d43-1") {
                ($0.pushType, $0.priority) = (.liveactivity, priority)
            }
            #expect(body == "\(start)\(number)\(rest)")
        }
        let end =
            #"{"live_activity":{"ios":{"apns-priority":0,"dismissal-date":1,"event":"end","content-state":{}}},"platform":"all","options":{}}"#
        #expect(
            try body(end, at: 5) { ($0.pushType, $0.expiration) = (.liveactivity, 65) }
                == #"{"audience":{"registration_id":["1a0018970a8d0000001"]},"live_activity":{"ios":{"apns-priority":10,"dismissal-date":1,"#
                + #""event":"end","content-state":{}}},"platform":"all","options":{"apns_production":true,"time_to_live":60}}"#
        )
    }

    @Test("a call that has a cid shows it")
    func cid() throws {
        #expect(try body(name: "7d43-1").hasPrefix(#"{"cid":"7d43-1","audience":{"registration_id":["#))
        guard case .fetched(let names) = JPush().repeatProtection else { return #expect(Bool(false)) }
        #expect(
            names.path(10) == "/v3/push/cid?count=10&type=push" && names.mostAtATime == 10
                && names.lifetimeSeconds == 86_400)
        #expect(names.read(try JSONValue(parsing: #"{"cidlist":["a","b"]}"#)) == ["a", "b"])
        #expect(names.read(try JSONValue(parsing: #"{"error":{"code":2002}}"#)) == nil)
    }

    @Test("options of a campaign stay, and those of the run follow")
    func members() throws {
        let payload = Self.plain.replacing(#""options":{}"#, with: #""options":{"third_party_channel":{"huawei":{}}}"#)
        #expect(
            try body(payload).hasSuffix(#""options":{"third_party_channel":{"huawei":{}},"apns_production":true}}"#))
    }

    @Test(
        "the time to live is what is left at the moment of sending",
        arguments: [(1_000_090, 90), (1_000_000, 0), (999_999, 0), (0, 0), (1_000_000 + 259_201, 259_200)])
    func timeToLive(expiration: Int64, seconds: Int64) throws {
        #expect(
            try body { $0.expiration = expiration }.hasSuffix(#""apns_production":true,"time_to_live":\#(seconds)}}"#))
    }

    @Test("a push without an end leaves it to JPush")
    func noExpiry() throws { #expect(try !body().contains("time_to_live")) }

    @Test(
        "Android ranks what is less urgent lower",
        arguments: [(PushPriority.high, ""), (.normal, #""priority":-1,"#), (.low, #""priority":-2,"#)])
    func priorities(priority: PushPriority, text: String) throws {
        #expect(try body { $0.priority = priority }.contains(#""notification":{"android":{\#(text)"alert""#))
    }

    @Test("a collapse id is written as JSON")
    func collapse() throws {
        #expect(try body { $0.collapseID = #"a"b"# }.hasSuffix(#"{"apns_production":true,"apns_collapse_id":"a\"b"}}"#))
    }

    @Test("a call has a thousand devices of one text, and the pace counts calls")
    func batching() {
        let jpush = JPush()
        #expect(jpush.batching == Batching(largestTargets: 1000, hasOwnTexts: false, paceUnit: .requests))
        #expect(jpush.usualPace?.pace == Pace(pushes: 540, intervalSeconds: 60))
        #expect(jpush.budgetHeaders == BudgetHeaders(remaining: "x-rate-limit-remaining", reset: "x-rate-limit-reset"))
        #expect(jpush.retry.shortestDelaySeconds == 10 && jpush.wire == .calls(inFlight: 8))
    }

    @Test("the probe is valid JSON")
    func probe() throws {
        let probe = JPush().probe
        let sent = try JSONValue(parsing: body(probe.payload, to: [probe.target]))
        #expect(sent["audience"]?["registration_id"] == .array([.string(probe.target)]))
        #expect(sent["notification"]?["android"]?["alert"] == .string("Volley") && sent["platform"] == .string("all"))
        #expect(sent["options"]?["apns_production"] == .bool(true))
    }

    @Test("statistics are asked where the app's region has them, and summed over the pushes")
    func statistics() throws {
        let facts = try #require(JPush().statistics), form = JPush().account.environments
        func question(_ environment: ServiceEnvironment?) -> StatisticsFacts.Question {
            facts.question("key", ["1", "2"], environment)
        }
        #expect(question(form.choices[0]) == .init(host: "report.jpush.cn", path: "/v3/received/detail?msg_ids=1,2"))
        #expect(
            try question(form.choices[0].at(#require(form.region("beijing"))))
                == .init(path: "/v3/report/received/detail?msg_ids=1,2"))
        #expect(question(nil) == .init(path: "/v3/received/detail?msg_ids=1,2"))
        let answer =
            #"[{"msg_id":"1","jpush_received":5,"ios_apns_sent":null,"ios_apns_received":2},{"msg_id":"2","jpush_received":1,"ios_apns_received":null}]"#
        let counts = ["1": ["jpush_received": 5, "ios_apns_received": 2], "2": ["jpush_received": 1]]
        #expect(facts.read(try JSONValue(parsing: answer), ["1", "2"]) == counts)
        // Pushes that were not asked about are other people's.
        #expect(facts.read(try JSONValue(parsing: answer), ["2", "3"]) == ["2": ["jpush_received": 1]])
        #expect(
            facts.read(try JSONValue(parsing: #"[{"msg_id":2,"more":{"jpush_received":-7}}]"#), ["2"]) == ["2": [:]])
        let push = #"{"msg_id":"1","jpush_received":5}"#
        let odd =
            [#"{"error":{"code":3002}}"#, "[7]", "7", "[{}]", "[\(push),\(push)]"]
            + ["-1", "1000000000001", "1.5", #""5""#, "{}", "true", "5,\"jpush_received\":6"].map {
                #"[{"msg_id":"1","jpush_received":\#($0)}]"#
            }
        for odd in odd { #expect(facts.read(try JSONValue(parsing: odd), ["1"]) == nil, "\(odd)") }
        #expect(facts.subject == .receipts(atMost: 100) && facts.days == 30)
    }
}
