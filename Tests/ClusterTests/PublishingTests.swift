import Base
import Postgres
import PushServices
import Runs
import Synchronization
import TestServers
import Testing

@testable import Cluster

@Suite("Runs into the store", .enabled(if: PostgresServer.programs != nil, "PostgreSQL is missing; make test gets it"))
struct PublishingTests {
    /// The recipients that a store has of a run.
    private func recipients(_ bench: StoreBench, _ id: String) throws -> [Recipient] {
        let folder = try TemporaryFolder()
        var found: [Recipient] = []
        try bench.store.open(id, in: RunsFolder(folder.path)).forEachResult { _, recipient, _, _ in
            found.append(recipient)
        }
        return found
    }

    @Test(
        "a plan is copied whole, with progress up to its audience; again, it is found",
        arguments: [0, 1, 999, 1000, 1001, 100_321])
    func whole(audience: Int) throws {
        let bench = try StoreBench(PostgresServer.shared.get()), host = try TemporaryFolder()
        let plan = SharedRun.plan(audience),
            file = try StoreBench.file(plan, SharedRun.recipients(audience), in: host.path)
        let seen = Mutex<[Int]>([])
        _ = try bench.store.publish(file) { count in seen.withLock { $0.append(count) } }
        let counts = seen.withLock { $0 }
        #expect(counts == counts.sorted() && counts.last ?? 0 == audience)
        #expect(try recipients(bench, plan.id) == SharedRun.recipients(audience))
        _ = try bench.another().publish(file) { _ in Issue.record("it was copied again") }
    }

    @Test("a recipient comes out of a block as it went in, whatever its target looks like") func blocks() throws {
        let targets = [
            "", "0", "00", "0f1e2d", "0F1E", "abcdefg0", "fcm:AB-cd_12", "190e35f7e07e9b3b", "ff0", "`a", "/0", ":0",
            "\u{E9}\u{E9}",
        ]
        var writer = ByteWriter()
        for target in targets {
            var (token, cells) = (target, "[\"Zoë\"]")
            token.withUTF8 { token in
                cells.withUTF8 { cells in
                    let none = UnsafeBufferPointer<UInt8>(start: nil, count: 0)
                    writer.put(
                        StoredRecipient(
                            token: token, registrationID: none, alias: cells, language: none, variant: none,
                            fields: cells))
                }
            }
        }
        writer.bytes.withUnsafeBytes { bytes in
            var reader = RecipientBlockReader(bytes)
            for (number, target) in targets.enumerated() {
                if number == 3 {
                    reader.skip()
                } else {
                    reader.next { recipient in
                        #expect(String(decoding: recipient.token, as: UTF8.self) == target)
                        #expect(
                            String(decoding: recipient.alias, as: UTF8.self) == "[\"Zoë\"]"
                                && recipient.language.isEmpty)
                    }
                }
            }
            #expect(reader.isIntact && reader.isAtEnd)
        }
    }

    @Test("what a publisher left in the middle is used by nobody, and the next one copies what is missing") func half()
        throws
    {
        let server = try PostgresServer.shared.get(), bench = try StoreBench(server), host = try TemporaryFolder()
        let plan = SharedRun.plan(20_000), file = try StoreBench.file(plan, SharedRun.recipients(20_000), in: host.path)
        _ = try bench.store.publish(file)
        try server.sql(
            "UPDATE \(bench.schema).volley_run SET is_published = false; DELETE FROM \(bench.schema).volley_block WHERE number % 3 = 1"
        )
        let error = #expect(throws: Diagnostic.self) { try bench.store.open(plan.id, in: RunsFolder(host.path)) }
        #expect(error?.message == "there is no run \(plan.id) in the store")
        let ledger = try bench.another().publish(file)
        #expect(try recipients(bench, plan.id) == SharedRun.recipients(20_000))
        _ = try ledger.join()
    }

    @Test("two that publish a plan at the same moment make one run of it") func together() throws {
        let bench = try StoreBench(PostgresServer.shared.get()), host = try TemporaryFolder()
        let plan = SharedRun.plan(101_000)
        let path = try StoreBench.file(plan, SharedRun.recipients(101_000), in: host.path).path
        let threads = try (0..<3).map { _ in
            try WorkerThread("publisher") {
                Result { _ = try bench.another().publish(RunFile(path: path, readOnly: false)) }
            }
        }
        for thread in threads { try thread.join().get() }
        #expect(try bench.store.runs().map(\.isComplete) == [true])
        #expect(try recipients(bench, plan.id) == SharedRun.recipients(101_000))
    }

    @Test("connections that break while a plan is copied cost time alone") func broken() throws {
        let server = try PostgresServer.shared.get(), bench = try StoreBench(server), host = try TemporaryFolder()
        let plan = SharedRun.plan(150_000),
            file = try StoreBench.file(plan, SharedRun.recipients(150_000), in: host.path)
        let isOver = Atomic(false), schema = bench.schema
        // Repeatedly ends the connection that copies into this store.
        let breaker = try WorkerThread("breaker") {
            var ended = 0
            while !isOver.load(ordering: .relaxed), ended < 6 {
                let count = try? server.sql(
                    """
                    SELECT count(pg_terminate_backend(a.pid)) FROM pg_stat_activity a JOIN pg_locks l ON l.pid = a.pid
                    WHERE l.relation = '\(schema).volley_block'::regclass AND a.query LIKE 'COPY%'
                    """)
                ended += Int(count ?? "") ?? 0
            }
            return ended
        }
        _ = try bench.store.publish(file)
        isOver.store(true, ordering: .relaxed)
        #expect(try recipients(bench, plan.id) == SharedRun.recipients(150_000))
        #expect(breaker.join() > 0, "no connection was broken")
    }

    @Test("a run that was begun without the store is not put there, nor is one of another plan under the same id")
    func others() throws {
        let bench = try StoreBench(PostgresServer.shared.get()), host = try TemporaryFolder(),
            other = try TemporaryFolder()
        let file = try StoreBench.file(SharedRun.plan(10), SharedRun.recipients(10), in: host.path)
        try file.append(.epochBegan("a", at: SharedRun.noon, from: [.planned]))
        try file.append(.claimed(0..<3, at: SharedRun.noon))
        #expect(throws: Diagnostic.self) { try bench.store.publish(file) }
        #expect(try bench.store.runs().isEmpty)
        _ = try bench.store.publish(StoreBench.file(SharedRun.plan(11), SharedRun.recipients(11), in: other.path))
        let error = #expect(throws: Diagnostic.self) { try bench.store.publish(file) }
        #expect(error?.message == "the store has another run with the id run")
    }

    @Test(
        "a run that its store has lost is not put there anew, as others may have sent it; once all of it was fetched, its file knows all"
    )
    func lost() throws {
        let bench = try StoreBench(PostgresServer.shared.get()), host = try TemporaryFolder()
        let file = try StoreBench.file(SharedRun.plan(10), SharedRun.recipients(10), in: host.path)
        #expect(try file.sharedSince() == nil)
        let ledger = try bench.store.publish(file)
        try ledger.takeUp(epoch: "a", at: SharedRun.noon)
        try ledger.fetch()
        #expect(try RunFile(path: file.path).sharedSince() != nil)
        let connection = try PostgresConnection.open(bench.address, Cancellation())
        try connection.execute("BEGIN; DELETE FROM volley_run", within: 30)
        try connection.execute("COMMIT", within: 30)
        let error = #expect(throws: Diagnostic.self) { try bench.another().publish(file) }
        #expect(error?.message.contains("whom other machines have sent to is not known here") == true)
        #expect(try bench.store.runs().isEmpty)

        let ended = try TemporaryFolder(),
            whole = try StoreBench.file(SharedRun.plan(10), SharedRun.recipients(10), in: ended.path)
        let again = try bench.store.publish(whole)
        try again.takeUp(epoch: "a", at: SharedRun.noon)
        #expect(try again.append(.finished(unless: { _ in nil }, at: SharedRun.noon)).objection == nil)
        try again.fetch()
        #expect(try whole.sharedSince() == nil)
    }
}

