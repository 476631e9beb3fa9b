import Base
import Cryptography

/// What is stored of a password: the key that scrypt makes of it, with the salt and the parameters it was made with, so that these can be
/// raised later. Its text is `$scrypt$ln=15,r=8,p=1$SALT$KEY` (the PHC string format), with hex digits.
struct PasswordHash: Hashable, Sendable, CustomStringConvertible, CustomReflectable {
    let scrypt: Scrypt
    let salt: [UInt8]
    let key: [UInt8]

    /// 32 MB and some 100 ms a password. Source: OWASP's Password Storage Cheat Sheet, scrypt with N = 2^15 (p is 3 there; here at most two
    /// are computed at a time, after a brake on failures).
    static let standard = Scrypt(costBits: 15, blockSize: 8, parallelism: 1)
    static let saltBytes = 16, keyBytes = 32

    init(scrypt: Scrypt, salt: [UInt8], key: [UInt8]) {
        self.scrypt = scrypt
        self.salt = salt
        self.key = key
    }

    /// Hashes a password with a new salt.
    /// - Throws: a `Diagnostic`: there is not enough memory.
    init(of password: String, _ scrypt: Scrypt) throws(Diagnostic) {
        let salt = RandomBytes.make(Self.saltBytes)
        self.init(scrypt: scrypt, salt: salt, key: try scrypt.key(password: Array(password.utf8), salt: salt, count: Self.keyBytes))
    }

    /// A hash of nothing: no password fits, and finding this out takes as long as for any other.
    static func ofNobody(_ scrypt: Scrypt) -> PasswordHash {
        PasswordHash(scrypt: scrypt, salt: RandomBytes.make(saltBytes), key: RandomBytes.make(keyBytes))
    }

    /// Whether this is the hash of a password. A password that is too long to be any takes the same time.
    /// - Throws: a `Diagnostic`: there is not enough memory.
    func fits(_ password: String) throws(Diagnostic) -> Bool {
        let bytes = Array(password.utf8.prefix(PasswordRules.mostBytes))
        let isEqual = ConstantTime.areEqual(try scrypt.key(password: bytes, salt: salt, count: key.count), key)
        // HMAC fills a short password up with zeros (RFC 2104), so that a zero at its end would not count.
        return isEqual && bytes.count == password.utf8.count && !bytes.contains(0)
    }

    /// As stored.
    var text: String {
        "$scrypt$ln=\(scrypt.costBits),r=\(scrypt.blockSize),p=\(scrypt.parallelism)$\(SHA256.hex(salt))$\(SHA256.hex(key))"
    }

    /// Reads what `text` wrote; nil for anything else, and for parameters that would take all memory.
    init?(text: String) {
        let parts = text.split(separator: "$", omittingEmptySubsequences: false)
        guard parts.count == 5, parts[0].isEmpty, parts[1] == "scrypt", let salt = Hex.bytes(parts[3]), let key = Hex.bytes(parts[4]),
            salt.count == Self.saltBytes, key.count == Self.keyBytes
        else { return nil }
        let values = parts[2].split(separator: ",", omittingEmptySubsequences: false)
        let names = ["ln=", "r=", "p="]
        guard values.count == names.count else { return nil }
        let numbers = zip(values, names).compactMap { value, name in value.hasPrefix(name) ? Int(value.dropFirst(name.count)) : nil }
        guard numbers.count == names.count,
            let scrypt = Scrypt(costBits: numbers[0], blockSize: numbers[1], parallelism: numbers[2])
        else { return nil }
        self.init(scrypt: scrypt, salt: salt, key: key)
    }

    /// Shows nothing of it.
    var description: String { "(hash of a password)" }
    var customMirror: Mirror { Mirror(self, children: []) }
}
