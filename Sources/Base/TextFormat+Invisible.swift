extension TextFormat {
    /// A text in which characters that a person cannot see are named, `<U+200B>`: a name that holds one looks like another name. Every
    /// `Diagnostic` goes through it.
    ///
    /// What belongs to visible text stays: the joiners and variation selectors of scripts and emoji, and the no-break spaces of French
    /// punctuation.
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
        // Signs in front of Arabic, Syriac and Kaithi numbers have a shape. Source: Unicode, Prepended_Concatenation_Mark.
        return ![0x600...0x605, 0x6DD...0x6DD, 0x70F...0x70F, 0x890...0x891, 0x8E2...0x8E2, 0x110BD...0x110BD, 0x110CD...0x110CD]
            .contains { $0.contains(scalar.value) }
    }

    private static func isPartOfText(_ scalar: Unicode.Scalar, after before: Unicode.Scalar?, before after: Unicode.Scalar?) -> Bool {
        switch scalar.value {
        // ZWNJ, ZWJ, variation selectors, tags of flags: after a letter or sign of a script that uses them.
        case 0x200C, 0x200D, 0xFE00...0xFE0F, 0xE0020...0xE007F, 0xE0100...0xE01EF: return before.map { $0.value > 0xFF } ?? false
        case 0xA0, 0x202F:
            return before == "«" || after.map { "»!?:;%€".unicodeScalars.contains($0) } ?? false
        default: return false
        }
    }
}
