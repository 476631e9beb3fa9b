public import Base
import COpenSSL

/// An RSA private key, as services put it into the files that identify an app's server. Never
/// printed.
///
/// `@unchecked Sendable`: the EVP_PKEY is not changed after init, and several threads may read
/// OpenSSL's keys.
public final class RSASigningKey: @unchecked Sendable {
    /// Smaller keys are refused (RFC 7518 section 3.3).
    public static let leastBits = 2048

    private let key: OpenSSLHandle

    private init(_ key: consuming OpenSSLHandle) { self.key = key }

    /// Reads a private key from PEM (PKCS #8, without a passphrase).
    /// - Parameters:
    ///   - file: where the text comes from, for messages; nil for no file.
    ///   - words: for messages about a text that contains no such key.
    /// - Throws: a `Diagnostic` with the remedy: encrypted, not RSA, too small, damaged, not a key.
    public convenience init(pem: String, file: String? = nil, _ words: KeyFileWords = .plainRSA) throws(Diagnostic) {
        self.init(try RSAKey.decode(pem, file: file, words, wantsPrivate: true))
    }

    /// Why a private key is of no use here although it can be decoded, continuing a sentence that
    /// names it; nil for a key in order, and for one that cannot be decoded.
    static func flaw(ofReadable pem: String) -> String? { RSAKey.flaw(ofReadable: pem) }

    /// A new key.
    /// - Parameter bits: its size; a test of keys that are too small may ask for less than
    ///   `leastBits`.
    public static func generate(bits: Int = leastBits) -> RSASigningKey {
        let context = require(OpenSSLHandle.keyContext(EVP_PKEY_CTX_new_from_name(nil, "RSA", nil)), "key context")
        var made: OpaquePointer?
        let done =
            EVP_PKEY_keygen_init(context.pointer) == 1
            && EVP_PKEY_CTX_set_rsa_keygen_bits(context.pointer, Int32(bits)) == 1
            && EVP_PKEY_generate(context.pointer, &made) == 1
        return RSASigningKey(require(done ? OpenSSLHandle.key(made) : nil, "key generation"))
    }

    /// RS256: RSASSA-PKCS1-v1_5 with SHA-256 over `message`, as JWS requires (RFC 7518 section
    /// 3.3). As long as the key.
    public func sign(_ message: [UInt8]) -> [UInt8] {
        let context = require(OpenSSLHandle.digestContext(), "digest context")
        var signature = [UInt8](repeating: 0, count: Int(EVP_PKEY_get_size(key.pointer)))
        var length = signature.count
        // PKCS #1 v1.5 is what OpenSSL uses for a plain RSA key.
        let done =
            EVP_DigestSignInit(context.pointer, nil, EVP_sha256(), nil, key.pointer) == 1
            && EVP_DigestSign(context.pointer, &signature, &length, message, message.count) == 1
        guard done else { fatalError("OpenSSL failed: signing") }
        return Array(signature[..<length])
    }

    /// The public half.
    public var verificationKey: RSAVerificationKey { RSAVerificationKey(copyingPublicHalfOf: key.pointer) }

    /// PKCS #8 in PEM, for simulators and tests to give to senders.
    public var pem: String {
        let output = require(OpenSSLHandle.writer(), "BIO")
        guard PEM_write_bio_PKCS8PrivateKey(output.pointer, key.pointer, nil, nil, 0, nil, nil) == 1 else {
            fatalError("OpenSSL failed: writing a key")
        }
        return String(decoding: output.collectedBytes(), as: UTF8.self)
    }
}

/// An RSA public key. `@unchecked Sendable` for the same reason as `RSASigningKey`: it is not
/// changed after init.
public final class RSAVerificationKey: @unchecked Sendable {
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
    /// - Parameters:
    ///   - file: where the text comes from, for messages; nil for no file.
    ///   - words: for messages about a text that contains no such key.
    /// - Throws: a `Diagnostic`: encrypted, not RSA, too small, not a key.
    public convenience init(pem: String, file: String? = nil, _ words: KeyFileWords = .plainRSA) throws(Diagnostic) {
        // A name for it, so that it lives until its public half is copied.
        let read = try RSAKey.decode(pem, file: file, words, wantsPrivate: false)
        self.init(copyingPublicHalfOf: read.pointer)
    }

