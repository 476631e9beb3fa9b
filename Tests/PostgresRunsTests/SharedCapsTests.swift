import Base
import PushServices
import Runs
import TestServers
import TestSupport
import Testing

@testable import PostgresRuns

@Suite("frequency caps of a run in the store", .enabled(if: PostgresServer.programs != nil, "PostgreSQL is missing; make test gets it"))
struct SharedCapsTests {
    private static let noon = Timestamp(epochSeconds: 1_796_126_400)

    private static func target(_ id: Int) -> String {
        let digits = String(id, radix: 16)
        return String(repeating: "0", count: 64 - digits.count) + digits
    }

    /// A published run of 2,500 recipients.
    private func publish(_ folder: TemporaryFolder, _ bench: StoreBench) throws -> SharedLedger {
        let settings = RunSettings(environment: .named(APNs.sandbox), topic: "com.example.shop", pushType: .alert, renderingRules: 5)
        let plan = RunPlan(
            id: "run", campaign: "spring-sale", app: "shop", campaignFile: "/x/spring.yaml", campaignSource: "name: spring-sale\n",
            projectFile: "/x/volley.yaml", seed: RunSeed(high: 1, low: 2), fields: [], plannedAt: Self.noon, planHash: "abc", rows: 2500,
            audience: 2500, skipped: [:], settings: .success(settings), preview: .object([]))
        let recipients = (0..<2500).map {
            Recipient(token: Target(normalized: Self.target($0)), registrationID: "", alias: "", language: "de", fields: [])
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

    @Test("what the machine with the file found, the others leave out; after a pause, an end of it or a new epoch they wait for news")
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
