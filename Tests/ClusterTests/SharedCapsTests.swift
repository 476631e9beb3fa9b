import Base
import PushServices
import Runs
import TestServers
import TestSupport
import Testing

@testable import Cluster

@Suite(
    "frequency caps of a run in the store",
    .enabled(if: PostgresServer.programs != nil, "PostgreSQL is missing; make test gets it"))
struct SharedCapsTests {
    private static let noon = Timestamp(epochSeconds: 1_796_126_400)

    private static func target(_ id: Int) -> String {
        let digits = String(id, radix: 16)
        return String(repeating: "0", count: 64 - digits.count) + digits
    }

    /// A published run of 2,500 recipients.
    private func publish(_ folder: TemporaryFolder, _ bench: StoreBench) throws -> SharedLedger {
        let settings = RunSettings(
            environment: .named(APNs.sandbox), topic: "com.example.shop", pushType: .alert, renderingRules: 5)
        let plan = RunPlan(
            id: "run", campaign: "spring-sale", app: "shop", campaignFile: "/x/spring.yaml",
            campaignSource: "name: spring-sale\n",
            projectFile: "/x/volley.yaml", seed: RunSeed(high: 1, low: 2), fields: [], plannedAt: Self.noon,
            planHash: "abc", rows: 2500,
            audience: 2500, skipped: [:], settings: .success(settings), preview: .object([]))
        let recipients = (0..<2500).map {
            Recipient(
                token: Target(normalized: Self.target($0)), registrationID: "", alias: "", language: "de", fields: [])
        }
        let ledger = try bench.store.publish(try StoreBench.file(plan, recipients, in: folder.path))
        try ledger.takeUp(epoch: "1-a", at: Self.noon)
        return ledger
    }

    private func ids(_ set: BitSet?) -> [Int]? {
        guard let set else { return nil }
        var ids: [Int] = []
        set.forEach { ids.append($0) }
        return ids
    }

    @Test(
        "what the machine with the file found, the others leave out; after a pause, an end of it or a new epoch they wait for news"
    )
    func shared() throws {
        let bench = try StoreBench(PostgresServer.shared.get()), folder = try TemporaryFolder()
        let host = try publish(folder, bench), worker = try bench.another().open("run", in: RunsFolder(folder.path))
        try worker.join()
        #expect(try worker.cappedIDs() == nil)
        #expect(try worker.beat(answers: [:])?.knowsCapped == false)

        let wanted = [0, 7, 999, 1000, 2499], targets = Set(wanted.map(Self.target))
        #expect(try ids(host.shareCapped { targets.contains(String(decoding: $0, as: UTF8.self)) }) == wanted)
        #expect(try ids(worker.cappedIDs()) == wanted)
        #expect(try worker.beat(answers: [:])?.knowsCapped == true)
        _ = try host.shareCapped(nil)
        #expect(try ids(worker.cappedIDs()) == [])

        try host.append(.ordered(.pause, at: Self.noon))
        #expect(try worker.cappedIDs() == nil)
        _ = try host.shareCapped(nil)
        try host.append(.ordered(.goOn, at: Self.noon))
        #expect(try worker.beat(answers: [:])?.knowsCapped == false)
        _ = try host.shareCapped(nil)
        try host.append(.state(.stopped, cause: .interrupted, at: Self.noon))
        #expect(try worker.cappedIDs() != nil)
        try host.append(.epochBegan("2-b", at: Self.noon, from: [.stopped]))
        #expect(try worker.cappedIDs() == nil)
    }

    @Test("a machine that was declared dead, or is behind an epoch, says nothing more")
    func fenced() throws {
        let bench = try StoreBench(PostgresServer.shared.get()), folder = try TemporaryFolder()
        let host = try publish(folder, bench), worker = try bench.another().open("run", in: RunsFolder(folder.path))
        try worker.join()
        _ = try host.shareCapped(nil)
        let silent = try #require(try worker.beat(answers: [:])?.others.first)
        #expect(try worker.declareDead(silent.number, beat: silent.beat))
        #expect(throws: SendingRevoked(isCancelled: false)) { _ = try host.shareCapped { _ in true } }
        #expect(try ids(worker.cappedIDs()) == [])
    }

    /// One thing that is asked of the store without patience.
    private struct Question {
        let name: String
        let ask: @Sendable (Store) throws -> Void

        init(_ name: String, _ ask: @escaping @Sendable (Store) throws -> Void) { (self.name, self.ask) = (name, ask) }
    }

    private static let questions = [
        Question("key") { _ = try $0.hashKey() },
        Question("reached") {
            try $0.setReached([.init(list: "sandbox", at: 60_000, hashes: [1, 2])], by: "r", of: "shop", keptFor: 60)
        },
        Question("claim") { store in
            let time = SharedFiring(
                app: "shop", campaign: "sale", occurrence: "2026-12-01T09:00", run: "r", state: .claimed)
            let (holder, found) = (try store.claim(time), try store.holder(of: time))
            #expect(holder == nil && found == nil)
        },
        Question("runs") { _ = try $0.holds("r") },
        Question("sent") { _ = try $0.isBeingSent("r") },
        Question("clock") { _ = try $0.clockOffsetSeconds() },
        Question("service") { _ = try $0.joinAsService() },
        Question("over") { try $0.end(["r"], as: .over) },
    ]

    @Test("a connection that an administrator ended while it rested is opened again, whatever is asked next")
    func endedConnections() throws {
        let server = try PostgresServer.shared.get(), bench = try StoreBench(server)
        try bench.passQuiet()
        for question in Self.questions {
            let process = try #require(try bench.sql("SELECT pg_backend_pid()").first?.first ?? nil)
            _ = try server.sql("SELECT pg_terminate_backend(\(process), 5000)")
            #expect(throws: Never.self, "\(question.name)") { try question.ask(bench.store) }
        }
    }

    @Test(
        "what a run must know of the pushes of other machines is waited for while the database restarts, and comes once"
    )
    func restarted() throws {
        let server = try PostgresServer(), bench = try StoreBench(server)
        let now = Int(Timestamp.now().epochMilliseconds)
        try bench.store.setReached(
            [.init(list: "sandbox", at: now, hashes: [1, 2])], by: "r", of: "shop", keptFor: 3600)
        for isOrderly in [true, false] {
            server.stop(isOrderly: isOrderly)
            let starter = try WorkerThread("start") { Result { try server.start() } }
            var found: [[UInt64]] = []
            _ = try bench.store.hashKey()
            try bench.store.forEachReached(of: "shop", list: "sandbox", since: 0, where: { _ in true }) {
                found.append($1)
            }
            #expect(found == [[1, 2]])
            try starter.join().get()
        }
    }

    @Test("ids come back as they were, and what is no such set is refused")
    func bytes() {
        var set = BitSet()
        for id in [0, 1, 5, 4095, 70_000, 9_999_999] { set.insert(id) }
        #expect(CappedIDs.read(CappedIDs.bytes(of: set), below: 10_000_000) == set)
        #expect(CappedIDs.read([], below: 1) == BitSet())
        #expect(CappedIDs.read(CappedIDs.bytes(of: set), below: 9_999_999) == nil)
        #expect(CappedIDs.read([0x80], below: 10) == nil)
        #expect(CappedIDs.read([5] + [UInt8](repeating: 0xFF, count: 9) + [0x7F], below: 10) == nil)
    }
}
