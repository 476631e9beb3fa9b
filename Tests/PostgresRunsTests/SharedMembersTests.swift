import Base
import Glibc
import Postgres
import PushServices
import Runs
import Synchronization
import TestServers
import TestSupport
import Testing

@testable import PostgresRuns

/// Several members of one run.
@Suite("members of a run in the store")
struct SharedMembersTests {
    static let noon = Timestamp(epochSeconds: 1_796_126_400)

    /// A published run whose life has begun, and a way to open it as another machine does.
    final class Bench {
        let bench: StoreBench
        let folder: TemporaryFolder
        let file: RunFile
        let home: SharedLedger

        init(of audience: Int, waves: [Int] = [], in store: StoreBench? = nil) throws {
            bench = try store ?? StoreBench(PostgresServer.shared.get())
            folder = try TemporaryFolder()
            let plan = waves.isEmpty ? SharedMembersTests.plan(audience) : SharedRun.plan(audience, waves: waves)
            file = try StoreBench.file(plan, SharedMembersTests.recipients(audience), in: folder.path)
            home = try bench.store.publish(file)
            try home.takeUp(life: "1-a", at: SharedMembersTests.noon)
        }

        func member() throws -> SharedLedger {
            let ledger = try bench.another().open(file.plan.id, in: RunsFolder(folder.path))
            try ledger.join()
            return ledger
        }
    }

    private static func plan(_ audience: Int) -> RunPlan {
        let settings = RunSettings(environment: .named(APNs.sandbox), topic: "com.example.shop", pushType: .alert, renderingRules: 5)
        return RunPlan(
            id: "run", campaign: "spring-sale", app: "shop", campaignFile: "/x/spring.yaml", campaignSource: "name: spring-sale\n",
            projectFile: "/x/volley.yaml", seed: RunSeed(high: 1, low: 2), fields: ["first_name"], plannedAt: noon, planHash: "abc",
            rows: audience, audience: audience, skipped: [:], settings: .success(settings), preview: .object([]))
    }

    private static func recipients(_ audience: Int) -> [Recipient] {
        (0..<audience).map { id in
            let digits = String(id, radix: 16)
            return Recipient(
                token: Target(normalized: String(repeating: "a", count: 64 - digits.count) + digits), registrationID: "reg\(id)",
                alias: id.isMultiple(of: 3) ? "" : "user\(id)", language: "de", fields: ["name \"\(id)\" ä"])
        }
    }

    private func settled(_ id: Int, _ outcome: Outcome = .accepted) -> Settlement {
        Settlement(recipient: id, outcome: outcome, status: 200, attempts: 1, latencyMilliseconds: 30, settledAt: Self.noon)
    }

    @Test("a cancelled run goes on when a person resumes it whose file says that it was cancelled, and not by itself")
    func afterAll() throws {
        let bench = try Bench(of: 1000)
        _ = try bench.home.lease(atMost: 100, of: 0..<1000)
        try bench.home.append(.claimed(0..<100, at: Self.noon))
        try bench.home.append(.settled([(0..<100).map { settled($0) }]))
        try bench.home.append(.ordered(.cancel, at: Self.noon))
        try bench.home.leave()
        let other = try bench.bench.another().publish(bench.file)
        try other.takeUp(life: "2-b", after: "1-a", at: Self.noon)
        #expect(try other.status().state == .cancelled)
        try other.leave()
        try other.takeUp(life: "2-b", after: "1-a", isAfterAll: true, at: Self.noon)
        #expect(try other.status().state == .running)
        #expect(try other.lease(atMost: 100, of: 0..<1000)?.lowerBound == 100)
        try other.leave()
    }

    @Test("the end of a run waits for the last answers of others, while these beat")
    func lastAnswers() throws {
        let bench = try Bench(of: 1000), other = try bench.member()
        let range = try #require(try other.lease(atMost: 10, of: 0..<1000))
        try other.append(.claimed(range, at: Self.noon))
        try bench.home.append(.ordered(.cancel, at: Self.noon))
        try bench.home.leave()
        let answers = try WorkerThread("answers") {
            Result {
                for _ in 0..<30 {
                    usleep(200_000)
                    _ = try other.beat(answers: [:])
                }
                try other.append(.settled([range.map { settled($0) }]))
                try other.leave()
            }
        }
        let machines = Mutex<Set<[String]>>([])
        try bench.home.awaitLastAnswers { waited in machines.withLock { _ = $0.insert(waited) } }
        try bench.home.fetch()
        try answers.join().get()
        #expect(try bench.file.figures().outcomes[.accepted] == range.count)
        #expect(machines.withLock(\.self) == [[MachineName.process]])
    }

