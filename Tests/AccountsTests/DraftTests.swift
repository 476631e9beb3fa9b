import Base
import Foundation
import GRDB
import Testing

@testable import Accounts

@Suite("drafts of campaigns")
struct DraftTests {
    /// A person with an account.
    private static func person(_ name: String, _ folder: AccountFolder) throws -> AccountID {
        try #require(try folder.account(name, [RoleGrant(.editor, .allApps)]).account)
    }

    @Test("a draft belongs to one person, is replaced by its id alone, and goes with the account")
    func ofOnePerson() throws {
        let folder = try AccountFolder()
        let (anna, ben) = (try Self.person("anna", folder), try Self.person("ben", folder))
        let store = folder.store
        let id = try store.keep(draft: ["text": "one"], .source, of: "a.yaml", base: "", for: anna, at: noon)
        #expect(
            try store.keep(draft: ["text": "two"], .form, of: "a.yaml", base: "b", replacing: id, for: anna, at: noon)
                == id)
        #expect(try store.drafts(of: anna).map(\.fields) == [["text": "two"]])
        // Neither another file's, nor another person's.
        #expect(try store.keep(draft: [:], .form, of: "b.yaml", base: "", replacing: id, for: anna, at: noon) != id)
        #expect(try store.keep(draft: [:], .form, of: "a.yaml", base: "", replacing: id, for: ben, at: noon) != id)
        try store.discardDraft(id, of: ben)
        #expect(try store.drafts(of: anna).count == 2 && store.drafts(of: ben).count == 1)
        try store.discardDraft(id, of: anna)
        #expect(try store.drafts(of: anna).map(\.file) == ["b.yaml"])
        try store.remove(ben, by: .terminal, at: noon)
        #expect(try store.drafts(of: ben).isEmpty)
        #expect(throws: AccountError.noSuchAccount) {
            try store.keep(draft: [:], .new, of: nil, base: "", for: ben, at: noon)
        }
    }

    @Test("a person has at most a hundred drafts, and those can still be changed")
    func limit() throws {
        let folder = try AccountFolder()
        let anna = try Self.person("anna", folder)
        let ids = try (0..<100).map {
            try folder.store.keep(draft: ["n": "\($0)"], .new, of: nil, base: "", for: anna, at: noon)
        }
        #expect(Set(ids).count == 100)
        #expect(throws: AccountError.tooManyDrafts) {
            try folder.store.keep(draft: [:], .new, of: nil, base: "", for: anna, at: noon)
        }
        #expect(
            try folder.store.keep(draft: [:], .new, of: nil, base: "", replacing: ids[7], for: anna, at: noon) == ids[7]
        )
    }

    @Test("the account of a session that ended is known for two days, and a backup holds drafts without it")
    func endedSession() throws {
        let folder = try AccountFolder()
        let anna = try Self.person("anna", folder)
        let store = folder.store
        let token = try folder.token("anna")
        #expect(try store.account(ofEnded: token) == nil)
        try store.keep(draft: ["text": "x"], .source, of: "a.yaml", base: "", for: anna, at: noon)
        try store.signOut(token, from: nil, at: noon)
        #expect(try store.account(ofEnded: token) == anna)
        #expect(try store.signedIn(token, at: noon) == nil, "it gives no right")
        let later = try folder.token("anna", at: after(3 * 86_400))
        try store.signOut(later, from: nil, at: after(3 * 86_400))
        #expect(try store.account(ofEnded: token) == nil && store.account(ofEnded: later) == anna)
        store.close()
        try AccountStore.removeSessions(fromCopy: folder.file, of: folder.file)
        let restored = try AccountStore(folder: folder.path)
        #expect(
            try restored.account(ofEnded: later) == nil && restored.drafts(of: anna).map(\.fields) == [["text": "x"]])
        restored.close()
    }
}
