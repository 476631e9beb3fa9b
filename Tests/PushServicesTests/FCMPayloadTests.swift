import Base
import Testing

@testable import PushServices

/// Each cell of the column FCM in the table of content, and what FCM cannot carry.
@Suite("Payloads for FCM")
struct FCMPayloadTests {
    private static let place = SourcePosition(file: "sale.yaml", line: 1, column: 1)

    static func text(_ value: String) -> SourceText { SourceText(value, at: place) }

    static func draft(_ change: (inout MessageContent) -> Void) -> PayloadDraft {
        var content = MessageContent(position: place)
        change(&content)
        return FCM().payload(of: content)
    }

    /// The payload as JSON, with templates as they are written.
    static func payload(_ change: (inout MessageContent) -> Void) -> String { json(draft(change).root).text }

    static func json(_ node: PayloadNode) -> JSONValue {
        switch node {
        case .constant(let value): value
        case .content(let node): json(node)
        case .text(let text), .shown(let text, _, _), .address(let text, _): .string(text.value)
        case .object(let members): .object(members.map { JSONMember($0.name, json($0.value)) })
        case .list(let nodes): .array(nodes.map(json))
        case .encoded(let node): .string(json(node).text)
        case .limited(let node, _): json(node)
        case .pushID: .null
        }
    }

    private static func json(_ node: ContentNode) -> JSONValue {
        switch node {
        case .null: .null
        case .bool(let value, _): .bool(value)
        case .integer(let value, _): .integer(value)
        case .double(let value, _): .double(value)
        case .text(let text): .string(text.value)
        case .array(let nodes, _): .array(nodes.map(json))
        case .object(let members, _): .object(members.map { JSONMember($0.name.value, json($0.value)) })
        }
    }

    /// JSON as a person would write it in YAML.
    static func node(_ value: JSONValue) -> ContentNode {
        switch value {
        case .null: .null(place)
        case .bool(let value): .bool(value, place)
        case .integer(let value): .integer(value, place)
        case .double(let value): .double(value, place)
        case .string(let value): .text(text(value))
        case .array(let values): .array(values.map(node), place)
        case .object(let members): .object(members.map { ContentMember(text($0.name), node($0.value)) }, place)
        }
    }

    static func node(_ json: String) throws -> ContentNode { node(try JSONValue(parsing: json)) }

    private static func findings(_ change: (inout MessageContent) -> Void) -> [String] {
        draft(change).findings.map { "\($0.severity == .error ? "error" : "warning"): \($0.message)" }
    }

    // MARK: - By the keys of content

