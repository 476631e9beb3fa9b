public import Base
import COpenSSL

/// An RSA private key that signs with RS256 (RFC 7518 section 3.3). Never printed.
///
/// `@unchecked Sendable`: the EVP_PKEY is not changed after init, and several threads may read OpenSSL's keys.
public final class RSASigningKey: @unchecked Sendable {
    private let key: OpenSSLHandle

    private init(_ key: consuming OpenSSLHandle) { self.key = key }

    /// Reads a key without a passphrase from PEM, `-----BEGIN PRIVATE KEY-----`.
    /// - Throws: a `Mistake`: not a private key in PEM, not RSA, or shorter than 2,048 bits.
    public convenience init(pem: String) throws(Mistake) {
        var text = pem
        var read: OpenSSLHandle?
        text.withUTF8 { bytes in
            var request = PassphraseRequest(nil)
            read = readPrivateKey(UnsafeRawBufferPointer(bytes), &request)
        }
        guard let key = read else { throw Mistake("this is not a private key in PEM without a passphrase") }
        guard EVP_PKEY_is_a(key.pointer, "RSA") == 1 else { throw Mistake("the key is not an RSA key") }
        guard EVP_PKEY_get_bits(key.pointer) >= 2048 else { throw Mistake("the key has fewer than 2,048 bits") }
        self.init(key)
    }

    /// A new key of 2,048 bits. This takes about a tenth of a second.
    public static func generate() -> RSASigningKey {
        let context = require(OpenSSLHandle.keyContext(EVP_PKEY_CTX_new_from_name(nil, "RSA", nil)), "key context")
        var made: OpaquePointer?
        let done =
            EVP_PKEY_keygen_init(context.pointer) == 1 && EVP_PKEY_CTX_set_rsa_keygen_bits(context.pointer, 2048) == 1
            && EVP_PKEY_generate(context.pointer, &made) == 1
        return RSASigningKey(require(done ? OpenSSLHandle.key(made) : nil, "key generation"))
    }

    /// RSASSA-PKCS1-v1_5 with SHA-256 over `message`.
    public func sign(_ message: [UInt8]) -> [UInt8] {
        let context = require(OpenSSLHandle.digestContext(), "digest context")
        var signature = [UInt8](repeating: 0, count: Int(EVP_PKEY_get_size(key.pointer)))
        var length = signature.count
        let done =
            EVP_DigestSignInit(context.pointer, nil, EVP_sha256(), nil, key.pointer) == 1
            && EVP_DigestSign(context.pointer, &signature, &length, message, message.count) == 1
        guard done else { fatalError("OpenSSL failed: signing") }
        return Array(signature[..<length])
    }

    /// The public half.
    public var verificationKey: RSAVerificationKey { RSAVerificationKey(copyingPublicHalfOf: key.pointer) }

    /// PKCS #8 in PEM, for the simulator to give to senders.
    public var pem: String {
        let output = require(OpenSSLHandle.writer(), "BIO")
        guard PEM_write_bio_PKCS8PrivateKey(output.pointer, key.pointer, nil, nil, 0, nil, nil) == 1 else {
            fatalError("OpenSSL failed: writing a key")
        }
        return String(decoding: output.collectedBytes(), as: UTF8.self)
    }
}

/// An RSA public key. `@unchecked Sendable` for the same reason as `RSASigningKey`: it is not changed after init.
public final class RSAVerificationKey: @unchecked Sendable {
    private let key: OpenSSLHandle

    /// Copies only the public half, so that a private key lives no longer than its owner.
    fileprivate init(copyingPublicHalfOf key: OpaquePointer) {
        var der: UnsafeMutablePointer<UInt8>?
        let length = i2d_PUBKEY(key, &der)
        defer { CRYPTO_free(der, #file, #line) }
        var start = UnsafePointer(der)
        self.key = require(length > 0 ? OpenSSLHandle.key(d2i_PUBKEY(nil, &start, Int(length))) : nil, "copying a public key")
    }

    /// Whether `signature` is this key's over `message`, as RS256 requires.
    public func isValid(_ signature: [UInt8], for message: [UInt8]) -> Bool {
        let context = require(OpenSSLHandle.digestContext(), "digest context")
        defer { ERR_clear_error() }
        guard EVP_DigestVerifyInit(context.pointer, nil, EVP_sha256(), nil, key.pointer) == 1 else { return false }
        return EVP_DigestVerify(context.pointer, signature, signature.count, message, message.count) == 1
    }
}
