import Base
@testable import Cryptography
import Glibc
import Testing

@Suite struct ClientCertificateTests {
    private let folder = TemporaryFolder()
    private let day: Int64 = 86_400_000
    /// The certificate expires 90 days after this.
    private let now = Timestamp.now().adding(seconds: 60)

    /// leaf.pem, leaf.key (P-256) signed by ca.pem, 90 days; other.key. Made once.
    private static let files: [String: String] = {
        let folder = TemporaryFolder()
        let isMade = folder.run(
            """
            openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout ca.key -subj /CN=Authority -days 900 -out ca.pem &&
            openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout leaf.key -subj '/CN=Apple Push Services: com.example.shop' -out leaf.csr &&
            openssl x509 -req -in leaf.csr -CA ca.pem -CAkey ca.key -set_serial 1 -days 90 -out leaf.pem &&
            openssl ecparam -name prime256v1 -genkey -noout -out other.key
            """)
        precondition(isMade, folder.read("log"))
        let names = ["ca.key", "ca.pem", "leaf.key", "leaf.csr", "leaf.pem", "other.key"]
        return Dictionary(uniqueKeysWithValues: names.map { ($0, folder.read($0)) })
    }()

    init() {
        for (name, text) in Self.files { _ = folder.write(name, text) }
    }

    private func refusal(
        _ name: String, _ passphrase: String? = nil, at moment: Timestamp? = nil, allowsLegacy: Bool = true
    ) -> String? {
        do throws(Diagnostic) {
            _ = try ClientCertificate(
                file: folder.file(name), passphrase: passphrase, now: moment ?? now, allowsLegacy: allowsLegacy)
            return nil
        } catch { return error.description.replacing(folder.path + "/", with: "") }
    }

    /// What openssl finds in the PEM for TLS: subjects in order, and whether the key fits.
    private func contents(_ certificate: ClientCertificate) -> String {
        _ = folder.write("out.pem", certificate.pem)
        folder.run(
            "openssl crl2pkcs7 -nocrl -certfile out.pem | openssl pkcs7 -print_certs -noout | grep subject >subjects")
        folder.run(
            "openssl pkey -in out.pem -pubout -out a; openssl x509 -in out.pem -pubkey -noout -out b; cmp a b && echo fits >fits"
        )
        return folder.read("subjects").replacing("subject=CN = ", with: "") + folder.read("fits")
    }

    private static let export = "Export certificate and key together, as .p12, from Keychain Access."

