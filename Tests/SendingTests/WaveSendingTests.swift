import Simulators
import Base
import Campaigns
import Content
import Delivery
import Foundation
import Runs
import Synchronization
import Reports
import Testing

@testable import Workspace
@testable import Sending

/// Whole runs against the built-in simulator; only the clock by which they wait is replaced.
@Suite("Runs that go out in waves")
struct WaveSendingTests {
    /// A clock that moves when something waits by it, and a little whenever it is read.
    private final class TestClock: Sendable {
        private let time: Mutex<Timestamp>
        private let step: Double

        init(_ text: String, step: Double = 0) throws {
            time = Mutex(try #require(Timestamp(text)))
            self.step = step
        }

        var now: Timestamp { time.withLock { $0 } }

        func clock(onRest: @escaping @Sendable (Timestamp) -> Void = { _ in }) -> WaitClock {
            WaitClock(
                now: {
                    self.time.withLock { time in
                        time = time.adding(seconds: self.step)
                        return time
                    }
                },
                rest: { _, _ in
                    onRest(
                        self.time.withLock { time in
                            time = time.adding(seconds: 300)
                            return time
                        })
                })
        }
    }

    /// A planned run in a separate folder, with the server that it is sent to.
    private final class Bench {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("volley-waves-\(UUID().uuidString)")
        let run: RunFile
        let settings: RunSettings
        private let gateway: Gateway
        private let messages: MessageCatalog

        init(
            _ waves: [(devices: Int, zone: String, due: String)], quiet: String? = nil, pace: Pace? = nil,
            planning: Range<Timestamp>? = nil, tokens: String = "aa000000"
        ) throws {
            let place = SourcePosition(file: "c.yaml", line: 1, column: 1)
            var content = MessageContent(position: place)
            content.body = SourceText("Hi", at: place)
            messages = try MessageCatalog(content)
            let writer = try RunWriter(folder: folder.path, id: "run")
            var planned: [RunWave] = []
            for wave in waves {
                let first = planned.last?.ids.upperBound ?? 0
                let due = try #require(Timestamp(wave.due))
                planned.append(RunWave(ids: first..<first + wave.devices, zone: wave.zone, due: due))
                for id in first..<first + wave.devices {
                    let digits = String(id, radix: 16)
                    let token = tokens + String(repeating: "0", count: 56 - digits.count) + digits
                    try writer.put(Recipient(token: Target(normalized: token), fields: []), at: id)
                }
            }
            let audience = planned.last?.ids.upperBound ?? 0
            var schedule = FrozenSchedule(
                Schedule(
                    at: LocalTime("2026-12-01 09:00"), zone: .named(.utc),
                    quietHours: try quiet.map { try QuietHours($0) }), nil)
            schedule.late = .usual
            schedule.planning = planning
            var settings = RunSettings(
                environment: .simulator, topic: "com.example.shop", pushType: .alert,
                renderingRules: MessageCatalog.renderingRules)
            (settings.firstService.pace, settings.schedule) = (pace, schedule)
            self.settings = settings
            run = try writer.finish(
                RunPlan(
                    id: "run", campaign: "c", app: "a", campaignFile: "c.yaml", campaignSource: "",
                    projectFile: "volley.yaml",
                    seed: RunSeed(high: 1, low: 2), fields: [], plannedAt: .now(),
                    planHash: "", rows: audience, audience: audience,
                    skipped: [:], settings: .success(settings), preview: .object([]), waves: planned))
            gateway = try Gateway(settings, SendingContext(), now: .now())
        }

        deinit {
            _ = gateway.close()
            run.close()
            try? FileManager.default.removeItem(at: folder)
        }

