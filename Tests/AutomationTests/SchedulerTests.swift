import Workspace
import Base
import Campaigns
import Foundation
import Runs
import Testing

@testable import Planning
@testable import Sending
@testable import Automation

@Suite("Scheduler")
struct SchedulerTests {
    static let hasPython =
        (try? python(["-c", "import zoneinfo; zoneinfo.ZoneInfo('Europe/Berlin')"], input: "")) != nil

    private static func python(_ arguments: [String], input: String) throws -> String {
        let process = Process()
        let (incoming, outgoing) = (Pipe(), Pipe())
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["python3"] + arguments
        process.environment = ProcessInfo.processInfo.environment.merging(["PYTHONTZPATH": ZoneDatabase.system.folder])
        { $1 }
        (process.standardInput, process.standardOutput, process.standardError) = (
            incoming, outgoing, FileHandle.nullDevice
        )
        try process.run()
        try incoming.fileHandleForWriting.write(contentsOf: Data(input.utf8))
        try incoming.fileHandleForWriting.close()
        let output = String(decoding: outgoing.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        try #require(process.terminationStatus == 0, "the oracle failed")
        return output
    }

    private static func schedule(
        _ rule: String? = nil, at: String? = nil, _ zone: String = "Europe/Berlin", recipient: Bool = false,
        late: LatePolicy = .usual
    ) throws -> Schedule {
        let rules = try ZoneDatabase.system.zone(named: zone)
        return Schedule(
            at: at.flatMap { LocalTime($0) }, zone: recipient ? .recipient(fallback: rules) : .named(rules),
            repeat: try rule.map { try CronRule($0) }, late: late)
    }

    /// Twenty campaigns of all kinds; some are changed during the year, some need approval.
    private static func plans() throws -> [String: ScheduleSimulation.Plan] {
        func plan(_ schedules: Schedule..., approval: Bool = false) -> ScheduleSimulation.Plan {
            ScheduleSimulation.Plan(schedules: schedules, needsApproval: approval)
        }
        return [
            "gap": plan(try schedule("30 2 * * *")),
            "gap-new-york": plan(try schedule("15 2,14 * * *", "America/New_York")),
            "half-hour-gap": plan(try schedule("10 2 * * *", "Australia/Lord_Howe")),
            "kathmandu": plan(
                try schedule("0 9 * * mon,thu", "Asia/Kathmandu"), try schedule("0 10 * * tue", "Asia/Kathmandu")),
            "santiago": plan(try schedule("0 0 * * *", "America/Santiago")),
            "wildcard": plan(try schedule("*/30 1-3 * 3,10,11 *", "America/New_York")),
            "hourly": plan(try schedule("5 * 1-7 4,10 *", "Australia/Lord_Howe")),
            "first-or-monday": plan(try schedule("0 9 1 * mon")),
            "leap-day": plan(try schedule("0 12 28,29 2 *")),
            "new-year": plan(try schedule("59 23 31 12 *", "Pacific/Kiritimati")),
            "once": plan(try schedule(at: "2027-05-01T09:00")),
            "once-in-gap": plan(try schedule(at: "2027-03-28T02:30", late: .send)),
            "once-twice": plan(try schedule(at: "2027-10-31T02:30")),
            "from-then-on": plan(try schedule("0 18 * * fri", at: "2027-06-01T12:00"), try schedule("0 19 * * sat")),
            "where-they-are": plan(try schedule("0 9 * * *", recipient: true)),
            "where-they-are-weekly": plan(
                try schedule("30 20 * * sun", "Asia/Shanghai", recipient: true, late: .skip(afterSeconds: 3600))),
            "approved": plan(
                try schedule("0 8 * * mon-fri", "America/New_York", late: .skip(afterSeconds: 2 * 3600)), approval: true
            ),
            "approved-late": plan(try schedule("0 8 1,15 * *", late: .send), approval: true),
            "never-late": plan(try schedule("45 6 * * *", "Europe/London", late: .skip(afterSeconds: 60))),
            "whenever": plan(
                try schedule("20 4 * * *", "UTC", late: .send), try schedule("20 5 * * *", "UTC", late: .send)),
        ]
    }

    private static func oracle(
        _ plans: [String: ScheduleSimulation.Plan], from start: Int64, through end: Int64
    ) throws -> [String: [String: ScheduleSimulation.Time]] {
        let schedules = plans.values.flatMap(\.schedules)
        let lines = schedules.map { schedule in
            [
                schedule.timesInWords, schedule.zone.fallback.name, schedule.zone.isRecipient ? "recipient" : "named",
                schedule.at?.description ?? "-", schedule.repeat?.description ?? "-",
            ].joined(separator: "\t")
        }
        let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("Fixtures/schedule_oracle.py").path
        var oracle: [String: [String: ScheduleSimulation.Time]] = [:]
        for line in try python([script, "\(start)", "\(end)"], input: lines.joined(separator: "\n")).split(
            separator: "\n")
        {
            let cells = line.split(separator: "\t").map(String.init)
            oracle[cells[0], default: [:]][cells[1]] = .init(begins: Int64(cells[2]) ?? 0, ends: Int64(cells[3]) ?? 0)
        }
        return oracle
    }

    @Test(
        "through a year of kills, mistakes, changed files and clocks: every time fires once or is skipped for a reason, as Python's zoneinfo says",
        .enabled(if: hasPython, "python3 with zoneinfo is needed"))
    func year() throws {
        let start: Int64 = 1_798_758_000, end = start + 366 * 86_400  // 2026-12-31T23:00Z
        let plans = try Self.plans()
        let oracle = try Self.oracle(plans, from: start, through: end + 86_400)
        #expect(oracle.values.reduce(0) { $0 + $1.count } > 3_000)
        for seed in 0..<UInt64(ProcessInfo.processInfo.environment["VOLLEY_SCHEDULE_SEEDS"].flatMap { Int($0) } ?? 2) {
            var simulation = ScheduleSimulation(seed: seed, start: start, end: end, plans: plans, oracle: oracle)
            simulation.run()
            let (expected, missing) = simulation.judge()
            #expect(simulation.failures.isEmpty, "seed \(seed)")
            #expect(missing.isEmpty, "seed \(seed)")
            #expect(simulation.unapproved == 0, "seed \(seed)")
            // A simulation in which nothing happens proves nothing.
            #expect(
                expected > 1_500 && simulation.sends > 1_000,
                "seed \(seed): \(expected) times, \(simulation.sends) sent")
            #expect(
                simulation.sentAhead > 20 && simulation.voids > 20,
                "seed \(seed): \(simulation.sentAhead) sent ahead, \(simulation.voids) void")
            #expect(
                simulation.kills > 20 && simulation.skips > 10 && simulation.resumes > 5 && simulation.retries > 10,
                "seed \(seed)")
        }
    }

    // MARK: - Rules

    /// A scheduler with one campaign, and the results of its times.
    private struct Bench {
        var scheduler = Scheduler(scheduledRuns: [], campaigns: []) { "\($0)-\($1.compact)" }
        var saved: [ScheduledRun.Key: ScheduledRun] = [:]
        var records: [String: ScheduledCampaign] = [:]
        var ahead: [ScheduledRun.Key: AdvanceApproval] = [:]
        var told: [NoticeEvent] = []
        var planned: [String] = [], sent: [String] = [], withdrawn: [String] = []

        mutating func perform(_ actions: [Scheduler.Action]) {
            for action in actions {
                switch action {
                case .save(let scheduledRuns, let campaigns):
                    for scheduledRun in scheduledRuns { saved[scheduledRun.key] = scheduledRun }
                    for campaign in campaigns { records[campaign.name] = campaign }
                case .plan(let scheduledRun): planned.append(scheduledRun.key.occurrence)
                case .send(let scheduledRun): sent.append(scheduledRun.key.occurrence)
                case .withdraw(let scheduledRun): withdrawn.append(scheduledRun.key.occurrence)
                case .notify(let event, _): told.append(event)
                case .examine: break
                case .approve(let approval): ahead[approval.key] = approval
                case .withdrawApproval(let key): ahead[key] = nil
                }
            }
        }

        mutating func read(_ schedule: Schedule, name: String = "a", file: String = "/a.yaml", at time: String) {
            perform(
                scheduler.campaignsRead(
                    [.init(name: name, app: "shop", file: file, schedule: schedule)],
                    at: Timestamp(time) ?? .distantPast))
        }

        mutating func tick(_ time: String) { perform(scheduler.timePassed(to: Timestamp(time) ?? .distantPast)) }
        func state(_ occurrence: String, _ name: String = "a") -> ScheduledRun.State? {
            saved[.init(campaign: name, occurrence: occurrence)]?.state
        }
    }

    @Test("a repeating campaign that is new or was changed begins with the times to come")
    func begins() throws {
        var bench = Bench()
        bench.read(try Self.schedule("0 9 * * *", "UTC"), at: "2026-12-01T09:30:00Z")
        bench.tick("2026-12-01T09:30:01Z")
        bench.tick("2026-12-02T09:00:00Z")
        bench.read(try Self.schedule("30 8 * * *", "UTC"), at: "2026-12-02T09:10:00Z")
        bench.tick("2026-12-02T09:10:01Z")
        bench.tick("2026-12-03T08:30:00Z")
        #expect(bench.planned == ["2026-12-02T09:00", "2026-12-03T08:30"])
        #expect(bench.told.isEmpty)
    }

    @Test("a single time that is past when its campaign appears follows 'late', and so does the first of several")
    func appears() throws {
        for rule in [nil, "0 9 * * *"] {
            var bench = Bench()
            bench.read(try Self.schedule(rule, at: "2026-12-01T09:00", "UTC"), at: "2026-12-01T10:59:00Z")
            bench.tick("2026-12-01T10:59:00Z")
            #expect(bench.planned == ["2026-12-01T09:00"])
        }
        var late = Bench()
        late.read(try Self.schedule(at: "2026-12-01T09:00", "UTC"), at: "2026-12-01T11:01:00Z")
        late.tick("2026-12-01T11:01:00Z")
        #expect(late.planned.isEmpty && late.state("2026-12-01T09:00") == .skipped && late.told == [.skipped])
    }

    @Test(
        "a coming time can be approved, and that taken back, until it is due; a plan that is approved ahead does not wait"
    )
    func approvedAhead() throws {
        var bench = Bench()
        bench.read(try Self.schedule("0 9 * * *", "UTC"), at: "2026-12-01T08:00:00Z")
        let now = try #require(Timestamp("2026-12-01T08:10:00Z")), due = try #require(Timestamp("2026-12-01T09:00:05Z"))
        func approval(_ occurrence: String, most: Int = 10) -> AdvanceApproval {
            AdvanceApproval(
                key: .init(campaign: "a", occurrence: occurrence), digest: "d", mostDevices: most, name: "anna",
                approvedAt: now)
        }
        func approve(_ approval: AdvanceApproval, at now: Timestamp) -> OrderRefusal? {
            let change = bench.scheduler.approve(approval, at: now)
            bench.perform(change.actions)
            return change.refusal
        }
        #expect(
            approve(approval("2026-12-01T09:00"), at: now) == nil
                && approve(approval("2026-12-01T09:00", most: 20), at: now) == nil)
        #expect(bench.ahead[Self.nine]?.mostDevices == 20, "the last word counts")
        #expect(
            bench.scheduler.approve(approval("2026-12-01T09:00", most: 20), at: now) == .init(),
            "a second time changes nothing")
        #expect(
            approve(approval("2026-12-01T09:30"), at: now) == .noSuchTime
                && approve(approval("soon"), at: now) == .noSuchTime)
        let third = ScheduledRun.Key(campaign: "a", occurrence: "2026-12-03T09:00")
        bench.perform(bench.scheduler.leaveOut(third, by: "anna", at: now).actions)
        #expect(approve(approval("2026-12-03T09:00"), at: now) == .noSuchTime, "it was left out")
        #expect(approve(approval("2026-12-02T09:00"), at: now) == nil)
        let second = ScheduledRun.Key(campaign: "a", occurrence: "2026-12-02T09:00")
        bench.perform(bench.scheduler.withdrawApproval(of: second, at: now).actions)
        #expect(bench.ahead.keys.sorted { $0.occurrence < $1.occurrence } == [Self.nine])
        #expect(bench.scheduler.withdrawApproval(of: second, at: now) == .init())
        bench.tick("2026-12-01T09:00:00Z")
        #expect(approve(approval("2026-12-01T09:00"), at: due) == .timeHasCome(run: "a-20261201-090000"))
        #expect(
            bench.scheduler.withdrawApproval(of: Self.nine, at: due).refusal == .timeHasCome(run: "a-20261201-090000"))
        var waits = bench
        let void = ScheduleProblem.approvalVoid(by: "anna", .tooManyDevices(30, most: 20))
        waits.perform(waits.scheduler.planned(Self.nine, .void(void), at: due))
        waits.perform(waits.scheduler.found(Self.nine, .plan(.missing), at: due.adding(seconds: 1)))
        #expect(
            waits.saved[Self.nine]?.state == .waiting && waits.saved[Self.nine]?.problem == void,
            "it says so as long as it waits")
        #expect(waits.told == [.skipped, .approvalNeeded] && waits.sent.isEmpty)
        bench.perform(bench.scheduler.planned(Self.nine, .given, at: due))
        #expect(bench.sent == ["2026-12-01T09:00"] && bench.told == [.skipped])
    }

    @Test("a time that a person leaves out does not fire, whatever is restarted or renamed; the next one does")
    func leftOut() throws {
        var bench = Bench()
        let schedule = try Self.schedule("0 9 * * *", "UTC")
        bench.read(schedule, at: "2026-12-01T08:00:00Z")
        let key = ScheduledRun.Key(campaign: "a", occurrence: "2026-12-02T09:00")
        let now = try #require(Timestamp("2026-12-01T08:10:00Z"))
        func leaveOut(_ occurrence: String, _ name: String = "a", at now: Timestamp) -> OrderRefusal? {
            let leaving = bench.scheduler.leaveOut(.init(campaign: name, occurrence: occurrence), by: "Anna", at: now)
            bench.perform(leaving.actions)
            return leaving.refusal
        }
        #expect(leaveOut("2026-12-02T09:00", at: now) == nil)
        #expect(
            bench.saved[key]?.problem == .leftOut(by: "Anna") && bench.state(key.occurrence) == .skipped
                && bench.told == [.skipped])
        #expect(bench.scheduler.leaveOut(key, by: "Anna", at: now) == .init(), "a second time changes nothing")
        #expect(leaveOut("2026-12-02T09:30", at: now) == .noSuchTime)
        #expect(leaveOut("2026-12-02T09:00", "b", at: now) == .noSuchTime)
        #expect(leaveOut("next week", at: now) == .noSuchTime)
        bench.tick("2026-12-01T09:00:00Z")
        #expect(leaveOut("2026-12-01T09:00", at: now) == .timeHasCome(run: "a-20261201-090000"))
        #expect(leaveOut("2026-11-30T09:00", at: now) == .timeHasCome(run: nil))
        #expect(
            bench.scheduler.nextTime(of: "a", after: try #require(Timestamp("2026-12-01T09:00:00Z")))?.name
                == "2026-12-03T09:00")
        // Another process, to which the file has another name.
        bench.scheduler = Scheduler(scheduledRuns: Array(bench.saved.values), campaigns: Array(bench.records.values)) {
            "\($0)-\($1.compact)"
        }
        bench.read(schedule, at: "2026-12-01T20:00:00Z")
        bench.tick("2026-12-02T09:00:00Z")
        #expect(bench.planned == ["2026-12-01T09:00"])
        bench.tick("2026-12-03T09:00:00Z")
        #expect(bench.planned == ["2026-12-01T09:00", "2026-12-03T09:00"])
        #expect(bench.state(key.occurrence) == .skipped)
    }

    @Test("of several missed times only the last is sent, and the others are on record")
    func missed() throws {
        var bench = Bench()
        bench.read(try Self.schedule("0 * * * *", "UTC", late: .send), at: "2026-12-01T08:30:00Z")
        bench.tick("2026-12-01T12:10:00Z")
        #expect(bench.planned == ["2026-12-01T12:00"])
        #expect(
            bench.saved.values.filter { $0.state == .skipped }.map(\.key.occurrence).sorted()
                == ["09", "10", "11"].map { "2026-12-01T\($0):00" })
    }

    @Test("a campaign with another name in the same file is not sent again for the same time, and that is on record")
    func renamed() throws {
        var bench = Bench()
        let schedule = try Self.schedule(at: "2026-12-01T09:00", "UTC")
        bench.read(schedule, at: "2026-12-01T08:00:00Z")
        bench.tick("2026-12-01T09:00:00Z")
        bench.read(schedule, name: "b", at: "2026-12-01T09:10:00Z")
        bench.tick("2026-12-01T09:10:00Z")
        #expect(bench.planned == ["2026-12-01T09:00"] && bench.state("2026-12-01T09:00", "b") == .skipped)
    }

    @Test("a clock that was far ahead for a while neither repeats a time nor silences those to come")
    func wrongClock() throws {
        var bench = Bench()
        bench.read(try Self.schedule("0 9 * * *", "UTC"), at: "2026-12-01T08:00:00Z")
        bench.tick("2026-12-01T09:00:00Z")
        bench.tick("2026-12-03T09:00:00Z")
        bench.tick("2036-12-01T09:00:00Z")
        for day in 1...4 { bench.tick("2026-12-0\(day)T10:00:00Z") }
        #expect(bench.planned == ["2026-12-01T09:00", "2026-12-03T09:00", "2036-12-01T09:00", "2026-12-04T09:00"])
        // The earlier results stay on record.
        #expect(bench.state("2026-12-02T09:00") == .skipped && bench.state("2026-12-03T09:00") == .planning)
    }

    @Test("quiet hours do not count as lateness")
    func quiet() throws {
        var schedule = try Self.schedule(at: "2026-12-01T21:30", "UTC")
        schedule.quietHours = try QuietHours("21:00-08:00")
        for (time, isSent) in [("2026-12-02T09:59:00Z", true), ("2026-12-02T10:01:00Z", false)] {
            var bench = Bench()
            bench.read(schedule, at: time)
            bench.tick(time)
            #expect(bench.planned.isEmpty != isSent)
        }
    }

    @Test("while a file has mistakes its times wait, and are skipped on record when they have waited too long")
    func mistakes() throws {
        var bench = Bench()
        bench.read(try Self.schedule("0 9,12 * * *", "UTC"), at: "2026-12-01T08:00:00Z")
        bench.perform(
            bench.scheduler.campaignsRead(
                [], unreadable: ["/a.yaml"], at: try #require(Timestamp("2026-12-01T08:30:00Z"))))
        bench.tick("2026-12-01T09:00:00Z")
        bench.tick("2026-12-01T11:00:01Z")
        #expect(bench.planned.isEmpty && bench.state("2026-12-01T09:00") == .skipped && bench.told == [.skipped])
        bench.tick("2026-12-01T12:00:00Z")
        bench.read(try Self.schedule("0 9,12 * * *", "UTC"), at: "2026-12-01T12:30:00Z")
        bench.tick("2026-12-01T12:30:01Z")
        #expect(bench.planned == ["2026-12-01T12:00"])
    }

    @Test("a plan that nobody approved is withdrawn when it is too late, or when the next time comes")
    func approval() throws {
        var bench = Bench()
        let key = ScheduledRun.Key(campaign: "a", occurrence: "2026-12-01T09:00")
        bench.read(try Self.schedule("0 9,10 * * *", "UTC"), at: "2026-12-01T08:00:00Z")
        bench.tick("2026-12-01T09:00:00Z")
        let early = try #require(Timestamp("2026-12-01T09:01:00Z"))
        bench.perform(bench.scheduler.planned(key, .missing, at: early))
        #expect(bench.state("2026-12-01T09:00") == .waiting && bench.told == [.approvalNeeded])
        bench.tick("2026-12-01T10:00:00Z")
        #expect(bench.withdrawn == ["2026-12-01T09:00"] && bench.planned == ["2026-12-01T09:00", "2026-12-01T10:00"])
        // A later answer changes nothing.
        bench.perform(bench.scheduler.found(key, .plan(.given), at: early))
        #expect(bench.sent.isEmpty)
        let last = ScheduledRun.Key(campaign: "a", occurrence: "2026-12-01T10:00")
        bench.perform(bench.scheduler.planned(last, .missing, at: early))
        bench.perform(bench.scheduler.found(last, .plan(.missing), at: try #require(Timestamp("2026-12-01T12:01:00Z"))))
        #expect(
            bench.withdrawn.last == "2026-12-01T10:00" && bench.state("2026-12-01T10:00") == .skipped
                && bench.sent.isEmpty)
    }

    @Test(
        "a single time that is changed after it fired is sent, also where it lies before; the same name never is again")
    func editedTime() throws {
        var bench = Bench()
        bench.read(try Self.schedule(at: "2026-12-01T09:00", "UTC"), at: "2026-12-01T08:00:00Z")
        bench.tick("2026-12-01T09:00:00Z")
        for (at, zone) in [
            ("2026-12-01T09:29", "UTC"), ("2026-12-01T08:30", "UTC"), ("2026-12-01T09:00", "Europe/London"),
        ] {
            bench.read(try Self.schedule(at: at, zone), at: "2026-12-01T09:30:00Z")
            bench.tick("2026-12-01T09:30:00Z")
        }
        #expect(bench.planned == ["2026-12-01T09:00", "2026-12-01T09:29", "2026-12-01T08:30"])
        bench.read(try Self.schedule(at: "2026-12-01T07:00", "UTC"), at: "2026-12-01T09:30:00Z")
        bench.tick("2026-12-01T09:30:00Z")
        #expect(bench.state("2026-12-01T07:00") == .skipped && bench.told == [.skipped])
    }

    @Test("a file that was away for a while loses no time of its campaign, in one process or over a restart")
    func away() throws {
        for isRestarted in [false, true] {
            var bench = Bench()
            let schedule = try Self.schedule("0 * * * *", "UTC")
            bench.read(schedule, at: "2026-12-01T08:30:00Z")
            bench.tick("2026-12-01T08:30:00Z")
            bench.perform(bench.scheduler.campaignsRead([], at: try #require(Timestamp("2026-12-01T08:59:00Z"))))
            bench.tick("2026-12-01T09:00:00Z")
            #expect(bench.planned.isEmpty)
            if isRestarted {
                let records = Array(bench.records.values)
                bench.scheduler = Scheduler(scheduledRuns: [], campaigns: records) { "\($0)-\($1.compact)" }
            }
            bench.read(schedule, at: "2026-12-01T09:01:00Z")
            bench.tick("2026-12-01T09:01:00Z")
            #expect(bench.planned == ["2026-12-01T09:00"])
        }
    }

    @Test(
        "what is planned again is planned from the file that the campaign has by now, and not while that has mistakes")
    func movedFile() throws {
        var bench = Bench()
        let schedule = try Self.schedule(at: "2026-12-01T09:00", "UTC")
        bench.read(schedule, at: "2026-12-01T08:00:00Z")
        bench.tick("2026-12-01T09:00:00Z")
        bench.perform(
            bench.scheduler.failed(
                Self.nine, because: .described("no file"), at: try #require(Timestamp("2026-12-01T09:00:01Z"))))
        bench.read(schedule, file: "/b.yaml", at: "2026-12-01T09:00:30Z")
        let later = try #require(Timestamp("2026-12-01T09:02:00Z"))
        bench.perform(bench.scheduler.found(Self.nine, .nothing, at: later))
        #expect(bench.planned.count == 2 && bench.saved[Self.nine]?.file == "/b.yaml")
        #expect(bench.scheduler.open[Self.nine]?.scheduledRun.file == "/b.yaml")
        bench.perform(bench.scheduler.failed(Self.nine, because: .described("no file"), at: later))
        bench.perform(bench.scheduler.campaignsRead([], unreadable: ["/b.yaml"], at: later))
        bench.perform(bench.scheduler.found(Self.nine, .nothing, at: try #require(Timestamp("2026-12-01T09:10:00Z"))))
        #expect(bench.planned.count == 2 && bench.state("2026-12-01T09:00") == .planning)
    }

    private static let nine = ScheduledRun.Key(campaign: "a", occurrence: "2026-12-01T09:00")

    /// A campaign at 09:00 whose plan waits for approval, or is being sent.
    private func bench(approval: Bool) throws -> Bench {
        var bench = Bench()
        bench.read(try Self.schedule(at: "2026-12-01T09:00", "UTC"), at: "2026-12-01T08:00:00Z")
        bench.tick("2026-12-01T09:00:00Z")
        bench.perform(
            bench.scheduler.planned(
                Self.nine, approval ? .missing : .given, at: try #require(Timestamp("2026-12-01T09:00:05Z"))))
        return bench
    }

    @Test("a run that cannot be read for a moment is looked at again: what waits for approval is sent all the same")
    func unreadable() throws {
        var bench = try bench(approval: true)
        bench.perform(
            bench.scheduler.found(
                Self.nine, .unreadable("it is locked"), at: try #require(Timestamp("2026-12-01T09:10:00Z"))))
        #expect(
            bench.state("2026-12-01T09:00") == .waiting && bench.saved[Self.nine]?.problem == .described("it is locked")
        )
        #expect(bench.told == [.approvalNeeded, .failed])
        #expect(
            bench.scheduler.timePassed(to: try #require(Timestamp("2026-12-01T09:11:00Z"))).contains {
                if case .examine = $0 { true } else { false }
            })
        bench.perform(
            bench.scheduler.found(Self.nine, .plan(.missing), at: try #require(Timestamp("2026-12-01T09:11:00Z"))))
        #expect(bench.state("2026-12-01T09:00") == .waiting && bench.saved[Self.nine].map { $0.problem == nil } == true)
        bench.perform(
            bench.scheduler.found(Self.nine, .plan(.given), at: try #require(Timestamp("2026-12-01T09:12:00Z"))))
        #expect(bench.sent == ["2026-12-01T09:00"] && bench.state("2026-12-01T09:00") == .sending)
        // Until it is too late.
        var late = try self.bench(approval: true)
        late.perform(
            late.scheduler.found(
                Self.nine, .unreadable("it is locked"), at: try #require(Timestamp("2026-12-01T11:10:00Z"))))
        #expect(late.state("2026-12-01T09:00") == .skipped && late.told == [.approvalNeeded, .skipped])
    }

    @Test("of a run that is found stopped, or whose file is gone, people are told")
    func foundStopped() throws {
        for finding in [Scheduler.Finding.nothing, .ended(.stopped, .described("most tokens are refused"))] {
            var bench = try bench(approval: false)
            bench.perform(
                bench.scheduler.found(Self.nine, finding, at: try #require(Timestamp("2026-12-01T09:10:00Z"))))
            #expect(bench.state("2026-12-01T09:00") == .stopped && bench.told == [.stopped])
        }
    }

    @Test("a file that is no run is looked at again, not taken for an end")
    func damagedRun() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("volley-firing-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try Data("not a run".utf8).write(to: folder.appendingPathComponent("r.sqlite"))
        let scheduledRun = ScheduledRun(
            key: Self.nine, file: "/a.yaml", run: "r", state: .sending, begins: .distantPast, ends: .distantPast,
            changedAt: .distantPast)
        let finding = try ScheduledRunWork(
            catalog: RunsFolder(folder.path), choice: .init(),
            options: ScheduleOptions(observer: .silent, cancellation: Cancellation()),
            heartbeats: Heartbeats(), rights: { _ in nil }
        )
        .examine(scheduledRun)
        guard case .unreadable(let reason) = finding else {
            Issue.record("found \(finding)")
            return
        }
        #expect(reason.contains("run file"))
    }

    @Test(
        "sending that has begun is tried again for as long as it takes; what was not begun is given up when it is too late"
    )
    func goesOn() throws {
        for finding in [Scheduler.Finding.unfinished, .plan(.given)] {
            // The state that a process finds when it was started after a kill.
            var bench = try bench(approval: false)
            let known = try #require(bench.saved[Self.nine])
            bench.scheduler = Scheduler(scheduledRuns: [known], campaigns: []) { "\($0)-\($1.compact)" }
            bench.read(try Self.schedule(at: "2026-12-01T09:00", "UTC"), at: "2026-12-01T10:59:00Z")
            bench.perform(
                bench.scheduler.found(Self.nine, finding, at: try #require(Timestamp("2026-12-01T10:59:30Z"))))
            bench.perform(
                bench.scheduler.failed(
                    Self.nine, because: .described("no key"), at: try #require(Timestamp("2026-12-01T10:59:40Z"))))
            #expect(bench.sent.count == 2 && bench.told == [.failed])
            bench.tick("2026-12-01T12:00:00Z")
            #expect(bench.state("2026-12-01T09:00") == .sending)
            bench.perform(
                bench.scheduler.found(Self.nine, finding, at: try #require(Timestamp("2026-12-01T12:00:00Z"))))
            guard finding == .unfinished else {
                #expect(
                    bench.sent.count == 2 && bench.state("2026-12-01T09:00") == .skipped && bench.withdrawn.count == 1)
                continue
            }
            #expect(
                bench.sent.count == 3 && bench.state("2026-12-01T09:00") == .sending
                    && bench.saved[Self.nine].map { $0.problem == nil } == true)
        }
    }

    @Test(
        "a time that a person has taken over is left alone; a paused run waits",
        arguments: [Scheduler.Finding.taken, .paused])
    func handedOver(finding: Scheduler.Finding) throws {
        let bench = try bench(approval: false)
        let known = try #require(bench.saved[Self.nine])
        var scheduler = Scheduler(scheduledRuns: [known], campaigns: []) { "\($0)-\($1.compact)" }
        #expect(scheduler.found(Self.nine, finding, at: try #require(Timestamp("2026-12-01T10:59:30Z"))).isEmpty)
        #expect(scheduler.open[Self.nine]?.scheduledRun == (finding == .taken ? nil : known))
    }

    @Test(
        "what cannot be planned is told once, tried again after longer and longer pauses, and given up when it is too late"
    )
    func failing() throws {
        var bench = Bench()
        let key = ScheduledRun.Key(campaign: "a", occurrence: "2026-12-01T09:00")
        bench.read(try Self.schedule(at: "2026-12-01T09:00", "UTC"), at: "2026-12-01T08:00:00Z")
        bench.tick("2026-12-01T09:00:00Z")
        var now = try #require(Timestamp("2026-12-01T09:00:00Z")).epochSeconds
        var tries: [Int64] = []
        while bench.state(key.occurrence) == .planning {
            bench.perform(bench.scheduler.failed(key, because: .described("no file"), at: Timestamp(epochSeconds: now)))
            let failedAt = now
            var isAsked = false
            while !isAsked, bench.state(key.occurrence) == .planning {
                now += 1
                let actions = bench.scheduler.timePassed(to: Timestamp(epochSeconds: now))
                isAsked = actions.contains { if case .examine = $0 { true } else { false } }
                bench.perform(actions)
            }
            if isAsked { tries.append(now - failedAt) }
        }
        #expect(tries.prefix(6) == [60, 120, 240, 480, 900, 900])
        #expect(tries.reduce(0, +) <= 7200)
        #expect(bench.told == [.failed, .skipped])
    }

    @Test(
        "what is planned from a file that may still be being written is tried again at once, tells nobody, and is given up when it is too late"
    )
    func postponed() throws {
        var bench = Bench()
        let key = ScheduledRun.Key(campaign: "a", occurrence: "2026-12-01T09:00")
        bench.read(
            try Self.schedule(at: "2026-12-01T09:00", "UTC", late: .skip(afterSeconds: 60)), at: "2026-12-01T08:00:00Z")
        bench.tick("2026-12-01T09:00:00Z")
        var now = try #require(Timestamp("2026-12-01T09:00:00Z")).epochSeconds
        var tries = 0
        while bench.state(key.occurrence) == .planning {
            bench.perform(
                bench.scheduler.postponed(
                    key, because: .described("devices.csv may still be being written"), at: Timestamp(epochSeconds: now)
                ))
            let postponedAt = now
            var isAsked = false
            while !isAsked, bench.state(key.occurrence) == .planning {
                now += 1
                let actions = bench.scheduler.timePassed(to: Timestamp(epochSeconds: now))
                isAsked = actions.contains { if case .examine = $0 { true } else { false } }
                bench.perform(actions)
            }
            if isAsked {
                #expect(now - postponedAt == 2)
                tries += 1
            }
        }
        #expect(tries == 30 && bench.told == [.skipped])
        #expect(bench.state(key.occurrence) == .skipped)
    }
}
