import CSIMD

/// The number of bytes before the first NUL and the first byte that does not belong to well-formed UTF-8.
func cleanPrefix(_ bytes: UnsafeBufferPointer<UInt8>) -> Int {
    let raw = UnsafeRawBufferPointer(bytes)
    var place = 0
    while place < raw.count {
        let next = passPlainText(raw, from: place)
        guard next == place else {
            place = next
            continue
        }
        let length = raw[place] == 0 ? 0 : raw[place] < 0x80 ? 1 : wellFormedLength(raw, at: place)
        if length == 0 { return place }
        place += length
    }
    return place
}

/// The offset of the first byte that does not belong to well-formed UTF-8.
func firstInvalidUTF8(_ bytes: UnsafeBufferPointer<UInt8>) -> Int? {
    let raw = UnsafeRawBufferPointer(bytes)
    var place = 0
    while place < raw.count {
        let length = raw[place] < 0x80 ? 1 : wellFormedLength(raw, at: place)
        if length == 0 { return place }
        place += length
    }
    return nil
}

/// Exports are mostly ASCII with a few names between: 64 or 8 bytes are passed at once, which is several times faster than the standard
/// library's check on such text.
@inline(__always) private func passPlainText(_ raw: UnsafeRawBufferPointer, from start: Int) -> Int {
    guard let base = raw.baseAddress else { return start }
    var place = start
    while place + 64 <= raw.count, volley_is_unusual(base + place) == 0 { place += 64 }
    while place + 8 <= raw.count {
        let word = base.loadUnaligned(fromByteOffset: place, as: UInt64.self)
        // The second term has the high bit of every byte that is 0, and perhaps of some behind it.
        guard (word | (word &- 0x0101_0101_0101_0101)) & 0x8080_8080_8080_8080 == 0 else { break }
        place += 8
    }
    return place
}

/// The length of the multi-byte sequence at a place; 0 when it is not well-formed. Source: The Unicode Standard, table 3-7.
@inline(__always) private func wellFormedLength(_ bytes: UnsafeRawBufferPointer, at place: Int) -> Int {
    let lead = bytes[place]
    let length = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4
    guard (0xC2...0xF4).contains(lead), place + length <= bytes.count else { return 0 }
    let lowest: UInt8 = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80
    let highest: UInt8 = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF
    guard bytes[place + 1] >= lowest, bytes[place + 1] <= highest else { return 0 }
    for index in 2..<4 where index < length && bytes[place + index] & 0xC0 != 0x80 { return 0 }
    return length
}
