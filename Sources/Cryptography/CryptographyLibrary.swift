import COpenSSL

/// The library for keys, sums and TLS.
public enum CryptographyLibrary {
    /// The version that this process runs with: `OpenSSL 3.0.17 1 Jul 2025`; blank if it does not
    /// say.
    public static var version: String { OpenSSL_version(OPENSSL_VERSION).map { String(cString: $0) } ?? "" }
}
