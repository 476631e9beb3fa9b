import Base
import Testing

@Suite("Cells of CSV")
struct CSVCellTests {
    private func cell(_ text: String, _ form: CSVForm = .plain) -> String {
        var bytes: [UInt8] = []
        CSVCell.append(text, form, to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test("what RFC 4180 carries stays as it is")
    func plain() {
        #expect(cell("") == "" && cell("größe £1 👍🏽") == "größe £1 👍🏽" && cell("a\tb") == "a\tb")
        #expect(cell("a,b") == "\"a,b\"" && cell("a\"b") == "\"a\"\"b\"" && cell("a\r\nb") == "\"a\r\nb\"")
    }

    @Test(
        "what a spreadsheet would run as a formula gets an apostrophe",
        arguments: ["=", "+", "-", "@", "\t", "\t=", "\r=", "\n="])
    func formulas(start: String) {
        let text = cell(start + "1+1")
        #expect(text.hasPrefix("'\(start.prefix(1))") || text.hasPrefix("\"'\(start.prefix(1))"))
    }

    @Test(
        "signs in full width, and signs after blanks or invisible characters, get an apostrophe, also for Excel",
        arguments: [
            "\u{FF1D}1+1", "\u{FF0B}1", "\u{FF0D}1x", "\u{FF20}A1", "\u{FE66}1+1", "\u{2212}x", " =1+1",
            "\u{3000}\u{FF1D}1+1",
            "\u{A0}=A1", "\u{FEFF}=A1", "\u{200B}@A1", "\u{2060}\u{200E} +A1",
        ])
    func wideFormulas(text: String) {
        #expect(cell(text) == "'" + text)
        #expect(cell(text, .excel(hasDecimalComma: false)) == "'" + text)
    }

    @Test(
        "what only resembles a formula stays as it is",
        arguments: [" a=1", "\u{FF21}\u{FF1D}1", "a\u{FF1D}", "\u{3000}", " ", "é=1", "中=1", "\u{200D}a"])
    func noFormulas(text: String) { #expect(cell(text) == text) }

    @Test("so does what would be a formula where the spreadsheet's separator is another one, and nothing else")
    func hiddenFormulas() {
        #expect(
            cell(";=HYPERLINK(1);") == ";'=HYPERLINK(1);" && cell("a\t=1") == "a\t'=1"
                && cell("a;b;@x;-1") == "a;b;'@x;'-1")
        #expect(
            cell("a; \"=1\"") == "\"a;' \"\"=1\"\"\"" && cell("a\r\n+1") == "\"a\r\n'+1\""
                && cell("a;\u{FF1D}1") == "a;'\u{FF1D}1")
        #expect(cell(" \t=A1") == " \t'=A1" && cell("\n=1") == "\"'\n'=1\"")
        #expect(
            cell("a,=B", .excel(hasDecimalComma: true)) == "a,'=B"
                && cell("a;=B", .excel(hasDecimalComma: true)) == "\"a;=B\"")
        #expect(
            cell("a,=1") == "\"a,=1\"" && cell("news;vip") == "news;vip" && cell("x; y\t") == "x; y\t"
                && cell("a;b=1") == "a;b=1")
    }

    @Test("other control characters are shown as escapes, and never stand where a formula begins")
    func controlCharacters() {
        #expect(
            cell("\u{1B}]0;x\u{7}") == "\\u001B]0;x\\u0007" && cell("a\u{0}b") == "a\\u0000b"
                && cell("\u{7F}") == "\\u007F")
        #expect(cell("\u{9B}31m£") == "\\u009B31m£" && cell("\u{0}=1") == "\\u0000=1" && cell("=\u{1B}") == "'=\\u001B")
        #expect(cell("a,\u{1B}\"") == "\"a,\\u001B\"\"\"")
    }
}
