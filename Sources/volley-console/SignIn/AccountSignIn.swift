import Accounts
import Base

/// Signs in people that have an account (`accounts.sqlite`).
struct AccountSignIn: SignIn {
    private let store: AccountStore
    private let authenticator: Authenticator

    init(_ store: AccountStore) {
        self.store = store
        authenticator = Authenticator(store)
    }

    /// Also for a file that cannot be read: the page must not say that no accounts exist.
    var hasAccounts: Bool { (try? store.hasAccounts()) ?? true }

    func person(secret: String, at now: Timestamp) throws -> Person? {
        guard let token = SecretToken(secret), let found = try store.signedIn(token, at: now) else { return nil }
        return Person(
            id: found.account.id, account: found.account.name.text, displayName: found.account.displayName.text,
            rights: found.rights,
            isFresh: found.session.isFresh(at: now))
    }

    func mustWait(_ credentials: Credentials, at now: Timestamp) -> Bool {
        authenticator.mustWait(credentials.name, from: Self.source(credentials), at: now)
    }

    func isKnown(_ credentials: Credentials, at now: Timestamp) -> Bool {
        authenticator.isKnown(credentials.name, from: Self.source(credentials), at: now)
    }

    func begin(_ credentials: Credentials, at now: Timestamp) throws -> SignInAnswer {
        let source = Self.source(credentials)
        let attempt = SignInAttempt(
            name: credentials.name, password: credentials.password, source: source, agent: credentials.agent)
        switch try authenticator.signIn(attempt, at: now) {
        case .needsCode(let token) where !credentials.code.isEmpty:
            return Self.answer(try authenticator.enterCode(credentials.code, for: token, from: source, at: now))
        case let result: return Self.answer(result)
        }
    }

    func prove(_ credentials: Credentials, secret: String, at now: Timestamp) throws -> SignInAnswer {
        guard let token = SecretToken(secret) else { throw AccountError.notSignedIn }
        return Self.answer(
            try authenticator.proveAgain(
                token, password: credentials.password, code: credentials.code, from: Self.source(credentials), at: now))
    }

    func changePassword(_ credentials: Credentials, to new: String, secret: String, at now: Timestamp) throws
        -> SignInAnswer
    {
        guard let token = SecretToken(secret) else { throw AccountError.notSignedIn }
        return Self.answer(
            try authenticator.changePassword(
                token, from: credentials.password, to: new, source: Self.source(credentials), at: now))
    }

    private static func source(_ credentials: Credentials) -> SignInSource {
        SignInSource(address: telling(credentials.address), device: credentials.device)
    }

    private static func answer(_ result: SignInResult) -> SignInAnswer {
        switch result {
        case .signedIn(let token): .begun(secret: token.text)
        case .needsCode: .needsCode
        case .refused: .refused
        case .slowDown(let seconds): .slowedDown(seconds: Int(seconds))
        }
    }

    func end(secret: String, from address: IPAddress?, at now: Timestamp) throws {
        if let token = SecretToken(secret) { try store.signOut(token, from: Self.telling(address), at: now) }
    }

    func invited(by link: String, at now: Timestamp) throws -> String? {
        try SecretToken(link).flatMap { try store.invitation($0, at: now)?.name.text }
    }

    func accept(_ link: String, password: String, from address: IPAddress?, at now: Timestamp) throws {
        guard let token = SecretToken(link) else { throw AccountError.invitationNotValid }
        _ = try authenticator.accept(token, password: password, from: Self.telling(address), at: now)
    }

    /// All requests from this machine, perhaps through a proxy that is not configured, have one
    /// address: its failures slow no person down.
    private static func telling(_ address: IPAddress?) -> IPAddress? { address.flatMap { $0.isLoopback ? nil : $0 } }
}

/// A signed-in person.
struct Person: Hashable, Sendable {
    var id: AccountID
    /// The name that was typed.
    var account: String
    /// As pages call the person.
    var displayName: String
    var rights: Rights
    /// Whether the password was typed within the last five minutes: whole device tokens leave the
    /// console only then.
    var isFresh: Bool
}

/// What a person typed to sign in. It is never shown or logged.
struct Credentials: Sendable {
    var name: String
    var password: String
    /// Six digits of a second factor, or a recovery code; blank without one.
    var code: String
    /// The address of the person; nil if it is not known, or says nothing.
    var address: IPAddress?
    /// The secret of the browser's own cookie; nil without one.
    var device: String?
    /// What the browser calls itself.
    var agent = ""
}

/// The result of an attempt to sign in.
enum SignInAnswer: Sendable {
    /// - Parameter secret: 256 random bits as text, for the cookie; it is given out only now.
    case begun(secret: String)
    /// The account has a second factor, and no code was typed.
    case needsCode
    /// Name, password or code is wrong; the answer does not say which.
    case refused
    /// Too many attempts failed: the next counts only after this number of seconds.
    case slowedDown(seconds: Int)
}

/// Decides whether a person may enter. Calls may block, and come from several threads.
protocol SignIn: Sendable {
    /// Whether an account exists: without one, only the sign-in page is shown.
    var hasAccounts: Bool { get }

    /// The person of a session's cookie. Counts as a use of the session; nil when it has ended or
    /// never existed.
    func person(secret: String, at now: Timestamp) throws -> Person?

    /// Whether an attempt is refused unchecked now, as too many before it failed. Does not block,
    /// and is not counted; the code does not matter.
    func mustWait(_ credentials: Credentials, at now: Timestamp) -> Bool

    /// Whether the person signed in from there before: their attempts do not wait in line with
    /// those of strangers.
    func isKnown(_ credentials: Credentials, at now: Timestamp) -> Bool

    /// Begins a session.
    func begin(_ credentials: Credentials, at now: Timestamp) throws -> SignInAnswer

    /// Checks the password of a signed-in person again, and the code if there is a second factor.
    /// - Parameters:
    ///   - credentials: the name is ignored.
    ///   - secret: of the session, which continues with another one.
    /// - Throws: `AccountError.notSignedIn`.
    func prove(_ credentials: Credentials, secret: String, at now: Timestamp) throws -> SignInAnswer

    /// Changes a person's own password. All sessions of the account end, and a new one begins.
    /// - Parameter credentials: the name and the code are ignored.
    /// - Throws: `AccountError`: why the new one is refused, or that the session has ended.
    func changePassword(_ credentials: Credentials, to new: String, secret: String, at now: Timestamp) throws
        -> SignInAnswer

    /// Ends a session; does nothing when it ended before. If that cannot be written it throws, but
    /// this process no longer accepts the session.
    func end(secret: String, from address: IPAddress?, at now: Timestamp) throws

    /// The sign-in name that a link invites; nil when it no longer works, or never did.
    func invited(by link: String, at now: Timestamp) throws -> String?

    /// Gives the account of a link its password, and uses the link up.
    /// - Throws: `AccountError`: why the password is refused, or that the link does not work.
    func accept(_ link: String, password: String, from address: IPAddress?, at now: Timestamp) throws
}
