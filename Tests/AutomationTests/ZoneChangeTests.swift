@testable import Base
import Campaigns
import Runs
import TestSupport
import Testing

@testable import Automation
@testable import Planning
@testable import Sending

/// A scheduler with one campaign, whose zone gets other rules. The record is a dictionary, the
/// clock a number; plans are made and sent at once.
private struct ZoneChangeWorld {
    var now: Timestamp
    /// The rules in the database, which the scheduler has only after `read`.
    var rules: PosixZone
    let makeSchedule: (ZoneRules) -> Schedule
    private var scheduler: Scheduler
    private(set) var saved: [ScheduledRun.Key: ScheduledRun] = [:]
    private var records: [String: ScheduledCampaign] = [:]
    private(set) var sent: [String] = []
    private(set) var waited: Set<String> = []
    private(set) var failures: [String] = []

    init(at now: String, _ rules: String, _ makeSchedule: @escaping (ZoneRules) -> Schedule) throws {
        self.now = try #require(Timestamp(now))
        self.rules = try #require(PosixZone(rules))
        self.makeSchedule = makeSchedule
        scheduler = Self.scheduler([], [])
        read()
    }

    private static func scheduler(_ saved: [ScheduledRun], _ records: [ScheduledCampaign]) -> Scheduler {
        Scheduler(scheduledRuns: saved, campaigns: records) { name, now in "\(now.compact)-\(name)" }
    }

    var schedule: Schedule { makeSchedule(ZoneRules(name: "Test/Zone", rules)) }

    mutating func read() {
        let campaign = Scheduler.Campaign(name: "c", app: "shop", file: "/c.yaml", schedule: schedule)
        perform(scheduler.campaignsRead([campaign], at: now))
    }

    mutating func restart() {
        scheduler = Self.scheduler(Array(saved.values), Array(records.values))
        read()
    }

    /// The clock continues, step by step, as in a process that is awake.
    mutating func pass(minutes: Int, step: Int = 1) {
        for _ in 0..<minutes / step {
            now = now.adding(seconds: Double(step) * 60)
            look()
        }
    }

    mutating func look() { perform(scheduler.timePassed(to: now)) }

    mutating func change(_ rules: PosixZone) { self.rules = rules }

    private mutating func perform(_ actions: [Scheduler.Action]) {
        for action in actions {
            switch action {
            case .save(let runs, let campaigns):
                for run in runs {
                    if let old = saved[run.key], !old.state.isOpen {
                        failures.append("\(run.key) was \(old.state), and is \(run.state)")
                    }
                    saved[run.key] = run
                }
                for campaign in campaigns { records[campaign.name] = campaign }
            case .plan(let run): plan(run)
            case .examine(let run): perform(scheduler.found(run.key, .nothing, at: now))
            case .send(let run):
                sent.append(run.key.occurrence)
                perform(scheduler.ended(run.key, .finished, because: nil, at: now))
            default: break
            }
        }
    }

    /// As in the process, from the present rules of the database.
    private mutating func plan(_ run: ScheduledRun) {
        guard let time = schedule.occurrence(named: run.key.occurrence) else {
            return failures.append("\(run.key) is no time any more")
        }
        if Scheduler.isStillToCome(time, of: run, at: now) {
            waited.insert(run.key.occurrence)
            return perform(scheduler.moved(run.key, to: time, at: now))
        }
        if time.begins > now { failures.append("\(run.key) was planned at \(now), before \(time.begins)") }
        perform(scheduler.planned(run.key, .given, at: now))
    }

    func state(_ occurrence: String) -> ScheduledRun.State? {
        saved[.init(campaign: "c", occurrence: occurrence)]?.state
    }
}

@Suite("Rules of a zone that change under a schedule")
struct ZoneChangeTests {
    private static func repeating(_ rule: String, late: LatePolicy = .usual) throws -> (ZoneRules) -> Schedule {
        let rule = try CronRule(rule)
        return { Schedule(zone: .named($0), repeat: rule, late: late) }
    }

    private static func once(_ at: String, late: LatePolicy = .usual) -> (ZoneRules) -> Schedule {
        { Schedule(at: LocalTime(at), zone: .named($0), late: late) }
    }

