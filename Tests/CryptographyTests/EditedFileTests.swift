import Base
import Foundation
import Testing

@testable import Cryptography

/// What editors and tools do to a text file without changing its words.
private let forms: [(name: String, change: @Sendable (String) -> [UInt8])] = [
    ("a byte order mark", { TextEncoding.mark + Array($0.utf8) }),
    ("two marks", { TextEncoding.mark + TextEncoding.mark + Array($0.utf8) }),
    ("CR LF", { Array($0.replacing("\n", with: "\r\n").utf8) }), ("CR", { Array($0.replacing("\n", with: "\r").utf8) }),
    ("indented lines", { Array($0.split(separator: "\n").map { "  \t\($0)  \n" }.joined().utf8) }),
    ("marks within", { Array($0.replacing("-----BEGIN", with: "\u{FEFF}-----BEGIN").utf8) }),
    ("blank lines around", { Array("\n\n\($0)\n \n".utf8) }),
    ("a mark and CR LF", { TextEncoding.mark + Array($0.replacing("\n", with: "\r\n").utf8) }),
]

private let otherEncodings: [(name: String, bytes: @Sendable (String) -> [UInt8])] =
    [
        ("UTF-16", String.Encoding.utf16), ("UTF-16", .utf16LittleEndian), ("UTF-16", .utf16BigEndian),
        ("UTF-32", .utf32),
        ("UTF-32", .utf32LittleEndian), ("UTF-32", .utf32BigEndian),
    ].map { name, encoding in (name, { Array($0.data(using: encoding) ?? Data()) }) }

@Suite("Keys and certificates as editors save them")
struct EditedFileTests {
    private let folder = TemporaryFolder()

    private static let certificate: (pem: String, key: String) = {
        let folder = TemporaryFolder()
        let isMade = folder.run(
            "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout k.pem -subj /CN=a -days 30 -out c.pem"
        )
        precondition(isMade, folder.read("log"))
        return (folder.read("c.pem"), folder.read("k.pem"))
    }()

    @Test("a key is read in every form", arguments: forms.map(\.name))
    func keys(name: String) throws {
        let key = SigningKey.generate(), change = try #require(forms.first { $0.name == name }).change
        let read = try SigningKey(file: folder.write("key.p8", change(key.pem)))
        #expect(read.verificationKey.fingerprint == key.verificationKey.fingerprint)
        let rsa = RSASigningKey.generate()
        let again = try RSASigningKey(pem: String(decoding: change(rsa.pem), as: UTF8.self))
        #expect(again.verificationKey.pem == rsa.verificationKey.pem)
    }

    @Test("a certificate is read in every form", arguments: forms.map(\.name))
    func certificates(name: String) throws {
        let change = try #require(forms.first { $0.name == name }).change, (pem, key) = Self.certificate
        let file = folder.write("push.pem", change(pem + key))
        #expect(try ClientCertificate(file: file, passphrase: nil, now: .now()).commonName == "a")
        let authority = folder.write("ca.pem", change(pem + pem))
        try CertificateAuthorityFile.check(authority)
        // What TLS gets can be read by OpenSSL itself.
        _ = folder.write("read.pem", CertificateAuthorityFile.pem(of: authority))
        #expect(folder.run("openssl storeutl -noout -certs read.pem | grep -q 'found: 2'"), "\(folder.read("log"))")
    }

    @Test(
        "a service account is read with marks, and in every form of its lines",
        arguments: ["", "\u{FEFF}", "\u{FEFF}\u{FEFF}"],
        ["\n", "\r\n", "\r"])
    func documents(mark: String, lineEnd: String) throws {
        let text = "\(mark){\n  \"a\": 1\n}\n".replacing("\n", with: lineEnd)
        let document = SecretDocument(
            at: .file(folder.write("account.json", text)), noun: "service account", origin: "")
        #expect(try document.json()["a"]?.integerValue == 1)
    }

