import Base
import Glibc
import Postgres
import PushServices
import Runs
import Synchronization
import TestServers
import TestSupport
import Testing

@testable import Cluster

/// Several workers of one run.
@Suite("workers of a run in the store")
struct SharedWorkersTests {
    static let noon = Timestamp(epochSeconds: 1_796_126_400)

    /// A published run whose epoch has begun, and a way to open it as another machine does.
    final class Bench {
        let bench: StoreBench
        let folder: TemporaryFolder
        let file: RunFile
        let host: SharedLedger

        init(of audience: Int, waves: [Int] = [], in store: StoreBench? = nil) throws {
            bench = try store ?? StoreBench(PostgresServer.shared.get())
            folder = try TemporaryFolder()
            let plan = waves.isEmpty ? SharedWorkersTests.plan(audience) : SharedRun.plan(audience, waves: waves)
            file = try StoreBench.file(plan, SharedWorkersTests.recipients(audience), in: folder.path)
            host = try bench.store.publish(file)
            try host.takeUp(epoch: "1-a", at: SharedWorkersTests.noon)
        }

        func worker() throws -> SharedLedger {
            let ledger = try bench.another().open(file.plan.id, in: RunsFolder(folder.path))
            try ledger.join()
            return ledger
        }
    }

    private static func plan(_ audience: Int) -> RunPlan {
        let settings = RunSettings(
            environment: .named(APNs.sandbox), topic: "com.example.shop", pushType: .alert, renderingRules: 5)
        return RunPlan(
            id: "run", campaign: "spring-sale", app: "shop", campaignFile: "/x/spring.yaml",
            campaignSource: "name: spring-sale\n",
            projectFile: "/x/volley.yaml", seed: RunSeed(high: 1, low: 2), fields: ["first_name"], plannedAt: noon,
            planHash: "abc",
            rows: audience, audience: audience, skipped: [:], settings: .success(settings), preview: .object([]))
    }

    private static func recipients(_ audience: Int) -> [Recipient] {
        (0..<audience).map { id in
            let digits = String(id, radix: 16)
            return Recipient(
                token: Target(normalized: String(repeating: "a", count: 64 - digits.count) + digits),
                registrationID: "reg\(id)",
                alias: id.isMultiple(of: 3) ? "" : "user\(id)", language: "de", fields: ["name \"\(id)\" ä"])
        }
    }

    private func settled(_ id: Int, _ outcome: Outcome = .accepted) -> Settlement {
        Settlement(
            recipient: id, outcome: outcome, status: 200, attempts: 1, latencyMilliseconds: 30, settledAt: Self.noon)
    }

    @Test("a cancelled run goes on when a person resumes it whose file says that it was cancelled, and not by itself")
    func afterAll() throws {
        let bench = try Bench(of: 1000)
        _ = try bench.host.lease(atMost: 100, of: 0..<1000)
        try bench.host.append(.claimed(0..<100, at: Self.noon))
        try bench.host.append(.settled([(0..<100).map { settled($0) }]))
        try bench.host.append(.ordered(.cancel, at: Self.noon))
        try bench.host.leave()
        let other = try bench.bench.another().publish(bench.file)
        try other.takeUp(epoch: "2-b", after: "1-a", at: Self.noon)
        #expect(try other.status().state == .cancelled)
        try other.leave()
        try other.takeUp(epoch: "2-b", after: "1-a", isAfterAll: true, at: Self.noon)
        #expect(try other.status().state == .running)
        #expect(try other.lease(atMost: 100, of: 0..<1000)?.lowerBound == 100)
        try other.leave()
    }

