public import Base
import Synchronization

/// The typed credentials of a sign-in, and its origin. Its description shows nothing of it.
public struct SignInAttempt: Sendable, CustomStringConvertible, CustomReflectable {
    let name: String, password: String
    let source: SignInSource, agent: String

    /// - Parameters:
    ///   - name: of any length and content.
    ///   - password: of any length and content.
    ///   - agent: the browser's identification; 200 bytes of it are kept.
    public init(name: String, password: String, source: SignInSource, agent: String) {
        self.name = name
        self.password = password
        self.source = source
        self.agent = agent
    }

    /// Shows nothing of it.
    public var description: String { "(attempt to sign in)" }
    /// Shows nothing of it.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// The result of an attempt to sign in.
public enum SignInResult: Hashable, Sendable {
    /// The person is signed in. The token is for a cookie; an earlier one no longer works.
    case signedIn(SecretToken)
    /// The password was right. The token is for `enterCode`, within five minutes, and gives no
    /// right.
    case needsCode(SecretToken)
    /// Name, password or code are not right, or the account is disabled: the answer does not say
    /// which.
    case refused
    /// The number of seconds before the next try; this one was not checked.
    case slowDown(seconds: Int64)
}

/// Signs people in: combines the store, the hashing, and the brake. The web process has one, as the
/// brake is in memory.
///
/// All calls throw what `AccountStore` throws, and `AccountError.busy` if too many people sign in
/// at the same moment.
public final class Authenticator: Sendable {
    private let store: AccountStore
    private let hasher: PasswordHasher
    private let throttle = Mutex(SignInThrottle())

    /// An authenticator without any recorded failures.
    public init(_ store: AccountStore, _ hasher: PasswordHasher = PasswordHasher()) {
        self.store = store
        self.hasher = hasher
    }

    /// Whether a password for a name would be refused unchecked now. Quick, and not counted: for
    /// callers that decide before they queue work.
    public func mustWait(_ name: String, from source: SignInSource, at now: Timestamp) -> Bool {
        let name = AccountName(reading: name)
        return throttle.withLock { $0.wait(.password, of: name, from: source, at: now) } > 0
    }

    /// Whether the owner of an account signed in from there before. The check is quick, too.
    public func isKnown(_ name: String, from source: SignInSource, at now: Timestamp) -> Bool {
        guard let name = AccountName(reading: name) else { return false }
        return throttle.withLock { $0.isKnown(name, from: source, at: now) }
    }

    /// Signs a person in, or has them enter a code. Takes the same work whether or not the account
    /// exists.
    /// Source: OWASP's Authentication Cheat Sheet, "Authentication and Error Messages".
    public func signIn(_ attempt: SignInAttempt, at now: Timestamp) throws -> SignInResult {
        let name = AccountName(reading: attempt.name), address = attempt.source.address
        return try braked(.password, name, attempt.source, now) {
            let found = try name.flatMap { try store.credential($0) }
            guard case .right(let stronger) = try hasher.check(attempt.password, found?.password) else {
                if let found { try store.noteFailure(.wrongPassword, of: found.account.id, from: address, at: now) }
                return .refused
            }
            guard let found else { return .refused }
            let origin = SessionRecords.Origin(address: address, agent: attempt.agent)
            guard
                let (token, stage) = try store.startSession(
                    found.account.id, found.password, stronger: stronger, from: origin, at: now)
            else {
                try store.noteFailure(.disabled, of: found.account.id, from: address, at: now)
                return .refused
            }
            return stage == .signedIn ? .signedIn(token) : .needsCode(token)
        }
    }

    /// Takes the code of the second factor: six digits of the app, or a recovery code.
    public func enterCode(_ code: String, for token: SecretToken, from source: SignInSource, at now: Timestamp) throws
        -> SignInResult
    {
        guard let found = try store.anySession(token, at: now) else { throw AccountError.notSignedIn }
        return try braked(.code, found.account.name, source, now) {
            switch try store.useCode(code, for: token, from: source.address, at: now) {
            case .right(let new): .signedIn(new)
            case .wrong: .refused
            case .ended: throw AccountError.notSignedIn
            }
        }
    }

