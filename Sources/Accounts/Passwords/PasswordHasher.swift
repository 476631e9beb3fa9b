import Base
import Cryptography
import Glibc
import Synchronization

/// Hashes and checks passwords, at most two at a time: each takes 32 MB and a core. A process needs
/// one.
public final class PasswordHasher: Sendable {
    private let limit: WorkLimit
    private let scrypt: Scrypt

    /// A hasher with the parameters of this version.
    public convenience init() {
        guard let scrypt = PasswordHash.standard else { fatalError("the standard parameters are valid") }
        self.init(scrypt)
    }

    /// - Parameter scrypt: weaker parameters are for tests.
    init(_ scrypt: Scrypt, mostWaiting: Int = 32) {
        limit = WorkLimit(2, mostWaiting: mostWaiting)
        self.scrypt = scrypt
    }

    /// Checks and hashes a new password.
    /// - Throws: `AccountError.unfitPassword` and `.busy`; a `Diagnostic` if there is not enough
    ///   memory.
    func hash(_ password: String, of name: AccountName, _ displayName: DisplayName?) throws -> PasswordHash {
        if let flaw = PasswordRules.flaw(in: password, name: name, displayName: displayName) {
            throw AccountError.unfitPassword(flaw)
        }
        return try limit.run { try PasswordHash(of: password, scrypt) }
    }

    /// The result of checking a password.
    enum Verdict {
        case wrong
        /// `stronger` is the hash to store instead if the stored one was made with other parameters
        /// than this version's.
        case right(stronger: PasswordHash?)
    }

    /// Whether a password is that of a hash.
    /// - Parameter hash: nil if there is no such account, for which the same work is done.
    /// - Throws: `AccountError.busy`; a `Diagnostic` if there is not enough memory.
    func check(_ password: String, _ hash: PasswordHash?) throws -> Verdict {
        try limit.run {
            let fits = try (hash ?? .ofNobody(scrypt)).fits(password)
            guard let hash, fits else { return .wrong }
            return .right(stronger: hash.scrypt == scrypt ? nil : try PasswordHash(of: password, scrypt))
        }
    }
}

/// Lets a few threads at a time do work that takes much memory, lets some more wait, and refuses
/// all others, so that a flood of requests uses up neither memory nor threads.
///
/// `@unchecked Sendable`: a POSIX semaphore is made for use by many threads; it stays at its
/// address until deinit. Everything else is constant or a `Mutex`.
final class WorkLimit: @unchecked Sendable {
    private let semaphore = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)
    private let present = Mutex(0)
    private let mostPresent: Int

    /// - Parameters:
    ///   - limit: how many threads work at a time, at least 1.
    ///   - mostWaiting: how many more may wait.
    init(_ limit: Int, mostWaiting: Int) {
        precondition(limit > 0, "nothing would ever be done")
        mostPresent = limit + mostWaiting
        sem_init(semaphore, 0, UInt32(limit))
    }

    deinit {
        sem_destroy(semaphore)
        semaphore.deallocate()
    }

    /// Does the work when this thread's turn comes.
    /// - Throws: `AccountError.busy` at once if too many are waiting; what `body` throws.
    func run<Value>(_ body: () throws -> Value) throws -> Value {
        let isLetIn = present.withLock { present in
            guard present < mostPresent else { return false }
            present += 1
            return true
        }
        guard isLetIn else { throw AccountError.busy }
        defer { present.withLock { $0 -= 1 } }
        while sem_wait(semaphore) != 0 {}
        defer { sem_post(semaphore) }
        return try body()
    }
}

/// The stored form of a password: the key that scrypt derives from it, with the salt and the
/// parameters, so that these can be raised later. Its text is `$scrypt$ln=15,r=8,p=1$SALT$KEY` (the
/// PHC string format), with hex digits.
struct PasswordHash: Hashable, Sendable, CustomStringConvertible, CustomReflectable {
    let scrypt: Scrypt
    let salt: [UInt8]
    let key: [UInt8]

    /// 32 MB and some 100 ms a password. Source: OWASP's Password Storage Cheat Sheet, scrypt with
    /// N = 2^15 (p is 3 there; here at most two are computed at a time, after a brake on failures).
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
        self.init(
            scrypt: scrypt, salt: salt,
            key: try scrypt.key(password: Array(password.utf8), salt: salt, count: Self.keyBytes))
    }

    /// A hash that no password matches; checking it takes as long as for any other.
    static func ofNobody(_ scrypt: Scrypt) -> PasswordHash {
        PasswordHash(scrypt: scrypt, salt: RandomBytes.make(saltBytes), key: RandomBytes.make(keyBytes))
    }

    /// Whether this is the hash of a password. A password that is too long to be valid takes the
    /// same time.
    /// - Throws: a `Diagnostic`: there is not enough memory.
    func fits(_ password: String) throws(Diagnostic) -> Bool {
        let bytes = Array(password.utf8.prefix(PasswordRules.mostBytes))
        let isEqual = ConstantTime.areEqual(try scrypt.key(password: bytes, salt: salt, count: key.count), key)
        // HMAC pads a short password with zeros (RFC 2104), so that a zero at its end would make no
        // difference.
        return isEqual && bytes.count == password.utf8.count && !bytes.contains(0)
    }

    /// As stored.
    var text: String {
        "$scrypt$ln=\(scrypt.costBits),r=\(scrypt.blockSize),p=\(scrypt.parallelism)$\(SHA256.hex(salt))$\(SHA256.hex(key))"
    }

    /// Reads what `text` wrote; nil for anything else, and for parameters that would take all
    /// memory.
    init?(text: String) {
        let parts = text.split(separator: "$", omittingEmptySubsequences: false)
        guard parts.count == 5, parts[0].isEmpty, parts[1] == "scrypt", let salt = Hex.bytes(parts[3]),
            let key = Hex.bytes(parts[4]),
            salt.count == Self.saltBytes, key.count == Self.keyBytes
        else { return nil }
        let values = parts[2].split(separator: ",", omittingEmptySubsequences: false)
        let names = ["ln=", "r=", "p="]
        guard values.count == names.count else { return nil }
        let numbers = zip(values, names).compactMap { value, name in
            value.hasPrefix(name) ? Int(value.dropFirst(name.count)) : nil
        }
        guard numbers.count == names.count,
            let scrypt = Scrypt(costBits: numbers[0], blockSize: numbers[1], parallelism: numbers[2])
        else { return nil }
        self.init(scrypt: scrypt, salt: salt, key: key)
    }

    /// Shows nothing of it.
    var description: String { "(hash of a password)" }
    var customMirror: Mirror { Mirror(self, children: []) }
}
