import Base
import GRDB
import Testing

@testable import Accounts

@Suite("Sessions in the file")
struct StoredSessionTests {
    @Test(
        "what ends a session: signing out, other roles, a disabled or removed account, the person from another browser")
    func ends() throws {
        let folder = try AccountFolder()
        let ada = try folder.administrator()
        let id = try #require(try folder.account("ben", []).account)
        let store = folder.store
        let endings: [(SecretToken) throws -> Void] = [
            { try store.signOut($0, from: home, at: noon) },
            { _ in try store.setGrants([RoleGrant(.viewer, .allApps)], of: id, by: ada, at: noon) },
            { token in
                let found = try #require(try store.signedIn(token, at: noon))
                try store.endSession(found.session.id, of: id, from: home, at: noon)
            },
            { _ in
                try store.disable(id, by: ada, at: noon)
                try store.enable(id, by: ada, at: noon)
            }, { _ in try store.remove(id, by: ada, at: noon) },
        ]
        for end in endings {
            let token = try folder.token("ben")
            #expect(try store.signedIn(token, at: noon) != nil)
            try end(token)
            #expect(try store.signedIn(token, at: noon) == nil)
        }
        #expect(try store.signedIn(SecretToken(), at: noon) == nil)
        #expect(try folder.kinds().contains(.sessionEnded) && folder.kinds().contains(.signedOut))
    }

    @Test(
        "a session that is signed out while nothing can be written has ended, and leaves the file with the next change; others go on"
    )
    func unwritable() throws {
        let folder = try AccountFolder()
        _ = try folder.account("ben", [])
        let (token, other) = (try folder.token("ben"), try folder.token("ben"))
        let database = try DatabaseQueue(path: folder.store.path)
        try database.write {
            for deed in ["UPDATE", "DELETE"] {
                try $0.execute(
                    sql: "CREATE TRIGGER no_\(deed) BEFORE \(deed) ON session BEGIN SELECT RAISE(ABORT, 'full'); END")
            }
        }
        #expect(throws: Diagnostic.self) { try folder.store.signOut(token, from: home, at: noon) }
        #expect(try folder.store.signedIn(token, at: noon) == nil)
        // Its use would be written.
        #expect(try folder.store.signedIn(other, at: after(600)) != nil)
        #expect(try folder.store.signedIn(other, at: after(7_200)) == nil)
        // The clock is set back.
        #expect(try folder.store.signedIn(other, at: after(600)) == nil)
        try database.write { try $0.execute(sql: "DROP TRIGGER no_UPDATE; DROP TRIGGER no_DELETE") }
        _ = try folder.token("ben")
        #expect(try database.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM session") } == 1)
    }

    @Test("a person sees their own sessions, and ends no other's")
    func own() throws {
        let folder = try AccountFolder()
        let ben = try #require(try folder.account("ben", []).account),
            vera = try #require(try folder.account("vera", []).account)
        let token = try folder.token("vera")
        _ = try folder.token("ben", at: after(60))
        let last = try folder.token("ben", at: after(120))
        #expect(try folder.store.sessions(of: ben, at: after(120)).map(\.startedAt) == [after(120), after(60)])
        let hers = try #require(try folder.store.signedIn(token, at: noon)).session.id
        try folder.store.endSession(hers, of: ben, from: home, at: noon)
        #expect(try folder.store.sessions(of: vera, at: noon).map(\.id) == [hers])
        #expect(
            try folder.store.sessions(of: ben, at: after(60 + 30 * 60)).map(\.id) == [
                folder.store.signedIn(last, at: after(120))?.session.id
            ])
    }

    @Test("use keeps a session alive for twelve hours and no longer, and a session that was found dead stays so")
    func epochs() throws {
        let folder = try AccountFolder()
        _ = try folder.account("ben", [])
        let token = try folder.token("ben")
        var now: Int64 = 0
        while now < 12 * 3600 {
            #expect(try folder.store.signedIn(token, at: after(now)) != nil)
            now += 25 * 60
        }
        #expect(try folder.store.signedIn(token, at: after(now)) == nil)
        #expect(try folder.store.signedIn(token, at: after(now - 25 * 60)) == nil)
        // A clock that was set back by a lot ends it, too, and does not revive it later.
        let other = try folder.token("ben", at: after(100_000))
        #expect(try folder.store.signedIn(other, at: noon) == nil)
        #expect(try folder.store.signedIn(other, at: after(100_000)) == nil)
    }

    @Test("an account keeps fifty sessions; the one that was used longest ago ends, and dead ones leave the file")
    func bounded() throws {
        let folder = try AccountFolder()
        let ben = try #require(try folder.account("ben", []).account)
        let tokens = try (0..<51).map { try folder.token("ben", at: after(Int64($0))) }
        #expect(
            try tokens.map { try folder.store.signedIn($0, at: after(51)) != nil } == [false]
                + [Bool](repeating: true, count: 50))
        _ = try folder.token("ben", at: after(100_000))
        #expect(try folder.store.read { try SessionRecords.all(of: ben, $0) }.count == 1)
    }

    @Test("another process sees a session, its uses and its end at once")
    func processes() throws {
        let folder = try AccountFolder()
        let other = try folder.another()
        defer { other.close() }
        let id = try #require(try folder.account("ben", []).account)
        let token = try folder.token("ben")
        #expect(try other.signedIn(token, at: after(20 * 60))?.account.id == id)
        #expect(try folder.store.signedIn(token, at: after(40 * 60)) != nil)
        try other.disable(id, by: .terminal, at: noon)
        #expect(try folder.store.signedIn(token, at: after(40 * 60)) == nil)
    }
}
