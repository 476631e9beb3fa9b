public import Base
import Glibc

/// A file of certificate authorities in PEM form, which volley.yaml may name for a custom server.
public enum CertificateAuthorityFile {
    /// Checks the file before anything relies on it.
    /// - Throws: a `Diagnostic` if it cannot be read, or contains no certificate.
    public static func check(_ file: String) throws(Diagnostic) {
        let bytes: [UInt8]
        do throws(FileError) { bytes = try RegularFile.bytes(of: file, atMost: 1 << 20) } catch {
            switch error {
            case .system(let code):
                throw Diagnostic(
                    "the certificate authority cannot be read: \(String(cString: strerror(code)))", file: file,
                    remedy: "Check the app's ca in volley.yaml.")
            case .notAFile(let kind): throw kind.refusal(file, remedy: "Check the app's ca in volley.yaml.")
            }
        }
        guard String(decoding: bytes, as: UTF8.self).contains("-----BEGIN CERTIFICATE-----") else {
            throw Diagnostic(
                "this is not a certificate in PEM form", file: file,
                remedy: "A PEM file begins with -----BEGIN CERTIFICATE-----. Use openssl x509 -inform der to convert others.")
        }
    }
}
