/// The format of figures wherever a person reads them.
///
/// ```swift
/// let devices = TextFormat.devices(12_480)  // 12,480 devices
/// let share = TextFormat.percent(0.0731)  // 7.3 %
/// ```
public enum TextFormat {
    /// Words from outside (a server's, for example), made fit for terminals, logs and run files:
    /// without control characters, and not too long.
    public static func foreign(_ text: String, maximumBytes: Int = 200) -> String {
        var kept = String.UnicodeScalarView()
        var bytes = 0
        for scalar in text.unicodeScalars {
            bytes += UTF8.width(scalar)
            if bytes > maximumBytes { break }
            kept.append(
                scalar.properties.generalCategory == .control || scalar.properties.generalCategory == .format
                    ? " " : scalar)
        }
        return String(kept)
    }

    /// Text from outside (a cell, a file's name, the output of a program) for a terminal or a log,
    /// of any length. Control characters, which could control the terminal, and characters that
    /// change the direction of text are shown as escapes, `\u001B`; line ends and tabs are kept.
    /// JSON stays valid JSON with the same meaning.
    /// - Parameter keepsStyles: keeps colours (SGR sequences of ECMA-48), for a text that Volley
    ///   coloured.
    public static func printable(_ text: String, keepsStyles: Bool = false) -> String {
        let isPlain = text.utf8.allSatisfy {
            $0 >= 0x20 && $0 != 0x7F && $0 != 0xC2 && $0 != 0xE2 || $0 == 0x0A || $0 == 0x09
        }
        if isPlain { return text }
        var shown = ""
        var rest = text.unicodeScalars[...]
        while let scalar = rest.first {
            if keepsStyles, let style = style(at: rest) {
                shown.unicodeScalars.append(contentsOf: style)
                rest = rest[style.endIndex...]
                continue
            }
            let isKept = scalar == "\n" || scalar == "\t" || !isControl(scalar) && !turnsDirection(scalar)
            if isKept { shown.unicodeScalars.append(scalar) } else { shown += escape(scalar) }
            rest.removeFirst()
        }
        return shown
    }

    /// A name from outside (a file's, for example) inside a message or a line of a log: as
    /// `printable`, but line ends and tabs are escaped, too, so that no name looks like a message
    /// of its own.
    public static func inLine(_ name: String) -> String {
        printable(name).replacing(scalar: "\n", with: escape("\n")).replacing(scalar: "\t", with: escape("\t"))
    }

