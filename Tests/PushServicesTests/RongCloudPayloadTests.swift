import Base
import Testing

@testable import PushServices

/// Each cell of the column RongCloud in the table of content, and what RongCloud cannot carry.
@Suite("Payloads for RongCloud")
struct RongCloudPayloadTests {
    private static let place = SourcePosition(file: "sale.yaml", line: 1, column: 1)

    private static func text(_ value: String) -> SourceText { SourceText(value, at: place) }

    /// A draft of content that has a body.
    private static func draft(_ change: (inout MessageContent) -> Void) -> PayloadDraft {
        var content = MessageContent(position: place)
        content.body = text("Sale")
        change(&content)
        return RongCloud().payload(of: content)
    }

    /// The payload as JSON, with templates as they are written.
    private static func payload(_ change: (inout MessageContent) -> Void) -> String { json(draft(change).root).text }

    private static func json(_ node: PayloadNode) -> JSONValue {
        switch node {
        case .constant(let value): value
        case .content(.text(let text)): .string(text.value)
        case .content, .list, .encoded, .pushID: .null
        case .limited(let node, _): json(node)
        case .text(let text), .shown(let text, _, _), .address(let text, _): .string(text.value)
        case .object(let members): .object(members.map { JSONMember($0.name, json($0.value)) })
        }
    }

    private static func data(_ members: [(String, ContentNode)]) -> ContentNode {
        .object(members.map { ContentMember(text($0.0), $0.1) }, place)
    }

    private static func findings(_ change: (inout MessageContent) -> Void) -> [String] {
        draft(change).findings.map { "\($0.severity == .error ? "error" : "warning"): \($0.message)" }
    }

    private static let cells: [(String, @Sendable (inout MessageContent) -> Void, String)] = [
        ("body", { _ in }, #"{"notification":{"ios":{},"pushContent":"Sale"}}"#),
        ("title", { $0.title = text("Hi") }, #"{"notification":{"ios":{},"title":"Hi","pushContent":"Sale"}}"#),
        ("badge", { $0.badge = 3 }, #"{"notification":{"ios":{"badge":3},"pushContent":"Sale"}}"#),
        ("no badge", { $0.badge = 0 }, #"{"notification":{"ios":{"badge":0},"pushContent":"Sale"}}"#),
        (
            "category", { $0.category = text("rich") },
            #"{"notification":{"ios":{"category":"rich"},"pushContent":"Sale"}}"#
        ),
        (
            "thread", { $0.thread = text("news") },
            #"{"notification":{"ios":{"thread-id":"news"},"pushContent":"Sale"}}"#
        ),
        (
            "interruption", { $0.interruption = text("passive") },
            #"{"notification":{"ios":{"interruption-level":"passive"},"pushContent":"Sale"}}"#
        ),
        ("wake_app", { $0.wakesApp = true }, #"{"notification":{"ios":{"contentAvailable":1},"pushContent":"Sale"}}"#),
        (
            "image", { ($0.image, $0.category) = (text("https://a.example/b.png"), text("rich")) },
            #"{"notification":{"ios":{"category":"rich","richMediaUri":"https://a.example/b.png"},"harmonyOS":{"ohos":{"image":"https://a.example/b.png"}},"pushContent":"Sale"}}"#
        ),
        (
            "link", { $0.link = text("shop://sale") },
            #"{"notification":{"ios":{"extras":{"link":"shop://sale"}},"android":{"extras":{"link":"shop://sale"}},"harmonyOS":{"extras":{"link":"shop://sale"}},"pushContent":"Sale"}}"#
        ),
        (
            "data", { $0.data = data([("order", .text(text("7")))]) },
            #"{"notification":{"ios":{"extras":{"order":"7"}},"android":{"extras":{"order":"7"}},"harmonyOS":{"extras":{"order":"7"}},"pushContent":"Sale"}}"#
        ),
    ]

    @Test("each key of content stands where RongCloud's table has it", arguments: cells.indices)
    func carried(index: Int) {
        let (name, change, expected) = Self.cells[index]
        #expect(Self.payload(change) == expected, "\(name)")
        #expect(Self.findings(change).isEmpty)
    }

    @Test("subtitle, sound, silence, and what is written by hand are refused before; so are expiry and priority")
    func lacking() {
        let rules = RongCloud().rules
        let lacking = ContentKey.allCases.filter { !rules.contentKeys.contains($0) }
        #expect(lacking == [.subtitle, .sound, .relevance, .targetContent, .filter, .localized, .silent, .payload])
        #expect(rules.deliveryKeys == [.collapse] && RongCloud().pushTypes == [.alert])
    }

    @Test("a push without a body is a mistake, also if it has a title or wakes the app")
    func withoutBody() {
        #expect(Self.findings { $0.body = nil } == ["error: RongCloud shows no push without a body"])
        #expect(
            Self.findings { ($0.title, $0.body) = (Self.text("Hi"), nil) } == [
                "error: RongCloud shows no push without a body"
            ])
        #expect(
            Self.findings { ($0.isSilent, $0.body) = (true, nil) } == [
                "error: RongCloud has no silent pushes: every push shows a text"
            ])
    }

    @Test("a title has at most 50 characters")
    func title() {
        guard case .object(let members) = Self.draft({ $0.title = Self.text("Hi") }).root,
            case .object(let notification)? = members.first?.value,
            case .limited(_, let limit)? = notification.first(where: { $0.name == "title" })?.value
        else {
            Issue.record("the title has no limit")
            return
        }
        #expect(limit == PayloadLimit(50, .characters, of: "title", key: .title, service: "RongCloud", at: Self.place))
    }

    @Test("a badge is at most 9,999")
    func badge() {
        #expect(Self.findings { $0.badge = 9999 }.isEmpty)
        #expect(
            Self.findings { $0.badge = 10_000 } == [
                "error: the badge 10000 is higher than RongCloud takes, which is 9999"
            ])
    }

    @Test(
        "iPhones get an image only with the category for which the app loads it: without one it is left out, which is told"
    )
    func image() {
        let image: (inout MessageContent) -> Void = { $0.image = Self.text("https://a.example/b.png") }
        #expect(
            Self.payload(image)
                == #"{"notification":{"ios":{},"harmonyOS":{"ohos":{"image":"https://a.example/b.png"}},"pushContent":"Sale"}}"#
        )
        let losses = Self.draft(image).losses
        #expect(losses.map(\.reason) == ["RongCloud passes an image to iPhones only together with a category"])
        #expect(losses.map(\.key) == [.image] && losses.map(\.effect) == ["iPhones get the push without it"])
        #expect(
            Self.draft { ($0.image, $0.category) = (Self.text("https://a.example/b.png"), Self.text("rich")) }.losses
                .isEmpty)
    }

