/// The width of text where letters are set in columns, as on a terminal: Chinese, Japanese and
/// Korean characters and emoji take two.
/// Source: Unicode Standard Annex 11, East Asian Width (wide and full-width ranges, coarsely).
///
/// ```swift
/// let cell = TextWidth.padded("春节", to: 10)  // two characters, four columns, and six spaces
/// ```
public enum TextWidth {
    /// The columns that a text takes.
    public static func columns(_ text: some StringProtocol) -> Int { text.reduce(0) { $0 + columns($1) } }

    /// 0, 1 or 2.
    public static func columns(_ character: Character) -> Int {
        var widest = 0
        for scalar in character.unicodeScalars {
            // An emoji selector turns the character before it into an emoji.
            if scalar.value == 0xFE0F { return 2 }
            widest = max(widest, columns(scalar))
        }
        return widest
    }

    private static func columns(_ scalar: Unicode.Scalar) -> Int {
        if (0x20..<0x7F).contains(scalar.value) { return 1 }
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format, .control: return 0
        default: break
        }
        switch scalar.value {
        case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F,
            0xFF00...0xFF60,
            0xFFE0...0xFFE6, 0x1F300...0x1F64F, 0x1F680...0x1F6FF, 0x1F900...0x1FAFF, 0x20000...0x3FFFD:
            return 2
        default: return scalar.properties.isEmojiPresentation ? 2 : 1
        }
    }

    /// Text padded with spaces on the right.
    public static func padded(_ text: String, to width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - columns(text)))
    }

    /// Breaks text into lines of at most this many columns: between words, and within words that
    /// are longer than a line or written without spaces. A device token is shortened: in parts it
    /// would not be found any more.
    /// - Parameter width: at least 2.
    public static func wrapped(_ text: String, to width: Int) -> [String] {
        SecretText.withoutTokens(text).split(omittingEmptySubsequences: false) { $0.isNewline }.flatMap {
            wrappedLine($0, to: width)
        }
    }

    private static func wrappedLine(_ text: Substring, to width: Int) -> [String] {
        var lines: [String] = []
        var line = ""
        var used = 0
        for word in text.split(separator: " ", omittingEmptySubsequences: false) {
            let needed = columns(word)
            if !line.isEmpty, used + 1 + needed <= width {
                line += " " + word
                used += 1 + needed
                continue
            }
            if !line.isEmpty, needed <= width || columns(word.prefix(1)) < 2 {
                lines.append(line)
                (line, used) = ("", 0)
            } else if !line.isEmpty {
                // Scripts without spaces continue on the same line.
                line += " "
                used += 1
            }
            for character in word {
                let columns = columns(character)
                if used + columns > width, used > 0 {
                    lines.append(line)
                    (line, used) = ("", 0)
                }
                line.append(character)
                used += columns
            }
        }
        return lines + [line]
    }
}
