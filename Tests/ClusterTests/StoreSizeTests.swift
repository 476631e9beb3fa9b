import Base
import Glibc
import PushServices
import Runs
import TestServers
import Testing

@testable import Cluster

/// How long an audience takes into the store and out of it, for docs/performance.md. A test of
/// nothing but what has to be equal afterwards; it runs for minutes, so only where a size is named.
@Suite(
    "Audiences of a size into the store and out of it",
    .enabled(
        if: StoreSize.recipients > 0 && PostgresServer.programs != nil, "VOLLEY_TEST_SIZE names no number of devices"))
struct StoreSizeTests {
    @Test("an audience is published, sent and fetched") func size() throws {
        let size = try StoreSize()
        let file = try size.makeFile()
        let shared = try size.measure("published") { try size.store.publish(file) }
        size.note("blocks in the store", bytes: try size.bytes(of: "volley_block"))
        try size.measure("sent by one member, without the wire") { try size.send(in: shared.plan) }
        size.note("journal in the store", bytes: try size.bytes(of: "volley_journal"))
        try size.measure("fetched at home") { try shared.refresh() }
        let figures = try size.measure("figures at home") { try shared.figures(withGroups: false) }
        #expect(figures.outcomes[.accepted] == StoreSize.recipients - (StoreSize.recipients + 49) / 50)
        let elsewhere = size.folder(named: "elsewhere")
        let fetched = try size.measure("fetched elsewhere, recipients too") {
            try size.store.fetch(file.plan.id, into: elsewhere)
        }
        let copy = try RunFile(path: fetched.place, readOnly: true)
        try size.measure("compared with its digest") { try copy.checkUnchanged() }
        // A run that has ended keeps its figures, with groups.
        var found = try copy.figures(withGroups: false)
        found.groups = nil
        #expect(found == figures)
        let runs = try size.measure("listed") { try size.store.runs() }
        #expect(runs.map(\.claimed) == [StoreSize.recipients])
        try size.measure("removed") {
            try size.store.remove(file.plan.id, evenIfUnfetched: false, fetchedInto: elsewhere)
        }
    }
}

/// A server with a store, and what is measured there.
struct StoreSize {
    static let recipients = getenv("VOLLEY_TEST_SIZE").flatMap { Int(String(cString: $0)) } ?? 0
    /// Whether the server may forget what it has confirmed when its machine fails.
    private static let isForgetful = getenv("VOLLEY_TEST_FSYNC").map { String(cString: $0) } == "off"
    private static let claim = 4000

    let server: PostgresServer
    let store: Store
    private let folder: TemporaryFolder

    init() throws {
        server = try PostgresServer()
        try server.sql("ALTER SYSTEM SET fsync = \(Self.isForgetful ? "off" : "on")")
        try server.sql("ALTER SYSTEM SET shared_buffers = '128MB'")
        server.stop()
        try server.start()
        store = try StoreBench(server).store
        folder = try TemporaryFolder()
    }

    /// Another machine's folder of runs.
    func folder(named name: String) -> RunsFolder { RunsFolder("\(folder.path)/\(name)") }

    func makeFile() throws -> RunFile {
        var settings = RunSettings(
            environment: .named(APNs.sandbox), topic: "com.example.shop", pushType: .alert, renderingRules: 5)
        settings.unknownPolicy = .skip
        let plan = RunPlan(
            id: "20261201-090000-size-7f3a", campaign: "size", app: "shop", campaignFile: "/x/size.yaml",
            campaignSource: "name: size\n",
            projectFile: "/x/volley.yaml", seed: RunSeed(high: 1, low: 2), fields: ["first_name"],
            plannedAt: Timestamp(epochSeconds: 1_796_126_400), planHash: "abc", rows: Self.recipients,
            audience: Self.recipients,
            skipped: [:], settings: .success(settings), preview: .object([]))
        let writer = try RunWriter(folder: folder.path, id: plan.id)
        for id in 0..<Self.recipients { try writer.put(Self.recipient(id), at: id) }
        try writer.finish(plan).close()
        let file = try RunFile(path: "\(folder.path)/\(plan.id).sqlite")
        return file
    }

    private static func recipient(_ id: Int) -> Recipient {
        var random = SplitMix(seed: UInt64(id))
        let token = (0..<4).map { _ in TextFormat.hex(random.next(), digits: 16) }.joined()
        return Recipient(
            token: Target(normalized: token), registrationID: TextFormat.hex(random.next(), digits: 16),
            alias: "user-\(id)",
            language: "en",
            fields: ["Ada \(id % 1000)"])
    }

