/// A checksum of a sequence, made from those of its pieces: it tells two audiences apart, but does
/// not withstand an attacker that wants them to look alike.
struct SequenceDigest: Hashable, Sendable {
    private(set) var count = 0
    private var polynomial: UInt64 = 0
    private var sum: UInt64 = 0

    private static let factor: UInt64 = 0x9E37_79B9_7F4A_7C15 | 1

    /// Adds an element.
    @inline(__always) mutating func append(_ element: UInt64) {
        count += 1
        polynomial = polynomial &* Self.factor &+ element
        sum = sum &+ Self.mixed(element, right: 0xC2B2_AE3D_27D4_EB4F)
    }

    /// Adds the elements of another sequence.
    mutating func append(_ other: SequenceDigest) {
        var (factor, power, exponent) = (Self.factor, UInt64(1), other.count)
        while exponent > 0 {
            if exponent & 1 == 1 { power = power &* factor }
            factor = factor &* factor
            exponent >>= 1
        }
        count += other.count
        polynomial = polynomial &* power &+ other.polynomial
        sum = sum &+ other.sum
    }

    /// Its words, for a hash over more than this.
    var words: [UInt64] { [UInt64(count), polynomial, sum] }

    /// An element made from bytes: words of eight are multiplied into each other (as in wyhash by
    /// Wang Yi).
    @inline(__always) static func element(_ bytes: UnsafeBufferPointer<UInt8>, with seed: UInt64) -> UInt64 {
        let raw = UnsafeRawBufferPointer(bytes)
        var state = seed ^ UInt64(truncatingIfNeeded: raw.count)
        var place = 0
        while place + 16 <= raw.count {
            let first = raw.loadUnaligned(fromByteOffset: place, as: UInt64.self)
            let second = raw.loadUnaligned(fromByteOffset: place + 8, as: UInt64.self)
            state = mixed(first ^ 0xA076_1D64_78BD_642F, right: second ^ state)
            place += 16
        }
        var (first, second, shift) = (UInt64(0), UInt64(0), UInt64(0))
        while place < raw.count {
            if shift < 64 { first |= UInt64(raw[place]) << shift } else { second |= UInt64(raw[place]) << (shift - 64) }
            shift += 8
            place += 1
        }
        return mixed(mixed(first ^ 0xE703_7ED1_A0B4_28DB, right: second ^ state), right: 0x8EBC_6AF0_9C88_C6E3)
    }

    @inline(__always) private static func mixed(_ left: UInt64, right: UInt64) -> UInt64 {
        let product = left.multipliedFullWidth(by: right)
        return product.high ^ product.low
    }
}
