import Accounts
import Base

@testable import volley_console

extension Site {
    static let password = "wooden spoon under seven lanterns"

    /// An account with these roles, for all apps or for one.
    @discardableResult
    func person(_ name: String, _ roles: [Role], app: String? = nil, displayName: String? = nil) throws -> AccountID {
        let grants = Set(roles.map { RoleGrant($0, app.map { .app($0) } ?? .allApps) })
        let link = try accounts.invite(
            AccountName(name), DisplayName(displayName ?? name), grants, by: .terminal, at: .now())
        return try Authenticator(accounts).accept(link.token, password: Self.password, from: nil, at: .now())
    }

    /// A session of an account.
    /// - Parameters:
    ///   - seconds: how long ago the password was typed.
    func enter(_ name: String, secondsAgo seconds: Double = 0, agent: String = "") throws -> String {
        let attempt = SignInAttempt(
            name: name, password: Self.password, source: SignInSource(address: nil), agent: agent)
        guard
            case .signedIn(let token) = try Authenticator(accounts).signIn(
                attempt, at: .now().adding(seconds: -seconds))
        else {
            throw Diagnostic("\(name) cannot sign in")
        }
        return token.text
    }

    /// An account, and a session of it.
    func session(_ name: String, _ roles: [Role], app: String? = nil) throws -> String {
        try person(name, roles, app: app)
        return try enter(name)
    }
}