    /// C0, DEL and C1.
    static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value)
    }

    /// `\u001B`, for a character of the first plane.
    static func escape(_ scalar: Unicode.Scalar) -> String { "\\u" + hex(scalar.value, digits: 4, uppercase: true) }

    /// Whether the text after it may be read in another direction (Unicode's UAX 9, embeddings,
    /// overrides and isolates).
    private static func turnsDirection(_ scalar: Unicode.Scalar) -> Bool {
        (0x202A...0x202E).contains(scalar.value) || (0x2066...0x2069).contains(scalar.value)
    }

    /// `ESC [ … m` with numbers separated by semicolons, which changes only the look of text.
    private static func style(at text: Substring.UnicodeScalarView) -> Substring.UnicodeScalarView? {
        guard text.starts(with: "\u{1B}[".unicodeScalars) else { return nil }
        let parameters = text.dropFirst(2).prefix { ("0"..."9").contains($0) || $0 == ";" }
        guard parameters.endIndex < text.endIndex, text[parameters.endIndex] == "m" else { return nil }
        return text[...parameters.endIndex]
    }

    /// `1,096,469`
    public static func count(_ number: Int) -> String {
        var digits = String(number.magnitude)
        var groups: [Substring] = []
        while digits.count > 3 {
            groups.append(digits.suffix(3))
            digits = String(digits.dropLast(3))
        }
        groups.append(Substring(digits))
        return (number < 0 ? "-" : "") + groups.reversed().joined(separator: ",")
    }

    /// `45.2 %`; rounded to 0 or 100 only if it is exactly that.
    public static func percent(_ share: Double) -> String {
        let tenths = Int((share * 1000).rounded())
        if share > 0, tenths == 0 { return "<0.1 %" }
        if share < 1, tenths == 1000 { return "99.9 %" }
        return "\(tenths / 10).\(tenths % 10) %"
    }

    /// `0.4 s`, `12 s`, `3 min 20 s`, `2 h 5 min`
    public static func duration(seconds: Double) -> String {
        if seconds < 9.95 { return "\(Int((seconds * 10).rounded()) / 10).\(Int((seconds * 10).rounded()) % 10) s" }
        let whole = Int(seconds.rounded())
        if whole < 60 { return "\(whole) s" }
        if whole < 3600 { return "\(whole / 60) min \(whole % 60) s" }
        return "\(whole / 3600) h \(whole / 60 % 60) min"
    }

    /// Whether a text is a long number as a spreadsheet program shows it, `1.23E+15`, with digits
    /// missing.
    public static func isRounded(_ text: String) -> Bool {
        let halves = text.uppercased().split(separator: "E", omittingEmptySubsequences: false)
        func isDigits(_ text: some StringProtocol) -> Bool {
            !text.isEmpty && text.allSatisfy { $0.isASCII && $0.isNumber }
        }
        guard halves.count == 2, halves[1].count == 3, halves[1].first == "+", isDigits(halves[1].dropFirst()) else {
            return false
        }
        // In locales with a decimal comma, this has one, too.
        let digits = halves[0].split(omittingEmptySubsequences: false) { $0 == "." || $0 == "," }
        return digits[0].count == 1 && digits.count <= 2 && digits.allSatisfy(isDigits)
    }

    /// The digits of a number that a spreadsheet program keeps.
    public static let keptDigits = 15

    /// How many zeros replace the digits of a long number that a spreadsheet program does not keep;
    /// nil if there are other digits, and for a date and time written as one number,
    /// `20261123093000000`.
    public static func zerosOfRounding(_ text: String) -> Int? {
        guard text.utf8.count > keptDigits, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            text.dropFirst(keptDigits).allSatisfy({ $0 == "0" }), !(text.utf8.count <= 17 && isDay(text.prefix(8)))
        else { return nil }
        return text.utf8.count - keptDigits
    }

    private static func isDay(_ digits: Substring) -> Bool {
        Array(digits.utf8).withUnsafeBufferPointer { CompactDate($0) != nil }
    }

    /// `45 s`, `30 min`, `4 h`, `2 h 5 min`, `3 days`: a length of time as people say it; hours and
    /// days come without smaller parts that hardly matter.
    public static func span(seconds: Int64) -> String {
        switch seconds {
        case ..<60: return "\(seconds) s"
        case ..<3600: return "\(seconds / 60) min"
        case ..<172_800:
            let minutes = seconds / 60 % 60
            return "\(seconds / 3600) h" + (minutes == 0 ? "" : " \(minutes) min")
        default:
            let hours = seconds / 3600 % 24
            return "\(seconds / 86_400) days" + (hours == 0 ? "" : " \(hours) h")
        }
    }

    /// `1.4 MB`, in powers of ten.
    public static func bytes(_ number: Int) -> String {
        var value = Double(number)
        for unit in ["B", "kB", "MB", "GB"] {
            if value < 999.5 || unit == "GB" {
                return unit == "B" ? "\(number) B" : "\(Int(value * 10) / 10).\(Int(value * 10) % 10) \(unit)"
            }
            value /= 1000
        }
        return "\(number) B"
    }

    /// A bar of block characters, `share` of `width` columns long, in eighths; something is always
    /// visible if the share is above 0.
    public static func bar(_ share: Double, width: Int) -> String {
        guard share > 0 else { return "" }
        let eighths = max(1, min(width * 8, Int((share * Double(width) * 8).rounded())))
        let parts = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"]
        return String(repeating: "█", count: eighths / 8) + parts[eighths % 8]
    }

    /// Text padded with spaces on the right.
    public static func padded(_ text: String, to width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.count))
    }

    /// Text padded with spaces on the left.
    public static func aligned(_ text: String, to width: Int) -> String {
        String(repeating: " ", count: max(0, width - text.count)) + text
    }
}

