/// Writes JSON as UTF-8 bytes, without going through String.
public enum JSONWriter {
    private static let hex = Array("0123456789abcdef".utf8)

    /// Appends `text` between quotes, escaped as RFC 8259 section 7 requires; everything beyond ASCII is unchanged.
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
            default: bytes.append(contentsOf: [UInt8(ascii: "u"), 0x30, 0x30, hex[Int(byte >> 4)], hex[Int(byte & 15)]])
            }
        }
        bytes.append(contentsOf: text[clean...])
    }

    /// The control character of the four hex digits after `\u`; nil if `appendEscaped` would write the character or the digits differently.
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

    /// JSON has no infinities: they become null, as in every browser. Whole numbers lose their `.0`.
    private static func text(of value: Double) -> String {
        guard value.isFinite else { return "null" }
        if value == value.rounded(), abs(value) < 1e15 { return String(Int64(value)) }
        return String(value)
    }
}
