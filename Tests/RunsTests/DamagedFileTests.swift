import Base
import FileDamage
import Foundation
import PushServices
import Testing

@testable import Runs

/// Every kind of file of the folder of runs, damaged in every way. `make fuzz-files` tries
/// thousands.
@Suite("damaged files")
struct DamagedFileTests {
    private static func fixture(_ name: String) throws -> String {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent(
            "../Fixtures/Formats/\(name).sql")
        return try String(contentsOf: file, encoding: .utf8)
    }

    /// A kind of file, and everything that reads it.
    struct Kind: Sendable, CustomTestStringConvertible {
        let fixture: String, file: String
        let use: @Sendable (_ folder: String, _ path: String) throws -> Void
        var testDescription: String { fixture }
    }

    private static let kinds: [Kind] =
        ["1", "2", "3-early", "3", "4", "5", "6"].map { format in
            Kind(fixture: "run-\(format)", file: "20261201-090000-spring-sale-000\(format.prefix(1)).sqlite") {
                folder, path in
                try useRun(path, folder)
            }
        }
        + (1...3).map { format in
            Kind(fixture: "schedule-\(format)", file: "schedule.sqlite") { folder, _ in try useSchedule(folder) }
        }
        + (1...2).map { format in
            Kind(fixture: "orders-\(format)", file: "orders.sqlite") { folder, _ in try useOrders(folder) }
        }
        + (1...2).map { format in
            Kind(fixture: "suppressed-\(format)", file: "suppressed-shop.sqlite") { folder, _ in try useList(folder) }
        }
        + [Kind(fixture: "sent-1", file: "sent.db") { folder, _ in try useHistory(folder) }]

