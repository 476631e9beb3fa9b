/// Characters of ASCII, as bits.
public struct ASCIISet: Hashable, Sendable {
    @usableFromInline let low: UInt64, high: UInt64

    /// The characters of a text; those beyond ASCII are left out.
    public init(_ characters: String) {
        var (low, high): (UInt64, UInt64) = (0, 0)
        for byte in characters.utf8 where byte < 128 {
            if byte < 64 { low |= 1 << UInt64(byte) } else { high |= 1 << UInt64(byte - 64) }
        }
        self.low = low
        self.high = high
    }

    /// Digits, and letters from a to f.
    public static let lowercaseHex = ASCIISet("0123456789abcdef")
    /// Letters and digits.
    public static let lettersAndDigits = ASCIISet("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")

    /// Whether a byte is one of them.
    @inlinable public func contains(_ byte: UInt8) -> Bool {
        byte < 64 ? low >> UInt64(byte) & 1 != 0 : byte < 128 && high >> UInt64(byte & 63) & 1 != 0
    }
}
