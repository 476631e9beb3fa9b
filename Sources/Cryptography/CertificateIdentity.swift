import Base
import COpenSSL
import Glibc

/// A certificate, its chain and its key, in the form that TLS takes.
struct CertificateIdentity {
    let pem: [UInt8]
    /// Where the key begins in `pem`, after the certificates.
    let keyStart: Int
    let commonName: String
    let userID: String
    let notBefore: Timestamp
    let notAfter: Timestamp

    /// - Parameter chain: further certificates, in the order in which they are sent.
    init(leaf: X509Certificate, chain: [X509Certificate], key: OpaquePointer) {
        let output = require(OpenSSLHandle.writer(), "BIO")
        var done = true
        for certificate in [leaf] + chain { done = done && PEM_write_bio_X509(output.pointer, certificate.pointer) == 1 }
        keyStart = BIO_ctrl_pending(output.pointer)
        done = done && PEM_write_bio_PKCS8PrivateKey(output.pointer, key, nil, nil, 0, nil, nil) == 1
        guard done else { fatalError("OpenSSL failed: writing a certificate") }
        pem = output.collectedBytes()
        commonName = leaf.commonName
        userID = leaf.userID
        notBefore = leaf.notBefore
        notAfter = leaf.notAfter
    }
}

/// An X.509 certificate.
final class X509Certificate {
    private let handle: OpenSSLHandle
    var pointer: OpaquePointer { handle.pointer }

    /// Takes ownership of what a C call returned; nil stays nil.
    init?(_ pointer: OpaquePointer?) {
        guard let handle = OpenSSLHandle.certificate(pointer) else { return nil }
        self.handle = handle
    }

    /// The subject's common name; empty if it has none.
    var commonName: String { subjectEntry(NID_commonName) }

    /// The subject's user id (RFC 4519 section 2.39); empty if it has none.
    var userID: String { subjectEntry(NID_userId) }

    private func subjectEntry(_ kind: Int32) -> String {
        let subject = X509_get_subject_name(pointer)
        let index = X509_NAME_get_index_by_NID(subject, kind, -1)
        guard index >= 0, let text = X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, index)) else { return "" }
        var start: UnsafeMutablePointer<UInt8>?
        let length = ASN1_STRING_to_UTF8(&start, text)
        guard length >= 0, let start else { return "" }
        defer { CRYPTO_free(start, #file, #line) }
        return String(decoding: UnsafeBufferPointer(start: start, count: Int(length)), as: UTF8.self)
    }

    var notBefore: Timestamp { Self.moment(X509_get0_notBefore(pointer)) }
    var notAfter: Timestamp { Self.moment(X509_get0_notAfter(pointer)) }

    /// Whether `key` belongs to this certificate.
    func belongs(to key: OpaquePointer) -> Bool {
        defer { ERR_clear_error() }
        return X509_check_private_key(pointer, key) == 1
    }

    /// A time that cannot be read counts as 1970: such a certificate is refused as expired.
    private static func moment(_ time: UnsafePointer<ASN1_TIME>?) -> Timestamp {
        var parts = tm()
        guard ASN1_TIME_to_tm(time, &parts) == 1 else { return Timestamp(epochMilliseconds: 0) }
        let days = daysFromCivil(year: Int(parts.tm_year) + 1900, month: Int(parts.tm_mon) + 1, day: Int(parts.tm_mday))
        return Timestamp(epochSeconds: Int64(days * 86400) + Int64(parts.tm_hour * 3600 + parts.tm_min * 60 + parts.tm_sec))
    }
}