    @Test("the app's own data are texts")
    func extras() {
        func finding(_ node: ContentNode) -> [String] { Self.findings { $0.data = Self.data([("order", node)]) } }
        #expect(
            finding(.integer(7, Self.place)) == [
                "error: 'order' in 'data' is a number, and RongCloud carries only texts there"
            ])
        #expect(
            finding(.bool(true, Self.place)) == [
                "error: 'order' in 'data' is a truth value, and RongCloud carries only texts there"
            ])
        #expect(
            finding(.object([], Self.place)).count == 1 && finding(.array([], Self.place)).count == 1
                && finding(.null(Self.place)).count == 1)
        let twice = Self.findings {
            $0.link = Self.text("shop://sale")
            $0.data = Self.data([("link", .text(Self.text("x")))])
        }
        #expect(twice == ["error: 'data' holds 'link', which 'content' sets too"])
    }

    private static func own(_ json: String) throws -> [ContentMember] {
        guard case .object(let members, _) = try FCMPayloadTests.node(json) else { return [] }
        return members
    }

    @Test(
        "a killed app of each maker shows the push, with the class that the campaign names",
        arguments: [
            (
                #"{"huawei":{"category":"MARKETING","importance":"low"}}"#,
                #"{"hw":{"category":"MARKETING","importance":"LOW"}}"#
            ),
            (#"{"honor":{"importance":"normal"}}"#, #"{"honor":{"importance":"NORMAL"}}"#),
            (#"{"xiaomi":{"channel":"123"}}"#, #"{"mi":{"channelId":"123"}}"#),
            (
                #"{"oppo":{"category":"MARKETING","channel":"c"}}"#,
                #"{"oppo":{"category":"MARKETING","channelId":"c"}}"#
            ),
            (
                #"{"vivo":{"classification":"operational","category":"MARKETING"}}"#,
                #"{"vivo":{"classification":"0","category":"MARKETING"}}"#
            ),
        ])
    func makers(yaml: String, android: String) throws {
        let own = try Self.own(#"{"makers":\#(yaml)}"#)
        #expect(Self.findings { $0.own = own }.isEmpty)
        #expect(
            Self.payload { $0.own = own } == #"{"notification":{"ios":{},"android":\#(android),"pushContent":"Sale"}}"#)
    }

    @Test("HarmonyOS gets the category that the campaign names for it, with the image")
    func harmony() throws {
        let own = try Self.own(#"{"harmony":{"category":"MARKETING"}}"#), empty = try Self.own(#"{"harmony":{}}"#)
        #expect(
            Self.payload { ($0.own, $0.image) = (own, Self.text("https://a.example/b.png")) }
                == #"{"notification":{"ios":{},"harmonyOS":{"ohos":{"image":"https://a.example/b.png","category":"MARKETING"}},"pushContent":"Sale"}}"#
        )
        #expect(
            Self.findings { $0.own = empty } == [
                "error: 'harmony' has no category, without which phones with HarmonyOS show no push"
            ])
        let shown = RongCloud().shown(
            try JSONValue(
                parsing:
                    #"{"notification":{"ios":{},"android":{"vivo":{"classification":"0"}},"harmonyOS":{"ohos":{"category":"MARKETING"}},"pushContent":"Sale"}}"#
            ))
        #expect(shown.marks.map(\.name) == ["classification (vivo)", "category (HarmonyOS)"])
    }

    @Test("what phones show is read back from the payload")
    func shown() throws {
        let payload = Self.payload {
            ($0.title, $0.badge, $0.thread, $0.wakesApp) = (Self.text("Hi"), 0, Self.text("news"), true)
            ($0.image, $0.category, $0.link) = (
                Self.text("https://a.example/b.png"), Self.text("rich"), Self.text("shop://sale")
            )
        }
        let shown = RongCloud().shown(try JSONValue(parsing: payload))
        #expect(
            shown.title == "Hi" && shown.body == "Sale" && shown.image == "https://a.example/b.png" && !shown.isSilent)
        #expect(shown.marks.map(\.name) == ["badge", "category", "thread", "wakes the app"])
        #expect(shown.marks.map(\.value) == ["removed", "rich", "news", ""])
        #expect(shown.ownKeys.map(\.name) == ["link"] && shown.ownKeys.map(\.value) == ["shop://sale"])
    }
}

