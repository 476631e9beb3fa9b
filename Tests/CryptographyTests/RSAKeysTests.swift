import Base
import Cryptography
import Testing

@Suite("An RSA key") struct RSAKeysTests {
    private static let key = RSASigningKey.generate()

    @Test("signs what its public half verifies, and nothing else does")
    func signs() {
        let message = Array("header.claims".utf8)
        var signature = Self.key.sign(message)
        #expect(signature.count == 256)
        #expect(Self.key.verificationKey.isValid(signature, for: message))
        #expect(!Self.key.verificationKey.isValid(signature, for: Array("header.claimz".utf8)))
        #expect(!RSASigningKey.generate().verificationKey.isValid(signature, for: message))
        signature[100] ^= 1
        #expect(!Self.key.verificationKey.isValid(signature, for: message))
        #expect(!Self.key.verificationKey.isValid([], for: message))
    }

    @Test("is read again from its PEM")
    func pem() throws {
        let read = try RSASigningKey(pem: Self.key.pem)
        #expect(Self.key.verificationKey.isValid(read.sign([1, 2, 3]), for: [1, 2, 3]))
    }

    @Test("is not a key of another kind, nor any text")
    func others() {
        #expect(throws: Mistake("the key is not an RSA key")) { try RSASigningKey(pem: SigningKey.generate().pem) }
        for text in ["", "x", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"] {
            #expect(throws: Mistake("this is not a private key in PEM without a passphrase")) { try RSASigningKey(pem: text) }
        }
    }
}