        func send(_ clock: WaitClock, from states: Set<RunState> = [.planned], refusing refusal: Diagnostic? = nil)
            throws -> RunEnd
        {
            var stage = RunSender(
                run: run, catalog: run.catalog,
                services: [
                    ServiceAccess(
                        settings: settings, way: .open(gateway.endpoint, gateway.credentials),
                        route: try ProxyRoute(nil, to: settings.firstService.environment))
                ], settings: settings, messages: messages,
                options: RunOptions(context: SendingContext(), observer: .silent, cancellation: try Cancellation()))
            stage.clock = clock
            stage.refusal = { refusal }
            try stage.prepare()
            try run.append(.state(.running, at: .now(), from: states))
            return stage.send()
        }

        /// Requests that the server got, and devices that it accepted.
        func ledger() -> (requests: Int, accepted: Int) {
            let summary = gateway.close()
            return (summary?.requests ?? 0, summary?.accepted ?? 0)
        }
    }

    @Test("each wave is claimed when it is due, days apart, and everybody gets it once")
    func inTime() throws {
        let waves = [
            (devices: 30, zone: "Asia/Tokyo", due: "2026-12-01 00:00"),
            (devices: 50, zone: "Europe/Berlin", due: "2026-12-01 08:00"),
            (devices: 20, zone: "America/New_York", due: "2026-12-03 14:00"),
        ]
        let bench = try Bench(waves)
        #expect(try bench.send(TestClock("2026-11-30 10:00").clock()) == .finished)
        for wave in bench.run.plan.waves {
            let claim = try #require(try bench.run.claims().first(of: wave.ids))
            #expect(claim >= wave.due && claim <= wave.due.adding(seconds: 300))
        }
        #expect(try bench.run.figures().outcomes[.accepted] == 100)
        #expect(bench.ledger() == (100, 100))
    }

