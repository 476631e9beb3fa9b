public import Base
import COpenSSL

/// A P-256 public key. `@unchecked Sendable` for the same reason as `SigningKey`: it is not changed
/// after init.
public final class VerificationKey: @unchecked Sendable {
    private let key: OpenSSLHandle

    private init(_ key: consuming OpenSSLHandle) { self.key = key }

    /// Copies only the public half, so that a private key lives no longer than its owner.
    convenience init(copyingPublicHalfOf key: OpaquePointer) {
        var der: UnsafeMutablePointer<UInt8>?
        let length = i2d_PUBKEY(key, &der)
        defer { CRYPTO_free(der, #file, #line) }
        var start = UnsafePointer(der)
        self.init(
            require(length > 0 ? OpenSSLHandle.key(d2i_PUBKEY(nil, &start, Int(length))) : nil, "copying a public key"))
    }

    /// Reads a public key (`-----BEGIN PUBLIC KEY-----`), or the public half of a private one, from
    /// PEM.
    /// - Parameter words: for messages about a text that contains no such key.
    /// - Throws: a `Diagnostic` without a file: not a key, or not one of P-256.
    public convenience init(pem: String, _ words: KeyFileWords = .plain) throws(Diagnostic) {
        let key = try SecretBytes(pem.utf8).withBytes { (buffer) throws(Diagnostic) -> VerificationKey in
            try Self.decode(buffer, file: nil, words)
        }
        self.init(copyingPublicHalfOf: key.key.pointer)
    }

    /// Reads the same from a file: a public key, or a .p8.
    /// - Parameter words: for messages about a file that contains no such key.
    /// - Throws: a `Diagnostic` with the file and the remedy.
    public convenience init(file: String, _ words: KeyFileWords = .plain) throws(Diagnostic) {
        let bytes = try SecretFile.read(file, kind: "key")
        let key = try bytes.withBytes { (buffer) throws(Diagnostic) -> VerificationKey in
            try Self.decode(buffer, file: file, words)
        }
        self.init(copyingPublicHalfOf: key.key.pointer)
    }

    private static func decode(_ bytes: UnsafeRawBufferPointer, file: String?, _ words: KeyFileWords) throws(Diagnostic)
        -> VerificationKey
    {
        let labels = PEMLabels(bytes)
        let remedy = "Use the PEM of a P-256 public key, or a .p8 file."
        guard !labels.isEncrypted else {
            throw Diagnostic(
                "the key is encrypted with a passphrase", file: file,
                remedy: "Decrypt it first with openssl pkcs8 -topk8 -nocrypt.")
        }
        let source = require(OpenSSLHandle.reader(bytes), "BIO")
        defer { ERR_clear_error() }
        var request = PassphraseRequest(nil)
        let read =
            labels.hasPrivateKey
            ? readPrivateKey(bytes, &request) : OpenSSLHandle.key(PEM_read_bio_PUBKEY(source.pointer, nil, nil, nil))
        guard let key = read else { throw Diagnostic("this is not a public key in PEM", file: file, remedy: remedy) }
        if let problem = P256.problem(of: key.pointer, file: file, words) { throw problem }
        return VerificationKey(copyingPublicHalfOf: key.pointer)
    }

    /// Whether `signature` (64 bytes, r then s) is this key's over `message`.
    public func isValid(_ signature: [UInt8], for message: [UInt8]) -> Bool {
        guard let der = P256.der(fromRaw: signature) else { return false }
        let context = require(OpenSSLHandle.digestContext(), "digest context")
        defer { ERR_clear_error() }
        guard EVP_DigestVerifyInit(context.pointer, nil, EVP_sha256(), nil, key.pointer) == 1 else { return false }
        return EVP_DigestVerify(context.pointer, der, der.count, message, message.count) == 1
    }

    /// SHA-256 over the key as a SubjectPublicKeyInfo (RFC 5280), in hex: identifies the key,
    /// whatever file it came from.
    public var fingerprint: String {
        var der: UnsafeMutablePointer<UInt8>?
        let length = i2d_PUBKEY(key.pointer, &der)
        defer { CRYPTO_free(der, #file, #line) }
        guard length > 0, let der else { fatalError("OpenSSL failed: writing a public key") }
        return SHA256.hex(SHA256.digest(of: Array(UnsafeBufferPointer(start: der, count: Int(length)))))
    }

    /// The key in PEM, `-----BEGIN PUBLIC KEY-----`.
    public var pem: String {
        let output = require(OpenSSLHandle.writer(), "BIO")
        guard PEM_write_bio_PUBKEY(output.pointer, key.pointer) == 1 else {
            fatalError("OpenSSL failed: writing a public key")
        }
        return String(decoding: output.collectedBytes(), as: UTF8.self)
    }
}

/// Public keys from the numbers that JSON Web Keys hold (RFC 7518, section 6), as providers of
/// identities publish them.
extension RSAVerificationKey {
    /// A larger modulus would only make checking slow.
    private static let mostBits = 8192

    /// nil for numbers that are no key of `RSASigningKey.leastBits` to 8192 bits with an odd
    /// exponent of 3 to 2^64.
    /// - Parameters:
    ///   - modulus: `n`, big-endian.
    ///   - exponent: `e`, big-endian.
    public convenience init?(modulus: [UInt8], exponent: [UInt8]) {
        let (n, e) = (modulus.drop { $0 == 0 }, exponent.drop { $0 == 0 })
        let bits = n.count * 8 - (n.first?.leadingZeroBitCount ?? 0)
        guard (RSASigningKey.leastBits...Self.mostBits).contains(bits), (1...8).contains(e.count), let last = e.last,
            last & 1 == 1,
            e.count > 1 || last >= 3
        else { return nil }
        let numbers = DER.sequence(DER.integer(n) + DER.integer(e))
        guard let key = DER.publicKey(algorithm: DER.rsa, numbers) else { return nil }
        self.init(copyingPublicHalfOf: key.pointer)
    }
}

extension VerificationKey {
    /// nil for what is no point of P-256.
    /// - Parameters:
    ///   - x: 32 bytes, big-endian.
    ///   - y: 32 bytes, big-endian.
    public convenience init?(x: [UInt8], y: [UInt8]) {
        // 4 stands for a point with both its coordinates (SEC 1, section 2.3.3). OpenSSL takes none
        // that is not on the curve.
        guard x.count == 32, y.count == 32, let key = DER.publicKey(algorithm: DER.p256, [4] + x + y) else {
            return nil
        }
        self.init(copyingPublicHalfOf: key.pointer)
    }
}

/// As much of DER as a SubjectPublicKeyInfo needs (RFC 5280, section 4.1.2.7).
private enum DER {
    /// rsaEncryption, with NULL for its parameters (RFC 3279, section 2.3.1).
    static let rsa: [UInt8] = [0x06, 0x09, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x01, 0x05, 0x00]
    /// id-ecPublicKey with the curve prime256v1 (RFC 5480, section 2.1.1).
    static let p256: [UInt8] = [
        0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01, 0x06, 0x08, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01,
        0x07,
    ]

    static func publicKey(algorithm: [UInt8], _ key: [UInt8]) -> OpenSSLHandle? {
        // The bit string begins with the number of bits that its last byte does not use.
        let der = sequence(sequence(algorithm) + value(0x03, [0] + key))
        defer { ERR_clear_error() }
        let key = der.withUnsafeBufferPointer { bytes -> OpaquePointer? in
            var start = bytes.baseAddress
            return d2i_PUBKEY(nil, &start, bytes.count)
        }
        return OpenSSLHandle.key(key)
    }

    static func sequence(_ content: [UInt8]) -> [UInt8] { value(0x30, content) }

    /// A positive number without leading zeros; it gets one where its first bit would be a sign.
    static func integer(_ bytes: some Collection<UInt8>) -> [UInt8] {
        value(0x02, (bytes.first ?? 0) & 0x80 == 0 ? Array(bytes) : [0] + bytes)
    }

    private static func value(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        let count = content.count
        let length: [UInt8] = count < 0x80 ? [UInt8(count)] : [0x82, UInt8(count >> 8), UInt8(count & 0xFF)]
        return [tag] + length + content
    }
}