    private static let cells: [(String, @Sendable (inout MessageContent) -> Void, String)] = [
        (
            "title", { $0.title = text("Hi") },
            #"{"message":{"apns":{"headers":{}},"notification":{"title":"Hi"},"android":{}}}"#
        ),
        (
            "body", { $0.body = text("Sale") },
            #"{"message":{"apns":{"headers":{}},"notification":{"body":"Sale"},"android":{}}}"#
        ),
        (
            "subtitle", { ($0.title, $0.subtitle) = (text("Hi"), text("Now")) },
            #"{"message":{"apns":{"headers":{},"payload":{"aps":{"alert":{"title":"Hi","subtitle":"Now"}}}},"notification":{"title":"Hi"},"android":{}}}"#
        ),
        (
            "sound", { ($0.title, $0.sound) = (text("Hi"), text("spring.caf")) },
            #"{"message":{"apns":{"headers":{},"payload":{"aps":{"sound":"spring.caf"}}},"notification":{"title":"Hi"},"android":{"notification":{"sound":"spring"}}}}"#
        ),
        (
            "usual sound", { ($0.title, $0.sound) = (text("Hi"), text("default")) },
            #"{"message":{"apns":{"headers":{},"payload":{"aps":{"sound":"default"}}},"notification":{"title":"Hi"},"android":{"notification":{"sound":"default"}}}}"#
        ),
        (
            "badge", { ($0.title, $0.badge) = (text("Hi"), 3) },
            #"{"message":{"apns":{"headers":{},"payload":{"aps":{"badge":3}}},"notification":{"title":"Hi"},"android":{}}}"#
        ),
        (
            "category and thread", { ($0.title, $0.category, $0.thread) = (text("Hi"), text("SALE"), text("spring")) },
            #"{"message":{"apns":{"headers":{},"payload":{"aps":{"thread-id":"spring","category":"SALE"}}},"notification":{"title":"Hi"},"android":{}}}"#
        ),
        (
            "image", { ($0.title, $0.image) = (text("Hi"), text("https://cdn.example.com/a.jpg")) },
            #"{"message":{"apns":{"headers":{},"payload":{"aps":{"mutable-content":1}}},"notification":{"title":"Hi","image":"https://cdn.example.com/a.jpg"},"android":{}}}"#
        ),
        (
            "link and data",
            {
                ($0.title, $0.link, $0.data) = (
                    text("Hi"), text("shop://sale"), .object([.init(text("a"), .text(text("1")))], place)
                )
            },
            #"{"message":{"apns":{"headers":{}},"notification":{"title":"Hi"},"data":{"link":"shop://sale","a":"1"},"android":{}}}"#
        ),
        (
            "wake_app", { ($0.title, $0.wakesApp) = (text("Hi"), true) },
            #"{"message":{"apns":{"headers":{},"payload":{"aps":{"content-available":1}}},"notification":{"title":"Hi"},"android":{}}}"#
        ),
        (
            "silent", { ($0.isSilent, $0.link) = (true, text("shop://sale")) },
            #"{"message":{"apns":{"headers":{},"payload":{"aps":{"content-available":1}}},"data":{"link":"shop://sale"},"android":{}}}"#
        ),
        (
            "how iPhones show it",
            {
                ($0.title, $0.interruption, $0.relevance) = (text("Hi"), text("passive"), .double(0.8, place))
                ($0.targetContent, $0.filter) = (text("orders"), text("work"))
            },
            #"{"message":{"apns":{"headers":{},"payload":{"aps":{"interruption-level":"passive","relevance-score":0.8,"target-content-id":"orders","filter-criteria":"work"}}},"notification":{"title":"Hi"},"android":{}}}"#
        ),
        (
            "texts of the app",
            {
                $0.localized = [
                    .title: LocalizedText(key: text("HI")),
                    .body: LocalizedText(key: text("SALE"), arguments: [text("{{ name }}"), text("20")]),
                ]
            },
            #"{"message":{"apns":{"headers":{},"payload":{"aps":{"alert":{"title-loc-key":"HI","loc-key":"SALE","loc-args":["{{ name }}","20"]}}}},"android":{"notification":{"title_loc_key":"HI","body_loc_key":"SALE","body_loc_args":["{{ name }}","20"]}}}}"#
        ),
    ]

    @Test("each key of content is where FCM looks for it", arguments: cells.indices)
    func cell(number: Int) {
        let (name, content, expected) = Self.cells[number]
        let draft = Self.draft(content)
        #expect(Self.payload(content) == expected, "\(name)")
        #expect(draft.findings.isEmpty && draft.byteLimit == 3796, "\(name)")
        #expect(draft.pushType == (name == "silent" ? .background : .alert))
    }

    private static func own(_ json: String) throws -> [ContentMember] {
        guard case .object(let members, _) = try node(json) else { return [] }
        return members
    }

    @Test("what only Android has, and a label, are where FCM looks for them")
    func own() throws {
        let own = try Self.own(
            ##"{"android":{"channel":"offers","color":"#FF8800","priority":"high","visibility":"secret","count":3,"click_action":"OPEN","ticker":"Sale"},"analytics_label":"spring-sale"}"##
        )
        let draft = Self.draft { ($0.title, $0.own) = (Self.text("Hi"), own) }
        #expect(draft.findings.isEmpty)
        #expect(
            Self.json(draft.root).text
                == #"{"message":{"apns":{"headers":{}},"notification":{"title":"Hi"},"fcm_options":{"analytics_label":"spring-sale"},"#
                + ##""android":{"notification":{"channel_id":"offers","color":"#FF8800","notification_priority":"PRIORITY_HIGH","##
                + #""visibility":"SECRET","notification_count":3,"click_action":"OPEN","ticker":"Sale"}}}}"#)
    }

