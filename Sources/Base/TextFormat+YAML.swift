extension TextFormat {
    /// A text as a scalar of YAML, in a block or between brackets: without quotes where it cannot be read as anything else, otherwise in
    /// the quotes that were there, or in double ones. Every message that puts the name of a column, a tag or a file into YAML uses it.
    /// - Parameter style: of the scalar that it replaces; nil for a new one.
    public static func yaml(_ text: String, like style: SourceText.Style? = nil) -> String {
        if style != .singleQuoted, style != .doubleQuoted, isPlainYAML(text) { return text }
        let isOneLine = text.unicodeScalars.allSatisfy {
            $0.value >= 0x20 && $0.value != 0x7F && !(0x80...0x9F).contains($0.value) && !isBreak($0)
        }
        if style == .singleQuoted, isOneLine { return "'" + text.replacing(scalar: "'", with: "''") + "'" }
        return "\"" + text.unicodeScalars.map(escapedInYAML).joined() + "\""
    }

    /// Words of letters, digits and the safest of marks, but for what readers of YAML 1.1 and 1.2 take for a truth value or nothing.
    private static func isPlainYAML(_ text: String) -> Bool {
        let values: Set = ["y", "n", "yes", "no", "on", "off", "true", "false", "null"]
        guard let first = text.unicodeScalars.first, let last = text.unicodeScalars.last, first.properties.isAlphabetic, last != " ",
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
    private static func isBreak(_ scalar: Unicode.Scalar) -> Bool { ["\u{85}", "\u{2028}", "\u{2029}", "\u{FEFF}"].contains(scalar) }
}