/// Nouns and names as sentences need them.
extension TextFormat {
    /// `a device token`, `an installation id`; a noun that begins with u is read as in `user`.
    public static func withArticle(_ noun: String) -> String {
        (noun.first.map("aeioAEIO".contains) ?? false ? "an " : "a ") + noun
    }

    /// `Volley’s`, `Services’`
    public static func possessive(_ name: String) -> String { name + (name.hasSuffix("s") ? "’" : "’s") }

    /// The beginning of a sentence: `Device token`.
    public static func capitalized(_ words: String) -> String { words.prefix(1).uppercased() + words.dropFirst() }
}

/// Numbers with a fixed number of digits.
extension TextFormat {
    /// `007`; a longer number is not cut.
    public static func zeroPadded(_ number: Int, digits: Int = 2) -> String { filled(String(number), digits: digits) }

    /// `00ff`; a longer number is not cut.
    public static func hex(_ number: some FixedWidthInteger & UnsignedInteger, digits: Int, uppercase: Bool = false)
        -> String
    {
        filled(String(number, radix: 16, uppercase: uppercase), digits: digits)
    }

    /// `U+00A0`, the Unicode notation for characters.
    public static func codePoint(_ scalar: Unicode.Scalar) -> String {
        "U+" + hex(scalar.value, digits: 4, uppercase: true)
    }

    private static func filled(_ text: String, digits: Int) -> String {
        String(repeating: "0", count: max(0, digits - text.utf8.count)) + text
    }
}

/// Counts, and the words that change with them.
extension TextFormat {
    /// `1 device`, `1,096,469 devices`
    /// - Parameters:
    ///   - one: for a single thing; it may include the words that follow in the sentence:
    ///     `row holds`.
    ///   - many: for none or several; nil for `one` with an s.
    public static func counted(_ number: Int, one: String, many: String? = nil) -> String {
        "\(count(number)) \(plural(number, one: one, many: many))"
    }

    /// `1 device`, `1,096,469 devices`
    public static func devices(_ number: Int) -> String { counted(number, one: "device") }

    /// The word that fits a number elsewhere in the sentence: `is` or `are`.
    /// - Parameter many: nil for `one` with an s.
    public static func plural(_ number: some BinaryInteger, one: String, many: String? = nil) -> String {
        number == 1 ? one : many ?? one + "s"
    }
}

extension TextFormat {
    /// A text as a scalar of YAML, in a block or between brackets: without quotes where it cannot
    /// be read as anything else, otherwise in the quotes that were there, or in double ones. Every
    /// message that puts the name of a column, a tag or a file into YAML uses it.
    /// - Parameter style: of the scalar that it replaces; nil for a new one.
    public static func yaml(_ text: String, like style: SourceText.Style? = nil) -> String {
        if style != .singleQuoted, style != .doubleQuoted, isPlainYAML(text) { return text }
        let isOneLine = text.unicodeScalars.allSatisfy {
            $0.value >= 0x20 && $0.value != 0x7F && !(0x80...0x9F).contains($0.value) && !isBreak($0)
        }
        if style == .singleQuoted, isOneLine { return "'" + text.replacing(scalar: "'", with: "''") + "'" }
        return "\"" + text.unicodeScalars.map(escapedInYAML).joined() + "\""
    }

    /// Words of letters, digits and the safest of marks, but for what readers of YAML 1.1 and 1.2
    /// take for a truth value or nothing.
    private static func isPlainYAML(_ text: String) -> Bool {
        let values: Set = ["y", "n", "yes", "no", "on", "off", "true", "false", "null"]
        guard let first = text.unicodeScalars.first, let last = text.unicodeScalars.last, first.properties.isAlphabetic,
            last != " ",
            !values.contains(text.lowercased())
        else { return false }
        return text.unicodeScalars.allSatisfy {
            $0.properties.isAlphabetic || $0.properties.numericType != nil || " _-.!?/*".unicodeScalars.contains($0)
        }
    }