    @Test(
        "a first or last line of a key that a person would take for a right one is named with what to write",
        arguments: [
            ("\"-----BEGIN PRIVATE KEY-----", "first line of the key has quotes around it"),
            ("“-----BEGIN PRIVATE KEY-----", "first line of the key has quotes around it"),
            ("—BEGIN PRIVATE KEY—", "dashes that are not hyphens (U+2014)"),
            ("–––––BEGIN PRIVATE KEY–––––", "dashes that are not hyphens (U+2013)"),
            ("----BEGIN PRIVATE KEY-----", "begins with 4 hyphens instead of five"),
            ("\u{200B}-----BEGIN PRIVATE KEY-----", "an invisible character (U+200B)"),
        ])
    func armour(line: String, words: String) {
        let pem = SigningKey.generate().pem, body = pem.split(separator: "\n")[1]
        let file = folder.write("key.p8", pem.replacing("-----BEGIN PRIVATE KEY-----", with: line))
        let mistake = #expect(throws: Diagnostic.self) { try SigningKey(file: file) }
        #expect(mistake?.message.contains(words) == true, "\(mistake?.message ?? "")")
        #expect(mistake?.remedy?.contains("-----BEGIN PRIVATE KEY-----") == true && !"\(mistake as Any)".contains(body))
        let account = SecretDocument(at: .file(file), noun: "service account", origin: "")
        let refusal = #expect(throws: Diagnostic.self) {
            try account.check(privateKeyPEM: pem.replacing("-----BEGIN PRIVATE KEY-----", with: line))
        }
        #expect(refusal?.message.contains(words) == true)
    }

    @Test(
        "a key that signs something else is refused in an account, and one that cannot be decoded shows when it signs")
    func otherKeys() throws {
        let account = SecretDocument(at: .file("account.json"), noun: "service account", origin: "from the console")
        func refusal(_ pem: String) -> String? {
            #expect(throws: Diagnostic.self) { try account.check(privateKeyPEM: pem) }?.description
        }
        #expect(
            refusal(SigningKey.generate().pem)
                == "account.json: the private key in the service account is not an RSA key, which its signatures need (RS256). "
                + "Get a new service account from the console, and store it unchanged.")
        #expect(
            refusal(RSASigningKey.generate(bits: 1024).pem)?.contains("has 1024 bits, but signatures with RSA need")
                == true)
        try account.check(privateKeyPEM: RSASigningKey.generate().pem)
        try account.check(privateKeyPEM: "-----BEGIN PRIVATE KEY-----\nMIIE\n-----END PRIVATE KEY-----\n")
    }

    @Test(
        "what is around a secret is named, and the secret is not shown",
        arguments: [
            ("\"s3cretvalue\"", "quotes around it"), ("'s3cretvalue'", "quotes around it"),
            ("“s3cretvalue”", "quotes around it"),
            ("s3cretvalue\"", "a quote next to it"), ("MASTER_SECRET=s3cretvalue", "a name and a '=' in front of it"),
            ("export MASTER_SECRET='s3cretvalue'", "a name and a '=' in front of it"),
            ("secret: s3cretvalue", "a name and a colon"),
        ])
    func surroundedSecrets(text: String, words: String) {
        let secret = PlainSecret(at: .file(folder.write("secret.txt", text)), noun: "master secret")
        let mistake = #expect(throws: Diagnostic.self) { try secret.text() }
        #expect(
            mistake?.message.contains("this file holds more than the master secret: \(words)") == true,
            "\(mistake?.message ?? "")")
        #expect(
            mistake?.remedy == "Write the value alone into it, without its name and without quotes."
                && !"\(mistake as Any)".contains("s3cr"))
    }

    @Test(
        "a secret with signs of its own is read as it is",
        arguments: ["c2VjcmV0dmFsdWU=", "c2VjcmV0dmFsdQ==", "GOCSPX-a1=b2", "a.b~c_d"])
    func secretsWithSigns(text: String) throws {
        #expect(
            try PlainSecret(at: .file(folder.write("secret.txt", "\(text)\n")), noun: "master secret").text() == text)
    }

    @Test("another encoding is named, whether it has a mark or not", arguments: otherEncodings.indices)
    func encodings(index: Int) throws {
        let (name, bytes) = otherEncodings[index]
        let key = folder.write("key.p8", bytes(SigningKey.generate().pem))
        let words = "is written in \(name), not in UTF-8"
        #expect(#expect(throws: Diagnostic.self) { try SigningKey(file: key) }?.message.hasSuffix(words) == true)
        let certificate = folder.write("push.pem", bytes(Self.certificate.pem + Self.certificate.key))
        let refusal = #expect(throws: Diagnostic.self) {
            try ClientCertificate(file: certificate, passphrase: nil, now: .now())
        }
        #expect(refusal?.message.hasSuffix(words) == true)
        #expect(
            #expect(throws: Diagnostic.self) { try CertificateAuthorityFile.check(certificate) }?.message.hasSuffix(
                words) == true)
        let account = SecretDocument(
            at: .file(folder.write("a.json", bytes("{\"a\": 1}"))), noun: "service account", origin: "")
        #expect(#expect(throws: Diagnostic.self) { try account.json() }?.message.hasSuffix(words) == true)
        let secret = PlainSecret(
            at: .file(folder.write("secret.txt", bytes("0123456789abcdef"))), noun: "master secret")
        #expect(#expect(throws: Diagnostic.self) { try secret.text() }?.message.hasSuffix(words) == true)
    }
}

