import Base
import Cryptography
import Testing

@Suite("a server's certificate from a file")
final class IssuedCertificateTests {
    private let folder = TemporaryFolder()
    private let authority = CertificateAuthority(commonName: "Authority")

    private func read(_ certificate: IssuedCertificate) throws(Diagnostic) -> IssuedCertificate {
        _ = folder.write("server.pem", certificate.keyPEM + certificate.certificatePEM)
        return try IssuedCertificate(file: folder.file("server.pem"))
    }

    @Test("certificate and key are read in any order, and the rest of the chain with them")
    func chain() throws {
        let server = authority.issueServerCertificate(names: ["apns.test"])
        _ = folder.write("server.pem", server.keyPEM + server.certificatePEM + authority.certificatePEM)
        let read = try IssuedCertificate(file: folder.file("server.pem"))
        #expect(read.certificatePEM == server.certificatePEM + authority.certificatePEM)
        #expect(read.keyPEM == server.keyPEM)
    }

    @Test("its name is localhost where that is good, else the first that is no pattern")
    func names() throws {
        #expect(try read(authority.issueServerCertificate(names: ["apns.test", "localhost"])).hostName == "localhost")
        #expect(
            try read(authority.issueServerCertificate(names: ["*.test", "apns.test", "other.test"])).hostName
                == "apns.test")
        #expect(try read(authority.issueServerCertificate(names: ["*.test"])).hostName == nil)
        #expect(try read(authority.issueServerCertificate(names: [], addresses: ["127.0.0.1"])).hostName == nil)
    }

    @Test("what cannot be used is said with the file and what should be in it")
    func refusals() throws {
        let server = authority.issueServerCertificate(names: ["a"]),
            other = authority.issueServerCertificate(names: ["b"])
        let remedy = "Name a PEM file that holds the server's certificate and its key without a passphrase."
        func refusal(_ text: String?) -> String {
            if let text { _ = folder.write("server.pem", text) }
            do throws(Diagnostic) {
                _ = try IssuedCertificate(file: folder.file(text == nil ? "missing.pem" : "server.pem"))
                return ""
            } catch {
                #expect(error.remedy == remedy)
                return error.message
            }
        }
        #expect(refusal(nil) == "there is no such certificate file")
        #expect(refusal(server.certificatePEM) == "the file holds a certificate but no key")
        #expect(refusal(server.keyPEM) == "the file holds no certificate: this is a key without a certificate")
        #expect(
            refusal(server.certificatePEM + other.keyPEM)
                == "the key in the file does not belong to the certificate (a)")
        #expect(refusal("hello") == "the file holds no certificate: this is a text")
    }
}