    /// Source: YAML 1.2.2, section 5.7, escaped characters.
    private static func escapedInYAML(_ scalar: Unicode.Scalar) -> String {
        switch scalar {
        case "\"": return "\\\""
        case "\\": return "\\\\"
        case "\n": return "\\n"
        case "\r": return "\\r"
        case "\t": return "\\t"
        default:
            let isShown = scalar.value >= 0x20 && !(0x7F...0x9F).contains(scalar.value) && !isBreak(scalar)
            return isShown ? String(scalar) : "\\u" + hex(scalar.value, digits: 4, uppercase: true)
        }
    }

    /// What a reader of YAML 1.1 takes for the end of a line, and a mark of byte order.
    private static func isBreak(_ scalar: Unicode.Scalar) -> Bool {
        ["\u{85}", "\u{2028}", "\u{2029}", "\u{FEFF}"].contains(scalar)
    }
}

extension TextFormat {
    /// A text in which characters that a person cannot see are named, `<U+200B>`: a name that holds
    /// one looks like another name. Every `Diagnostic` goes through it.
    ///
    /// What belongs to visible text stays: the joiners and variation selectors of scripts and
    /// emoji, and the no-break spaces of French punctuation.
    public static func namingInvisible(_ text: String) -> String {
        if text.utf8.allSatisfy({ $0 < 0x80 }) { return text }
        let scalars = Array(text.unicodeScalars)
        var shown = String.UnicodeScalarView()
        for (place, scalar) in scalars.enumerated() {
            let before = place > 0 ? scalars[place - 1] : nil
            let after = place + 1 < scalars.count ? scalars[place + 1] : nil
            if isUnseen(scalar), !isPartOfText(scalar, after: before, before: after) {
                shown.append(contentsOf: "<\(codePoint(scalar))>".unicodeScalars)
            } else {
                shown.append(scalar)
            }
        }
        return String(shown)
    }

    /// Blanks that no key of a keyboard writes, characters without a shape, marks of direction.
    private static func isUnseen(_ scalar: Unicode.Scalar) -> Bool {
        // C0 and C1 are the concern of `printable`; the ideographic space is written by a key.
        guard scalar.value > 0x9F, scalar != "\u{3000}" else { return false }
        if scalar == "\u{2800}" { return true }
        let properties = scalar.properties
        if properties.isWhitespace || properties.isDefaultIgnorableCodePoint { return true }
        guard properties.generalCategory == .format else { return false }
        // Signs in front of Arabic, Syriac and Kaithi numbers have a shape. Source: Unicode,
        // Prepended_Concatenation_Mark.
        return ![
            0x600...0x605, 0x6DD...0x6DD, 0x70F...0x70F, 0x890...0x891, 0x8E2...0x8E2, 0x110BD...0x110BD,
            0x110CD...0x110CD,
        ]
        .contains { $0.contains(scalar.value) }
    }

    private static func isPartOfText(
        _ scalar: Unicode.Scalar, after before: Unicode.Scalar?, before after: Unicode.Scalar?
    ) -> Bool {
        switch scalar.value {
        // ZWNJ, ZWJ, variation selectors, tags of flags: after a letter or sign of a script that
        // uses them.
        case 0x200C, 0x200D, 0xFE00...0xFE0F, 0xE0020...0xE007F, 0xE0100...0xE01EF:
            return before.map { $0.value > 0xFF } ?? false
        case 0xA0, 0x202F:
            return before == "«" || after.map { "»!?:;%€".unicodeScalars.contains($0) } ?? false
        default: return false
        }
    }
}

extension String {
    /// This text with every occurrence of a scalar replaced. `replacing(_:with:)` compares
    /// Characters, and misses a quote before a combining character, and each half of CR LF: text
    /// that is quoted or escaped in this way would end early.
    public func replacing(scalar: Unicode.Scalar, with text: String) -> String {
        guard unicodeScalars.contains(scalar) else { return self }
        var replaced = String.UnicodeScalarView()
        for each in unicodeScalars {
            if each == scalar { replaced.append(contentsOf: text.unicodeScalars) } else { replaced.append(each) }
        }
        return String(replaced)
    }
}