@Suite("Requests to RongCloud")
struct RongCloudRequestTests {
    private func body(_ payload: String, to users: [String], collapseID: String? = nil) -> String {
        let options = PushOptions(topic: "e0x9wycfx7flq", pushType: .alert, priority: .high, collapseID: collapseID)
        let pushes = users.map {
            ProbePush(target: $0, payload: payload).push(PushID(runSeed: RunSeed(high: 0, low: 0), recipient: 0))
        }
        var bytes: [UInt8] = []
        RongCloud().request(options).body?(RequestCall(pushes), 1_000_000, &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test("the path is the same for every app, and headers hold no secret")
    func template() {
        let template = RongCloud().request(PushOptions(topic: "e0x9wycfx7flq", pushType: .alert, priority: .high))
        #expect(template.pathPrefix == "/push/user.json" && template.idHeader == "x-request-id")
        #expect(template.headers == [.init("content-type", value: "application/json")])
    }

    @Test("the body names all users of a text")
    func users() {
        let payload = #"{"notification":{"ios":{},"pushContent":"Sale"}}"#
        #expect(body(payload, to: ["anna"]) == #"{"userIds":["anna"],"notification":{"ios":{},"pushContent":"Sale"}}"#)
        #expect(
            body(payload, to: ["a", "b", "c"])
                == #"{"userIds":["a","b","c"],"notification":{"ios":{},"pushContent":"Sale"}}"#)
    }

    @Test("the collapse id goes to iPhones, before what the payload says of them")
    func collapse() {
        #expect(
            body(#"{"notification":{"ios":{},"pushContent":"Sale"}}"#, to: ["a"], collapseID: #"sale"1"#)
                == #"{"userIds":["a"],"notification":{"ios":{"apns-collapse-id":"sale\"1"},"pushContent":"Sale"}}"#)
        #expect(
            body(#"{"notification":{"ios":{"badge":1},"pushContent":"Sale"}}"#, to: ["a"], collapseID: "sale")
                == #"{"userIds":["a"],"notification":{"ios":{"apns-collapse-id":"sale","badge":1},"pushContent":"Sale"}}"#
        )
    }

    @Test("what a run adds to a payload is never more than what its limit leaves")
    func room() {
        let payload = #"{"notification":{"ios":{"badge":1},"pushContent":"Sale"}}"#,
            longest = String(repeating: "\"", count: 64)
        let added = body(payload, to: ["a"], collapseID: longest).utf8.count - body(payload, to: ["a"]).utf8.count
        #expect(added == 150 && RongCloud().payloadLimit(of: .alert) + added <= 4096)
    }

    @Test("the probe is a push to a user who cannot be the app's, in the form of every payload")
    func probe() throws {
        let probe = RongCloud().probe
        #expect(RongCloud().target.target(probe.target) != nil)
        let json = try JSONValue(parsing: body(probe.payload, to: [probe.target], collapseID: "x"))
        #expect(json["notification"]?["pushContent"]?.stringValue?.isEmpty == false)
    }
}
