/// 96 bits that identify a token, and so a device.
///
/// Two given tokens have the same fingerprint with a probability of 2⁻⁹⁶ (`KeyedHash.fingerprint`),
/// two of n tokens with n²/2⁹⁷: of campaigns over exports of a million devices one in 10¹⁷ takes
/// two devices for one, over a hundred million one in 16 million million.
struct TokenFingerprint: BitwiseCopyable, Hashable {
    /// The part that is compared with lists of devices and orders tables.
    var word: UInt64
    var rest: UInt32
}

/// Hashes that are keyed with random numbers, so that an export cannot be crafted to have colliding
/// tokens.
///
/// Texts of any length go through SipHash-2-4 (Aumasson and Bernstein, "SipHash: a fast short-input
/// PRF"). Tokens of 64 hex digits, which are nearly all where the service has such tokens, have a
/// function of their own, a quarter as expensive: MULTILINEAR (Lemire and Kaser, "Strongly
/// universal string hashing is fast"), the upper half of k₀ + Σ kᵢ·wᵢ modulo 2¹²⁸ over a token's
/// four words. Its keys are drawn after the export was written, and of any two different tokens the
/// hashes are then independent and evenly distributed: they are the same with a probability of
/// 2⁻⁶⁴, whatever the tokens. Which function a text goes through follows from its bytes alone, so a
/// target of a service with other texts of 64 characters is also found again in lists.
package struct KeyedHash: Sendable {
    let key: (UInt64, UInt64)
    private let wordKeys: TokenKeys
    private let restKeys: TokenKeys
    /// For the rest of a text that is not a token of 64 digits.
    private let otherKey: (UInt64, UInt64)

    package init(key: (UInt64, UInt64)) {
        self.key = key
        var source = KeySource(key: key)
        wordKeys = TokenKeys(&source)
        restKeys = TokenKeys(&source)
        otherKey = (source.next(), source.next())
    }

    package static func random() -> KeyedHash {
        KeyedHash(key: (.random(in: .min ... .max), .random(in: .min ... .max)))
    }

    /// Of any bytes.
    @inline(__always) func callAsFunction(_ bytes: UnsafeBufferPointer<UInt8>) -> UInt64 { Self.hash(bytes, key) }

    private static func hash(_ bytes: UnsafeBufferPointer<UInt8>, _ key: (UInt64, UInt64)) -> UInt64 {
        var state = SipState(key: key)
        let raw = UnsafeRawBufferPointer(bytes)
        let whole = raw.count & ~7
        var offset = 0
        while offset < whole {
            state.mix(UInt64(littleEndian: raw.loadUnaligned(fromByteOffset: offset, as: UInt64.self)))
            offset += 8
        }
        var last = UInt64(truncatingIfNeeded: raw.count) << 56
        var shift: UInt64 = 0
        while offset < raw.count {
            last |= UInt64(raw[offset]) << shift
            shift += 8
            offset += 1
        }
        state.mix(last)
        return state.finish()
    }

    /// The word of a token's fingerprint.
    /// - Parameter token: as it is kept; hex digits in lower case.
    @inline(__always) package func token(_ token: UnsafeBufferPointer<UInt8>) -> UInt64 {
        guard let words = TokenWords(token) else { return Self.hash(token, key) }
        return wordKeys.hash(words)
    }

    /// The fingerprint of a token.
    /// - Parameter token: as it is kept; hex digits in lower case.
    @inline(__always) func fingerprint(_ token: UnsafeBufferPointer<UInt8>) -> TokenFingerprint {
        guard let words = TokenWords(token) else {
            return TokenFingerprint(
                word: Self.hash(token, key), rest: UInt32(truncatingIfNeeded: Self.hash(token, otherKey)))
        }
        return TokenFingerprint(
            word: wordKeys.hash(words), rest: UInt32(truncatingIfNeeded: restKeys.hash(words) >> 32))
    }
}

/// Keys made of one: SipHash of 0, 1, 2, …
private struct KeySource {
    let key: (UInt64, UInt64)
    private var count: UInt64 = 0

    init(key: (UInt64, UInt64)) { self.key = key }

    mutating func next() -> UInt64 {
        var state = SipState(key: key)
        state.mix(count)
        count += 1
        return state.finish()
    }
}

/// 64 hex digits in lower case as four words; different digits make different words.
private struct TokenWords {
    let first: UInt64, second: UInt64, third: UInt64, fourth: UInt64

    private static let digits = 64

    /// nil for any other text: two letters that are no hex digits could make the same word.
    @inline(__always) init?(_ text: UnsafeBufferPointer<UInt8>) {
        guard text.count == Self.digits else { return nil }
        let raw = UnsafeRawBufferPointer(text)
        var others: UInt64 = 0
        first = Self.word(raw, offset: 0, &others)
        second = Self.word(raw, offset: 16, &others)
        third = Self.word(raw, offset: 32, &others)
        fourth = Self.word(raw, offset: 48, &others)
        if others != 0 { return nil }
    }

