import Base
import Testing

@testable import PushServices

/// Each cell of the column Getui in the table of content, and what Getui cannot carry.
@Suite("Payloads for Getui")
struct GetuiPayloadTests {
    private static let place = SourcePosition(file: "sale.yaml", line: 1, column: 1)

    private static func text(_ value: String) -> SourceText { FCMPayloadTests.text(value) }

    static func draft(_ change: (inout MessageContent) -> Void) -> PayloadDraft {
        var content = MessageContent(position: place)
        change(&content)
        return Getui().payload(of: content)
    }

    private static func payload(_ change: (inout MessageContent) -> Void) -> String {
        FCMPayloadTests.json(draft(change).root).text
    }

    private static func findings(_ change: (inout MessageContent) -> Void) -> [String] {
        draft(change).findings.map { "\($0.severity == .error ? "error" : "warning"): \($0.message)" }
    }

    /// A payload as it should be.
    /// - Parameter channel: what `push_channel` has next to `ios`.
    private static func expected(ios: String, channel: String = "", message: String, strategy: Int = 2) -> String {
        #"{"settings":{"strategy":{"default":1,"ios":\#(strategy)}},"push_channel":{"ios":{"type":"notify",\#(ios)}\#(channel)},"#
            + #""push_message":{\#(message)}}"#
    }

    /// What makers show of a push that says Hi and Sale.
    private static func ups(_ click: String = #""click_type":"startapp""#, options: String = "") -> String {
        #","android":{"ups":{"notification":{"title":"Hi","body":"Sale",\#(click)}\#(options)}}"#
    }

