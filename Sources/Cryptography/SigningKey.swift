public import Base

/// A P-256 private key, as Apple gives out in a .p8 file. Never printed.
///
/// `@unchecked Sendable`: the EVP_PKEY is not changed after init, and OpenSSL's keys may be read from several threads.
public final class SigningKey: @unchecked Sendable {
    /// Reads a .p8 file (PKCS #8, PEM).
    /// - Throws: a `Diagnostic` naming the file and the remedy: missing, encrypted, RSA or another curve, not a key.
    public init(file: String) throws(Diagnostic) { fatalError("skeleton") }
    /// A new key.
    public static func generate() -> SigningKey { fatalError("skeleton") }
    /// ECDSA with SHA-256 over `message`: 64 bytes, r then s, as JWS wants it (RFC 7518 section 3.4).
    public func sign(_ message: [UInt8]) -> [UInt8] { fatalError("skeleton") }
    /// The public half.
    public var verificationKey: VerificationKey { fatalError("skeleton") }
    /// PKCS #8 in PEM, for `volley simulate` to hand to senders.
    public var pem: String { fatalError("skeleton") }
}

/// A P-256 public key. `@unchecked Sendable` for the same reason as `SigningKey`.
public final class VerificationKey: @unchecked Sendable {
    /// Whether `signature` (64 bytes, r then s) is this key's over `message`.
    public func isValid(_ signature: [UInt8], for message: [UInt8]) -> Bool { fatalError("skeleton") }
}
