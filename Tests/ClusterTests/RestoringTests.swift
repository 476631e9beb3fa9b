import Base
import Postgres
import Runs
import TestServers
import TestSupport
import Testing

@testable import Cluster

/// A database that comes up again while a run is being sent, from a backup, after a crash or as it
/// was.
@Suite(
    "a store that comes up again",
    .enabled(if: PostgresServer.programs != nil, "PostgreSQL is missing; make test gets it"))
struct RestoringTests {
    private static let audience = 2000

    /// A run that the host sends, of which the database has seen the first hundred.
    private final class Place {
        let server = Result { try PostgresServer() }
        let bench: StoreBench
        let folder: TemporaryFolder
        let file: RunFile
        var host: SharedLedger
        /// Every process that may take part.
        private var ledgers: [SharedLedger] = []
        let segment: Range<Int>

        init() throws {
            bench = try StoreBench(server.get())
            folder = try TemporaryFolder()
            file = try StoreBench.file(SharedRun.plan(audience), SharedRun.recipients(audience), in: folder.path)
            host = try bench.store.publish(file)
            segment = host.plan.segments[0].ids
            ledgers = [host]
            try host.takeUp(epoch: "1-a", at: SharedRun.noon)
            try send(0..<100)
            #expect(try host.beat(answers: [:])?.isCalm == true)
        }

        /// A worker waits for the server before it leaves.
        deinit { for ledger in ledgers { ledger.unlock() } }

        private func kept(_ ledger: SharedLedger) -> SharedLedger {
            ledgers.append(ledger)
            return ledger
        }

        /// The host claims some, and settles them.
        func send(_ ids: Range<Int>) throws {
            // A leased range has a second's recipients, of which fewer may be left; claimed
            // recipients are not leased.
            let leased = try #require(try host.lease(atMost: ids.count, of: segment))
            #expect(leased.lowerBound == ids.lowerBound)
            try host.append(.claimed(ids, at: SharedRun.noon))
            try host.append(.settled([ids.map { RestoringTests.accepted($0) }]))
        }

        /// Another machine, which helps.
        func helper() throws -> SharedLedger {
            kept(try bench.another().open("run", in: RunsFolder("\(folder.path)/member")))
        }

        /// The machine that has the file, after its process has ended.
        func hostAgain() throws -> SharedLedger { kept(try bench.another().publish(file)) }

        /// Makes a backup. One for which the server is restarted begins an epoch of the database,
        /// which the host confirms.
        func backUp(_ backup: PostgresServer.Backup) throws {
            try server.get().backUp(backup, schema: bench.schema)
            guard backup == .cold else { return }
            for _ in 0..<2 { _ = try beat(host) }
            try letQuietTimePass()
        }

        /// A beat, by a connection that may have been broken since the last one.
        func beat(_ ledger: SharedLedger) throws -> WorkerNews? {
            for _ in 0..<5 { if let news = try? ledger.beat(answers: [:]) { return news } }
            return try ledger.beat(answers: [:])
        }

        func bringBack(_ backup: PostgresServer.Backup) throws {
            try server.get().bringBack(backup, schema: bench.schema)
        }

        @discardableResult
        func sql(_ text: String) throws -> String { try server.get().sql("SET search_path = \(bench.schema); \(text)") }

        /// Makes the epoch of the database older than a beat that may still arrive.
        func letQuietTimePass() throws {
            try sql(
                "UPDATE volley_life SET began_at = began_at - interval '11 s', written_by = pg_current_xact_id()::xid")
        }

        /// Has a worker bury all others.
        func bury(_ ledger: SharedLedger) throws {
            for other in try #require(try beat(ledger)).others {
                _ = try ledger.declareDead(other.number, beat: other.beat)
            }
        }