    @Test(
        "whatever is damaged in a file, each use of it is done or refused with a diagnostic that shows no token",
        arguments: kinds)
    func damaged(_ kind: Kind) throws {
        let folder = try TemporaryFolder(), path = "\(folder.path)/\(kind.file)"
        let intact = folder.path + "/intact"
        try Damage.make(intact, sql: Self.fixture(kind.fixture))
        let bytes = readBytes(intact)
        unlink(intact)
        for seed in Damage.seeds(25) {
            Damage.announce(seed)
            for name in folder.names { unlink("\(folder.path)/\(name)") }
            writeBytes(bytes, path)
            var damage = Damage(seed: seed)
            try damage.apply(to: path)
            do { try kind.use(folder.path, path) } catch {
                #expect(
                    error is Diagnostic || error is SendingRevoked, "seed \(seed), \(damage.what): \(type(of: error))")
                let text = "\(error)"
                #expect(!text.contains("aa0000000000000000"), "seed \(seed), \(damage.what) shows a token")
                #expect(
                    !text.contains("GRDB") && !text.contains("SQLite error 20"), "seed \(seed), \(damage.what): \(text)"
                )
            }
        }
    }

    /// Each step on its own: one that is refused must not hide the next.
    private static func each(_ steps: [() throws -> Void]) throws {
        var first: (any Error)?
        for step in steps { do { try step() } catch { first = error is Diagnostic ? first ?? error : error } }
        if let first { throw first }
    }

    private static func useRun(_ path: String, _ folder: String) throws {
        let listing = try RunsFolder(folder).list()
        #expect(listing.runs.count + listing.broken.count + listing.copies.count == 1)
        let since = Timestamp(epochSeconds: 0), catalog = RunsFolder(folder)
        let run = try RunFile(path: path)
        defer { run.close() }
        var lines = 0
        try each([
            { _ = try run.plan.settings.get() }, { _ = try run.status() }, { _ = try run.status().epoch },
            { _ = try run.status().segments },
            { _ = try run.approval() }, { try run.checkUnchanged() }, { try run.checkIntegrity() },
            { _ = try run.figures(withGroups: true).json.text }, { _ = try run.evidence(ofService: 0) },
            { _ = try run.recipients(0..<6) },
            { try run.forEachPush(in: 0..<6, PushSelection(withTraits: true)) { _ in } },
            { try run.forEachPush(in: 0..<6, PushSelection(unsettled: OpenOutcomes(resendsUnknown: true))) { _ in } },
            { try run.forEachResult { _, _, settled, _ in lines += settled?.settledAt.description.count ?? 0 } },
            { try run.forEachStoredResult { _ in } },
            { try run.forEachReached(closing: []) { _, at, _, _ in lines += at?.description.count ?? 0 } },
            { try run.forEachDevice(withOutcome: .invalidToken, where: { _ in true }) { _, _ in } },
            { _ = try run.statistics() }, { _ = try run.receipts(ofService: 0) }, { _ = try run.calls(ofService: 0) },
            { _ = try run.claims().made }, { _ = try run.claimedWithoutOutcome() },
            { _ = try run.claims().skippedWaves },
            { _ = try run.claims().last?.description }, { _ = try run.claims().first(of: 0..<6)?.description },
            { _ = try run.unsettled(in: 0..<6, OpenOutcomes(resendsUnknown: true)) }, { _ = try run.copiedAt() },
            { _ = try run.sharedSince() },
            { _ = try run.fetchMarks() }, { _ = try run.bareFile() }, { _ = try run.reached() },
            { _ = try catalog.runs(ofApp: "shop", reachingSince: since) },
            { _ = try catalog.lastStarted(of: "spring-sale", app: "shop", limit: 5) },
            { _ = SendingHistory.gap(of: run) }, { _ = try RunChain(of: run).runs.count },
            { _ = try run.append(.lost(at: noon)) }, { try run.append(.settled([[settled(5, .unsent, status: 0)]])) },
            { try run.prune(at: noon) }, { _ = try RunFile(path: path).figures(withGroups: true).json },
        ])
    }

    private static func useSchedule(_ folder: String) throws {
        let start = Timestamp(epochSeconds: 0)
        try each([
            { _ = try ScheduleStore.read(folder: folder, since: start).scheduledRuns.map(\.begins.description) },
            {
                let store = try ScheduleStore(folder: folder)
                defer { store.close() }
                try each([
                    { _ = try store.save(store.scheduledRuns(since: start), store.campaigns()) },
                    { _ = try store.approvals().map(\.approvedAt.description) }, { _ = try store.lastEnded(at: noon) },
                    { _ = try store.restoredAt() }, { try store.noteRestored(begun: [], at: noon) },
                    { _ = try store.restoredAt() },
                ])
            },
        ])
    }

    private static func useOrders(_ folder: String) throws {
        try each([
            { _ = try OrderRecords(folder: folder).read().orders.map(\.changedAt.description) },
            {
                let store = try OrderStore(folder: folder)
                defer { store.close() }
                try each([
                    { _ = try store.unended() }, { _ = try store.askers(ofRun: "20261201-090000-spring-sale-0005") },
                    { _ = try store.orders(ofRun: "20261201-090000-spring-sale-0005") },
                    { _ = try store.order("first") },
                    { _ = try store.take("second", epoch: "l", at: noon) },
                ])
            },
        ])
    }

    private static func useList(_ folder: String) throws {
        let list = SuppressionList(app: "shop", service: PushServices.standard, environment: "sandbox", folder: folder)
        var seen = 0
        try each([
            { _ = try list.count() }, { _ = try list.reasons() },
            { _ = try list.newest(10).map(\.addedAt.description) },
            { try list.forEach { seen += $0.reason.count } }, { _ = try list.entry(of: Target(normalized: token(1))) },
            {
                _ = try list.withTokens { _, forEach in try forEach { _, since, _ in seen += since.description.count } }
            },
            { _ = try list.sharing() }, { _ = try list.unsent(atMost: 10) },
            {
                _ = try list.add(at: noon) {
                    try $0.add(Target(normalized: token(9)), reason: "gone", invalidSince: noon)
                }
            },
            { _ = try list.remove { try $0(Target(normalized: token(9))) } }, { _ = try list.removeAll() },
        ])
    }

    private static func useHistory(_ folder: String) throws {
        let history = SendingHistory(folder: folder), run = "20261201-090000-spring-sale-0005"
        let time = SendingHistory.Time(
            campaign: "spring-sale", occurrence: "2026-12-01T09:00", file: "/a", realFile: "/a")
        try each([
            { _ = try history.entries() }, { _ = try history.entry(of: run)?.begunAt.description },
            { _ = try history.order() },
            { _ = try history.retries(of: run) }, { _ = try history.isCancelled(run) },
            { _ = try history.run(having: time, besides: "x") },
            { _ = (try history.entry(of: run)?.epoch).map(SendingHistory.epoch) }, { _ = try history.confirm(run) },
            { try history.noteCancelled("20261201-090000-spring-sale-0006", having: time) },
            { try history.hold([HeldRun(id: run, retryOf: nil, epoch: "1-abc", isOver: false)], backupAt: noon) },
        ])
    }

    @Test("a damaged run is listed with what is wrong, and every other run is there")
    func listed() throws {
        let folder = try TemporaryFolder()
        for number in 1...3 { try makeRun(folder, id: "20261201-09000\(number)-sale-0000", audience: 3).close() }
        let damaged = folder.path + "/20261201-090002-sale-0000.sqlite"
        try Damage.make(damaged, sql: "UPDATE run SET audience = '0f'")
        let listing = try RunsFolder(folder.path).list()
        #expect(listing.runs.map(\.plan.id) == ["20261201-090001-sale-0000", "20261201-090003-sale-0000"])
        #expect(listing.broken.map(\.message) == ["the run file is damaged: `audience` is not a whole number"])
        #expect(listing.broken.map(\.file) == [damaged])
    }

    @Test(
        "a run whose state or epoch cannot be read is listed as damaged",
        arguments: [
            "UPDATE run SET state = 'finishe'", "UPDATE run SET started_at = 'x'",
            "UPDATE run SET finished_at = 9223372036854775807",
            "UPDATE run SET retry_of = id", "CREATE TABLE life (life); INSERT INTO life VALUES (x'FF')",
        ])
    func state(edit: String) throws {
        let folder = try TemporaryFolder()
        let run = try makeRun(folder, id: "20261201-090001-sale-0000", audience: 3)
        run.close()
        try Damage.make(run.path, sql: edit)
        let listing = try RunsFolder(folder.path).list()
        #expect(listing.runs.isEmpty && listing.broken.count == 1)
        #expect(listing.broken[0].message.hasPrefix("the run file is damaged: "))
    }

    @Test("an outcome that became another one by a flipped bit is found before anything is sent again")
    func flippedOutcome() throws {
        let folder = try TemporaryFolder()
        let run = try makeRun(folder, audience: 20)
        try run.append(.state(.running, at: noon))
        try run.append(.claimed(0..<20, at: noon))
        try run.append(.settled([(0..<20).map { settled($0) }]))
        try run.append(.state(.stopped, at: noon))
        try run.checkIntegrity()
        run.close()
        // Accepted is 1, failed 4, and unsent 6: the first four bits of a slot.
        try Damage.make(run.path, sql: "UPDATE outcome_block SET slots = x'60' || substr(slots, 2) WHERE number = 0")
        let damaged = try RunFile(path: run.path)
        #expect(
            diagnostic { try damaged.checkIntegrity() }?.message
                == "the run file is damaged: its outcomes are not those that were counted when it ended")
    }
}
