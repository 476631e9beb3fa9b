public import Base
import COpenSSL

/// A P-256 public key. `@unchecked Sendable` for the same reason as `SigningKey`: it is not changed after init.
public final class VerificationKey: @unchecked Sendable {
    private let key: OpenSSLHandle

    private init(_ key: consuming OpenSSLHandle) { self.key = key }

    /// Copies only the public half, so that a private key lives no longer than its owner.
    convenience init(copyingPublicHalfOf key: OpaquePointer) {
        var der: UnsafeMutablePointer<UInt8>?
        let length = i2d_PUBKEY(key, &der)
        defer { CRYPTO_free(der, #file, #line) }
        var start = UnsafePointer(der)
        self.init(require(length > 0 ? OpenSSLHandle.key(d2i_PUBKEY(nil, &start, Int(length))) : nil, "copying a public key"))
    }

    /// Reads a public key (`-----BEGIN PUBLIC KEY-----`), or the public half of a private one, from PEM.
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
        let key = try bytes.withBytes { (buffer) throws(Diagnostic) -> VerificationKey in try Self.decode(buffer, file: file, words) }
        self.init(copyingPublicHalfOf: key.key.pointer)
    }

    private static func decode(_ bytes: UnsafeRawBufferPointer, file: String?, _ words: KeyFileWords) throws(Diagnostic) -> VerificationKey
    {
        let labels = PEMLabels(bytes)
        let remedy = "Use the PEM of a P-256 public key, or a .p8 file."
        guard !labels.isEncrypted else {
            throw Diagnostic(
                "the key is encrypted with a passphrase", file: file, remedy: "Decrypt it first with openssl pkcs8 -topk8 -nocrypt.")
        }
        let source = require(OpenSSLHandle.reader(bytes), "BIO")
        defer { ERR_clear_error() }
        var request = PassphraseRequest(nil)
        let read =
            labels.hasPrivateKey ? readPrivateKey(bytes, &request) : OpenSSLHandle.key(PEM_read_bio_PUBKEY(source.pointer, nil, nil, nil))
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

    /// SHA-256 over the key as a SubjectPublicKeyInfo (RFC 5280), in hex: identifies the key, whatever file it came from.
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
        guard PEM_write_bio_PUBKEY(output.pointer, key.pointer) == 1 else { fatalError("OpenSSL failed: writing a public key") }
        return String(decoding: output.collectedBytes(), as: UTF8.self)
    }
}
