/// A cell of CSV as Volley writes it: RFC 4180, and safe to open in a spreadsheet.
///
/// ```swift
/// var line: [UInt8] = []
/// CSVCell.append("Roth, Anna", to: &line)  // "Roth, Anna", with its quotes
/// ```
public enum CSVCell {
    /// Appends a cell, in quotes if it needs them. A cell that a spreadsheet would run as a formula
    /// (`startsFormula`) gets an apostrophe in front, and so does what would be such a cell where
    /// the spreadsheet's separator is another one. Control characters other than tab and line break
    /// are written as escapes, `\u001B`: they would control the terminal that shows the file.
    public static func append(_ text: String, _ form: CSVForm = .plain, to bytes: inout [UInt8]) {
        var text = text
        text.withUTF8 { append($0, form, to: &bytes) }
    }

    /// The same for the bytes of a text in UTF-8.
    public static func append(_ text: UnsafeBufferPointer<UInt8>, _ form: CSVForm = .plain, to bytes: inout [UInt8]) {
        guard text.first != nil else { return }
        if form.isForExcel, ExcelText.changes(text) {
            guard text.contains(where: mayNeedEscape) else { return ExcelText.append(text, to: &bytes) }
            var shown = escaped(text)
            return shown.withUTF8 { ExcelText.append($0, to: &bytes) }
        }
        // Looks at every byte: without an early exit the compiler can test several bytes at once.
        var needsQuotes = false, mayNeedEscapes = false, holdsSeparators = false
        for byte in text {
            holdsSeparators = holdsSeparators || separates(byte)
            needsQuotes = needsQuotes || Self.needsQuotes(byte, separator: form.separator)
            mayNeedEscapes = mayNeedEscapes || Self.mayNeedEscape(byte)
        }
        guard mayNeedEscapes || holdsSeparators else { return append(text, inQuotes: needsQuotes, to: &bytes) }
        var shown = mayNeedEscapes ? escaped(text) : String(decoding: text, as: UTF8.self)
        if holdsSeparators { shown = withoutHiddenFormulas(shown, separator: form.separator) }
        shown.withUTF8 { append($0, inQuotes: needsQuotes, to: &bytes) }
    }

    /// Whether some spreadsheet ends a cell at a byte. Quotes prevent that only where the cell
    /// before ended at the same sign.
    private static func separates(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: ";") || byte == UInt8(ascii: ",") || byte == 0x09 || byte == 0x0A || byte == 0x0D
    }

    /// A text with an apostrophe in front of each part that a spreadsheet with another separator
    /// would run: `a;=1+1`.
    private static func withoutHiddenFormulas(_ text: String, separator: UInt8) -> String {
        let bytes = Array(text.utf8)
        var kept: [UInt8] = []
        for (place, byte) in bytes.enumerated() {
            kept.append(byte)
            guard separates(byte), byte != separator else { continue }
            let rest = bytes[(place + 1)...].drop { $0 == UInt8(ascii: "\"") || $0 == UInt8(ascii: " ") }
            guard let next = rest.first, !separates(next), rest.withUnsafeBufferPointer(startsFormula) else { continue }
            kept.append(UInt8(ascii: "'"))
        }
        return String(decoding: kept, as: UTF8.self)
    }

    private static func append(_ text: UnsafeBufferPointer<UInt8>, inQuotes needsQuotes: Bool, to bytes: inout [UInt8])
    {
        if needsQuotes { bytes.append(UInt8(ascii: "\"")) }
        if startsFormula(text) { bytes.append(UInt8(ascii: "'")) }
        guard needsQuotes else { return bytes.append(contentsOf: text) }
        for byte in text {
            if byte == UInt8(ascii: "\"") { bytes.append(byte) }
            bytes.append(byte)
        }
        bytes.append(UInt8(ascii: "\""))
    }

    private static func escaped(_ text: UnsafeBufferPointer<UInt8>) -> String {
        var shown = ""
        for scalar in String(decoding: text, as: UTF8.self).unicodeScalars {
            if TextFormat.isControl(scalar), scalar != "\t", scalar != "\n", scalar != "\r" {
                shown += TextFormat.escape(scalar)
            } else {
                shown.unicodeScalars.append(scalar)
            }
        }
        return shown
    }

    /// 0xC2 is the first byte of the C1 control characters, and of some letters.
    private static func mayNeedEscape(_ byte: UInt8) -> Bool {
        byte < 0x20 && byte != 0x09 && byte != 0x0A && byte != 0x0D || byte == 0x7F || byte == 0xC2
    }

    /// Whether a spreadsheet would run the text as a formula: it begins with `= + - @`, in whatever
    /// width, a tab or a line break. Blanks and invisible characters before a sign do not count,
    /// because some programs remove them. Spreadsheets of China and Japan take the full-width forms
    /// for the narrow ones. Source: OWASP, "CSV Injection".
    static func startsFormula(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        switch text.first {
        case nil: false
        case UInt8(ascii: "="), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "@"), UInt8(ascii: "\t"),
            UInt8(ascii: "\n"),
            UInt8(ascii: "\r"):
            true
        // Nearly every cell begins so: no character of it has to be decoded.
        case .some(0x21...0x7E): false
        default:
            String(decoding: text, as: UTF8.self).unicodeScalars.first { !isInvisible($0) }.map { signs.contains($0) }
                ?? false
        }
    }

    /// Full-width (U+FF00 block) and small (U+FE50 block) forms of the signs, and the minus sign of
    /// mathematics.
    private static let signs = Set(
        "=+-@\u{FF1D}\u{FF0B}\u{FF0D}\u{FF20}\u{FE66}\u{FE62}\u{FE63}\u{FE6B}\u{2212}".unicodeScalars)

    private static func isInvisible(_ scalar: Unicode.Scalar) -> Bool {
        let properties = scalar.properties
        if properties.isWhitespace || properties.isDefaultIgnorableCodePoint { return true }
        return [.control, .format].contains(properties.generalCategory)
    }

    private static func needsQuotes(_ byte: UInt8, separator: UInt8) -> Bool {
        byte == separator || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r")
    }
}

