import Base
import Synchronization

@testable import volley_console

/// Lets in those it was told of, by their passwords.
final class FixedSignIn: SignIn {
    struct Person { var password: String, rights: Rights, isFresh = true }

    private let people: [String: Person]
    private let sessions = Mutex<[String: String]>([:])

    init(_ people: [String: Person]) { self.people = people }

    var hasAccounts: Bool { !people.isEmpty }

    func session(secret: String, at now: Timestamp) -> Session? {
        sessions.withLock { $0[secret] }.flatMap { name in
            people[name].map { Session(account: name, displayName: name, rights: $0.rights, isFresh: $0.isFresh) }
        }
    }

    func begin(_ credentials: Credentials, from address: String?, at now: Timestamp) -> SignInResult {
        if credentials.name == "slow" { return .slowedDown(seconds: 30) }
        guard let person = people[credentials.name], person.password == credentials.password else { return .refused }
        return .begun(secret: begin(credentials.name))
    }

    /// A session without a password.
    func begin(_ name: String) -> String {
        let secret = Secrets.make()
        sessions.withLock { $0[secret] = name }
        return secret
    }

    func end(secret: String, at now: Timestamp) { sessions.withLock { $0[secret] = nil } }

    /// Everybody whom tests need.
    static var usual: FixedSignIn {
        FixedSignIn([
            "anna": Person(password: "correct horse", rights: Rights(everywhere: Set(Right.allCases))),
            "stale": Person(password: "correct horse", rights: Rights(everywhere: Set(Right.allCases)), isFresh: false),
            "reader": Person(password: "correct horse", rights: Rights(byApp: ["shop": [.seeCampaigns, .readReports]])),
            "other": Person(password: "correct horse", rights: Rights(byApp: ["news": Set(Right.allCases)])),
            "nobody": Person(password: "correct horse", rights: Rights()),
        ])
    }
}
