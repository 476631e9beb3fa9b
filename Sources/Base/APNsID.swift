/// The `apns-id` of a push: a lower-case UUID (version 8, RFC 9562) derived from the run and the recipient, so that a repeat of
/// the same push is recognisable and the id needs no storage. Within a run no two recipients share one: recipient ids
/// pass a bijection on the 62 bits that the UUID leaves free.
public struct APNsID: Hashable, Sendable, CustomStringConvertible {
    /// The UUID's first and last eight bytes.
    public let high: UInt64, low: UInt64

    /// - Parameters:
    ///   - runSeed: 128 random bits, drawn once when the run was planned.
    ///   - recipient: the recipient's dense id.
    public init(runSeed: RunSeed, recipient: Int) {
        let free: UInt64 = (1 << 62) - 1
        var bits = UInt64(bitPattern: Int64(recipient)) & free
        // Odd multipliers and shifted xors are bijections on 62 bits.
        bits = (bits &* 0x9E37_79B9_7F4A_7C15) & free
        bits ^= bits >> 31
        bits = (bits &* 0xBF58_476D_1CE4_E5B9) & free
        bits ^= bits >> 29
        high = runSeed.high & ~0xF000 | 0x8000
        low = (bits ^ (runSeed.low & free)) | 0x8000_0000_0000_0000
    }

    private static let hex = Array("0123456789abcdef".utf8)

    /// Appends the 36 characters of the UUID.
    public func append(to bytes: inout [UInt8]) {
        for index in 0..<16 {
            if index == 4 || index == 6 || index == 8 || index == 10 { bytes.append(UInt8(ascii: "-")) }
            let word = index < 8 ? high : low
            let byte = UInt8(truncatingIfNeeded: word >> (56 - 8 * UInt64(index & 7)))
            bytes.append(Self.hex[Int(byte >> 4)])
            bytes.append(Self.hex[Int(byte & 15)])
        }
    }

    /// Lower-case with hyphens, as APNs wants it.
    public var description: String {
        var bytes: [UInt8] = []
        append(to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }
}

/// 128 random bits that tell one run from every other.
public struct RunSeed: Hashable, Sendable {
    /// The first and last 64 bits.
    public let high: UInt64, low: UInt64

    /// A seed from its two halves.
    public init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// A new seed from the system's random numbers.
    public static func random() -> RunSeed {
        RunSeed(high: .random(in: .min ... .max), low: .random(in: .min ... .max))
    }
}
