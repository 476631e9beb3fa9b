import COpenSSL

/// Comparisons in a time that tells nothing about what is compared.
public enum ConstantTime {
    /// Whether two values are equal. Only their lengths show in the time that it takes.
    public static func areEqual(_ one: [UInt8], _ other: [UInt8]) -> Bool {
        one.count == other.count && CRYPTO_memcmp(one, other, one.count) == 0
    }
}
