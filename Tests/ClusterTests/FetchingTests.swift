import Base
import LedgerConformance
import Postgres
import Runs
import TestServers
import TestSupport
import Testing

@testable import Cluster

@Suite(
    "Runs out of the store", .enabled(if: PostgresServer.programs != nil, "PostgreSQL is missing; make test gets it"))
struct FetchingTests {
    private static let audience = 5000

    /// A run that two workers have sent in part.
    private struct Place {
        let bench: StoreBench
        let host: TemporaryFolder
        let elsewhere: TemporaryFolder
        let atHost: SharedLedger
        var away: RunsFolder { RunsFolder(elsewhere.path) }

        init(waves: [Int] = []) throws {
            (bench, host, elsewhere) = (
                try StoreBench(PostgresServer.shared.get()), try TemporaryFolder(), try TemporaryFolder()
            )
            let plan = SharedRun.plan(audience, waves: waves)
            let file = try StoreBench.file(plan, SharedRun.recipients(audience), in: host.path)
            try file.approve(RunApproval(name: "Ada", approvedAt: SharedRun.noon))
            atHost = try bench.store.publish(file)
        }

        func open() throws -> SharedLedger { try bench.another().open("run", in: RunsFolder("\(host.path)/member")) }

        /// Claims a few thousand, settles most of them, and ends.
        func send(_ state: RunState = .stopped, cause: StopCause? = .cancelled) throws {
            let ledger = try open()
            try ledger.append(.epochBegan("a", at: SharedRun.noon, from: [.planned]))
            let other = try open()
            try other.join()
            for part in 0..<6 {
                let sender = part % 2 == 0 ? ledger : other
                guard let ids = try sender.lease(atMost: 500, of: sender.plan.segments[0].ids) else { break }
                try sender.append(.claimed(ids, at: SharedRun.noon))
                try sender.append(
                    .settled([
                        ids.dropLast(part).map { id in
                            Settlement(
                                recipient: id, outcome: id % 7 == 0 ? .invalidToken : .accepted,
                                status: id % 7 == 0 ? 410 : 200,
                                reason: id % 7 == 0 ? "Unregistered" : "", attempts: 1, latencyMilliseconds: id % 50,
                                settledAt: SharedRun.noon,
                                invalidSince: id % 7 == 0 ? SharedRun.noon : nil)
                        }
                    ]))
            }
            try ledger.append(
                .segment(
                    ledger.plan.segments[ledger.plan.segments.count - 1],
                    SegmentState(heldUntil: SharedRun.noon.adding(seconds: 60), cause: .cancelled)
                ))
            try ledger.append(.state(state, cause: cause, at: SharedRun.noon.adding(seconds: 9)))
            try other.leave()
            try ledger.leave()
        }

        func results(_ run: any RunLedger) throws -> [Line] {
            var lines: [Line] = []
            try run.forEachResult { lines.append(Line(id: $0, recipient: $1, outcome: $2, isClaimed: $3)) }
            return lines
        }
    }

    private struct Line: Equatable {
        var id: Int
        var recipient: Recipient
        var outcome: Settlement?
        var isClaimed: Bool
    }

    @Test(
        "a machine that did not plan the run gets all of its file, states and causes too",
        arguments: [[], [2000, 3000]])
    func equal(waves: [Int]) throws {
        let place = try Place(waves: waves)
        try place.send()
        let fetched = try place.bench.another().fetch("run", into: place.away)
        #expect(fetched.isNew && fetched.place == place.away.place(of: "run") && fetched.audience == Self.audience)
        let run = try RunFile(path: fetched.place, readOnly: true), host = place.atHost
        try run.checkUnchanged()
        #expect(run.plan == host.plan && run.planDigest == host.replica.planDigest)
        #expect(try run.approval()?.name == "Ada")
        #expect(try place.results(run) == place.results(host))
        #expect(try run.claims().claimed == host.claims().claimed && fetched.claimed == host.claims().claimed.count)
        #expect(try run.figures(withGroups: true) == host.figures(withGroups: true))
        #expect(try run.status().end == host.status().end && run.status().end == fetched.status.end)
        #expect(try run.status().segments == host.status().segments && !run.status().segments.isEmpty)
        // One file, and nothing next to it.
        #expect(try Folder.names(in: place.elsewhere.path) == ["run.sqlite"])
    }

