import Base
import Testing

@Suite struct EscapedCellsTests {
    /// The cells in a text, still escaped; nil if it is refused.
    private func cells(_ bytes: [UInt8]) -> [[UInt8]]? {
        bytes.withUnsafeBufferPointer { bytes in
            var cells = EscapedCells()
            guard cells.locate(in: bytes) else {
                #expect(cells.count == 0)
                return nil
            }
            return (0..<cells.count).map { Array(cells[$0]) }
        }
    }

    private func texts(_ json: String) -> [String]? {
        cells(Array(json.utf8))?.map { String(decoding: $0, as: UTF8.self) }
    }

    @Test("cells are what lies between the quotes, escapes and all")
    func located() {
        #expect(texts("[]") == [])
        #expect(texts(#"[""]"#) == [""])
        #expect(texts(#"["Ada","","a,b]","日本"]"#) == ["Ada", "", "a,b]", "日本"])
        #expect(texts(#"["\"","\\","a\n\r\t\u0000\u001f"]"#) == [#"\""#, #"\\"#, #"a\n\r\t\u0000\u001f"#])
    }

    @Test(
        "what is no array of strings in Volley's own form is refused",
        arguments: [
            "", "[", "]", "[]]", "[ ]", "[\"]", "[\"a\"", "[\"a\",]", "[,\"a\"]", "[\"a\"\"b\"]", "[\"a\" ,\"b\"]",
            "[\"a\"],[\"b\"]",
            "[1]", "[null]", "{}", "[\"a\\\"]", "[\"a\\", "[\"\\\"]", "[\"a\nb\"]", "[\"\u{0}\"]", "[\"a\"]\n",
            " [\"a\"]", "[\"a\",",
            "[\"a\",]]",
        ])
    func refused(json: String) { #expect(texts(json) == nil) }

    @Test(
        "an escape that JSON allows and Volley does not write is refused",
        arguments: [
            #"\/"#, #"\b"#, #"\f"#, #"\u0041"#, #"\u00e9"#, #"\u000a"#, #"\u000d"#, #"\u0009"#, #"\u001F"#, #"\u0020"#,
            #"\u100a"#,
            #"\u011f"#,
            #"\ud83d\ude00"#, #"\u00"#, #"\u001"#, #"\u001g"#, #"\x"#, #"\U0001"#,
        ])
    func foreignEscapes(escape: String) {
        #expect(texts("[\"\(escape)\"]") == nil)
        #expect(texts("[\"ok\",\"a\(escape)x\"]") == nil)
    }

    @Test(
        "what is no UTF-8 is refused",
        arguments: [
            [0xFF], [0xC3], [0xC0, 0x80], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80], [0x80], [0xE2, 0x82],
        ] as [[UInt8]])
    func invalidUTF8(bytes: [UInt8]) {
        #expect(cells(Array("[\"".utf8) + bytes + Array("\"]".utf8)) == nil)
        #expect(cells(Array("[\"日本 ".utf8) + bytes + Array(" a\"]".utf8)) == nil)
    }

    /// The property that makes copying safe: each cell is exactly the escaped form of its text.
    @Test(
        "whatever JSONWriter writes is taken, and a cell that is taken is what JSONWriter would write",
        arguments: 0..<40 as Range<UInt64>)
    func sameAsEscaping(seed: UInt64) throws {
        var random = SeededBytes(state: seed)
        for _ in 0..<60 {
            let cells = (0..<Int.random(in: 0...5, using: &random)).map { _ in random.cell() }
            let json = JSONValue.array(cells.map { .string($0) }).text
            #expect(texts(json) == cells.map { String(JSONValue.string($0).text.dropFirst().dropLast()) })
            // Slightly damaged: if it is still accepted, it must still be in normal form.
            var damaged = Array(json.utf8)
            damaged[Int.random(in: 0..<damaged.count, using: &random)] = random.piece().utf8.first ?? 0
            guard let found = self.cells(damaged) else { continue }
            let rebuilt = try JSONValue(parsing: damaged).text
            #expect(Array(rebuilt.utf8) == damaged)
            #expect(found.count == (try JSONValue(parsing: damaged)).arrayCount)
        }
    }

    @Test("every control character is taken in the one form in which it is written")
    func controlCharacters() {
        for byte in UInt8(0)..<0x20 {
            let text = JSONValue.string(String(UnicodeScalar(byte))).text
            #expect(texts("[\(text)]") == [String(text.dropFirst().dropLast())])
        }
    }
}

extension JSONValue {
    fileprivate var arrayCount: Int {
        if case .array(let values) = self { return values.count }
        return -1
    }
}

/// A repeatable source of cells (SplitMix64) with everything that escaping could get wrong.
private struct SeededBytes: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }

    mutating func piece() -> String {
        let pieces = [
            "\"", "\\", "/", "n", "u", "\n", "\r", "\t", "\u{0}", "\u{8}", "\u{C}", "\u{1B}", "\u{1F}", "\u{7F}", "[",
            "]", ",", " ", "a",
            "0", "é", "日",
            "👩‍🚀", "\u{2028}", "\u{FFFD}", "\u{10FFFF}",
        ]
        return pieces[Int.random(in: 0..<pieces.count, using: &self)]
    }

    mutating func cell() -> String { (0..<Int.random(in: 0...6, using: &self)).map { _ in piece() }.joined() }
}
