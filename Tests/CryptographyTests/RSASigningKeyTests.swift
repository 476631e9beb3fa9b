import Base
import Testing

@testable import Cryptography

@Suite("RSA keys")
struct RSASigningKeyTests {
    private let message = Array("header.claims".utf8)

    private func problem(_ pem: String) -> Diagnostic? {
        do throws(Diagnostic) { _ = try RSASigningKey(pem: pem, file: "account.json") } catch { return error }
        return nil
    }

    @Test("openssl finds a signature valid, and only over what was signed")
    func opensslVerifies() throws {
        let folder = TemporaryFolder()
        #expect(folder.run("openssl genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:2048 -out key.pem"))
        let key = try RSASigningKey(pem: folder.read("key.pem"))
        let signature = key.sign(message)
        #expect(signature.count == 256)
        _ = folder.write("message", message)
        _ = folder.write("other", message + [0])
        _ = folder.write("signature", signature)
        #expect(folder.run("openssl pkey -in key.pem -pubout -out public.pem"))
        #expect(
            folder.run("openssl dgst -sha256 -verify public.pem -signature signature message"), "\(folder.read("log"))")
        #expect(!folder.run("openssl dgst -sha256 -verify public.pem -signature signature other"))
        let verifier = try RSAVerificationKey(pem: folder.read("public.pem"))
        #expect(verifier.isValid(signature, for: message))
        #expect(!verifier.isValid(signature, for: message + [0]))
        #expect(!verifier.isValid(Array(signature.dropLast()), for: message))
        #expect(!verifier.isValid([], for: message))
        #expect(!RSASigningKey.generate().verificationKey.isValid(signature, for: message))
    }

    @Test("a key is the same after it was written and read, and its public half is public")
    func roundTrip() throws {
        let key = RSASigningKey.generate(bits: 3072)
        let again = try RSASigningKey(pem: key.pem)
        #expect(again.pem == key.pem)
        #expect(key.verificationKey.isValid(again.sign(message), for: message))
        #expect(try RSAVerificationKey(pem: key.pem).pem == key.verificationKey.pem)
        #expect(!key.verificationKey.pem.contains("PRIVATE"))
    }

    @Test("the key of a file in the old format is read, too")
    func oldFormat() throws {
        let folder = TemporaryFolder()
        #expect(folder.run("openssl genrsa -traditional -out key.pem 2048"))
        #expect(try RSASigningKey(pem: folder.read("key.pem")).sign(message).count == 256)
    }

    @Test("what is not such a key is refused with what it is, and none of it is shown")
    func refusals() throws {
        let folder = TemporaryFolder()
        #expect(
            folder.run(
                "openssl genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:2048 -aes256 -pass pass:x -out locked.pem"))
        let key = RSASigningKey.generate()
        let damaged = key.pem.split(separator: "\n").enumerated().map { $0.offset == 3 ? "AAAA" : $0.element }.joined(
            separator: "\n")
        for (pem, words) in [
            (RSASigningKey.generate(bits: 1024).pem, "the key has 1024 bits"),
            (SigningKey.generate().pem, "not an RSA key"),
            (folder.read("locked.pem"), "encrypted with a passphrase"), (damaged, "damaged"),
            (key.verificationKey.pem, "not a private key but a public key"), ("", "not a key in PEM"),
            ("hello", "not a key in PEM"),
        ] {
            let found = try #require(problem(pem), "\(words)")
            #expect(found.message.contains(words), "\(found)")
            #expect(found.file == "account.json" && found.remedy != nil)
            for line in pem.split(separator: "\n") where line.count > 40 && !line.hasPrefix("-") {
                #expect(!found.description.contains(line))
            }
        }
    }
}