    @Test("the end of a run waits for members that could not beat because the database was away")
    func awayAtTheEnd() throws {
        let bench = try Bench(of: 10), other = try bench.member()
        try other.append(.claimed(0..<10, at: Self.noon))
        try bench.home.append(.ordered(.cancel, at: Self.noon))
        try bench.home.leave()
        let database = bench.bench
        let lock = try WorkerThread("lock") {
            Result { try database.sql("DO $$BEGIN LOCK TABLE volley_sender; PERFORM pg_sleep(9); END$$") }
        }
        usleep(500_000)
        let answers = try WorkerThread("answers") {
            Result {
                usleep(11_000_000)
                try other.append(.settled([(0..<10).map { settled($0) }]))
                try other.leave()
            }
        }
        try bench.home.awaitLastAnswers()
        try bench.home.fetch()
        _ = try (lock.join().get(), answers.join().get())
        #expect(try bench.file.figures().outcomes[.accepted] == 10)
    }

    @Test("of recipients for whom it is too late nothing is offered any more")
    func offeredTooLate() throws {
        let bench = try Bench(of: 10, waves: [10]), home = bench.home, ids = 0..<10
        _ = try home.lease(atMost: 10, of: ids)
        try home.append(.claimed(ids, at: Self.noon))
        try home.append(.settled([ids.map { Settlement(recipient: $0, outcome: .unsent, own: .paused, settledAt: Self.noon) }]))
        let closing = Set(OwnReason.allCases).subtracting([.paused])
        #expect(try home.offerAgain(resendsUnknown: [false], closing: closing, of: ids) == 10)
        #expect(try home.isWaiting(ids) && !home.isSettled(closing: closing, of: ids))
        try home.append(.deferred(ids, .tooLate, isTooLate: true, at: Self.noon))
        #expect(try !home.isWaiting(ids))
        #expect(try bench.bench.sql("SELECT count(*) FROM volley_returned").first?.first == "0")
    }

    @Test("the end of a run does not wait for a member that does not beat, nor for anybody once it has finished")
    func silentMember() throws {
        let bench = try Bench(of: 10), other = try bench.member()
        try bench.home.awaitLastAnswers { _ in Issue.record("the run goes on") }
        try bench.home.append(.ordered(.cancel, at: Self.noon))
        let start = ContinuousClock.now
        try bench.home.awaitLastAnswers()
        #expect(start.duration(to: .now) > .seconds(3))
        #expect(try bench.home.members().count == 2)
        try other.leave()
    }

    @Test("a member beats once a second, and once more when it begins to send; who waits for news gets another beat each time")
    func beating() throws {
        let bench = try Bench(of: 10), cancellation = try Cancellation()
        let member = try Membership(bench.home, answers: { [:] })
        defer { member.end() }
        let (start, before) = (ContinuousClock.now, bench.home.state.withLock { $0.beat })
        member.note(isSending: true)
        for _ in 0..<4 { member.waitForNews(cancellation) }
        let beats = bench.home.state.withLock { $0.beat } - before
        #expect(beats >= 2)
        #expect(Double(beats) <= (.now - start) / .seconds(1) + 2)
    }

    @Test("a member beats while an entry of its own waits for the database")
    func beatsMeanwhile() throws {
        let bench = try Bench(of: 10), home = bench.home
        let isThere = try home.claiming.append(until: { false }) { _, _ in
            let beat = try WorkerThread("beat") { Result { try home.beat(answers: [:]) != nil } }
            let end = ContinuousClock.now + .seconds(5)
            while !beat.isFinished, ContinuousClock.now < end { try bench.bench.sql("SELECT 1") }
            #expect(beat.isFinished)
            return .isMissing
        }
        #expect(!isThere)
    }

    @Test("members that take turns come to everybody once, and the run's file gets all that they recorded")
    func turns() throws {
        let bench = try Bench(of: 9_500)
        let members = [bench.home, try bench.member(), try bench.member()]
        for member in members { _ = try member.beat(answers: [:]) }
        var seen: [Int] = [], isOver = [false, false, false]
        while isOver.contains(false) {
            for (number, member) in members.enumerated() {
                guard let range = try member.lease(atMost: 300 + 100 * number, of: 0..<9_500) else {
                    isOver[number] = true
                    continue
                }
                try member.append(.claimed(range, at: Self.noon))
                var read: [Int] = []
                try member.forEachPush(in: range, PushSelection(withTraits: true)) { push in
                    #expect(String(decoding: push.token, as: UTF8.self).hasSuffix("a\(String(push.id, radix: 16))"))
                    read.append(push.id)
                }
                #expect(read == Array(range))
                try member.append(.settled([range.map { settled($0) }]))
                seen += range
            }
        }
        #expect(seen.sorted() == Array(0..<9_500))
        try bench.home.fetch()
        #expect(try bench.file.figures().outcomes.filter { $0.value > 0 } == [.accepted: 9_500])
        #expect(try bench.file.claims().claimed.ranges == [0..<9_500])
        // Taking over once more changes nothing, also from another process.
        try bench.home.fetch()
        try RunFile(path: bench.file.path).checkIntegrity()
    }