    @Test("the end of a run waits for the last answers of others, while these beat")
    func lastAnswers() throws {
        let bench = try Bench(of: 1000), other = try bench.worker()
        let range = try #require(try other.lease(atMost: 10, of: 0..<1000))
        try other.append(.claimed(range, at: Self.noon))
        try bench.host.append(.ordered(.cancel, at: Self.noon))
        try bench.host.leave()
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
        try bench.host.awaitLastAnswers { waited in machines.withLock { _ = $0.insert(waited) } }
        try bench.host.fetch()
        try answers.join().get()
        #expect(try bench.file.figures().outcomes[.accepted] == range.count)
        #expect(machines.withLock(\.self) == [[MachineName.process]])
    }

    @Test("the end of a run waits for workers that could not beat because the database was away")
    func awayAtTheEnd() throws {
        let bench = try Bench(of: 10), other = try bench.worker()
        try other.append(.claimed(0..<10, at: Self.noon))
        try bench.host.append(.ordered(.cancel, at: Self.noon))
        try bench.host.leave()
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
        try bench.host.awaitLastAnswers()
        try bench.host.fetch()
        _ = try (lock.join().get(), answers.join().get())
        #expect(try bench.file.figures().outcomes[.accepted] == 10)
    }

    @Test("of recipients for whom it is too late nothing is offered any more")
    func offeredTooLate() throws {
        let bench = try Bench(of: 10, waves: [10]), host = bench.host, ids = 0..<10
        _ = try host.lease(atMost: 10, of: ids)
        try host.append(.claimed(ids, at: Self.noon))
        try host.append(
            .settled([ids.map { Settlement(recipient: $0, outcome: .unsent, own: .paused, settledAt: Self.noon) }]))
        let closing = Set(OwnReason.allCases).subtracting([.paused])
        #expect(try host.offerAgain(resendsUnknown: [false], closing: closing, of: ids) == 10)
        #expect(try host.isWaiting(ids) && !host.isSettled(closing: closing, of: ids))
        try host.append(.deferred(ids, .tooLate, isTooLate: true, at: Self.noon))
        #expect(try !host.isWaiting(ids))
        #expect(try bench.bench.sql("SELECT count(*) FROM volley_returned").first?.first == "0")
    }

    @Test("the end of a run does not wait for a worker that does not beat, nor for anybody once it has finished")
    func silentWorker() throws {
        let bench = try Bench(of: 10), other = try bench.worker()
        try bench.host.awaitLastAnswers { _ in Issue.record("the run goes on") }
        try bench.host.append(.ordered(.cancel, at: Self.noon))
        let start = ContinuousClock.now
        try bench.host.awaitLastAnswers()
        #expect(start.duration(to: .now) > .seconds(3))
        #expect(try bench.host.workers().count == 2)
        try other.leave()
    }

    @Test(
        "a worker beats once a second, and once more when it begins to send; who waits for news gets another beat each time"
    )
    func beating() throws {
        let bench = try Bench(of: 10), cancellation = try Cancellation()
        let worker = try WorkerRegistration(bench.host, answers: { [:] })
        defer { worker.end() }
        let (start, before) = (ContinuousClock.now, bench.host.state.withLock { $0.beat })
        worker.note(isSending: true)
        for _ in 0..<4 { worker.waitForNews(cancellation) }
        let beats = bench.host.state.withLock { $0.beat } - before
        #expect(beats >= 2)
        #expect(Double(beats) <= (.now - start) / .seconds(1) + 2)
    }

    @Test("a worker beats while an entry of its own waits for the database")
    func beatsMeanwhile() throws {
        let bench = try Bench(of: 10), host = bench.host
        let isThere = try host.claiming.append(until: { false }) { _, _ in
            let beat = try WorkerThread("beat") { Result { try host.beat(answers: [:]) != nil } }
            let end = ContinuousClock.now + .seconds(5)
            while !beat.isFinished, ContinuousClock.now < end { try bench.bench.sql("SELECT 1") }
            #expect(beat.isFinished)
            return .isMissing
        }
        #expect(!isThere)
    }

