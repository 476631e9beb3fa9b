import Base
import Runs
import TestServers
import Testing

@testable import Cluster

/// Commits whose answer does not come, or comes although no standby has them. A commit that waits
/// for a standby that is never there is in the database, and not answered yet: at this moment its
/// connection is cut, or its wait is cancelled.
@Suite(
    "commits without an answer",
    .enabled(if: PostgresServer.programs != nil, "PostgreSQL is missing; make test gets it"))
struct UnansweredCommitTests {
    /// A run of which one recipient after the other is claimed, until that is enough.
    private struct Bench {
        private let claims: WorkerThread<Result<Int, any Error>>
        private let isEnough: Cancellation
        let workers: SharedWorkersTests.Bench
        /// The last to go: workers leave before.
        let server: PostgresServer

        init() throws {
            let server = try PostgresServer()
            let workers = try SharedWorkersTests.Bench(of: 20_000, in: StoreBench(server)),
                isEnough = try Cancellation(),
                host = workers.host
            (self.server, self.workers, self.isEnough) = (server, workers, isEnough)
            try server.sql("ALTER SYSTEM SET synchronous_standby_names = 'nobody'")
            try server.sql("SELECT pg_reload_conf()")
            claims = try WorkerThread("claim") {
                Result {
                    var count = 0
                    while !isEnough.isRequested, count < 20_000 {
                        try host.append(.claimed(count..<count + 1, at: SharedWorkersTests.noon))
                        count += 1
                    }
                    return count
                }
            }
        }

        /// Waits for a commit that waits for a standby.
        /// - Returns: the process of the server that does.
        func waiting(besides other: String = "0") throws -> String {
            let end = ContinuousClock.now + .seconds(8)
            while true {
                let found = try server.sql(
                    "SELECT pid FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND pid <> \(other)")
                if !found.isEmpty { return found }
                try #require(ContinuousClock.now < end, "no commit waits for a standby")
            }
        }

        /// Lets commits wait for no standby any more, and ends claiming some entries later.
        /// - Returns: how many recipients were claimed.
        func goOn() throws -> Int {
            let before = workers.host.claiming.confirmed, end = ContinuousClock.now + .seconds(15)
            try release()
            while workers.host.claiming.confirmed < before + 3, ContinuousClock.now < end {
                _ = try server.sql("SELECT 1")
            }
            isEnough.request()
            return try claims.join().get()
        }

        /// However a test ends: a claim that waits would keep its process.
        func end() {
            isEnough.request()
            try? release()
        }

        private func release() throws {
            try server.sql("ALTER SYSTEM RESET synchronous_standby_names")
            try server.sql("SELECT pg_reload_conf()")
        }

        /// Claims in the journal, and the last number of the thread that made them.
        func journal() throws -> String {
            try server.sql(
                "SELECT count(*), max(number) FROM \(workers.bench.schema).volley_journal WHERE lane = 0 AND kind = 1")
        }
    }

    @Test("one that is cut off is found by its number, and is not made twice")
    func cut() throws {
        let bench = try Bench()
        defer { bench.end() }
        let process = try bench.waiting(), confirmed = bench.workers.host.claiming.confirmed
        #expect(try bench.server.sql("SELECT pg_terminate_backend(\(process), 8000)") == "t")
        #expect(bench.workers.host.claiming.confirmed == confirmed, "nobody has answered")
        #expect(try bench.journal() == "\(confirmed + 1)|\(confirmed + 1)", "but it is there")
        let count = try bench.goOn()
        #expect(try bench.journal() == "\(count)|\(count)")
        #expect(try bench.workers.host.claims().claimed.ranges == [0..<count])
    }

    @Test(
        "one that is answered although the wait for a standby was cancelled counts as unanswered, and the next try waits again"
    )
    func cancelled() throws {
        let bench = try Bench()
        defer { bench.end() }
        let process = try bench.waiting(), confirmed = bench.workers.host.claiming.confirmed
        #expect(try bench.server.sql("SELECT pg_cancel_backend(\(process))") == "t")
        _ = try bench.waiting(besides: process)
        #expect(bench.workers.host.claiming.confirmed == confirmed)
        let count = try bench.goOn()
        #expect(try bench.journal() == "\(count)|\(count)")
        #expect(try bench.workers.host.claims().claimed.ranges == [0..<count])
    }
}
