import CSIMD

/// The first quote, backslash or control character from a place on. A line feed follows every buffer and stops the search.
@inline(__always) func endOfPlainJSON(_ start: UnsafePointer<UInt8>) -> UnsafePointer<UInt8> {
    var place = start
    while true {
        let found = volley_json_text_end(place)
        if found != 0 { return place + found.trailingZeroBitCount }
        place += 16
    }
}

/// Resolves the escapes inside a JSON string that is known to be well-formed; `target` may be at or before `source`.
/// - Returns: the number of bytes written, never more than `count`.
func unescapeJSON(_ source: UnsafePointer<UInt8>, count: Int, into target: UnsafeMutablePointer<UInt8>) -> Int {
    var (from, to) = (0, 0)
    while from < count {
        let byte = source[from]
        from += 1
        guard byte == UInt8(ascii: "\\") else {
            target[to] = byte
            to += 1
            continue
        }
        let escape = source[from]
        from += 1
        if escape == UInt8(ascii: "u") {
            var code = hexQuad(source + from)
            from += 4
            if code & 0xFC00 == 0xD800 {
                code = 0x10000 + (code & 0x3FF) << 10 + (hexQuad(source + from + 2) & 0x3FF)
                from += 6
            }
            to += writeUTF8(code, to: target + to)
        } else {
            target[to] = unescaped(escape)
            to += 1
        }
    }
    return to
}

private func unescaped(_ letter: UInt8) -> UInt8 {
    switch letter {
    case UInt8(ascii: "b"): 8
    case UInt8(ascii: "f"): 12
    case UInt8(ascii: "n"): 10
    case UInt8(ascii: "r"): 13
    case UInt8(ascii: "t"): 9
    default: letter
    }
}

/// The value of four hex digits.
func hexQuad(_ digits: UnsafePointer<UInt8>) -> UInt32 {
    var value: UInt32 = 0
    for index in 0..<4 {
        let digit = digits[index]
        value = value << 4 | UInt32(digit & 15) + (digit >= UInt8(ascii: "A") ? 9 : 0)
    }
    return value
}

private func writeUTF8(_ code: UInt32, to target: UnsafeMutablePointer<UInt8>) -> Int {
    func byte(_ lead: UInt32, shift: UInt32) -> UInt8 { UInt8(truncatingIfNeeded: lead | (code >> shift) & (lead == 0x80 ? 0x3F : 0xFF)) }
    switch code {
    case ..<0x80:
        target[0] = UInt8(code)
        return 1
    case ..<0x800:
        (target[0], target[1]) = (byte(0xC0, shift: 6), byte(0x80, shift: 0))
        return 2
    case ..<0x10000:
        (target[0], target[1], target[2]) = (byte(0xE0, shift: 12), byte(0x80, shift: 6), byte(0x80, shift: 0))
        return 3
    default:
        (target[0], target[1], target[2], target[3]) = (
            byte(0xF0, shift: 18), byte(0x80, shift: 12), byte(0x80, shift: 6), byte(0x80, shift: 0)
        )
        return 4
    }
}