    @Test("a .p12 with passphrase gives leaf, chain and key in PEM")
    func p12() throws {
        #expect(
            folder.run(
                "openssl pkcs12 -export -in leaf.pem -inkey leaf.key -certfile ca.pem -passout pass:sesame -out push.p12"
            ))
        let certificate = try ClientCertificate(file: folder.file("push.p12"), passphrase: "sesame", now: now)
        #expect(certificate.commonName == "Apple Push Services: com.example.shop")
        #expect(contents(certificate) == "Apple Push Services: com.example.shop\nAuthority\nfits\n")
        let days = (certificate.notAfter.epochMilliseconds - now.epochMilliseconds + day / 2) / day
        #expect(days == 90)
        #expect(String(decoding: certificate.pem, as: UTF8.self).contains("-----BEGIN PRIVATE KEY-----"))
    }

    @Test("a .p12 in the old encryption of Keychain Access is read")
    func legacyP12() throws {
        #expect(
            folder.run("openssl pkcs12 -export -legacy -in leaf.pem -inkey leaf.key -passout pass:sesame -out push.p12")
        )
        let certificate = try ClientCertificate(file: folder.file("push.p12"), passphrase: "sesame", now: now)
        #expect(contents(certificate) == "Apple Push Services: com.example.shop\nfits\n")
    }

    @Test("a .p12 in the old encryption says what to do where OpenSSL lacks it, and the command does it")
    func legacyP12WithoutProvider() throws {
        #expect(
            folder.run("openssl pkcs12 -export -legacy -in leaf.pem -inkey leaf.key -passout pass:sesame -out push.p12")
        )
        #expect(
            refusal("push.p12", "sesame", allowsLegacy: false)
                == "push.p12: the file is encrypted with an outdated algorithm (RC2 or RC4) that this machine's OpenSSL lacks. "
                + "On a machine whose OpenSSL has it, run: openssl pkcs12 -legacy -in push.p12 -nodes -out push.pem && chmod 600 push.pem; "
                + "then name push.pem under 'certificate:'.")
        #expect(
            folder.run(
                "openssl pkcs12 -legacy -in push.p12 -passin pass:sesame -nodes -out push.pem && chmod 600 push.pem"))
        #expect(refusal("push.pem") == nil)
    }

    @Test("a .p12 without passphrase is read, whether one was given or not", arguments: [nil, "", "sesame"])
    func p12WithoutPassphrase(passphrase: String?) {
        #expect(folder.run("openssl pkcs12 -export -in leaf.pem -inkey leaf.key -passout pass: -out push.p12"))
        #expect(refusal("push.p12", passphrase) == nil)
    }

    @Test("a wrong passphrase is said without repeating it")
    func wrongPassphrase() {
        #expect(folder.run("openssl pkcs12 -export -in leaf.pem -inkey leaf.key -passout pass:sesame -out push.p12"))
        let expected = "push.p12: the passphrase is wrong. Check the environment variable that 'passphrase_env:' names."
        #expect(refusal("push.p12", "secret-word") == expected)
        #expect(refusal("push.p12", "") == expected)
    }

    @Test("a passphrase that is needed and missing is asked for")
    func missingPassphrase() {
        let remedy =
            "Name the environment variable that holds it as 'passphrase_env:' under 'certificate:', and set it."
        #expect(folder.run("openssl pkcs12 -export -in leaf.pem -inkey leaf.key -passout pass:sesame -out push.p12"))
        #expect(refusal("push.p12") == "push.p12: the file needs a passphrase, but there is none. \(remedy)")
        #expect(
            folder.run(
                "openssl ec -aes128 -in leaf.key -passout pass:sesame -out enc.key && cat leaf.pem enc.key >push.pem"))
        #expect(refusal("push.pem") == "push.pem: the file needs a passphrase, but there is none. \(remedy)")
        #expect(
            refusal("push.pem", "word")
                == "push.pem: the passphrase is wrong. Check the environment variable that 'passphrase_env:' names."
        )
        #expect(refusal("push.pem", "sesame") == nil)
    }

    @Test("a passphrase beyond ASCII works")
    func unicodePassphrase() {
        #expect(
            folder.run("openssl pkcs12 -export -in leaf.pem -inkey leaf.key -passout 'pass:schlüssel鍵' -out push.p12"))
        #expect(refusal("push.p12", "schlüssel鍵") == nil)
    }

    @Test("a .p12 whose checksum was left out is read, and its passphrase still counts")
    func p12WithoutChecksum() {
        #expect(
            folder.run("openssl pkcs12 -export -nomac -in leaf.pem -inkey leaf.key -passout pass:sesame -out push.p12"))
        #expect(refusal("push.p12", "sesame") == nil)
        #expect(refusal("push.p12", "word")?.hasPrefix("push.p12: the passphrase is wrong") == true)
    }

    @Test("a .p12 without key or without anything says so")
    func p12WithoutKey() {
        #expect(folder.run("openssl pkcs12 -export -nokeys -in leaf.pem -passout pass:sesame -out push.p12"))
        #expect(refusal("push.p12", "sesame") == "push.p12: the file holds a certificate but no key. \(Self.export)")
        #expect(folder.run("openssl pkcs12 -export -nocerts -inkey leaf.key -passout pass:sesame -out push.p12"))
        #expect(refusal("push.p12", "sesame") == "push.p12: the file holds a key but no certificate. \(Self.export)")
    }

    @Test("a PEM is read whatever the order of its parts")
    func pemOrder() throws {
        #expect(folder.run("cat ca.pem leaf.key leaf.pem >push.pem"))
        let certificate = try ClientCertificate(file: folder.file("push.pem"), passphrase: nil, now: now)
        #expect(contents(certificate) == "Apple Push Services: com.example.shop\nAuthority\nfits\n")
    }

    @Test("a PEM that lacks one of its parts says which")
    func pemParts() {
        #expect(refusal("leaf.pem") == "leaf.pem: the file holds a certificate but no key. \(Self.export)")
        #expect(
            refusal("leaf.key") == "leaf.key: the file holds no certificate: this is a key without a certificate. "
                + "Put the certificate into the same file, or name a .p8 under 'key:'.")
        #expect(
            refusal("leaf.csr")
                == "leaf.csr: the file holds no certificate: this is a certificate request. \(Self.export)")
    }

    @Test("a key that belongs to another certificate is told apart")
    func foreignKey() {
        let expected =
            "the key in the file does not belong to the certificate (Apple Push Services: com.example.shop). "
            + "Export certificate and key together from the keychain where you made the request."
        #expect(folder.run("cat leaf.pem other.key >push.pem"))
        #expect(refusal("push.pem") == "push.pem: " + expected)
    }

    @Test("files that are no certificates are named so")
    func notCertificates() {
        _ = folder.write("a.p12", "hello")
        #expect(refusal("a.p12") == "a.p12: this is neither a .p12 nor a PEM with certificate and key. \(Self.export)")
        #expect(folder.run("openssl x509 -in leaf.pem -outform DER -out a.cer"))
        #expect(refusal("a.cer") == "a.cer: this is a certificate without its key (a .cer file). \(Self.export)")
        #expect(
            refusal("none.p12")
                == "none.p12: there is no such certificate file. Correct the path in volley.yaml, or copy the file there."
        )
        #expect(folder.run("sed 3d leaf.pem >b.pem; cat leaf.key >>b.pem"))
        #expect(refusal("b.pem") == "b.pem: the file holds a key but no certificate. \(Self.export)")
    }

    @Test("an expired certificate is refused with its date, one that is not valid yet with the clock")
    func expired() throws {
        #expect(folder.run("cat leaf.pem leaf.key >push.pem"))
        let end = try ClientCertificate(file: folder.file("push.pem"), passphrase: nil, now: now).notAfter
        #expect(
            refusal("push.pem", at: end) == "push.pem: the certificate expired at \(end). "
                + "Create a new one under Certificates, Identifiers & Profiles, and export it with its key.")
        #expect(refusal("push.pem", at: end.adding(seconds: -1)) == nil)
        let early = now.adding(seconds: -86400)
        #expect(refusal("push.pem", at: early)?.contains("Check the clock of this machine: it says \(early).") == true)
    }

    @Test("a certificate that ended in the past is refused today")
    func reallyExpired() {
        #expect(
            folder.run(
                "openssl x509 -req -in leaf.csr -CA ca.pem -CAkey ca.key -set_serial 2 -days -1 -out old.pem; cat old.pem leaf.key >push.pem"
            ))
        #expect(refusal("push.pem")?.hasPrefix("push.pem: the certificate expired at ") == true)
    }

    @Test("a certificate warns from thirty days before its end on")
    func expiring() throws {
        #expect(folder.run("cat leaf.pem leaf.key >push.pem"))
        let certificate = try ClientCertificate(file: folder.file("push.pem"), passphrase: nil, now: now)
        func warning(daysLeft: Double) -> String? {
            certificate.expiryWarning(now: certificate.notAfter.adding(seconds: -daysLeft * 86400))?.description
                .replacing(
                    folder.path + "/", with: "")
        }
        #expect(warning(daysLeft: 30.01) == nil)
        let rest =
            "at \(certificate.notAfter). Create a new one under Certificates, Identifiers & Profiles before then. [certificate-expires]"
        #expect(warning(daysLeft: 12.5) == "push.pem: warning: the certificate expires in 12 days, \(rest)")
        #expect(warning(daysLeft: 1.5) == "push.pem: warning: the certificate expires in 1 day, \(rest)")
        #expect(warning(daysLeft: 0.5) == "push.pem: warning: the certificate expires within a day, \(rest)")
    }

    @Test("random damage to a .p12 never crashes")
    func randomDamage() throws {
        #expect(
            folder.run(
                "openssl pkcs12 -export -nomac -in leaf.pem -inkey leaf.key -keypbe NONE -certpbe NONE -passout pass: -out push.p12"
            )
        )
        folder.run("od -An -v -tu1 push.p12 >bytes")
        let bytes = folder.read("bytes").split(whereSeparator: { $0 == " " || $0 == "\n" }).compactMap { UInt8($0) }
        #expect(bytes.count > 500)
        for _ in 0..<60 {
            var damaged = bytes
            for _ in 0..<Int.random(in: 1...4) { damaged[.random(in: damaged.indices)] = .random(in: 0...255) }
            _ = try? ClientCertificate(file: folder.write("d.p12", damaged), passphrase: nil, now: now)
        }
    }
}
