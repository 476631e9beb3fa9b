/// Writes JSON as UTF-8 bytes, without going through String.
public enum JSONWriter {
    private static let hex = Array("0123456789abcdef".utf8)

    /// Appends `text` between quotes, escaped as RFC 8259 section 7 requires; everything beyond
    /// ASCII is unchanged.
    public static func appendString(_ text: String, to bytes: inout [UInt8]) {
        var text = text
        bytes.append(UInt8(ascii: "\""))
        text.withUTF8 { appendEscaped($0, to: &bytes) }
        bytes.append(UInt8(ascii: "\""))
    }

    /// Appends UTF-8 `text` escaped for the inside of a JSON string, without the quotes.
    public static func appendEscaped(_ text: UnsafeBufferPointer<UInt8>, to bytes: inout [UInt8]) {
        var clean = 0
        for index in text.indices {
            let byte = text[index]
            guard byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") else { continue }
            bytes.append(contentsOf: text[clean..<index])
            clean = index + 1
            bytes.append(UInt8(ascii: "\\"))
            switch byte {
            case UInt8(ascii: "\n"): bytes.append(UInt8(ascii: "n"))
            case UInt8(ascii: "\r"): bytes.append(UInt8(ascii: "r"))
            case UInt8(ascii: "\t"): bytes.append(UInt8(ascii: "t"))
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes.append(byte)
            default:
                bytes.append(contentsOf: [UInt8(ascii: "u"), 0x30, 0x30, hex[Int(byte >> 4)], hex[Int(byte & 15)]])
            }
        }
        bytes.append(contentsOf: text[clean...])
    }

    /// The control character of the four hex digits after `\u`; nil if `appendEscaped` would write
    /// the character or the digits differently.
    static func controlCharacter(ofEscape digits: Slice<UnsafeBufferPointer<UInt8>>) -> UInt8? {
        let digits = digits.prefix(4)
        guard digits.count == 4, digits.prefix(2).allSatisfy({ $0 == UInt8(ascii: "0") }),
            let high = hex.firstIndex(of: digits[digits.startIndex + 2]), high < 2,
            let low = hex.firstIndex(of: digits[digits.startIndex + 3])
        else { return nil }
        let character = UInt8(high << 4 | low)
        return [UInt8(ascii: "\n"), UInt8(ascii: "\r"), UInt8(ascii: "\t")].contains(character) ? nil : character
    }
}

