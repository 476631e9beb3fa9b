/// The token by which the service knows an app on a device: bytes, written as lower-case hex.
///
/// Its length is not fixed (Apple: "device tokens are of variable length. Do not hard-code their size."), so only what
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

    /// Why a text cannot be a token, for the person who gave it; nil when it can.
    public static func flaw(of text: String) -> String? {
        guard DeviceToken(text) == nil else { return nil }
        let digits = text.utf8.count
        if text.isEmpty { return "the device token is blank" }
        guard text.allSatisfy({ $0.isASCII && $0.isHexDigit }) else {
            return "'\(redact(text))' cannot be a device token, as it holds more than hex digits (0-9, a-f)"
        }
        if digits < digitRange.lowerBound { return "a device token of \(digits) digits is too short" }
        if digits > digitRange.upperBound { return "a device token of \(digits) digits is too long" }
        return "'\(redact(text))' cannot be a device token, as its \(digits) digits are no even number: it is cut off, or one is too many"
    }

    /// The first and last four digits, the most that any log, error or page may show.
    public var redacted: String { Self.redact(hex) }

    /// A text in which the token, in capitals or small letters, is shortened wherever it stands.
    public func redacted(in text: String) -> String {
        let (token, bytes) = (Array(hex.utf8), Array(text.utf8))
        guard bytes.count >= token.count else { return text }
        var shown: [UInt8] = []
        var index = 0
        while index < bytes.count {
            let isToken = index + token.count <= bytes.count && zip(bytes[index...], token).allSatisfy { $0 == $1 || $0 | 0x20 == $1 }
            shown += isToken ? Array(redacted.utf8) : [bytes[index]]
            index += isToken ? token.count : 1
        }
        return String(decoding: shown, as: UTF8.self)
    }

    /// The redacted form: printing a token by accident must not reveal it.
    public var description: String { redacted }

    /// Shortens anything token-like to its first and last four characters.
    public static func redact(_ text: String) -> String {
        text.count <= 8 ? "…" : "\(text.prefix(4))…\(text.suffix(4))"
    }
}
