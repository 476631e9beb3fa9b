import COpenSSL

/// HMAC with SHA-256 (RFC 2104): proves that a message comes from a sender who knows a secret.
public enum HMACSHA256 {
    /// The 32 bytes of the code.
    /// - Parameter key: the secret, of any length but 0.
    public static func code(of message: [UInt8], key: [UInt8]) -> [UInt8] {
        precondition(!key.isEmpty, "a code without a secret shows nothing")
        return [UInt8](unsafeUninitializedCapacity: SHA256.digestBytes) { buffer, filled in
            var length = 0
            let result = EVP_Q_mac(
                nil, "HMAC", nil, "SHA256", nil, key, key.count, message, message.count, buffer.baseAddress, buffer.count, &length)
            guard result != nil, length == SHA256.digestBytes else { fatalError("OpenSSL failed: HMAC") }
            filled = length
        }
    }
}