extension JSONValue {
    /// Appends this value on one line, without white space.
    public func append(to bytes: inout [UInt8]) {
        switch self {
        case .null: bytes.append(contentsOf: "null".utf8)
        case .bool(let value): bytes.append(contentsOf: (value ? "true" : "false").utf8)
        case .integer(let value): bytes.append(contentsOf: String(value).utf8)
        case .double(let value): bytes.append(contentsOf: Self.text(of: value).utf8)
        case .string(let value): JSONWriter.appendString(value, to: &bytes)
        case .array(let values):
            bytes.append(UInt8(ascii: "["))
            for (index, value) in values.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                value.append(to: &bytes)
            }
            bytes.append(UInt8(ascii: "]"))
        case .object(let members):
            bytes.append(UInt8(ascii: "{"))
            for (index, member) in members.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                JSONWriter.appendString(member.name, to: &bytes)
                bytes.append(UInt8(ascii: ":"))
                member.value.append(to: &bytes)
            }
            bytes.append(UInt8(ascii: "}"))
        }
    }

    /// The value on one line, without white space.
    public var text: String {
        var bytes: [UInt8] = []
        append(to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The value on several lines, two spaces per level; empty arrays and objects stay on one line.
    public var indentedText: String {
        var text = ""
        appendIndented(to: &text, depth: 0)
        return text
    }

    private func appendIndented(to text: inout String, depth: Int) {
        let inner = String(repeating: "  ", count: depth + 1)
        switch self {
        case .array(let values) where !values.isEmpty:
            text += "["
            for (index, value) in values.enumerated() {
                text += (index == 0 ? "\n" : ",\n") + inner
                value.appendIndented(to: &text, depth: depth + 1)
            }
            text += "\n" + String(repeating: "  ", count: depth) + "]"
        case .object(let members) where !members.isEmpty:
            text += "{"
            for (index, member) in members.enumerated() {
                text += (index == 0 ? "\n" : ",\n") + inner + JSONValue.string(member.name).text + ": "
                member.value.appendIndented(to: &text, depth: depth + 1)
            }
            text += "\n" + String(repeating: "  ", count: depth) + "}"
        default: text += self.text
        }
    }

    /// JSON has no infinities: they become null, as in every browser. Whole numbers lose their
    /// `.0`.
    private static func text(of value: Double) -> String {
        guard value.isFinite else { return "null" }
        if value == value.rounded(), abs(value) < 1e15 { return String(Int64(value)) }
        return String(value)
    }
}

/// Names what is written where JSON (RFC 8259) needs a value or a name, and says what to write:
/// programs and people write `NaN`, `+1`, `True`, single quotes, comments.
public enum JSONTypo {
    /// What JSON needs at a place.
    public enum Need: Sendable {
        case value
        /// After a comma in an array.
        case furtherValue
        case name
        /// After a comma in an object.
        case furtherName
    }

    /// More bytes than these are not looked at.
    public static let mostBytes = 40

    /// Whether a byte may belong to the word or sign at a place.
    public static func continues(_ byte: UInt8) -> Bool { byte > 0x20 && !",:[]{}".utf8.contains(byte) }

    /// What is wrong, and what to write. A long word is not repeated, as it may be a device's
    /// token.
    /// - Parameter bytes: from the place on.
    public static func words(_ bytes: some Collection<UInt8>, for need: Need) -> String {
        let text = String(decoding: bytes.prefix(mostBytes), as: UTF8.self)
        if let words = sign(text, for: need) { return words }
        let word = String(decoding: bytes.prefix(mostBytes).prefix(while: continues), as: UTF8.self)
        switch need {
        case .value, .furtherValue: return value(word) ?? "expected a value"
        case .name, .furtherName: return name(word, isFurther: need == .furtherName) ?? "expected a name in quotes"
        }
    }

    private static func sign(_ text: String, for need: Need) -> String? {
        let scalars = text.unicodeScalars
        guard let first = scalars.first else { return nil }
        switch first {
        case "'", "`": return "texts stand in double quotes (\"), not in single ones"
        case "\u{2018}"..."\u{201F}", "\u{AB}", "\u{BB}":
            return "texts stand in straight quotes (\"), not in typographic ones"
        case "#": return "JSON has no comments: remove this one"
        case "/":
            return scalars.dropFirst().first.map { $0 == "/" || $0 == "*" } == true
                ? "JSON has no comments: remove this one" : nil
        case "]" where need == .furtherValue, "}" where need == .furtherName:
            return "there is a comma before the '\(first)': remove it"
        case ",", "]", "}": return need == .value || need == .furtherValue ? "a value is missing" : nil
        default: return nil
        }
    }

    private static func value(_ word: String) -> String? {
        let small = word.lowercased(),
            bare = small.hasPrefix("-") || small.hasPrefix("+") ? String(small.dropFirst()) : small
        func other(_ kind: String, write meant: String) -> String { "\(word) is not a \(kind) of JSON: write \(meant)" }
        if bare.hasPrefix("nan") || bare == "inf" || bare == "infinity" { return other("number", write: "null") }
        if ["null", "none", "nil", "undefined", "void"].contains(small) { return other("value", write: "null") }
        if small == "true" || small == "false" { return other("value", write: small) }
        if let meant = number(small) { return other("number", write: meant) }
        return isWord(word) ? "a text is not in quotes (\")" : nil
    }

    /// The number that is meant, as JSON writes it.
    private static func number(_ word: String) -> String? {
        let isNegative = word.hasPrefix("-")
        var digits = isNegative || word.hasPrefix("+") ? String(word.dropFirst()) : word
        guard digits.utf8.count < 16 else { return nil }
        if digits.hasPrefix("0x") {
            return Int64(digits.dropFirst(2), radix: 16).map { (isNegative ? "-" : "") + String($0) }
        }
        guard digits.utf8.contains(where: isDigit), digits.utf8.allSatisfy({ isDigit($0) || "e.+-_".utf8.contains($0) })
        else { return nil }
        let isPadded = digits.hasPrefix("0") && digits.utf8.count > 1 && digits.utf8.allSatisfy(isDigit)
        digits = String(String.UnicodeScalarView(digits.unicodeScalars.filter { $0 != "_" }))
        while digits.hasPrefix("0"), digits.utf8.dropFirst().first.map(isDigit) == true { digits.removeFirst() }
        if digits.hasPrefix(".") { digits = "0" + digits }
        if digits.hasSuffix(".") { digits.removeLast() }
        let meant = (isNegative ? "-" : "") + digits.replacing(".e", with: "e")
        guard meant.wholeMatch(of: /-?[0-9]+(\.[0-9]+)?(e[-+]?[0-9]+)?/) != nil else { return nil }
        return isPadded ? "\(meant), or \"\(word)\" if the zeros belong to it" : meant
    }

    private static func name(_ word: String, isFurther: Bool) -> String? {
        if isFurther, let first = word.utf8.first, isDigit(first) {
            return "expected a name in quotes: a decimal number has a point, not a comma"
        }
        return isWord(word) ? "a name is not in quotes (\")" : nil
    }

    private static func isWord(_ word: String) -> Bool {
        word.unicodeScalars.first.map { $0.properties.isAlphabetic || $0 == "_" || $0 == "$" } ?? false
    }

    private static func isDigit(_ byte: UInt8) -> Bool { byte &- 0x30 <= 9 }
}
