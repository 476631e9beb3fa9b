import Base
import PushServices
import Testing

@testable import Content

/// What is rendered for JPush and what its requests expect of a payload belong together.
@Suite("Rendered payloads for JPush")
struct JPushRenderingTests {
    private static let place = SourcePosition(file: "sale.yaml", line: 1, column: 1)

    private static func text(_ value: String) -> SourceText { SourceText(value, at: place) }

    private func own(_ key: String, _ members: [ContentMember]) -> ContentMember {
        ContentMember(Self.text(key), .object(members, Self.place))
    }

    @Test("a request takes every rendered payload, and makes valid JSON of it")
    func requests() throws {
        let text = Self.text
        var contents = [MessageContent](repeating: MessageContent(position: Self.place), count: 5)
        (contents[0].title, contents[0].sound, contents[0].subtitle) = (
            text("Hi {{ name }}"), text("a.caf"), text("Now")
        )
        (contents[1].isSilent, contents[1].link) = (true, text("shop://{{ name }}"))
        (contents[2].badge, contents[2].data) = (3, .object([.init(text("a"), .text(text("{")))], Self.place))
        contents[3].body = text("{{ name }}")
        contents[3].own = [
            own("in_app", [.init(text("body"), .text(text("{{ name }}")))]),
            own("options", [.init(text("classification"), .integer(1, Self.place))]),
        ]
        contents[4].title = text("{{ name }}")
        contents[4].own = [
            own("makers", [own("oppo", [.init(text("category"), .text(text("MARKETING")))])]),
            own(
                "harmony",
                [
                    .init(text("category"), .text(text("MARKETING"))),
                    .init(text("intent"), .text(text("shop://{{ name }}"))),
                ]),
        ]
        let options = PushOptions(
            topic: "7d431e42dfa6a6d693ac2d04", pushType: .alert, priority: .normal, expiration: 90, collapseID: "sale")
        for content in contents {
            let template = try PayloadTemplate(content, for: JPush())
            var bytes: [UInt8] = []
            #expect(template.render(template.columns.map { _ in "An\"na" }, into: &bytes) == nil)
            let id = PushID(runSeed: RunSeed(high: 0, low: 0), recipient: 0)
            let push = RequestPush(id: id, target: Array("1a0018970a8d0000001".utf8)[...], payload: bytes[...])
            let body = try JSONValue(parsing: JPush().request(options).single(push, at: 0).body)
            #expect(body["audience"]?["registration_id"] == .array([.string("1a0018970a8d0000001")]))
            #expect(
                body["options"]?["time_to_live"] == .integer(90)
                    && body["options"]?["apns_collapse_id"] == .string("sale"))
            #expect(body["notification"]?["android"]?["priority"] == .integer(-1))
            let isOfMakers = content.own.first?.name.value == "makers"
            #expect((body["options"]?["third_party_channel"]?["oppo"] != nil) == isOfMakers)
            #expect(body["notification"]?["hmos"]?["intent"]?["url"] == (isOfMakers ? .string("shop://An%22na") : nil))
        }
    }

    @Test("a text that is too long for iPhones is found for the device that gets it")
    func limit() throws {
        var content = MessageContent(position: Self.place)
        content.body = Self.text("{{ name }}")
        let template = try PayloadTemplate(content, for: JPush())
        var bytes: [UInt8] = []
        #expect(template.render([String(repeating: "x", count: 1900)], into: &bytes) == nil)
        bytes = []
        guard
            case .tooLong(let limit, let count)? = template.render([String(repeating: "x", count: 2000)], into: &bytes)
        else {
            return #expect(Bool(false))
        }
        #expect(limit.part.most == 2000 && count == 2021)
    }
}