    /// Whether `signature` is this key's over `message`, by RS256.
    public func isValid(_ signature: [UInt8], for message: [UInt8]) -> Bool {
        let context = require(OpenSSLHandle.digestContext(), "digest context")
        defer { ERR_clear_error() }
        guard EVP_DigestVerifyInit(context.pointer, nil, EVP_sha256(), nil, key.pointer) == 1 else { return false }
        return EVP_DigestVerify(context.pointer, signature, signature.count, message, message.count) == 1
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

/// Reading either half of an RSA key.
private enum RSAKey {
    static func decode(_ pem: String, file: String?, _ words: KeyFileWords, wantsPrivate: Bool) throws(Diagnostic)
        -> OpenSSLHandle
    {
        let key = try SecretBytes(pem.utf8).withBytes { (bytes) throws(Diagnostic) -> OpenSSLHandle in
            let labels = PEMLabels(bytes)
            guard !labels.isEncrypted, let key = decode(bytes, labels, wantsPrivate: wantsPrivate) else {
                throw unreadable(labels, file: file, words, wantsPrivate: wantsPrivate)
            }
            return key
        }
        if let problem = problem(of: key.pointer, file: file, words) { throw problem }
        return key
    }

    static func flaw(ofReadable pem: String) -> String? {
        SecretBytes(pem.utf8).withBytes { bytes -> String? in
            let labels = PEMLabels(bytes)
            guard !labels.isEncrypted, let key = decode(bytes, labels, wantsPrivate: true) else { return nil }
            guard EVP_PKEY_get_base_id(key.pointer) == EVP_PKEY_RSA else {
                return "is not an RSA key, which its signatures need (RS256)"
            }
            let bits = EVP_PKEY_get_bits(key.pointer)
            return bits < RSASigningKey.leastBits
                ? "has \(bits) bits, but signatures with RSA need at least \(RSASigningKey.leastBits)" : nil
        }
    }

    private static func decode(_ bytes: UnsafeRawBufferPointer, _ labels: PEMLabels, wantsPrivate: Bool)
        -> OpenSSLHandle?
    {
        defer { ERR_clear_error() }
        if labels.hasPrivateKey {
            var request = PassphraseRequest(nil)
            return readPrivateKey(bytes, &request)
        }
        guard !wantsPrivate else { return nil }
        let source = require(OpenSSLHandle.reader(bytes), "BIO")
        return OpenSSLHandle.key(PEM_read_bio_PUBKEY(source.pointer, nil, nil, nil))
    }

    private static func unreadable(_ labels: PEMLabels, file: String?, _ words: KeyFileWords, wantsPrivate: Bool)
        -> Diagnostic
    {
        let remedy = "Use \(words.source)."
        if labels.isEncrypted {
            return Diagnostic(
                "the key is encrypted with a passphrase, but Volley reads only keys without one", file: file,
                remedy: remedy)
        }
        if labels.hasPrivateKey {
            return Diagnostic(
                "the key is damaged: it starts like one, but cannot be decoded", file: file,
                remedy: "Copy it again from where you downloaded it, as a file, not as text.")
        }
        if let label = labels.all.first, wantsPrivate {
            return Diagnostic("this is not a private key but a \(label.lowercased())", file: file, remedy: remedy)
        }
        return Diagnostic(
            "this is not a key in PEM: it has no line -----BEGIN PRIVATE KEY-----", file: file, remedy: remedy)
    }

    /// Why a key cannot be used; nil if it can.
    private static func problem(of key: OpaquePointer, file: String?, _ words: KeyFileWords) -> Diagnostic? {
        let remedy = "Use \(words.source)."
        guard EVP_PKEY_get_base_id(key) == EVP_PKEY_RSA else {
            return Diagnostic(
                "this is not an RSA key, but \(words.service) takes only RSA (RS256)", file: file, remedy: remedy)
        }
        let bits = EVP_PKEY_get_bits(key)
        guard bits >= RSASigningKey.leastBits else {
            return Diagnostic(
                "the key has \(bits) bits, but signatures with RSA need at least \(RSASigningKey.leastBits)",
                file: file, remedy: remedy)
        }
        return nil
    }
}

/// Words for messages about a file that contains no key or certificate of the right kind. They
/// depend on the service that issues the keys.
public struct KeyFileWords: Hashable, Sendable {
    /// The service that accepts the signatures.
    public var service: String
    /// "the .p8 file that …"
    public var source: String
    /// The usual name of such files.
    public var fileName: String
    /// Where volley.yaml names such a file; nil for a service that takes none.
    public var key: String?
    /// Where volley.yaml names a client certificate; nil for a service that takes none.
    public var certificate: String?
    /// Where volley.yaml names the variable that holds a certificate's passphrase.
    public var passphrase: String

    /// The words of a service.
    public init(
        service: String, source: String, fileName: String, key: String? = "key", certificate: String? = "certificate",
        passphrase: String = "passphrase_env"
    ) {
        self.service = service
        self.source = source
        self.fileName = fileName
        self.key = key
        self.certificate = certificate
        self.passphrase = passphrase
    }

    /// For signatures with an unknown recipient.
    public static let plain = KeyFileWords(
        service: "Volley", source: "a .p8 file with a key for ES256", fileName: "key.p8")

    /// For RSA signatures with an unknown recipient.
    public static let plainRSA = KeyFileWords(
        service: "Volley", source: "an RSA private key in PEM (PKCS #8) of at least 2048 bits, without a passphrase",
        fileName: "key.pem")
}
