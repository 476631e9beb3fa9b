/// Addresses that contain cells. Characters that a URL allows are unchanged, so that a whole
/// address in a cell stays the same; others (spaces, letters beyond ASCII, quotes, …) are
/// percent-encoded, because iOS cannot make a URL from a text that contains them. Source: RFC 3986,
/// 2.1 to 2.4.
enum WebAddress {
    /// Whether there is nothing to encode.
    static func isClean(_ text: String) -> Bool { text.utf8.allSatisfy(isAllowed) }

    /// Encodes an address that is in `bytes`, escaped for JSON, from `start` to the end. Removes
    /// white space around it.
    static func encode(_ bytes: inout [UInt8], from start: Int) {
        guard !bytes[start...].allSatisfy(isAllowed) else { return }
        let escaped = Array(bytes[start...])
        var plain: [UInt8] = []
        escaped.withUnsafeBufferPointer { appendUnescaped($0, to: &plain) }
        bytes.removeSubrange(start...)
        let text = Array(plain.drop { $0 <= 0x20 }.reversed().drop { $0 <= 0x20 }.reversed())
        for (place, byte) in text.enumerated() {
            if isAllowed(byte) || byte == percent && isEncoded(text[place...]) {
                bytes.append(byte)
            } else {
                bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
    }

    /// Whether an address that `encode` has processed begins with `https://`, in any case.
    static func isSecure(_ bytes: [UInt8], from start: Int) -> Bool {
        let scheme = "https://".utf8
        return bytes.count - start > scheme.count && zip(bytes[start...], scheme).allSatisfy { $0 | 0x20 == $1 | 0x20 }
    }

    /// Adds parameters to an address of a web page (http or https) that `encode` has processed,
    /// from `start` to the end: in front of its fragment, and without those that it has already.
    /// - Parameter parameters: `name=value`, joined by `&`.
    static func add(_ parameters: ArraySlice<UInt8>, to bytes: inout [UInt8], from start: Int) {
        let web = "http://".utf8
        let isWeb = bytes.count - start > web.count && zip(bytes[start...], web).allSatisfy { $0 | 0x20 == $1 | 0x20 }
        guard isWeb || isSecure(bytes, from: start) else { return }
        let fragment = Array(bytes[(bytes[start...].firstIndex(of: UInt8(ascii: "#")) ?? bytes.count)...])
        bytes.removeLast(fragment.count)
        for parameter in parameters.split(separator: UInt8(ascii: "&")) {
            let query = bytes[start...].firstIndex(of: UInt8(ascii: "?"))
            let present = query.map { bytes[$0...].dropFirst().split(separator: UInt8(ascii: "&")) } ?? []
            let name = parameter.prefix { $0 != UInt8(ascii: "=") }
            if present.contains(where: { $0.prefix { $0 != UInt8(ascii: "=") } == name }) { continue }
            let isOpen = bytes.last == UInt8(ascii: "?") || bytes.last == UInt8(ascii: "&")
            if query == nil || !isOpen { bytes.append(UInt8(ascii: query == nil ? "?" : "&")) }
            bytes += parameter
        }
        bytes += fragment
    }

    private static let percent = UInt8(ascii: "%")

    /// Whether two hex digits follow the percent sign.
    private static func isEncoded(_ text: ArraySlice<UInt8>) -> Bool {
        text.count > 2 && text.dropFirst().prefix(2).allSatisfy { Character(Unicode.Scalar($0)).isHexDigit }
    }

    private static let digits = Array("0123456789ABCDEF".utf8)

    /// Reserved and unreserved characters. A percent sign depends on what follows it.
    private static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        // All visible ASCII, without " % < > \ ^ ` { | }
        case 0x21, 0x23, 0x24, 0x26...0x3B, 0x3D, 0x3F...0x5B, 0x5D, 0x5F, 0x61...0x7A, 0x7E: true
        default: false
        }
    }
}
