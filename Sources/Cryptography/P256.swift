import Base
import COpenSSL

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
                "this is \(algorithmName(of: key)) key, but \(words.service) takes only P-256 (ES256)", file: file, remedy: remedy)
        }
        let group = groupName(of: key)
        guard group == groupName else {
            return Diagnostic(
                "this key is on the curve \(curveNames[group] ?? group), but \(words.service) takes only P-256 (ES256)", file: file,
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
