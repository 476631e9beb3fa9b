import Base
import PushServices
import Testing

@testable import Content

/// Whole requests for phones that the service reaches only through their maker: Android phones on
/// which the app is not running, and phones with HarmonyOS. To be read next to the vendors' pages.
@Suite("Bodies of requests for phones of makers")
struct MakerBodiesTests {
    private static let place = SourcePosition(file: "sale.yaml", line: 1, column: 1)

    private static func text(_ value: String) -> SourceText { SourceText(value, at: place) }

    /// A class at each maker.
    private static let makers = """
        {"huawei": {"category": "MARKETING", "importance": "low"}, "honor": {"importance": "low"}, "xiaomi": {"channel": "12345"},
        "oppo": {"category": "MARKETING", "channel": "offers"}, "vivo": {"category": "MARKETING", "classification": "operational"}}
        """

    /// The body of a request to a target.
    private func body(
        _ service: any PushService, to target: String, harmony: String = #"{"category": "MARKETING"}"#
    ) throws -> JSONValue {
        var content = MessageContent(position: Self.place)
        (content.title, content.body, content.link) = (
            Self.text("Hi {{ name }}"), Self.text("Sale"), Self.text("shop://sale")
        )
        content.own = [
            .init(Self.text("makers"), try node(Self.makers)),
            .init(Self.text("harmony"), try node(harmony)),
        ]
        let template = try PayloadTemplate(content, for: service)
        var bytes: [UInt8] = []
        #expect(template.render(["Anna"], into: &bytes) == nil)
        let options = PushOptions(topic: "app", pushType: .alert, priority: .high, expiration: 3600, collapseID: "sale")
        let id = PushID(runSeed: RunSeed(high: 0, low: 0), recipient: 0)
        let push = RequestPush(id: id, target: Array(target.utf8)[...], payload: bytes[...])
        return try JSONValue(parsing: service.request(options).single(push, at: 0).body)
    }

    @Test("Getui: the makers' channels have the texts, and a class by paths")
    func getui() throws {
        let body = try body(Getui(), to: "7d3f0a1b2c3d4e5f60718293a4b548b3")
        guard case .array(let messages)? = body["msg_list"], let message = messages.first else {
            Issue.record("\(body.text)")
            return
        }
        let number = try #require(message["push_message"]?["notification"]?["notify_id"]).text
        let shown = #""title":"Hi Anna","body":"Sale""#,
            click = #""click_type":"payload","payload":"{\"link\":\"shop://sale\"}""#
        #expect(message["settings"]?.text == #"{"ttl":3600000,"strategy":{"default":1,"ios":2}}"#)
        #expect(message["push_message"]?.text == #"{"notification":{\#(shown),\#(click),"notify_id":\#(number)}}"#)
        #expect(
            message["push_channel"]?["android"]?.text
                == #"{"ups":{"notification":{"notify_id":\#(number),\#(shown),\#(click)},"options":{"#
                + #""HW":{"/message/android/category":"MARKETING","/message/android/notification/importance":"LOW"},"#
                + #""HO":{"/android/notification/importance":"LOW"},"XM":{"/extra.channel_id":"12345"},"#
                + #""OP":{"/category":"MARKETING","/channel_id":"offers"},"VV":{"/category":"MARKETING","/classification":0}}}}"#
        )
        #expect(
            message["push_channel"]?["harmony"]?.text
                == #"{"notification":{"notify_id":\#(number),\#(shown),"category":"MARKETING","click_type":"startapp"}}"#
        )
    }

    @Test("JPush: the makers' channels have a class, and HarmonyOS a notification of its own")
    func jpush() throws {
        let body = try body(
            JPush(), to: "1a0018970a8d0000001",
            harmony: #"{"category": "MARKETING", "icon": "https://cdn.example.com/a.png"}"#)
        let extras = #""extras":{"link":"shop://sale"}"#
        #expect(body["platform"] == .string("all"))
        #expect(
            body["notification"]?["android"]?.text
                == #"{"alert":"Sale","title":"Hi Anna","intent":{"url":"shop://sale"},\#(extras)}"#)
        #expect(
            body["notification"]?["hmos"]?.text
                == #"{"alert":"Sale","title":"Hi Anna","category":"MARKETING","large_icon":"https://cdn.example.com/a.png","#
                + #""intent":{"url":"shop://sale"},\#(extras)}"#)
        #expect(
            body["options"]?["third_party_channel"]?.text
                == #"{"huawei":{"category":"MARKETING","importance":"LOW"},"honor":{"importance":"LOW"},"xiaomi":{"channel_id":"12345"},"#
                + #""oppo":{"category":"MARKETING","channel_id":"offers"},"vivo":{"category":"MARKETING","classification":0}}"#
        )
        #expect(body["options"]?["classification"] == nil && body["options"]?["time_to_live"] == .integer(3600))
    }

    @Test("RongCloud: each maker has an object next to the data, and HarmonyOS one of its own")
    func rongCloud() throws {
        let body = try body(RongCloud(), to: "anna")
        let extras = #""extras":{"link":"shop://sale"}"#
        #expect(
            body.text
                == #"{"userIds":["anna"],"notification":{"ios":{"apns-collapse-id":"sale",\#(extras)},"android":{\#(extras),"#
                + #""hw":{"category":"MARKETING","importance":"LOW"},"honor":{"importance":"LOW"},"mi":{"channelId":"12345"},"#
                + #""oppo":{"category":"MARKETING","channelId":"offers"},"vivo":{"category":"MARKETING","classification":"0"}},"#
                + #""harmonyOS":{\#(extras),"ohos":{"category":"MARKETING"}},"title":"Hi Anna","pushContent":"Sale"}}"#)
    }

    @Test(
        "no class is claimed that the campaign does not name",
        arguments: [Getui() as any PushService, JPush(), RongCloud()])
    func unclaimed(service: any PushService) throws {
        var content = MessageContent(position: Self.place)
        (content.title, content.body) = (Self.text("Hi"), Self.text("Sale"))
        var bytes: [UInt8] = []
        #expect(try PayloadTemplate(content, for: service).render([], into: &bytes) == nil)
        let payload = String(decoding: bytes, as: UTF8.self)
        for word in ["classification", "importance", "category", "channel_id"] {
            #expect(!payload.contains(word), "\(payload)")
        }
    }
}
