import Base
import Foundation
import GRDB
import Testing

@testable import Accounts

@Suite("Accounts in one hand")
struct AccountTiesTests {
    private static func tie(_ holder: String, _ account: String, at: Timestamp = noon) throws -> AccountTie {
        AccountTie(holder: try AccountName(holder), account: try AccountName(account), deed: .invited, at: at)
    }

    /// `ad>sock` for a tie; both accounts of the question.
    @Test(
        "two accounts are in one hand by a tie, by a chain of ties, and by a third account that is tied to both",
        arguments: [
            ("ad>sock", "sock ad", true), ("ad>sock", "ad sock", true), ("ad>b b>c", "c ad", true),
            ("b>c ad>b", "c ad", true),
            ("ad>x ad>y", "x y", true), ("ad>b ad>x b>y", "x y", true), ("a>b b>a", "a b", true),
            ("ad>sock", "sock ed", false),
            ("ad>sock", "ed ad", false), ("ad>x ben>y", "x y", false), ("x>ad y>ad", "x y", false), ("", "a b", false),
        ])
    func hands(ties: String, question: String, isOne: Bool) throws {
        let all = try ties.split(separator: " ").map { pair in
            let names = pair.split(separator: ">").map(String.init)
            return try Self.tie(names[0], names[1])
        }
        let names = try question.split(separator: " ").map { try AccountName(String($0)) }
        let now = AccountTies(all, at: after(3600))
        #expect(now.haveOneHand(names[0], names[1]) == isOne)
        let bond = now.bond(of: names[0], with: names[1])
        #expect((bond != nil) == isOne)
        #expect(bond.map { $0.until == after(7 * 86_400) } ?? true)
        // After enough confirmations of the tied accounts, no tie is left.
        var left = all
        while let next = AccountTies(left, at: noon).bond(of: names[0], with: names[1]) {
            let count = left.count
            left.removeAll { $0.account == next.tie.account }
            try #require(left.count < count, "each confirmation ends a tie")
        }
        #expect(!AccountTies(left, at: noon).haveOneHand(names[0], names[1]))
    }

    @Test("a tie counts for seven days; a chain as long as its first link")
    func ends() throws {
        let ties = [try Self.tie("ad", "b", at: noon), try Self.tie("b", "c", at: after(86_400))]
        let (ad, c) = (try AccountName("ad"), try AccountName("c"))
        #expect(AccountTies(ties, at: after(7 * 86_400 - 1)).bond(of: c, with: ad)?.until == after(7 * 86_400))
        #expect(AccountTies(ties, at: after(7 * 86_400)).bond(of: c, with: ad) == nil)
        #expect(AccountTies(ties, at: after(7 * 86_400)).haveOneHand(c, try AccountName("b")))
    }

    /// An administrator, another one, and an approver, without ties.
    private struct Office {
        let folder: AccountFolder
        let ada: Actor, ben: Actor, carl: Actor

        init() throws {
            folder = try AccountFolder()
            ada = try folder.administrator()
            ben = try folder.account("ben", [RoleGrant(.administrator, .allApps)])
            carl = try folder.account("carl", [RoleGrant(.approver, .allApps)])
        }

