import Base

/// A word, text, number or sign inside a tag, with its scalars' indices in the whole text.
struct TemplateToken {
    enum Kind: Equatable {
        /// Letters, digits, `_`, `.`, `-`, beginning with a letter or `_`.
        case name(String)
        /// The text between quotes.
        case text(String)
        /// As written: `-0.5`.
        case number(String)
        /// `==`, `|`, `:` and the like.
        case sign(String)
        /// Anything else.
        case junk(String)
    }

    var kind: Kind
    var range: Range<Int>

    func isSign(_ sign: String) -> Bool { kind == .sign(sign) }

    var name: String? {
        if case .name(let name) = kind { name } else { nil }
    }
}

/// What is wrong with a template, and at which of its scalars.
struct TemplateMistake {
    var message: String
    var index: Int
    var remedy: String
    /// Its name if it is only a warning.
    var warning: WarningName?

    var isWarning: Bool { warning != nil }
}

/// Splits the inside of a tag into tokens. A sign that looks almost right is reported, and then
/// read as what was meant, so that one slip is one mistake.
struct TemplateTokenizer {
    private let scalars: ArraySlice<Unicode.Scalar>
    private let tag: String
    private var index: Int
    private(set) var tokens: [TemplateToken] = []
    private(set) var mistakes: [TemplateMistake] = []
    /// Whether one of them is about an invisible character, which cuts a name in two.
    private(set) var holdsInvisible = false

    /// - Parameters:
    ///   - scalars: between the braces, with the indices of the whole text.
    ///   - tag: `{{ }}` or `{% %}`, for messages.
    init(_ scalars: ArraySlice<Unicode.Scalar>, of tag: String) {
        self.scalars = scalars
        self.tag = tag
        index = scalars.startIndex
        while index < scalars.endIndex { step() }
    }

    private mutating func step() {
        let (scalar, start) = (scalars[index], index)
        if Self.isSpace(scalar) {
            index += 1
        } else if scalar == "'" || scalar == "\"" {
            readText(scalar)
        } else if Self.curlyQuotes.contains(scalar) {
            readCurlyText(scalar)
        } else if Self.fullWidth[scalar] != nil {
            readFullWidth()
        } else if Self.isInvisible(scalar) {
            let code = String(scalar.value, radix: 16, uppercase: true)
            report(
                "there is an invisible character (U+\(code)) here", at: start,
                remedy: "Delete it; it often comes with copied text.")
            holdsInvisible = true
            index += 1
        } else if Self.isLetter(scalar) || scalar == "_" {
            readWhile(Self.isNameScalar)
            add(.name(text(start..<index)), from: start)
        } else if Self.isDigit(scalar)
            || scalar == "-" && index + 1 < scalars.endIndex && Self.isDigit(scalars[index + 1])
        {
            readNumber()
        } else if let sign = Self.signs.first(where: { scalars[index...].starts(with: $0.unicodeScalars) }) {
            index += sign.unicodeScalars.count
            add(.sign(sign), from: start)
        } else {
            index += 1
            readWhile { Self.isNameScalar($0) || !Self.isSpace($0) && !Self.isPlain($0) }
            add(.junk(text(start..<index)), from: start)
        }
    }

    /// A row of signs as input methods write them.
    private mutating func readFullWidth() {
        let start = index
        readWhile { Self.fullWidth[$0] != nil }
        let written = text(start..<index)
        let plain = String(String.UnicodeScalarView(scalars[start..<index].compactMap { Self.fullWidth[$0] }))
        report(
            "the full-width sign\(index > start + 1 ? "s" : "") \(written) \(index > start + 1 ? "do" : "does") not work inside '\(tag)'",
            at: start,
            remedy: "Write \(plain) with plain signs.")
        add(Self.signs.contains(plain) ? .sign(plain) : .junk(written), from: start)
    }

