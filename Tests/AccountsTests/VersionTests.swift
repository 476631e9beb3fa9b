import Base
import Testing

@testable import Accounts

@Suite("Versions of campaign files")
struct VersionTests {
    @Test("each version is kept with who saved it, the newest first, and is an activity")
    func kept() throws {
        let folder = try AccountFolder()
        let ada = try folder.administrator()
        let ben = try folder.account("ben", [RoleGrant(.editor, .app("shop"))])
        let store = folder.store
        try store.keep(version: "one", of: "sale.yaml", app: "shop", by: ada, at: noon)
        try store.keep(version: "two \u{202E}", of: "sale.yaml", app: nil, by: ben, at: after(60))
        try store.keep(version: "one", of: "other.yaml", app: "shop", by: ben, at: after(60))
        let versions = try store.versions(of: "sale.yaml")
        #expect(versions.map(\.person.name?.text) == ["ben", "root.admin"] && versions.map(\.at) == [after(60), noon])
        #expect(try store.versions(of: "sale.yaml", count: 1).map(\.number) == [2])
        #expect(try store.text(ofVersion: 2, of: "sale.yaml") == "two \u{202E}")
        #expect(
            try store.text(ofVersion: 2, of: "other.yaml") == nil && store.text(ofVersion: 9, of: "sale.yaml") == nil)
        #expect(try folder.kinds().prefix(3).allSatisfy { $0 == .campaignSaved })
    }

    @Test("what somebody changed beside the console is a version without a writer, once, and no activity")
    func outside() throws {
        let folder = try AccountFolder()
        let ada = try folder.administrator()
        for _ in 0..<2 { try folder.store.keep(found: "by hand", in: "sale.yaml", app: "shop", at: noon) }
        try folder.store.keep(version: "two", of: "sale.yaml", app: "shop", by: ada, at: noon)
        try folder.store.keep(found: "two", in: "sale.yaml", app: "shop", at: noon)
        try folder.store.keep(found: "by hand", in: "sale.yaml", app: "shop", at: noon)
        #expect(try folder.store.versions(of: "sale.yaml").map(\.person.name?.text) == [nil, "root.admin", nil])
        #expect(
            try folder.store.writers(
                ofText: folder.store.versions(of: "sale.yaml")[0].digest, in: "other.yaml", after: []
            ).isEmpty)
        #expect(try folder.kinds().count { $0 == .campaignSaved } == 1)
    }

    @Test("the writers of a text are all who saved it, under any name, also when their accounts are gone")
    func writers() throws {
        let folder = try AccountFolder()
        let ada = try folder.administrator()
        let ben = try folder.account("ben", [RoleGrant(.editor, .app("shop"))])
        try folder.store.keep(version: "one", of: "sale.yaml", app: "shop", by: ada, at: noon)
        try folder.store.keep(version: "one", of: "copy.yaml", app: "shop", by: ben, at: noon)
        try folder.store.keep(version: "one", of: "copy.yaml", app: "shop", by: .terminal, at: noon)
        let digest = try #require(try folder.store.versions(of: "sale.yaml").first?.digest)
        #expect(digest == "7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed")
        try folder.store.remove(#require(ben.account), by: ada, at: noon)
        #expect(try folder.store.writers(ofText: digest, in: "other.yaml", after: []) == ["root.admin", "ben"])
        #expect(try folder.store.writers(ofText: String(digest.reversed()), in: "other.yaml", after: []).isEmpty)
    }

    @Test(
        "the writers of a text are those of its copies and of theirs, unless others agreed to it before; the history begins with it"
    )
    func copies() throws {
        let folder = try AccountFolder(), store = folder.store
        let people = try ["ann", "ben", "cem"].map { try folder.account($0, [RoleGrant(.editor, .app("shop"))]) }
        for (text, person) in zip(["one", "two"], people) {
            try store.keep(version: text, of: "sale.yaml", app: "shop", by: person, at: noon)
        }
        let digests = try store.versions(of: "sale.yaml").reversed().map(\.digest)
        func copy(_ file: String, to copy: String, agreed: Set<String> = []) throws -> Set<String> {
            let source = VersionSource(
                file: file, digest: try #require(store.versions(of: file).first).digest, agreed: agreed)
            try store.keep(
                version: "copy \(copy)", of: copy, madeFrom: [source], app: "shop", by: people[2], at: after(60))
            return try store.writers(ofText: #require(store.versions(of: copy).first).digest, in: copy, after: [])
        }
        #expect(try copy("sale.yaml", to: "a.yaml") == ["ann", "ben", "cem"])
        #expect(try copy("a.yaml", to: "b.yaml") == ["ann", "ben", "cem"])
        #expect(try copy("sale.yaml", to: "c.yaml", agreed: [digests[0]]) == ["ben", "cem"])
        #expect(try store.versions(of: "c.yaml").map(\.at) == [after(60), noon])
        #expect(try folder.kinds().count { $0 == .campaignSaved } == 5)
    }

    @Test("whoever wrote a text wrote what others made of it, until it was sent; what came later is somebody else's")
    func chain() throws {
        let folder = try AccountFolder()
        let people = try ["ann", "ben", "cem", "dan"].map { try folder.account($0, [RoleGrant(.editor, .app("shop"))]) }
        for (text, person) in zip(["one", "two", "two # ok", "three"], people) {
            try folder.store.keep(version: text, of: "sale.yaml", app: "shop", by: person, at: noon)
        }
        let digests = try folder.store.versions(of: "sale.yaml").reversed().map(\.digest)
        func writers(_ text: Int, after sent: [Int]) throws -> Set<String> {
            try folder.store.writers(ofText: digests[text], in: "sale.yaml", after: Set(sent.map { digests[$0] }))
        }
        #expect(try writers(2, after: []) == ["ann", "ben", "cem"])
        #expect(try writers(2, after: [0]) == ["ben", "cem"])
        #expect(try writers(2, after: [2]) == ["ann", "ben", "cem"], "sent before, and to be agreed to again")
        #expect(try writers(3, after: [2]) == ["dan"])
        // Changed outside the console since: what was written here may still be in it.
        let outside = String(repeating: "0", count: 64)
        #expect(try folder.store.writers(ofText: outside, in: "sale.yaml", after: [digests[2]]) == ["dan"])
        #expect(try folder.store.writers(ofText: outside, in: "other.yaml", after: []).isEmpty)
    }
}
