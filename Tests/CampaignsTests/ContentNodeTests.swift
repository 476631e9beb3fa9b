import Base
import Testing

@testable import Campaigns

@Suite("Data and payload")
struct ContentNodeTests {
    /// The node without its places.
    private func json(_ node: ContentNode) -> JSONValue {
        switch node {
        case .null: .null
        case .bool(let truth, _): .bool(truth)
        case .integer(let number, _): .integer(number)
        case .double(let number, _): .double(number)
        case .text(let text): .string(text.value)
        case .array(let items, _): .array(items.map(json))
        case .object(let members, _): .object(pairs: members.map { ($0.name.value, json($0.value)) })
        }
    }

    private func data(_ yaml: String) throws -> JSONValue? {
        try readPart("content: {title: a, data: \(yaml)}\n").0.content.data.map(json)
    }

    @Test("plain values have the types of the core schema")
    func types() throws {
        let value = try data("{a: 1, b: -2.5, c: true, d: FALSE, e: ~, f: yes, g: 1e3x, h: 2026-12-01, i: , j: 3.2.0}")
        #expect(
            value
                == .object(pairs: [
                    ("a", .integer(1)), ("b", .double(-2.5)), ("c", .bool(true)), ("d", .bool(false)), ("e", .null),
                    ("f", .string("yes")),
                    ("g", .string("1e3x")), ("h", .string("2026-12-01")), ("i", .null), ("j", .string("3.2.0")),
                ]))
    }

    @Test("quoted values are text")
    func quotedText() throws {
        let value = try data("{a: \"1\", b: 'true', c: \"\", d: \"null\"}")
        #expect(
            value
                == .object(pairs: [
                    ("a", .string("1")), ("b", .string("true")), ("c", .string("")), ("d", .string("null")),
                ]))
    }

    @Test("lists and groups nest in the order of the file")
    func nesting() throws {
        let value = try data("{z: [1, [2], {y: {}}], a: []}")
        let inner: JSONValue = .object(pairs: [("y", .object([]))])
        #expect(
            value == .object(pairs: [("z", .array([.integer(1), .array([.integer(2)]), inner])), ("a", .array([]))]))
    }

    @Test("texts and keys know their places")
    func places() throws {
        let content = try readPart("content:\n  payload:\n    aps:\n      alert: \"Hi {{ name }}\"\n").0.content
        guard case .object(let members, let place)? = content.payload, case .object(let aps, _)? = members.first?.value
        else {
            Issue.record("no payload")
            return
        }
        #expect(place.description == "campaign.yaml:3:5")
        #expect(aps.first?.name.position.description == "campaign.yaml:4:7")
        #expect(aps.first?.value.position.description == "campaign.yaml:4:14")
    }

    @Test("an alias repeats what its anchor names")
    func aliases() throws {
        #expect(try data("{a: &x [1, two], b: *x}") == data("{a: [1, two], b: [1, two]}"))
    }

    @Test(
        "numbers follow the core schema",
        arguments: [
            ("0", CoreSchema.Value.integer(0)), ("-7", .integer(-7)), ("+7", .integer(7)), ("007", .integer(7)),
            ("0x1F", .integer(31)),
            ("0o17", .integer(15)), ("9223372036854775807", .integer(.max)), ("-9223372036854775808", .integer(.min)),
            ("9223372036854775808", .unusableNumber), ("1.", .double(1)), (".5", .double(0.5)), ("1e2", .double(100)),
            ("-1.5E-1", .double(-0.15)), ("1e400", .unusableNumber), (".inf", .unusableNumber),
            ("-.INF", .unusableNumber),
            (".NaN", .unusableNumber), ("0x", .text), ("0o8", .text), ("1_000", .text), ("1e", .text), (".", .text),
            ("-", .text),
            ("+.", .text),
            ("0b1", .text), ("1 2", .text), ("0xG", .text), ("inf", .text), ("nan", .text), ("١", .text),
            ("Null", .null), ("nULL", .text),
            ("tRUE", .text),
        ])
    func numbers(_ text: String, _ value: CoreSchema.Value) {
        #expect(CoreSchema.value(of: text) == value)
    }
}
