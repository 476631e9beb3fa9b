import COpenSSL

/// Public keys from the numbers that JSON Web Keys hold (RFC 7518, section 6), as providers of identities publish them.
extension RSAVerificationKey {
    /// A larger modulus would only make checking slow.
    private static let mostBits = 8192

    /// nil for numbers that are no key of `RSASigningKey.leastBits` to 8192 bits with an odd exponent of 3 to 2^64.
    /// - Parameters:
    ///   - modulus: `n`, big-endian.
    ///   - exponent: `e`, big-endian.
    public convenience init?(modulus: [UInt8], exponent: [UInt8]) {
        let (n, e) = (modulus.drop { $0 == 0 }, exponent.drop { $0 == 0 })
        let bits = n.count * 8 - (n.first?.leadingZeroBitCount ?? 0)
        guard (RSASigningKey.leastBits...Self.mostBits).contains(bits), (1...8).contains(e.count), let last = e.last, last & 1 == 1,
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
        // 4 stands for a point with both its coordinates (SEC 1, section 2.3.3). OpenSSL takes none that is not on the curve.
        guard x.count == 32, y.count == 32, let key = DER.publicKey(algorithm: DER.p256, [4] + x + y) else { return nil }
        self.init(copyingPublicHalfOf: key.pointer)
    }
}

/// As much of DER as a SubjectPublicKeyInfo needs (RFC 5280, section 4.1.2.7).
private enum DER {
    /// rsaEncryption, with NULL for its parameters (RFC 3279, section 2.3.1).
    static let rsa: [UInt8] = [0x06, 0x09, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x01, 0x05, 0x00]
    /// id-ecPublicKey with the curve prime256v1 (RFC 5480, section 2.1.1).
    static let p256: [UInt8] = [
        0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01, 0x06, 0x08, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07,
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
