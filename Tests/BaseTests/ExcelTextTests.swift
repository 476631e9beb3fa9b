import Base
import Testing

@Suite("CSV for Excel")
struct ExcelTextTests {
    private func cell(_ text: String, comma: Bool = true) -> String {
        var bytes: [UInt8] = []
        CSVCell.append(text, .excel(hasDecimalComma: comma), to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    private static let token = String(repeating: "0123456789abcdef", count: 4)

    @Test(
        "what Excel would take for a number, a day, a time or a truth value is a text in a formula",
        arguments: [
            "12e45", "12E45", "0012", "123456789012345678", "1.5", "1,5", "3-4", "3/4", "12:30", "SEPT1", "1. Mai",
            "-5", "+49 30 1234",
            "(5)", "5%",
            "true", "FALSE", "user12", String(repeating: "1", count: 64),
            "1" + String(repeating: "0", count: 40) + "e3",
        ])
    func guarded(text: String) {
        #expect(cell(text) == "\"=\"\"\(text)\"\"\"")
    }

    @Test(
        "what Excel leaves alone stays as it is",
        arguments: [
            "anna", "zh-Hans", "Unregistered", token, "reg-of-a-device-called-12345", "é", "truest",
            "2026-12-01T09:00:00.000Z",
        ])
    func plain(text: String) {
        #expect(cell(text) == text)
    }

    @Test(
        "formulas keep their apostrophe: as a text within a formula they would come back to life when Excel saves the file"
    )
    func formulas() {
        #expect(cell("=1+1") == "'=1+1")
        #expect(cell("@SUM(A1)") == "'@SUM(A1)")
        #expect(cell("-1+cmd|' /C calc'!A0") == "'-1+cmd|' /C calc'!A0")
        #expect(cell("=cmd|\"x\"!A1") == "\"'=cmd|\"\"x\"\"!A1\"")
        #expect(cell("\t12") == "'\t12")
    }

    @Test("quotes stand around the separator that is used, and around no other")
    func separators() {
        #expect(cell("a;b") == "\"a;b\"")
        #expect(cell("a,b") == "a,b")
        #expect(cell("a;b", comma: false) == "a;b")
        #expect(cell("a,b", comma: false) == "\"a,b\"")
    }

    @Test("control characters within such a text are escaped as elsewhere")
    func control() {
        #expect(cell("1\u{9B}2") == "\"=\"\"1\\u009B2\"\"\"")
        #expect(cell("1\u{1B}2") == "1\\u001B2")
    }

    @Test("the header has the byte order mark and the separator, lines end in CRLF; the plain form has neither")
    func header() {
        #expect(CSVForm.excel(hasDecimalComma: true).header(["a", "b"]) == [0xEF, 0xBB, 0xBF] + Array("a;b\r\n".utf8))
        #expect(
            CSVForm.excel(hasDecimalComma: false).header(["a", "b"]) == [0xEF, 0xBB, 0xBF] + Array("a,b\r\n".utf8))
        #expect(CSVForm.plain.header(["a", "b"]) == Array("a,b\n".utf8))
    }
}
