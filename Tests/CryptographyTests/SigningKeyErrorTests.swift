import Base
import Cryptography
import Glibc
import Testing

@Suite struct SigningKeyErrorTests {
    let folder = TemporaryFolder()
    private let apple = "the .p8 file that Apple gives out under Certificates, Identifiers & Profiles, Keys."

    @Test("a missing key file is named with its remedy")
    func missing() {
        #expect(
            refusal(folder.file("no.p8"), in: folder)
                == "no.p8: there is no such key file. Correct the path in volley.yaml, or copy the file there.")
    }

    @Test("a directory is not a key file")
    func directory() {
        folder.run("mkdir keys")
        #expect(
            refusal(folder.file("keys"), in: folder)
                == "keys: this is a directory, not a key file. Name the file inside it.")
    }

    @Test("an empty key file is named so")
    func emptyFile() {
        #expect(
            refusal(folder.write("key.p8", ""), in: folder)
                == "key.p8: the key file is empty. Copy it again from where it was downloaded or exported.")
    }

    @Test("a file that the system cannot read is said to be that")
    func unreadable() {
        #expect(
            refusal("/proc/self/mem", in: folder)
                == "/proc/self/mem: the key file cannot be read: its disk or device reports an error. Check the disk and the file."
        )
    }

    @Test("a file without permission says how to get it", .enabled(if: geteuid() != 0))
    func forbidden() {
        let file = folder.makeKey("key.p8")
        chmod(file, 0)
        #expect(
            refusal(file, in: folder)
                == "key.p8: the key file may not be read by this user. Give the file to the user that runs Volley, with permissions 600."
        )
    }

    @Test("a file of a megabyte and more is not taken for a key")
    func tooLarge() {
        let file = folder.write("large.p8", [UInt8](repeating: 0x20, count: 1 << 20))
        #expect(
            refusal(file, in: folder) == "large.p8: this is too large to be a key file. Check the path in volley.yaml.")
    }

    @Test("what is no file is no key, and is not waited for")
    func noFile() {
        let remedy = "Volley reads only files: save its output as a file, and name that file instead."
        #expect(refusal("/dev/zero", in: folder) == "/dev/zero: this is a device, not a key file. \(remedy)")
        folder.run("mkfifo pipe.p8")
        #expect(
            refusal(folder.file("pipe.p8"), in: folder) == "pipe.p8: this is a named pipe, not a key file. \(remedy)")
    }

    @Test("a text is not a key")
    func text() {
        #expect(
            refusal(folder.write("key.p8", "hello\n"), in: folder)
                == "key.p8: this is not a key: it has no line -----BEGIN PRIVATE KEY-----. Name \(apple)")
    }

    @Test("a certificate is not a signing key, and belongs elsewhere")
    func certificate() {
        folder.run(
            "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout k.pem -subj /CN=a -out c.pem")
        #expect(
            refusal(folder.file("c.pem"), in: folder)
                == "c.pem: this is a certificate, not a signing key. Name it under 'certificate:', or the .p8 under 'key:'."
        )
        let words = KeyFileWords(
            service: "Toypush", source: "a .p8 of Toypush", fileName: "toy.p8", key: "signing_key", certificate: nil)
        let error = #expect(throws: Diagnostic.self) { try SigningKey(file: folder.file("c.pem"), words) }
        #expect(error?.remedy == "Name a .p8 of Toypush.")
    }

    @Test("a public key is not a signing key")
    func publicKey() {
        let text = SigningKey.generate().verificationKey.pem
        #expect(
            refusal(folder.write("k.pem", text), in: folder)
                == "k.pem: this is not a signing key but a public key. Name \(apple)")
    }

    @Test("a binary file is recognised as such")
    func binary() {
        folder.run(
            "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout k.pem -subj /CN=a -outform DER -out c.cer"
        )
        #expect(
            refusal(folder.file("c.cer"), in: folder)
                == "c.cer: this is not a .p8 file in PEM: it is binary, like a .p12 or .cer. Name \(apple)")
    }

    @Test("an encrypted key says by which command it is decrypted")
    func encrypted() {
        folder.run(
            "openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -aes-256-cbc -pass pass:sesame -out my\\ key.p8"
        )
        #expect(
            refusal(folder.file("my key.p8"), in: folder)
                == "my key.p8: the key is encrypted with a passphrase, but Volley reads only keys without one. "
                + "Run: openssl pkcs8 -topk8 -nocrypt -in 'my key.p8' -out AuthKey.p8 && chmod 600 AuthKey.p8")
    }

    @Test("the command that decrypts an encrypted key does")
    func encryptedRemedy() throws {
        folder.run(
            "openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -aes-256-cbc -pass pass:sesame -out key.p8")
        #expect(
            folder.run(
                "openssl pkcs8 -topk8 -nocrypt -in key.p8 -passin pass:sesame -out AuthKey.p8 && chmod 600 AuthKey.p8"))
        #expect(refusal(folder.file("AuthKey.p8"), in: folder) == nil)
    }

    @Test("a key encrypted in the old way is recognised too")
    func encryptedOldForm() {
        folder.run(
            "openssl ecparam -name prime256v1 -genkey -noout | openssl ec -aes128 -passout pass:sesame -out k.pem")
        #expect(refusal(folder.file("k.pem"), in: folder)?.contains("is encrypted with a passphrase") == true)
    }

    @Test(
        "keys of other algorithms and curves are named",
        arguments: [
            ("-algorithm RSA -pkeyopt rsa_keygen_bits:1024", "this is an RSA key"),
            ("-algorithm ED25519", "this is an Ed25519 key"),
            ("-algorithm EC -pkeyopt ec_paramgen_curve:P-384", "this key is on the curve P-384"),
            ("-algorithm EC -pkeyopt ec_paramgen_curve:secp256k1", "this key is on the curve secp256k1"),
        ])
    func otherAlgorithms(options: String, message: String) {
        folder.run("openssl genpkey \(options) -out key.p8")
        #expect(
            refusal(folder.file("key.p8"), in: folder)
                == "key.p8: \(message), but APNs takes only P-256 (ES256). Use \(apple)")
    }

    @Test("a key that lost a part is damaged")
    func damaged() {
        let pem = SigningKey.generate().pem
        var lines = pem.split(separator: "\n")
        lines.remove(at: 2)
        let expected =
            "key.p8: the key is damaged: it starts like one, but cannot be decoded. "
            + "Copy the .p8 file again from where you downloaded it, as a file, not as text."
        #expect(refusal(folder.write("key.p8", lines.joined(separator: "\n")), in: folder) == expected)
    }

    @Test("a key whose public half is another's is damaged")
    func inconsistent() throws {
        let (one, other) = (SigningKey.generate(), SigningKey.generate())
        _ = folder.write("one.p8", one.pem)
        _ = folder.write("other.p8", other.pem)
        // PKCS #8 of P-256 is 138 bytes, of which the last 64 are the public point.
        let mixed =
            "for k in one other; do openssl pkey -in $k.p8 -outform DER | openssl pkcs8 -topk8 -nocrypt -inform DER -outform DER -out $k.der; done; "
            + "{ head -c 74 one.der; tail -c 64 other.der; } | openssl base64 >body; "
            + "{ echo -----BEGIN PRIVATE KEY-----; cat body; echo -----END PRIVATE KEY-----; } >mixed.p8"
        #expect(folder.run(mixed))
        #expect(refusal(folder.file("mixed.p8"), in: folder)?.hasPrefix("mixed.p8: the key is damaged") == true)
    }

    @Test("random damage to a key never crashes and never passes for another key")
    func randomDamage() throws {
        let key = SigningKey.generate()
        let pem = Array(key.pem.utf8)
        var random = SystemRandomNumberGenerator()
        for _ in 0..<120 {
            var bytes = pem
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                bytes[Int.random(in: bytes.indices, using: &random)] = .random(in: 0...255, using: &random)
            }
            guard let read = try? SigningKey(file: folder.write("key.p8", bytes)) else { continue }
            #expect(key.verificationKey.isValid(read.sign([1]), for: [1]))
        }
    }

    @Test("a key that others may read gives a warning with the command, a private one none")
    func permissions() {
        let file = folder.makeKey("key.p8")
        chmod(file, 0o644)
        #expect(
            SigningKey.permissionWarning(file: file)?.description
                == "\(file): warning: other users of this machine can use this secret (its permissions are 644). Run: chmod 600 \(file) [secret-readable]"
        )
        chmod(file, 0o640)
        #expect(SigningKey.permissionWarning(file: file)?.severity == .warning)
        chmod(file, 0o600)
        #expect(SigningKey.permissionWarning(file: file) == nil)
        #expect(SigningKey.permissionWarning(file: folder.file("none")) == nil)
    }

    @Test("a public key in PEM is read, from text and from a file, and so is the public half of a .p8")
    func verificationKeys() throws {
        let key = SigningKey.generate()
        let signature = key.sign([7])
        let publicPEM = key.verificationKey.pem
        #expect(try VerificationKey(pem: publicPEM).isValid(signature, for: [7]))
        #expect(try VerificationKey(pem: key.pem).isValid(signature, for: [7]))
        #expect(try VerificationKey(file: folder.write("p.pem", publicPEM)).isValid(signature, for: [7]))
        #expect(try VerificationKey(file: folder.write("k.p8", key.pem)).isValid(signature, for: [7]))
    }

    @Test("what is no public key of P-256 is refused")
    func verificationKeyErrors() {
        folder.run("openssl genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:1024 | openssl pkey -pubout -out rsa.pem")
        func message(_ pem: String) -> String? {
            do throws(Diagnostic) {
                _ = try VerificationKey(pem: pem, keyFileWords)
                return nil
            } catch { return error.message }
        }
        #expect(message("hello") == "this is not a public key in PEM")
        #expect(message(folder.read("rsa.pem")) == "this is an RSA key, but APNs takes only P-256 (ES256)")
    }
}