    @Test("workers that take turns come to everybody once, and the run's file gets all that they recorded")
    func turns() throws {
        let bench = try Bench(of: 9_500)
        let workers = [bench.host, try bench.worker(), try bench.worker()]
        for worker in workers { _ = try worker.beat(answers: [:]) }
        var seen: [Int] = [], isOver = [false, false, false]
        while isOver.contains(false) {
            for (number, worker) in workers.enumerated() {
                guard let range = try worker.lease(atMost: 300 + 100 * number, of: 0..<9_500) else {
                    isOver[number] = true
                    continue
                }
                try worker.append(.claimed(range, at: Self.noon))
                var read: [Int] = []
                try worker.forEachPush(in: range, PushSelection(withTraits: true)) { push in
                    #expect(String(decoding: push.token, as: UTF8.self).hasSuffix("a\(String(push.id, radix: 16))"))
                    read.append(push.id)
                }
                #expect(read == Array(range))
                try worker.append(.settled([range.map { settled($0) }]))
                seen += range
            }
        }
        #expect(seen.sorted() == Array(0..<9_500))
        try bench.host.fetch()
        #expect(try bench.file.figures().outcomes.filter { $0.value > 0 } == [.accepted: 9_500])
        #expect(try bench.file.claims().claimed.ranges == [0..<9_500])
        // Taking over once more changes nothing, also from another process.
        try bench.host.fetch()
        try RunFile(path: bench.file.path).checkIntegrity()
    }

