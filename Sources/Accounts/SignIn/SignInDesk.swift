public import Base
import Synchronization

/// What a person types to sign in, and where from. Its description shows nothing of it.
public struct SignInAttempt: Sendable, CustomStringConvertible, CustomReflectable {
    let name: String, password: String
    let address: IPAddress?, agent: String

    /// - Parameters:
    ///   - name: of any length and content.
    ///   - password: likewise.
    ///   - address: of the person; nil where it says nothing about them (a Unix socket, the loopback).
    ///   - agent: what the browser calls itself; 200 bytes of it are kept.
    public init(name: String, password: String, address: IPAddress?, agent: String) {
        self.name = name
        self.password = password
        self.address = address
        self.agent = agent
    }

    /// Shows nothing of it.
    public var description: String { "(attempt to sign in)" }
    /// Shows nothing of it.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// What becomes of an attempt to sign in.
public enum SignInResult: Hashable, Sendable {
    /// The person is signed in. The token is for a cookie; one that they had before is worth nothing any more.
    case signedIn(SecretToken)
    /// The password was right. The token is for `enterCode`, within five minutes, and gives no right.
    case needsCode(SecretToken)
    /// Name, password or code are not right, or the account is disabled: which of these is not told.
    case refused
    /// So many seconds must pass before the next try; this one was not looked at.
    case slowDown(seconds: Int64)
}

/// Signs people in: brings together what is stored, the work of hashing, and the brake. The web process has one, as the brake is in memory.
///
/// All calls throw what `AccountStore` throws, and `AccountError.busy` if too many people sign in at the same moment.
public final class SignInDesk: Sendable {
    private let store: AccountStore
    private let hasher: PasswordHasher
    private let brake = Mutex(SignInBrake())

    /// A desk that knows of no failures yet.
    public init(_ store: AccountStore, _ hasher: PasswordHasher = PasswordHasher()) {
        self.store = store
        self.hasher = hasher
    }

    /// Signs a person in, or asks for a code. Takes the same work whether or not there is such an account.
    /// Source: OWASP's Authentication Cheat Sheet, "Authentication and Error Messages".
    public func signIn(_ attempt: SignInAttempt, at now: Timestamp) throws -> SignInResult {
        let name = AccountName(reading: attempt.name)
        return try braked(name, attempt.address, now) {
            let found = try name.flatMap { try store.credential($0) }
            guard case .right(let stronger) = try hasher.check(attempt.password, found?.password) else {
                if let found { try store.noteFailure(.wrongPassword, of: found.account.id, from: attempt.address, at: now) }
                return (.refused, false)
            }
            guard let found else { return (.refused, false) }
            let origin = SessionRecords.Origin(address: attempt.address, agent: attempt.agent)
            guard let (token, stage) = try store.startSession(found.account.id, found.password, stronger: stronger, from: origin, at: now)
            else {
                try store.noteFailure(.disabled, of: found.account.id, from: attempt.address, at: now)
                return (.refused, false)
            }
            // Whoever has only the password is not taken for the person yet.
            return stage == .signedIn ? (.signedIn(token), true) : (.needsCode(token), false)
        }
    }

    /// Takes the code of the second factor: six digits of the app, or a recovery code.
    public func enterCode(_ code: String, for token: SecretToken, from address: IPAddress?, at now: Timestamp) throws -> SignInResult {
        guard let found = try store.anySession(token, at: now) else { throw AccountError.notSignedIn }
        return try braked(found.account.name, address, now) { try use(code, token, address, now) }
    }

    /// Has a person who is signed in show password, and code if there is a second factor, once more, for what needs a fresh sign-in.
    /// - Parameter code: nil if the account has no second factor; ignored then.
    public func proveAgain(
        _ token: SecretToken, password: String, code: String?, from address: IPAddress?, at now: Timestamp
    ) throws -> SignInResult {
        try withPassword(password, token, address, now) { found, hash in
            if found.account.hasSecondFactor { return try use(code ?? "", token, address, now) }
            guard let new = try store.prove(token, hash, at: now) else { throw AccountError.notSignedIn }
            return (.signedIn(new), true)
        }
    }

    /// Changes a person's own password. All sessions of the account end; the token that comes back is of a new one.
    /// - Throws: also `AccountError.unfitPassword`, before the old one is looked at.
    public func changePassword(
        _ token: SecretToken, from old: String, to new: String, address: IPAddress?, at now: Timestamp
    ) throws -> SignInResult {
        guard let found = try store.signedIn(token, at: now) else { throw AccountError.notSignedIn }
        let after = try hasher.hash(new, of: found.account.name, found.account.displayName)
        return try withPassword(old, token, address, now) { found, before in
            let actor = Actor(found.account.id, address: address)
            guard let new = try store.changePassword(token, from: before, to: after, by: actor, at: now) else {
                throw AccountError.notSignedIn
            }
            return (.signedIn(new), true)
        }
    }

    /// Uses an invitation up: the person chooses a password, and signs in with it afterwards.
    /// - Throws: also `AccountError.invitationNotValid`, `.unfitPassword`, after which the link still works, and `.nameTaken`.
    public func accept(_ token: SecretToken, password: String, from address: IPAddress?, at now: Timestamp) throws -> AccountID {
        guard let (invitation, name) = try store.invitation(token, at: now) else { throw AccountError.invitationNotValid }
        let displayName: DisplayName? =
            switch invitation.purpose {
            case .newAccount(_, let displayName, _): displayName
            case .newPassword(let id): try store.account(id)?.displayName
            }
        return try store.accept(token, hasher.hash(password, of: name, displayName), from: address, at: now)
    }

    private func use(_ code: String, _ token: SecretToken, _ address: IPAddress?, _ now: Timestamp) throws -> (SignInResult, Bool) {
        switch try store.useCode(code, for: token, from: address, at: now) {
        case .right(let new): (.signedIn(new), true)
        case .wrong: (.refused, false)
        case .ended: throw AccountError.notSignedIn
        }
    }

    /// Does something once the password of a person who is signed in was right.
    private func withPassword(
        _ password: String, _ token: SecretToken, _ address: IPAddress?, _ now: Timestamp,
        _ body: (SignedIn, PasswordHash) throws -> (SignInResult, Bool)
    ) throws -> SignInResult {
        guard let found = try store.signedIn(token, at: now) else { throw AccountError.notSignedIn }
        return try braked(found.account.name, address, now) {
            guard let (_, hash) = try store.credential(found.account.name), case .right = try hasher.check(password, hash) else {
                try store.noteFailure(.wrongPassword, of: found.account.id, from: address, at: now)
                return (.refused, false)
            }
            return try body(found, hash)
        }
    }

    /// Lets an attempt pass the brake.
    /// - Parameter body: its result, and whether the person showed who they are.
    private func braked(
        _ name: AccountName?, _ address: IPAddress?, _ now: Timestamp, _ body: () throws -> (SignInResult, Bool)
    ) throws -> SignInResult {
        let wait = brake.withLock { $0.attempt(name, from: address, at: now) }
        guard wait == 0 else { return .slowDown(seconds: wait) }
        do {
            let (result, isProved) = try body()
            if let name, isProved { brake.withLock { $0.succeeded(name, from: address, at: now) } }
            return result
        } catch {
            // Nothing was learned about the password.
            brake.withLock { $0.takeBack(name, from: address, at: now) }
            throw error
        }
    }
}
