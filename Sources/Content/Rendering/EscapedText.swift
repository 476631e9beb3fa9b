/// Appends the text of a cell that `JSONWriter` escaped.
func appendUnescaped(_ cell: UnsafeBufferPointer<UInt8>, to bytes: inout [UInt8]) {
    let backslash = UInt8(ascii: "\\")
    var clean = 0
    while let place = cell[clean...].firstIndex(of: backslash) {
        bytes.append(contentsOf: UnsafeBufferPointer(rebasing: cell[clean..<place]))
        let escaped = cell[place + 1]
        clean = place + 2
        switch escaped {
        case UInt8(ascii: "n"): bytes.append(0x0A)
        case UInt8(ascii: "r"): bytes.append(0x0D)
        case UInt8(ascii: "t"): bytes.append(0x09)
        case UInt8(ascii: "u"):
            bytes.append(hexDigit(cell[place + 4]) << 4 | hexDigit(cell[place + 5]))
            clean = place + 6
        default: bytes.append(escaped)
        }
    }
    bytes.append(contentsOf: UnsafeBufferPointer(rebasing: cell[clean...]))
}

private func hexDigit(_ byte: UInt8) -> UInt8 {
    byte <= UInt8(ascii: "9") ? byte - UInt8(ascii: "0") : byte - UInt8(ascii: "a") + 10
}

/// Escapes the bytes from `start` on, as `JSONWriter` does.
func escapeInPlace(_ bytes: inout [UInt8], from start: Int) {
    var growth = 0
    for index in start..<bytes.count { growth += escapedLength(bytes[index]) - 1 }
    guard growth > 0 else { return }
    // From the end, so that nothing is overwritten before it is read.
    var source = bytes.count
    bytes.append(contentsOf: repeatElement(0, count: growth))
    var target = bytes.count
    let hex = UInt8(ascii: "0")
    while source > start {
        source -= 1
        let byte = bytes[source]
        let length = escapedLength(byte)
        target -= length
        switch length {
        case 1: bytes[target] = byte
        case 2:
            bytes[target] = UInt8(ascii: "\\")
            bytes[target + 1] =
                switch byte {
                case 0x0A: UInt8(ascii: "n")
                case 0x0D: UInt8(ascii: "r")
                case 0x09: UInt8(ascii: "t")
                default: byte
                }
        default:
            bytes[target] = UInt8(ascii: "\\")
            bytes[target + 1] = UInt8(ascii: "u")
            (bytes[target + 2], bytes[target + 3], bytes[target + 4]) = (hex, hex, hex + (byte >> 4))
            bytes[target + 5] = byte & 15 < 10 ? hex + (byte & 15) : UInt8(ascii: "a") + (byte & 15) - 10
        }
    }
}

@inline(__always) private func escapedLength(_ byte: UInt8) -> Int {
    if byte >= 0x20 { return byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") ? 2 : 1 }
    return byte == 0x0A || byte == 0x0D || byte == 0x09 ? 2 : 6
}