    /// Claims and settles everybody as a worker does.
    func send(in plan: RunPlan) throws {
        let worker = try store.open(plan.id, in: RunsFolder("\(folder.path)/member"))
        try worker.append(.epochBegan("life-1", at: .now(), from: [.planned]))
        var now = Timestamp.now().epochMilliseconds
        while let ids = try worker.lease(atMost: Self.claim, of: 0..<plan.audience) {
            now += 10
            try worker.append(.claimed(ids, at: Timestamp(epochMilliseconds: now)))
            try worker.append(.settled([ids.map { Self.settlement($0, at: now) }]))
        }
        try worker.append(.state(.finished, at: .now()))
        try worker.leave()
    }

    private static func settlement(_ id: Int, at now: Int64) -> Settlement {
        let isInvalid = id % 50 == 0
        return Settlement(
            recipient: id, outcome: isInvalid ? .invalidToken : .accepted, status: isInvalid ? 410 : 200,
            reason: isInvalid ? "Unregistered" : "", attempts: 1, latencyMilliseconds: 20 + id % 30,
            settledAt: Timestamp(epochMilliseconds: now + Int64(id % 100)),
            invalidSince: isInvalid ? Timestamp(epochMilliseconds: now - 86_400_000) : nil)
    }

    // MARK: - Measuring

    @discardableResult
    func measure<Value>(_ what: String, _ body: () throws -> Value) throws -> Value {
        let (wal, database, own, start) = (try walBytes(), databaseSeconds(), Self.ownSeconds(), ContinuousClock.now)
        let value = try body()
        let millions = Double(Self.recipients) / 1e6
        let seconds = (ContinuousClock.now - start) / .seconds(1)
        let written = Double(try walBytes() - wal) / 1e6 / millions
        let (server, client) = (databaseSeconds() - database, Self.ownSeconds() - own)
        print(
            "SIZE \(what): \(Self.short(seconds)) s; for a million: \(Self.short(written)) MB of WAL, CPU of the database "
                + "\(Self.short(server / millions)) s, of Volley \(Self.short(client / millions)) s")
        return value
    }

    func note(_ what: String, bytes: Int) {
        print("SIZE \(what): \(Self.short(Double(bytes) / Double(Self.recipients))) MB a million")
    }

    func bytes(of table: String) throws -> Int {
        Int(try server.sql("SELECT sum(pg_total_relation_size(oid)) FROM pg_class WHERE relname = '\(table)'")) ?? 0
    }

    private static func short(_ number: Double) -> String { "\((number * 100).rounded() / 100)" }

    private func walBytes() throws -> Int {
        Int(try server.sql("SELECT pg_current_wal_insert_lsn() - '0/0'::pg_lsn")) ?? 0
    }

    private static func ownSeconds() -> Double {
        var usage = rusage()
        getrusage(RUSAGE_SELF.rawValue, &usage)
        return Double(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) + Double(
            usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6
    }

    /// Of the server's processes: those that are there, and, by their parent, those that have
    /// ended.
    private func databaseSeconds() -> Double {
        let parent = Self.words("\(server.folder)/data/postmaster.pid").first ?? ""
        let ticks = ((try? Folder.names(in: "/proc")) ?? []).filter { Int($0) != nil }.reduce(0) { sum, process in
            // What follows the name, which is in brackets: state, parent, …; proc(5).
            let cells = Self.words("/proc/\(process)/stat")
            guard let end = cells.lastIndex(where: { $0.hasSuffix(")") }), cells.count > end + 16 else { return sum }
            let times = cells[(end + 12)...(end + 15)].map { Int($0) ?? 0 }
            if process == parent { return sum + times.reduce(0, +) }
            return cells[end + 2] == parent ? sum + times[0] + times[1] : sum
        }
        return Double(ticks) / Double(sysconf(Int32(_SC_CLK_TCK)))
    }

    private static func words(_ path: String) -> [Substring] {
        guard let file = fopen(path, "r") else { return [] }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = fread(&bytes, 1, bytes.count, file)
        return String(decoding: bytes.prefix(count), as: UTF8.self).split(whereSeparator: \.isWhitespace)
    }
}
