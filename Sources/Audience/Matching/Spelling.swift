import Base

/// Compares texts that look the same to people: they may differ in capitals, blanks, hyphens, apostrophes, forms of letters, invisible
/// characters.
enum Spelling {
    /// A text without the details that people overlook. Texts with the same meaning may differ by more, and this alone never equates two texts.
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

    /// For a message: how a text differs from a name that it equals apart from details that people overlook.
    static func difference(of text: String, from name: String) -> String {
        if let invisible = text.unicodeScalars.first(where: { isOddBlank($0) }) {
            return "apart from an invisible character (\(code(invisible)))"
        }
        func plain(_ text: String) -> String {
            var kept = String.UnicodeScalarView()
            for scalar in text.lowercased().unicodeScalars where !scalar.properties.isWhitespace { kept.append(scalar) }
            return String(kept)
        }
        func withoutApostrophes(_ text: String) -> String {
            String(String.UnicodeScalarView(text.unicodeScalars.filter { !isApostrophe($0) }))
        }
        if text != name, withoutApostrophes(text) == withoutApostrophes(name) { return "apart from the form of its apostrophe" }
        if text == name { return "apart from the form of its letters (Unicode's NFC and NFD)" }
        return plain(text) == plain(name)
            ? "apart from capitals or blanks" : "apart from capitals, blanks, hyphens, apostrophes or the form of its letters"
    }

    /// How a name that a person takes for another one differs from it, for a message: `an invisible character (U+200B) at position 1`. nil for
    /// the same name, and for one that looks different.
    static func disguise(of name: String, as wanted: String) -> String? {
        guard name != wanted else { return nil }
        var plain = String.UnicodeScalarView()
        var found: String?
        for (place, scalar) in name.unicodeScalars.enumerated() {
            if isOddBlank(scalar) || scalar.value > 0x7F && scalar.properties.isDefaultIgnorableCodePoint {
                found = found ?? "an invisible character (\(code(scalar))) at position \(place + 1)"
                continue
            }
            let meant = doubles[scalar] ?? halfWidth(scalar)
            if meant != scalar { found = found ?? "\(code(scalar)), which looks like '\(meant)', at position \(place + 1)" }
            plain.append(meant)
        }
        return String(plain) == wanted ? found : nil
    }

    /// Letters of other scripts that look like Latin ones, small letters as far as they differ, capitals. Source: Unicode, UTS 39, confusables.
    private static let doubles: [Unicode.Scalar: Unicode.Scalar] = {
        let pairs =
            "аaеeоoрpсcуyхxіiјjѕsһhԁdԛqԝwӏlАAВBЕEКKМMНHОOРPСCТTХXУYІIЈJЅS" + "οoνvρpιiαaΑAΒBΕEΖZΗHΙIΚKΜMΝNΟOΡPΤTΥYΧX" + "ıiɑaɡg"
        let scalars = Array(pairs.unicodeScalars)
        return Dictionary(
            stride(from: 0, to: scalars.count - 1, by: 2).map { (scalars[$0], scalars[$0 + 1]) }, uniquingKeysWith: { first, _ in first })
    }()

    /// Whether a text holds an invisible character, which no one writes on purpose.
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

    /// The straight one, the curly ones that word processors write, and their substitutes.
    private static func isApostrophe(_ scalar: Unicode.Scalar) -> Bool { "'\u{2019}\u{2018}\u{2BC}\u{B4}`".unicodeScalars.contains(scalar) }

    private static func isDigit(_ scalar: Unicode.Scalar) -> Bool { scalar.value &- 0x30 <= 9 }

    /// The usual form of full-width ASCII characters.
    private static func halfWidth(_ scalar: Unicode.Scalar) -> Unicode.Scalar {
        (0xFF01...0xFF5E).contains(scalar.value) ? Unicode.Scalar(scalar.value - 0xFEE0) ?? scalar : scalar
    }
}
