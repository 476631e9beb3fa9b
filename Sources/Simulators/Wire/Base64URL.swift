import Base

/// Decodes base64url without padding (RFC 7515 section 2); nil if the text is anything else.
func decodeBase64URL(_ text: ArraySlice<UInt8>) -> [UInt8]? {
    guard text.count % 4 != 1 else { return nil }
    var result: [UInt8] = []
    result.reserveCapacity(text.count * 3 / 4)
    var bits: UInt32 = 0
    var count = 0
    for byte in text {
        let digit: UInt8
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): digit = byte - UInt8(ascii: "A")
        case UInt8(ascii: "a")...UInt8(ascii: "z"): digit = byte - UInt8(ascii: "a") + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = byte - UInt8(ascii: "0") + 52
        case UInt8(ascii: "-"): digit = 62
        case UInt8(ascii: "_"): digit = 63
        default: return nil
        }
        bits = bits << 6 | UInt32(digit)
        count += 6
        if count >= 8 {
            count -= 8
            result.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
        }
    }
    return result
}

/// A part of a JSON Web Token: RFC 7519 section 3; nil if it is not JSON in base64url.
func decodeTokenPart(_ part: ArraySlice<UInt8>) -> JSONValue? {
    decodeBase64URL(part).flatMap { try? JSONValue(parsing: $0) }
}

extension JSONValue {
    /// The whole seconds of a date in a JSON Web Token, which may have fractions (NumericDate, RFC
    /// 7519 section 2); nil for anything else.
    var tokenSeconds: Int64? {
        switch self {
        case .integer(let seconds): seconds
        case .double(let seconds): Int64(exactly: seconds.rounded(.down))
        default: nil
        }
    }
}