        var cause: StopCause? { get throws { try helper().status().cause } }
        var next: String { get throws { try sql("SELECT next FROM volley_leg") } }
    }

    fileprivate static func accepted(_ id: Int) -> Settlement {
        Settlement(
            recipient: id, outcome: .accepted, status: 200, attempts: 1, latencyMilliseconds: 30,
            settledAt: SharedRun.noon)
    }

    @Test(
        "who joins after a backup was brought back leases nothing; without anybody who sent before, the run stops",
        arguments: PostgresServer.Backup.allCases)
    func nobodyLeft(backup: PostgresServer.Backup) throws {
        let place = try Place()
        try place.backUp(backup)
        try place.send(100..<300)
        try place.bringBack(backup)
        let newcomer = try place.helper()
        try newcomer.join()
        let next = try place.next
        #expect(try place.beat(newcomer)?.isCalm == false)
        try place.letQuietTimePass()
        // The host may still come back.
        #expect(try place.beat(newcomer)?.state == .running)
        try place.bury(newcomer)
        _ = try place.beat(newcomer)
        #expect(try place.beat(newcomer)?.state == .stopped)
        #expect(try place.cause == .ledger(.unwitnessed))
        #expect(throws: SendingRevoked(isCancelled: false)) { _ = try newcomer.lease(atMost: 100, of: place.segment) }
        #expect(try place.next == next)
        #expect(try place.bench.store.runsToSend(ofApps: ["shop"]) == [])
    }

    @Test(
        "a worker that was there before misses what was forgotten, and stops the run",
        arguments: PostgresServer.Backup.allCases)
    func somebodyLeft(backup: PostgresServer.Backup) throws {
        let place = try Place()
        try place.backUp(backup)
        try place.send(100..<300)
        try place.bringBack(backup)
        let newcomer = try place.helper()
        try newcomer.join()
        _ = try place.beat(place.host)
        // A claim and outcomes.
        #expect(try place.cause == .ledger(.forgotten(entries: 2)))
        try place.letQuietTimePass()
        #expect(try place.beat(newcomer)?.isCalm == false)
        #expect(try place.cause == .ledger(.forgotten(entries: 2)))
    }

    @Test("a run that a person cancels before anybody has compared stays cancelled, and says what was forgotten")
    func cancelled() throws {
        let place = try Place()
        try place.backUp(.online)
        _ = try place.host.lease(atMost: 200, of: place.segment)
        try place.host.append(.claimed(100..<300, at: SharedRun.noon))
        try place.host.append(.settled([(100..<250).map { Self.accepted($0) }]))
        try place.bringBack(.online)
        let other = try place.helper()
        try other.append(.ordered(.cancel, at: SharedRun.noon))
        #expect(try place.cause == .cancelled)
        #expect(try place.beat(place.host)?.state == .cancelled)
        #expect(try place.cause == .ledger(.forgotten(entries: 2)))
        // Another cancellation changes none of that, and what the host has can be recorded.
        try place.host.append(.state(.cancelled, cause: .cancelled, at: SharedRun.noon))
        #expect(try other.status().state == .cancelled && place.cause == .ledger(.forgotten(entries: 2)))
        #expect(try other.forgetting() == .forgotten(entries: 2))
        try place.host.append(.settled([(250..<300).map { Self.accepted($0) }]))
        try place.host.fetch()
        #expect(
            try place.file.claims().claimed.ranges == [0..<300],
            "what it claimed itself is claimed, whatever the store knows")
    }

    @Test(
        "an entry is not written where the one before it was forgotten: nothing would show the gap", arguments: [0, 1],
        [RunState.running, .stopped, .cancelled])
    func gap(writer: Int, state: RunState) throws {
        let place = try Place()
        try place.send(100..<300)
        if state != .running { try place.host.append(.state(state, cause: .interrupted, at: SharedRun.noon)) }
        // As if it had been forgotten after its answer was sent.
        try place.sql(
            """
            DELETE FROM volley_journal j WHERE lane = \(writer)
                AND number = (SELECT max(number) FROM volley_journal WHERE lane = j.lane)
            """)
        if writer == 0 {
            let refusal = SendingRevoked(isCancelled: state == .cancelled)
            #expect(throws: refusal) { try place.host.append(.claimed(300..<310, at: SharedRun.noon)) }
            _ = try place.beat(place.host)
        } else {
            // What is known can be recorded of a run that says what is missing.
            try place.host.append(.settled([(100..<110).map { Self.accepted($0) }]))
        }
        #expect(try place.cause == .ledger(.forgotten(entries: 1)))
    }

    @Test(
        "after a crash or an orderly restart the run goes on once somebody who was there before has compared",
        arguments: [false, true])
    func restart(isOrderly: Bool) throws {
        let place = try Place(), server = try place.server.get()
        server.stop(isOrderly: isOrderly)
        try server.start()
        let newcomer = try place.helper()
        try newcomer.join()
        #expect(try place.beat(newcomer)?.isCalm == false)
        try place.letQuietTimePass()
        #expect(try place.beat(newcomer)?.isCalm == false)
        // It compares with the first beat, and says so with the next one.
        for _ in 0..<2 { _ = try place.beat(place.host) }
        #expect(try place.beat(newcomer)?.isCalm == true)
        #expect(try newcomer.lease(atMost: 100, of: place.segment)?.lowerBound == 100)
        // From now on the newcomer is also a survivor.
        _ = try place.beat(newcomer)
        server.stop(isOrderly: isOrderly)
        try server.start()
        for _ in 0..<2 { _ = try place.beat(newcomer) }
        try place.bury(newcomer)
        try place.letQuietTimePass()
        #expect(try place.beat(newcomer)?.isCalm == true)
    }

    @Test(
        "the run's file is a survivor of a run that had stopped, unless it was begun again in what was forgotten",
        arguments: [false, true])
    func file(isBegunAgain: Bool) throws {
        let place = try Place(), server = try place.server.get()
        func stop(_ ledger: SharedLedger) throws {
            try ledger.append(.state(.stopped, cause: .interrupted, at: SharedRun.noon))
            try ledger.leave()
            try ledger.fetch()
        }
        try stop(place.host)
        if isBegunAgain {
            try place.backUp(.cold)
            place.host = try place.hostAgain()
            try place.host.takeUp(epoch: "2-b", after: "1-a", at: SharedRun.noon)
            try place.send(100..<300)
            try place.bringBack(.cold)
        } else {
            server.stop()
            try server.start()
        }
        let again = try place.hostAgain()
        try again.takeUp(epoch: "3-c", after: isBegunAgain ? "2-b" : "1-a", at: SharedRun.noon)
        try place.letQuietTimePass()
        #expect(try place.beat(again)?.isCalm == !isBegunAgain)
        // Its last worker is not there any more.
        #expect(try place.cause == (isBegunAgain ? .ledger(.forgotten(entries: 1)) : nil))
    }

    @Test(
        "a run that stopped so is not set going by anybody else, and its file has all that is known when it goes on alone"
    )
    func resumption() throws {
        let place = try Place()
        try place.backUp(.online)
        try place.send(100..<300)
        try place.host.fetch()
        try place.send(300..<400)
        try place.bringBack(.online)
        _ = try place.beat(place.host)
        #expect(try place.cause == .ledger(.forgotten(entries: 4)))
        // It keeps what it has claimed itself, whatever the store has.
        try place.host.fetch()
        #expect(try place.file.claims().claimed.ranges == [0..<400])
        try place.host.leave()
        // A worker has claimed recipients that were already sent to, which was forgotten, and
        // others.
        let other = try place.helper()
        try other.join()
        try place.sql(
            "UPDATE volley_run SET state = 'running', cause = '', witnessed_in = (SELECT number FROM volley_life)")
        try place.letQuietTimePass()
        try other.append(.claimed(250..<500, at: SharedRun.noon))
        try other.append(.settled([(250..<450).map { Self.accepted($0) }]))
        try other.leave()
        let cause = StopCause.ledger(.forgotten(entries: 4)).json.text
        try place.sql("UPDATE volley_run SET state = 'stopped', cause = '\(cause)'")
        let again = try place.hostAgain()
        #expect(try again.forgetting() == .forgotten(entries: 4))
        for order in RunOrder.allCases {
            #expect(throws: Diagnostic.self) { try again.append(.ordered(order, at: SharedRun.noon)) }
        }
        try again.takeUp(epoch: "2-b", after: "1-a", at: SharedRun.noon)
        #expect(try again.status().state == .stopped)
        #expect(throws: Diagnostic.self) { try again.append(.epochBegan("2-b", at: SharedRun.noon, from: [.stopped])) }
        try again.leave()
        try again.takeBack(at: SharedRun.noon)
        #expect(try place.file.goesOnWithoutStore())
        #expect(try place.file.claims().claimed.ranges == [0..<500])
        let outcomes = try place.file.settlements(of: 0..<500)
        // The first outcome counts. Recipients that both may have sent to are unknown while they
        // have none.
        #expect((0..<300).allSatisfy { outcomes[$0]?.outcome == .accepted })
        #expect((300..<400).allSatisfy { outcomes[$0]?.outcome == .unknown })
        #expect(
            (400..<450).allSatisfy { outcomes[$0]?.outcome == .accepted }
                && (450..<500).allSatisfy { outcomes[$0] == nil })
        #expect(try place.file.lease(atMost: 10, of: place.segment) == 500..<510)
        // What the store has is older than what will be in the file.
        #expect(throws: Diagnostic.self) {
            _ = try place.bench.another().fetch("run", into: RunsFolder("\(place.folder.path)/elsewhere"))
        }
    }

    @Test("a store that was restored to before a run was published does not get it again")
    func publishedAgain() throws {
        let place = try Place()
        try place.host.fetch()
        try place.sql("UPDATE volley_run SET is_published = false, state = 'planned', life = ''")
        #expect(throws: Diagnostic.self) { _ = try place.hostAgain() }
        try place.sql("DELETE FROM volley_run")
        #expect(throws: Diagnostic.self) { _ = try place.hostAgain() }
    }
}
