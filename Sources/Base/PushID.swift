/// The id that a push has on the wire: a lower-case UUID (version 8, RFC 9562) derived from the run
/// and the recipient, so that a repetition of the same push is recognisable and the id needs no
/// storage. Within a run no two recipients share one: recipient ids pass a bijection on the 62 bits
/// that the UUID leaves free.
///
/// ```swift
/// let id = PushID(runSeed: .random(), recipient: 0).description
/// ```
public struct PushID: Hashable, Sendable, CustomStringConvertible {
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

    /// Characters of the UUID.
    public static let textCount = 36
    /// What a payload has in place of an id before there is a run.
    public static let sample = PushID(runSeed: RunSeed(high: 0, low: 0), recipient: 0)

    /// Writes the 36 characters of the UUID.
    /// - Parameter text: at least 36 bytes long.
    public func write(to text: UnsafeMutableBufferPointer<UInt8>) {
        precondition(text.count >= 36, "a UUID needs 36 characters")
        Self.write(high >> 32, digits: 8, to: text, at: 0)
        text[8] = UInt8(ascii: "-")
        Self.write(high >> 16 & 0xFFFF, digits: 4, to: text, at: 9)
        text[13] = UInt8(ascii: "-")
        Self.write(high & 0xFFFF, digits: 4, to: text, at: 14)
        text[18] = UInt8(ascii: "-")
        Self.write(low >> 48, digits: 4, to: text, at: 19)
        text[23] = UInt8(ascii: "-")
        Self.write(low & 0xFFFF_FFFF_FFFF, digits: 12, to: text, at: 24)
    }

    /// Appends the 36 characters of the UUID.
    public func append(to bytes: inout [UInt8]) {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: Self.textCount) { text in
            write(to: text)
            bytes.append(contentsOf: text)
        }
    }

    private static func write(_ number: UInt64, digits: Int, to text: UnsafeMutableBufferPointer<UInt8>, at start: Int)
    {
        var rest = number
        var place = start + digits
        while place > start {
            place -= 1
            let digit = UInt8(truncatingIfNeeded: rest & 15)
            text[place] = digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") - 10 + digit
            rest >>= 4
        }
    }

    /// In lower case with hyphens, as in headers.
    public var description: String {
        String(unsafeUninitializedCapacity: Self.textCount) { text in
            write(to: text)
            return Self.textCount
        }
    }
}

/// 128 random bits that distinguish one run from every other.
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