    @Test("a label beside 'track' is a mistake, as the statistics of the run would not be found")
    func labelBesideTracking() throws {
        let own = try Self.own(#"{"analytics_label":"spring-sale"}"#)
        let findings = Self.draft { content in
            (content.title, content.own) = (Self.text("Hi"), own)
            content.tracking = PushTracking(
                run: "20261201-090000-spring-7f3a", campaign: "spring", includesSilent: false, place: content.position)
        }.findings
        #expect(
            findings.map(\.message) == [
                "'analytics_label' takes the place of the run's, by which report --refresh finds what devices received"
            ])
        #expect(findings.map(\.remedy) == ["Remove it; or write track: false under 'delivery'."])
    }

    @Test(
        "what is wrong with them",
        arguments: [
            (
                #"{"android":{"priority":"hihg"}}"#,
                "'priority' must be one of min, low, default, high, max, not the text 'hihg'",
                "Did you mean 'high'?"
            ),
            (
                #"{"android":{"visibility":1}}"#, "'visibility' must be one of private, public, secret, not 1",
                "For example: visibility: private."
            ),
            (
                #"{"android":{"count":-1}}"#, "'count' must be a whole number from 0 to 2147483647, not -1",
                "For example: count: 1."
            ),
            (
                #"{"android":{"color":"red"}}"#, "'color' must be a colour like #FF8800, not the text 'red'",
                ##"For example: color: "#FF8800"."##
            ),
            (#"{"android":{"chanel":"x"}}"#, "unknown key 'chanel' in 'android'", "Did you mean 'channel'?"),
            (
                #"{"analytics_label":"{{ name }}"}"#,
                "'analytics_label' must be 1 to 50 letters, digits and characters of -_.~%, not a template, which always gives a text",
                "For example: analytics_label: spring-sale."
            ),
        ])
    func ownMistakes(json: String, message: String, remedy: String) throws {
        let own = try Self.own(json)
        let findings = Self.draft { ($0.title, $0.own) = (Self.text("Hi"), own) }.findings
        #expect(findings.map(\.message) == [message] && findings.map(\.remedy) == [remedy])
    }

    @Test("a text of the campaign that no phone shows is a mistake")
    func twice() {
        let findings = Self.findings {
            ($0.title, $0.localized) = (Self.text("Hi"), [.title: LocalizedText(key: Self.text("HI"))])
        }
        #expect(findings == ["error: 'localized' has a title, too, and FCM shows one of them"])
    }

    @Test("texts that people see follow the rules for such texts")
    func shown() {
        guard case .object(let root) = Self.draft({ $0.title = Self.text("Hi {{ name }}") }).root,
            case .object(let message) = root[0].value,
            case .object(let notification)? = message.first(where: { $0.name == "notification" })?.value,
            case .shown(_, mustShow: true, isStrict: true) = notification[0].value
        else { return #expect(Bool(false)) }
    }

    @Test(
        "data holds texts only, and anything else is a mistake with a remedy",
        arguments: [
            ("7", "a number", #"Put it in quotes: n: "7"."#), ("1.5", "a number", #"Put it in quotes: n: "1.5"."#),
            ("true", "a truth value", #"Put it in quotes: n: "true"."#),
            ("null", "no value", #"Remove the key, or write n: ""."#),
            ("[1]", "a list", "Write it as one text"), ("{\"a\":1}", "a group of keys", "directly under 'data'"),
        ])
    func data(value: String, words: String, remedy: String) throws {
        let node = try Self.node("{\"n\":\(value)}")
        let finding = try #require(Self.draft { ($0.title, $0.data) = (Self.text("Hi"), node) }.findings.first)
        #expect(
            finding.severity == .error
                && finding.message == "'n' in 'data' is \(words), and FCM carries only texts there")
        #expect(finding.remedy?.contains(remedy) == true && finding.position != nil)
    }

    @Test(
        "FCM's own keys are no keys of data",
        arguments: ["from", "message_type", "google.sent", "gcm.x", "gcm_y", "aps"])
    func reserved(name: String) throws {
        let node = try Self.node("{\"\(name)\":\"x\"}")
        #expect(Self.findings { ($0.title, $0.data) = (Self.text("Hi"), node) }.count == 1)
    }

    @Test("what Android lacks is said where it stands")
    func androidLacks() {
        #expect(
            Self.findings { $0.subtitle = Self.text("Now") }.first?.hasPrefix("error: Android shows no subtitle")
                == true)
        #expect(
            Self.findings { $0.badge = 0 }.first?.hasPrefix(
                "warning: a push without title and body does nothing on Android") == true)
        func sound(_ name: String) -> [String] {
            Self.findings { ($0.title, $0.sound) = (Self.text("Hi"), Self.text(name)) }
        }
        #expect(sound("{{ tone }}.caf").isEmpty)
        #expect(
            sound("{{ tone }}").first?.hasPrefix("error: the ending of the sound must stand behind its template")
                == true)
        #expect(sound("Spring-Sale.caf").first?.hasPrefix("warning: Android has no sound 'Spring-Sale'") == true)
        #expect(sound("Spring").first?.hasPrefix("warning: Android has no sound 'Spring'") == true)
        #expect(
            sound("spring.mp3").first?.hasPrefix("warning: the sound 'spring.mp3' is not in a format that iPhones play")
                == true)
        #expect(
            Self.payload { ($0.title, $0.sound) = (Self.text("Hi"), Self.text("{{ a.b }}.caf")) }.contains(
                #""sound":"{{ a.b }}"}"#))
    }

    // MARK: - By hand

    private static func byHand(_ json: String) throws -> PayloadDraft {
        let node = try node(json)
        return draft { $0.payload = node }
    }

    @Test("a payload by hand keeps its members, with those that a run adds to at its ends")
    func order() throws {
        let draft = try Self.byHand(
            #"{"message":{"android":{"notification":{"channel_id":"offers","title":"A"}},"data":{"a":"b"},"apns":{"payload":{"aps":{"alert":"x"}},"headers":{"apns-topic":"t"}},"notification":{"title":"T"}}}"#
        )
        #expect(draft.findings.isEmpty && draft.pushType == .alert)
        #expect(
            Self.json(draft.root).text
                == #"{"message":{"apns":{"headers":{"apns-topic":"t"},"payload":{"aps":{"alert":"x"}}},"data":{"a":"b"},"notification":{"title":"T"},"android":{"notification":{"channel_id":"offers","title":"A"}}}}"#
        )
    }

