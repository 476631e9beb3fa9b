import Base

/// A place in a text where a tag printed nothing, and what people would read around it.
///
/// A push is not sent if this leaves punctuation that belonged to the missing text: `Hi , welcome`,
/// `, welcome`, `Hi !`, `( )`, `Welcome back, `. This is so if a mark follows the gap, and a blank,
/// the beginning or an opening sign comes before it; and if the text ends with the gap, and a
/// comma, a colon or an opening sign comes before it. `Hi, welcome` and `Bonjour !` are fine: only
/// the tag and its own blank are gone.
enum Gap {
    /// Whether punctuation is left behind.
    /// - Parameters:
    ///   - text: as rendered, escaped for JSON.
    ///   - place: where the gap is in it.
    static func leavesPunctuation(in text: UnsafeBufferPointer<UInt8>, at place: Int) -> Bool {
        var before: Unicode.Scalar?
        var isApart = true
        var index = 0
        while index < place {
            let scalar = next(text, index: &index)
            if scalar.properties.isWhitespace {
                isApart = true
            } else if !Blank.isInvisible(scalar) {
                before = scalar
                isApart = false
            }
        }
        let opens = before.map(openers.contains) ?? false
        guard let after = visible(text, index: &index) else {
            return opens || isApart && (before.map { commas.contains($0) || $0 == ":" || $0 == "：" } ?? false)
        }
        let following = index < text.count ? next(text, index: &index) : nil
        // "''" around the missing text.
        if let before, before == after, before == "\"" || before == "'" { return true }
        if opens, closers.contains(after) { return true }
        guard isApart || opens || before.map(commas.contains) ?? false else { return false }
        switch after {
        // ":)" and ".NET" are not punctuation.
        case ".", ":", ";":
            return following.map { $0.properties.isWhitespace || [".", "!", "?", "…", "\"", "”"].contains($0) } ?? true
        // "'s cart"
        case "'", "’":
            return following == "s" && (index == text.count || !next(text, index: &index).properties.isAlphabetic)
        default: return marks.contains(after)
        }
    }

    /// The next character that people see.
    private static func visible(_ text: UnsafeBufferPointer<UInt8>, index: inout Int) -> Unicode.Scalar? {
        while index < text.count {
            let scalar = next(text, index: &index)
            if !Blank.isInvisible(scalar) { return scalar }
        }
        return nil
    }

    /// The character at `index`, which moves past it.
    private static func next(_ text: UnsafeBufferPointer<UInt8>, index: inout Int) -> Unicode.Scalar {
        guard text[index] == UInt8(ascii: "\\") else {
            var bytes = text[index...].makeIterator()
            var decoder = UTF8()
            guard case .scalarValue(let scalar) = decoder.decode(&bytes) else {
                index += 1
                return "\u{FFFD}"
            }
            index += UTF8.width(scalar)
            return scalar
        }
        let escaped = text[index + 1]
        index += escaped == UInt8(ascii: "u") ? 6 : 2
        switch escaped {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"): return Unicode.Scalar(escaped)
        case UInt8(ascii: "u"): return "\0"
        default: return "\n"
        }
    }

    private static let commas: Set<Unicode.Scalar> = [",", "،", "、", "，"]
    private static let openers: Set<Unicode.Scalar> = ["(", "[", "{", "¡", "¿", "“", "„", "«", "（", "「", "『", "【", "《"]
    private static let closers: Set<Unicode.Scalar> = [")", "]", "}", "!", "?", "“", "”", "»", "）", "」", "』", "】", "》"]
    private static let marks: Set<Unicode.Scalar> = [
        ",", "!", "?", "…", "،", "؛", "؟", "、", "。", "，", "！", "？", "；", "：", "．", ")", "]", "}", "）", "」", "』", "】",
        "》",
    ]
}