/// Plans and recipients for runs in the store.
enum SharedRun {
    static let noon = Timestamp(epochSeconds: 1_796_126_400)

    static func plan(_ audience: Int, waves: [Int] = []) -> RunPlan {
        var settings = RunSettings(
            environment: .named(APNs.sandbox), topic: "com.example.shop", pushType: .alert, renderingRules: 5)
        settings.unknownPolicy = .skip
        var plan = RunPlan(
            id: "run", campaign: "spring-sale", app: "shop", campaignFile: "/x/spring.yaml",
            campaignSource: "name: spring-sale\n",
            projectFile: "/x/volley.yaml", seed: RunSeed(high: 1, low: 2), fields: ["first_name"], plannedAt: noon,
            planHash: "abc",
            rows: audience, audience: audience, skipped: [:], settings: .success(settings), preview: .object([]))
        for count in waves {
            let first = plan.waves.last?.ids.upperBound ?? 0
            plan.waves.append(RunWave(ids: first..<first + count, zone: "Etc/UTC", due: noon))
        }
        return plan
    }

    static func recipients(_ count: Int) -> [Recipient] {
        (0..<count).map { id -> Recipient in
            let token = TextFormat.hex(UInt64(id), digits: 16) + TextFormat.hex(UInt64(count), digits: 48)
            let registrationID = id % 3 == 0 ? "" : "reg-\(id)", alias = id % 5 == 0 ? "user-\(id)" : ""
            return Recipient(
                token: Target(normalized: token), registrationID: registrationID, alias: alias,
                language: id % 2 == 0 ? "de" : "en-GB",
                fields: ["Zoë \"\(id)\""])
        }
    }
}
