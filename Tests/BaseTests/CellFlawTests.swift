import Base
import Testing

@Suite("Cells that came the wrong way")
struct CellFlawTests {
    private func flaw(_ text: String) -> CellFlaw? { Array(text.utf8).withUnsafeBufferPointer(CellFlaw.of) }

    @Test(
        "UTF-8 that was read as Windows-1252 is known in every script",
        arguments: ["Jürgen", "Straße", "Zoë", "Ça", "Žižek", "it’s", "Привет", "مرحبا", "שלום", "🎉", "a b"])
    func garbled(text: String) {
        // The meaning of each byte in Windows-1252; bytes without a character are kept, as in
        // browsers.
        let high: [UInt8: UInt32] = [
            0x80: 0x20AC, 0x82: 0x201A, 0x83: 0x192, 0x84: 0x201E, 0x85: 0x2026, 0x86: 0x2020, 0x87: 0x2021,
            0x88: 0x2C6, 0x89: 0x2030,
            0x8A: 0x160, 0x8B: 0x2039, 0x8C: 0x152, 0x8E: 0x17D, 0x91: 0x2018, 0x92: 0x2019, 0x93: 0x201C, 0x94: 0x201D,
            0x95: 0x2022,
            0x96: 0x2013, 0x97: 0x2014, 0x98: 0x2DC, 0x99: 0x2122, 0x9A: 0x161, 0x9B: 0x203A, 0x9C: 0x153, 0x9E: 0x17E,
            0x9F: 0x178,
        ]
        let read = String(String.UnicodeScalarView(text.utf8.compactMap { Unicode.Scalar(high[$0] ?? UInt32($0)) }))
        #expect(flaw(text) == nil)
        // Czech letters become Å and Ä, which are also letters in real names.
        if text.utf8.contains(where: { [0xC2, 0xC3, 0xE2, 0xF0, 0xD0, 0xD8, 0xD9, 0xD7].contains($0) }) {
            #expect(flaw(read) == .garbled, "\(read)")
        }
    }

    @Test("entities of HTML are known, and what only looks like one is not")
    func entities() {
        for text in ["Zo&euml;", "J&#252;rgen", "&#x27;", "a &amp; b"] { #expect(flaw(text) == .entity, "\(text)") }
        for text in ["AT&T", "a & b; c", "&;", "&", "R&D; x", "Tom&Jerry und so weiter;", "&#;"] {
            #expect(flaw(text) == nil, "\(text)")
        }
    }

    @Test(
        "a quote without its other half is known: Excel's apostrophe, one that was cut off",
        arguments: [
            "'Anna", "'anna@example.com", "Anna\"", "\"Anna", "An\"na", "“Anna", "Anna”", "«Anna", "\"Room 5",
            "\"a\" \"b",
        ])
    func unmatched(text: String) { #expect(flaw(text) == .unmatched) }

    @Test(
        "what programs write for themselves is known: formulas, objects, quotes with a backslash, shortened numbers",
        arguments: [
            "=\"Ann\"", "=\"\u{738B}芳\"", "=CONCAT(\"a\")", "=Sheet.PROPER(A1)", "[object Object]",
            "{\"first\":\"Ann\"}", "{ \"a\": 1 }",
            "O\\'Neil", "say \\\"hi\\\"", "Zo\u{EB} O\\'Neil", "1.76E+09", "1,76E+09", "-2e+15",
        ])
    func code(text: String) { #expect(flaw(text) == .code) }

    @Test(
        "signs that people write are no code",
        arguments: [
            "=)", "= 5 €", "=A1", "==", "[VIP]", "[1, 2]", "{name}", "{{ name }}", "{a: b}", "C:\\news", "a\\", "A+12",
            "1+12", "E+09",
            "1.76E09",
            "Model 3E+10", "+12",
        ])
    func noCode(text: String) { #expect(flaw(text) != .code) }

    @Test(
        "quotes that belong to a text are none",
        arguments: [
            "O'Neil", "James'", "'s-Gravenhage", "'t Hooft", "'90s", "27\"", "27” TV", "\"The Office\" box", "צה\"ל",
            "a “b” c", "„a“",
            "Anna", "'", "it’s", "« a »", "Room \"5\"", "rock 'n' roll",
        ])
    func matched(text: String) { #expect(flaw(text) != .unmatched) }
}
