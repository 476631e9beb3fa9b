public import Base
import COpenSSL

/// A private certificate authority, on P-256. Its certificates are valid from an hour ago for a few
/// days: long enough for a simulation, too short to be trusted by accident. Its key never leaves
/// the process.
public struct CertificateAuthority: ~Copyable {
    private let key: OpenSSLHandle
    private let certificate: OpenSSLHandle

    /// Days from now until its certificates expire.
    public static let daysValid = 7

    /// Makes a key and a certificate signed with it.
    /// - Parameter days: from now until the certificate expires; negative for an expired one (which
    ///   began a day before its end).
    public init(commonName: String, days: Int = daysValid) {
        key = Self.makeKey()
        certificate = Self.makeCertificate(
            commonName: commonName, key: key,
            extensions: [
                (NID_basic_constraints, "critical,CA:TRUE"), (NID_key_usage, "critical,keyCertSign,cRLSign"),
                (NID_subject_key_identifier, "hash"),
            ], issuer: nil, days: days)
        Self.sign(certificate, with: key)
    }

    /// The authority's certificate, PEM, which a client must trust.
    public var certificatePEM: String { Self.pem(of: certificate) }

    /// A certificate for a server.
    /// - Parameters:
    ///   - names: DNS names, the first of which is also the common name.
    ///   - addresses: IP addresses, v4 or v6.
    ///   - days: from now until it expires; negative for an expired one (which began a day before
    ///     its end).
    public func issueServerCertificate(names: [String], addresses: [String] = [], days: Int = daysValid)
        -> IssuedCertificate
    {
        let alternatives = names.map { "DNS:\($0)" } + addresses.map { "IP:\($0)" }
        return issue(
            commonName: names.first ?? addresses.first ?? "server",
            extensions: [
                (NID_ext_key_usage, "serverAuth"), (NID_subject_alt_name, alternatives.joined(separator: ",")),
            ], days: days)
    }

    /// A certificate for a client.
    /// - Parameter days: from now until it expires; negative for an expired one (which began a day
    ///   before its end).
    public func issueClientCertificate(commonName: String, days: Int = daysValid) -> IssuedCertificate {
        issue(commonName: commonName, extensions: [(NID_ext_key_usage, "clientAuth")], days: days)
    }

    private func issue(commonName: String, extensions: [(Int32, String)], days: Int = daysValid) -> IssuedCertificate {
        let leafKey = Self.makeKey()
        let leaf = Self.makeCertificate(
            commonName: commonName, key: leafKey,
            extensions: [(NID_basic_constraints, "critical,CA:FALSE"), (NID_key_usage, "critical,digitalSignature")]
                + extensions,
            issuer: certificate.pointer, days: days)
        Self.sign(leaf, with: key)
        return IssuedCertificate(certificatePEM: Self.pem(of: leaf), keyPEM: Self.pem(ofKey: leafKey))
    }

    private static func makeKey() -> OpenSSLHandle {
        let context = require(OpenSSLHandle.keyContext(EVP_PKEY_CTX_new_from_name(nil, "EC", nil)), "key context")
        var made: OpaquePointer?
        guard EVP_PKEY_keygen_init(context.pointer) == 1,
            EVP_PKEY_CTX_set_group_name(context.pointer, "prime256v1") == 1,
            EVP_PKEY_generate(context.pointer, &made) == 1
        else { fatalError("OpenSSL failed: making a key") }
        return require(OpenSSLHandle.key(made), "making a key")
    }

    /// An unsigned certificate of version 3 with a random serial number. Without an issuer, it
    /// names itself as issuer.
    private static func makeCertificate(
        commonName: String, key: borrowing OpenSSLHandle, extensions: [(Int32, String)], issuer: OpaquePointer?,
        days: Int = daysValid
    ) -> OpenSSLHandle {
        let certificate = require(OpenSSLHandle.certificate(X509_new()), "certificate")
        let x509 = certificate.pointer
        X509_set_version(x509, 2)
        // 63 bits: a serial number must be positive (RFC 5280 section 4.1.2.2).
        ASN1_INTEGER_set_int64(X509_get_serialNumber(x509), .random(in: 1 ... .max))
        X509_gmtime_adj(X509_getm_notBefore(x509), days < 0 ? (days - 1) * 86_400 : -3600)
        X509_gmtime_adj(X509_getm_notAfter(x509), days * 86_400)
        X509_set_pubkey(x509, key.pointer)
        let name = X509_get_subject_name(x509)
        // -1: the length of a text that ends with a zero byte.
        X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_FLAG, commonName, -1, -1, 0)
        X509_set_issuer_name(x509, issuer.map { X509_get_subject_name($0) } ?? name)
        var context = X509V3_CTX()
        X509V3_set_ctx(&context, issuer ?? x509, x509, nil, nil, 0)
        for (identifier, value) in extensions {
            guard let made = X509V3_EXT_conf_nid(nil, &context, identifier, value) else {
                fatalError("OpenSSL failed: extension \(value)")
            }
            X509_add_ext(x509, made, -1)
            X509_EXTENSION_free(made)
        }
        return certificate
    }

    private static func sign(_ certificate: borrowing OpenSSLHandle, with key: borrowing OpenSSLHandle) {
        guard X509_sign(certificate.pointer, key.pointer, EVP_sha256()) > 0 else {
            fatalError("OpenSSL failed: signing a certificate")
        }
    }

    private static func pem(of certificate: borrowing OpenSSLHandle) -> String {
        let output = require(OpenSSLHandle.writer(), "BIO")
        guard PEM_write_bio_X509(output.pointer, certificate.pointer) == 1 else {
            fatalError("OpenSSL failed: writing a certificate")
        }
        return String(decoding: output.collectedBytes(), as: UTF8.self)
    }

    private static func pem(ofKey key: borrowing OpenSSLHandle) -> String {
        let output = require(OpenSSLHandle.writer(), "BIO")
        guard PEM_write_bio_PrivateKey(output.pointer, key.pointer, nil, nil, 0, nil, nil) == 1 else {
            fatalError("OpenSSL failed: writing a key")
        }
        return String(decoding: output.collectedBytes(), as: UTF8.self)
    }
}

