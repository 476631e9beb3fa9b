/// What is wrong with the first or last line of a key or certificate in PEM (RFC 7468) that a
/// person would take for a right one.
public enum PEMArmour {
    /// The mistake, without anything of the key; nil if there is no such line, or if every such
    /// line is in order.
    public static func flaw(in text: String) -> Mistake? {
        for line in text.unicodeScalars.split(whereSeparator: { $0 == "\n" || $0 == "\r" }) {
            let line = Substring(line)
            guard let word = ["BEGIN", "END"].first(where: { line.contains("\($0) ") }),
                ["PRIVATE KEY", "PUBLIC KEY", "CERTIFICATE"].contains(where: line.contains),
                let start = line.firstRange(of: word)?.lowerBound
            else { continue }
            let name = word == "BEGIN" ? "first" : "last"
            // Behind the label there may be the whole key, if the lines lost their ends.
            let label = line[start...].prefix { $0 == " " || $0.isASCII && $0.isUppercase }
            let (before, after) = (line[..<start], line[label.endIndex...].prefix(6))
            let shown = "-----\(label.trimmed)-----"
            for scalar in before.unicodeScalars + after.unicodeScalars {
                if isQuote(scalar) {
                    return Mistake(
                        "the \(name) line of the key has quotes around it",
                        remedy: "Remove the quotes: the line is \(shown).")
                }
                if scalar != "-", scalar.properties.generalCategory == .dashPunctuation || scalar == "\u{2212}" {
                    return Mistake(
                        "the \(name) line of the key has dashes that are not hyphens (\(TextFormat.codePoint(scalar))), as word processors write them",
                        remedy: "Write \(shown), with five hyphens on either side.")
                }
                if scalar.value > 0x7F, scalar != "\u{FEFF}", Blank.isInvisible(scalar) {
                    return Mistake(
                        "the \(name) line of the key holds an invisible character (\(TextFormat.codePoint(scalar)))",
                        remedy: "Type the line again: \(shown).")
                }
            }
            let hyphens = before.count { $0 == "-" }
            if hyphens != 5, before.allSatisfy({ $0 == "-" || $0 == " " || $0 == "\t" || $0 == "\u{FEFF}" }) {
                return Mistake(
                    "the \(name) line of the key begins with \(TextFormat.counted(hyphens, one: "hyphen", many: "hyphens")) instead of five",
                    remedy: "Write \(shown).")
            }
        }
        return nil
    }

    private static func isQuote(_ scalar: Unicode.Scalar) -> Bool {
        let category = scalar.properties.generalCategory
        return "\"'`\u{B4}\u{FF02}".unicodeScalars.contains(scalar) || category == .initialPunctuation
            || category == .finalPunctuation
            || scalar == "\u{201E}" || scalar == "\u{201A}"
    }
}

extension Substring {
    fileprivate var trimmed: Substring {
        var text = self
        while text.last == " " { text.removeLast() }
        return text
    }
}