    /// Checks the password of a signed-in person again, and the code if there is a second factor,
    /// for actions that need a fresh sign-in.
    /// - Parameter code: nil if the account has no second factor; ignored then.
    public func proveAgain(
        _ token: SecretToken, password: String, code: String?, from source: SignInSource, at now: Timestamp
    ) throws -> SignInResult {
        let result = try withPassword(password, token, source, now) { found, hash in
            if found.account.hasSecondFactor { return .needsCode(token) }
            guard let new = try store.prove(token, hash, at: now) else { throw AccountError.notSignedIn }
            return .signedIn(new)
        }
        guard case .needsCode = result else { return result }
        return try enterCode(code ?? "", for: token, from: source, at: now)
    }

    /// Changes a person's own password. All sessions of the account end; the returned token belongs
    /// to a new one.
    /// - Throws: also `AccountError.unfitPassword`, before the old one is checked.
    public func changePassword(
        _ token: SecretToken, from old: String, to new: String, source: SignInSource, at now: Timestamp
    ) throws -> SignInResult {
        guard let found = try store.signedIn(token, at: now) else { throw AccountError.notSignedIn }
        let after = try hasher.hash(new, of: found.account.name, found.account.displayName)
        return try withPassword(old, token, source, now) { found, before in
            let actor = Actor(found.account.id, address: source.address)
            guard let new = try store.changePassword(token, from: before, to: after, by: actor, at: now) else {
                throw AccountError.notSignedIn
            }
            return .signedIn(new)
        }
    }

    /// Uses up an invitation: the person chooses a password, and signs in with it afterwards.
    /// - Throws: also `AccountError.invitationNotValid`, `.unfitPassword`, after which the link
    ///   still works, and `.nameTaken`.
    public func accept(_ token: SecretToken, password: String, from address: IPAddress?, at now: Timestamp) throws
        -> AccountID
    {
        guard let (invitation, name) = try store.invitation(token, at: now) else {
            throw AccountError.invitationNotValid
        }
        let displayName: DisplayName? =
            switch invitation.purpose {
            case .newAccount(_, let displayName, _): displayName
            case .newPassword(let id): try store.account(id)?.displayName
            }
        return try store.accept(token, hasher.hash(password, of: name, displayName), from: address, at: now)
    }

    /// Does something after checking the password of a signed-in person.
    private func withPassword(
        _ password: String, _ token: SecretToken, _ source: SignInSource, _ now: Timestamp,
        _ body: (SignedIn, PasswordHash) throws -> SignInResult
    ) throws -> SignInResult {
        guard let found = try store.signedIn(token, at: now) else { throw AccountError.notSignedIn }
        return try braked(.password, found.account.name, source, now) {
            guard let (_, hash) = try store.credential(found.account.name),
                case .right = try hasher.check(password, hash)
            else {
                try store.noteFailure(.wrongPassword, of: found.account.id, from: source.address, at: now)
                return .refused
            }
            return try body(found, hash)
        }
    }

    /// Passes an attempt through the brake, and reports its result there.
    private func braked(
        _ step: SignInThrottle.Step, _ name: AccountName?, _ source: SignInSource, _ now: Timestamp,
        _ body: () throws -> SignInResult
    ) throws -> SignInResult {
        let ticket: SignInThrottle.Ticket
        switch throttle.withLock({ $0.attempt(step, of: name, from: source, at: now) }) {
        case .goAhead(let counted): ticket = counted
        case .wait(let seconds): return .slowDown(seconds: seconds)
        }
        do {
            let result = try body()
            throttle.withLock { throttle in
                switch result {
                case .signedIn: throttle.succeeded(ticket, at: now)
                // The password was right, so it is not a failure; without the code it proves
                // nothing yet.
                case .needsCode: throttle.takeBack(ticket, at: now)
                case .refused, .slowDown: break
                }
            }
            return result
        } catch {
            // Nothing was learned about the password.
            throttle.withLock { $0.takeBack(ticket, at: now) }
            throw error
        }
    }
}
