import Base
import GRDB
import Testing

@testable import Accounts

@Suite("People who sign in by a provider of identities")
struct ProviderTests {
    private static let editor: Set<RoleGrant> = [RoleGrant(.editor, .app("shop"))]
    private static let administrator: Set<RoleGrant> = [RoleGrant(.administrator, .allApps)]

    private static func person(
        _ subject: String = "1", _ name: String? = "jane", issuer: String = "https://login.example.com",
        display: String? = "Jane Doe",
        grants: Set<RoleGrant> = editor, provedAt: Timestamp? = nil
    ) -> ProviderPerson {
        ProviderPerson(
            issuer: issuer, subject: subject, name: name, displayName: display, grants: grants, provedAt: provedAt)
    }

    private static func enter(_ person: ProviderPerson, _ folder: AccountFolder, at now: Timestamp = noon) throws
        -> SecretToken
    {
        guard case .signedIn(let token) = try folder.store.enter(person, from: home, agent: "Firefox", at: now) else {
            throw Diagnostic("not signed in")
        }
        return token
    }

    @Test("the first sign-in makes an account, the next ones find it, whatever the person is called by then")
    func account() throws {
        let folder = try AccountFolder()
        let first = try #require(try folder.store.signedIn(Self.enter(Self.person(), folder), at: noon))
        #expect(
            first.account.name.text == "jane" && first.account.displayName.text == "Jane Doe"
                && first.account.grants == Self.editor)
        #expect(first.account.issuer == "https://login.example.com" && !first.account.hasSecondFactor)
        let again = try #require(
            try folder.store.signedIn(Self.enter(Self.person("1", "smith", display: "Jane Smith"), folder), at: noon))
        #expect(
            again.account.id == first.account.id && again.account.name.text == "jane"
                && again.account.displayName.text == "Jane Smith")
        #expect(try folder.kinds().reversed() == [.rolesClaimed, .signedIn, .renamed, .signedIn])
    }

    @Test("another subject, and the same one of another provider, is another person")
    func others() throws {
        let folder = try AccountFolder()
        for person in [
            Self.person("1"), Self.person("2"), Self.person("1", issuer: "https://other.example.com"),
            Self.person("1 "),
        ] {
            _ = try Self.enter(person, folder)
        }
        #expect(try folder.store.accounts().map(\.name.text) == ["jane", "jane-2", "jane-3", "jane-4"])
    }

    @Test("nobody takes over a local account, nor the name of one who is invited, by being called so")
    func collision() throws {
        let folder = try AccountFolder()
        let root = try folder.administrator()
        let link = try folder.store.invite(name("ben"), DisplayName("Ben"), Self.editor, by: root, at: noon)
        let entered = try #require(
            try folder.store.signedIn(Self.enter(Self.person("1", "Root.Admin"), folder), at: noon))
        #expect(
            entered.account.id != root.account && entered.account.name.text == "root.admin-2"
                && entered.account.grants == Self.editor)
        _ = try Self.enter(Self.person("2", "ben"), folder)
        _ = try Authenticator(folder.store, quickHasher()).accept(
            link.token, password: goodPassword, from: nil, at: noon)
        #expect(try folder.store.account(named: name("ben"))?.issuer == nil)
        #expect(try folder.store.account(named: name("ben-2"))?.issuer != nil)
    }

    @Test(
        "whatever a provider calls a person, the account gets a name and can be shown",
        arguments: [nil, "", "Jürgen Groß", "a b", "<b>", "\u{202E}evil", String(repeating: "a", count: 500), "\n"])
    func hostileNames(wish: String?) throws {
        let folder = try AccountFolder()
        _ = try Self.enter(Self.person("1", wish, display: wish), folder)
        let account = try #require(try folder.store.accounts().first)
        #expect(account.name.text == "person")
        #expect(account.displayName.text == (["Jürgen Groß", "a b", "<b>"].contains(wish) ? wish : "person"))
        _ = try Self.enter(Self.person("2", String(repeating: "b", count: 100)), folder)
        _ = try Self.enter(Self.person("3", String(repeating: "b", count: 100)), folder)
        #expect(try folder.store.accounts().map(\.name.text.utf8.count).max() == 100)
    }

    @Test("roles are those of the last sign-in; when they changed, earlier sessions end, and it is on record")
    func roles() throws {
        let folder = try AccountFolder()
        let first = try Self.enter(Self.person(), folder)
        let same = try Self.enter(Self.person(), folder)
        #expect(try folder.store.signedIn(first, at: noon) != nil)
        let more = try Self.enter(Self.person("1", grants: Self.administrator), folder)
        #expect(try folder.store.signedIn(first, at: noon) == nil && folder.store.signedIn(same, at: noon) == nil)
        #expect(try folder.store.signedIn(more, at: noon)?.rights.allows(.manageUsers, app: nil) == true)
        #expect(
            try folder.store.activities().activities.map(\.kind).contains(
                .rolesClaimed(before: Self.editor, after: Self.administrator)))
    }

    @Test("without a role nobody enters: no account is made, and an earlier one loses everything")
    func noRole() throws {
        let folder = try AccountFolder()
        #expect(try folder.store.enter(Self.person("1", grants: []), from: nil, agent: "", at: noon) == .noRole)
        #expect(try folder.store.accounts().isEmpty && folder.kinds().isEmpty)
        let token = try Self.enter(Self.person(), folder)
        #expect(try folder.store.enter(Self.person("1", grants: []), from: nil, agent: "", at: noon) == .noRole)
        #expect(try folder.store.signedIn(token, at: noon) == nil && folder.store.accounts()[0].grants.isEmpty)
        #expect(try folder.kinds().prefix(2) == [.signInFailed, .rolesClaimed])
    }

    @Test("an account that is disabled here stays out")
    func disabled() throws {
        let folder = try AccountFolder()
        let root = try folder.administrator()
        let token = try Self.enter(Self.person(), folder)
        let id = try #require(try folder.store.account(named: name("jane"))).id
        try folder.store.disable(id, by: root, at: noon)
        #expect(try folder.store.signedIn(token, at: noon) == nil)
        #expect(
            try folder.store.enter(Self.person("1", grants: Self.administrator), from: nil, agent: "", at: noon)
                == .disabled)
        #expect(try folder.store.account(id)?.grants == Self.editor)
    }

    @Test("one local administrator is always left; those of a provider do not count, and are not held")
    func lastAdministrator() throws {
        let folder = try AccountFolder()
        let root = try folder.administrator()
        let id = try #require(root.account)
        _ = try Self.enter(Self.person("1", grants: Self.administrator), folder)
        let jane = try #require(try folder.store.account(named: name("jane")))
        #expect(throws: AccountError.lastAdministrator) { try folder.store.disable(id, by: root, at: noon) }
        #expect(throws: AccountError.lastAdministrator) {
            try folder.store.remove(id, by: Actor(jane.id, address: nil), at: noon)
        }
        #expect(throws: AccountError.lastAdministrator) { try folder.store.setGrants([], of: id, by: root, at: noon) }
        try folder.store.remove(jane.id, by: root, at: noon)
        // A person at the terminal is let in even if the only administrators come from the
        // provider.
        let other = try AccountFolder()
        _ = try Self.enter(Self.person("1", grants: Self.administrator), other)
        _ = try other.store.inviteFirstAdministrator(name("root.admin"), DisplayName("Root"), at: noon)
    }

    @Test("there is no password, no second factor and no role to give to such an account, and none opens it")
    func noPassword() throws {
        let folder = try AccountFolder()
        let root = try folder.administrator()
        _ = try Self.enter(Self.person(), folder)
        let id = try #require(try folder.store.account(named: name("jane"))).id
        #expect(throws: AccountError.ofProvider) {
            try folder.store.setGrants(Self.administrator, of: id, by: root, at: noon)
        }
        #expect(throws: AccountError.ofProvider) { try folder.store.offerNewPassword(of: id, by: root, at: noon) }
        #expect(throws: AccountError.ofProvider) { try folder.store.beginSecondFactor(of: id) }
        #expect(try folder.store.credential(name("jane")) == nil)
        for password in ["", " ", goodPassword] { #expect(try folder.signIn("jane", password: password) == .refused) }
    }

    @Test(
        "a session counts as fresh by when the provider asked the person, and again after a proof of the same person alone"
    )
    func fresh() throws {
        let folder = try AccountFolder()
        let token = try Self.enter(Self.person("1", provedAt: after(-3600)), folder)
        #expect(try folder.store.signedIn(token, at: noon)?.session.isFresh(at: noon) == false)
        #expect(
            try folder.store.signedIn(Self.enter(Self.person("2"), folder), at: noon)?.session.isFresh(at: noon)
                == false)
        #expect(
            try folder.store.signedIn(Self.enter(Self.person("2", provedAt: noon), folder), at: noon)?.session.isFresh(
                at: noon) == true)
        #expect(try folder.store.prove(token, issuer: "https://login.example.com", subject: "2", at: noon) == nil)
        #expect(try folder.store.prove(token, issuer: "https://other.example.com", subject: "1", at: noon) == nil)
        let proved = try #require(
            try folder.store.prove(token, issuer: "https://login.example.com", subject: "1", at: noon))
        #expect(try folder.store.signedIn(proved, at: noon)?.session.isFresh(at: noon) == true)
        #expect(try folder.store.signedIn(token, at: noon) == nil)
        #expect(try folder.store.signedIn(proved, at: after(12 * 3600)) == nil)
    }
}
