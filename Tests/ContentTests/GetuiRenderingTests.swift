import Base
import PushServices
import Testing

@testable import Content

/// What is rendered for Getui and what its requests expect of a payload belong together.
@Suite("Rendered payloads for Getui")
struct GetuiRenderingTests {
    private static let place = SourcePosition(file: "sale.yaml", line: 1, column: 1)

    private static func text(_ value: String) -> SourceText { SourceText(value, at: place) }

    private static func content(_ change: (inout MessageContent) -> Void = { _ in }) -> MessageContent {
        var content = MessageContent(position: place)
        (content.title, content.body) = (text("Hi {{ name }}"), text("Sale"))
        change(&content)
        return content
    }

    private static func group(_ key: String, _ value: ContentNode) -> ContentNode {
        .object([.init(text(key), value)], place)
    }

    /// The payload for a device with this name, or why it has none.
    private static func render(_ content: MessageContent, name: String) throws -> (
        text: String, failure: RenderFailure?
    ) {
        let template = try PayloadTemplate(content, for: Getui())
        var bytes: [UInt8] = []
        let failure = template.render(template.columns.map { _ in name }, into: &bytes)
        return (String(decoding: bytes, as: UTF8.self), failure)
    }

    @Test("a request takes every rendered payload, and makes valid JSON of it")
    func requests() throws {
        let contents = [
            Self.content { ($0.sound, $0.subtitle, $0.badge) = (Self.text("a.caf"), Self.text("Now"), 1) },
            Self.content {
                ($0.isSilent, $0.title, $0.body, $0.link) = (true, nil, nil, Self.text("shop://{{ name }}"))
            },
            Self.content { $0.data = .object([.init(Self.text("a"), .text(Self.text("{{ name }}")))], Self.place) },
            Self.content { content in
                let makers = Self.group("oppo", Self.group("category", .text(Self.text("MARKETING"))))
                content.own = [
                    .init(Self.text("makers"), makers),
                    .init(Self.text("harmony"), Self.group("category", .text(Self.text("{{ name }}")))),
                ]
            },
            Self.content { content in
                content = MessageContent(position: Self.place)
                let message = ContentNode.object(
                    [.init(Self.text("transmission"), .text(Self.text("{{ name }}")))], Self.place)
                content.payload = .object([.init(Self.text("push_message"), message)], Self.place)
            },
        ]
        var options = PushOptions(topic: "app", pushType: .alert, priority: .high, expiration: 90, collapseID: "sale")
        options.label = "run-1"
        for content in contents {
            let payload = try Self.render(content, name: "An\"na\\ 🎉}}}")
            #expect(payload.failure == nil)
            let target = String(repeating: "a", count: 32)
            let id = PushID(runSeed: RunSeed(high: 0, low: 0), recipient: 0)
            let push = RequestPush(id: id, target: Array(target.utf8)[...], payload: Array(payload.text.utf8)[...])
            let body = try JSONValue(parsing: Getui().request(options).single(push, at: 0).body)
            guard case .array(let messages)? = body["msg_list"], let message = messages.first else {
                Issue.record("\(body.text)")
                continue
            }
            #expect(
                message["audience"]?["cid"] == .array([.string(target)]) && message["group_name"] == .string("run-1"))
            #expect(message["settings"]?["ttl"] == .integer(90_000))
            #expect((message["push_channel"] == nil) == (content.payload != nil))
            if let ios = message["push_channel"]?["ios"] { #expect(ios["apns-collapse-id"] == .string("sale")) }
            let number = message["push_message"]?["notification"]?["notify_id"], channel = message["push_channel"]
            let isShown = !content.isSilent && content.payload == nil
            #expect((number != nil) == isShown && channel?["android"]?["ups"]?["notification"]?["notify_id"] == number)
            #expect((channel?["harmony"] != nil) == !content.own.isEmpty)
            if let harmony = channel?["harmony"] { #expect(harmony["notification"]?["notify_id"] == number) }
        }
    }

    @Test(
        "data for the app is JSON in a text, whatever a cell holds",
        arguments: ["Anna", "An\"na", "a\\b", "{\"a\":1}", "🎉\u{7}\n"])
    func encoded(name: String) throws {
        let data = ContentNode.object(
            [.init(Self.text("name"), .text(Self.text("{{ name }}"))), .init(Self.text("n"), .integer(7, Self.place))],
            Self.place)
        let payload = try JSONValue(parsing: try Self.render(Self.content { $0.data = data }, name: name).text)
        let expected = JSONValue.object(pairs: [("name", .string(name)), ("n", .integer(7))])
        for text in [payload["push_channel"]?["ios"]?["payload"], payload["push_message"]?["notification"]?["payload"]]
        {
            #expect(try JSONValue(parsing: try #require(text?.stringValue)) == expected)
        }
    }

    @Test(
        "a title has at most 50 characters, counted as Java counts them",
        arguments: [("é", 47), ("🎉", 23), ("\"", 47), ("\\", 47), ("题", 47)])
    func titles(character: String, most: Int) throws {
        #expect(try Self.render(Self.content(), name: String(repeating: character, count: most)).failure == nil)
        let rendered = try Self.render(Self.content(), name: String(repeating: character, count: most + 1))
        let count = 3 + (most + 1) * character.utf16.count
        let limit = PayloadLimit(50, .characters, of: "title", key: .title, service: "Getui", at: Self.place)
        #expect(rendered.failure == .tooLong(limit, count: count))
        #expect(rendered.failure?.skipReason == .renderError && rendered.text.isEmpty, "nothing stays behind")
        #expect(
            rendered.failure?.description.hasSuffix("the title has \(count) characters, and Getui takes at most 50")
                == true)
    }

    @Test("a body, data for the app and the part for iPhones have limits, too")
    func others() throws {
        func noun(_ content: MessageContent, _ count: Int) throws -> String? {
            guard
                case .tooLong(let limit, _)? = try Self.render(content, name: String(repeating: "x", count: count))
                    .failure
            else {
                return nil
            }
            return limit.part.noun
        }
        let body = Self.content { ($0.title, $0.body) = (Self.text("Hi"), Self.text("{{ name }}")) }
        #expect(try noun(body, 256) == nil && noun(body, 257) == "body")
        let silent = Self.content {
            ($0.isSilent, $0.title, $0.body, $0.link) = (true, nil, nil, Self.text("a://{{ name }}"))
        }
        // {"link":"a://…"}
        #expect(try noun(silent, 3072 - 15) == nil && noun(silent, 3072 - 14) == "data for the app")
        let subtitle = Self.content { ($0.title, $0.subtitle) = (Self.text("Hi"), Self.text("{{ name }}")) }
        #expect(try noun(subtitle, 3900) == nil && noun(subtitle, 4096) == "part for iPhones")
    }

    @Test("a text that is too long for everybody is a mistake in the campaign")
    func constant() throws {
        let content = Self.content { $0.title = Self.text(String(repeating: "题", count: 51)) }
        do {
            _ = try PayloadTemplate(content, for: Getui())
            Issue.record("the title is too long")
        } catch {
            #expect(
                "\(error)".contains("the title has 51 characters, and Getui takes at most 50. Shorten it."), "\(error)")
        }
        #expect(throws: Never.self) {
            try PayloadTemplate(Self.content { $0.title = Self.text(String(repeating: "题", count: 50)) }, for: Getui())
        }
    }
}