    /// Two digits take up a byte.
    @inline(__always) private static func word(_ raw: UnsafeRawBufferPointer, offset: Int, _ others: inout UInt64)
        -> UInt64
    {
        let high = values(raw.loadUnaligned(fromByteOffset: offset, as: UInt64.self), &others)
        return high << 4 | values(raw.loadUnaligned(fromByteOffset: offset + 8, as: UInt64.self), &others)
    }

    /// The values of eight lower-case hex digits, each in the low half of its byte. Without a
    /// branch, `others` gets bits for each byte that is no such digit: either its value is 16 or
    /// more, or the digit of its value is another byte.
    @inline(__always) private static func values(_ digits: UInt64, _ others: inout UInt64) -> UInt64 {
        let values = (digits & 0x0F0F_0F0F_0F0F_0F0F) &+ (digits >> 6 & 0x0101_0101_0101_0101) &* 9
        let isLetter = (values &+ 0x0606_0606_0606_0606) >> 4 & 0x0101_0101_0101_0101
        let meant = values &+ 0x3030_3030_3030_3030 &+ isLetter &* 0x27
        others |= (values & 0xF0F0_F0F0_F0F0_F0F0) | (meant ^ digits)
        return values
    }
}

private struct TokenKeys {
    private let start: UInt128, first: UInt128, second: UInt128, third: UInt128, fourth: UInt128

    init(_ source: inout KeySource) {
        func key() -> UInt128 { UInt128(source.next()) << 64 | UInt128(source.next()) }
        start = key()
        first = key()
        second = key()
        third = key()
        fourth = key()
    }

    @inline(__always) func hash(_ words: TokenWords) -> UInt64 {
        let sum =
            start &+ first &* UInt128(words.first) &+ second &* UInt128(words.second) &+ third &* UInt128(words.third)
            &+ fourth &* UInt128(words.fourth)
        return UInt64(truncatingIfNeeded: sum >> 64)
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

    @inline(__always) mutating func mix(_ word: UInt64) {
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
        v1 = rotated(v1, count: 13) ^ v0
        v0 = rotated(v0, count: 32)
        v2 = v2 &+ v3
        v3 = rotated(v3, count: 16) ^ v2
        v0 = v0 &+ v3
        v3 = rotated(v3, count: 21) ^ v0
        v2 = v2 &+ v1
        v1 = rotated(v1, count: 17) ^ v2
        v2 = rotated(v2, count: 32)
    }

    @inline(__always) private func rotated(_ word: UInt64, count: UInt64) -> UInt64 {
        word << count | word >> (64 - count)
    }
}

/// Distinct fingerprints: an open-addressing table of 11 to 21 bytes each.
struct FingerprintSet: ~Copyable {
    /// 0 is free; the fingerprint 0 has its own place.
    private var table: UnsafeMutablePointer<UInt64>
    private var mask = 63
    private var hasZero = false
    private(set) var count = 0

    init() {
        table = .allocate(capacity: mask + 1)
        table.initialize(repeating: 0, count: mask + 1)
    }

    deinit { table.deallocate() }

    @inline(__always) func contains(_ fingerprint: UInt64) -> Bool { place(of: fingerprint) >= 0 }

    /// Where a fingerprint is, which stays the same until the next one is added; -1 for one that is
    /// not in the set.
    @inline(__always) func place(of fingerprint: UInt64) -> Int {
        if fingerprint == 0 { return hasZero ? mask + 1 : -1 }
        var place = Int(truncatingIfNeeded: fingerprint) & mask
        while table[place] != 0 {
            if table[place] == fingerprint { return place }
            place = (place + 1) & mask
        }
        return -1
    }

    mutating func insert(_ fingerprint: UInt64) {
        if contains(fingerprint) { return }
        count += 1
        guard fingerprint != 0 else {
            hasZero = true
            return
        }
        if count * 4 > (mask + 1) * 3 { grow() }
        place(fingerprint)
    }

    private func place(_ fingerprint: UInt64) {
        var place = Int(truncatingIfNeeded: fingerprint) & mask
        while table[place] != 0 { place = (place + 1) & mask }
        table[place] = fingerprint
    }

    private mutating func grow() {
        let (old, oldMask) = (table, mask)
        mask = mask * 2 + 1
        table = .allocate(capacity: mask + 1)
        table.initialize(repeating: 0, count: mask + 1)
        for index in 0...oldMask where old[index] != 0 { place(old[index]) }
        old.deallocate()
    }
}
