import Base
import PushServices
import Testing

@testable import Content

/// What is rendered for FCM and what its requests expect of a payload belong together.
@Suite("Rendered payloads for FCM")
struct FCMRenderingTests {
    private static let place = SourcePosition(file: "sale.yaml", line: 1, column: 1)

    @Test("a request takes every rendered payload, and makes valid JSON of it")
    func requests() throws {
        func text(_ value: String) -> SourceText { SourceText(value, at: Self.place) }
        var contents = [MessageContent](repeating: MessageContent(position: Self.place), count: 4)
        (contents[0].title, contents[0].sound, contents[0].subtitle) = (
            text("Hi {{ name }}"), text("a.caf"), text("Now")
        )
        (contents[1].isSilent, contents[1].link) = (true, text("shop://{{ name }}"))
        contents[2].payload = .object(
            [.init(text("message"), .object([.init(text("android"), .object([], Self.place))], Self.place))], Self.place
        )
        (contents[3].body, contents[3].data) = (
            text("{{ name }}"), .object([.init(text("a"), .text(text("{")))], Self.place)
        )
        let options = PushOptions(
            topic: "shop-1a2b", pushType: .alert, priority: .high, expiration: 90, collapseID: "sale")
        let target = String(repeating: "x", count: 22)
        for content in contents {
            let template = try PayloadTemplate(content, for: FCM())
            var bytes: [UInt8] = []
            #expect(template.render(template.columns.map { _ in "An\"na" }, into: &bytes) == nil)
            let id = PushID(runSeed: RunSeed(high: 0, low: 0), recipient: 0)
            let push = RequestPush(id: id, target: Array(target.utf8)[...], payload: bytes[...])
            let body = FCM().request(options).single(push, at: 0).body
            let message = try #require(try JSONValue(parsing: body)["message"])
            #expect(message["fid"]?.stringValue == target && message["android"]?["ttl"] == .string("90s"))
            #expect(message["apns"]?["headers"]?["apns-collapse-id"] == .string("sale"))
        }
    }
}
