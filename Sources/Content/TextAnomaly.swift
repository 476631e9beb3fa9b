import Base

/// Text that people would not read as it was meant: the notation of web pages and chats, escapes that nothing resolved, invisible
/// characters, letters that went through the wrong encoding.
struct TextAnomaly {
    var name: WarningName
    /// `'&nbsp;', which people would read as written: a push shows no HTML`
    var words: String
    var remedy: String

    /// At most one of each kind.
    static func all(in text: String) -> [TextAnomaly] {
        [markup(text), escape(text), garbled(text), invisible(text), TextPlaceholder.find(in: text)].compactMap(\.self)
    }

    func warning(_ key: String, at place: SourcePosition, note: String = "", remedy: String) -> Diagnostic {
        .warning(name, message: "the \(key) holds \(words)\(note)", at: place, remedy: remedy)
    }

    // MARK: - Markup and escapes

    /// Elements of HTML that people write into texts: `<b>` is one, `<name>` is a placeholder.
    static let elements: Set<String> = [
        "a", "b", "big", "br", "center", "div", "em", "font", "h1", "h2", "h3", "hr", "i", "img", "li", "ol", "p", "small", "span",
        "strong",
        "sub", "sup", "u", "ul",
    ]

    private static func markup(_ text: String) -> TextAnomaly? {
        if let entity = text.firstMatch(of: /&(?:[A-Za-z][A-Za-z0-9]{1,30}|#[0-9]{1,6}|#[xX][0-9A-Fa-f]{1,6});/) {
            return html(entity.output, remedy: "Write the character itself.")
        }
        if let note = text.firstMatch(of: /<!--.*?-->/.dotMatchesNewlines()) { return html(note.output, remedy: "Remove it.") }
        if let note = text.firstMatch(of: /(?:^|\s)(\/\*.*?\*\/)/.dotMatchesNewlines()) {
            return TextAnomaly(
                name: .markupInText, words: "'\(shown(note.output.1))', which people would read as written",
                remedy: "Remove it; write a comment of the file after two blanks and #.")
        }
        let tags = text.matches(of: /<\/?([A-Za-z][A-Za-z0-9]{0,9})(?:\s[^<>]*)?\/?>/)
        if let tag = tags.first(where: { elements.contains($0.output.1.lowercased()) || $0.output.0.hasPrefix("</") }) {
            return html(tag.output.0, remedy: "Remove it; a line break is \\n in a text in double quotes.")
        }
        let marks = [
            text.firstMatch(of: /\*\*[^\s*][^*\n]*\*\*/)?.output, text.firstMatch(of: /__[^\s_][^_\n]*__/)?.output,
            text.firstMatch(of: /~~[^\s~][^~\n]*~~/)?.output, text.firstMatch(of: /\[[^\[\]\n]+\]\([a-z]+:[^()\s]+\)/)?.output,
            text.firstMatch(of: /(?:^|\s)\*[^\s*][^*\n]*\*(?=$|[\s.,!?])/)?.output,
        ]
        guard let mark = marks.compactMap(\.self).first else { return nil }
        return TextAnomaly(
            name: .markupInText,
            words: "'\(shown(mark))', whose signs people would read: a push has no bold letters, and no links in its text",
            remedy: "Remove the signs; 'link' says where the push leads.")
    }

    private static func html(_ found: Substring, remedy: String) -> TextAnomaly {
        TextAnomaly(
            name: .markupInText, words: "'\(shown(found))', which people would read as written: a push shows no HTML", remedy: remedy)
    }

    private static func escape(_ text: String) -> TextAnomaly? {
        guard let escape = text.firstMatch(of: /\\(?:[ntr"]|u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|u\{[0-9A-Fa-f]+\}|x[0-9A-Fa-f]{2})/) else {
            return nil
        }
        return TextAnomaly(
            name: .escapeInText, words: "'\(escape.output)', which people would read as written",
            remedy: "Put the text in double quotes, where \\n is a line break; a backslash is written \\\\ there.")
    }

    // MARK: - Letters

    /// UTF-8 that was read as Windows-1252, and bytes that could not be read at all.
    private static func garbled(_ text: String) -> TextAnomaly? {
        let scalars = Array(text.unicodeScalars)
        for (index, scalar) in scalars.enumerated() {
            let rest = scalars[index...].prefix(4)
            let isGarbled =
                switch scalar {
                case "\u{FFFD}": true
                case "Ã", "Â":
                    rest.count > 1 && isContinuation(rest[index + 1]) && !isEndOfWord(scalars, index: index)
                case "â": rest.starts(with: "â€".unicodeScalars) || rest.starts(with: "\u{E2}\u{80}".unicodeScalars)
                case "ð": rest.starts(with: "ðŸ".unicodeScalars) || rest.starts(with: "\u{F0}\u{9F}".unicodeScalars)
                case "ï": rest.starts(with: "ï»¿".unicodeScalars) || rest.starts(with: "ï¿½".unicodeScalars)
                // Cyrillic, Arabic, Hebrew: a single pair may be the end of a word in quotes.
                case "Ð", "Ñ", "Ø", "Ù", "×":
                    rest.count == 4 && isContinuation(rest[index + 1]) && "ÐÑØÙ×".unicodeScalars.contains(rest[index + 2])
                        && isContinuation(rest[index + 3])
                default: false
                }
            guard isGarbled else { continue }
            return TextAnomaly(
                name: .garbledText,
                words: "'\(String(String.UnicodeScalarView(rest.prefix(2))))', letters that were read in the wrong encoding",
                remedy: "Type the letters again, or save the text again as UTF-8.")
        }
        return nil
    }

    /// `AMANHÃ…`, `“BOA MANHÃ”`: a word in capitals that ends there, followed by punctuation.
    private static func isEndOfWord(_ scalars: [Unicode.Scalar], index: Int) -> Bool {
        guard index > 1, "…”’".unicodeScalars.contains(scalars[index + 1]) else { return false }
        let isCapital = scalars[(index - 2)..<index].allSatisfy { $0.properties.isUppercase }
        return isCapital && !(index + 2 < scalars.count && scalars[index + 2].properties.isAlphabetic)
    }

    /// What Windows-1252 makes of a byte from 0x80 to 0xBF.
    private static func isContinuation(_ scalar: Unicode.Scalar) -> Bool {
        (0x80...0xBF).contains(scalar.value) || "€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ".unicodeScalars.contains(scalar)
    }

    // MARK: - Invisible characters

    private static func invisible(_ text: String) -> TextAnomaly? {
        let scalars = Array(text.unicodeScalars)
        let hasRightToLeft = scalars.contains {
            (0x590...0x8FF).contains($0.value) || (0xFB1D...0xFEFC).contains($0.value) && $0.value != 0xFEFF
        }
        var open = 0
        for (index, scalar) in scalars.enumerated() {
            // Between letters of other scripts, and within emoji, they are useful.
            let isBetweenASCII = !(index > 0 && index + 1 < scalars.count) || scalars[index - 1].isASCII || scalars[index + 1].isASCII
            let kind: String? =
                switch scalar.value {
                case 0x200B: isBetweenASCII ? "a zero-width space" : nil
                case 0x200C, 0x200D: isBetweenASCII ? "a zero-width joiner" : nil
                case 0x2060...0x2064, 0x180E, 0xFEFF: "a character without width"
                case 0xAD: "a soft hyphen"
                case 0x200E, 0x200F, 0x061C: hasRightToLeft ? nil : "a direction mark"
                case 0x202D, 0x202E: "a sign that reverses the text"
                case 0x00...0x08, 0x0B...0x1F, 0x7F...0x9F: "a control character"
                default: nil
                }
            switch scalar.value {
            case 0x202A, 0x202B, 0x2066...0x2068: open += 1
            case 0x202C, 0x2069: open -= 1
            default: break
            }
            guard let kind = kind ?? (open < 0 ? "a direction sign that ends nothing" : nil) else { continue }
            return unseen(kind, scalar)
        }
        return open > 0 ? unseen("a direction sign that is never ended", nil) : nil
    }

    private static func unseen(_ kind: String, _ scalar: Unicode.Scalar?) -> TextAnomaly {
        let code = scalar.map { " (\(TextFormat.codePoint($0)))" } ?? ""
        return TextAnomaly(
            name: .invisibleInText, words: "\(kind)\(code), which is invisible",
            remedy: "Type the text around it again; it often comes with text copied from a chat or a web page.")
    }

    private static func shown(_ text: Substring) -> String {
        let text = text.drop(while: \.isWhitespace)
        return text.count > 40 ? text.prefix(39) + "…" : String(text)
    }
}
