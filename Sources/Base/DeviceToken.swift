/// The token by which APNs knows an app on a device: bytes, written as lower-case hex.
///
/// Apple does not fix its length ("APNs device tokens are of variable length. Do not hard-code their size."), so only what
/// could never be one is refused: other characters, half a byte, fewer than 8 or more than 512 digits.
public struct DeviceToken: Hashable, Sendable, CustomStringConvertible {
    /// Lower-case hex digits, an even number.
    public let hex: String

    /// How many hex digits a token may have.
    public static let digitRange = 8...512

    /// Reads hex digits of either case; nil when the text cannot be a token.
    public init?(_ text: some StringProtocol) {
        var bytes = Array(text.utf8)
        guard Self.normalize(&bytes) else { return nil }
        hex = String(decoding: bytes, as: UTF8.self)
    }

    /// Takes digits that are known to be normal, as a run file holds them.
    public init(normalized hex: String) { self.hex = hex }

    /// Lower-cases hex digits in place; false when they cannot be a token.
    public static func normalize(_ bytes: inout [UInt8]) -> Bool {
        guard digitRange.contains(bytes.count), bytes.count % 2 == 0 else { return false }
        for index in bytes.indices {
            switch bytes[index] {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"): continue
            case UInt8(ascii: "A")...UInt8(ascii: "F"): bytes[index] |= 0x20
            default: return false
            }
        }
        return true
    }

    /// The first and last four digits, the most that any log, error or page may show.
    public var redacted: String { Self.redact(hex) }

    /// The redacted form: printing a token by accident must not reveal it.
    public var description: String { redacted }

    /// Shortens anything token-like to its first and last four characters.
    public static func redact(_ text: String) -> String {
        text.count <= 8 ? "…" : "\(text.prefix(4))…\(text.suffix(4))"
    }
}
