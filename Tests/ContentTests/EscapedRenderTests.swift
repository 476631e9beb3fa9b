import Base
import Content
import Testing

/// Payloads from cells that are already escaped, compared with payloads from texts.
@Suite struct EscapedRenderTests {
    private func rendered(_ template: PayloadTemplate, escaped cells: [String], after before: [UInt8] = []) -> (
        RenderFailure?, [UInt8]
    ) {
        let json = Array(JSONValue.array(cells.map { .string($0) }).text.utf8)
        var bytes = before
        let failure = json.withUnsafeBufferPointer { json -> RenderFailure? in
            var escaped = EscapedCells()
            let isTaken = escaped.locate(in: json)
            #expect(isTaken)
            return template.append(escaped, to: &bytes)
        }
        return (failure, bytes)
    }

    private func template() throws -> PayloadTemplate {
        try PayloadTemplate(
            content {
                $0.title = plain("<{{ a }}|{{ b | default: 'say \"none\"' }}>")
                $0.body = plain("{{ b | default: 'none' }}{{ c | default: '' }}")
                $0.data = try node(#"{"deep": [{"x": "{{ a }}!"}]}"#)
            })
    }

    @Test("from any cells, escaped or not, the payload or the failure is the same", arguments: 0..<40 as Range<UInt64>)
    func sameBytes(seed: UInt64) throws {
        var random = Seeded(state: seed)
        let pieces = [
            "\"", "\\", "/", "\n", "\r", "\t", "\u{0}", "\u{8}", "\u{C}", "\u{1F}", "\u{7F}", "\u{85}", " ", "\u{A0}",
            "\u{3000}",
            "\u{200B}",
            "\u{200F}", "\u{2028}", "\u{FEFF}", "a", "n", "u000a", "é", "日本", "👩‍🚀", "\u{D7FF}", "\u{E000}", "\u{FFFD}",
            "\u{10FFFF}",
            "{{ a }}",
        ]
        let template = try template()
        for _ in 0..<100 {
            let cells = template.columns.map { _ in
                (0..<Int.random(in: 0...4, using: &random)).map { _ in
                    pieces[Int.random(in: 0..<pieces.count, using: &random)]
                }.joined()
            }
            var expected: [UInt8] = []
            let failure = template.render(cells, into: &expected)
            let (escapedFailure, bytes) = rendered(template, escaped: cells)
            #expect(escapedFailure == failure)
            #expect(
                String(decoding: bytes, as: UTF8.self)
                    == (failure == nil ? String(decoding: expected, as: UTF8.self) : ""))
        }
    }

    @Test(
        "blank stays blank when it is escaped, and what can be seen stays visible",
        arguments: [
            ("", true), (" ", true), ("\n", true), ("\u{0}", true), (" \n\t\u{1F} ", true),
            ("\u{200B}\r\u{3000}", true), ("\u{7F}", true),
            ("\"", false), ("\\", false), (" \"", false), ("\n\\", false), ("\u{0}0", false), ("\n日", false),
            (" \u{200B}é", false),
            ("\u{FFFD}", false),
        ])
    func blank(cell: String, isBlank: Bool) throws {
        let template = try PayloadTemplate(content { $0.body = plain("{{ a }}") })
        var bytes: [UInt8] = []
        #expect((template.render([cell], into: &bytes) == .blank(column: "a", place: at(1, 4))) == isBlank)
        #expect((rendered(template, escaped: [cell]).0 == .blank(column: "a", place: at(1, 4))) == isBlank)
    }

    @Test("a payload is appended to what is there, and a failure leaves that as it was")
    func appended() throws {
        let template = try PayloadTemplate(content { $0.body = plain("{{ a }}") })
        let before = Array("abc".utf8)
        let (failure, bytes) = rendered(template, escaped: ["\"x\""], after: before)
        #expect(failure == nil)
        #expect(String(decoding: bytes, as: UTF8.self) == #"abc{"aps":{"alert":{"body":"\"x\""}}}"#)
        #expect(rendered(template, escaped: [" "], after: before) == (.blank(column: "a", place: at(1, 4)), before))
    }

    @Test("the limit counts the payload alone, to the byte")
    func limit() throws {
        let template = try PayloadTemplate(content { $0.body = plain("{{ a }}") })
        let room = 4096 - #"{"aps":{"alert":{"body":""}}}"#.utf8.count
        let before = [UInt8](repeating: 0x61, count: 5000)
        let fits = rendered(template, escaped: [String(repeating: "x", count: room)], after: before)
        #expect(fits.0 == nil)
        #expect(fits.1.count == 5000 + 4096)
        // One more byte, although it is one character less.
        let tooLong = rendered(template, escaped: [String(repeating: "x", count: room - 1) + "\""], after: before)
        #expect(tooLong.0 == .tooLarge(bytes: 4097))
        #expect(tooLong.1.count == 5000)
    }
}

/// A repeatable source of random numbers (SplitMix64).
private struct Seeded: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}