        var carlID: AccountID { get throws { try #require(carl.account) } }

        /// `ada>carl promoted`
        func ties(at now: Timestamp = noon) throws -> [String] {
            try folder.store.ties(at: now).all.map { "\($0.holder)>\($0.account) \($0.deed.rawValue)" }
        }

        func accept(_ link: InvitationLink, at now: Timestamp = noon) throws {
            _ = try folder.authenticator.accept(link.token, password: goodPassword, from: nil, at: now)
        }
    }

    @Test("a link ties from the moment that it is used: an unused one, and one of the terminal, makes no tie")
    func links() throws {
        let office = try Office()
        let (store, grants) = (office.folder.store, Set([RoleGrant(.approver, .app("shop"))]))
        let link = try store.invite(name("sock"), DisplayName("Sock"), grants, by: office.ada, at: noon)
        let reset = try store.offerNewPassword(of: office.carlID, by: office.ada, at: noon)
        #expect(try office.ties().isEmpty)
        let late = after(6 * 86_400)
        try office.accept(link, at: late)
        try office.accept(reset, at: late)
        #expect(try office.ties(at: late) == ["root.admin>sock invited", "root.admin>carl password_reset"])
        #expect(try office.ties(at: after(12 * 86_400)).count == 2 && office.ties(at: after(13 * 86_400)).isEmpty)
        try office.accept(try store.offerNewPassword(of: office.carlID, by: .terminal, at: noon))
        #expect(try office.ties(at: late).count == 2)
    }

    @Test(
        "a role that approves, an account that is enabled and a second factor that is taken away tie; what gives no control does not"
    )
    func deeds() throws {
        let office = try Office()
        let (store, carl) = (office.folder.store, try office.carlID)
        try store.setGrants([RoleGrant(.viewer, .allApps)], of: carl, by: office.ada, at: noon)
        try store.setGrants([RoleGrant(.editor, .allApps)], of: carl, by: office.ada, at: noon)
        try store.setDisplayName(DisplayName("Carl"), of: carl, by: office.ada, at: noon)
        try store.disable(carl, by: office.ada, at: noon)
        #expect(try office.ties().isEmpty)
        try store.enable(carl, by: office.ada, at: noon)
        try store.enable(carl, by: office.ben, at: noon)
        #expect(try office.ties() == ["root.admin>carl enabled"], "the second one changed nothing")
        try store.setGrants(
            [RoleGrant(.editor, .allApps), RoleGrant(.approver, .app("shop"))], of: carl, by: office.ben, at: noon)
        #expect(try office.ties() == ["root.admin>carl enabled", "ben>carl promoted"])
        try store.setGrants([RoleGrant(.administrator, .allApps)], of: carl, by: .terminal, at: noon)
        #expect(try office.ties().count == 2)
    }

    @Test("an administrator without a tie ends it, once; one that is tied cannot, nor can an account of theirs")
    func confirmation() throws {
        let office = try Office()
        let (store, carl) = (office.folder.store, try office.carlID)
        try office.accept(try store.offerNewPassword(of: carl, by: office.ada, at: noon))
        let link = try store.invite(
            name("sock"), DisplayName("Sock"), [RoleGrant(.administrator, .allApps)], by: office.ada, at: noon)
        try office.accept(link)
        let sock = Actor(try #require(try store.account(named: name("sock"))).id, address: nil)
        for actor in [office.ada, sock] {
            #expect(throws: AccountError.tied) { try store.confirm(carl, by: actor, at: noon) }
        }
        #expect(throws: AccountError.notPermitted) { try store.confirm(carl, by: office.carl, at: noon) }
        #expect(try office.ties().count == 2)
        try store.confirm(carl, by: office.ben, at: noon)
        try store.confirm(carl, by: office.ben, at: noon)
        #expect(try office.ties() == ["root.admin>sock invited"])
        #expect(try office.folder.kinds().count { $0 == .confirmed } == 1)
        // What is done afterwards ties again; the terminal may always confirm.
        try office.accept(try store.offerNewPassword(of: carl, by: office.ada, at: noon))
        #expect(try office.ties().count == 2)
        try store.confirm(carl, by: .terminal, at: noon)
        #expect(try office.ties() == ["root.admin>sock invited"])
    }

    @Test("a clock that was set back shortens nothing, and an account that is removed and made again keeps its ties")
    func clocks() throws {
        let office = try Office()
        let (store, carl) = (office.folder.store, try office.carlID)
        try office.accept(try store.offerNewPassword(of: carl, by: office.ada, at: noon))
        #expect(try office.ties(at: after(-30 * 86_400)).count == 1, "read by a clock that was set back")
        let early = after(-20 * 86_400)
        try store.disable(carl, by: office.ada, at: early)
        try store.enable(carl, by: office.ada, at: early)
        #expect(try office.ties(at: after(6 * 86_400)).count == 2, "made by a clock that was set back")
        try store.remove(carl, by: office.ada, at: noon)
        try office.accept(
            try store.invite(
                name("carl"), DisplayName("Carl"), [RoleGrant(.approver, .allApps)], by: .terminal, at: noon))
        #expect(try office.ties().count == 2)
    }

    @Test("accounts of an older format get the ties that follow from what was done")
    func upgrade() throws {
        let folder = try AccountFolder()
        let path = folder.store.path
        let ada = try folder.administrator()
        let link = try folder.store.invite(
            name("sock"), DisplayName("S"), [RoleGrant(.approver, .allApps)], by: ada, at: noon)
        let id = try folder.authenticator.accept(link.token, password: goodPassword, from: nil, at: after(86_400))
        try folder.store.setGrants([RoleGrant(.viewer, .allApps)], of: id, by: ada, at: after(86_401))
        try folder.store.setGrants([RoleGrant(.approver, .allApps)], of: id, by: ada, at: after(86_402))
        try folder.store.setDisplayName(DisplayName("X"), of: id, by: ada, at: after(86_403))
        folder.store.close()
        let older = try DatabaseQueue(path: path)
        try older.writeWithoutTransaction {
            try $0.execute(sql: "DROP TABLE tie; \(AccountFileTests.withoutDrafts) PRAGMA user_version = 3")
        }
        try older.close()
        let store = try AccountStore(folder: FilePaths.folder(of: path))
        defer { store.close() }
        let ties = try store.ties(at: after(86_400)).all
        #expect(
            Set(ties.map(\.deed)) == [.invited, .promoted]
                && ties.allSatisfy { $0.holder.text == "root.admin" && $0.account.text == "sock" })
        #expect(ties.first { $0.deed == .invited }?.at == after(86_400), "from when the link was used")
    }
}
