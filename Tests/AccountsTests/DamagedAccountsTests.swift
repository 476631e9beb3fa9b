import Base
import FileDamage
import Foundation
import GRDB
import Testing

@testable import Accounts

/// The file of accounts, damaged in every way. `make fuzz-files` tries thousands.
@Suite("damaged accounts")
struct DamagedAccountsTests {
    @Test(
        "whatever is damaged in the file of accounts, each use of it is done or refused with a diagnostic that names the file",
        arguments: [1, 2, 3, 5])
    func damaged(format: Int) throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
            "volley-accounts-\(UUID().uuidString)"
        ).path
        let fixture = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../Fixtures/Formats/accounts-\(format).sql")
        let sql = try String(contentsOf: fixture, encoding: .utf8), path = folder + "/accounts.sqlite"
        defer { try? FileManager.default.removeItem(atPath: folder) }
        for seed in Damage.seeds(40) {
            Damage.announce(seed)
            try? FileManager.default.removeItem(atPath: folder)
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            try Damage.make(path, sql: sql)
            var damage = Damage(seed: seed)
            try damage.apply(to: path)
            for step in Self.steps {
                do {
                    let store = try AccountStore(folder: folder)
                    defer { store.close() }
                    try step(store)
                } catch {
                    let refusal = error as? Diagnostic
                    #expect(
                        refusal != nil || error is any ExplainedError,
                        "seed \(seed), \(damage.what): \(type(of: error))")
                    #expect(refusal?.file ?? path == path, "seed \(seed), \(damage.what): \(error)")
                    #expect(
                        !"\(error)".contains("scrypt") && !"\(error)".contains("GRDB"),
                        "seed \(seed), \(damage.what): \(error)")
                }
            }
        }
    }

    @Test("a damaged file is an obstacle as long as it is in its place; a missing and a whole one are none")
    func obstacle() throws {
        let runs = FileManager.default.temporaryDirectory.appendingPathComponent("volley-accounts-\(UUID().uuidString)")
            .path
        defer { try? FileManager.default.removeItem(atPath: runs) }
        var inspection = AccountInspection(beside: runs)
        #expect(inspection.obstacle() == nil)
        let path = AccountStore.path(beside: runs)
        try AccountStore(beside: runs).close()
        for _ in 0..<2 { #expect(inspection.obstacle() == nil) }
        let whole = try FilePaths.read(path)
        func put(_ bytes: [UInt8]) throws { try FilePaths.replace(path, bytes: bytes) }
        try put(Array("This is a letter, and no file of accounts at all.".utf8))
        for _ in 0..<2 {
            let found = inspection.obstacle()
            #expect(
                found?.file == path && found?.severity == .warning
                    && found?.message.contains("not a file of accounts") == true)
        }
        try put(Array(whole.prefix(whole.count / 2)))
        #expect(inspection.obstacle()?.message.contains("damaged") == true)
        try put([])
        let emptied = "the file of accounts is damaged: it is empty"
        #expect(inspection.obstacle()?.message == emptied)
        #expect(diagnostic { try AccountStore(beside: runs).close() }?.message == emptied)
        #expect(try FilePaths.read(path).isEmpty)
        try put(whole)
        #expect(inspection.obstacle() == nil)
    }

    @Test(
        "with any bit flipped, the file says who may do what as before, or is refused with its name, or another value is stored in it"
    )
    func flippedBits() throws {
        let path: String
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
            "volley-accounts-\(UUID().uuidString)"
        ).path
        defer { try? FileManager.default.removeItem(atPath: folder) }
        do {
            let made = try AccountFolder()
            _ = try made.administrator()
            for (number, role) in [Role.viewer, .editor, .approver].enumerated() {
                _ = try made.account("person\(number)", [RoleGrant(role, .app("shop"))])
            }
            made.store.close()
            try FileManager.default.copyItem(atPath: made.path, toPath: folder)
            path = folder + "/" + AccountStore.fileName
        }
        // Small pages, so that few rows fill several.
        try Damage.make(path, sql: "PRAGMA journal_mode = DELETE; PRAGMA page_size = 512; VACUUM")
        func decisions() throws -> String {
            let store = try AccountStore(folder: folder)
            defer { store.close() }
            if let damaged = try store.damagedAccounts().first { throw Diagnostic("\(damaged.id)", file: path) }
            return try "\(store.accounts()) \(store.ties(at: noon))"
        }
        let before = try decisions(), values = try #require(Damage.values(of: path))
        var refused = 0
        try Damage.flipEach(of: path, every: 11) { place in
            do {
                guard try decisions() != before else { return }
                let found = Damage.values(of: path)
                #expect(found != nil && found != values && found?.count == values.count, "byte \(place)")
            } catch {
                refused += 1
                #expect((error as? Diagnostic)?.file == path, "byte \(place): \(error)")
            }
        }
        #expect(refused > 50)
    }

    @Test(
        "an index that does not fit its table is damage where the file is opened, for `volley doctor` and for a backup")
    func index() throws {
        let folder = try AccountFolder()
        _ = try folder.administrator()
        folder.store.close()
        func make(_ definition: String) throws {
            try Damage.make(
                folder.file,
                sql:
                    "PRAGMA writable_schema = ON; UPDATE sqlite_master SET sql = '\(definition)' WHERE name = 'role_by_account'"
            )
        }
        let index = "CREATE INDEX role_by_account ON role (account)"
        try make(index + " WHERE account = 0")
        try Damage.make(folder.file, sql: "REINDEX role_by_account")
        try make(index)
        let words = "the file of accounts is damaged: its pages or rows do not fit together"
        #expect(diagnostic { _ = try folder.another() }?.message == words)
        #expect(AccountFile.damage(folder.file)?.message == words)
        let found = diagnostic { try AccountStore.removeSessions(fromCopy: folder.file, of: "/original") }
        #expect(found?.message == words && found?.file == "/original")
    }

    private func edit(_ folder: AccountFolder, _ sql: String) throws {
        try DatabaseQueue(path: folder.file).write { try $0.execute(sql: sql) }
    }

    @Test(
        "a damaged account is listed as damaged, the others are listed and work, and only an administrator of all apps removes it",
        arguments: [
            "UPDATE account SET state = 'activd' WHERE name = 'ben'",
            "UPDATE account SET made_at = 'x' WHERE name = 'ben'",
            "UPDATE role SET role = x'00' WHERE account = (SELECT id FROM account WHERE name = 'ben')",
            "UPDATE account SET name = x'FF' WHERE name = 'ben'",
        ])
    func damagedAccount(edit sql: String) throws {
        let folder = try AccountFolder()
        let root = try folder.administrator()
        let ben = try #require(try folder.account("ben", [RoleGrant(.administrator, .app("shop"))]).account)
        let carl = try #require(try folder.account("carl", [RoleGrant(.administrator, .app("shop"))]).account)
        try edit(folder, sql)
        #expect(try folder.store.accounts().map(\.name.text) == ["carl", "root.admin"])
        #expect(try folder.store.damagedAccounts().map(\.id) == [ben])
        try folder.store.setDisplayName(DisplayName("Carl"), of: carl, by: root, at: noon)
        #expect(throws: AccountError.notPermitted) {
            try folder.store.removeDamaged(ben, by: Actor(carl, address: nil), at: noon)
        }
        #expect(throws: AccountError.noSuchAccount) { try folder.store.removeDamaged(carl, by: root, at: noon) }
        try folder.store.removeDamaged(ben, by: root, at: noon)
        #expect(try folder.store.damagedAccounts().isEmpty && folder.store.accounts().count == 2)
        #expect(try folder.kinds().first == .removed)
    }

    @Test("the last administrator stays the last, however many damaged accounts there are")
    func lastAdministrator() throws {
        let folder = try AccountFolder()
        let root = try folder.administrator()
        let other = try #require(try folder.account("other", [RoleGrant(.administrator, .allApps)]).account)
        try edit(folder, "UPDATE account SET state = 'activd' WHERE id = \(other.number)")
        let own = try #require(root.account)
        #expect(throws: AccountError.lastAdministrator) { try folder.store.disable(own, by: root, at: noon) }
    }

    @Test("a damaged line of the activities, invitation or version is left out of its list, and the others are there")
    func lists() throws {
        let folder = try AccountFolder()
        let root = try folder.administrator()
        for name in ["ben", "carl"] {
            _ = try folder.store.invite(AccountName(name), DisplayName("N"), [], by: root, at: noon)
        }
        for text in ["a", "b"] {
            try folder.store.keep(version: text, of: "sale.yaml", app: "shop", by: root, at: noon)
        }
        let before = try folder.store.activities(count: 500).activities.map(\.number)
        let newest = try #require(before.first),
            digest = try #require(try folder.store.versions(of: "sale.yaml").first?.digest)
        try edit(
            folder,
            """
            DROP TRIGGER activity_stays; UPDATE activity SET details = '{' WHERE id = \(newest);
            UPDATE invitation SET roles = '{' WHERE name = 'ben'; UPDATE version SET at = 'x' WHERE number = 1
            """)
        let page = try folder.store.activities(count: 1)
        #expect(page.activities.isEmpty && page.damaged == [newest] && page.next == newest)
        #expect(
            try folder.store.activities(before: page.next, count: 500).activities.map(\.number)
                == Array(before.dropFirst()))
        #expect(
            try folder.store.openInvitations(at: noon).count == 1
                && folder.store.versions(of: "sale.yaml").map(\.number) == [2])
        // Four eyes: its writer may be the person that wants to approve.
        #expect(throws: Diagnostic.self) { try folder.store.writers(ofText: digest, in: "sale.yaml", after: []) }
        let damaged = try #require(try folder.store.damagedInvitations().first)
        try folder.store.withdrawInvitation(damaged, by: root, at: noon)
        #expect(try folder.store.damagedInvitations().isEmpty && folder.store.openInvitations(at: noon).count == 1)
    }

    @Test(
        "a damaged session ends, and keeps no other person from signing in",
        arguments: [
            "stage = 'fulm'", "address = 'x'", "used_at = 'x'", "started_at = 4611686018427387904", "proved_at = 'x'",
        ])
    func session(edit change: String) throws {
        let folder = try AccountFolder()
        _ = try folder.administrator()
        let token = try folder.token("root.admin")
        try edit(folder, "UPDATE session SET \(change)")
        #expect(try folder.store.signedIn(token, at: noon) == nil)
        #expect(try folder.store.signedIn(folder.token("root.admin"), at: noon) != nil)
        let left = try DatabaseQueue(path: folder.file).read {
            try Int.fetchOne($0, sql: "SELECT count(*) FROM session WHERE stage = 'fulm'")
        }
        #expect(left == 0)
    }

    @Test(
        "a damaged tie continues to bind the two accounts that it names, and says nothing of others",
        arguments: ["deed", "at"])
    func tie(column: String) throws {
        let folder = try AccountFolder()
        let ada = try folder.administrator()
        _ = try folder.store.invite(AccountName("ben"), DisplayName("Ben"), [], by: ada, at: noon)
        try edit(
            folder,
            "INSERT INTO tie (holder, account, deed, at) VALUES ('root.admin', 'ben', 'invited', \(noon.epochMilliseconds))"
        )
        try edit(folder, "UPDATE tie SET \(column) = 'damaged'")
        let ties = try folder.store.ties(at: noon)
        #expect(try ties.haveOneHand(AccountName("root.admin"), AccountName("ben")))
        #expect(try !ties.haveOneHand(AccountName("root.admin"), AccountName("eve")))
    }

    @Test(
        "whatever is damaged in a tie, it binds the accounts that it names, and one that names nobody any more binds the other with all",
        arguments: [
            "at = -1", "at = 1.5", "at = 'x'", "at = ''", "at = 4611686018427387904", "at = at - 1073741824",
            "holder = ''", "holder = 5",
            "holder = 'root.admio'", "account = ''", "account = x'00'", "account = 'bem'", "deed = 'x'",
            "confirmed_at = 'x'",
            "confirmed_at = 0", "confirmed_at = -5", "confirmed_at = 4611686018427387904", "confirmed_at = at",
        ])
    func damagedTie(edit change: String) throws {
        let folder = try AccountFolder()
        let ada = try folder.administrator()
        let link = try folder.store.invite(AccountName("ben"), DisplayName("Ben"), [], by: ada, at: noon)
        _ = try folder.authenticator.accept(link.token, password: goodPassword, from: nil, at: noon)
        _ = try folder.account("eve", [RoleGrant(.approver, .allApps)])
        try edit(folder, "UPDATE tie SET \(change)")
        let ties = try folder.store.ties(at: after(60)),
            (root, ben) = (try AccountName("root.admin"), try AccountName("ben"))
        #expect(
            ties.haveOneHand(root, ben) && ties.bond(of: ben, with: root) != nil
                && ties.bond(of: root, with: ben) != nil)
        #expect(try folder.store.ties(at: after(8 * 86_400)).haveOneHand(root, ben) == change.hasPrefix("at "))
        let isName = change.hasPrefix("holder") || change.hasPrefix("account")
        let eve = try AccountName("eve"), known = change.hasPrefix("holder") ? ben : root
        #expect(ties.haveOneHand(eve, known) == isName)
    }

    @Test("a damaged account is there: no page says that there are none")
    func account() throws {
        let folder = try AccountFolder()
        #expect(try !folder.store.hasAccounts())
        _ = try folder.administrator()
        try edit(folder, "UPDATE account SET state = 'activd'")
        #expect(try folder.store.hasAccounts())
    }

    private static let steps: [@Sendable (AccountStore) throws -> Void] = [
        { _ = try $0.accounts().map(\.displayName) }, { _ = try $0.account(named: AccountName("anna")) },
        { _ = try $0.activities(count: 500).activities.map(\.at.description) },
        { _ = try $0.openInvitations(at: noon) },
        { store in for account in try store.accounts() { _ = try store.sessions(of: account.id, at: noon) } },
        { store in for account in try store.accounts() { _ = try store.recoveryCodesLeft(of: account.id) } },
        { _ = try $0.versions(of: "spring.yaml") }, { _ = try $0.text(ofVersion: 1, of: "spring.yaml") },
        { store in
            for account in try store.accounts() {
                for draft in try store.drafts(of: account.id) {
                    try store.keep(
                        draft: draft.fields, draft.page, of: draft.file, base: "", replacing: draft.id, for: account.id,
                        at: noon)
                }
            }
        },
        { _ = try $0.inviteFirstAdministrator(AccountName("eve"), DisplayName("Eve"), at: noon) },
        { store in for account in try store.accounts() { try store.disable(account.id, by: .terminal, at: noon) } },
        {
            _ = try $0.invite(
                AccountName("bob"), DisplayName("Bob"), [RoleGrant(.viewer, .allApps)], by: .terminal, at: noon)
        },
    ]
}