    @Test("texts of a payload by hand are checked as those of content are")
    func lint() throws {
        guard
            case .object(let members, _) = try Self.node(
                #"{"message":{"notification":{"title":"T"},"android":{"notification":{"body":"B"}},"apns":{"payload":{"aps":{"alert":{"subtitle":"S"}}}}}}"#
            )
        else { return #expect(Bool(false)) }
        #expect(
            FCM().lint(payload: members).texts.map { "\($0.key)=\($0.text.value)" } == [
                "title=T", "body=B", "subtitle=S",
            ])
    }

    @Test("what kind of push a payload by hand is")
    func kinds() throws {
        #expect(
            try Self.byHand(#"{"message":{"apns":{"payload":{"aps":{"content-available":1}}}}}"#).pushType
                == .background)
        let data = try Self.byHand(#"{"message":{"data":{"a":"b"}}}"#)
        #expect(data.pushType == .background && data.findings.isEmpty)
        for visible in [
            #"{"data":{"a":"b"},"notification":{"title":"T"}}"#,
            #"{"data":{"a":"b"},"android":{"notification":{"body":"B"}}}"#,
            #"{"data":{"a":"b"},"apns":{"payload":{"aps":{"badge":1}}}}"#,
            #"{"data":{"a":"b"},"webpush":{"notification":{"title":"T"}}}"#,
        ] { #expect(try Self.byHand(#"{"message":\#(visible)}"#).pushType == .alert, "\(visible)") }
        let nothing = try Self.byHand(#"{"message":{}}"#)
        #expect(nothing.findings.map(\.severity) == [.warning])
        #expect(Self.json(nothing.root).text == #"{"message":{"apns":{"headers":{}},"android":{}}}"#)
    }

    @Test(
        "what is wrong in a payload by hand",
        arguments: [
            (#"{"notification":{}}"#, "the payload has no key 'notification' next to 'message'"),
            (
                #"{"message":{"notification":{}},"validate_only":true}"#,
                "the payload has no key 'validate_only' next to 'message'"
            ),
            (#"{"message":7}"#, "'message' must be a group of keys"),
            (#"{"message":{"token":"x"}}"#, "'token' says who gets the message"),
            (#"{"message":{"fid":"x"}}"#, "'fid' says who gets the message"),
            (#"{"message":{"topic":"x"}}"#, "'topic' says who gets the message"),
            (
                #"{"message":{"notification":"x"}}"#,
                "'notification' in 'message' must be a group of keys, not the text 'x'"
            ),
            (
                #"{"message":{"notification":{"title":"a"},"android":7}}"#,
                "'android' in 'message' must be a group of keys, not 7"
            ),
            (#"{"message":{"notification":{"title":"a"},"android":{"ttl":"90s"}}}"#, "'ttl' is set by 'delivery'"),
            (
                #"{"message":{"notification":{"title":"a"},"android":{"priority":"HIGH"}}}"#,
                "'priority' is set by 'delivery'"
            ),
            (
                #"{"message":{"notification":{"title":"a"},"android":{"collapse_key":"x"}}}"#,
                "'collapse_key' is set by 'delivery'"
            ),
            (
                #"{"message":{"notification":{"title":"a"},"apns":{"headers":{"apns-priority":"5"}}}}"#,
                "'apns-priority' is set by 'delivery'"
            ),
            (
                #"{"message":{"notification":{"title":"a"},"apns":{"headers":{"apns-topic":5}}}}"#,
                "'apns-topic' must be a text"
            ),
            (
                #"{"message":{"notification":{"title":"a"},"apns":{"headers":"x"}}}"#,
                "'headers' in 'apns' must be a group of keys, not the text 'x'"
            ),
            (#"{"message":{"apns":{"payload":{"aps":{"content-available":true}}}}}"#, "'content-available' must be 1"),
            (#"{"message":{"data":{"a":1}}}"#, "'a' in 'data' is a number"),
            (#"{"message":{"data":{"from":"x"}}}"#, "FCM keeps the key 'from'"),
            (#"{"message":{"notification":{"title":"a"},"android":{"data":{"a":1}}}}"#, "'a' in 'data' is a number"),
            (#"{"message":{"webpush":{"data":{"a":1}}}}"#, "'a' in 'data' is a number"),
            (#"{"message":{"notification":{"title":7}}}"#, "'title' in 'notification' must be a text, not 7"),
            (
                #"{"message":{"android":{"notification":{"color":"red"}}}}"#,
                "'color' in 'notification' must be a colour like #FF8800, not the text 'red'"
            ),
            (
                #"{"message":{"android":{"notification":{"sticky":"yes"}}}}"#,
                "'sticky' in 'notification' must be true or false"
            ),
            (
                #"{"message":{"android":{"notification":{"sticky":1}}}}"#,
                "'sticky' in 'notification' must be true or false, not 1"
            ),
            (
                #"{"message":{"android":{"notification":{"notification_priority":"priority_hihg"}}}}"#,
                "'notification_priority' in 'notification' must be one of PRIORITY_MIN, PRIORITY_LOW"
            ),
            (
                #"{"message":{"android":{"notification":{"notification_count":1.5}}}}"#,
                "'notification_count' in 'notification' must be a whole number"
            ),
            (
                #"{"message":{"android":{"notification":{"vibrate_timings":["1s",2]}}}}"#,
                "'vibrate_timings' in 'notification' must be seconds with an s behind them, not 2"
            ),
            (
                #"{"message":{"android":{"notification":{"body_loc_args":"x"}}}}"#,
                "'body_loc_args' in 'notification' must be a list"
            ),
            (
                #"{"message":{"android":{"notification":{"light_settings":{"color":{"red":2}}}}}}"#,
                "'red' in 'color' must be a number from 0 to 1, not 2"
            ),
            (#"{"message":{"android":{"direct_boot_ok":"x"}}}"#, "'direct_boot_ok' in 'android' must be true or false"),
            (
                #"{"message":{"fcm_options":{"analytics_label":"spring sale"}}}"#,
                "'analytics_label' in 'fcm_options' must be 1 to 50 letters, digits and characters of -_.~%"
            ),
            (
                #"{"message":{"webpush":{"fcm_options":{"link":"http://a.b"}}}}"#,
                "'link' in 'fcm_options' must be an address that begins with https://"
            ),
            (#"{"message":{"webpush":{"headers":{"TTL":90}}}}"#, "'TTL' in 'headers' must be a text, not 90"),
            (
                #"{"message":{"apns":{"live_activity_token":"x","payload":{"aps":{"alert":{"title":"x"}}}}}}"#,
                "the message has a live_activity_token, and 'aps' no event"
            ),
            (
                #"{"message":{"apns":{"payload":{"aps":{"event":"end"}}}}}"#,
                "'event' belongs to a Live Activity, and 'apns' has no live_activity_token"
            ),
            (
                #"{"message":{"apns":{"live_activity_token":"x","payload":{"aps":{"event":"start"}}}}}"#,
                "an activity that starts needs 'attributes-type'"
            ),
            (#"{"message":{"apns":{"payload":[]}}}"#, "'payload' in 'apns' must be a group of keys, not a list"),
        ])
    func mistakes(payload: String, words: String) throws {
        let errors = try Self.byHand(payload).findings.filter { $0.severity == .error }
        #expect(errors.contains { $0.message.hasPrefix(words) }, "\(errors.map(\.message))")
        #expect(errors.allSatisfy { $0.remedy?.hasSuffix(".") == true || $0.remedy?.hasSuffix("?") == true })
    }

    @Test(
        "a key that is not known goes out as it is, with a warning",
        arguments: [
            (#"{"message":{"notificaton":{}}}"#, "'message' has no key 'notificaton'"),
            (#"{"message":{"notification":{"titel":"x"}}}"#, "'notification' has no key 'titel'"),
            (#"{"message":{"android":{"notification":{"chanel_id":"x"}}}}"#, "'notification' has no key 'chanel_id'"),
            (#"{"message":{"fcm_options":{"label":"x"}}}"#, "'fcm_options' has no key 'label'"),
            (#"{"message":{"webpush":{"notifications":{}}}}"#, "'webpush' has no key 'notifications'"),
            (#"{"message":{"apns":{"fcm_options":{"img":"x"}}}}"#, "'fcm_options' has no key 'img'"),
        ])
    func unknown(payload: String, words: String) throws {
        let draft = try Self.byHand(payload)
        let warnings = draft.findings.filter { $0.name == .unknownPayloadKey }
        #expect(warnings.map(\.message) == [words] && draft.findings.allSatisfy { $0.severity == .warning })
        let key = try #require(words.split(separator: "'").last)
        #expect(Self.json(draft.root).text.contains("\"\(key)\":"))
    }
}

/// Messages by hand that are right.
@Suite("Payloads for FCM by hand")
struct FCMHandWrittenTests {
    @Test("every key that Google documents is accepted, and so are templates where a word must be")
    func everything() throws {
        let payload = try FCMPayloadTests.node(
            """
            {"message":{"notification":{"title":"a","body":"b","image":"https://a.b/c.png"},"data":{"a":"b"},"fcm_options":{"analytics_label":"x-1"},
            "android":{"restricted_package_name":"a.b","data":{"a":"b"},"direct_boot_ok":true,"bandwidth_constrained_ok":false,
            "restricted_satellite_ok":true,"fcm_options":{"analytics_label":"{{ a.label }}"},"notification":{"title":"a","body":"b","icon":"i",
            "color":"#FF8800","sound":"s","tag":"t","click_action":"c","body_loc_key":"k","body_loc_args":["a"],"title_loc_key":"k",
            "title_loc_args":["a","b"],"channel_id":"offers","ticker":"t","sticky":true,"event_time":"2026-12-01T09:00:00Z","local_only":false,
            "notification_priority":"PRIORITY_HIGH","default_sound":true,"default_vibrate_timings":true,"default_light_settings":false,
            "vibrate_timings":["0.5s","1s"],"visibility":"{% if a.quiet == 'yes' %}PRIVATE{% endif %}","notification_count":3,
            "light_settings":{"color":{"red":1,"green":0.5,"blue":0,"alpha":1.0},"light_on_duration":"3.5s","light_off_duration":"1s"},
            "image":"https://a.b/c.png","bypass_proxy_notification":true,"proxy":"ALLOW"}},
            "webpush":{"headers":{"TTL":"90"},"data":{"a":"b"},"notification":{"title":"a","actions":[{"action":"x"}],"vibrate":[1,2]},
            "fcm_options":{"link":"https://a.b","analytics_label":"x"}},
            "apns":{"headers":{"apns-topic":"t"},"payload":{"aps":{"alert":"x"},"own":{"a":1}},"fcm_options":{"analytics_label":"x","image":"https://a.b/c"},
            "live_activity_token":"x"}}}
            """.replacing(#""aps":{"alert":"x"}"#, with: #""aps":{"alert":{"title":"x"},"event":"end"}"#))
        #expect(FCMPayloadTests.draft { $0.payload = payload }.findings.map(\.message) == [])
    }

    @Test("a slip is answered with the key or the word that was meant")
    func nearest() throws {
        func remedies(_ json: String) throws -> [String] {
            let payload = try FCMPayloadTests.node(json)
            return FCMPayloadTests.draft { $0.payload = payload }.findings.compactMap(\.remedy)
        }
        #expect(
            try remedies(#"{"message":{"android":{"notification":{"channelId":"x"}}}}"#) == [
                "Did you mean 'channel_id'?"
            ])
        #expect(
            try remedies(#"{"message":{"android":{"notification":{"visibility":"public"}}}}"#) == [
                "Did you mean 'PUBLIC'?"
            ])
    }
}

@Suite("What phones show of a payload for FCM")
struct FCMShownTests {
    private func shown(_ json: String) throws -> ShownPush { FCM().shown(try JSONValue(parsing: json)) }

    @Test("the card has the notification's texts, its image, and what the app gets")
    func card() throws {
        let push = try shown(
            #"{"message":{"apns":{"headers":{},"payload":{"aps":{"badge":0,"sound":"a.caf","thread-id":"t"}}},"notification":{"title":"T","body":"B","image":"https://a.b/c.png"},"data":{"link":"x"},"android":{"notification":{"sound":"a","channel_id":"offers"}}}}"#
        )
        #expect(push.title == "T" && push.body == "B" && push.image == "https://a.b/c.png" && !push.isSilent)
        #expect(
            push.marks.map { "\($0.name)=\($0.value)" } == [
                "badge=removed", "sound=a.caf", "thread=t", "channel_id (Android)=offers",
            ])
        #expect(push.ownKeys.map { "\($0.name)=\($0.value)" } == ["link=x"])
    }

    @Test("texts of the app are named by their keys, and a critical sound is called one")
    func localized() throws {
        let push = try shown(
            #"{"message":{"apns":{"payload":{"aps":{"alert":{"title-loc-key":"HI","loc-key":"SALE"},"sound":{"critical":1,"name":"a.caf"}}}},"android":{"notification":{"title_loc_key":"HI","body_loc_key":"SALE","sound":"a"}},"fcm_options":{"analytics_label":"x"}}}"#
        )
        #expect(push.title == "‹HI›" && push.body == "‹SALE›")
        #expect(push.marks.map { "\($0.name)=\($0.value)" } == ["sound=a.caf, also on muted phones", "label=x"])
        let android = try shown(
            #"{"message":{"android":{"notification":{"title_loc_key":"HI","body_loc_key":"SALE"}}}}"#)
        #expect(android.title == "‹HI›" && android.body == "‹SALE›")
    }

    @Test("Android's own texts go before the common ones, and those before the ones of iPhones")
    func precedence() throws {
        #expect(
            try shown(#"{"message":{"notification":{"title":"T"},"android":{"notification":{"title":"A"}}}}"#).title
                == "A")
        let push = try shown(
            #"{"message":{"apns":{"payload":{"aps":{"alert":{"title":"I","subtitle":"S"}}}},"notification":{"title":"T"}}}"#
        )
        #expect(push.title == "T" && push.subtitle == "S")
        #expect(try shown(#"{"message":{"apns":{"payload":{"aps":{"alert":"x"}}}}}"#).body == "x")
    }

    @Test("a message that only an app reads is silent")
    func silent() throws {
        #expect(
            try shown(#"{"message":{"data":{"a":"b"},"apns":{"payload":{"aps":{"content-available":1}}}}}"#).isSilent)
        #expect(try !shown(#"{"message":{"apns":{"payload":{"aps":{"badge":1}}}}}"#).isSilent)
    }
}
