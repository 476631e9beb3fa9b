import Base

/// Stands where the accounts will: it lets nobody in. `Accounts` replaces this file.
struct NoAccounts: SignIn {
    var hasAccounts: Bool { false }

    func session(secret: String, at now: Timestamp) -> Session? { nil }

    func begin(_ credentials: Credentials, from address: String?, at now: Timestamp) -> SignInResult { .refused }

    func end(secret: String, at now: Timestamp) {}
}
