import Base
import Campaigns
import Delivery
import Foundation
import Cluster
import PushServices
import Runs
import TestServers
import Testing

@testable import Sending
@testable import Workspace

/// Two machines with one store: the gate of each also judges what the other one sends.
@Suite(
    "runs of other machines", .enabled(if: PostgresServer.programs != nil, "PostgreSQL is missing; make test gets it"))
struct RunsInStoreTests {
    /// A folder of runs on each machine, and what both have in common.
    private struct Bench {
        let place: UntoldOrderTests.Place, home = try? PlannedFolder(), away = try? PlannedFolder()
        let store: Store, project: Project

        init(_ name: String) throws {
            place = try UntoldOrderTests.Place("beside_\(name)")
            store = try place.address.open(asked: Cancellation())
            let file = try #require(home).path + "/volley.yaml"
            try Data(
                "store: {postgres: {url_env: \(place.variable)}}\napps: {shop: {topic: com.example.shop, environment: simulator}}\n"
                    .utf8
            )
            .write(to: URL(fileURLWithPath: file))
            project = try Project.read(file: file).0
        }

        /// Has a process begin a run through the store.
        func begin(_ run: RunFile, epoch: String = "1-a") throws -> SharedLedger {
            let ledger = try place.address.open(asked: Cancellation()).publish(run)
            try ledger.takeUp(epoch: epoch, at: .now())
            return ledger
        }

        /// Begins and ends a run.
        /// - Parameters:
        ///   - devices: that it is sent to; nil for none.
        ///   - moment: when.
        func send(
            _ run: RunFile, devices: Range<Int>? = nil, at moment: Timestamp = .now(), to state: RunState,
            epoch: String = "1-a", isAfterAll: Bool = false
        ) throws {
            let ledger = try place.address.open(asked: Cancellation()).publish(run)
            try ledger.takeUp(epoch: epoch, after: isAfterAll ? "1-a" : "", isAfterAll: isAfterAll, at: .now())
            if let devices {
                let ids = try #require(try ledger.lease(atMost: devices.count, of: run.plan.segments[0].ids))
                #expect(ids == devices)
                try ledger.append(.claimed(ids, at: moment))
                try ledger.append(
                    .settled([
                        ids.map {
                            Settlement(
                                recipient: $0, outcome: .accepted, status: 200, reason: "", attempts: 1,
                                settledAt: moment)
                        }
                    ]))
            }
            try ledger.append(.state(state, cause: state == .cancelled ? .cancelled : nil, at: .now()))
            try ledger.leave()
        }

        func fetch(_ id: String, into folder: PlannedFolder) throws -> RunFile {
            _ = try store.fetch(id, into: RunsFolder(folder.path))
            return try RunFile(path: "\(folder.path)/\(id).sqlite")
        }

        /// The refusal that a step meets; nil if it meets none.
        func refusal(of run: RunFile, _ step: SendGate.Step, isBeginning: Bool = false) throws -> SendRefused? {
            do {
                try RunsInStore(of: run, run.plan.settings.get(), in: project)?.judge(step, isBeginning: isBeginning)
                return nil
            } catch let refused as SendRefused { return refused }
        }
    }

    private static let first = "20261101-090000-c-0001", second = "20261101-090100-c-0002",
        third = "20261101-090200-c-0003"

