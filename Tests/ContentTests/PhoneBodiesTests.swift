import Base
import PushServices
import Testing

@testable import Content

/// Whole requests for an iPhone in a Focus, and for apps that hold their texts themselves. To be
/// read next to the vendors' pages.
@Suite("Bodies of requests for phones that decide how they show a push")
struct PhoneBodiesTests {
    private static let place = SourcePosition(file: "sale.yaml", line: 1, column: 1)

    private static func text(_ value: String) -> SourceText { SourceText(value, at: place) }

    private func body(
        _ service: any PushService, to target: String, at now: Int64 = 0,
        _ change: (inout MessageContent) throws -> Void
    ) throws -> String {
        var content = MessageContent(position: Self.place)
        try change(&content)
        let template = try PayloadTemplate(content, for: service)
        var bytes: [UInt8] = []
        #expect(template.render(template.columns.map { _ in "Anna" }, into: &bytes) == nil)
        let options = PushOptions(
            topic: "app", pushType: template.pushType, priority: .high, expiration: nil, collapseID: nil)
        let id = PushID(runSeed: RunSeed(high: 0, low: 0), recipient: 0)
        let push = RequestPush(id: id, target: Array(target.utf8)[...], payload: bytes[...])
        return String(decoding: service.request(options).single(push, at: now).body, as: UTF8.self)
    }

    /// What breaks through a Focus, comes first in the summary, and is judged by the Focus's
    /// filter.
    private static func focused(_ content: inout MessageContent) {
        (content.title, content.body) = (text("Hi {{ name }}"), text("Your table is ready."))
        (content.sound, content.interruption) = (text("default"), text("time-sensitive"))
        (content.relevance, content.targetContent, content.filter) = (.double(0.9, place), text("orders"), text("work"))
    }

    private static func focusedWithoutSummary(_ content: inout MessageContent) {
        focused(&content)
        (content.relevance, content.targetContent, content.filter) = (nil, nil, nil)
    }

    @Test("APNs: an iPhone in a Focus")
    func apns() throws {
        #expect(
            try body(APNs(), to: String(repeating: "ab", count: 32), Self.focused)
                == #"{"aps":{"alert":{"title":"Hi Anna","body":"Your table is ready."},"sound":"default","interruption-level":"time-sensitive","#
                + #""relevance-score":0.9,"target-content-id":"orders","filter-criteria":"work"}}"#)
    }

    @Test("FCM: an iPhone in a Focus")
    func fcm() throws {
        #expect(
            try body(FCM(), to: "token:x", Self.focused)
                == #"{"message":{"token":"token:x","apns":{"headers":{"apns-push-type":"alert","apns-priority":"10"},"payload":{"aps":{"#
                + #""sound":"default","interruption-level":"time-sensitive","relevance-score":0.9,"target-content-id":"orders","#
                + #""filter-criteria":"work"}}},"notification":{"title":"Hi Anna","body":"Your table is ready."},"#
                + #""android":{"notification":{"sound":"default"},"priority":"HIGH"}}}"#)
    }

