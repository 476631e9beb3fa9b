public import Base
import COpenSSL

/// A P-256 private key, as issued in a .p8 file. Never printed.
///
/// `@unchecked Sendable`: the EVP_PKEY is not changed after init, and several threads may read
/// OpenSSL's keys.
public final class SigningKey: @unchecked Sendable {
    private let key: OpenSSLHandle

    private init(_ key: consuming OpenSSLHandle) { self.key = key }

    /// Reads a .p8 file (PKCS #8, PEM).
    /// - Parameter words: for messages about a file that contains no such key.
    /// - Throws: a `Diagnostic` with the file and the remedy: missing, encrypted, RSA or another
    ///   curve, not a key.
    public convenience init(file: String, _ words: KeyFileWords = .plain) throws(Diagnostic) {
        let bytes = try SecretFile.read(file, kind: "key")
        let key = try bytes.withBytes { (buffer) throws(Diagnostic) -> OpenSSLHandle in
            try Self.decode(buffer, file: file, words)
        }
        self.init(key)
    }

    private static func decode(_ bytes: UnsafeRawBufferPointer, file: String, _ words: KeyFileWords) throws(Diagnostic)
        -> OpenSSLHandle
    {
        let labels = PEMLabels(bytes)
        guard labels.hasPrivateKey else { throw notAKey(bytes, labels, file: file, words) }
        guard !labels.isEncrypted else {
            throw Diagnostic(
                "the key is encrypted with a passphrase, but Volley reads only keys without one", file: file,
                remedy:
                    "Run: openssl pkcs8 -topk8 -nocrypt -in \(shellQuoted(file)) -out \(words.fileName) && chmod 600 \(words.fileName)"
            )
        }
        var request = PassphraseRequest(nil)
        guard let key = readPrivateKey(bytes, &request) else { throw damaged(bytes, file) }
        if let problem = P256.problem(of: key.pointer, file: file, words) { throw problem }
        guard P256.isConsistent(key.pointer) else { throw damaged(bytes, file) }
        return key
    }

    private static func damaged(_ bytes: UnsafeRawBufferPointer, _ file: String) -> Diagnostic {
        if let flaw = PEMArmour.flaw(in: String(decoding: bytes, as: UTF8.self)) {
            return Diagnostic(flaw.message, file: file, remedy: flaw.remedy)
        }
        return Diagnostic(
            "the key is damaged: it starts like one, but cannot be decoded", file: file,
            remedy: "Copy the .p8 file again from where you downloaded it, as a file, not as text.")
    }

    private static func notAKey(
        _ bytes: UnsafeRawBufferPointer, _ labels: PEMLabels, file: String, _ words: KeyFileWords
    ) -> Diagnostic {
        let remedy = "Name \(words.source)."
        if labels.hasCertificate {
            let elsewhere = words.certificate.map {
                "Name it under '\($0):', or the .p8 under '\(words.key ?? "key"):'."
            }
            return Diagnostic("this is a certificate, not a signing key", file: file, remedy: elsewhere ?? remedy)
        }
        if let label = labels.all.first {
            return Diagnostic("this is not a signing key but a \(label.lowercased())", file: file, remedy: remedy)
        }
        // A .p12, like every other large DER structure, is a SEQUENCE with a long-form length.
        if bytes.first == 0x30, bytes.count > 1, bytes[1] >= 0x80 {
            return Diagnostic(
                "this is not a .p8 file in PEM: it is binary, like a .p12 or .cer", file: file, remedy: remedy)
        }
        if let flaw = PEMArmour.flaw(in: String(decoding: bytes, as: UTF8.self)) {
            return Diagnostic(flaw.message, file: file, remedy: flaw.remedy)
        }
        return Diagnostic("this is not a key: it has no line -----BEGIN PRIVATE KEY-----", file: file, remedy: remedy)
    }

    /// A warning if other users of the machine may read the file, with the command that prevents
    /// this; nil if they may not.
    public static func permissionWarning(file: String) -> Diagnostic? { SecretFile.permissionWarning(file) }

    /// A new key.
    public static func generate() -> SigningKey {
        let context = require(OpenSSLHandle.keyContext(EVP_PKEY_CTX_new_from_name(nil, "EC", nil)), "key context")
        var made: OpaquePointer?
        let done =
            EVP_PKEY_keygen_init(context.pointer) == 1 && EVP_PKEY_CTX_set_group_name(context.pointer, "P-256") == 1
            && EVP_PKEY_generate(context.pointer, &made) == 1
        return SigningKey(require(done ? OpenSSLHandle.key(made) : nil, "key generation"))
    }

    /// ECDSA with SHA-256 over `message`: 64 bytes, r then s, as JWS requires (RFC 7518 section
    /// 3.4).
    public func sign(_ message: [UInt8]) -> [UInt8] {
        let context = require(OpenSSLHandle.digestContext(), "digest context")
        var der = [UInt8](repeating: 0, count: 80)
        var length = der.count
        let done =
            EVP_DigestSignInit(context.pointer, nil, EVP_sha256(), nil, key.pointer) == 1
            && EVP_DigestSign(context.pointer, &der, &length, message, message.count) == 1
        guard done, let raw = P256.raw(fromDER: Array(der[..<length])) else { fatalError("OpenSSL failed: signing") }
        return raw
    }

