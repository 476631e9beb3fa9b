@testable import Base
import Testing

@Suite("Quiet hours")
struct QuietHoursTests {
    @Test("they may pass midnight, hold their first minute, and not their last")
    func contains() throws {
        let night = try QuietHours("21:00-08:00")
        for (minute, quiet) in [
            (20 * 60 + 59, false), (21 * 60, true), (0, true), (7 * 60 + 59, true), (8 * 60, false), (12 * 60, false),
        ] {
            #expect(night.contains(minuteOfDay: minute) == quiet, "\(minute)")
        }
        let siesta = try QuietHours(" 13:00 - 15:30 ")
        for (minute, quiet) in [(779, false), (780, true), (929, true), (930, false), (0, false)] {
            #expect(siesta.contains(minuteOfDay: minute) == quiet, "\(minute)")
        }
        #expect(try QuietHours("22:00-24:00") == QuietHours("22:00-00:00"))
        #expect(night.description == "21:00-08:00" && siesta.description == "13:00-15:30")
    }

    @Test(
        "what is malformed is said",
        arguments: [
            ("21:00", 0, "'21:00' is not a range of hours"), ("21:00-", 6, "'' is not a time of day"),
            ("21-8", 0, "'21' is not a time of day"),
            ("21:00-25:00", 6, "'25:00' is not a time of day"), ("21:00 - 8:0", 8, "'8:0' is not a time of day"),
            ("9pm-8am", 0, "'9pm-8am' is written in the 12-hour clock"),
            ("21:00-21:00", 0, "these hours begin and end at the same time"),
            ("24:00-08:00", 0, "a day begins at 00:00, not at 24:00"),
            ("22:00-24:01", 6, "'24:01' is not a time of day"),
        ])
    func mistakes(_ text: String, _ offset: Int, _ message: String) {
        let mistake = #expect(throws: Mistake.self) { try QuietHours(text) }
        #expect(mistake?.message == message && mistake?.utf8Offset == offset)
    }

    @Test("they end and begin when clocks say so, also on days on which these are changed")
    func ends() throws {
        let night = try QuietHours("21:00-08:00")
        let berlin = try zone("Europe/Berlin")
        #expect(night.end(from: try moment("2026-12-01 22:30"), in: berlin) == (try moment("2026-12-02 07:00")))
        #expect(night.end(from: try moment("2026-12-01 08:00"), in: berlin) == (try moment("2026-12-01 08:00")))
        #expect(night.begin(from: try moment("2026-12-01 08:00"), in: berlin) == (try moment("2026-12-01 20:00")))
        #expect(night.begin(from: try moment("2026-12-01 20:00"), in: berlin) == (try moment("2026-12-01 20:00")))
        // An end in a gap is moved to the end of the gap.
        let early = try QuietHours("21:00-02:30")
        #expect(early.end(from: try moment("2026-03-29 00:10"), in: berlin) == (try moment("2026-03-29 01:00")))
        // A beginning in a gap is moved to the end of the gap.
        let late = try QuietHours("02:30-08:00")
        #expect(late.begin(from: try moment("2026-03-29 00:10"), in: berlin) == (try moment("2026-03-29 01:00")))
        // A time that occurs twice: quiet until its first occurrence, and again after clocks have
        // gone back.
        #expect(early.end(from: try moment("2026-10-24 23:00"), in: berlin) == (try moment("2026-10-25 00:30")))
        #expect(early.begin(from: try moment("2026-10-25 00:30"), in: berlin) == (try moment("2026-10-25 01:00")))
        #expect(early.end(from: try moment("2026-10-25 01:00"), in: berlin) == (try moment("2026-10-25 01:30")))
    }

    @Test(
        "every minute of a year is quiet or not as a minute-by-minute walk says",
        arguments: ["Europe/Berlin", "Australia/Lord_Howe"])
    func walk(_ name: String) throws {
        let zone = try zone(name)
        for hours in [try QuietHours("21:00-08:00"), try QuietHours("01:45-02:15")] {
            for change in zone.changes(after: try moment("2026-01-01"), through: try moment("2027-01-01")) {
                let start = change.adding(seconds: -36 * 3600)
                let minutes = (0..<72 * 60).map { start.adding(seconds: Double($0 * 60)) }
                let quiet = minutes.map { hours.contains($0, in: zone) }
                for index in stride(from: 0, to: 40 * 60, by: 7) {
                    let end = quiet[index...].firstIndex(of: false).map { minutes[$0] }
                    #expect(hours.end(from: minutes[index], in: zone) == end)
                    let begin = quiet[index...].firstIndex(of: true).map { minutes[$0] }
                    #expect(hours.begin(from: minutes[index], in: zone) == begin)
                }
                let audible = quiet.prefix(60 * 60).count { !$0 } * 60
                #expect(hours.audibleSeconds(from: start, to: minutes[60 * 60], in: zone) == audible)
            }
        }
    }
}
