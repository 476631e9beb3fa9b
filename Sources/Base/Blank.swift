/// What counts as blank: one rule for templates, `present` and `missing`.
///
/// A text is blank when a person would see nothing in it. A *cell* is blank, too, when it holds one
/// of the signs that programs export for nothing, alone and exactly in this spelling:
///
/// - databases and their tools: `NULL`, `null`, `\N`, `(null)`, `(NULL)`, `[null]`, `[NULL]`,
///   `<null>`, `<NULL>`
/// - programming languages: `NaN`, `nan`, `None` (Python), `undefined` (JavaScript)
/// - spreadsheets: `N/A`, `n/a`, and the errors `#N/A`, `#NAME?`, `#REF!`, `#VALUE!`, `#DIV/0!`,
///   `#NUM!`, `#NULL!`, also as Excel writes them in German, French, Italian, Spanish, Portuguese
///   and Turkish: `#NV`, `#BEZUG!`, `#WERT!`, `#ZAHL!`, `#N/D`, `#NOM?`, `#VALEUR!`, `#NOMBRE!`,
///   `#RIF!`, `#VALORE!`, `#NOME?`, `#VALOR!`, `#¡VALOR!`, `#¿NOMBRE?`, `#YOK`
/// - reports: one to three hyphens, or a dash
///
/// `Null` and `Nan` are names of people, and `none` and `NA` may be values: these are not blank.
///
/// ```swift
/// let isBlank = Blank.isText(" \u{200B}")  // true
/// ```
public enum Blank {
    /// Whether a person would see nothing in this text: it is empty, or holds only white space,
    /// control characters and characters without a visible shape (zero-width spaces, direction
    /// marks).
    public static func isText(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        guard let first = text.first else { return true }
        if first > 0x20, first < 0x7F { return false }
        var bytes = text.makeIterator()
        var decoder = UTF8()
        while true {
            switch decoder.decode(&bytes) {
            case .emptyInput: return true
            // It would be shown as U+FFFD.
            case .error: return false
            case .scalarValue(let scalar): guard isInvisible(scalar) else { return false }
            }
        }
    }

    /// Whether a person would see nothing in this text.
    public static func isText(_ text: String) -> Bool {
        var text = text
        return text.withUTF8 { isText($0) }
    }

    /// The same for a text that `JSONWriter` escaped.
    public static func isText(escaped text: UnsafeBufferPointer<UInt8>) -> Bool {
        let backslash = UInt8(ascii: "\\")
        var index = 0
        while index < text.count {
            switch text[index] {
            case backslash:
                // A quote and a backslash are visible; every other escape is a control character.
                let escaped = text[index + 1]
                if escaped == UInt8(ascii: "\"") || escaped == backslash { return false }
                index += escaped == UInt8(ascii: "u") ? 6 : 2
            case 0x21..<0x7F: return false
            default:
                let end = text[index...].firstIndex(of: backslash) ?? text.count
                guard isText(UnsafeBufferPointer(rebasing: text[index..<end])) else { return false }
                index = end
            }
        }
        return true
    }

    /// Whether a cell of an export counts as blank.
    public static func isCell(_ cell: UnsafeBufferPointer<UInt8>) -> Bool {
        guard let first = cell.first else { return true }
        return mayBegin(with: first) && (isSign(cell) || isText(cell))
    }

    /// Whether a value in a campaign would be a blank cell in an export.
    public static func isCell(_ text: String) -> Bool {
        var text = text
        return text.withUTF8 { isCell($0) }
    }

    /// Whether a text is one of the signs for nothing, with or without white space around it.
    public static func isSign(_ text: String) -> Bool {
        var text = text
        return text.withUTF8 { isSign($0) }
    }

    /// The same for a cell that `JSONWriter` escaped.
    @inlinable public static func isCell(escaped cell: UnsafeBufferPointer<UInt8>) -> Bool {
        guard let first = cell.first else { return true }
        return mayBegin(with: first) && (isSign(escaped: cell) || isText(escaped: cell))
    }

    /// Whether a blank cell may begin with this byte. Nearly every cell begins with a letter or
    /// digit that no sign begins with.
    @inlinable @inline(__always) static func mayBegin(with first: UInt8) -> Bool {
        if first <= UInt8(ascii: "-") || first | 0x20 == UInt8(ascii: "n") { return true }
        // Letters from Latin to Hebrew, and Han to Hangul: by `isInvisible`, all of them are
        // visible.
        if first >= 0x7F { return !(0xC3...0xD7 ~= first || 0xE4...0xEC ~= first) }
        return first == UInt8(ascii: "u") || first == UInt8(ascii: "[") || first == UInt8(ascii: "<")
            || first == UInt8(ascii: "\\")
    }

    /// Whether a text is a sign for nothing, with or without white space around it. A backslash may
    /// be escaped for JSON.
    @usableFromInline static func isSign(_ cell: UnsafeBufferPointer<UInt8>) -> Bool {
        var (start, end) = (0, cell.count)
        while start < end, cell[start] <= 0x20 { start += 1 }
        while end > start, cell[end - 1] <= 0x20 { end -= 1 }
        let count = end - start
        guard count <= mostBytes, count > 0, mayBegin(with: cell[start]) else { return false }
        return signs.contains { sign in
            sign.utf8CodeUnitCount == count && (0..<count).allSatisfy { sign.utf8Start[$0] == cell[start + $0] }
        }
    }

    /// The same for a text that `JSONWriter` escaped, such as a tab next to a hyphen.
    @usableFromInline static func isSign(escaped cell: UnsafeBufferPointer<UInt8>) -> Bool {
        if isSign(cell) { return true }
        guard cell.contains(UInt8(ascii: "\\")) else { return false }
        let quote = [UInt8(ascii: "\"")]
        return (try? JSONValue(parsing: quote + cell + quote))?.stringValue.map(isSign) ?? false
    }

    /// A backslash may be escaped for JSON.
    private static let signs: [StaticString] = [
        "#NV", "#N/D", "#N/V", "#YOK", "#WERT!", "#BEZUG!", "#ZAHL!", "#VALEUR!", "#NOMBRE!", "#NOM?", "#VALORE!",
        "#RIF!", "#NOME?",
        "#VALOR!",
        "#¡VALOR!", "#¡NUM!", "#¡REF!", "#¿NOMBRE?", "#REF!",
        "-", "--", "---", "–", "—", #"\N"#, #"\\N"#, "N/A", "n/a", "#N/A", "NULL", "null", "(null)", "(NULL)", "[null]",
        "[NULL]", "<null>",
        "<NULL>", "NaN", "nan", "None", "undefined", "#NAME?", "#VALUE!", "#DIV/0!", "#NUM!", "#NULL!",
    ]
    private static let mostBytes = 10

    /// Whether people cannot see this character: white space, control characters, and those without
    /// a visible shape.
    public static func isInvisible(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        // Latin to Hebrew, and Kana, Han, Hangul: all of these are visible, and a lookup of
        // properties takes longer than anything else here.
        case 0xC0...0x5FF, 0x3001...0xD7FF: return false
        default: break
        }
        let properties = scalar.properties
        return properties.isWhitespace || properties.generalCategory == .control
            || properties.generalCategory == .format
    }
}
