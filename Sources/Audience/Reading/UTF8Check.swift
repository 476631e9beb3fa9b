import CSIMD
import Glibc

/// The number of bytes before the first NUL and the first byte that does not belong to well-formed
/// UTF-8.
///
/// Exports are mostly ASCII with a few other names: of 64 bytes at once, only those that are not
/// ASCII are examined, which is several times faster than the standard library's check on such
/// text.
func cleanPrefix(_ bytes: UnsafeBufferPointer<UInt8>) -> Int {
    let raw = UnsafeRawBufferPointer(bytes)
    guard let base = raw.baseAddress else { return 0 }
    // Everything before this place is clean; it may be within the block, or after it because of a
    // sequence that straddles its end.
    var (block, place) = (0, 0)
    while block + 64 <= raw.count {
        var unusual = volley_unusual(base + block)
        if place > block { unusual &= ~0 &<< UInt64(truncatingIfNeeded: place - block) }
        while unusual != 0 {
            place = block + unusual.trailingZeroBitCount
            let length = raw[place] == 0 ? 0 : wellFormedLength(raw, at: place)
            if length == 0 { return place }
            place += length
            if place >= block + 64 { break }
            unusual &= ~0 &<< UInt64(truncatingIfNeeded: place - block)
        }
        block += 64
    }
    place = max(place, block)
    while place < raw.count {
        let length = raw[place] == 0 ? 0 : raw[place] < 0x80 ? 1 : wellFormedLength(raw, at: place)
        if length == 0 { return place }
        place += length
    }
    return place
}

/// The offset of the first two NUL bytes in a row from a place on.
func firstZeroPair(_ bytes: UnsafeBufferPointer<UInt8>, from start: Int) -> Int? {
    guard let base = bytes.baseAddress else { return nil }
    var place = start
    while place < bytes.count, let found = memchr(base + place, 0, bytes.count - place) {
        let zero = UnsafeRawPointer(found) - UnsafeRawPointer(base)
        if zero + 1 < bytes.count, base[zero + 1] == 0 { return zero }
        place = zero + 1
    }
    return nil
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

/// The length of the multi-byte sequence at a place; 0 when it is not well-formed. Source: The
/// Unicode Standard, table 3-7.
@inline(__always) private func wellFormedLength(_ bytes: UnsafeRawBufferPointer, at place: Int) -> Int {
    let lead = bytes[place]
    if place + 4 <= bytes.count {
        // Nearly all are of two bytes, or of three that begin like Han, Kana or Hangul.
        let four = UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: place, as: UInt32.self))
        if four & 0xC0_C0F0 == 0x80_80E0, lead != 0xE0, lead != 0xED { return 3 }
        if four & 0xC0E0 == 0x80C0, lead >= 0xC2 { return 2 }
    }
    let length = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4
    guard (0xC2...0xF4).contains(lead), place + length <= bytes.count else { return 0 }
    let lowest: UInt8 = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80
    let highest: UInt8 = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF
    guard bytes[place + 1] >= lowest, bytes[place + 1] <= highest else { return 0 }
    for index in 2..<4 where index < length && bytes[place + index] & 0xC0 != 0x80 { return 0 }
    return length
}
