import Accounts
import Base

/// Lets in those who have an account (`accounts.sqlite`).
struct AccountSignIn: SignIn {
    private let store: AccountStore
    private let desk: SignInDesk

    init(_ store: AccountStore) {
        self.store = store
        desk = SignInDesk(store)
    }

    /// Also for a file that cannot be read: the page must not say that there are none.
    var hasAccounts: Bool { (try? store.hasAccounts()) ?? true }

    func person(secret: String, at now: Timestamp) throws -> Person? {
        guard let token = SecretToken(secret), let found = try store.signedIn(token, at: now) else { return nil }
        return Person(
            id: found.account.id, account: found.account.name.text, displayName: found.account.displayName.text, rights: found.rights,
            isFresh: found.session.isFresh(at: now))
    }

    func mustWait(_ credentials: Credentials, at now: Timestamp) -> Bool {
        desk.mustWait(credentials.name, from: Self.source(credentials), at: now)
    }

    func isKnown(_ credentials: Credentials, at now: Timestamp) -> Bool {
        desk.isKnown(credentials.name, from: Self.source(credentials), at: now)
    }

    func begin(_ credentials: Credentials, at now: Timestamp) throws -> SignInAnswer {
        let source = Self.source(credentials)
        let attempt = SignInAttempt(name: credentials.name, password: credentials.password, source: source, agent: credentials.agent)
        switch try desk.signIn(attempt, at: now) {
        case .needsCode(let token) where !credentials.code.isEmpty:
            return Self.answer(try desk.enterCode(credentials.code, for: token, from: source, at: now))
        case let result: return Self.answer(result)
        }
    }

    func prove(_ credentials: Credentials, secret: String, at now: Timestamp) throws -> SignInAnswer {
        guard let token = SecretToken(secret) else { throw AccountError.notSignedIn }
        return Self.answer(
            try desk.proveAgain(
                token, password: credentials.password, code: credentials.code, from: Self.source(credentials), at: now))
    }

    func changePassword(_ credentials: Credentials, to new: String, secret: String, at now: Timestamp) throws -> SignInAnswer {
        guard let token = SecretToken(secret) else { throw AccountError.notSignedIn }
        return Self.answer(
            try desk.changePassword(
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
        _ = try desk.accept(token, password: password, from: Self.telling(address), at: now)
    }

    /// All who come from this machine, perhaps through a proxy that is not configured, have one address: it slows nobody down.
    private static func telling(_ address: IPAddress?) -> IPAddress? { address.flatMap { $0.isLoopback ? nil : $0 } }
}