    private mutating func readText(_ quote: Unicode.Scalar) {
        let start = index
        index += 1
        readWhile { $0 != quote }
        if index < scalars.endIndex, scalars[index - 1] == "\\", let end = scalars[(index + 1)...].firstIndex(of: quote)
        {
            report(
                "'\\' escapes nothing, so the text ends here", at: index,
                remedy: "Put a text that holds \(quote) between \(quote == "'" ? "\"…\"" : "'…'").")
            index = end
        }
        if index < scalars.endIndex {
            add(.text(text((start + 1)..<index)), from: start, to: index + 1)
            index += 1
        } else {
            report("the quote \(quote) is never closed", at: start, remedy: "Write \(quote) at the end of the text.")
            add(.text(text((start + 1)..<index)), from: start)
        }
    }

    private mutating func readCurlyText(_ quote: Unicode.Scalar) {
        let start = index
        report(
            "the quote \(quote) does not work inside '\(tag)'", at: start,
            remedy: "Write straight quotes: 'text' or \"text\".")
        // The intended text ends at the next quote of any kind.
        index += 1
        readWhile { !Self.curlyQuotes.contains($0) && $0 != "'" && $0 != "\"" && $0 != "|" }
        let end = index
        if index < scalars.endIndex, scalars[index] != "|" { index += 1 }
        add(.text(text((start + 1)..<end)), from: start)
    }

    private mutating func readNumber() {
        let start = index
        index += 1
        readWhile { Self.isNameScalar($0) }
        let written = text(start..<index)
        add(Self.isNumber(written) ? .number(written) : .junk(written), from: start)
    }

    private mutating func readWhile(_ belongs: (Unicode.Scalar) -> Bool) {
        while index < scalars.endIndex, belongs(scalars[index]) { index += 1 }
    }

    private mutating func add(_ kind: TemplateToken.Kind, from start: Int, to end: Int? = nil) {
        tokens.append(TemplateToken(kind: kind, range: start..<(end ?? index)))
    }

    private mutating func report(_ message: String, at index: Int, remedy: String) {
        mistakes.append(TemplateMistake(message: message, index: index, remedy: remedy))
    }

    private func text(_ range: Range<Int>) -> String { String(String.UnicodeScalarView(scalars[range])) }

    // MARK: - Characters

    /// The longest come first.
    private static let signs = [
        "===", "!==", "==", "!=", "<=", ">=", "<>", "=>", "=<", "&&", "||", "??", "=", "<", ">", "|", ":", ",", "(",
        ")", "[", "]", "!",
        "≠",
        "≤", "≥",
    ]
    static let curlyQuotes: Set<Unicode.Scalar> = [
        "“", "”", "„", "‟", "‘", "’", "‚", "‛", "«", "»", "‹", "›", "＂", "＇", "`", "´",
    ]
    private static let fullWidth: [Unicode.Scalar: Unicode.Scalar] = [
        "｜": "|", "：": ":", "｛": "{", "｝": "}", "＿": "_", "，": ",", "＝": "=", "＞": ">", "＜": "<", "（": "(", "）": ")",
        "！": "!", "％": "%",
    ]

    /// No-break and ideographic spaces count, too: word processors and input methods insert them
    /// unseen.
    static func isSpace(_ scalar: Unicode.Scalar) -> Bool { scalar.properties.isWhitespace }

    static func isInvisible(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.generalCategory == .format || scalar.properties.generalCategory == .control
    }

    private static func isPlain(_ scalar: Unicode.Scalar) -> Bool {
        signs.contains(String(scalar)) || scalar == "'" || scalar == "\""
    }

    private static func isDigit(_ scalar: Unicode.Scalar) -> Bool { ("0"..."9").contains(scalar) }

    /// Letters of any script: exports name their columns in their users' language.
    private static func isLetter(_ scalar: Unicode.Scalar) -> Bool { scalar.properties.isAlphabetic }

    static func isNameScalar(_ scalar: Unicode.Scalar) -> Bool {
        isLetter(scalar) || isDigit(scalar) || scalar == "_" || scalar == "." || scalar == "-"
    }

    /// `12`, `-0.5`
    static func isNumber(_ text: String) -> Bool {
        let digits = (text.hasPrefix("-") ? text.dropFirst() : text[...]).split(
            separator: ".", omittingEmptySubsequences: false)
        return digits.count <= 2
            && digits.allSatisfy { !$0.isEmpty && $0.utf8.allSatisfy { (0x30...0x39).contains($0) } }
    }
}
