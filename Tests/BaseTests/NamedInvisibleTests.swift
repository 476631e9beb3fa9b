import Base
import Testing

@Suite("Invisible characters in messages")
struct NamedInvisibleTests {
    @Test(
        "are named where a person would take a name for another one",
        arguments: [
            ("\u{200B}token", "<U+200B>token"), ("token\u{A0}", "token<U+00A0>"), ("na\u{AD}me", "na<U+00AD>me"),
            ("\u{FEFF}a", "<U+FEFF>a"), ("a\u{2060}b", "a<U+2060>b"), ("a\u{200D}b", "a<U+200D>b"),
            ("a\u{200C}b", "a<U+200C>b"),
            ("\u{200E}a\u{200F}", "<U+200E>a<U+200F>"), ("a\u{202E}b", "a<U+202E>b"), ("a\u{3164}b", "a<U+3164>b"),
            ("a\u{2003}b\u{2009}c", "a<U+2003>b<U+2009>c"), ("a\u{FE0F}", "a<U+FE0F>"), ("a\u{E0041}", "a<U+E0041>"),
            ("a\u{2800}", "a<U+2800>"),
        ])
    func named(text: String, shown: String) {
        let mistake = Diagnostic("no column '\(text)'", remedy: "Its columns are '\(text)'.")
        #expect(mistake.description == "no column '\(shown)'. Its columns are '\(shown)'.")
        #expect(mistake.message == "no column '\(shown)'" && mistake.json.text.contains(shown))
        let place = SourcePosition(file: "a", line: 1, column: 1)
        #expect(Diagnostic.warning(.columnTwice, message: text, at: place, remedy: text).remedy == shown)
    }

    @Test(
        "belong to a text where its script, its emoji or its typography needs them",
        arguments: [
            "👨‍👩‍👧", "❤️", "🏴󠁧󠁢󠁥󠁮󠁧󠁿", "می‌خواهم", "क्‍ष", "Prêt\u{A0}!", "«\u{A0}oui\u{A0}»", "10\u{202F}%", "葛\u{E0100}",
            "全角\u{3000}空白", "٤\u{600}٢",
            "a\tb\nc",
        ])
    func kept(text: String) {
        #expect(Diagnostic(text).message == text)
    }

    @Test("the place of a byte counts lines and characters as editors do")
    func places() {
        let bytes = Array("a\r\nbé\rc\nd".utf8)
        let places = [0, 1, 3, 4, 6, 7, 9].map { SourcePosition(file: "f", utf8Offset: $0, in: bytes) }
        #expect(places.map { "\($0.line):\($0.column)" } == ["1:1", "1:2", "2:1", "2:2", "2:3", "3:1", "4:1"])
    }

    @Test("a scalar is replaced whatever follows it")
    func scalars() {
        #expect(
            "a'\u{301}b\r\nc\n".replacing(scalar: "'", with: "''").replacing(scalar: "\n", with: "|")
                == "a''\u{301}b\r|c|")
        #expect(FilePaths.inShell("/a'\u{301}b") == "'/a'\\''\u{301}b'")
    }

    @Test(
        "other encodings of Unicode are recognised by their marks and by their zeros",
        arguments: [
            ([0xFF, 0xFE, 0x61, 0], "UTF-16"), ([0xFE, 0xFF, 0, 0x61], "UTF-16"), ([0x61, 0, 0x62, 0], "UTF-16"),
            ([0, 0x61, 0, 0x62], "UTF-16"),
            ([0x61, 0], "UTF-16"), ([0xFF, 0xFE, 0, 0, 0x61, 0, 0, 0], "UTF-32"), ([0, 0, 0xFE, 0xFF], "UTF-32"),
            ([0x61, 0, 0, 0], "UTF-32"),
            ([0, 0, 0, 0x61], "UTF-32"), ([0xEF, 0xBB, 0xBF, 0x61], nil), ([0x61, 0x62], nil), ([], nil),
            ([0x30, 0x82, 0, 1], nil),
            ([0, 0, 0, 0], nil),
        ] as [([UInt8], String?)])
    func encodings(bytes: [UInt8], name: String?) {
        #expect(TextEncoding.foreign(bytes) == name)
    }
}
