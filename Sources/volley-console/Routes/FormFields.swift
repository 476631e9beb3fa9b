import Base

/// The fields of a form or a query (application/x-www-form-urlencoded; URL Standard, section 5.1).
enum FormFields {
    /// The most fields that are read: a box for each of five hundred tags, and the rest of a form.
    static let most = 1_000

    /// The fields of a text; of several with one name, the first counts. nil when there are too
    /// many.
    static func parse(_ text: some StringProtocol) -> [String: String]? {
        let pairs = text.utf8.split(separator: UInt8(ascii: "&"), maxSplits: most, omittingEmptySubsequences: true)
        guard pairs.count <= most else { return nil }
        return pairs.reduce(into: [:]) { fields, pair in
            let parts = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            let name = decode(parts[0], plusIsBlank: true)
            // Browsers end the lines of a text with CR LF (URL Standard, section 5.2); the CR is
            // not part of what was typed.
            if fields[name] == nil {
                fields[name] = parts.count > 1 ? Self.withoutCR(decode(parts[1], plusIsBlank: true)) : ""
            }
        }
    }

    private static func withoutCR(_ text: String) -> String {
        text.utf8.contains(0x0D) ? text.replacing("\r\n", with: "\n").replacing("\r", with: "\n") : text
    }

    /// Text whose bytes may be written as `%41`; anything else is taken as it is.
    static func decode(_ text: some Sequence<UInt8>, plusIsBlank: Bool) -> String {
        let text = Array(text)
        var bytes: [UInt8] = []
        var place = 0
        while place < text.count {
            let byte = text[place]
            if byte == UInt8(ascii: "%"), place + 2 < text.count, let high = digit(text[place + 1]),
                let low = digit(text[place + 2])
            {
                bytes.append(high << 4 | low)
                place += 3
                continue
            }
            bytes.append(plusIsBlank && byte == UInt8(ascii: "+") ? UInt8(ascii: " ") : byte)
            place += 1
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// A text as part of an address: everything but letters, digits and `-._~` as `%41` (RFC 3986,
    /// section 2.3).
    static func encode(_ text: String) -> String {
        text.utf8.reduce(into: "") { encoded, byte in
            let scalar = Unicode.Scalar(byte)
            let isPlain =
                byte < 0x80
                && (scalar.properties.isAlphabetic || (0x30...0x39).contains(byte)
                    || "-._~".unicodeScalars.contains(scalar))
            encoded += isPlain ? String(scalar) : "%" + TextFormat.hex(byte, digits: 2, uppercase: true)
        }
    }

    /// `?a=1&b=2`, without fields that are blank; blank without any.
    static func query(_ fields: [(String, String)]) -> String {
        let pairs = fields.filter { !$0.1.isEmpty }.map { "\(encode($0.0))=\(encode($0.1))" }
        return pairs.isEmpty ? "" : "?" + pairs.joined(separator: "&")
    }

    private static func digit(_ byte: UInt8) -> UInt8? { Character(Unicode.Scalar(byte)).hexDigitValue.map(UInt8.init) }
}
