import Base
import Postgres
import PushServices
import Runs
import TestServers
import Testing

@testable import Cluster

@Suite(
    "times of schedules in the store",
    .enabled(if: PostgresServer.programs != nil, "PostgreSQL is missing; make test gets it"))
struct SharedFiringTests {
    private func firing(_ run: String, _ state: SharedFiring.State = .claimed, at time: String = "2026-12-01T09:00")
        -> SharedFiring
    {
        SharedFiring(app: "shop", campaign: "spring-sale", occurrence: time, run: run, state: state)
    }

    /// Two services of one store.
    private struct Bench {
        let bench: StoreBench
        let first: Int, second: Int
        var store: Store { bench.store }
        var address: PostgresAddress { bench.address }

        init() throws {
            bench = try StoreBench(PostgresServer.shared.get())
            try bench.passQuiet()
            (first, second) = (try bench.store.joinAsService(), try bench.store.joinAsService())
        }

        /// The database comes up again without what was begun.
        func forget(_ run: String) throws {
            try bench.sql("DELETE FROM volley_firing WHERE run = '\(run)'")
            try bench.forgetLife()
        }

        func kill(_ service: Int) throws {
            let beat = try store.beat(ofService: service == first ? second : first)?.beats["\(service)"]
            try store.declareDead([.init(worker: "\(service)", beat: try #require(beat))])
        }
    }

    @Test("a time belongs to the run that claimed it first, and to no other while its service lives")
    func unique() throws {
        let bench = try Bench()
        #expect(try bench.store.claim(firing("a"), by: bench.first) == nil)
        #expect(try bench.store.claim(firing("b"), by: bench.second)?.run == "a")
        #expect(try bench.store.claim(firing("b", .begun))?.run == "a", "by hand, too")
        #expect(try bench.store.claim(firing("", .skipped), by: bench.second)?.run == "a", "nor is it left out there")
        #expect(try bench.store.claim(firing("a"), by: bench.first) == nil, "again")
        #expect(try bench.store.holder(of: firing("b"))?.run == "a")
        #expect(try bench.store.holder(of: firing("a")) == nil)
        #expect(try bench.store.claim(firing("b", at: "2026-12-02T09:00"), by: bench.second) == nil)
    }

    @Test(
        "what a dead service had not begun is taken over, once, and it gets it back no more; what it had begun stays with its run"
    )
    func death() throws {
        let bench = try Bench()
        #expect(try bench.store.claim(firing("a"), by: bench.first) == nil)
        #expect(try bench.store.claim(firing("c", at: "2026-12-02T09:00"), by: bench.first) == nil)
        #expect(try bench.store.claim(firing("c", .begun, at: "2026-12-02T09:00"), by: bench.first) == nil)
        #expect(try bench.store.beat(ofService: bench.second)?.orphans == [])
        try bench.kill(bench.first)
        #expect(try bench.store.beat(ofService: bench.first) == nil)
        #expect(try bench.store.beat(ofService: bench.second)?.orphans.map(\.run) == ["a"])
        #expect(try bench.store.claim(firing("b"), by: bench.second) == nil)
        #expect(try bench.store.beat(ofService: bench.second)?.orphans == [])
        // It wakes up, and is about to send.
        #expect(try bench.store.claim(firing("a", .begun), by: bench.first)?.run == "b")
        #expect(try bench.store.claim(firing("d", at: "2026-12-02T09:00"), by: bench.second)?.run == "c")
        #expect(try bench.store.claim(firing("c", at: "2026-12-02T09:00"), by: bench.store.joinAsService()) == nil)
        #expect(
            try bench.store.holder(of: firing("d", at: "2026-12-02T09:00"))?.state == .begun,
            "a claim takes nothing back")
    }

    @Test("a dead service that nobody has followed goes on with its time")
    func revived() throws {
        let bench = try Bench()
        #expect(try bench.store.claim(firing("a"), by: bench.first) == nil)
        try bench.kill(bench.first)
        #expect(try bench.store.claim(firing("a", .begun), by: bench.first) == nil)
        #expect(try bench.store.beat(ofService: bench.second)?.orphans == [])
        #expect(try bench.store.claim(firing("b"), by: bench.second)?.run == "a")
    }

    @Test("a service that beats again is not declared dead")
    func alive() throws {
        let bench = try Bench()
        let beat = try #require(try bench.store.beat(ofService: bench.second)?.beats["\(bench.first)"])
        _ = try bench.store.beat(ofService: bench.first)
        try bench.store.declareDead([.init(worker: "\(bench.first)", beat: beat)])
        #expect(try bench.store.beat(ofService: bench.first) != nil)
    }

    @Test(
        "what was left out or is too late is sent by nobody but a person; what was cancelled by nobody; what was given back is free"
    )
    func ends() throws {
        let bench = try Bench()
        #expect(try bench.store.claim(firing("", .skipped), by: bench.first) == nil)
        #expect(try bench.store.claim(firing("", .skipped), by: bench.second) == nil, "by two people")
        #expect(try bench.store.claim(firing("b"), by: bench.second)?.run == "")
        #expect(try bench.store.holder(of: firing("h", .begun)) == nil)
        #expect(try bench.store.claim(firing("h", .begun)) == nil)
        try bench.store.giveBack(firing("h"))
        #expect(try bench.store.claim(firing("b"), by: bench.second) == nil)

        let tomorrow = "2026-12-02T09:00"
        #expect(try bench.store.claim(firing("x", at: tomorrow), by: bench.first) == nil)
        try bench.store.end(["x", "no \"run\""], as: .over)
        try bench.kill(bench.first)
        #expect(try bench.store.beat(ofService: bench.second)?.orphans.map(\.run) == [])
        #expect(try bench.store.claim(firing("y", at: tomorrow), by: bench.second)?.state == .over)
        #expect(try bench.store.claim(firing("y", .begun, at: tomorrow))?.state == .over)
    }

    @Test("a run that several machines send begins its time with itself, or not at all")
    func withRun() throws {
        let bench = try Bench(), folder = try TemporaryFolder()
        let settings = RunSettings(
            environment: .named(APNs.sandbox), topic: "com.example.shop", pushType: .alert, renderingRules: 5)
        func ledger(_ id: String) throws -> SharedLedger {
            let plan = RunPlan(
                id: id, campaign: "spring-sale", app: "shop", campaignFile: "/x/spring.yaml", campaignSource: "",
                projectFile: "/x/volley.yaml",
                seed: RunSeed(high: 1, low: 2), fields: [], plannedAt: .now(), planHash: "", rows: 1, audience: 1,
                skipped: [:],
                settings: .success(settings), preview: .object([]))
            let recipient = Recipient(
                token: Target(normalized: String(repeating: "a", count: 64)), registrationID: "", alias: "",
                language: "", fields: [])
            let ledger = try bench.store.publish(StoreBench.file(plan, [recipient], in: folder.path))
            ledger.begins(firing(id, .begun))
            return ledger
        }
        #expect(try bench.store.claim(firing("a"), by: bench.first) == nil)
        let other = try ledger("b")
        #expect(throws: Diagnostic.self) { try other.takeUp(epoch: "1-b", at: .now()) }
        #expect(try other.status().state == .planned)
        // Published and not begun: another machine may still take over.
        let own = try ledger("a")
        try bench.kill(bench.first)
        #expect(try bench.store.beat(ofService: bench.second)?.orphans.map(\.run) == ["a"])
        try own.takeUp(epoch: "1-a", at: .now())
        #expect(try bench.store.beat(ofService: bench.second)?.orphans == [])
        #expect(try bench.store.holder(of: firing("c"))?.state == .begun)
        #expect(try own.status().state == .running)
    }

    @Test("of many that claim one time at the same moment one gets it")
    func race() throws {
        let bench = try Bench()
        let threads = try (0..<8).map { number in
            let store = try Store.open(bench.address, asked: Cancellation())
            return try WorkerThread("claim") {
                (0..<20).map { time in
                    let firing = SharedFiring(
                        app: "shop", campaign: "c", occurrence: "\(time)", run: "\(number)", state: .claimed)
                    do { return try store.claim(firing, by: bench.first) == nil } catch { return false }
                }
            }
        }
        let won = threads.map { $0.join() }
        for time in 0..<20 { #expect(won.count { $0[time] } == 1) }
    }

    @Test(
        "a database that has forgotten who began a time gives it to nobody for half a minute; by then who began it has said so again"
    )
    func forgotten() throws {
        let bench = try Bench(), store = bench.store
        let sent = firing("a", .begun), tomorrow = "2026-12-02T09:00"
        #expect(try store.claim(firing("a"), by: bench.first) == nil && store.claim(sent, by: bench.first) == nil)
        #expect(try store.claim(firing("c", at: tomorrow), by: bench.first) == nil)
        try bench.forget("a")
        for claim in [firing("b"), firing("h", .begun), firing("", .skipped)] {
            #expect(throws: StoreRefusal.quiet) { try store.claim(claim, by: bench.second) }
        }
        #expect(throws: StoreRefusal.quiet) { try store.holder(of: firing("h", .begun)) }
        #expect(try store.claim(firing("c", at: tomorrow), by: bench.first) == nil, "what the database knows goes on")
        #expect(try store.claim(firing("d", at: tomorrow), by: bench.second)?.run == "c")
        #expect(try store.beat(ofService: bench.second)?.isQuiet == true)
        try store.write(
            [sent, firing("x", .over, at: "2026-12-03T09:00"), firing("", .skipped, at: "2026-12-04T09:00")],
            by: bench.first)
        #expect(try store.claim(firing("b"), by: bench.second)?.run == "a", "also in the quiet time")
        try bench.bench.passQuiet()
        #expect(try store.beat(ofService: bench.second)?.isQuiet == false)
        for claim in [firing("b"), firing("h", .begun)] {
            #expect(try store.claim(claim, by: bench.second)?.run == "a")
        }
        #expect(try store.claim(firing("y", at: "2026-12-03T09:00"), by: bench.second)?.state == .over)
        #expect(try store.claim(firing("y", at: "2026-12-04T09:00"), by: bench.second)?.state == .skipped)
        #expect(try store.claim(firing("y", at: "2026-12-05T09:00"), by: bench.second) == nil)
    }

    @Test(
        "who has begun a time and says so late still gets it back from who has only planned it; what others have begun stays theirs"
    )
    func late() throws {
        let bench = try Bench(), store = bench.store
        #expect(try store.claim(firing("b"), by: bench.second) == nil)
        #expect(try store.claim(firing("d", .begun, at: "2026-12-02T09:00"), by: bench.second) == nil)
        try store.write([firing("a", .begun), firing("c", .begun, at: "2026-12-02T09:00")], by: bench.first)
        #expect(try store.claim(firing("b", .begun), by: bench.second)?.run == "a")
        #expect(try store.holder(of: firing("c", at: "2026-12-02T09:00"))?.run == "d")
        // A time that was not begun takes nothing from other runs.
        try store.write([firing("e", .claimed), firing("e", .skipped, at: "2026-12-02T09:00")], by: bench.first)
        #expect(try store.holder(of: firing("z"))?.run == "a")
        #expect(try store.holder(of: firing("z", at: "2026-12-02T09:00"))?.run == "d")
    }

    @Test(
        "what a service had claimed is its own again when it has joined anew and written its record, thousands of times at once"
    )
    func rejoined() throws {
        let bench = try Bench(), store = bench.store
        let times = (0..<2500).map { firing("r\($0) \"ä\"", $0.isMultiple(of: 2) ? .claimed : .begun, at: "t\($0)") }
        try store.write(times, by: bench.first)
        try store.write(times, by: bench.first)
        try bench.kill(bench.first)
        #expect(try store.beat(ofService: bench.second)?.orphans.count == 1250)
        try store.write(times, by: try store.joinAsService())
        #expect(try store.beat(ofService: bench.second)?.orphans == [])
        for time in times.prefix(4) { #expect(try store.holder(of: time) == nil) }
        #expect(try bench.bench.sql("SELECT count(*) FROM volley_firing WHERE state = 'begun'") == [["1250"]])
    }
}