    /// The part for iPhones and the notification of a push that says Hi and Sale, with more.
    private static func expected(
        alert: String = "", sound: String = GetuiPayload.silence, aps: String = "", ios: String = "",
        notification: String = "",
        click: String = #""click_type":"startapp""#, options: String = "", harmony: String = ""
    ) -> String {
        expected(
            ios: #""aps":{"alert":{"title":"Hi",\#(alert)"body":"Sale"},"sound":"\#(sound)"\#(aps)}\#(ios)"#,
            channel: ups(click, options: options) + harmony,
            message: #""notification":{"title":"Hi","body":"Sale",\#(notification)\#(click)}"#)
    }

    private static func greet(_ content: inout MessageContent) {
        (content.title, content.body) = (text("Hi"), text("Sale"))
    }

    private static let cells: [(String, @Sendable (inout MessageContent) -> Void, String)] = [
        ("title and body", { _ in }, expected()),
        ("subtitle", { $0.subtitle = text("Now") }, expected(alert: #""subtitle":"Now","#)),
        ("sound", { $0.sound = text("spring.caf") }, expected(sound: "spring.caf")),
        ("badge", { $0.badge = 3 }, expected(ios: #","auto_badge":"3""#)),
        ("no badge", { $0.badge = 0 }, expected(ios: #","auto_badge":"0""#)),
        (
            "category and thread", { ($0.category, $0.thread) = (text("SALE"), text("spring")) },
            expected(aps: #","category":"SALE","thread-id":"spring""#)
        ),
        ("wake_app", { $0.wakesApp = true }, expected(aps: #","content-available":1"#)),
        (
            "image", { $0.image = text("https://cdn.example.com/a.jpg") },
            expected(
                ios: #","multimedia":[{"url":"https://cdn.example.com/a.jpg","type":1,"only_wifi":false}]"#,
                notification: #""big_image":"https://cdn.example.com/a.jpg","#)
        ),
        (
            "link to the web", { $0.link = text("https://example.com/{{ a }}") },
            expected(
                ios: #","payload":"{\"link\":\"https://example.com/{{ a }}\"}""#,
                click: #""click_type":"url","url":"https://example.com/{{ a }}""#)
        ),
        (
            "link as an intent", { $0.link = text("intent:#Intent;end") },
            expected(
                ios: #","payload":"{\"link\":\"intent:#Intent;end\"}""#,
                click: #""click_type":"intent","intent":"intent:#Intent;end""#)
        ),
        (
            "link into the app", { $0.link = text("shop://sale") },
            expected(
                ios: #","payload":"{\"link\":\"shop://sale\"}""#,
                click: #""click_type":"payload","payload":"{\"link\":\"shop://sale\"}""#)
        ),
        (
            "link and data",
            {
                ($0.link, $0.data) = (
                    text("https://a.b"), .object([.init(text("n"), .array([.integer(1, place)], place))], place)
                )
            },
            expected(
                ios: #","payload":"{\"link\":\"https://a.b\",\"n\":[1]}""#,
                click: #""click_type":"payload","payload":"{\"link\":\"https://a.b\",\"n\":[1]}""#)
        ),
        (
            "android",
            {
                $0.own = [
                    .init(
                        text("android"),
                        .object(
                            [.init(text("channel"), .text(text("offers"))), .init(text("logo"), .text(text("l.png")))],
                            place))
                ]
            }, expected(notification: #""channel_id":"offers","logo":"l.png","#)
        ),
        (
            "in_app",
            { $0.own = [.init(text("in_app"), .object([.init(text("screen"), .text(text("sale")))], place))] },
            expected(
                ios: #""aps":{"alert":{"title":"Hi","body":"Sale"},"sound":"com.gexin.ios.silence"}"#, channel: ups(),
                message: #""transmission":"{\"screen\":\"sale\"}""#, strategy: 1)
        ),
    ]

    @Test("each key of content is where Getui looks for it", arguments: cells.indices)
    func cell(number: Int) {
        let (name, change, expected) = Self.cells[number]
        func content(_ content: inout MessageContent) {
            Self.greet(&content)
            change(&content)
        }
        let draft = Self.draft(content)
        #expect(Self.payload(content) == expected, "\(name)")
        #expect(
            draft.findings.isEmpty && draft.pushType == .alert && draft.byteLimit == Getui().payloadLimit(of: .alert),
            "\(name)")
    }

    @Test("a silent push wakes the app on both systems, and shows nothing")
    func silent() {
        let draft = Self.draft { ($0.isSilent, $0.link) = (true, Self.text("shop://sale")) }
        #expect(draft.pushType == .background && draft.findings.isEmpty)
        #expect(
            Self.payload { ($0.isSilent, $0.link) = (true, Self.text("shop://sale")) }
                == Self.expected(
                    ios: #""aps":{"content-available":1},"payload":"{\"link\":\"shop://sale\"}""#,
                    message: #""transmission":"{\"link\":\"shop://sale\"}""#))
        #expect(Self.payload { $0.isSilent = true }.contains(#""push_message":{"transmission":"{}"}"#))
    }

    @Test("texts that people see follow the rules for such texts, and parts have limits")
    func limits() {
        var found: [String: PayloadLimit] = [:]
        func search(_ node: PayloadNode) {
            switch node {
            case .limited(let node, let limit):
                found[limit.part.noun] = limit
                search(node)
            case .object(let members): members.forEach { search($0.value) }
            case .list(let nodes): nodes.forEach(search)
            case .encoded(let node): search(node)
            default: break
            }
        }
        search(
            Self.draft {
                Self.greet(&$0)
                ($0.link, $0.image) = (Self.text("https://a.b"), Self.text("https://a.b/c.png"))
            }.root)
        #expect(
            found.mapValues(\.part.most) == [
                "title": 50, "body": 256, "link": 1024, "address of the image": 1024, "part for iPhones": 4096,
            ])
        search(Self.draft { $0.isSilent = true }.root)
        #expect(
            found["data for the app"]
                == PayloadLimit(3072, .characters, of: "data for the app", service: "Getui", at: Self.place))
        #expect(found["title"]?.part.unit == .characters && found["part for iPhones"]?.part.unit == .bytes)
    }

    @Test("what Getui cannot carry is said where it stands")
    func lacks() throws {
        #expect(
            Self.findings { $0.title = Self.text("Hi") } == [
                "error: Getui's notifications on Android have a title and a body, and this push lacks a body"
            ])
        #expect(Self.findings { $0.body = Self.text("Hi") }.first?.hasSuffix("lacks a title") == true)
        #expect(Self.findings { $0.subtitle = Self.text("Hi") }.first?.hasSuffix("lacks a title and a body") == true)
        #expect(
            Self.findings { $0.badge = 0 }.first?.hasPrefix(
                "warning: a push without title and body does nothing on Android") == true)
        let data = try FCMPayloadTests.node(#"{"link":"x"}"#)
        #expect(
            Self.findings {
                Self.greet(&$0)
                ($0.link, $0.data) = (Self.text("shop://a"), data)
            } == ["error: 'data' holds 'link', which 'content' sets too"])
    }

    @Test(
        "keys of Getui's own are checked",
        arguments: [
            ("android", "7", "'android' must be a group of keys"),
            ("android", #"{"chanel":"x"}"#, "unknown key 'chanel' in 'android'"),
            ("android", #"{"channel":7}"#, "'channel' must be a text"),
            ("in_app", #""x""#, "'in_app' must be a group of keys"),
        ])
    func own(key: String, value: String, words: String) throws {
        let node = try FCMPayloadTests.node(value)
        let draft = Self.draft {
            Self.greet(&$0)
            $0.own = [.init(Self.text(key), node)]
        }
        #expect(draft.findings.map(\.message) == [words])
        #expect(
            draft.findings[0].severity == .error && draft.findings[0].remedy?.isEmpty == false
                && draft.findings[0].position != nil)
    }

    @Test("what the app does not get on Android beside 'in_app' is a loss, unless 'in_app' has it, too")
    func losses() throws {
        func losses(_ json: String) throws -> [ContentLoss] {
            let node = try FCMPayloadTests.node(json), data = try FCMPayloadTests.node(#"{"a":1}"#)
            return Self.draft { content in
                Self.greet(&content)
                (content.image, content.link) = (Self.text("https://a.example/b.png"), Self.text("shop://sale"))
                (content.data, content.sound, content.badge) = (data, Self.text("default"), 1)
                content.own = [.init(Self.text("in_app"), node)]
            }.losses
        }
        let all = try losses(#"{"screen":"sale"}"#)
        #expect(all.map(\.key) == [.title, .body, .image, .link, .data] && all.allSatisfy(\.isPartial))
        #expect(all.map(\.effect).first == "it does not get this 'title'")
        #expect(try losses(#"{"title":"Hi","body":"Sale","data":{"a":1},"image":"x","link":"y"}"#).isEmpty)
        #expect(try losses(#"{"title":"Hi","body":"Sale","data":{"a":1}}"#).map(\.key) == [.image, .link])
        #expect(
            Self.draft { content in
                Self.greet(&content)
                content.own = [.init(Self.text("android"), .object([], Self.place))]
            }.losses.isEmpty)
    }

    @Test("without a title and a body, phones on which the app is not running show nothing: a loss")
    func onlyInApp() throws {
        let node = try FCMPayloadTests.node(#"{"screen":"sale"}"#)
        let losses = Self.draft { $0.own = [.init(Self.text("in_app"), node)] }.losses
        #expect(losses.map(\.effect) == ["Android phones on which the app is not running show nothing of this push"])
        #expect(losses.map(\.isPartial) == [true])
    }

    @Test("'android' beside 'in_app' is a mistake, as Getui shows no notification then")
    func androidBesideInApp() throws {
        let android = try FCMPayloadTests.node(#"{"channel":"offers"}"#)
        let inApp = try FCMPayloadTests.node(#"{"title":"Hi","body":"Sale"}"#)
        let findings = Self.findings { content in
            Self.greet(&content)
            content.own = [.init(Self.text("android"), android), .init(Self.text("in_app"), inApp)]
        }
        #expect(
            findings == ["error: 'android' is about the notification that Getui shows, and with 'in_app' it shows none"]
        )
    }

    @Test(
        "makers and HarmonyOS show nothing without a title and a body, whatever the app shows itself",
        arguments: ["makers", "harmony"])
    func unshownBesideInApp(key: String) throws {
        let own = try FCMPayloadTests.node(
            key == "makers" ? #"{"oppo":{"category":"MARKETING"}}"# : #"{"category":"MARKETING"}"#)
        let inApp = try FCMPayloadTests.node(#"{"screen":"sale"}"#)
        let findings = Self.findings { $0.own = [.init(Self.text("in_app"), inApp), .init(Self.text(key), own)] }
        #expect(
            findings == [
                "error: '\(key)' is about what phones show while the app is not running, and this push lacks a title and a body"
            ])
    }

    @Test("a silent push has no place for what the app shows itself")
    func silentInApp() throws {
        let node = try FCMPayloadTests.node("{}")
        let draft = Self.draft { ($0.isSilent, $0.own) = (true, [.init(Self.text("in_app"), node)]) }
        #expect(draft.findings.map(\.message) == ["a silent push has 'data' for the app, and needs no 'in_app'"])
    }

    // MARK: - Makers of phones and HarmonyOS

    @Test(
        "a killed app of each maker shows the push, with the class that the campaign names",
        arguments: [
            (
                #"{"huawei":{"category":"MARKETING","importance":"low","channel":"offers"}}"#,
                #"{"HW":{"/message/android/category":"MARKETING","/message/android/notification/importance":"LOW","/message/android/notification/channel_id":"offers"}}"#
            ),
            (#"{"honor":{"importance":"low"}}"#, #"{"HO":{"/android/notification/importance":"LOW"}}"#),
            (
                #"{"xiaomi":{"channel":"123","template":"T1"}}"#,
                #"{"XM":{"/extra.channel_id":"123","/extra.template_id":"T1"}}"#
            ),
            (
                #"{"oppo":{"category":"MARKETING","channel":"c"}}"#,
                #"{"OP":{"/category":"MARKETING","/channel_id":"c"}}"#
            ),
            (
                #"{"vivo":{"classification":"operational","category":"MARKETING"}}"#,
                #"{"VV":{"/classification":0,"/category":"MARKETING"}}"#
            ),
        ])
    func makers(yaml: String, options: String) throws {
        let node = try FCMPayloadTests.node(yaml)
        let content: (inout MessageContent) -> Void = {
            Self.greet(&$0)
            $0.own = [.init(Self.text("makers"), node)]
        }
        #expect(Self.findings(content).isEmpty)
        #expect(Self.payload(content) == Self.expected(options: #","options":\#(options)"#))
    }

    @Test("a phone with HarmonyOS gets a notification of its own, with its category, and opens what the campaign says")
    func harmony() throws {
        func payload(_ yaml: String, link: String? = nil) throws -> String {
            let node = try FCMPayloadTests.node(yaml)
            return Self.payload {
                Self.greet(&$0)
                ($0.own, $0.link) = ([.init(Self.text("harmony"), node)], link.map(Self.text))
            }
        }
        func harmony(_ click: String) -> String {
            #","harmony":{"notification":{"title":"Hi","body":"Sale","category":"MARKETING",\#(click)}}"#
        }
        #expect(
            try payload(#"{"category":"MARKETING"}"#) == Self.expected(harmony: harmony(#""click_type":"startapp""#)))
        #expect(
            try payload(#"{"category":"MARKETING","want":{"abilityName":"Sale"}}"#)
                == Self.expected(harmony: harmony(#""click_type":"want","want":"{\"abilityName\":\"Sale\"}""#)))
        // With a payload it would be a message for the app's extension, for which Huawei demands a
        // permission.
        #expect(
            try payload(#"{"category":"MARKETING"}"#, link: "shop://a").contains(
                harmony(#""click_type":"startapp""#)))
    }

    @Test("on HarmonyOS a tap opens the app without link and data, a loss unless the campaign says where it leads")
    func lossesOnHarmony() throws {
        func losses(_ harmony: String) throws -> [ContentLoss] {
            let node = try FCMPayloadTests.node(harmony), data = try FCMPayloadTests.node(#"{"a":1}"#)
            return Self.draft {
                Self.greet(&$0)
                ($0.link, $0.data, $0.own) = (Self.text("shop://a"), data, [.init(Self.text("harmony"), node)])
            }.losses
        }
        let lost = try losses(#"{"category":"MARKETING"}"#)
        #expect(lost.map(\.key) == [.link, .data] && lost.allSatisfy(\.isPartial))
        #expect(lost.first?.effect == "a tap there opens the app without this 'link'")
        #expect(try losses(#"{"category":"MARKETING","want":{"uri":"shop://a"}}"#).isEmpty)
    }

    @Test(
        "what is wrong with what is said to makers and HarmonyOS is said at its place, with a remedy",
        arguments: [
            ("makers", "7", "'makers' must be a group of keys"),
            ("makers", #"{"sony":{}}"#, "Getui has no keys for a maker 'sony'"),
            ("makers", #"{"vivo":{}}"#, "'vivo' must be a group of keys"), ("makers", "{}", "'makers' names no maker"),
            ("makers", #"{"vivo":{"importance":"low"}}"#, "unknown key 'importance' in 'vivo'"),
            ("makers", #"{"vivo":{"classification":1}}"#, "'classification' must be operational or system, not 1"),
            ("makers", #"{"honor":{"importance":"HIGH"}}"#, "'importance' must be low or normal, not the text 'HIGH'"),
            ("makers", #"{"oppo":{"category":" "}}"#, "'category' has no text"),
            ("harmony", "true", "'harmony' must be a group of keys"),
            ("harmony", "{}", "'harmony' has no category, without which phones with HarmonyOS show no push"),
            ("harmony", #"{"category":"MARKETING","intent":"x"}"#, "unknown key 'intent' in 'harmony'"),
        ])
    func wrongClasses(key: String, value: String, words: String) throws {
        let node = try FCMPayloadTests.node(value)
        let draft = Self.draft {
            Self.greet(&$0)
            $0.own = [.init(Self.text(key), node)]
        }
        #expect(draft.findings.map(\.message) == [words])
        #expect(
            draft.findings.allSatisfy {
                $0.severity == .error && [".", "?"].contains($0.remedy?.last) && $0.position != nil
            })
    }

    @Test("a name that people use for a maker is answered by the key")
    func otherNames() throws {
        for (name, meant) in [("mi", "xiaomi"), ("OnePlus", "oppo"), ("hauwei", "huawei")] {
            let node = try FCMPayloadTests.node(#"{"\#(name)":{"channel":"c"}}"#)
            let findings = Self.draft {
                Self.greet(&$0)
                $0.own = [.init(Self.text("makers"), node)]
            }.findings
            #expect(findings.first?.remedy == "Did you mean '\(meant)'?")
        }
    }

    @Test("a silent push has no class and no category")
    func silentClasses() throws {
        let makers = try FCMPayloadTests.node(#"{"oppo":{"category":"MARKETING"}}"#)
        let harmony = try FCMPayloadTests.node(#"{"category":"MARKETING"}"#)
        let draft = Self.draft {
            $0.isSilent = true
            $0.own = [.init(Self.text("makers"), makers), .init(Self.text("harmony"), harmony)]
        }
        #expect(
            draft.findings.map(\.message) == [
                "'makers' is about a notification, and a silent push shows none",
                "'harmony' is about a notification, and a silent push shows none",
            ])
        #expect(!FCMPayloadTests.json(draft.root).text.contains("ups"))
    }

    // MARK: - By hand

    private static func byHand(_ json: String) throws -> PayloadDraft {
        let node = try FCMPayloadTests.node(json)
        return draft { $0.payload = node }
    }

    @Test("a payload by hand keeps its members, in the order that requests expect")
    func order() throws {
        let draft = try Self.byHand(
            #"{"push_message":{"notification":{"title":"T","body":"B","click_type":"none"},"network_type":1},"push_channel":{"harmony":{"notification":{"title":"T"}},"android":{"ups":{"options":{"HW":{"/message/android/category":"MARKETING"}},"notification":{"title":"T"}}},"ios":{"aps":{"alert":{"body":"B"}}}},"settings":{"strategy":{"ios":4},"speed":100}}"#
        )
        #expect(draft.findings.isEmpty && draft.pushType == .alert)
        #expect(
            FCMPayloadTests.json(draft.root).text
                == #"{"settings":{"speed":100,"strategy":{"ios":4}},"push_channel":{"ios":{"aps":{"alert":{"body":"B"}}},"android":{"ups":{"notification":{"title":"T"},"options":{"HW":{"/message/android/category":"MARKETING"}}}},"harmony":{"notification":{"title":"T"}}},"push_message":{"network_type":1,"notification":{"title":"T","body":"B","click_type":"none"}}}"#
        )
        let short = try Self.byHand(#"{"push_message":{"transmission":"x"}}"#)
        #expect(short.findings.isEmpty)
        #expect(
            FCMPayloadTests.json(short.root).text
                == #"{"settings":{"strategy":{"default":1,"ios":2}},"push_message":{"transmission":"x"}}"#)
    }

    @Test("what kind of push a payload by hand is")
    func kinds() throws {
        let wake = #"{"push_message":{"transmission":"x"},"push_channel":{"ios":{"aps":{"content-available":1}}}}"#
        #expect(try Self.byHand(wake).pushType == .background)
        #expect(try Self.byHand(wake.replacing("1}", with: #"1,"sound":"a.caf"}"#)).pushType == .alert)
        #expect(try Self.byHand(#"{"push_message":{"transmission":"x"}}"#).pushType == .alert)
    }

    @Test("texts of a payload by hand are checked as those of content are")
    func lint() throws {
        guard
            case .object(let members, _) = try FCMPayloadTests.node(
                #"{"push_message":{"notification":{"title":"T","body":"B","url":"u"}},"push_channel":{"ios":{"aps":{"alert":{"subtitle":"S"}}}}}"#
            )
        else { return #expect(Bool(false)) }
        #expect(
            Getui().lint(payload: members).texts.map { "\($0.key)=\($0.text.value)" } == [
                "title=T", "body=B", "subtitle=S",
            ])
    }

    @Test(
        "what is wrong in a payload by hand",
        arguments: [
            (#"{"transmission":"x"}"#, "'payload' has no key 'transmission'"),
            (#"{"settings":{}}"#, "the payload has no 'push_message'"),
            (#"{"push_message":{}}"#, "'push_message' must hold either a notification or a transmission"),
            (#"{"push_message":{"transmission":"x","notification":{}}}"#, "'push_message' must hold either"),
            (#"{"push_message":{"transmission":{"a":1}}}"#, "'transmission' in 'push_message' must be a text"),
            (#"{"push_message":{"transmission":"x"},"request_id":"x"}"#, "'request_id' is written by Volley"),
            (#"{"push_message":{"transmission":"x"},"audience":{"cid":["x"]}}"#, "'audience' is written by Volley"),
            (#"{"push_message":{"transmission":"x"},"group_name":"x"}"#, "'group_name' is written by Volley"),
            (#"{"push_message":{"transmission":"x"},"settings":{"ttl":1}}"#, "'ttl' is set by 'delivery'"),
            (
                #"{"push_message":{"transmission":"x"},"settings":{"strategy":{"ios":"2"}}}"#,
                "'ios' in 'strategy' must be a whole number"
            ),
            (#"{"push_message":{"notification":{"title":7}}}"#, "'title' in 'notification' must be a text"),
            (
                #"{"push_message":{"transmission":"x"},"push_channel":{"ios":{"payload":{"a":1}}}}"#,
                "'payload' in 'ios' must be a text"
            ),
            (
                #"{"push_message":{"transmission":"x"},"push_channel":{"android":{"ups":{"options":"x"}}}}"#,
                "'options' in 'ups' must be a group of keys"
            ),
            (
                #"{"push_message":{"transmission":"x"},"push_channel":{"ios":{"aps":{"content-available":true}}}}"#,
                "'content-available' in 'aps' must be a whole number"
            ),
            (
                #"{"push_message":{"transmission":"x"},"push_channel":{"ios":{"apns-collapse-id":"x"}}}"#,
                "'apns-collapse-id' is set by 'delivery'"
            ),
            (#"{"push_message":{"notification":{"notify_id":1}}}"#, "'notify_id' is set by 'delivery'"),
        ])
    func mistakes(payload: String, words: String) throws {
        let errors = try Self.byHand(payload).findings.filter { $0.severity == .error }
        #expect(errors.contains { $0.message.hasPrefix(words) }, "\(errors.map(\.message))")
        #expect(errors.allSatisfy { $0.position != nil })
    }

    @Test(
        "a key that is not known goes out as it is, with a warning",
        arguments: [
            (#"{"push_message":{"notification":{"titel":"x"}}}"#, "'notification' has no key 'titel'"),
            (
                #"{"push_message":{"transmission":"x"},"push_channel":{"harmony":{"notification":{"categry":"x"}}}}"#,
                "'notification' has no key 'categry'"
            ),
            (
                #"{"push_message":{"transmission":"x"},"push_channel":{"ios":{"aps":{"badge":1}}}}"#,
                "'aps' has no key 'badge'"
            ),
        ])
    func unknown(payload: String, words: String) throws {
        let draft = try Self.byHand(payload)
        #expect(draft.findings.map(\.name) == [.unknownPayloadKey] && draft.findings.map(\.message) == [words])
        let key = try #require(words.split(separator: "'").last)
        #expect(FCMPayloadTests.json(draft.root).text.contains("\"\(key)\":"))
    }

    @Test("what Getui's own SDK writes is known")
    func sdk() throws {
        let draft = try Self.byHand(
            #"{"push_message":{"notification":{"title":"T","body":"B","click_type":"none","channel_level":"3","badge_add_num":"1","ring_name":"a","thread_id":"t","logo_url":"https://a.b/c.png"}},"push_channel":{"ios":{"type":"liveactivity","laId":"x","auto_badge":"+1"}},"settings":{"filter_notify_off":true,"active_days":7,"need_backup":true,"active_push":true,"active_push_platform":[1,3],"schedule_time":1795219200000,"custom_callback":"x"}}"#
        )
        #expect(draft.findings.map(\.message) == [])
    }

    @Test("what only Android has is in the notification that Getui shows")
    func android() throws {
        guard
            case .object(let own, _) = try FCMPayloadTests.node(
                #"{"android":{"channel":"offers","priority":"high","big_text":"Long","badge":"+2","logo_url":"https://a.b/c.png"}}"#
            )
        else { return #expect(Bool(false)) }
        let draft = Self.draft {
            Self.greet(&$0)
            $0.own = own
        }
        #expect(draft.findings.isEmpty)
        #expect(
            FCMPayloadTests.json(draft.root).text.contains(
                #""notification":{"title":"Hi","body":"Sale","channel_id":"offers","channel_level":4,"big_text":"Long","badge_add_num":2,"logo_url":"https://a.b/c.png","click_type":"startapp"}}"#
            ))
        let marks = Getui().shown(FCMPayloadTests.json(draft.root)).marks.map { "\($0.name)=\($0.value)" }
        #expect(marks.contains("priority (Android)=high") && marks.contains("badge (Android)=+2"))
        let both = Self.findings {
            Self.greet(&$0)
            ($0.own, $0.image) = (own, Self.text("https://a.b/d.png"))
        }
        #expect(both == ["error: Android shows either an image or a large text, and this push has both"])
        #expect(
            Self.findings { ($0.title, $0.body, $0.own) = (Self.text("Hi"), Self.text("Sale"), Self.badge("\"3\"")) }
                == [
                    #"error: 'badge' must be a text from "+1" to "+999", not the text '3'"#
                ])
    }

    private static func badge(_ json: String) -> [ContentMember] {
        guard let node = try? FCMPayloadTests.node(#"{"android":{"badge":\#(json)}}"#), case .object(let own, _) = node
        else { return [] }
        return own
    }

    @Test("iPhones show the texts of the app, Android phones those of the campaign")
    func localized() {
        let payload = Self.payload {
            Self.greet(&$0)
            $0.localized = [.title: LocalizedText(key: Self.text("HI"), arguments: [Self.text("x")])]
        }
        #expect(payload.contains(#""alert":{"title-loc-key":"HI","title-loc-args":["x"],"body":"Sale"}"#))
        #expect(payload.contains(#""notification":{"title":"Hi","body":"Sale","#))
    }
}
