import Base

/// The fields of a form or a query (application/x-www-form-urlencoded; URL Standard, section 5.1).
enum FormFields {
    /// The most fields that are read: a box for each of five hundred tags, and the rest of a form.
    static let most = 1_000
    /// The same of a campaign's form: a file has at most ten thousand values.
    static let mostOfCampaign = 20_000

    /// The fields of a text; of several with one name, the first counts. nil when there are too
    /// many.
    static func parse(_ text: some StringProtocol, most: Int = Self.most) -> [String: String]? {
        let pairs = text.utf8.split(separator: UInt8(ascii: "&"), maxSplits: most, omittingEmptySubsequences: true)
        guard pairs.count <= most else { return nil }
        return pairs.reduce(into: [:]) { fields, pair in
            let parts = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            let name = decode(parts[0], plusIsBlank: true)
            if fields[name] == nil {
                fields[name] = parts.count > 1 ? decode(parts[1], plusIsBlank: true, endsLinesWithLF: true) : ""
            }
        }
    }

    /// Text whose bytes may be written as `%41`; anything else is taken as it is.
    /// - Parameter endsLinesWithLF: browsers end the lines of a text with CR LF (URL Standard,
    ///   section 5.2); the CR is not part of what was typed.
    static func decode(_ text: some Sequence<UInt8>, plusIsBlank: Bool, endsLinesWithLF: Bool = false) -> String {
        let text = Array(text)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count)
        var place = 0, isAfterCR = false
        while place < text.count {
            var byte = text[place]
            place += 1
            if byte == UInt8(ascii: "%"), place + 1 < text.count, let high = digit(text[place]),
                let low = digit(text[place + 1])
            {
                byte = high << 4 | low
                place += 2
            } else if plusIsBlank, byte == UInt8(ascii: "+") {
                byte = UInt8(ascii: " ")
            }
            if endsLinesWithLF, byte == 0x0D || byte == 0x0A {
                if byte == 0x0D || !isAfterCR { bytes.append(0x0A) }
                isAfterCR = byte == 0x0D
            } else {
                bytes.append(byte)
                isAfterCR = false
            }
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

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