    @Test("JPush and RongCloud: an iPhone in a Focus, as far as they pass it on")
    func others() throws {
        let jpush = try JSONValue(
            parsing: Array(body(JPush(), to: "1a0018970a8d0000001", Self.focusedWithoutSummary).utf8))
        #expect(
            jpush["notification"]?["ios"]?.text
                == #"{"alert":{"title":"Hi Anna","body":"Your table is ready."},"sound":"default","interruption-level":"time-sensitive"}"#
        )
        let rongCloud = try body(RongCloud(), to: "anna") {
            Self.focusedWithoutSummary(&$0)
            $0.sound = nil
        }
        #expect(
            rongCloud
                == #"{"userIds":["anna"],"notification":{"ios":{"interruption-level":"time-sensitive"},"title":"Hi Anna","pushContent":"Your table is ready."}}"#
        )
    }

    @Test("APNs: a critical push is one by its sound, too, whether it names one or not")
    func critical() throws {
        let token = String(repeating: "ab", count: 32)
        let without = try body(APNs(), to: token) {
            ($0.body, $0.interruption) = (Self.text("Leave the building."), Self.text("critical"))
        }
        #expect(
            without
                == #"{"aps":{"alert":{"body":"Leave the building."},"sound":{"critical":1,"name":"default"},"interruption-level":"critical"}}"#
        )
        let with = try body(APNs(), to: token) {
            ($0.body, $0.interruption, $0.sound) = (Self.text("Leave."), Self.text("critical"), Self.text("siren.caf"))
        }
        #expect(with.contains(#""sound":{"critical":1,"name":"siren.caf"}"#))
    }

    private static let start =
        #"{"aps":{"event":"start","attributes-type":"DeliveryAttributes","attributes":{"order":"7"},"content-state":{"minutes":12,"driver":"{{ name }}"},"alert":{"title":"On its way","body":"12 minutes left","sound":"default"},"stale-date":1795221000}}"#
    /// The same with the time of its sending.
    private static let started = start.replacing("{{ name }}", with: "Anna").replacing(
        #"{"aps":{"#, with: #"{"aps":{"timestamp":1795219200,"#)

    @Test("APNs: a Live Activity that starts has the time of its sending, a push type and a topic of its own")
    func activity() throws {
        let token = String(repeating: "ab", count: 80)
        #expect(try body(APNs(), to: token, at: 1_795_219_200) { $0.payload = try node(Self.start) } == Self.started)
        let options = PushOptions(
            topic: APNs().topic("com.example.shop", for: .liveactivity), pushType: .liveactivity, priority: .normal,
            expiration: 0)
        let request = APNs().request(options)
        #expect(
            request.headers.map { "\($0.name): \($0.value)" } == [
                "apns-topic: com.example.shop.push-type.liveactivity", "apns-push-type: liveactivity",
                "apns-priority: 5",
                "apns-expiration: 0",
            ])
        let id = PushID(runSeed: RunSeed(high: 0, low: 0), recipient: 0)
        let timed = #"{"aps":{"event":"end","timestamp":1795219200}}"#
        let single = request.single(
            RequestPush(id: id, target: Array(token.utf8)[...], payload: Array(timed.utf8)[...]), at: 5)
        #expect(single.path == "/3/device/\(token)" && String(decoding: single.body, as: UTF8.self) == timed)
    }

    @Test("FCM: a Live Activity has a token of its own next to the phone's, from a column")
    func activityOfFCM() throws {
        let message =
            #"{"message":{"data":{"payload":"x"},"apns":{"live_activity_token":"{{ activity }}","headers":{"apns-topic":"t"},"payload":\#(Self.start.replacing("{{ name }}", with: "Anna"))}}}"#
        #expect(
            try body(FCM(), to: "token:x", at: 1_795_219_200) { $0.payload = try node(message) }
                == #"{"message":{"token":"token:x","apns":{"headers":{"apns-priority":"10","apns-topic":"t"},"live_activity_token":"Anna","#
                + #""payload":\#(Self.started)},"data":{"payload":"x"},"android":{"priority":"HIGH"}}}"#)
    }

    private static func ofCampaign(_ event: ActivityContent.Event) throws -> ActivityContent {
        var activity = ActivityContent(position: place, event: event)
        activity.state = try node(#"{"minutes":12,"driver":"{{ name }}"}"#)
        return activity
    }

    @Test("an activity of a campaign is the same over APNs and FCM, with lengths of time from its sending")
    func activityOfCampaign() throws {
        func started(_ content: inout MessageContent) throws {
            var activity = try Self.ofCampaign(.start)
            (activity.attributesType, activity.attributes) = (
                Self.text("DeliveryAttributes"), try node(#"{"order":"7"}"#)
            )
            activity.staleSeconds = 1800
            (content.title, content.body, content.sound) = (
                Self.text("On its way"), Self.text("12 minutes left"), Self.text("default")
            )
            content.activity = activity
        }
        let aps =
            #"{"aps":{"timestamp":1795219200,"stale-date":1795221000,"event":"start","attributes-type":"DeliveryAttributes","#
            + #""attributes":{"order":"7"},"content-state":{"minutes":12,"driver":"Anna"},"#
            + #""alert":{"title":"On its way","body":"12 minutes left","sound":"default"}}}"#
        #expect(try body(APNs(), to: String(repeating: "ab", count: 80), at: 1_795_219_200, started) == aps)
        #expect(
            try body(FCM(), to: "token:x", at: 1_795_219_200, started)
                == #"{"message":{"token":"token:x","apns":{"headers":{"apns-priority":"10"},"live_activity_token":"Anna","payload":\#(aps)},"#
                + #""android":{"priority":"HIGH"}}}"#)
    }

    @Test("JPush: the largest activity that Volley takes has the bytes that JPush takes, once it is sent")
    func largest() throws {
        func sent(_ count: Int) throws -> String {
            try body(JPush(), to: "1a0018970a8d0000001", at: 1_795_219_200) {
                var activity = ActivityContent(position: Self.place, event: .end)
                activity.state = try node(#"{"a":"\#(String(repeating: "a", count: count))"}"#)
                (activity.staleSeconds, activity.dismissSeconds) = (1, 1)
                $0.activity = activity
            }
        }
        let around = try JSONValue(parsing: Array(sent(0).utf8))["live_activity"]?["ios"]?.text.utf8.count ?? 0
        let largest = try JSONValue(parsing: Array(sent(3584 - around).utf8))["live_activity"]?["ios"]?.text.utf8.count
        #expect(largest == 3584)
        #expect(throws: Diagnostics.self) { try sent(3584 - around + 1) }
    }

    @Test(
        "an activity that ends leaves the lock screen at once, or after a while",
        arguments: [(0, "1"), (3600, "1795222800")])
    func end(seconds: Int, date: String) throws {
        let ended = try body(APNs(), to: String(repeating: "ab", count: 80), at: 1_795_219_200) {
            var activity = try Self.ofCampaign(.end)
            activity.dismissSeconds = seconds
            $0.activity = activity
        }
        #expect(
            ended
                == #"{"aps":{"timestamp":1795219200,"dismissal-date":\#(date),"event":"end","content-state":{"minutes":12,"driver":"Anna"}}}"#
        )
    }

    @Test("texts of the app: each phone puts them together in its own language")
    func localized() throws {
        func localized(_ content: inout MessageContent) {
            content.localized = [
                .title: LocalizedText(key: Self.text("HI"), arguments: [Self.text("{{ name }}")]),
                .subtitle: LocalizedText(key: Self.text("NOW")),
                .body: LocalizedText(key: Self.text("SALE"), arguments: [Self.text("20")]),
            ]
        }
        let alert =
            #""alert":{"title-loc-key":"HI","title-loc-args":["Anna"],"subtitle-loc-key":"NOW","loc-key":"SALE","loc-args":["20"]}"#
        #expect(try body(APNs(), to: String(repeating: "ab", count: 32), localized) == "{\"aps\":{\(alert)}}")
        #expect(
            try body(FCM(), to: "token:x", localized)
                == #"{"message":{"token":"token:x","apns":{"headers":{"apns-push-type":"alert","apns-priority":"10"},"payload":{"aps":{\#(alert)}}},"#
                + #""android":{"notification":{"title_loc_key":"HI","title_loc_args":["Anna"],"body_loc_key":"SALE","body_loc_args":["20"]},"#
                + #""priority":"HIGH"}}}"#)
    }

    @Test("a device whose cell is blank gets no text of the app with a gap")
    func blank() throws {
        var content = MessageContent(position: Self.place)
        content.localized = [.body: LocalizedText(key: Self.text("HI"), arguments: [Self.text("{{ name }}")])]
        let template = try PayloadTemplate(content, for: APNs())
        var bytes: [UInt8] = []
        #expect(template.render([""], into: &bytes) != nil)
    }
}
