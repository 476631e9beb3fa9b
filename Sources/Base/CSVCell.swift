/// A cell of CSV as Volley writes it: RFC 4180, and safe to open in a spreadsheet.
public enum CSVCell {
    /// Appends a cell, in quotes if it needs them. A cell that a spreadsheet would run as a formula (`startsFormula`) gets an apostrophe in
    /// front, and so does what would be such a cell where the spreadsheet's separator is another one. Control characters other than tab and line break are written as escapes, `\u001B`: they would
    /// control the terminal that shows the file.
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

    /// Whether some spreadsheet ends a cell at a byte. Quotes prevent that only where the cell before ended at the same sign.
    private static func separates(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: ";") || byte == UInt8(ascii: ",") || byte == 0x09 || byte == 0x0A || byte == 0x0D
    }

    /// A text with an apostrophe in front of each part that a spreadsheet with another separator would run: `a;=1+1`.
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

    private static func append(_ text: UnsafeBufferPointer<UInt8>, inQuotes needsQuotes: Bool, to bytes: inout [UInt8]) {
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

    /// Whether a spreadsheet would run the text as a formula: it begins with `= + - @`, in whatever width, a tab or a line break. Blanks and
    /// invisible characters before a sign do not count, because some programs remove them. Spreadsheets of China and Japan take the
    /// full-width forms for the narrow ones. Source: OWASP, "CSV Injection".
    static func startsFormula(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        switch text.first {
        case nil: false
        case UInt8(ascii: "="), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "@"), UInt8(ascii: "\t"), UInt8(ascii: "\n"),
            UInt8(ascii: "\r"):
            true
        // Nearly every cell begins so: no character of it has to be decoded.
        case .some(0x21...0x7E): false
        default: String(decoding: text, as: UTF8.self).unicodeScalars.first { !isInvisible($0) }.map { signs.contains($0) } ?? false
        }
    }

    /// Full-width (U+FF00 block) and small (U+FE50 block) forms of the signs, and the minus sign of mathematics.
    private static let signs = Set("=+-@\u{FF1D}\u{FF0B}\u{FF0D}\u{FF20}\u{FE66}\u{FE62}\u{FE63}\u{FE6B}\u{2212}".unicodeScalars)

    private static func isInvisible(_ scalar: Unicode.Scalar) -> Bool {
        let properties = scalar.properties
        if properties.isWhitespace || properties.isDefaultIgnorableCodePoint { return true }
        return [.control, .format].contains(properties.generalCategory)
    }

    private static func needsQuotes(_ byte: UInt8, separator: UInt8) -> Bool {
        byte == separator || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r")
    }
}
