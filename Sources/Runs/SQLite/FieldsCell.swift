import Base

/// The cells that templates need, as one JSON array of strings in `recipient.fields`.
enum FieldsCell {
    static func encode(_ fields: [String], buffer: inout [UInt8]) -> String {
        guard !fields.isEmpty else { return "[]" }
        buffer.removeAll(keepingCapacity: true)
        for field in fields {
            buffer.append(buffer.isEmpty ? UInt8(ascii: "[") : UInt8(ascii: ","))
            JSONWriter.appendString(field, to: &buffer)
        }
        buffer.append(UInt8(ascii: "]"))
        return String(decoding: buffer, as: UTF8.self)
    }

    /// nil when the text is not a JSON array of strings.
    static func decode(_ text: String) -> [String]? {
        if text == "[]" { return [] }
        // Escapes are rare; without them the cells are simply the text between the quotes.
        return decodePlain(text) ?? decodeAny(text)
    }

    private static func decodePlain(_ text: String) -> [String]? {
        var text = text
        return text.withUTF8 { bytes -> [String]? in
            guard bytes.first == UInt8(ascii: "[") else { return nil }
            var fields: [String] = []
            var index = 1
            while true {
                guard index < bytes.count, bytes[index] == UInt8(ascii: "\"") else { return nil }
                var end = index + 1
                while end < bytes.count, bytes[end] != UInt8(ascii: "\"") {
                    if bytes[end] == UInt8(ascii: "\\") { return nil }
                    end += 1
                }
                guard end + 1 < bytes.count else { return nil }
                fields.append(String(decoding: bytes[(index + 1)..<end], as: UTF8.self))
                if bytes[end + 1] == UInt8(ascii: "]") { return end + 2 == bytes.count ? fields : nil }
                guard bytes[end + 1] == UInt8(ascii: ",") else { return nil }
                index = end + 2
            }
        }
    }

    private static func decodeAny(_ text: String) -> [String]? {
        guard case .array(let values)? = try? JSONValue(parsing: text) else { return nil }
        let fields = values.compactMap(\.stringValue)
        return fields.count == values.count ? fields : nil
    }
}