/// A certificate with its private key, both PEM, only for tests and simulations.
public struct IssuedCertificate: Sendable {
    /// `-----BEGIN CERTIFICATE-----`, followed by the intermediate certificates up to its
    /// authority, if there are any.
    public let certificatePEM: String
    /// `-----BEGIN PRIVATE KEY-----`, not encrypted.
    public let keyPEM: String

    /// Certificate, then key: the form in which Volley reads a client certificate.
    public var pem: String { certificatePEM + keyPEM }

    init(certificatePEM: String, keyPEM: String) {
        self.certificatePEM = certificatePEM
        self.keyPEM = keyPEM
    }

    /// Reads a server's certificate and its key from a PEM file, in any order, with or without
    /// intermediate certificates. The dates are not checked: a simulation may need an expired
    /// certificate.
    /// - Throws: a `Diagnostic` with the file: missing, no certificate or key inside, key of
    ///   another certificate, passphrase.
    public init(file: String) throws(Diagnostic) {
        do throws(Diagnostic) {
            let bytes = try SecretFile.read(file, kind: "certificate")
            let identity = try bytes.withBytes { (buffer) throws(Diagnostic) -> CertificateIdentity in
                try CertificateSource(file: file, passphrase: nil).readPEM(
                    buffer, AlgorithmLibrary(allowsLegacy: false))
            }
            certificatePEM = String(decoding: identity.pem[..<identity.keyStart], as: UTF8.self)
            keyPEM = String(decoding: identity.pem[identity.keyStart...], as: UTF8.self)
        } catch {
            throw Diagnostic(
                error.message, file: file,
                remedy: "Name a PEM file that holds the server's certificate and its key without a passphrase.")
        }
    }

    /// The name by which clients should call the server: `localhost` if the certificate is valid
    /// for it, otherwise the certificate's first name (subject alternative names of RFC 5280
    /// section 4.2.1.6, without those that contain a `*`); nil without a name.
    public var hostName: String? {
        let text = require(OpenSSLHandle.writer(), "BIO")
        BIO_puts(text.pointer, certificatePEM)
        defer { ERR_clear_error() }
        guard let certificate = X509Certificate(PEM_read_bio_X509(text.pointer, nil, nil, nil)) else { return nil }
        return certificate.isGood(for: "localhost") ? "localhost" : certificate.names.first { !$0.contains("*") }
    }
}

extension X509Certificate {
    /// Whether a client that connects to this name accepts the certificate.
    fileprivate func isGood(for name: String) -> Bool { X509_check_host(pointer, name, name.utf8.count, 0, nil) == 1 }

    /// Its DNS names, in order.
    fileprivate var names: [String] {
        guard let stack = X509_get_ext_d2i(pointer, NID_subject_alt_name, nil, nil).map({ OpaquePointer($0) }) else {
            return []
        }
        defer { GENERAL_NAMES_free(stack) }
        return (0..<OPENSSL_sk_num(stack)).compactMap { index -> String? in
            var kind: Int32 = 0
            guard let entry = OPENSSL_sk_value(stack, index)?.assumingMemoryBound(to: GENERAL_NAME.self),
                let value = GENERAL_NAME_get0_value(entry, &kind), kind == GEN_DNS
            else { return nil }
            let text = UnsafePointer(value.assumingMemoryBound(to: ASN1_STRING.self))
            guard let bytes = ASN1_STRING_get0_data(text) else { return nil }
            return String(
                decoding: UnsafeBufferPointer(start: bytes, count: Int(ASN1_STRING_length(text))), as: UTF8.self)
        }
    }
}
