/// Texts that Excel takes for something else when it opens a CSV: `12e45` for a number of 47 digits, `0012` for 12, an id of 18 digits for one whose last three are
/// zeros, `3-4` for a day in April, `true` for a truth value. Quotes around a cell change nothing of that.
///
/// They are written as `="0012"`, a formula whose value is that text and nothing else. An apostrophe, or a tab, would become part of the text, which then equals no
/// cell of another table. Volley reads such a cell as the text in it (`CellRow`), and so it does what Excel makes of it when it saves the file.
enum ExcelText {
    /// No number with letters in it, day or time of day is longer, in any language.
    private static let longestDate = 20
    /// Characters of a text within a formula. Source: Microsoft, "Excel specifications and limits".
    private static let longestText = 255

    /// Whether Excel would take it for something else, as far as that can be told without its language: any short text with a digit, as months have names.
    /// What begins like a formula is left to the apostrophe unless it is made like a number: when Excel saves the file, `="=1+1"` becomes `=1+1`.
    static func changes(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        guard let first = text.first, text.count <= longestText else { return false }
        var hasDigit = false, exponents = 0, isLikeNumber = true
        for byte in text {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): hasDigit = true
            case UInt8(ascii: "e"), UInt8(ascii: "E"): exponents += 1
            case UInt8(ascii: " "), UInt8(ascii: "."), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "/"), UInt8(ascii: ":"),
                UInt8(ascii: "("),
                UInt8(ascii: ")"), UInt8(ascii: "%"), UInt8(ascii: ","):
                break
            case ..<0x20, UInt8(ascii: "\""), 0x7F: return false
            default: isLikeNumber = false
            }
        }
        guard hasDigit else { return isTruthValue(text) }
        if isLikeNumber, exponents <= 1 { return true }
        switch first {
        case UInt8(ascii: "="), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "@"): return false
        default: return text.count <= longestDate
        }
    }

    /// Appends it as the text that it is: `"=""0012"""`.
    static func append(_ text: UnsafeBufferPointer<UInt8>, to bytes: inout [UInt8]) {
        bytes.append(contentsOf: "\"=\"\"".utf8)
        bytes.append(contentsOf: text)
        bytes.append(contentsOf: "\"\"\"".utf8)
    }

    private static func isTruthValue(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        ["true", "false"].contains { $0.utf8.elementsEqual(text.lazy.map { $0 | 0x20 }) }
    }
}
