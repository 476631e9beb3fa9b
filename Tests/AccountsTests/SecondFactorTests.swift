import Base
import Testing

@testable import Accounts

@Suite("One-time passwords and recovery codes")
struct SecondFactorTests {
    private let known = TOTPSecret(bytes: Array("12345678901234567890".utf8))

    /// RFC 4226 appendix D.
    @Test("the codes of RFC 4226")
    func hotp() {
        let codes = [
            "755224", "287082", "359152", "969429", "338314", "254676", "287922", "162583", "399871", "520489",
        ]
        #expect((0..<10).map { known.code(ofStep: $0) } == codes)
    }

    /// RFC 6238 appendix B, SHA-1: eight digits there, of which the last six are the code.
    @Test(
        "the codes of RFC 6238",
        arguments: [
            (59, "94287082"), (1_111_111_109, "07081804"), (1_111_111_111, "14050471"), (1_234_567_890, "89005924"),
            (2_000_000_000, "69279037"), (20_000_000_000, "65353130"),
        ] as [(Int64, String)])
    func totp(seconds: Int64, code: String) {
        #expect(known.code(ofStep: TOTPSecret.step(at: Timestamp(epochSeconds: seconds))) == code.suffix(6))
    }

    /// RFC 4648 section 10, without padding.
    @Test("Base32 is that of RFC 4648")
    func base32() {
        let pairs = [
            ("", ""), ("f", "MY"), ("fo", "MZXQ"), ("foo", "MZXW6"), ("foob", "MZXW6YQ"), ("fooba", "MZXW6YTB"),
            ("foobar", "MZXW6YTBOI"),
        ]
        for (text, letters) in pairs { #expect(Base32.text(Array(text.utf8)) == letters) }
    }

    @Test("the URI is what authenticator apps read")
    func uri() throws {
        #expect(
            known.uri(for: try name("anna+x@example.com"), issuer: "Volley: Müller & Co") == """
                otpauth://totp/Volley%3A%20M%C3%BCller%20%26%20Co:anna%2Bx%40example.com?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ\
                &issuer=Volley%3A%20M%C3%BCller%20%26%20Co&algorithm=SHA1&digits=6&period=30
                """)
        #expect(TOTPSecret.random().bytes.count == 20 && TOTPSecret.random() != TOTPSecret.random())
    }

    @Test("the code of the step before, of this one and of the next are right, others are not")
    func drift() {
        let now = TOTPSecret.step(at: noon)
        let accepted = (-3...3).filter {
            known.acceptedStep(known.code(ofStep: now + Int64($0)), at: noon, used: []) == now + Int64($0)
        }
        #expect(accepted == [-1, 0, 1])
    }

    @Test("a step before one that was used does not work any more")
    func earlier() {
        let now = TOTPSecret.step(at: noon)
        #expect(known.acceptedStep(known.code(ofStep: now - 1), at: noon, used: [now]) == nil)
        #expect(known.acceptedStep(known.code(ofStep: now + 1), at: noon, used: [now]) == now + 1)
    }

    @Test(
        "a code is six digits, blanks aside",
        arguments: ["", "12345", "1234567", "12345a", "１２３４５６", "-12345", "287082\n"])
    func forms(typed: String) {
        let second = Timestamp(epochSeconds: 45)
        #expect(known.acceptedStep(" 287 082 ", at: second, used: []) == 1)
        #expect(known.acceptedStep(typed, at: second, used: []) == nil)
        #expect(known.acceptedStep(String(repeating: "1", count: 1 << 20), at: second, used: []) == nil)
    }

    @Test("before 1970 steps are rounded down as well")
    func negative() {
        #expect(
            [-31, -30, -1, 0, 29, 30].map { TOTPSecret.step(at: Timestamp(epochSeconds: $0)) } == [-2, -1, -1, 0, 0, 1])
    }

    @Test("recovery codes are read as people type them, and fit their own hash alone")
    func recovery() throws {
        let code = RecoveryCode()
        #expect(code.text.wholeMatch(of: /[A-Z2-7]{4}(-[A-Z2-7]{4}){3}/) != nil)
        let hash = RecoveryCode.Hash(of: code)
        for typed in [
            code.text, code.text.lowercased(), code.text.replacing("-", with: ""),
            " " + code.text.replacing("-", with: " "),
        ] {
            #expect(hash.fits(try #require(RecoveryCode(typed: typed))))
        }
        #expect(!hash.fits(RecoveryCode()))
        #expect(hash != RecoveryCode.Hash(of: code))
        for typed in [
            "", "ABCD-EFGH-IJKL-MNO", "ABCD-EFGH-IJKL-MNO1", "ÄBCD-EFGH-IJKL-MNOP",
            String(repeating: "A", count: 1 << 20),
        ] {
            #expect(RecoveryCode(typed: typed) == nil)
        }
    }

    @Test("nothing of a secret is in a description, a dump or an interpolation")
    func descriptions() throws {
        let (token, code) = (SecretToken(), RecoveryCode())
        let hash = try quickHasher().hash(goodPassword, of: name("anna"), nil)
        let attempt = SignInAttempt(name: "anna", password: goodPassword, source: SignInSource(address: nil), agent: "")
        let invitation = Invitation(id: 1, purpose: .newPassword(AccountID(1)), madeAt: noon, lapsesAt: noon)
        var text = "\(token) \(code) \(known) \(hash) \(attempt) \(SignInResult.signedIn(token)) \([known])"
        let values: [Any] = [
            token, code, known, hash, attempt, SignInResult.needsCode(token),
            InvitationLink(token: token, invitation: invitation),
        ]
        for value in values {
            dump(value, to: &text)
            text += String(reflecting: value)
        }
        for secret in [token.text, code.text, goodPassword, known.base32, "49, 50, 51", String(hash.text.suffix(20))] {
            #expect(!text.contains(secret))
        }
    }

    @Test("tokens are 256 random bits, of which the hash is stored")
    func tokens() throws {
        let token = SecretToken()
        #expect(token.text.utf8.count == 64 && SecretToken(token.text) == token && SecretToken() != token)
        #expect(SecretToken.stored(token) != token.text && SecretToken.stored(token).count == 64)
        for text in [
            "", "x", token.text.uppercased() + "A", String(token.text.dropLast()) + "g",
            String(repeating: "é", count: 32),
        ] {
            #expect(SecretToken(text) == nil)
        }
    }
}
