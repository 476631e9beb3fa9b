import COpenSSL

/// HMAC with SHA-1 (RFC 2104), which one-time passwords are made with (RFC 4226): apps that show them know nothing else for certain.
public enum HMACSHA1 {
    /// The 20 bytes of the code.
    /// - Parameter key: the secret, of any length but 0.
    public static func code(of message: [UInt8], key: [UInt8]) -> [UInt8] {
        precondition(!key.isEmpty, "a code without a secret shows nothing")
        return [UInt8](unsafeUninitializedCapacity: SHA1.digestBytes) { buffer, filled in
            var length = 0
            let result = EVP_Q_mac(
                nil, "HMAC", nil, "SHA1", nil, key, key.count, message, message.count, buffer.baseAddress, buffer.count, &length)
            guard result != nil, length == SHA1.digestBytes else { fatalError("OpenSSL failed: HMAC") }
            filled = length
        }
    }
}
