@testable import Base
import Testing

@Suite("Occurrences")
struct OccurrenceTests {
    private func names(_ schedule: Schedule, _ from: String, _ through: String) throws -> [String] {
        schedule.occurrences(from: try moment(from), through: try moment(through)).map { "\($0.name)=\($0.begins)" }
    }

    @Test("a single time is one occurrence, in the zone's own offset")
    func single() throws {
        let schedule = Schedule(at: try local("2026-12-01 09:00"), zone: .named(try zone("America/New_York")))
        #expect(try names(schedule, "2026-11-01", "2027-01-01") == ["2026-12-01T09:00=2026-12-01T14:00:00Z"])
        #expect(try names(schedule, "2026-12-01 14:00", "2026-12-01 14:00").count == 1)
        #expect(try names(schedule, "2026-12-01 14:00:01", "2027-01-01").isEmpty)
        #expect(try names(schedule, "2026-11-01", "2026-12-01 13:59:59").isEmpty)
    }

    @Test("with each device's own clock it begins where the day begins, and ends where it ends")
    func recipient() throws {
        let schedule = Schedule(
            at: try local("2026-12-01 09:00"), zone: .recipient(fallback: try zone("Europe/Berlin")))
        let one = try #require(
            schedule.occurrences(from: try moment("2026-11-01"), through: try moment("2027-01-01")).first)
        #expect(one.begins == (try zone("Pacific/Kiritimati").firstMoment(of: one.localTime)))
        #expect(one.ends == (try zone("Etc/GMT+12").firstMoment(of: one.localTime)))
        // No zone is outside this range.
        for name in ZoneDatabase.system.names() {
            let moment = try zone(name).firstMoment(of: one.localTime)
            #expect(moment >= one.begins && moment <= one.ends, "\(name)")
        }
    }

    @Test("a rule repeats after the first time")
    func repeated() throws {
        let schedule = Schedule(
            at: try local("2026-12-01 08:00"), zone: .named(try zone("Europe/Berlin")),
            repeat: try CronRule("0 9 * * mon,thu"))
        #expect(
            try names(schedule, "2026-11-01", "2026-12-08") == [
                "2026-12-01T08:00=2026-12-01T07:00:00Z", "2026-12-03T09:00=2026-12-03T08:00:00Z",
                "2026-12-07T09:00=2026-12-07T08:00:00Z",
            ])
    }

    @Test("times in a gap are put off, times that come twice come once")
    func changes() throws {
        func daily(_ rule: String, _ zoneName: String) throws -> Schedule {
            Schedule(zone: .named(try zone(zoneName)), repeat: try CronRule(rule))
        }
        #expect(
            try names(daily("30 2 * * *", "Europe/Berlin"), "2026-03-28", "2026-03-31") == [
                "2026-03-28T02:30=2026-03-28T01:30:00Z", "2026-03-29T02:30=2026-03-29T01:00:00Z",
                "2026-03-30T02:30=2026-03-30T00:30:00Z",
            ])
        #expect(
            try names(daily("30 2 * * *", "Europe/Berlin"), "2026-10-24", "2026-10-26") == [
                "2026-10-24T02:30=2026-10-24T00:30:00Z", "2026-10-25T02:30=2026-10-25T00:30:00Z",
            ])
        // Half an hour, on the southern hemisphere: forward in October, back in April.
        #expect(
            try names(daily("15 2 * * *", "Australia/Lord_Howe"), "2026-10-02 12:00", "2026-10-04 12:00") == [
                "2026-10-03T02:15=2026-10-02T15:45:00Z", "2026-10-04T02:15=2026-10-03T15:30:00Z",
            ])
        #expect(
            try names(daily("45 1 * * *", "Australia/Lord_Howe"), "2027-04-03 12:00", "2027-04-05") == [
                "2027-04-04T01:45=2027-04-03T14:45:00Z", "2027-04-05T01:45=2027-04-04T15:15:00Z",
            ])
    }

    @Test("what falls together goes out once, under the time that the clock shows; wildcards make up for nothing")
    func together() throws {
        func named(_ rule: String) throws -> Schedule {
            Schedule(zone: .named(try zone("Europe/Berlin")), repeat: try CronRule(rule))
        }
        #expect(
            try names(named("0,30 2 * * *"), "2026-03-29", "2026-03-29 12:00") == [
                "2026-03-29T02:00=2026-03-29T01:00:00Z"
            ])
        #expect(
            try names(named("0 2,3 * * *"), "2026-03-29", "2026-03-29 12:00") == [
                "2026-03-29T03:00=2026-03-29T01:00:00Z"
            ])
        #expect(
            try names(named("30 * * * *"), "2026-03-29 00:00", "2026-03-29 02:00") == [
                "2026-03-29T01:30=2026-03-29T00:30:00Z", "2026-03-29T03:30=2026-03-29T01:30:00Z",
            ])
        // In autumn an hourly push skips an hour instead of being sent twice under the same time.
        #expect(
            try names(named("0 * * * *"), "2026-10-25 00:00", "2026-10-25 02:00") == [
                "2026-10-25T02:00=2026-10-25T00:00:00Z", "2026-10-25T03:00=2026-10-25T02:00:00Z",
            ])
    }

    @Test(
        "a window cut anywhere yields the same occurrences, none twice",
        arguments: ["Europe/Berlin", "Australia/Lord_Howe", "America/Santiago"])
    func windows(_ name: String) throws {
        for rule in ["*/20 * * * *", "15 2 * * *", "0,15,30,45 0-3 * * sun"] {
            let schedule = Schedule(zone: .named(try zone(name)), repeat: try CronRule(rule))
            for change in try zone(name).changes(after: moment("2026-01-01"), through: moment("2027-01-01")) {
                let (start, end) = (change.adding(seconds: -7200), change.adding(seconds: 7200))
                let whole = schedule.occurrences(from: start, through: end)
                var pieces: [Occurrence] = []
                var time = start
                while time <= end {
                    let next = min(time.adding(seconds: 399), end)
                    pieces += schedule.occurrences(from: time, through: next)
                    time = next.adding(seconds: 1)
                }
                #expect(pieces == whole)
                #expect(Set(whole.map(\.name)).count == whole.count)
            }
        }
    }
}
