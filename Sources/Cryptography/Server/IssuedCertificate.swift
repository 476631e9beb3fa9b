public import Base
import COpenSSL

/// A certificate with its private key, both PEM, only for tests and simulations.
public struct IssuedCertificate: Sendable {
    /// `-----BEGIN CERTIFICATE-----`, followed by the intermediate certificates up to its authority, if there are any.
    public let certificatePEM: String
    /// `-----BEGIN PRIVATE KEY-----`, not encrypted.
    public let keyPEM: String

    /// Certificate, then key: the form in which Volley reads a client certificate.
    public var pem: String { certificatePEM + keyPEM }

    init(certificatePEM: String, keyPEM: String) {
        self.certificatePEM = certificatePEM
        self.keyPEM = keyPEM
    }

    /// Reads a server's certificate and its key from a PEM file, in any order, with or without intermediate certificates. The dates are not
    /// checked: a simulation may need an expired certificate.
    /// - Throws: a `Diagnostic` with the file: missing, no certificate or key inside, key of another certificate, passphrase.
    public init(file: String) throws(Diagnostic) {
        do throws(Diagnostic) {
            let bytes = try SecretFile.read(file, kind: "certificate")
            let identity = try bytes.withBytes { (buffer) throws(Diagnostic) -> CertificateIdentity in
                try CertificateSource(file: file, passphrase: nil).readPEM(buffer, AlgorithmLibrary(allowsLegacy: false))
            }
            certificatePEM = String(decoding: identity.pem[..<identity.keyStart], as: UTF8.self)
            keyPEM = String(decoding: identity.pem[identity.keyStart...], as: UTF8.self)
        } catch {
            throw Diagnostic(
                error.message, file: file,
                remedy: "Name a PEM file that holds the server's certificate and its key without a passphrase.")
        }
    }

    /// The name by which clients should call the server: `localhost` if the certificate is valid for it, otherwise the certificate's first
    /// name (subject alternative names of RFC 5280 section 4.2.1.6, without those that contain a `*`); nil if there is none.
    public var hostName: String? {
        let text = require(OpenSSLHandle.writer(), "BIO")
        BIO_puts(text.pointer, certificatePEM)
        defer { ERR_clear_error() }
        guard let certificate = X509Certificate(PEM_read_bio_X509(text.pointer, nil, nil, nil)) else { return nil }
        return certificate.isGood(for: "localhost") ? "localhost" : certificate.names.first { !$0.contains("*") }
    }
}

extension X509Certificate {
    /// Whether a client that asks for this name accepts the certificate.
    fileprivate func isGood(for name: String) -> Bool { X509_check_host(pointer, name, name.utf8.count, 0, nil) == 1 }

    /// Its DNS names, in order.
    fileprivate var names: [String] {
        guard let stack = X509_get_ext_d2i(pointer, NID_subject_alt_name, nil, nil).map({ OpaquePointer($0) }) else { return [] }
        defer { GENERAL_NAMES_free(stack) }
        return (0..<OPENSSL_sk_num(stack)).compactMap { index -> String? in
            var kind: Int32 = 0
            guard let entry = OPENSSL_sk_value(stack, index)?.assumingMemoryBound(to: GENERAL_NAME.self),
                let value = GENERAL_NAME_get0_value(entry, &kind), kind == GEN_DNS
            else { return nil }
            let text = UnsafePointer(value.assumingMemoryBound(to: ASN1_STRING.self))
            guard let bytes = ASN1_STRING_get0_data(text) else { return nil }
            return String(decoding: UnsafeBufferPointer(start: bytes, count: Int(ASN1_STRING_length(text))), as: UTF8.self)
        }
    }
}
