import Base

/// Encodes in base64url without padding (RFC 4648 section 5), as JWS requires.
func base64URL(_ bytes: [UInt8]) -> String { encode(bytes, digits: letters + Array("-_".utf8), isPadded: false) }

/// Encodes in base64 (RFC 4648 section 4), as HTTP's Basic authentication requires.
func base64(_ bytes: [UInt8]) -> String { encode(bytes, digits: letters + Array("+/".utf8), isPadded: true) }

private let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789".utf8)

private func encode(_ bytes: [UInt8], digits: [UInt8], isPadded: Bool) -> String {
    var text: [UInt8] = []
    text.reserveCapacity((bytes.count + 2) / 3 * 4)
    var index = 0
    while index < bytes.count {
        let left = bytes.count - index
        let word =
            UInt32(bytes[index]) << 16 | (left > 1 ? UInt32(bytes[index + 1]) << 8 : 0)
            | (left > 2 ? UInt32(bytes[index + 2]) : 0)
        for digit in 0..<4 {
            if digit <= left {
                text.append(digits[Int(word >> (18 - 6 * UInt32(digit)) & 63)])
            } else if isPadded {
                text.append(UInt8(ascii: "="))
            }
        }
        index += 3
    }
    return String(decoding: text, as: UTF8.self)
}

/// A signed token in compact form (RFC 7515, section 3.1): header, claims and signature in
/// base64url, joined by dots.
/// - Parameter sign: signs the first two parts.
func jsonWebToken(header: JSONValue, claims: JSONValue, sign: ([UInt8]) -> [UInt8]) -> String {
    let signed = "\(base64URL(Array(header.text.utf8))).\(base64URL(Array(claims.text.utf8)))"
    return "\(signed).\(base64URL(sign(Array(signed.utf8))))"
}
