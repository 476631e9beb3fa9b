import Cryptography

/// 256 random bits that stand for a session or an invitation. They are given out once, and only
/// their SHA-256 is stored: a reader of the file cannot sign in with it. Source: OWASP ASVS 4.0.3,
/// 3.2.2 and 3.2.3. Its description shows nothing of it.
public struct SecretToken: Hashable, Sendable, CustomStringConvertible, CustomReflectable {
    /// 64 hex digits in small letters, for a cookie or a link.
    public let text: String

    private static let byteCount = 32

    init() { text = SHA256.hex(RandomBytes.make(Self.byteCount)) }

    /// The token in a cookie or a link; nil if it is not one.
    public init?(_ text: String) {
        guard text.utf8.count == 2 * Self.byteCount, Hex.bytes(text) != nil else { return nil }
        self.text = text
    }

    /// The hash as a column holds it.
    static func stored(_ token: SecretToken) -> String { SHA256.hex(token.hash) }

    /// The part that is stored. A database may look it up without a constant time: an attacker
    /// without the token cannot choose its hash.
    var hash: [UInt8] { SHA256.digest(of: Array(text.utf8)) }

    /// Shows nothing of it.
    public var description: String { "(secret token)" }
    /// Shows nothing of it.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