@Suite("Files of certificate authorities")
struct CertificateAuthorityFileTests {
    private let folder = TemporaryFolder()

    private static let pem: String = {
        let folder = TemporaryFolder()
        precondition(
            folder.run(
                "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout k.pem -subj /CN=a -days 30 -out c.pem"
            )
        )
        return folder.read("c.pem")
    }()

    private func refusal(_ bytes: [UInt8], now: Timestamp = .now()) -> String? {
        let file = folder.write("ca.pem", bytes)
        do throws(Diagnostic) { try CertificateAuthorityFile.check(file, now: now) } catch {
            #expect(error.remedy?.hasSuffix(".") == true)
            return error.description.replacing(folder.path + "/", with: "")
        }
        return nil
    }

    private func refusal(_ text: String) -> String? { refusal(Array(text.utf8)) }

    @Test("one broken certificate among several is refused with its line")
    func broken() {
        let pem = Self.pem, lines = pem.split(separator: "\n").count
        func changed(_ line: Int, _ text: String?) -> String {
            var all = pem.split(separator: "\n").map(String.init)
            if let text { all[line] = text } else { all.remove(at: line) }
            return all.joined(separator: "\n") + "\n"
        }
        for (text, message) in [
            (changed(2, "AAAA"), "the certificate that begins here is damaged"),
            (changed(2, nil), "the certificate that begins here is damaged"),
            (changed(2, "Grüße"), "the certificate that begins here is damaged"),
            (changed(lines - 1, nil), "is cut off"),
            (changed(0, "----BEGIN CERTIFICATE-----"), "this line is damaged"),
            (changed(0, "-----BEGIN CERTIFICATE"), "this line is damaged"),
        ] {
            let found = refusal(pem + text) ?? ""
            #expect(found.hasPrefix("ca.pem:\(lines + 1):1: ") && found.contains(message), "\(found)")
            #expect(refusal(text + pem)?.hasPrefix("ca.pem:1:1: ") == true)
        }
        #expect(refusal(changed(0, nil))?.contains("its line -----BEGIN CERTIFICATE----- is missing") == true)
    }

    @Test("words between certificates are comments, and a key next to a certificate does no harm")
    func comments() {
        #expect(refusal("# Example CA\n\(Self.pem)\nsubject=CN = a\n\(Self.pem)") == nil)
        #expect(refusal(SigningKey.generate().pem + Self.pem) == nil)
    }

    @Test("what is no authority is named, with what to do")
    func others() {
        #expect(refusal("")?.hasPrefix("ca.pem: the file of certificate authorities is empty") == true)
        #expect(refusal("hello")?.hasPrefix("ca.pem: this is not a certificate in PEM form") == true)
        #expect(
            refusal(SigningKey.generate().pem)?.hasPrefix("ca.pem:1:1: this is a private key, not a certificate")
                == true)
        _ = folder.write("c.pem", Self.pem)
        #expect(folder.run("openssl x509 -in c.pem -outform der -out c.der"))
        let der = (try? RegularFile.bytes(of: folder.file("c.der"), atMost: 1 << 16)) ?? []
        let message = refusal(der) ?? ""
        #expect(message.hasPrefix("ca.pem: this certificate is binary (DER), and Volley reads PEM"))
        let command = message.firstMatch(of: /Run: (openssl .*?);/).map { String($0.output.1) } ?? ""
        #expect(folder.run(command), "\(folder.read("log"))")
        #expect(throws: Never.self) { try CertificateAuthorityFile.check(folder.file("authority.pem")) }
    }

    @Test("a file is refused once all of its certificates have expired")
    func expired() {
        let later = Timestamp.now().adding(seconds: 31 * 86_400)
        #expect(refusal(Array(Self.pem.utf8), now: later)?.contains("the certificate expired at") == true)
        #expect(
            refusal(Array((Self.pem + Self.pem).utf8), now: later)?.contains(
                "all certificates of the file have expired") == true)
    }
}
