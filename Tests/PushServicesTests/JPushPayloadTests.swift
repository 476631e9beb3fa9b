import Base
import Testing

@testable import PushServices

/// Each cell of the column JPush in the table of content, and what JPush cannot carry.
@Suite("Payloads for JPush")
struct JPushPayloadTests {
    private static let place = SourcePosition(file: "sale.yaml", line: 1, column: 1)

    private static func text(_ value: String) -> SourceText { FCMPayloadTests.text(value) }

    private static func draft(_ change: (inout MessageContent) -> Void) -> PayloadDraft {
        var content = MessageContent(position: place)
        change(&content)
        return JPush().payload(of: content)
    }

    /// The payload as JSON, with templates as they are written.
    private static func payload(_ change: (inout MessageContent) -> Void) -> String {
        FCMPayloadTests.json(draft(change).root).text
    }

    private static func findings(_ change: (inout MessageContent) -> Void) -> [String] {
        draft(change).findings.map { "\($0.severity == .error ? "error" : "warning"): \($0.message)" }
    }

    private static func own(_ json: String) throws -> [ContentMember] {
        guard case .object(let members, _) = try FCMPayloadTests.node(json) else { return [] }
        return members
    }

    /// A payload with these parts.
    private static func whole(_ android: String, _ ios: String, message: String = "", options: String = "") -> String {
        #"{"notification":{"android":{\#(android)},"ios":{\#(ios)}},\#(message)"platform":"all","options":{\#(options)}}"#
    }

