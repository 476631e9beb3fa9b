import Accounts
import Base
import Synchronization

@testable import volley_console

/// Lets in a given list of people, by their passwords.
final class FixedSignIn: SignIn {
    struct Known { var password: String, rights: Rights, isFresh = true }

    private let people: [String: Known]
    private let sessions = Mutex<[String: String]>([:])

    init(_ people: [String: Known]) { self.people = people }

    var hasAccounts: Bool { !people.isEmpty }

    func person(secret: String, at now: Timestamp) -> Person? {
        sessions.withLock { $0[secret] }.flatMap { name in
            people[name].map {
                Person(id: id(of: name), account: name, displayName: name, rights: $0.rights, isFresh: $0.isFresh)
            }
        }
    }

    func mustWait(_ credentials: Credentials, at now: Timestamp) -> Bool { credentials.name == "slow" }

    func isKnown(_ credentials: Credentials, at now: Timestamp) -> Bool { credentials.device != nil }

    func begin(_ credentials: Credentials, at now: Timestamp) -> SignInAnswer {
        if credentials.name == "slow" { return .slowedDown(seconds: 30) }
        guard let person = people[credentials.name], person.password == credentials.password else { return .refused }
        return .begun(secret: begin(credentials.name))
    }

    /// The accounts are numbered by their names.
    private func id(of name: String) -> AccountID {
        AccountID(Int64(people.keys.sorted().firstIndex(of: name) ?? 0) + 1)
    }

    /// A session without a password.
    func begin(_ name: String) -> String {
        let secret = Secrets.make()
        sessions.withLock { $0[secret] = name }
        return secret
    }

    func prove(_ credentials: Credentials, secret: String, at now: Timestamp) -> SignInAnswer { .refused }

    func changePassword(_ credentials: Credentials, to new: String, secret: String, at now: Timestamp) -> SignInAnswer {
        .refused
    }

    func invited(by link: String, at now: Timestamp) -> String? { nil }

    func accept(_ link: String, password: String, from address: IPAddress?, at now: Timestamp) throws {
        throw AccountError.invitationNotValid
    }

    func end(secret: String, from address: IPAddress?, at now: Timestamp) { sessions.withLock { $0[secret] = nil } }

    /// All people that tests need.
    static var usual: FixedSignIn {
        FixedSignIn([
            "anna": Known(password: "correct horse", rights: Rights([RoleGrant(.administrator, .allApps)])),
            "stale": Known(
                password: "correct horse", rights: Rights([RoleGrant(.administrator, .allApps)]), isFresh: false),
            "reader": Known(password: "correct horse", rights: Rights([RoleGrant(.viewer, .app("shop"))])),
            "other": Known(password: "correct horse", rights: Rights([RoleGrant(.administrator, .app("news"))])),
            "nobody": Known(password: "correct horse", rights: Rights([])),
        ])
    }
}
