public import Base

/// A client certificate with its key, checked and ready for TLS. Never printed.
public struct ClientCertificate: Sendable {
    /// Certificate and unencrypted key, PEM. Stays in memory.
    public let pem: [UInt8]
    /// The subject's common name.
    public let commonName: String
    /// When it ends.
    public let notAfter: Timestamp

    /// Reads a .p12 or a PEM with certificate and key.
    /// - Throws: a `Diagnostic` naming the file and the remedy: missing, wrong passphrase, no key inside, expired, key of another certificate.
    public init(file: String, passphrase: String?, now: Timestamp) throws(Diagnostic) { fatalError("skeleton") }
}