    @Test(
        "of a worker that is declared dead nothing more is written; what it had not claimed comes back, and the rest is lost"
    )
    func death() throws {
        let bench = try Bench(of: 3_000)
        let other = try bench.worker()
        let range = try #require(try other.lease(atMost: 800, of: 0..<3_000))
        try other.append(.claimed(range.prefix(500), at: Self.noon))
        try other.append(.settled([range.prefix(200).map { settled($0) }]))
        let news = try #require(try bench.host.beat(answers: [:])), silent = try #require(news.others.first)
        #expect(try bench.host.declareDead(silent.number, beat: silent.beat))
        #expect(throws: SendingRevoked(isCancelled: false)) {
            try other.append(.claimed(range.suffix(100), at: Self.noon))
        }
        #expect(throws: SendingRevoked(isCancelled: false)) {
            try other.append(.settled([[settled(range.lowerBound + 300)]]))
        }
        #expect(throws: SendingRevoked(isCancelled: false)) { _ = try other.lease(atMost: 10, of: 0..<3_000) }
        #expect(try other.beat(answers: [:]) == nil)
        #expect(
            try bench.host.unsettled(in: 0..<bench.host.plan.audience, OpenOutcomes()).leftBehind == [
                range.lowerBound + 200..<range.lowerBound + 500
            ])
        var rest: [Int] = []
        while let next = try bench.host.lease(atMost: 700, of: 0..<3_000) {
            try bench.host.append(.claimed(next, at: Self.noon))
            rest += next
        }
        #expect(rest.sorted() == (0..<3_000).filter { !range.prefix(500).contains($0) })
        #expect(try bench.host.append(.lost(at: Self.noon)).count == 300)
    }

    @Test(
        "the machine that has the run's file takes part again after it was declared dead, and its file gets what the others recorded in between"
    )
    func hostAgain() throws {
        let bench = try Bench(of: 1_000), host = bench.host, other = try bench.worker()
        let before = try #require(host.state.withLock { $0.sender })
        try host.append(.claimed(try #require(try host.lease(atMost: 200, of: 0..<1_000)).prefix(100), at: Self.noon))
        let silent = try #require(try other.beat(answers: [:])?.others.first { $0.number == before })
        #expect(try other.declareDead(silent.number, beat: silent.beat))
        #expect(try host.beat(answers: [:]) == nil)
        try host.rejoin()
        #expect(host.state.withLock { $0.sender } != before)
        #expect(try other.append(.lost(at: Self.noon)).count == 100)
        for worker in [host, other] {
            _ = try worker.beat(answers: [:])
            while let range = try worker.lease(atMost: 300, of: 0..<1_000) {
                try worker.append(.claimed(range, at: Self.noon))
                try worker.append(.settled([range.map { settled($0) }]))
                if worker === host { break }
            }
        }
        #expect(try host.append(.finished(unless: { _ in nil }, at: Self.noon)).objection == nil)
        try host.fetch()
        #expect(try bench.file.sharedSince() == nil)
        #expect(try bench.file.figures().outcomes.filter { $0.value > 0 } == [.accepted: 900, .unknown: 100])
    }

    @Test("what is recorded together is one row of the journal")
    func oneRow() throws {
        let bench = try Bench(of: 100)
        func rows() throws -> String? { try bench.bench.sql("SELECT count(*) FROM volley_journal").first?.first ?? nil }
        try bench.host.append(.claimed(0..<100, at: Self.noon))
        let before = try #require(try rows().flatMap { Int($0) })
        try bench.host.append(.settled([(0..<40).map { settled($0) }, (40..<99).map { settled($0) }, [settled(99)]]))
        #expect(try rows() == "\(before + 1)")
    }

    @Test("a worker that beats again is not declared dead")
    func alive() throws {
        let bench = try Bench(of: 10)
        let other = try bench.worker()
        let silent = try #require(try bench.host.beat(answers: [:])?.others.first)
        _ = try other.beat(answers: [0: [.accepted: 3]])
        #expect(try !bench.host.declareDead(silent.number, beat: silent.beat))
        #expect(try bench.host.beat(answers: [:])?.elsewhere == [0: [.accepted: 3]])
    }

    @Test("whoever is claimed by one worker is claimed by no other, even without a lease")
    func overlap() throws {
        let bench = try Bench(of: 100)
        let other = try bench.worker()
        try bench.host.append(.claimed(10..<30, at: Self.noon))
        for range in [0..<11, 29..<31, 15..<20, 0..<100] {
            #expect(throws: StoreRefusal.self) { try other.append(.claimed(range, at: Self.noon)) }
        }
        try other.append(.claimed(30..<100, at: Self.noon))
        #expect(try other.claims().claimed.ranges == [10..<100])
    }

    @Test("a coordinator that dies is followed by another, and only by one")
    func coordinator() throws {
        let bench = try Bench(of: 10)
        let (first, second) = (try bench.worker(), try bench.worker())
        #expect(try !first.becomeCoordinator())
        let silent = try #require(
            try bench.host.beat(answers: [:]).map { _ in try first.beat(answers: [:]) }??.others.first)
        #expect(try first.declareDead(silent.number, beat: silent.beat))
        #expect(try first.beat(answers: [:])?.lacksCoordinator == true)
        #expect(try first.becomeCoordinator())
        #expect(try !second.becomeCoordinator())
        #expect(try first.beat(answers: [:])?.isCoordinator == true)
    }

    @Test(
        "a worker that was declared dead opens no segment, says nothing of a segment, and does not coordinate; nor does another open one than the coordinator"
    )
    func unfenced() throws {
        let bench = try Bench(of: 10)
        let (first, second) = (try bench.worker(), try bench.worker()), segment = bench.file.plan.segments[0]
        func isOpen() throws -> Bool { try #require(try second.beat(answers: [:])).openSegments == [0] }
        let news = try #require(try second.beat(answers: [:]))
        #expect(throws: SendingRevoked(isCancelled: false)) { try first.open(segment) }
        #expect(try !isOpen(), "another conducts")
        for silent in news.others { #expect(try second.declareDead(silent.number, beat: silent.beat)) }
        for dead in [bench.host, first] {
            #expect(throws: SendingRevoked(isCancelled: false)) { try dead.open(segment) }
            #expect(throws: SendingRevoked(isCancelled: false)) {
                try dead.append(.segment(segment, SegmentState(cause: .interrupted)))
            }
            #expect(throws: SendingRevoked(isCancelled: false)) { try dead.lockForSending(isSending: true) }
            #expect(try !dead.becomeCoordinator())
        }
        #expect(try !isOpen() && second.status().segments == [:])
        #expect(try second.beat(answers: [:])?.lacksCoordinator == true)
        #expect(try second.becomeCoordinator())
        try second.open(segment)
        #expect(try isOpen())
        try second.append(.segment(segment, SegmentState(cause: .interrupted)))
        #expect(try second.status().segments == [0: SegmentState(cause: .interrupted)])
    }

    @Test("who was given back is sent to again by another worker, once, with what was recorded")
    func again() throws {
        let bench = try Bench(of: 50)
        let other = try bench.worker()
        try other.append(.claimed(0..<50, at: Self.noon))
        let back = [3, 7, 40].map {
            Settlement(
                recipient: $0, outcome: .unsent, reason: OwnReason.paused.rawValue, attempts: 2, settledAt: Self.noon)
        }
        try other.append(.settled([(0..<50).filter { ![3, 7, 40].contains($0) }.map { settled($0) } + back]))
        #expect(try bench.host.offerAgain(resendsUnknown: [false], closing: [.frequencyCap]) == 3)
        #expect(
            try bench.host.offerAgain(resendsUnknown: [false], closing: [.frequencyCap]) == 0,
            "they are offered already")
        #expect(try !bench.host.isSettled(closing: [.frequencyCap]))
        #expect(try other.leaseAgain(of: 0..<50) == [3..<41])
        #expect(try bench.host.leaseAgain(of: 0..<50) == [])
        var pushes: [String] = []
        try other.forEachPush(in: 3..<41, PushSelection(unsettled: OpenOutcomes(resendsUnknown: false))) {
            pushes.append("\($0.id) \($0.attempts) \($0.mayHaveArrived)")
        }
        #expect(pushes == ["3 2 false", "7 2 false", "40 2 false"])
        #expect(
            try other.append(.reopened([3, 7, 40], resendsUnknown: false, at: .now())).attempts == [3: 2, 7: 2, 40: 2])
        try other.append(.settled([[3, 7, 40].map { settled($0) }]))
        #expect(try bench.host.offerAgain(resendsUnknown: [false], closing: [.frequencyCap]) == 0)
        try other.returnLeases()
        #expect(try bench.host.isSettled(closing: [.frequencyCap]))
    }

    @Test("a push that was refused when it went out again is offered to no worker any more, one without an answer is")
    func refusedAgain() throws {
        let bench = try Bench(of: 10), other = try bench.worker()
        try other.append(.claimed(0..<10, at: Self.noon))
        let unknown = [(2, OwnReason.noAnswer), (5, .refusedAgain)].map {
            Settlement(recipient: $0, outcome: .unknown, own: $1, settledAt: Self.noon)
        }
        try other.append(.settled([(0..<10).filter { ![2, 5].contains($0) }.map { settled($0) } + unknown]))
        let closing = Set(OwnReason.allCases).subtracting(OwnReason.givenBack)
        #expect(
            try bench.host.offerAgain(resendsUnknown: [true], closing: closing) == 0,
            "a worker that is there has them in hand")
        try other.leave()
        #expect(try bench.host.offerAgain(resendsUnknown: [true], closing: closing) == 1)
        let third = try bench.worker()
        #expect(try third.leaseAgain(of: 0..<10) == [2..<3])
    }

    @Test("a run is published once; another plan of its id is refused")
    func publishing() throws {
        let bench = try Bench(of: 2_345)
        #expect(try bench.bench.another().publish(bench.file).run == bench.host.run)
        let folder = try TemporaryFolder()
        let other = try StoreBench.file(Self.plan(3), Self.recipients(3), in: folder.path)
        #expect(throws: Diagnostic.self) { _ = try bench.bench.store.publish(other) }
    }
}
