import COpenSSL

/// SHA-1 (FIPS 180-4), which one service's signatures are made with. It protects nothing else here.
public enum SHA1 {
    /// Bytes of a digest.
    public static let digestBytes = 20

    /// The 20 bytes of the digest.
    public static func digest(of bytes: [UInt8]) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: digestBytes) { buffer, filled in
            guard EVP_Digest(bytes, bytes.count, buffer.baseAddress, nil, EVP_sha1(), nil) == 1 else { fatalError("OpenSSL failed: SHA-1") }
            filled = digestBytes
        }
    }

    /// The digest of a text in UTF-8, as 40 lower-case hex digits.
    public static func hex(of text: String) -> String { SHA256.hex(digest(of: Array(text.utf8))) }
}
