/// Texts that Excel misreads when it opens a CSV: `12e45` as a number of 47 digits, `0012` as 12, an id of 18 digits as one whose last
/// three are zeros, `3-4` as a day in April, `true` as a truth value. Quotes around a cell do not prevent this.
///
/// They are written as `="0012"`, a formula whose value is exactly that text. An apostrophe, or a tab, would become part of the text, which
/// would then equal no cell of another table. Volley reads such a cell as the text in it (`CellRow`), which is also what Excel makes of it
/// when it saves the file.
enum ExcelText {
    /// No number with letters in it, day or time of day is longer than this, in any language.
    private static let longestDate = 20
    /// The most characters of a text within a formula. Source: Microsoft, "Excel specifications and limits".
    private static let longestText = 255

    /// Whether Excel would misread the text, as far as this is known without Excel's language: any short text with a digit, because months
    /// have names. A text that begins like a formula is left to the apostrophe unless it has the form of a number: when Excel saves the
    /// file, `="=1+1"` becomes `=1+1`.
    static func changes(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        guard !text.isEmpty, text.count <= longestText else { return false }
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
        return text.count <= longestDate && !CSVCell.startsFormula(text)
    }

    /// Appends the text so that Excel keeps it: `"=""0012"""`.
    static func append(_ text: UnsafeBufferPointer<UInt8>, to bytes: inout [UInt8]) {
        bytes.append(contentsOf: "\"=\"\"".utf8)
        bytes.append(contentsOf: text)
        bytes.append(contentsOf: "\"\"\"".utf8)
    }

    private static func isTruthValue(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        ["true", "false"].contains { $0.utf8.elementsEqual(text.lazy.map { $0 | 0x20 }) }
    }
}
