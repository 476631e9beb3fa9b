import Base
import Cryptography

/// A secret that a person's authenticator app and Volley share: from it and the time, both compute
/// the same code of six digits every 30 seconds (TOTP, RFC 6238, with HMAC-SHA-1, which all apps
/// support). Its description shows nothing of it.
public struct TOTPSecret: Hashable, Sendable, CustomStringConvertible, CustomReflectable {
    let bytes: [UInt8]

    /// Source: RFC 4226 section 4, R6: 160 bits are recommended.
    static let byteCount = 20
    private static let digits = 6, modulus: UInt32 = 1_000_000
    /// Source: RFC 6238 section 5.2.
    private static let secondsPerStep: Int64 = 30
    /// Source: RFC 6238 section 5.2: at most one step for the delay of the network; here also one
    /// for clocks that run ahead.
    private static let drift: Int64 = 1

    init(bytes: [UInt8]) {
        precondition(!bytes.isEmpty, "a code without a secret shows nothing")
        self.bytes = bytes
    }

    /// A new one.
    static func random() -> TOTPSecret { TOTPSecret(bytes: RandomBytes.make(byteCount)) }

    /// In Base32, to type it into an app. Show it once, only to its owner.
    public var base32: String { Base32.text(bytes) }

    /// `otpauth://totp/…`, for a QR code. Show it once, only to its owner. Source: "Key Uri Format"
    /// of Google Authenticator, which other apps follow.
    public func uri(for name: AccountName, issuer: String) -> String {
        let issuer = Self.percentEncoded(issuer)
        return
            "otpauth://totp/\(issuer):\(Self.percentEncoded(name.text))?secret=\(base32)&issuer=\(issuer)&algorithm=SHA1&digits=6&period=30"
    }

    /// All but the unreserved characters of RFC 3986 section 2.3 as `%XX`.
    private static func percentEncoded(_ text: String) -> String {
        var encoded = ""
        for byte in text.utf8 {
            let scalar = Unicode.Scalar(byte)
            if scalar.isASCII,
                scalar.properties.isAlphabetic || ("0"..."9").contains(scalar) || "-._~".unicodeScalars.contains(scalar)
            {
                encoded.unicodeScalars.append(scalar)
            } else {
                let hex = String(byte, radix: 16, uppercase: true)
                encoded += "%" + (hex.count == 1 ? "0" : "") + hex
            }
        }
        return encoded
    }

    /// The step that a moment belongs to; negative before 1970.
    static func step(at now: Timestamp) -> Int64 {
        let seconds = now.epochSeconds
        return (seconds >= 0 ? seconds : seconds - secondsPerStep + 1) / secondsPerStep
    }

    /// The code of a step, six digits. Source: RFC 4226 section 5.3.
    func code(ofStep step: Int64) -> String {
        let message = (0..<8).map { UInt8(truncatingIfNeeded: UInt64(bitPattern: step) >> UInt64(8 * (7 - $0))) }
        let hash = HMACSHA1.code(of: message, key: bytes)
        let offset = Int(hash[hash.count - 1] & 15)
        let number = hash[offset..<offset + 4].reduce(UInt32(0)) { $0 << 8 | UInt32($1) } & 0x7FFF_FFFF
        return TextFormat.zeroPadded(Int(number % Self.modulus), digits: Self.digits)
    }

    /// The steps whose codes may be accepted at a moment, the oldest first.
    static func window(at now: Timestamp) -> ClosedRange<Int64> { step(at: now) - drift...step(at: now) + drift }

    /// The step that a code belongs to; nil if the code is wrong, or was used. A step works once,
    /// and steps before a used one do not work, unless the clock was set back in between. Source:
    /// RFC 6238 section 5.2.
    /// - Parameters:
    ///   - typed: what the person typed; blanks between digits do not count.
    ///   - used: the steps within `window(at:)` that were used.
    func acceptedStep(_ typed: String, at now: Timestamp, used: Set<Int64>) -> Int64? {
        guard let code = Self.digits(in: typed) else { return nil }
        // All are compared, so that the time does not show which one it was.
        let fitting = Self.window(at: now).filter { ConstantTime.areEqual(Array(self.code(ofStep: $0).utf8), code) }
        return fitting.first { step in used.allSatisfy { $0 < step } }
    }

    private static func digits(in typed: String) -> [UInt8]? {
        guard typed.utf8.count <= 64 else { return nil }
        let code = typed.utf8.filter { $0 != 0x20 }
        return code.count == digits && code.allSatisfy { (0x30...0x39).contains($0) } ? code : nil
    }

    /// Shows nothing of it.
    public var description: String { "(secret of a second factor)" }
    /// Shows nothing of it.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

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

/// Base32 (RFC 4648 section 6) without padding, which people can read out and type.
enum Base32 {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".utf8)

    /// The letters for bytes; five bytes make eight letters.
    static func text(_ bytes: [UInt8]) -> String {
        var letters: [UInt8] = []
        var (bits, count) = (0, 0)
        for byte in bytes {
            bits = bits << 8 | Int(byte)
            count += 8
            while count >= 5 {
                count -= 5
                letters.append(alphabet[bits >> count & 31])
            }
            bits &= 1 << count - 1
        }
        if count > 0 { letters.append(alphabet[bits << (5 - count) & 31]) }
        return String(decoding: letters, as: UTF8.self)
    }
}
