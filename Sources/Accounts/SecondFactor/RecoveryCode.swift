import Cryptography

/// A code that signs a person in once if the device with their authenticator app is lost: 80 random
/// bits, `ABCD-EFGH-IJKL-MNOP`. Its description shows nothing of it.
public struct RecoveryCode: Hashable, Sendable, CustomStringConvertible, CustomReflectable {
    /// As it is shown once, only to its owner.
    public let text: String

    /// How many a person gets.
    public static let count = 10
    private static let byteCount = 10, letters = 16, saltBytes = 16

    init() {
        let letters = Base32.text(RandomBytes.make(Self.byteCount))
        text = stride(from: 0, to: Self.letters, by: 4).map { String(letters.dropFirst($0).prefix(4)) }.joined(
            separator: "-")
    }

    /// What a person typed, in capital or small letters, with or without hyphens and blanks; nil if
    /// it is not such a code.
    init?(typed: String) {
        guard typed.utf8.count <= 64 else { return nil }
        let letters = typed.uppercased().filter { $0 != "-" && $0 != " " }
        guard letters.utf8.count == Self.letters,
            letters.utf8.allSatisfy({ (0x41...0x5A).contains($0) || (0x32...0x37).contains($0) })
        else {
            return nil
        }
        text = stride(from: 0, to: Self.letters, by: 4).map { String(letters.dropFirst($0).prefix(4)) }.joined(
            separator: "-")
    }

    /// The stored form of a code. Source: OWASP ASVS 4.0.3, 2.6.2 (a separate salt below 112 bits).
    struct Hash: Hashable, Sendable {
        let salt: [UInt8]
        let digest: [UInt8]

        init(salt: [UInt8], digest: [UInt8]) {
            self.salt = salt
            self.digest = digest
        }

        init(of code: RecoveryCode, salt: [UInt8] = RandomBytes.make(saltBytes)) {
            self.salt = salt
            digest = SHA256.digest(of: salt + Array(code.text.utf8))
        }

        func fits(_ code: RecoveryCode) -> Bool { ConstantTime.areEqual(Hash(of: code, salt: salt).digest, digest) }
    }

    /// Shows nothing of it.
    public var description: String { "(recovery code)" }
    /// Shows nothing of it.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