/// The layout of a CSV: for programs, or for Excel.
public struct CSVForm: Hashable, Sendable {
    /// The character between cells: a comma, or a semicolon.
    public let separator: UInt8
    /// Whether the file begins with a byte order mark, its lines end in CRLF, and cells that Excel
    /// would take for numbers, dates or truth values are written as texts.
    public let isForExcel: Bool

    /// RFC 4180 in UTF-8 without a byte order mark. Lines end in LF only, because scripts (cut,
    /// awk, sort) read it as often as spreadsheets.
    public static let plain = CSVForm(separator: UInt8(ascii: ","), isForExcel: false)

    /// The form that Excel opens with a double click. Without the mark, Excel reads UTF-8 as the
    /// code page of Windows.
    /// - Parameter hasDecimalComma: whether the decimal mark of the reader's locale is a comma;
    ///   cells are then separated by semicolons.
    public static func excel(hasDecimalComma: Bool) -> CSVForm {
        CSVForm(separator: hasDecimalComma ? UInt8(ascii: ";") : UInt8(ascii: ","), isForExcel: true)
    }

    /// The start of the file: the byte order mark, if any, and the names of its columns.
    public func header(_ columns: [String]) -> [UInt8] {
        let mark: [UInt8] = isForExcel ? [0xEF, 0xBB, 0xBF] : []
        return mark + Array(columns.joined(separator: String(UnicodeScalar(separator))).utf8) + lineEnd
    }

    /// The end of a line.
    public var lineEnd: [UInt8] { isForExcel ? [0x0D, 0x0A] : [0x0A] }

    /// The most rows of a file that Excel shows; it leaves out the rest. Source: Microsoft, "Excel
    /// specifications and limits".
    public static let excelRows = 1_048_576
}

/// Texts that Excel misreads when it opens a CSV: `12e45` as a number of 47 digits, `0012` as 12,
/// an id of 18 digits as one that ends in three zeros, `3-4` as a day in April, `true` as a truth
/// value. Quotes around a cell do not prevent this.
///
/// They are written as `="0012"`, a formula with exactly that text as its value. An apostrophe, or
/// a tab, would become part of the text, which would then equal no cell of another table. Volley
/// reads such a cell as the text in it (`CellRow`), which is also what Excel makes of it when it
/// saves the file.
enum ExcelText {
    /// No number with letters in it, day or time of day is longer than this, in any language.
    private static let longestDate = 20
    /// The most characters of a text within a formula. Source: Microsoft, "Excel specifications and
    /// limits".
    private static let longestText = 255

    /// Whether Excel would misread the text, as far as this is known without Excel's language: any
    /// short text with a digit, because months have names. A text that begins like a formula is
    /// left to the apostrophe unless it has the form of a number: when Excel saves the file,
    /// `="=1+1"` becomes `=1+1`.
    static func changes(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        guard !text.isEmpty, text.count <= longestText else { return false }
        var hasDigit = false, exponents = 0, isLikeNumber = true
        for byte in text {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): hasDigit = true
            case UInt8(ascii: "e"), UInt8(ascii: "E"): exponents += 1
            case UInt8(ascii: " "), UInt8(ascii: "."), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "/"),
                UInt8(ascii: ":"),
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
