import Base
import Foundation
import GRDB
import Synchronization
import Testing

@testable import Accounts

/// Stores with separate connections, as in the console and the sender, each on its own thread.
@Suite("Two processes at once")
struct TwoProcessesTests {
    /// Runs something on several threads at once, and waits for all.
    private func atOnce(_ bodies: [@Sendable () throws -> Void]) throws {
        let failures = Mutex<[any Error]>([]), ends = DispatchGroup()
        for body in bodies {
            ends.enter()
            Thread {
                do { try body() } catch { failures.withLock { $0.append(error) } }
                ends.leave()
            }.start()
        }
        ends.wait()
        if let failure = failures.withLock({ $0.first }) { throw failure }
    }

    @Test("any number may make the file at the same moment")
    func opening() throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("volley-accounts-\(UUID().uuidString)")
            .path
        defer { try? FileManager.default.removeItem(atPath: path) }
        for _ in 0..<10 {
            try? FileManager.default.removeItem(atPath: path)
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
            try atOnce(
                (0..<6).map { _ in
                    {
                        let store = try AccountStore(folder: path)
                        try store.note(.paused, app: nil, subject: nil, by: .terminal, at: noon)
                        store.close()
                    }
                })
            let store = try AccountStore(folder: path)
            #expect(try store.activities().activities.count == 6)
            store.close()
        }
    }

    @Test("two administrators who demote one another at the same moment leave one")
    func demotion() throws {
        for _ in 0..<20 {
            let folder = try AccountFolder()
            let other = try folder.another()
            defer { other.close() }
            let ada = try folder.administrator(), ben = try folder.account("ben", [RoleGrant(.administrator, .allApps)])
            let adaID = try #require(ada.account), benID = try #require(ben.account)
            let refused = Mutex(0)
            let calls: [(AccountStore, AccountID, Actor)] = [(folder.store, benID, ada), (other, adaID, ben)]
            try atOnce(
                calls.map { store, victim, actor in
                    {
                        do { try store.setGrants([], of: victim, by: actor, at: noon) } catch let error as AccountError
                        {
                            // The later of the two is no administrator any more.
                            #expect(error == .notPermitted)
                            refused.withLock { $0 += 1 }
                        }
                    }
                })
            #expect(refused.withLock { $0 } == 1)
            #expect(try folder.store.accounts().count(where: \.administersEverything) == 1)
        }
    }

    @Test("an invitation, a code and a recovery code that are used twice at the same moment work once")
    func once() throws {
        let folder = try AccountFolder()
        let other = try folder.another()
        defer { other.close() }
        let id = try #require(try folder.account("ben", []).account)
        let (secret, codes) = try folder.secondFactor(of: "ben")
        let hash = try quickHasher().hash(goodPassword, of: name("vera"), nil)
        let worked = Mutex<[String: Int]>([:])
        for round in 0..<10 {
            let now = after(Int64(round + 1) * 120)
            let link = try folder.store.invite(name("vera\(round)"), DisplayName("Vera"), [], by: .terminal, at: now)
            let code = secret.code(ofStep: TOTPSecret.step(at: now))
            try atOnce(
                [folder.store, other, folder.store, other].map { store in
                    {
                        if (try? store.accept(link.token, hash, from: nil, at: now)) != nil {
                            worked.withLock { $0["link", default: 0] += 1 }
                        }
                        if try store.write({ try SecondFactorRecords.use(code, secret, of: id, at: now, $0) }) {
                            worked.withLock { $0["code", default: 0] += 1 }
                        }
                        if try store.write({ try SecondFactorRecords.use(codes[round], of: id, $0) }) {
                            worked.withLock { $0["recovery", default: 0] += 1 }
                        }
                    }
                })
        }
        #expect(worked.withLock { $0 } == ["link": 10, "code": 10, "recovery": 10])
    }

    @Test("activities of many threads in both are all there")
    func activities() throws {
        let folder = try AccountFolder()
        let other = try folder.another()
        defer { other.close() }
        try atOnce(
            (0..<8).map { thread in
                {
                    for number in 0..<25 {
                        let store = thread % 2 == 0 ? folder.store : other
                        try store.note(
                            .suppressed(devices: thread * 25 + number), app: "shop", subject: nil, by: .terminal,
                            at: noon)
                    }
                }
            })
        let noted = try folder.store.activities(count: 500).activities
        #expect(noted.count == 200 && Set(noted.map(\.kind)).count == 200)
    }

    @Test("a page reads while another process writes, and a write waits for it")
    func waiting() throws {
        let folder = try AccountFolder()
        _ = try folder.administrator()
        let other = try DatabaseQueue(path: folder.file)
        let isHeld = DispatchSemaphore(value: 0), letGo = DispatchSemaphore(value: 0)
        let read = Mutex(false)
        try atOnce([
            {
                try other.inDatabase { db in
                    try db.execute(sql: "BEGIN IMMEDIATE; UPDATE account SET display_name = 'Other'")
                    isHeld.signal()
                    letGo.wait()
                    try db.execute(sql: "COMMIT")
                }
            },
            {
                isHeld.wait()
                let names = try folder.store.accounts().map(\.displayName.text)
                read.withLock { $0 = names == ["Ada"] }
                letGo.signal()
                try folder.store.note(.paused, app: nil, subject: nil, by: .terminal, at: noon)
            },
        ])
        #expect(read.withLock { $0 })
        #expect(try folder.store.accounts().map(\.displayName.text) == ["Other"])
        #expect(try folder.kinds().first == .paused)
    }
}
