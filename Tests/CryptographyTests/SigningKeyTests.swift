import Base
import Cryptography
import Glibc
import Testing

/// The words of the service that the keys are for.
let keyFileWords = KeyFileWords(
    service: "APNs", source: "the .p8 file that Apple gives out under Certificates, Identifiers & Profiles, Keys",
    fileName: "AuthKey.p8")

/// The diagnostic for reading `file` as a signing key, without the folder's path.
func refusal(_ file: String, in folder: TemporaryFolder) -> String? {
    do throws(Diagnostic) {
        _ = try SigningKey(file: file, keyFileWords)
        return nil
    } catch { return error.description.replacing(folder.path + "/", with: "") }
}

@Suite struct SigningKeyTests {
    let folder = TemporaryFolder()

    @Test("a .p8 file as Apple gives out is read, and openssl accepts its signature")
    func signatureVerifiesWithOpenSSL() throws {
        let key = try SigningKey(file: folder.makeKey("key.p8"))
        let message = Array("header.claims".utf8)
        let signature = key.sign(message)
        #expect(signature.count == 64)
        _ = folder.write("message", message)
        _ = folder.write("signature", derByHand(signature))
        #expect(folder.run("openssl pkey -in key.p8 -pubout -out public.pem"))
        #expect(folder.run("openssl dgst -sha256 -verify public.pem -signature signature message"))
        _ = folder.write("message", "header.claimS")
        #expect(!folder.run("openssl dgst -sha256 -verify public.pem -signature signature message"))
    }

    @Test("a signature of openssl is valid for the public half")
    func openSSLSignatureIsValid() throws {
        let file = folder.makeKey("key.p8")
        _ = folder.write("message", "hello")
        #expect(
            folder.run(
                "openssl dgst -sha256 -sign key.p8 -out signature message && openssl asn1parse -inform DER -in signature -out /dev/null"
            ))
        #expect(folder.run("openssl asn1parse -inform DER -in signature | grep INTEGER | sed 's/.*://' >numbers"))
        let numbers = folder.read("numbers").split(separator: "\n").map { text in
            let digits = String(repeating: "0", count: 64 - text.count) + text
            return stride(from: 0, to: 64, by: 2).compactMap { UInt8(digits.dropFirst($0).prefix(2), radix: 16) }
        }
        let signature = numbers.flatMap(\.self)
        #expect(try VerificationKey(file: file).isValid(signature, for: Array("hello".utf8)))
        #expect(try !VerificationKey(file: file).isValid(signature, for: Array("hellO".utf8)))
    }

    @Test("r and s are padded to 32 bytes each, however short they come out")
    func paddingOfShortNumbers() {
        let key = SigningKey.generate()
        let check = key.verificationKey
        var shortR = 0
        var shortS = 0
        for number in 0..<1500 {
            let message = Array("message \(number)".utf8)
            let signature = key.sign(message)
            #expect(signature.count == 64)
            #expect(check.isValid(signature, for: message))
            if signature[0] == 0 { shortR += 1 }
            if signature[32] == 0 { shortS += 1 }
        }
        // One number in 256 begins with a zero byte: the probability that none of 3000 does is 8 in
        // a million.
        #expect(shortR + shortS > 0)
    }

    @Test("a changed, shortened or empty signature is not valid")
    func wrongSignatures() {
        let key = SigningKey.generate()
        let message = Array("m".utf8)
        let signature = key.sign(message)
        for index in 0..<64 {
            var changed = signature
            changed[index] ^= 1
            #expect(!key.verificationKey.isValid(changed, for: message))
        }
        #expect(!key.verificationKey.isValid(Array(signature.dropLast()), for: message))
        #expect(!key.verificationKey.isValid([], for: message))
        #expect(!key.verificationKey.isValid([UInt8](repeating: 0, count: 64), for: message))
        #expect(!SigningKey.generate().verificationKey.isValid(signature, for: message))
    }

    @Test("a generated key survives PEM and a file")
    func pemRoundTrip() throws {
        let key = SigningKey.generate()
        #expect(key.pem.hasPrefix("-----BEGIN PRIVATE KEY-----\n"))
        let again = try SigningKey(file: folder.write("k.p8", key.pem))
        #expect(again.pem == key.pem)
        #expect(key.verificationKey.isValid(again.sign([1, 2, 3]), for: [1, 2, 3]))
    }

    @Test("a key in the older form EC PRIVATE KEY is read too")
    func olderForm() throws {
        #expect(folder.run("openssl ecparam -name prime256v1 -genkey -out k.pem"))
        #expect(refusal(folder.file("k.pem"), in: folder) == nil)
    }

    @Test("signing works from several threads at once")
    func threads() async {
        let key = SigningKey.generate()
        let check = key.verificationKey
        let valid = await withTaskGroup(of: Bool.self) { group in
            for task in 0..<8 {
                group.addTask {
                    (0..<50).allSatisfy { number in
                        let message: [UInt8] = [UInt8(task), UInt8(number)]
                        return check.isValid(key.sign(message), for: message)
                    }
                }
            }
            return await group.reduce(true) { $0 && $1 }
        }
        #expect(valid)
    }

    /// DER of r and s without the code under test.
    private func derByHand(_ raw: [UInt8]) -> [UInt8] {
        let numbers = [raw[..<32], raw[32...]].flatMap { number -> [UInt8] in
            var digits = Array(number.drop { $0 == 0 })
            if digits.first ?? 0x80 >= 0x80 { digits.insert(0, at: 0) }
            return [2, UInt8(digits.count)] + digits
        }
        return [0x30, UInt8(numbers.count)] + numbers
    }
}