    private static let cells: [(String, @Sendable (inout MessageContent) -> Void, String)] = [
        ("title", { $0.title = text("Hi") }, whole(#""alert":"Hi""#, #""alert":{"title":"Hi"}"#)),
        ("body", { $0.body = text("Sale") }, whole(#""alert":"Sale""#, #""alert":{"body":"Sale"}"#)),
        (
            "all texts", { ($0.title, $0.subtitle, $0.body) = (text("Hi"), text("Now"), text("Sale")) },
            whole(#""alert":"Sale","title":"Hi""#, #""alert":{"title":"Hi","subtitle":"Now","body":"Sale"}"#)
        ),
        (
            "sound", { ($0.body, $0.sound) = (text("Sale"), text("spring.caf")) },
            whole(#""alert":"Sale","sound":"spring""#, #""alert":{"body":"Sale"},"sound":"spring.caf""#)
        ),
        (
            "usual sound", { ($0.body, $0.sound) = (text("Sale"), text("default")) },
            whole(#""alert":"Sale""#, #""alert":{"body":"Sale"},"sound":"default""#)
        ),
        (
            "a critical push",
            { ($0.body, $0.sound, $0.interruption) = (text("Sale"), text("spring.caf"), text("critical")) },
            whole(
                #""alert":"Sale","sound":"spring""#,
                #""alert":{"body":"Sale"},"sound":{"critical":1,"name":"spring.caf"},"interruption-level":"critical""#)
        ),
        (
            "texts of the app", { ($0.body, $0.localized) = (text("Sale"), [.body: LocalizedText(key: text("SALE"))]) },
            whole(#""alert":"Sale""#, #""alert":{"loc-key":"SALE"}"#)
        ),
        (
            "badge", { ($0.body, $0.badge) = (text("Sale"), 3) },
            whole(#""alert":"Sale""#, #""alert":{"body":"Sale"},"badge":"3""#)
        ),
        (
            "category and thread", { ($0.body, $0.category, $0.thread) = (text("Sale"), text("SALE"), text("spring")) },
            whole(#""alert":"Sale""#, #""alert":{"body":"Sale"},"category":"SALE","thread-id":"spring""#)
        ),
        (
            "image", { ($0.body, $0.image) = (text("Sale"), text("https://cdn.example.com/a.jpg")) },
            whole(
                #""alert":"Sale","style":3,"big_pic_path":"https://cdn.example.com/a.jpg""#,
                #""alert":{"body":"Sale"},"mutable-content":true,"extras":{"image":"https://cdn.example.com/a.jpg"}"#)
        ),
        (
            "link of an app, and data",
            {
                ($0.body, $0.link) = (text("Sale"), text("shop://sale"))
                $0.data = .object([.init(text("a"), .integer(1, place))], place)
            },
            whole(
                #""alert":"Sale","intent":{"url":"shop://sale"},"extras":{"link":"shop://sale","a":1}"#,
                #""alert":{"body":"Sale"},"extras":{"link":"shop://sale","a":1}"#)
        ),
        (
            "link of the web", { ($0.body, $0.link) = (text("Sale"), text("https://example.com/sale")) },
            whole(
                #""alert":"Sale","extras":{"link":"https://example.com/sale"}"#,
                #""alert":{"body":"Sale"},"extras":{"link":"https://example.com/sale"}"#)
        ),
        (
            "wake_app", { ($0.body, $0.wakesApp) = (text("Sale"), true) },
            whole(#""alert":"Sale""#, #""alert":{"body":"Sale"},"content-available":true"#)
        ),
        (
            "silent", { ($0.isSilent, $0.link) = (true, text("shop://sale")) },
            whole(
                #""alert":"","extras":{"link":"shop://sale"}"#,
                #""alert":"","content-available":true,"extras":{"link":"shop://sale"}"#)
        ),
    ]

    @Test("each key of content is where JPush looks for it", arguments: cells.indices)
    func cell(number: Int) {
        let (name, content, expected) = Self.cells[number]
        let draft = Self.draft(content)
        #expect(Self.payload(content) == expected, "\(name)")
        #expect(draft.findings.isEmpty && draft.byteLimit == 7980, "\(name)")
        #expect(draft.pushType == (name == "silent" ? .background : .alert))
    }

    @Test("what only Android has: a large text and icon, and badges that are set or added to")
    func android() throws {
        func android(_ json: String, _ change: (inout MessageContent) -> Void = { _ in }) throws -> (String, [String]) {
            let own = try Self.own(#"{"android":\#(json)}"#)
            let draft = Self.draft {
                ($0.body, $0.own) = (Self.text("Sale"), own)
                change(&$0)
            }
            let text = FCMPayloadTests.json(draft.root)["notification"]?["android"]?.text ?? ""
            return (text, draft.findings.map { "\($0.message). \($0.remedy ?? "")" })
        }
        let all = try android(
            #"{"big_text":"Long","large_icon":"https://a.b/c.png","badge":3,"badge_class":"a.b.Main"}"#)
        #expect(
            all.0
                == #"{"alert":"Sale","style":1,"big_text":"Long","large_icon":"https://a.b/c.png","badge_set_num":3,"badge_class":"a.b.Main"}"#
        )
        #expect(all.1.isEmpty)
        #expect(try android(#"{"badge":"+1"}"#).0 == #"{"alert":"Sale","badge_add_num":1}"#)
        for wrong in ["100", "\"1\"", "\"+0\"", "true"] {
            let found = try android(#"{"badge":\#(wrong)}"#).1
            #expect(found.count == 1 && found[0].hasSuffix(#"For example: badge: "+1"."#), "\(found)")
        }
        let both = try android(#"{"big_text":"Long"}"#) { $0.image = Self.text("https://a.b/d.png") }
        #expect(
            both.1 == [
                "Android shows either an image or a large text, and this push has both. Remove 'big_text', or write image: null next to 'android'."
            ])
    }

    @Test("a payload that is written by hand is not among them")
    func byHand() {
        #expect(
            !JPush().rules.contentKeys.contains(.payload)
                && JPush().rules.contentKeys.count == ContentKey.allCases.count - 4)
    }

    private static func activity(
        _ event: ActivityContent.Event, _ change: (inout ActivityContent) throws -> Void = { _ in }
    ) rethrows
        -> ActivityContent
    {
        var activity = ActivityContent(position: place, event: event)
        try change(&activity)
        return activity
    }

    @Test("a Live Activity is a push of its own, with what its event needs")
    func activity() throws {
        let state = try FCMPayloadTests.node(#"{"minutes":12}"#)
        let start = try Self.activity(.start) {
            ($0.attributesType, $0.attributes) = (
                Self.text("DeliveryAttributes"), try FCMPayloadTests.node(#"{"order":"7"}"#)
            )
            ($0.state, $0.staleSeconds, $0.relevance) = (state, 1800, .integer(100, Self.place))
        }
        func content(_ content: inout MessageContent) {
            (content.title, content.body, content.activity) = (
                Self.text("On its way"), Self.text("12 minutes left"), start
            )
            content.sound = Self.text("default")
        }
        #expect(
            Self.payload(content)
                == #"{"live_activity":{"ios":{"apns-priority":0,"stale-date":-1800,"event":"start","attributes-type":"DeliveryAttributes","#
                + #""attributes":{"order":"7"},"content-state":{"minutes":12},"relevance-score":100,"#
                + #""alert":{"title":"On its way","body":"12 minutes left","sound":"default"}}},"platform":"all","options":{}}"#
        )
        #expect(Self.draft(content).pushType == .liveactivity && Self.findings(content).isEmpty)
        let end = Self.activity(.end) { ($0.state, $0.dismissSeconds) = (state, 0) }
        #expect(
            Self.payload { $0.activity = end }
                == #"{"live_activity":{"ios":{"apns-priority":0,"dismissal-date":1,"event":"end","content-state":{"minutes":12}}},"#
                + #""platform":"all","options":{}}"#)
        #expect(
            Self.findings { $0.activity = Self.activity(.end) { $0.relevance = .double(0.5, Self.place) } } == [
                "error: JPush ends no activity without a 'state'",
                "error: 'relevance' is a whole number from 1 to 100 at JPush, not 0.5",
            ])
    }

    @Test("what JPush does not take is a mistake or a warning")
    func flaws() {
        #expect(
            Self.findings { ($0.body, $0.badge) = (Self.text("x"), 100) } == [
                "error: the badge 100 is higher than JPush takes, which is 99"
            ])
        #expect(
            Self.findings { $0.subtitle = Self.text("x") }.first?.hasPrefix("error: Android shows no subtitle") == true)
        #expect(
            Self.findings { $0.badge = 1 }.first?.hasPrefix(
                "warning: a push without title and body does nothing on Android") == true)
        let data = ContentNode.object(
            [.init(Self.text("link"), .integer(1, Self.place)), .init(Self.text("image"), .integer(1, Self.place))],
            Self.place)
        #expect(
            Self.findings {
                ($0.body, $0.link, $0.image, $0.data) = (
                    Self.text("x"), Self.text("a://b"), Self.text("https://a.b/c"), data
                )
            }
                == [
                    "error: 'data' holds 'link', which 'content' sets too",
                    "error: 'data' holds 'image', which 'content' sets too",
                ])
        #expect(Self.findings { ($0.body, $0.data) = (Self.text("x"), data) }.isEmpty)
        #expect(
            Self.findings { ($0.body, $0.sound) = (Self.text("x"), Self.text("Spring Sale.caf")) }.first?.hasPrefix(
                "warning: Android has no sound") == true)
        #expect(
            Self.findings { ($0.body, $0.sound) = (Self.text("x"), Self.text("{{ tone }}")) }.first?.hasPrefix(
                "error: the ending of the sound") == true)
        #expect(Self.findings { ($0.body, $0.sound) = (Self.text("x"), Self.text("{{ tone }}.caf")) }.isEmpty)
        #expect(
            Self.findings { ($0.body, $0.sound) = (Self.text("x"), Self.text("spring.mp3")) }.first?.contains(
                "is not in a format that iPhones play") == true)
    }

    @Test("the parts for iPhones, Android and the app have limits of their own")
    func limits() throws {
        func limits(_ node: PayloadNode) -> [Int] {
            switch node {
            case .object(let members): members.flatMap { limits($0.value) }
            case .limited(_, let limit): [limit.part.most]
            default: []
            }
        }
        #expect(limits(Self.draft { $0.body = Self.text("x") }.root) == [3980, 2000])
        let own = try Self.own(#"{"in_app":{"body":"x"}}"#)
        #expect(limits(Self.draft { ($0.body, $0.own) = (Self.text("x"), own) }.root) == [1980, 2000, 2000])
        let harmony = try Self.own(#"{"harmony":{"category":"MARKETING"}}"#)
        #expect(limits(Self.draft { ($0.body, $0.own) = (Self.text("x"), harmony) }.root) == [3980, 2000, 2000])
    }

    // MARK: - What only JPush has

    @Test("the keys of Android, the message in the app, and further options")
    func own() throws {
        let own = try Self.own(
            #"{"android":{"channel":"offers","category":"MARKETING","icon":"i","color":"c"},"in_app":{"title":"T","body":"B","data":{"a":[1]}},"options":{"classification":1,"third_party_channel":{"huawei":{"importance":"LOW"}}}}"#
        )
        let content: (inout MessageContent) -> Void = { ($0.body, $0.own) = (Self.text("Sale"), own) }
        #expect(Self.findings(content).isEmpty)
        #expect(
            Self.payload(content)
                == Self.whole(
                    #""alert":"Sale","channel_id":"offers","category":"MARKETING","small_icon_uri":"i","icon_bg_color":"c""#,
                    #""alert":{"body":"Sale"}"#,
                    message: #""message":{"title":"T","msg_content":"B","extras":{"a":[1]}},"#,
                    options: #""classification":1,"third_party_channel":{"huawei":{"importance":"LOW"}}"#))
    }

    @Test(
        "what is wrong with them is said at its place, with a remedy",
        arguments: [
            (#"{"android":7}"#, "'android' must be a group of keys"),
            (#"{"android":{"chanel":"x"}}"#, "unknown key 'chanel' in 'android'"),
            (#"{"android":{"channel":7}}"#, "'channel' must be a text"),
            (#"{"in_app":{"title":"x"}}"#, "'in_app' has no body, which JPush demands"),
            (#"{"in_app":"x"}"#, "'in_app' must be a group of keys"),
            (#"{"in_app":{"body":"x","data":7}}"#, "'data' must be a group of keys"),
            (#"{"options":{"time_to_live":7}}"#, "'time_to_live' is set by Volley"),
            (#"{"options":{"apns_production":true}}"#, "'apns_production' is set by Volley"),
            (#"{"options":{"classification":2}}"#, "'classification' must be a whole number from 0 to 1, not 2"),
            (#"{"options":{"classification":true}}"#, "'classification' must be a whole number from 0 to 1, not true"),
            (#"{"options":{"override_msg_id":"7"}}"#, "'override_msg_id' must be a whole number, not the text '7'"),
            (#"{"options":{"third_party_channel":7}}"#, "'third_party_channel' must be a group of keys"),
            (#"{"options":{"geofence":{}}}"#, "unknown key 'geofence' in 'options'"),
            (#"{"makers":{"meizu":{"channel":"x"}}}"#, "JPush has no keys for a maker 'meizu'"),
            (#"{"makers":{"huawei":{"categry":"x"}}}"#, "unknown key 'categry' in 'huawei'"),
            (
                #"{"makers":{"oppo":{"category":"A"}},"options":{"third_party_channel":{"oppo":{"category":"B"}}}}"#,
                "'third_party_channel' holds 'category' of oppo, which 'makers' sets, too"
            ),
            (
                #"{"makers":{"vivo":{"classification":"system"}},"options":{"classification":0}}"#,
                "'makers' has a classification, too, and JPush goes by this one"
            ),
            (
                #"{"harmony":{"intent":"a://b"}}"#,
                "'harmony' has no category, without which phones with HarmonyOS show no push"
            ),
            (#"{"harmony":{"category":"MARKETING","test":"yes"}}"#, "'test' must be true or false, not the text 'yes'"),
            (#"{"harmony":{"category":"MARKETING","sound":""}}"#, "'sound' has no text"),
            (#"{"harmony":{"category":"MARKETING","want":{}}}"#, "unknown key 'want' in 'harmony'"),
        ])
    func ownFlaws(json: String, message: String) throws {
        let own = try Self.own(json)
        let findings = Self.draft { ($0.body, $0.own) = (Self.text("Sale"), own) }.findings
        #expect(
            findings.map(\.message) == [message] && findings[0].severity == .error
                && [".", "?"].contains(findings[0].remedy?.last))
    }

    // MARK: - Makers of phones and HarmonyOS

    @Test(
        "a killed app of each maker shows the push, with the class that the campaign names",
        arguments: [
            (
                #"{"huawei":{"category":"MARKETING","importance":"low"}}"#,
                #"{"huawei":{"category":"MARKETING","importance":"LOW"}}"#
            ),
            (#"{"honor":{"importance":"low"}}"#, #"{"honor":{"importance":"LOW"}}"#),
            (#"{"xiaomi":{"channel":"123"}}"#, #"{"xiaomi":{"channel_id":"123"}}"#),
            (
                #"{"oppo":{"category":"MARKETING","channel":"c"}}"#,
                #"{"oppo":{"category":"MARKETING","channel_id":"c"}}"#
            ),
            (
                #"{"vivo":{"classification":"operational","category":"MARKETING"}}"#,
                #"{"vivo":{"classification":0,"category":"MARKETING"}}"#
            ),
        ])
    func makers(yaml: String, channels: String) throws {
        let own = try Self.own(#"{"makers":\#(yaml)}"#)
        let content: (inout MessageContent) -> Void = { ($0.body, $0.own) = (Self.text("Sale"), own) }
        #expect(Self.findings(content).isEmpty)
        #expect(
            Self.payload(content)
                == Self.whole(
                    #""alert":"Sale""#, #""alert":{"body":"Sale"}"#, options: #""third_party_channel":\#(channels)"#))
    }

    @Test("what is written by hand for a maker stays, next to its class")
    func makersByHand() throws {
        let own = try Self.own(
            #"{"makers":{"oppo":{"category":"MARKETING"},"vivo":{"category":"MARKETING"}},"options":{"big_push_duration":5,"third_party_channel":{"meizu":{"distribution":"jpush"},"oppo":{"distribution":"first_ospush"}}}}"#
        )
        #expect(
            Self.payload { ($0.body, $0.own) = (Self.text("Sale"), own) }
                == Self.whole(
                    #""alert":"Sale""#, #""alert":{"body":"Sale"}"#,
                    options:
                        #""big_push_duration":5,"third_party_channel":{"meizu":{"distribution":"jpush"},"oppo":{"distribution":"first_ospush","category":"MARKETING"},"vivo":{"category":"MARKETING"}}"#
                ))
    }

    @Test("a phone with HarmonyOS gets a notification of its own, with category and intent")
    func harmony() throws {
        func hmos(_ yaml: String, _ change: (inout MessageContent) -> Void) throws -> String? {
            let own = try Self.own(#"{"harmony":\#(yaml)}"#)
            let draft = Self.draft {
                $0.own = own
                change(&$0)
            }
            #expect(draft.findings.isEmpty)
            return FCMPayloadTests.json(draft.root)["notification"]?["hmos"]?.text
        }
        #expect(
            try hmos(#"{"category":"MARKETING"}"#) { $0.body = Self.text("Sale") }
                == #"{"alert":"Sale","category":"MARKETING","intent":{"url":"action.system.home"}}"#)
        #expect(
            try hmos(#"{"category":"MARKETING"}"#) {
                ($0.title, $0.body, $0.link, $0.badge) = (
                    Self.text("Hi"), Self.text("Sale"), Self.text("shop://sale"), 3
                )
            }
                == #"{"alert":"Sale","title":"Hi","category":"MARKETING","intent":{"url":"shop://sale"},"badge_set_num":3,"extras":{"link":"shop://sale"}}"#
        )
        #expect(
            try hmos(
                #"{"category":"MARKETING","intent":"com.example.sale","icon":"https://a.b/c.png","sound":"s.mp3","test":true}"#
            ) {
                ($0.title, $0.link) = (Self.text("Hi"), Self.text("https://example.com"))
            }
                == #"{"alert":"Hi","category":"MARKETING","large_icon":"https://a.b/c.png","sound":"s.mp3","test_message":true,"intent":{"url":"com.example.sale"},"extras":{"link":"https://example.com"}}"#
        )
        #expect(
            try hmos(#"{"category":"MARKETING"}"#) {
                $0.isSilent = false; $0.sound = Self.text("default"); $0.body = Self.text("x")
            } != nil)
    }

    @Test("an image that HarmonyOS does not show is a loss, which phones with Android do not have")
    func harmonyImage() throws {
        let own = try Self.own(#"{"harmony":{"category":"MARKETING"}}"#)
        let losses = Self.draft { ($0.body, $0.image, $0.own) = (Self.text("x"), Self.text("https://a.b/c.png"), own) }
            .losses
        #expect(losses.map(\.key) == [.image] && losses[0].isPartial)
        #expect(Self.draft { ($0.body, $0.image) = (Self.text("x"), Self.text("https://a.b/c.png")) }.losses.isEmpty)
    }

    // MARK: - What phones show

    @Test("the card says of which class the push is at makers and on HarmonyOS")
    func shownClasses() throws {
        let push = JPush().shown(
            try JSONValue(
                parsing:
                    #"{"notification":{"android":{"alert":"B"},"ios":{"alert":{"body":"B"}},"hmos":{"alert":"B","category":"MARKETING","intent":{"url":"a://b"}}},"platform":"all","options":{"third_party_channel":{"xiaomi":{"channel_id":"1"},"vivo":{"classification":0}}}}"#
            ))
        #expect(
            push.marks.map { "\($0.name)=\($0.value)" } == [
                "channel (Xiaomi)=1", "classification (vivo)=operational", "category (HarmonyOS)=MARKETING",
                "opens (HarmonyOS)=a://b",
            ])
    }

    @Test("the card has the texts, the image, and what the app gets")
    func shown() throws {
        let push = JPush().shown(
            try JSONValue(
                parsing:
                    #"{"notification":{"android":{"alert":"B","title":"T","style":3,"big_pic_path":"https://a.b/c.png","channel_id":"offers","extras":{"link":"x"}},"ios":{"alert":{"title":"T","subtitle":"S","body":"B"},"sound":"a.caf","badge":"0","thread-id":"t","mutable-content":true,"content-available":true,"extras":{"link":"x","image":"https://a.b/c.png"}}},"message":{"msg_content":"M"},"platform":"all","options":{}}"#
            ))
        #expect(
            push.title == "T" && push.subtitle == "S" && push.body == "B" && push.image == "https://a.b/c.png"
                && !push.isSilent)
        #expect(
            push.marks.map { "\($0.name)=\($0.value)" }
                == [
                    "sound=a.caf", "badge=removed", "thread=t", "wakes the app=", "channel_id (Android)=offers",
                    "in the app=M",
                ])
        #expect(push.ownKeys.map { "\($0.name)=\($0.value)" } == ["link=x"])
        let silent = JPush().shown(
            try JSONValue(
                parsing: #"{"notification":{"android":{"alert":""},"ios":{"alert":"","content-available":true}}}"#))
        #expect(silent.isSilent && silent.texts.isEmpty && silent.marks.isEmpty)
    }
}
