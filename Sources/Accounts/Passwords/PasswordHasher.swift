import Base
import Cryptography

/// Hashes and checks passwords, not more than two at a time: each takes 32 MB and a core. A process needs one.
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
    /// - Throws: `AccountError.unfitPassword` and `.busy`; a `Diagnostic` if there is not enough memory.
    func hash(_ password: String, of name: AccountName, _ displayName: DisplayName?) throws -> PasswordHash {
        if let flaw = PasswordRules.flaw(in: password, name: name, displayName: displayName) { throw AccountError.unfitPassword(flaw) }
        return try limit.run { try PasswordHash(of: password, scrypt) }
    }

    /// What a password turned out to be.
    enum Verdict {
        case wrong
        /// `stronger` is the hash to store instead if the stored one was made with other parameters than this version's.
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