    private func rules(_ text: String) throws -> PosixZone { try #require(PosixZone(text)) }

    @Test(
        "a time that comes later by the new rules is sent then, whether or not they were read before it was due",
        arguments: [true, false])
    func later(isRead: Bool) throws {
        var world = try ZoneChangeWorld(at: "2026-12-01T05:50:00Z", "AAA-3", Self.once("2026-12-01T09:00"))
        world.change(try rules("AAA-2"))
        if isRead { world.read() }
        world.pass(minutes: 30)
        #expect(world.sent.isEmpty && world.state("2026-12-01T09:00") == (isRead ? nil : .planning))
        world.read()
        world.pass(minutes: 39)
        #expect(world.sent.isEmpty)
        world.pass(minutes: 1)
        #expect(world.sent == ["2026-12-01T09:00"] && world.failures.isEmpty, "at 07:00 UTC, to the minute")
    }

    @Test(
        "what waits for a later moment is kept over a restart, and sent at once when rules make its moment past again")
    func laterAndBack() throws {
        var world = try ZoneChangeWorld(at: "2026-12-01T05:59:00Z", "AAA-3", Self.once("2026-12-01T09:00"))
        world.change(try rules("AAA-2"))
        world.pass(minutes: 5)
        world.restart()
        world.pass(minutes: 5)
        #expect(world.sent.isEmpty && world.waited == ["2026-12-01T09:00"])
        world.change(try rules("AAA-3"))
        world.read()
        world.look()
        #expect(world.sent == ["2026-12-01T09:00"] && world.failures.isEmpty)
    }

    @Test("a time that is past by the new rules follows 'late'", arguments: [true, false], [true, false])
    func earlier(isInTime: Bool, restarts: Bool) throws {
        let late: LatePolicy = isInTime ? .skip(afterSeconds: 3600) : .skip(afterSeconds: 60)
        for schedule in [Self.once("2026-12-01T09:00", late: late), try Self.repeating("0 9 * * *", late: late)] {
            var world = try ZoneChangeWorld(at: "2026-12-01T05:30:00Z", "AAA-3", schedule)
            world.look()
            world.change(try rules("AAA-4"))
            // If a campaign's first time is in the future, a new process cannot know the rules that
            // it was computed with.
            if restarts, schedule(.utc).repeat == nil { world.restart() } else { world.read() }
            world.look()
            #expect(world.sent == (isInTime ? ["2026-12-01T09:00"] : []) && world.failures.isEmpty)
            #expect(world.state("2026-12-01T09:00") == (isInTime ? .finished : .skipped))
            world.pass(minutes: 120)
            #expect(world.sent.count == (isInTime ? 1 : 0))
        }
    }

    @Test(
        "of a repeating campaign no time is lost and none comes twice, in one process and over a restart",
        arguments: [true, false])
    func hourly(restarts: Bool) throws {
        for (other, missed) in [("AAA-5", ["2026-12-01T13:00", "2026-12-01T14:00"]), ("AAA-2", []), ("AAA+9", [])] {
            var world = try ZoneChangeWorld(
                at: "2026-12-01T06:30:00Z", "AAA-3", try Self.repeating("0 * * * *", late: .send))
            world.pass(minutes: 160)
            #expect(world.sent.last == "2026-12-01T12:00")
            world.change(try rules(other))
            if restarts { world.restart() } else { world.read() }
            world.pass(minutes: 26 * 60)
            #expect(Set(world.sent).count == world.sent.count && world.failures.isEmpty)
            for name in missed { #expect(world.state(name) != nil, "\(name) with \(other)") }
            let clock = ZoneRules(name: "", try rules(other)).localTime(at: world.now)
            var time = try #require(LocalTime("2026-12-01T13:00"))
            while time < clock {
                #expect(world.state(time.description) != nil, "\(time) with \(other)")
                time = time.adding(minutes: 60)
            }
        }
    }

    @Test(
        "through 60 days with random rules, readings and restarts: every time is decided once, and none early",
        arguments: 0..<8)
    func random(seed: Int) throws {
        var random = SeededRandom(UInt64(seed))
        let schedules = [
            try Self.repeating("0 * * * *"), try Self.repeating("*/20 7-9 * * *", late: .send),
            try Self.repeating("30 2,14 * * mon-fri"),
            try Self.repeating("0 0 * * *", late: .skip(afterSeconds: 600)),
        ]
        let all = try [
            "AAA-3", "AAA-2", "AAA-4", "AAA-3:30", "CET-1CEST,M3.5.0,M10.5.0/3", "AAA4BBB,M11.2.0,M3.2.0",
            "AAA-2BBB-4,M3.5.0,M4.1.0",
        ].map(rules)
        var world = try ZoneChangeWorld(at: "2026-02-20T00:10:00Z", "AAA-3", schedules[seed % schedules.count])
        let start = world.now
        var used: Set<PosixZone> = [world.rules]
        while world.now < start.adding(seconds: 60 * 86_400) {
            world.pass(minutes: Int.random(in: 1...9, using: &random) * 10, step: 10)
            if Int.random(in: 0..<40, using: &random) == 0 {
                world.change(all.randomElement(using: &random) ?? world.rules)
                used.insert(world.rules)
                // A process reads them within two seconds. Until then times become due by the old
                // rules.
                world.pass(minutes: Int.random(in: 0...3, using: &random))
                world.read()
            }
            if Int.random(in: 0..<60, using: &random) == 0 { world.restart() }
        }
        #expect(world.failures.isEmpty && Set(world.sent).count == world.sent.count && used.count > 3)
        let schedulesUsed = used.map { world.makeSchedule(ZoneRules(name: "Test/Zone", $0)) }
        let names = Set(
            schedulesUsed[0].occurrences(
                from: start.adding(seconds: 86_400), through: world.now.adding(seconds: -2 * 86_400)
            ).map(\.name))
        // Times that the clocks of some rules skip may be skipped.
        let certain = names.filter { name in
            schedulesUsed.allSatisfy { schedule in schedule.occurrence(named: name).map { !$0.isInGap } ?? false }
        }
        let missing = certain.filter { world.state($0) == nil }.sorted()
        #expect(certain.count > 30 && missing.isEmpty, "\(missing.prefix(5))")
    }
}