    @Test("of a member that is declared dead nothing more is written; what it had not claimed comes back, and the rest is lost")
    func death() throws {
        let bench = try Bench(of: 3_000)
        let other = try bench.member()
        let range = try #require(try other.lease(atMost: 800, of: 0..<3_000))
        try other.append(.claimed(range.prefix(500), at: Self.noon))
        try other.append(.settled([range.prefix(200).map { settled($0) }]))
        let news = try #require(try bench.home.beat(answers: [:])), silent = try #require(news.others.first)
        #expect(try bench.home.declareDead(silent.number, beat: silent.beat))
        #expect(throws: NotSending(isCancelled: false)) { try other.append(.claimed(range.suffix(100), at: Self.noon)) }
        #expect(throws: NotSending(isCancelled: false)) { try other.append(.settled([[settled(range.lowerBound + 300)]])) }
        #expect(throws: NotSending(isCancelled: false)) { _ = try other.lease(atMost: 10, of: 0..<3_000) }
        #expect(try other.beat(answers: [:]) == nil)
        #expect(
            try bench.home.unsettled(in: 0..<bench.home.plan.audience, OpenOutcomes()).leftBehind == [
                range.lowerBound + 200..<range.lowerBound + 500
            ])
        var rest: [Int] = []
        while let next = try bench.home.lease(atMost: 700, of: 0..<3_000) {
            try bench.home.append(.claimed(next, at: Self.noon))
            rest += next
        }
        #expect(rest.sorted() == (0..<3_000).filter { !range.prefix(500).contains($0) })
        #expect(try bench.home.append(.lost(at: Self.noon)).count == 300)
    }

    @Test(
        "the machine that has the run's file takes part again after it was declared dead, and its file gets what the others recorded in between"
    )
    func homeAgain() throws {
        let bench = try Bench(of: 1_000), home = bench.home, other = try bench.member()
        let before = try #require(home.state.withLock { $0.sender })
        try home.append(.claimed(try #require(try home.lease(atMost: 200, of: 0..<1_000)).prefix(100), at: Self.noon))
        let silent = try #require(try other.beat(answers: [:])?.others.first { $0.number == before })
        #expect(try other.declareDead(silent.number, beat: silent.beat))
        #expect(try home.beat(answers: [:]) == nil)
        try home.rejoin()
        #expect(home.state.withLock { $0.sender } != before)
        #expect(try other.append(.lost(at: Self.noon)).count == 100)
        for member in [home, other] {
            _ = try member.beat(answers: [:])
            while let range = try member.lease(atMost: 300, of: 0..<1_000) {
                try member.append(.claimed(range, at: Self.noon))
                try member.append(.settled([range.map { settled($0) }]))
                if member === home { break }
            }
        }
        #expect(try home.append(.finished(unless: { _ in nil }, at: Self.noon)).objection == nil)
        try home.fetch()
        #expect(try bench.file.sharedSince() == nil)
        #expect(try bench.file.figures().outcomes.filter { $0.value > 0 } == [.accepted: 900, .unknown: 100])
    }

    @Test("what is recorded together is one row of the journal")
    func oneRow() throws {
        let bench = try Bench(of: 100)
        func rows() throws -> String? { try bench.bench.sql("SELECT count(*) FROM volley_journal").first?.first ?? nil }
        try bench.home.append(.claimed(0..<100, at: Self.noon))
        let before = try #require(try rows().flatMap { Int($0) })
        try bench.home.append(.settled([(0..<40).map { settled($0) }, (40..<99).map { settled($0) }, [settled(99)]]))
        #expect(try rows() == "\(before + 1)")
    }

    @Test("a member that beats again is not declared dead")
    func alive() throws {
        let bench = try Bench(of: 10)
        let other = try bench.member()
        let silent = try #require(try bench.home.beat(answers: [:])?.others.first)
        _ = try other.beat(answers: [0: [.accepted: 3]])
        #expect(try !bench.home.declareDead(silent.number, beat: silent.beat))
        #expect(try bench.home.beat(answers: [:])?.elsewhere == [0: [.accepted: 3]])
    }

    @Test("whoever is claimed by one member is claimed by no other, even without a lease")
    func overlap() throws {
        let bench = try Bench(of: 100)
        let other = try bench.member()
        try bench.home.append(.claimed(10..<30, at: Self.noon))
        for range in [0..<11, 29..<31, 15..<20, 0..<100] {
            #expect(throws: StoreRefusal.self) { try other.append(.claimed(range, at: Self.noon)) }
        }
        try other.append(.claimed(30..<100, at: Self.noon))
        #expect(try other.claims().claimed.ranges == [10..<100])
    }

    @Test("whoever conducts and dies is followed by another, and only by one")
    func conductor() throws {
        let bench = try Bench(of: 10)
        let (first, second) = (try bench.member(), try bench.member())
        #expect(try !first.becomeConductor())
        let silent = try #require(try bench.home.beat(answers: [:]).map { _ in try first.beat(answers: [:]) }??.others.first)
        #expect(try first.declareDead(silent.number, beat: silent.beat))
        #expect(try first.beat(answers: [:])?.lacksConductor == true)
        #expect(try first.becomeConductor())
        #expect(try !second.becomeConductor())
        #expect(try first.beat(answers: [:])?.isConductor == true)
    }

    @Test(
        "a member that was declared dead opens no leg, says nothing of a leg, and does not conduct; nor does another open one than who conducts"
    )
    func unfenced() throws {
        let bench = try Bench(of: 10)
        let (first, second) = (try bench.member(), try bench.member()), leg = bench.file.plan.legs[0]
        func isOpen() throws -> Bool { try #require(try second.beat(answers: [:])).openLegs == [0] }
        let news = try #require(try second.beat(answers: [:]))
        #expect(throws: NotSending(isCancelled: false)) { try first.open(leg) }
        #expect(try !isOpen(), "another conducts")
        for silent in news.others { #expect(try second.declareDead(silent.number, beat: silent.beat)) }
        for dead in [bench.home, first] {
            #expect(throws: NotSending(isCancelled: false)) { try dead.open(leg) }
            #expect(throws: NotSending(isCancelled: false)) { try dead.append(.segment(leg, LegState(cause: .interrupted))) }
            #expect(throws: NotSending(isCancelled: false)) { try dead.lockForSending(isSending: true) }
            #expect(try !dead.becomeConductor())
        }
        #expect(try !isOpen() && second.status().segments == [:])
        #expect(try second.beat(answers: [:])?.lacksConductor == true)
        #expect(try second.becomeConductor())
        try second.open(leg)
        #expect(try isOpen())
        try second.append(.segment(leg, LegState(cause: .interrupted)))
        #expect(try second.status().segments == [0: LegState(cause: .interrupted)])
    }

    @Test("who was given back is sent to again by another member, once, with what was recorded")
    func again() throws {
        let bench = try Bench(of: 50)
        let other = try bench.member()
        try other.append(.claimed(0..<50, at: Self.noon))
        let back = [3, 7, 40].map {
            Settlement(recipient: $0, outcome: .unsent, reason: OwnReason.paused.rawValue, attempts: 2, settledAt: Self.noon)
        }
        try other.append(.settled([(0..<50).filter { ![3, 7, 40].contains($0) }.map { settled($0) } + back]))
        #expect(try bench.home.offerAgain(resendsUnknown: [false], closing: [.frequencyCap]) == 3)
        #expect(try bench.home.offerAgain(resendsUnknown: [false], closing: [.frequencyCap]) == 0, "they are offered already")
        #expect(try !bench.home.isSettled(closing: [.frequencyCap]))
        #expect(try other.leaseAgain(of: 0..<50) == [3..<41])
        #expect(try bench.home.leaseAgain(of: 0..<50) == [])
        var pushes: [String] = []
        try other.forEachPush(in: 3..<41, PushSelection(unsettled: OpenOutcomes(resendsUnknown: false))) {
            pushes.append("\($0.id) \($0.attempts) \($0.mayHaveArrived)")
        }
        #expect(pushes == ["3 2 false", "7 2 false", "40 2 false"])
        #expect(try other.append(.reopened([3, 7, 40], resendsUnknown: false, at: .now())).attempts == [3: 2, 7: 2, 40: 2])
        try other.append(.settled([[3, 7, 40].map { settled($0) }]))
        #expect(try bench.home.offerAgain(resendsUnknown: [false], closing: [.frequencyCap]) == 0)
        try other.returnLeases()
        #expect(try bench.home.isSettled(closing: [.frequencyCap]))
    }

    @Test("a run is published once; another plan of its id is refused")
    func publishing() throws {
        let bench = try Bench(of: 2_345)
        #expect(try bench.bench.another().publish(bench.file).run == bench.home.run)
        let folder = try TemporaryFolder()
        let other = try StoreBench.file(Self.plan(3), Self.recipients(3), in: folder.path)
        #expect(throws: Diagnostic.self) { _ = try bench.bench.store.publish(other) }
    }
}
