/// 128 bits that stand for a text: with a random key, two texts share them about as often as a disk forges a byte unnoticed.
struct Hash128: Hashable {
    var low: UInt64
    var high: UInt64
}

/// SipHash-2-4 with 128 bits of output (Aumasson and Bernstein, "SipHash: a fast short-input PRF"; the reference's 128-bit form).
///
/// Keyed, so that nobody can write an export whose tokens collide.
struct KeyedHash: Sendable {
    let key: (UInt64, UInt64)

    init(key: (UInt64, UInt64)) { self.key = key }

    static func random() -> KeyedHash { KeyedHash(key: (.random(in: .min ... .max), .random(in: .min ... .max))) }

    @inline(__always) func callAsFunction(_ bytes: UnsafeBufferPointer<UInt8>) -> Hash128 {
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
}

private struct SipState {
    private var v0: UInt64, v1: UInt64, v2: UInt64, v3: UInt64

    @inline(__always) init(key: (UInt64, UInt64)) {
        v0 = key.0 ^ 0x736F_6D65_7073_6575
        v1 = key.1 ^ 0x646F_7261_6E64_6F6D ^ 0xEE
        v2 = key.0 ^ 0x6C79_6765_6E65_7261
        v3 = key.1 ^ 0x7465_6462_7974_6573
    }

    @inline(__always) mutating func absorb(_ word: UInt64) {
        v3 ^= word
        round()
        round()
        v0 ^= word
    }

    @inline(__always) mutating func finish() -> Hash128 {
        v2 ^= 0xEE
        for _ in 0..<4 { round() }
        let low = v0 ^ v1 ^ v2 ^ v3
        v1 ^= 0xDD
        for _ in 0..<4 { round() }
        return Hash128(low: low, high: v0 ^ v1 ^ v2 ^ v3)
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