    /// The public half.
    public var verificationKey: VerificationKey { VerificationKey(copyingPublicHalfOf: key.pointer) }

    /// PKCS #8 in PEM, for `volley simulate` to give to senders.
    public var pem: String {
        let output = require(OpenSSLHandle.writer(), "BIO")
        guard PEM_write_bio_PKCS8PrivateKey(output.pointer, key.pointer, nil, nil, 0, nil, nil) == 1 else {
            fatalError("OpenSSL failed: writing a key")
        }
        return String(decoding: output.collectedBytes(), as: UTF8.self)
    }
}

/// Checks and conversions that both halves of a P-256 key share.
enum P256 {
    /// Bytes of a signature: r and s, 32 each (RFC 7518 section 3.4).
    static let signatureBytes = 64

    /// OpenSSL's name for the curve.
    private static let groupName = "prime256v1"

    /// Why a key is not a valid key on P-256; nil if it is one.
    static func problem(of key: OpaquePointer, file: String?, _ words: KeyFileWords) -> Diagnostic? {
        let remedy = "Use \(words.source)."
        guard EVP_PKEY_get_base_id(key) == EVP_PKEY_EC else {
            return Diagnostic(
                "this is \(algorithmName(of: key)) key, but \(words.service) takes only P-256 (ES256)", file: file,
                remedy: remedy)
        }
        let group = groupName(of: key)
        guard group == groupName else {
            return Diagnostic(
                "this key is on the curve \(curveNames[group] ?? group), but \(words.service) takes only P-256 (ES256)",
                file: file,
                remedy: remedy)
        }
        return nil
    }

    /// Whether private and public half belong together and are on the curve.
    static func isConsistent(_ key: OpaquePointer) -> Bool {
        let context = require(OpenSSLHandle.keyContext(EVP_PKEY_CTX_new_from_pkey(nil, key, nil)), "key context")
        defer { ERR_clear_error() }
        return EVP_PKEY_check(context.pointer) == 1
    }

    private static let curveNames = [
        "secp384r1": "P-384", "secp521r1": "P-521", "secp224r1": "P-224", "prime192v1": "P-192", "": "(unnamed)",
    ]

    private static func algorithmName(of key: OpaquePointer) -> String {
        switch EVP_PKEY_get_base_id(key) {
        case EVP_PKEY_RSA, EVP_PKEY_RSA_PSS: "an RSA"
        case EVP_PKEY_ED25519: "an Ed25519"
        case EVP_PKEY_X25519: "an X25519"
        case EVP_PKEY_DSA: "a DSA"
        default: "another kind of"
        }
    }

    private static func groupName(of key: OpaquePointer) -> String {
        var name = [CChar](repeating: 0, count: 80)
        var length = 0
        guard EVP_PKEY_get_group_name(key, &name, name.count, &length) == 1 else {
            ERR_clear_error()
            return ""
        }
        return String(decoding: name[..<length].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// r and s, each padded on the left to 32 bytes, from a signature in DER.
    static func raw(fromDER der: [UInt8]) -> [UInt8]? {
        let decoded = der.withUnsafeBufferPointer { buffer -> OpaquePointer? in
            var start = buffer.baseAddress
            return d2i_ECDSA_SIG(nil, &start, buffer.count)
        }
        guard let signature = OpenSSLHandle.signature(decoded) else { return nil }
        return [UInt8](unsafeUninitializedCapacity: signatureBytes) { buffer, filled in
            guard let start = buffer.baseAddress else { return }
            let r = BN_bn2binpad(ECDSA_SIG_get0_r(signature.pointer), start, 32)
            let s = BN_bn2binpad(ECDSA_SIG_get0_s(signature.pointer), start + 32, 32)
            filled = r == 32 && s == 32 ? signatureBytes : 0
        }
    }

    /// A signature in DER from 64 bytes of r and s.
    static func der(fromRaw raw: [UInt8]) -> [UInt8]? {
        guard raw.count == signatureBytes, let signature = OpenSSLHandle.signature(ECDSA_SIG_new()) else { return nil }
        raw.withUnsafeBufferPointer { buffer in
            guard let start = buffer.baseAddress else { return }
            // The signature takes ownership of both numbers.
            _ = ECDSA_SIG_set0(signature.pointer, BN_bin2bn(start, 32, nil), BN_bin2bn(start + 32, 32, nil))
        }
        let length = i2d_ECDSA_SIG(signature.pointer, nil)
        guard length > 0 else { return nil }
        return [UInt8](unsafeUninitializedCapacity: Int(length)) { buffer, filled in
            var end = buffer.baseAddress
            filled = Int(max(0, i2d_ECDSA_SIG(signature.pointer, &end)))
        }
    }
}