    @Test(
        "a run that was cut off says so, and a plan that was never sent is a plan",
        arguments: [RunState.running, .planned])
    func unfinished(state: RunState) throws {
        let place = try Place()
        if state == .running { try place.send(.running, cause: nil) }
        let run = try RunFile(path: place.bench.store.fetch("run", into: place.away).place, readOnly: true)
        #expect(try run.status().state == (state == .running ? .stopped : .planned))
        #expect(try run.status().cause == (state == .running ? .ledger(.processGone) : nil))
    }

    @Test(
        "a journal that is damaged or lacks an entry is named, and no file is made of the rest",
        arguments: [
            "UPDATE volley_journal SET data = '\\x00' WHERE kind = 2 AND number = 2",
            "UPDATE volley_journal SET data = data || '\\x00' WHERE kind = 2 AND number = 2",
            "UPDATE volley_journal SET data = substring(data FROM 1 FOR 9) WHERE kind = 2 AND number = 2",
            "UPDATE volley_journal SET first = first + 1 WHERE kind = 2 AND number = 2",
            "UPDATE volley_journal SET kind = 99 WHERE kind = 2 AND number = 2",
            "UPDATE volley_journal SET number = number + 1000 WHERE kind = 2 AND number = 1",
            "DELETE FROM volley_journal WHERE kind = 2 AND number = 2",
            "UPDATE volley_journal SET lane = 7 WHERE kind = 2",
            "UPDATE volley_journal SET sender = sender + 1 WHERE kind = 2",
        ])
    func damagedJournal(damage: String) throws {
        let place = try Place()
        try place.send()
        try place.bench.sql(damage)
        let error = #expect(throws: Diagnostic.self, "\(damage)") {
            try place.bench.another().fetch("run", into: place.away)
        }
        #expect(
            error?.message.hasPrefix("the store is damaged: ") == true && error?.message.contains("journal") == true,
            "\(damage)")
        #expect(error?.remedy?.contains("Restore the database") == true)
        #expect(!place.away.holds("run"))
        #expect(throws: Diagnostic.self, "\(damage)") { try place.atHost.fetch() }
    }

    @Test("a fetched file is never sent: only the one that was planned is") func copy() throws {
        let place = try Place()
        try place.send()
        let run = try RunFile(path: place.bench.store.fetch("run", into: place.away).place)
        for host in [nil, place.host.path, place.elsewhere.path, "/nowhere"] {
            let error = #expect(throws: Diagnostic.self) { try run.checkPlace(home: host) }
            #expect(error?.message.hasPrefix("this file was fetched from the store at ") == true)
        }
        try place.atHost.replica.checkPlace(home: place.host.path)
    }

    @Test("a file that is there is brought up to date and never replaced") func upToDate() throws {
        let place = try Place()
        #expect(try place.bench.store.fetch("run", into: place.away).claimed == 0)
        try place.send(.finished, cause: nil)
        let later = try place.bench.store.fetch("run", into: place.away)
        #expect(!later.isNew && later.claimed > 0 && later.status.state == .finished)
        #expect(try place.bench.store.fetch("run", into: RunsFolder(place.host.path)).claimed == later.claimed)
        let other = try TemporaryFolder()
        try StoreBench.file(SharedRun.plan(3), SharedRun.recipients(3), in: other.path).close()
        let error = #expect(throws: Diagnostic.self) {
            try place.bench.store.fetch("run", into: RunsFolder(other.path))
        }
        #expect(error?.message == "there is another run with this id")
        #expect(throws: Diagnostic.self) { try place.bench.store.fetch("no-run", into: place.away) }
    }

    @Test("a run that workers send is neither fetched nor removed, and one whose workers are silent for long is")
    func workers() throws {
        let place = try Place()
        let worker = try place.open()
        try worker.append(.epochBegan("a", at: SharedRun.noon, from: [.planned]))
        let watcher = try place.open()
        // Another look each time sees another beat.
        let error = #expect(throws: Diagnostic.self) {
            try watcher.requireAbsence(
                for: "fetched", silent: { _ in _ = try? worker.beat(answers: [:]) }, pauseSeconds: 0)
        }
        #expect(error?.message.hasSuffix("and cannot be fetched meanwhile") == true)
        #expect(throws: Diagnostic.self) { try place.bench.store.remove(place.atHost.run, "run") }
        var now = 0.0, looks = 0
        try watcher.requireAbsence(for: "fetched", silent: { looks += $0.count }, pauseSeconds: 0) {
            now += 1
            return now
        }
        #expect(looks == 31)
        #expect(try place.bench.store.runs()[0].workers.isEmpty)
        #expect(throws: SendingRevoked.self) { try worker.append(.claimed(0..<10, at: SharedRun.noon)) }
        #expect(try place.bench.store.fetch("run", into: place.away).status.state == .stopped)
    }

    @Test("the list shows what is in the store") func list() throws {
        let place = try Place()
        #expect(try place.bench.store.runs()[0].status.state == .planned)
        try place.send(.running, cause: nil)
        let worker = try place.open()
        try worker.join()
        let run = try #require(try place.bench.store.runs().first)
        #expect(run.id == "run" && run.campaign == "spring-sale" && run.app == "shop" && run.isComplete)
        #expect(run.status.state == .running && run.audience == Self.audience)
        #expect(run.claimed == (try place.atHost.claims().claimed.count))
        #expect(run.workers.count == 1 && run.workers[0].isSilent && !run.workers[0].isCoordinator)
        #expect(run.bytes > Self.audience * 30)
        try worker.leave()
        #expect(try place.bench.store.runs()[0].status.cause == .ledger(.processGone))
    }

    @Test("a run of the store is named by its id, by its file, or as the last one") func named() throws {
        let place = try Place(), store = place.bench.store
        try place.send()
        _ = try store.fetch("run", into: place.away)
        #expect(try store.id(named: "last", in: place.away) == "run")
        #expect(try store.id(named: "another", in: place.away) == "another")
        #expect(try store.id(named: "run.sqlite", in: place.away) == "run")
        #expect(try store.id(named: place.away.place(of: "run"), in: RunsFolder("/nowhere")) == "run")
        #expect(throws: Diagnostic.self) { try store.id(named: "/nowhere/run.sqlite", in: place.away) }
        try store.remove("run", evenIfUnfetched: false, fetchedInto: place.away)
        let none = #expect(throws: Diagnostic.self) { try store.id(named: "last", in: place.away) }
        #expect(none?.message == "there are no runs in the store")
    }

    // MARK: - Removing

    @Test("a run is removed once its file holds everything, or by force") func removed() throws {
        let place = try Place(), store = place.bench.store
        try place.send()
        let error = #expect(throws: Diagnostic.self) {
            try store.remove("run", evenIfUnfetched: false, fetchedInto: place.away)
        }
        #expect(error?.remedy?.hasPrefix("Fetch it before, with `volley store fetch run`.") == true)
        #expect(throws: Diagnostic.self) {
            try store.remove("run", evenIfUnfetched: false, fetchedInto: RunsFolder(place.host.path))
        }
        _ = try store.fetch("run", into: place.away)
        try store.remove("run", evenIfUnfetched: false, fetchedInto: place.away)
        #expect(try store.runs().isEmpty)
        #expect(throws: Diagnostic.self) { try store.remove("run", evenIfUnfetched: true, fetchedInto: place.away) }
        let server = try PostgresServer.shared.get()
        // That the database lives is no matter of a run, and that the run was sent stays known.
        for table in StoreSchema.tables where table != "volley_life" {
            let rows = table == "volley_removed" ? "1" : "0"
            #expect(try server.sql("SELECT count(*) FROM \(place.bench.schema).\(table)") == rows, "\(table)")
        }
        let again = try Place()
        try again.send()
        try again.bench.store.remove("run", evenIfUnfetched: true, fetchedInto: again.away)
        #expect(try again.bench.store.runs().isEmpty)
    }

    @Test("a removal that was cut off leaves claims and outcomes, with which a plan that is published again goes on")
    func cutOff() throws {
        let place = try Place(), server = try PostgresServer.shared.get()
        try place.send()
        let claims = try place.atHost.claims().claimed
        try server.sql(
            """
            SET search_path = \(place.bench.schema);
            UPDATE volley_run SET is_published = false; DELETE FROM volley_block WHERE number > 1
            """)
        #expect(throws: Diagnostic.self) { try place.bench.store.fetch("run", into: place.away) }
        let late = try place.bench.another()
        let worker = SharedLedger(late, run: place.atHost.run, replica: place.atHost.replica, scratch: nil)
        let error = #expect(throws: Diagnostic.self) { try worker.join() }
        #expect(error?.message == "the run is no longer in the store")
        _ = try late.publish(RunFile(path: "\(place.host.path)/run.sqlite"))
        #expect(try place.open().claims().claimed == claims)
        #expect(try place.bench.store.fetch("run", into: place.away).claimed == claims.count)
    }
}
