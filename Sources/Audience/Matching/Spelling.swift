import Base

/// How texts are alike that people take for one: in capitals, blanks, hyphens, apostrophes, forms of letters, characters that nobody sees.
enum Spelling {
    /// What is left of a text without what people overlook. Texts of one meaning may differ by more, and none is taken for another by this alone.
    static func folded(_ text: String) -> String {
        var scalars = Array(String(String.UnicodeScalarView(text.unicodeScalars.map(halfWidth))).lowercased().unicodeScalars)
        while scalars.last == "." { scalars.removeLast() }
        var kept = String.UnicodeScalarView()
        for (place, scalar) in scalars.enumerated() {
            // The dot above a Turkish i, which lower-casing leaves behind.
            if scalar.value == 0x307, place > 0, scalars[place - 1] == "i" { continue }
            if scalar == "ı" {
                kept.append("i")
                continue
            }
            if isJoint(scalar) {
                // 1-2 is not 12.
                let isBetweenDigits = place > 0 && place + 1 < scalars.count && isDigit(scalars[place - 1]) && isDigit(scalars[place + 1])
                if isBetweenDigits { kept.append("-") }
                continue
            }
            if scalar.properties.generalCategory != .format { kept.append(isApostrophe(scalar) ? "'" : scalar) }
        }
        return String(kept)
    }

    /// In what a text differs from a name that it is but for what people overlook, for a message.
    static func difference(of text: String, from name: String) -> String {
        if let invisible = text.unicodeScalars.first(where: { isOddBlank($0) }) {
            return "but for a character that nobody sees (\(code(invisible)))"
        }
        func plain(_ text: String) -> String {
            var kept = String.UnicodeScalarView()
            for scalar in text.lowercased().unicodeScalars where !scalar.properties.isWhitespace { kept.append(scalar) }
            return String(kept)
        }
        func withoutApostrophes(_ text: String) -> String {
            String(String.UnicodeScalarView(text.unicodeScalars.filter { !isApostrophe($0) }))
        }
        if text != name, withoutApostrophes(text) == withoutApostrophes(name) { return "but for the form of its apostrophe" }
        if text == name { return "but for the form of its letters (Unicode's NFC and NFD)" }
        return plain(text) == plain(name)
            ? "but for capitals or blanks" : "but for capitals, blanks, hyphens, apostrophes or the form of its letters"
    }

    /// Whether a text holds a character that cannot be seen, and that nobody means to write.
    static func hasInvisible(_ text: String) -> Bool { text.unicodeScalars.contains(where: isOddBlank) }

    /// Zero-width characters, marks of direction, and blanks that a keyboard does not write.
    private static func isOddBlank(_ scalar: Unicode.Scalar) -> Bool {
        scalar.value > 0x7F && scalar != "\u{3000}" && Blank.isInvisible(scalar)
    }

    /// `U+00A0`
    static func code(_ scalar: Unicode.Scalar) -> String { TextFormat.codePoint(scalar) }

    /// Blanks, hyphens and dashes, underscores.
    private static func isJoint(_ scalar: Unicode.Scalar) -> Bool {
        scalar == "_" || scalar.properties.isWhitespace || scalar.properties.generalCategory == .dashPunctuation
    }

    /// The straight one, the curly ones that word processors write, and what stands for them.
    private static func isApostrophe(_ scalar: Unicode.Scalar) -> Bool { "'\u{2019}\u{2018}\u{2BC}\u{B4}`".unicodeScalars.contains(scalar) }

    private static func isDigit(_ scalar: Unicode.Scalar) -> Bool { scalar.value &- 0x30 <= 9 }

    /// Of the full-width forms of ASCII the usual ones.
    private static func halfWidth(_ scalar: Unicode.Scalar) -> Unicode.Scalar {
        (0xFF01...0xFF5E).contains(scalar.value) ? Unicode.Scalar(scalar.value - 0xFEE0) ?? scalar : scalar
    }
}
