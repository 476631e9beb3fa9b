import Base
import Testing

@Suite("Text from elsewhere, as it is shown")
struct PrintableTextTests {
    @Test(
        "control characters and what turns the direction of text are shown as escapes; line ends, tabs and all else stay"
    )
    func escapes() {
        #expect(TextFormat.printable("größe\t«ok» 👨‍👩‍👧\nnext") == "größe\t«ok» 👨‍👩‍👧\nnext")
        #expect(TextFormat.printable("a\u{0}\r\u{1B}[2J\u{7F}\u{85}") == "a\\u0000\\u000D\\u001B[2J\\u007F\\u0085")
        #expect(TextFormat.printable("\u{202E}x\u{2066}") == "\\u202Ex\\u2066")
        #expect(TextFormat.printable("\u{1B}[1mx\u{1B}[0m") == "\\u001B[1mx\\u001B[0m")
    }

    @Test("colours stay where they are Volley's own, and nothing else that begins like them")
    func styles() {
        for text in ["\u{1B}[1mx\u{1B}[0m", "\u{1B}[31;1mx", "\u{1B}[m"] {
            #expect(TextFormat.printable(text, keepsStyles: true) == text)
        }
        #expect(
            TextFormat.printable("\u{1B}[31mred\u{1B}[2J\u{1B}[0m", keepsStyles: true)
                == "\u{1B}[31mred\\u001B[2J\u{1B}[0m")
        #expect(TextFormat.printable("\u{1B}[31", keepsStyles: true) == "\\u001B[31")
        #expect(TextFormat.printable("\u{1B}]0;x\u{7}", keepsStyles: true) == "\\u001B]0;x\\u0007")
    }

    @Test("JSON that is shown says the same")
    func json() throws {
        let value = JSONValue.object(pairs: [("a\u{1B}\u{9B}", .string("\u{7F}\u{202E}\n\t"))])
        #expect(try JSONValue(parsing: TextFormat.printable(value.indentedText)) == value)
    }
}
