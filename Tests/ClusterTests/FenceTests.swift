import Base
import Postgres
import Runs
import Synchronization
import TestServers
import Testing

@testable import Cluster

/// What the simulation takes for granted of PostgreSQL, with a real one: a worker's row is its
/// fence.
@Suite(
    "fences in a real database",
    .enabled(if: PostgresServer.programs != nil, "PostgreSQL is missing; make test gets it"))
struct FenceTests {
    private typealias Bench = SharedWorkersTests.Bench
    private static let noon = SharedWorkersTests.noon

    /// Holds statements in the middle that insert into a table: what they have locked, they keep.
    private struct Barrier {
        private static let next = Atomic(71_000)
        private let keeper: PostgresConnection
        private let number = Barrier.next.wrappingAdd(1, ordering: .relaxed).newValue

        init(_ bench: StoreBench, on table: String) throws {
            keeper = try PostgresConnection.open(bench.address, Cancellation())
            try keeper.execute(
                """
                SELECT pg_advisory_lock(\(number));
                CREATE FUNCTION hold() RETURNS trigger LANGUAGE plpgsql
                    AS $$ BEGIN PERFORM pg_advisory_xact_lock_shared(\(number)); RETURN NEW; END $$;
                CREATE TRIGGER hold BEFORE INSERT ON \(table) FOR EACH ROW EXECUTE FUNCTION hold();
                """, within: 10)
        }

        /// Waits until a statement is held.
        func awaitHeld() throws { try wait("SELECT count(*) FROM pg_locks WHERE \(held)") }

        /// Waits until another statement waits for what is held.
        func awaitFollower() throws {
            try wait(
                """
                SELECT count(*) FROM pg_stat_activity s
                WHERE EXISTS (SELECT 1 FROM pg_locks WHERE \(held) AND pid = ANY (pg_blocking_pids(s.pid)))
                """)
        }

        private var held: String { "locktype = 'advisory' AND objid = \(number) AND NOT granted" }

        private func wait(_ count: String) throws {
            let end = ContinuousClock.now + .seconds(8)
            while try keeper.execute(count, within: 10) == [["0"]] {
                try #require(ContinuousClock.now < end, "nothing waits: \(count)")
            }
        }

        /// Lets them continue.
        func open() throws { try keeper.execute("SELECT pg_advisory_unlock(\(number))", within: 10) }
    }

    /// A role whose transactions are REPEATABLE READ unless they say otherwise.
    private static let repeatable: Result<String, any Error> = Result {
        try PostgresServer.shared.get().sql(
            "CREATE ROLE repeatable LOGIN; ALTER ROLE repeatable SET default_transaction_isolation = 'repeatable read'")
        return "repeatable"
    }

    private static func bench(_ role: String) throws -> Bench {
        let role = role == "repeatable" ? try repeatable.get() : role
        return try Bench(of: 3_000, in: try StoreBench(PostgresServer.shared.get(), role: role))
    }

    @Test(
        "who declares a worker dead waits for the claim that it is just making, and finds it",
        arguments: ["volley", "repeatable"])
    func claimFirst(role: String) throws {
        let bench = try Self.bench(role), host = bench.host, other = try bench.worker()
        let range = try #require(try other.lease(atMost: 800, of: 0..<3_000))
        let silent = try #require(try host.beat(answers: [:])?.others.first)
        let barrier = try Barrier(bench.bench, on: "volley_journal")
        let claim = try WorkerThread("claim") {
            Result { try other.append(.claimed(range.prefix(500), at: Self.noon)) }
        }
        try barrier.awaitHeld()
        let death = try WorkerThread("death") { Result { try host.declareDead(silent.number, beat: silent.beat) } }
        try barrier.awaitFollower()
        #expect(!death.isFinished && !claim.isFinished)
        try barrier.open()
        _ = try claim.join().get()
        #expect(try death.join().get())
        #expect(try host.unsettled(in: 0..<host.plan.audience, OpenOutcomes()).leftBehind == [range.prefix(500)])
        var rest: [Int] = []
        while let next = try host.lease(atMost: 700, of: 0..<3_000) {
            try host.append(.claimed(next, at: Self.noon))
            rest += next
        }
        #expect(
            rest.sorted() == (0..<3_000).filter { !range.prefix(500).contains($0) }, "nobody of the claim came back")
    }

    @Test(
        "a claim waits for who is just declaring its worker dead, and is refused", arguments: ["volley", "repeatable"])
    func deathFirst(role: String) throws {
        let bench = try Self.bench(role), host = bench.host, other = try bench.worker()
        let range = try #require(try other.lease(atMost: 800, of: 0..<3_000))
        let silent = try #require(try host.beat(answers: [:])?.others.first)
        // What it had leased is given back in the transaction that declares it dead.
        let barrier = try Barrier(bench.bench, on: "volley_returned")
        let death = try WorkerThread("death") { Result { try host.declareDead(silent.number, beat: silent.beat) } }
        try barrier.awaitHeld()
        let claim = try WorkerThread("claim") {
            Result { try other.append(.claimed(range.prefix(500), at: Self.noon)) }
        }
        try barrier.awaitFollower()
        #expect(!death.isFinished && !claim.isFinished)
        try barrier.open()
        #expect(try death.join().get())
        #expect(throws: SendingRevoked(isCancelled: false)) { try claim.join().get() }
        #expect(try host.claims().claimed.ranges == [])
        #expect(try bench.bench.sql("SELECT count(*) FROM volley_journal WHERE kind = 1") == [["0"]])
    }

    @Test("FOR KEY SHARE would keep nobody from declaring a worker dead, and FOR SHARE does")
    func strength() throws {
        for (lock, holds) in [("KEY SHARE", false), ("SHARE", true)] {
            let bench = try Bench(of: 10), host = bench.host, other = try bench.worker()
            let silent = try #require(try host.beat(answers: [:])?.others.first)
            let holder = try PostgresConnection.open(bench.bench.address, Cancellation())
            let number = try other.join()
            try holder.execute("BEGIN; SELECT 1 FROM volley_sender WHERE number = \(number) FOR \(lock)", within: 10)
            let death = try WorkerThread("death") { Result { try host.declareDead(silent.number, beat: silent.beat) } }
            let end = ContinuousClock.now + .seconds(8)
            func waits() throws -> Bool {
                try holder.execute(
                    "SELECT count(*) FROM pg_stat_activity WHERE pg_backend_pid() = ANY (pg_blocking_pids(pid))",
                    within: 10)
                    != [["0"]]
            }
            while try !death.isFinished && !waits() { try #require(ContinuousClock.now < end) }
            #expect(try waits() == holds)
            try holder.execute("COMMIT", within: 10)
            #expect(try death.join().get())
        }
    }

    @Test("connections work at READ COMMITTED, whatever the role's default is")
    func isolation() throws {
        let bench = try Self.bench("repeatable"), ledger = bench.host
        for storeConnection in [
            bench.bench.store.looking, ledger.asking, ledger.beating, ledger.claiming.storeConnection,
            ledger.recording.storeConnection,
        ] {
            #expect(
                try storeConnection.once { try $0.execute("SHOW transaction_isolation", within: 10) } == [
                    ["read committed"]
                ])
            #expect(
                try storeConnection.once { connection in
                    try connection.transaction(within: 10) {
                        try connection.execute("SHOW transaction_isolation", within: 10)
                    }
                } == [["read committed"]])
        }
    }
}