    @Test(
        "while a machine sends a run of a campaign, no second one begins on another, also after its process was killed")
    func beside() throws {
        let bench = try Bench("running"), home = try #require(bench.home), away = try #require(bench.away)
        let ledger = try bench.begin(home.plan(Self.first)), own = try away.plan(Self.second)
        for isKilled in [false, true] {
            if isKilled { try ledger.leave() }
            let refused = try #require(try bench.refusal(of: own, .begin))
            let text = Diagnostic(explaining: refused)
            #expect(refused.why == .runsBesideAnother && text.message.contains(Self.first), "\(text)")
            #expect(
                text.remedy?.contains("`volley store fetch \(Self.first)` and then `volley cancel") == isKilled,
                "\(text)")
        }
        // Other devices, or devices that are to get both.
        var elsewhere = away.settings
        elsewhere.services[0].environment = .production
        #expect(try bench.refusal(of: away.plan(Self.third, elsewhere), .begin) == nil)
        try bench.store.open(Self.first, in: RunsFolder(away.path)).cancelAndFetch()
        try bench.fetch(Self.first, into: away).close()
        // Whether it reached devices since the plan was made is in the file that was fetched.
        #expect(try bench.refusal(of: own, .begin) == nil)
    }

    @Test(
        "a campaign to an audience that the service keeps is sent by one machine too, and not again by a plan that was made before"
    )
    func calls() throws {
        let bench = try Bench("calls"), home = try #require(bench.home), away = try #require(bench.away)
        var settings = away.settings
        (settings.firstService.serviceName, settings.channel, settings.frequencyCaps) = (
            "apns-audience", "Z29hbHM=", []
        )
        #expect(settings.service.choosesDevices)
        let own = try away.plan(Self.second, devices: 0..<1, settings),
            theirs = try home.plan(Self.first, devices: 0..<1, settings)
        let ledger = try bench.begin(theirs)
        #expect(try bench.refusal(of: own, .begin)?.why == .runsBesideAnother)
        try ledger.append(.state(.finished, cause: nil, at: .now()))
        try ledger.leave()
        #expect(try bench.refusal(of: own, .begin)?.why == .isSuperseded)
    }

    @Test("what another machine has sent since a plan was made is fetched before that plan is sent") func since() throws
    {
        let bench = try Bench("since"), home = try #require(bench.home), away = try #require(bench.away)
        let earlier = try away.plan(Self.second, at: .now().adding(seconds: -60))
        try bench.send(home.plan(Self.first), to: .finished)
        let refused = try #require(try bench.refusal(of: earlier, .begin))
        #expect(
            refused.why == .isSuperseded && "\(refused)".contains("`volley store fetch \(Self.first)`"), "\(refused)")
        var later = away.settings
        later.plannedInStore = .now().adding(seconds: 60)
        #expect(try bench.refusal(of: away.plan(Self.third, later), .begin) == nil)
        try bench.fetch(Self.first, into: away).close()
        #expect(try bench.refusal(of: earlier, .begin) == nil)
    }

    @Test(
        "a plan that was made while the machine's clock was wrong is as old as the store's clock says, and without that as old as can be"
    )
    func wrongClock() throws {
        let bench = try Bench("clock"), home = try #require(bench.home), away = try #require(bench.away)
        var settings = away.settings
        settings.plannedInStore = .now().adding(seconds: -60)
        let ahead = Timestamp.now().adding(seconds: 7200)
        let known = try away.plan(Self.second, at: ahead, settings), unknown = try away.plan(Self.third, at: ahead)
        try bench.send(home.plan(Self.first), to: .finished)
        for plan in [known, unknown] {
            #expect(try bench.refusal(of: plan, .begin)?.why == .isSuperseded, "\(plan.plan.id)")
        }
    }

    @Test(
        "a plan that could not ask the store is older than all that others have sent, also what was fetched of it")
    func unknownTime() throws {
        let bench = try Bench("unknown_time"), home = try #require(bench.home), away = try #require(bench.away)
        // Its clock was ahead by less than the time since then.
        let plan = try away.plan(Self.second, at: .now())
        try bench.send(home.plan(Self.first), devices: 0..<4, at: .now().adding(seconds: -60), to: .cancelled)
        #expect(try bench.refusal(of: plan, .begin)?.why == .isSuperseded)
        try bench.fetch(Self.first, into: away).close()
        #expect(try bench.refusal(of: plan, .begin) == nil)
        let choice = ProjectChoice(file: "\(home.path)/volley.yaml", runs: away.path)
        let gate = SendPermission(run: plan, settings: try plan.plan.settings.get(), choice: choice)
        let superseding = try gate.supersession([CurrentProject(of: plan, in: choice)])
        #expect(superseding?.message.contains("\(Self.first), has reached 4 of the devices") == true)
        // Where volley.yaml names no store, a plan never has its date.
        #expect(try gate.supersession([]) == nil)
        // By the store's clock it was planned before, or after; the machine's says the opposite.
        for (seconds, reached) in [(-120.0, 4), (0, nil)] {
            var settings = away.settings
            settings.plannedInStore = .now().adding(seconds: seconds)
            let known = try away.plan(Self.third, at: .now().adding(seconds: -seconds - 90), settings)
            #expect(try SupersedingRuns(of: known, settings)?.reached == reached)
            known.close()
            try known.remove()
        }
    }

    @Test(
        "a run that began while the machine's clock was ahead is resumed only with what others have sent since its plan"
    )
    func begunAhead() throws {
        let bench = try Bench("begun_ahead"), home = try #require(bench.home), away = try #require(bench.away)
        let other = try home.plan(Self.first)
        _ = try place(bench).publish(other)
        var settings = away.settings
        settings.plannedInStore = .now()
        let run = try away.plan(Self.second, settings), ahead = Timestamp.now().adding(seconds: 7200)
        try bench.send(run, to: .stopped)
        try run.append(.epochBegan("1-a", at: ahead, from: [.planned]))
        try run.append(.state(.stopped, at: ahead))
        try bench.send(other, to: .finished)
        #expect(try bench.refusal(of: run, .goOn)?.why == .isSuperseded)
        try bench.fetch(Self.first, into: away).close()
        #expect(try bench.refusal(of: run, .goOn) == nil)
    }

    @Test("a copy that was pruned here is still a copy: what its run sent since keeps a plan from being sent")
    func prunedCopy() throws {
        let bench = try Bench("pruned_copy"), home = try #require(bench.home), away = try #require(bench.away)
        let run = try home.plan(Self.first)
        try bench.send(run, devices: 0..<4, to: .cancelled)
        try bench.fetch(Self.first, into: away).prune(at: .now())
        let plan = try away.plan(Self.second)
        try bench.send(run, devices: 4..<6, to: .cancelled, epoch: "2-b", isAfterAll: true)
        #expect(try bench.refusal(of: plan, .begin)?.why == .isSuperseded)
        #expect { _ = try bench.fetch(Self.first, into: away) } throws: {
            "\($0)".contains("were pruned from its file")
        }
        run.close()
        try bench.fetch(Self.first, into: home).prune(at: .now())
        #expect {
            try bench.store.remove(Self.first, evenIfUnfetched: false, fetchedInto: RunsFolder(home.path))
        } throws: { "\($0)".contains("does not hold all that the store knows") }
    }

    @Test(
        "a run that a machine continues without the store is not retried from a copy, and counts for plans from before")
    func takenBack() throws {
        let bench = try Bench("taken_back"), home = try #require(bench.home), away = try #require(bench.away)
        let run = try home.plan(Self.first)
        try bench.send(run, devices: 0..<4, to: .cancelled)
        let copy = try bench.fetch(Self.first, into: away)
        #expect(try bench.refusal(of: copy, .retry) == nil)
        usleep(10_000)
        var settings = away.settings
        settings.plannedInStore = .now()
        let plan = try away.plan(Self.second, settings)
        #expect(try bench.refusal(of: plan, .begin) == nil)
        usleep(10_000)
        let ledger = try #require(try bench.place.address.open(asked: Cancellation()).reopen(run))
        try ledger.takeBack(at: .now())
        for (file, step) in [(copy, SendGate.Step.retry), (plan, .begin)] {
            #expect("\(try #require(try bench.refusal(of: file, step)))".contains("continued it without the store"))
        }
        settings.plannedInStore = .now().adding(seconds: 60)
        #expect(try bench.refusal(of: away.plan(Self.third, settings), .begin) == nil)
        copy.close()
    }

    // MARK: - Runs that were removed from the store

    @Test("a run that a machine continued without the store is retried there after it was removed from the store")
    func takenBackAndRemoved() throws {
        let bench = try Bench("taken_removed"), home = try #require(bench.home), away = try #require(bench.away)
        let run = try home.plan(Self.first)
        try bench.send(run, devices: 0..<4, to: .cancelled)
        let copy = try bench.fetch(Self.first, into: away)
        let ledger = try #require(try bench.place.address.open(asked: Cancellation()).reopen(run))
        try ledger.takeBack(at: .now())
        try bench.store.remove(Self.first, evenIfUnfetched: false, fetchedInto: RunsFolder(home.path))
        #expect(try bench.refusal(of: home.plan(Self.second, retryOf: Self.first), .begin) == nil)
        #expect(try bench.refusal(of: copy, .retry)?.why == .isOutdated)
        copy.close()
    }

    @Test(
        "what another machine has sent keeps a plan, and a retry, from being sent after it was removed from the store, until a new plan is made",
        arguments: [false, true])
    func removed(isForced: Bool) throws {
        let bench = try Bench("removed_\(isForced)"), home = try #require(bench.home), away = try #require(bench.away)
        let earlier = try away.plan(Self.second, at: .now().adding(seconds: -60))
        let run = try home.plan(Self.first)
        try bench.send(run, devices: 0..<4, to: .cancelled)
        let copy = try bench.fetch(Self.first, into: away)
        try bench.send(run, devices: 4..<6, to: .cancelled, epoch: "2-b", isAfterAll: true)
        if !isForced { try bench.fetch(Self.first, into: home).close() }
        try bench.store.remove(Self.first, evenIfUnfetched: isForced, fetchedInto: RunsFolder(home.path))
        #expect(try bench.store.runs().isEmpty)
        let refused = try #require(try bench.refusal(of: earlier, .begin))
        #expect(refused.why == .isSuperseded && "\(refused)".contains("Plan the campaign again"), "\(refused)")
        #expect(!"\(refused)".contains("store fetch"))
        let own = "\(try #require(try bench.refusal(of: run, .goOn)))"
        #expect(own.contains("`volley report \(Self.first)` says how") == isForced, "\(own)")
        #expect(own.contains("`volley retry \(Self.first) --outcome unsent`") != isForced, "\(own)")
        // The copy lacks what was sent since.
        let retried = try #require(try bench.refusal(of: copy, .retry))
        #expect(
            retried.why == .isOutdated && "\(retried)".contains("on the machine that has its whole file"), "\(retried)")
        #expect(
            try bench.refusal(of: away.plan(Self.third, devices: 4..<10, retryOf: Self.first), .begin)?.why
                == .parentWentOn)
        var later = away.settings
        later.plannedInStore = .now().adding(seconds: 60)
        #expect(try bench.refusal(of: away.plan("20261101-090300-c-0004", later), .begin) == nil)
        copy.close()
    }

    @Test("a run whose file has all of it is retried after it was removed from the store, and is not continued")
    func removedAndFetched() throws {
        let bench = try Bench("removed_fetched"), home = try #require(bench.home), away = try #require(bench.away)
        let planned = try home.plan(Self.first), earlier = try away.plan(Self.second, at: .now().adding(seconds: -60))
        try planned.closeIntoOneFile()
        let before = try Data(contentsOf: URL(fileURLWithPath: planned.path)), run = try RunFile(path: planned.path)
        try bench.send(run, devices: 0..<4, to: .cancelled)
        let copies = [try bench.fetch(Self.first, into: home), try bench.fetch(Self.first, into: away)]
        try bench.store.remove(Self.first, evenIfUnfetched: false, fetchedInto: RunsFolder(home.path))
        for copy in copies { #expect(try bench.refusal(of: copy, .retry) == nil) }
        #expect(try bench.refusal(of: earlier, .begin) == nil)
        let refused = try #require(try bench.refusal(of: copies[0], .goOn))
        #expect("\(refused)".contains("was removed from it since: it does not continue"), "\(refused)")
        for file in copies + [run] { file.close() }
        // The plan's file was put back as it was before: nothing in it says that it was sent.
        for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: run.path + suffix) }
        try before.write(to: URL(fileURLWithPath: run.path))
        let restored = try RunFile(path: run.path)
        #expect("\(try #require(try bench.refusal(of: restored, .begin)))".contains("it does not continue"))
        #expect { _ = try place(bench).publish(restored) } throws: { "\($0)".contains("it does not continue") }
        restored.close()
    }

    @Test("a run that is not whole in the store, as its removal was cut off, counts as removed until it is whole again")
    func removalCutOff() throws {
        let bench = try Bench("removal_cut"), home = try #require(bench.home), away = try #require(bench.away)
        let plan = try away.plan(Self.second, at: .now().adding(seconds: -60)), run = try home.plan(Self.first)
        try bench.send(run, devices: 0..<4, to: .cancelled)
        let ended = try Cancellation()
        // Before the first blocks are removed.
        try bench.place.server.sql(
            """
            CREATE FUNCTION \(bench.place.schema).fail() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''cut off''; END';
            CREATE TRIGGER cut BEFORE DELETE ON \(bench.place.schema).volley_block EXECUTE FUNCTION \(bench.place.schema).fail()
            """)
        #expect(throws: Diagnostic.self) {
            try bench.place.address.open(asked: ended).remove(
                Self.first, evenIfUnfetched: true, fetchedInto: RunsFolder(home.path))
        }
        #expect(try bench.refusal(of: plan, .begin)?.why == .isSuperseded)
        try bench.place.server.sql("DROP TRIGGER cut ON \(bench.place.schema).volley_block")
        _ = try place(bench).publish(run)
        #expect(try bench.place.server.sql("SELECT count(*) FROM \(bench.place.schema).volley_removed") == "0")
        try bench.fetch(Self.first, into: away).close()
        run.close()
    }

    @Test(
        "of two retries of one run on two machines the second is refused, until it knows what the first has taken over")
    func retries() throws {
        let bench = try Bench("retries"), home = try #require(bench.home), away = try #require(bench.away)
        let run = try home.plan(Self.first)
        try bench.send(run, to: .cancelled)
        let copy = try bench.fetch(Self.first, into: away)
        #expect(try bench.refusal(of: copy, .retry) == nil)
        let other = try away.plan(Self.third, retryOf: Self.first)
        #expect(try bench.refusal(of: other, .begin) == nil)
        let retry = try home.plan(Self.second, retryOf: Self.first), ledger = try bench.begin(retry)
        for (file, step) in [(copy, SendGate.Step.retry), (other, .begin)] {
            let refused = try #require(try bench.refusal(of: file, step))
            #expect(refused.why == .isRetried && "\(refused)".contains(Self.second), "\(refused)")
        }
        try ledger.append(.state(.finished, at: .now()))
        try ledger.leave()
        for (file, step) in [(copy, SendGate.Step.retry), (other, .begin)] {
            #expect(
                "\(try #require(try bench.refusal(of: file, step)))".contains("`volley store fetch \(Self.second)`"))
        }
        copy.close()
        try bench.fetch(Self.second, into: away).close()
        #expect(try bench.refusal(of: copy, .retry) == nil)
        other.close()
        try other.remove()
        #expect(try RunRemainder(of: copy, outcomes: [.unsent]).count() == 0)
    }

    @Test(
        "a run that was retried on another machine is not resumed, and one that was resumed is not retried from an older copy"
    )
    func resumed() throws {
        let bench = try Bench("resumed"), home = try #require(bench.home), away = try #require(bench.away)
        let run = try home.plan(Self.first)
        try bench.send(run, to: .cancelled)
        let copy = try bench.fetch(Self.first, into: away)
        try bench.send(run, to: .cancelled, epoch: "2-b", isAfterAll: true)
        let outdated = try #require(try bench.refusal(of: copy, .retry))
        #expect(
            outdated.why == .isOutdated && "\(outdated)".contains("`volley store fetch \(Self.first)`"), "\(outdated)")
        copy.close()
        try bench.fetch(Self.first, into: away).close()
        #expect(try bench.refusal(of: copy, .retry) == nil)
        try bench.send(away.plan(Self.second, retryOf: Self.first), to: .finished)
        let retried = try #require(try bench.refusal(of: run, .goOn))
        #expect(retried.why == .isRetried && "\(retried)".contains("`volley store fetch \(Self.second)`"), "\(retried)")
    }

    @Test(
        "a run that this machine left and another one continued is fetched before another of its campaign is sent here")
    func leftHere() throws {
        let bench = try Bench("left"), home = try #require(bench.home), away = try #require(bench.away)
        let plan = try home.plan(Self.second, at: .now().adding(seconds: -60)), run = try home.plan(Self.first)
        try bench.send(run, to: .cancelled)
        let other = try bench.store.open(Self.first, in: RunsFolder(away.path))
        try other.takeUp(epoch: "2-b", after: "1-a", isAfterAll: true, at: .now())
        try other.append(.state(.finished, at: .now()))
        try other.leave()
        #expect(try run.sharedSince() != nil)
        let refused = try #require(try bench.refusal(of: plan, .begin))
        #expect(
            refused.why == .isSuperseded
                && "\(refused)".contains(
                    "`volley resume \(Self.first)`, or `volley store fetch \(Self.first)` once it has ended"),
            "\(refused)")
        try bench.fetch(Self.first, into: home).close()
        #expect(try bench.refusal(of: plan, .begin) == nil)
    }

    @Test("of two runs of a campaign that begin on two machines at the same moment, one does") func sameMoment() throws
    {
        let bench = try Bench("moment"), home = try #require(bench.home), away = try #require(bench.away)
        let runs = [try home.plan(Self.first), try away.plan(Self.second)]
        let ledgers = try runs.map { run in
            let ledger = try place(bench).publish(run)
            ledger.begins(besides: try RunsInStore(of: run, run.plan.settings.get(), in: bench.project)?.judge(.begin))
            return ledger
        }
        try ledgers[0].takeUp(epoch: "1-a", at: .now())
        #expect { try ledgers[1].takeUp(epoch: "1-b", at: .now()) } throws: { "\($0)".contains("at the same moment") }
        for ledger in ledgers { try ledger.leave() }
    }

    @Test(
        "of a run that is resumed and a retry of it that begin on two machines at the same moment, one does",
        arguments: [false, true])
    func resumedAndRetried(isResumedFirst: Bool) throws {
        let bench = try Bench("both_\(isResumedFirst)"), home = try #require(bench.home),
            away = try #require(bench.away)
        let run = try home.plan(Self.first)
        try bench.send(run, to: .cancelled)
        try bench.fetch(Self.first, into: away).close()
        let retry = try away.plan(Self.second, retryOf: Self.first),
            steps = [(run, SendGate.Step.goOn), (retry, .begin)]
        let ledgers = try steps.map { run, step in
            let ledger = try place(bench).publish(run)
            ledger.begins(besides: try RunsInStore(of: run, run.plan.settings.get(), in: bench.project)?.judge(step))
            return ledger
        }
        let beginnings = [
            { try ledgers[0].takeUp(epoch: "2-b", after: "1-a", isAfterAll: true, at: .now()) },
            { try ledgers[1].takeUp(epoch: "1-b", at: .now()) },
        ]
        try beginnings[isResumedFirst ? 0 : 1]()
        #expect { try beginnings[isResumedFirst ? 1 : 0]() } throws: { "\($0)".contains("at the same moment") }
        for ledger in ledgers { try ledger.leave() }
    }

    @Test(
        "while a process begins a run of a campaign, no other one looks whether it may begin one; the next one sees that run"
    )
    func oneLooks() throws {
        let bench = try Bench("looks"), home = try #require(bench.home), away = try #require(bench.away)
        let run = try home.plan(Self.first), other = try away.plan(Self.second)
        let judged = try RunsInStore(of: run, run.plan.settings.get(), in: bench.project)?.judge(
            .begin, isBeginning: true)
        #expect(try bench.store.lockBeginning(of: other.plan, waitingSeconds: 0) == nil)
        let ledger = try place(bench).publish(run)
        ledger.begins(besides: judged)
        try ledger.takeUp(epoch: "1-a", at: .now())
        let refused = try #require(try bench.refusal(of: other, .begin, isBeginning: true))
        #expect(refused.why == .runsBesideAnother && "\(refused)".contains(Self.first), "\(refused)")
        // What was refused keeps no other from beginning.
        try #require(try bench.store.lockBeginning(of: other.plan)).release()
        try ledger.leave()
    }

    @Test(
        "a retry that begins in its file only is not resumed over another machine's retry, and a retry of it reaches the rest"
    )
    func retriedElsewhere() throws {
        let bench = try Bench("elsewhere"), home = try #require(bench.home), away = try #require(bench.away)
        try bench.send(home.plan(Self.first), to: .cancelled)
        try bench.fetch(Self.first, into: away).close()
        let own = try away.plan(Self.third, retryOf: Self.first)
        try bench.send(home.plan(Self.second, devices: 0..<6, retryOf: Self.first), to: .finished)
        try bench.fetch(Self.second, into: away).close()
        try away.begin(own)
        let gate = SendPermission(run: own, settings: try own.plan.settings.get(), choice: ProjectChoice())
        for step in [SendGate.Step.goOn, .begin] {
            #expect { try gate.checkSiblings(step, onRecord: []) } throws: {
                "\($0)".contains(
                    "`volley cancel \(Self.third)` ends this retry; then `volley retry \(Self.third) --outcome unsent`")
            }
        }
        #expect(try RunRemainder(of: own, outcomes: [.unsent]).count() == 4)
    }

    @Test("a run that was put into the store and never began there stays as it is when it is fetched") func neverBegun()
        throws
    {
        let bench = try Bench("never"), home = try #require(bench.home)
        let run = try home.plan(Self.first)
        _ = try place(bench).publish(run)
        try home.begin(run)
        try run.append(.state(.stopped, at: .now()))
        run.close()
        let file = try bench.fetch(Self.first, into: home)
        #expect(try file.status().state == .stopped && file.sharedSince() == nil)
    }

    @Test(
        "the rest of a retry that another machine cancelled is reached by a retry of that one, where the run was planned"
    )
    func restOfRetry() throws {
        let bench = try Bench("rest"), home = try #require(bench.home), away = try #require(bench.away)
        let run = try home.plan(Self.first)
        try home.send(run, to: 3)
        try run.append(.state(.cancelled, cause: .cancelled, at: .now()))
        var settings = away.settings
        settings.parentEpoch = "1-of-the-copy"
        try bench.send(away.plan(Self.second, devices: 3..<10, retryOf: Self.first, settings), to: .cancelled)
        let copy = try bench.fetch(Self.second, into: home)
        #expect(
            try !SendPermission(run: copy, settings: copy.plan.settings.get(), choice: ProjectChoice()).parentWentOn())
        let remedy = RunRemainder.remedyForMore(run, try RunChain(of: run).retries(of: Self.first))
        #expect(
            remedy == "`volley retry \(Self.second) --outcome unsent` sends to the 7 devices that were never sent to.")
    }

    @Test("a machine whose volley.yaml requires approval does not help with a plan that was not approved")
    func approval() throws {
        let bench = try Bench("approval"), home = try #require(bench.home), away = try #require(bench.away)
        let ledger = try bench.begin(home.plan(Self.first)), file = away.path + "/volley.yaml"
        let text =
            "store: {postgres: {url_env: \(bench.place.variable)}}\napps: {shop: {topic: com.example.shop, environment: simulator"
        try Data((text + ", approval: required}}\n").utf8).write(to: URL(fileURLWithPath: file))
        let options = RunOptions(context: SendingContext(), observer: .silent, cancellation: try Cancellation())
        let worker = try StoreWorker(in: ProjectChoice(file: file, runs: away.path), options, .silent)
        #expect { try worker.work(on: Self.first) } throws: {
            "\($0)".contains("'shop' requires approval here, and the plan was not approved")
        }
        try ledger.leave()
    }

    private func place(_ bench: Bench) throws -> Store { try bench.place.address.open(asked: Cancellation()) }
}
