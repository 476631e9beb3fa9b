/// A hash of 128 bits for a device token or an apns-id. The probability that any two of ten million tokens share a hash is below 10⁻²⁴.
struct TokenHash: Hashable {
    let high: UInt64, low: UInt64

    /// A hash made from its halves.
    init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// Hashes hex digits of either case to the same value.
    init(hexDigits bytes: UnsafeBufferPointer<UInt8>) {
        // Bit 0x20 distinguishes upper from lower case in letters, and is set in every digit.
        self.init(UnsafeRawBufferPointer(bytes), orMask: 0x2020_2020_2020_2020)
    }

    /// Hashes hex digits from a configuration.
    init(hexDigits text: String) { self = Array(text.utf8).withUnsafeBufferPointer { TokenHash(hexDigits: $0) } }

    /// Hashes a text, byte by byte.
    init(text: String) {
        var text = text
        self = text.withUTF8 { TokenHash(UnsafeRawBufferPointer($0), orMask: 0) }
    }

    private init(_ bytes: UnsafeRawBufferPointer, orMask: UInt64) {
        var first: UInt64 = 0x9E37_79B9_7F4A_7C15 &+ UInt64(bytes.count)
        var second: UInt64 = 0xC2B2_AE3D_27D4_EB4F
        var offset = 0
        while offset + 8 <= bytes.count {
            let word = bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self) | orMask
            first = Self.fold(first ^ word, 0xA076_1D64_78BD_642F)
            second = Self.fold(second &+ word, 0xE703_7ED1_A0B4_28DB)
            offset += 8
        }
        var rest: UInt64 = 0
        while offset < bytes.count {
            rest = rest << 8 | UInt64(bytes[offset]) | orMask & 0xFF
            offset += 1
        }
        high = Self.fold(first ^ rest, 0x8EBC_6AF0_9C88_C6E3)
        low = Self.fold(second &+ rest, 0x5899_65CC_7537_4CC3)
    }

    /// The two halves of a 128-bit product combined by XOR: every bit of the result depends on every bit of the factors (as in wyhash).
    private static func fold(_ a: UInt64, _ b: UInt64) -> UInt64 {
        let product = a.multipliedFullWidth(by: b)
        return product.high ^ product.low
    }
}