    @Test("nothing leaves before a service takes pushes again, as it said to an earlier epoch of the run")
    func held() throws {
        let bench = try Bench([(devices: 30, zone: "Asia/Tokyo", due: "2026-12-01 00:00")])
        let end = Timestamp.now().adding(seconds: 2)
        try bench.run.append(.segment(bench.run.plan.segments[0], SegmentState(heldUntil: end)))
        #expect(try bench.send(TestClock("2026-11-30 10:00").clock()) == .finished)
        var settled: [Timestamp] = []
        try bench.run.forEachResult { _, _, result, _ in settled.append(try #require(result?.settledAt)) }
        #expect(
            settled.count == 30 && settled.allSatisfy { $0 >= end },
            "\(settled.min()?.description ?? "") is before \(end)")
        #expect(bench.ledger() == (30, 30))
    }

    @Test("to whom it has become too late is unsent, says why, and stays so when the run goes on")
    func tooLate() throws {
        let waves = [
            (devices: 30, zone: "Asia/Tokyo", due: "2026-12-01 00:00"),
            (devices: 50, zone: "Europe/Berlin", due: "2026-12-01 08:00"),
        ]
        let bench = try Bench(waves)
        #expect(try bench.send(TestClock("2026-12-01 09:00").clock()) == .finished)
        #expect(try bench.run.figures().outcomes.filter { $0.value > 0 } == [.accepted: 50, .unsent: 30])
        #expect(try bench.run.figures().reasons["TooLate"] == 30)
        #expect(try bench.run.claims().skippedWaves == [0])
        try bench.run.checkIntegrity()
        #expect(try bench.send(TestClock("2026-12-01 09:30").clock(), from: [.finished]) == .finished)
        #expect(try bench.run.figures().reasons["TooLate"] == 30)
        #expect(bench.ledger() == (50, 50))
    }

    @Test("whom planning delayed by more than `late` gets it all the same")
    func longPlanning() throws {
        let waves = [(devices: 30, zone: "Asia/Tokyo", due: "2026-12-01 00:00")]
        let due = try #require(Timestamp("2026-12-01 00:00"))
        for (hours, outcome) in [(4.0, Outcome.accepted), (1, .unsent)] {
            let bench = try Bench(waves, planning: due..<due.adding(seconds: hours * 3600))
            #expect(try bench.send(TestClock("2026-12-01 04:00").clock()) == .finished)
            #expect(try bench.run.figures().outcomes.filter { $0.value > 0 } == [outcome: 30])
        }
    }

    @Test("quiet hours end a wave that is being sent; another goes out meanwhile, and the rest when they end")
    func quietHours() throws {
        let waves = [
            (devices: 400, zone: "Europe/Berlin", due: "2026-12-01 19:55"),
            (devices: 20, zone: "America/New_York", due: "2026-12-01 21:00"),
        ]
        let bench = try Bench(waves, quiet: "21:00-08:00", pace: Pace(pushes: 100, intervalSeconds: 1))
        // Every reading of the clock takes a minute; the first wave would take four seconds.
        #expect(try bench.send(TestClock("2026-12-01 19:54", step: 60).clock()) == .finished)
        #expect(try bench.run.figures().outcomes.filter { $0.value > 0 } == [.accepted: 420])
        // The second wave was claimed long before the rest of the first was sent.
        let second = try #require(try bench.run.claims().first(of: 400..<420))
        #expect(second >= (try #require(Timestamp("2026-12-01 20:00"))))
        #expect(second < (try #require(Timestamp("2026-12-02 06:00"))))
        try bench.run.checkIntegrity()
        let ledger = bench.ledger()
        #expect(ledger.accepted == 420 && ledger.requests == 420)
    }

    @Test("a run that is cancelled while it waits goes on with the next wave, and repeats none")
    func goesOn() throws {
        let waves = [
            (devices: 30, zone: "Asia/Tokyo", due: "2026-12-01 00:00"),
            (devices: 50, zone: "Europe/Berlin", due: "2026-12-01 08:00"),
        ]
        let bench = try Bench(waves)
        let noon = try #require(Timestamp("2026-12-01 04:00"))
        let run = bench.run
        let isAsked = Atomic(false)
        let clock = try TestClock("2026-11-30 23:00").clock { now in
            guard now >= noon, !isAsked.exchange(true, ordering: .relaxed) else { return }
            _ = try? run.append(.ordered(.cancel, at: .now()))
        }
        #expect(try bench.send(clock) == .cancelled)
        #expect(try run.figures().outcomes.filter { $0.value > 0 } == [.accepted: 30, .unsent: 50])
        #expect(try bench.send(TestClock("2026-12-01 06:00").clock(), from: [.cancelled]) == .finished)
        #expect(try run.figures().outcomes.filter { $0.value > 0 } == [.accepted: 80])
        #expect(bench.ledger() == (80, 80))
    }

    @Test("a run that has waited is asked again, and ends with why it may not go on")
    func refusedAfterWaiting() throws {
        let waves = [
            (devices: 30, zone: "Asia/Tokyo", due: "2026-12-01 00:00"),
            (devices: 50, zone: "Europe/Berlin", due: "2026-12-01 08:00"),
        ]
        let bench = try Bench(waves)
        let end = try bench.send(
            TestClock("2026-12-01 00:00").clock(), refusing: Diagnostic("nobody has approved this run"))
        #expect(end == .stopped(.described("nobody has approved this run")))
        #expect(try bench.run.figures().outcomes.filter { $0.value > 0 } == [.accepted: 30, .unsent: 50])
    }

    @Test("waves that are too small for a canary of their own make one together")
    func smallWaves() throws {
        let waves = (0..<8).map { (devices: 45, zone: "Europe/Berlin", due: "2026-12-01 0\($0):00") }
        let bench = try Bench(waves, tokens: "00000400")
        guard case .stopped(let cause) = try bench.send(TestClock("2026-12-01 00:00").clock()) else {
            Issue.record("it did not stop")
            return
        }
        let reason = cause.sentence
        #expect(reason.contains("BadDeviceToken"), "\(reason)")
        #expect(bench.ledger().requests <= 135)
    }
}
