/// SipHash-2-4 (Aumasson and Bernstein, "SipHash: a fast short-input PRF"): 64 bits that stand for a text.
///
/// Keyed with random numbers, so that nobody can write an export whose tokens collide. Two of n tokens collide by chance with a probability
/// of n²/2⁶⁵: of campaigns to a million devices one in 37 million takes two devices for one, to a hundred million one in 3,700.
struct KeyedHash: Sendable {
    let key: (UInt64, UInt64)

    init(key: (UInt64, UInt64)) { self.key = key }

    static func random() -> KeyedHash { KeyedHash(key: (.random(in: .min ... .max), .random(in: .min ... .max))) }

    /// Of any bytes.
    @inline(__always) func callAsFunction(_ bytes: UnsafeBufferPointer<UInt8>) -> UInt64 {
        var state = SipState(key: key)
        let raw = UnsafeRawBufferPointer(bytes)
        let whole = raw.count & ~7
        var offset = 0
        while offset < whole {
            state.absorb(UInt64(littleEndian: raw.loadUnaligned(fromByteOffset: offset, as: UInt64.self)))
            offset += 8
        }
        var last = UInt64(truncatingIfNeeded: raw.count) << 56
        var shift: UInt64 = 0
        while offset < raw.count {
            last |= UInt64(raw[offset]) << shift
            shift += 8
            offset += 1
        }
        state.absorb(last)
        return state.finish()
    }

    /// Of a token's digits, lower case: two of them take up a byte, which halves the work.
    @inline(__always) func token(_ digits: UnsafeBufferPointer<UInt8>) -> UInt64 {
        guard digits.count & 15 == 0 else { return callAsFunction(digits) }
        var state = SipState(key: key)
        let raw = UnsafeRawBufferPointer(digits)
        var offset = 0
        while offset < raw.count {
            let high = Self.values(raw.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
            let low = Self.values(raw.loadUnaligned(fromByteOffset: offset + 8, as: UInt64.self))
            state.absorb(high << 4 | low)
            offset += 16
        }
        // Unlike any text's last word: a text's length stands in it.
        state.absorb(UInt64(truncatingIfNeeded: digits.count) << 56 | 1)
        return state.finish()
    }

    /// Of eight hex digits in lower case the values, each in the low half of its byte.
    @inline(__always) private static func values(_ digits: UInt64) -> UInt64 {
        (digits & 0x0F0F_0F0F_0F0F_0F0F) &+ (digits >> 6 & 0x0101_0101_0101_0101) &* 9
    }
}

private struct SipState {
    private var v0: UInt64, v1: UInt64, v2: UInt64, v3: UInt64

    @inline(__always) init(key: (UInt64, UInt64)) {
        v0 = key.0 ^ 0x736F_6D65_7073_6575
        v1 = key.1 ^ 0x646F_7261_6E64_6F6D
        v2 = key.0 ^ 0x6C79_6765_6E65_7261
        v3 = key.1 ^ 0x7465_6462_7974_6573
    }

    @inline(__always) mutating func absorb(_ word: UInt64) {
        v3 ^= word
        round()
        round()
        v0 ^= word
    }

    @inline(__always) mutating func finish() -> UInt64 {
        v2 ^= 0xFF
        for _ in 0..<4 { round() }
        return v0 ^ v1 ^ v2 ^ v3
    }

    @inline(__always) private mutating func round() {
        v0 = v0 &+ v1
        v1 = rotated(v1, 13) ^ v0
        v0 = rotated(v0, 32)
        v2 = v2 &+ v3
        v3 = rotated(v3, 16) ^ v2
        v0 = v0 &+ v3
        v3 = rotated(v3, 21) ^ v0
        v2 = v2 &+ v1
        v1 = rotated(v1, 17) ^ v2
        v2 = rotated(v2, 32)
    }

    @inline(__always) private func rotated(_ word: UInt64, _ count: UInt64) -> UInt64 { word << count | word >> (64 - count) }
}
