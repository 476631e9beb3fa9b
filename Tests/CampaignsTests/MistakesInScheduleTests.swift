import Base
import Scheduling
import Testing

@testable import Campaigns

@Suite("Schedules")
struct MistakesInScheduleTests {
    @Test("each is said at its place, with what to do", arguments: mistakes + warnings)
    func isSaid(_ mistake: Mistake) {
        #expect(found { () throws(Diagnostics) in try readPart(mistake.yaml) } == mistake.expected)
    }

    private static func one(_ title: String, _ schedule: String, _ expected: String) -> Mistake {
        Mistake(title, "schedule: {\(schedule)}\n", "campaign.yaml:1:" + expected)
    }

    static let mistakes: [Mistake] = [
        one(
            "no zone", "at: 2026-12-01 09:00",
            "11: the key 'timezone' is missing in 'schedule'. Add it, for example: timezone: Europe/Berlin, or timezone: recipient."),
        one(
            "a zone that is misspelt", "at: 2026-12-01 09:00, timezone: Europe/Berln",
            "44: there is no time zone 'Europe/Berln'. Did you mean 'Europe/Berlin'?"),
        one(
            "a city alone", "at: 2026-12-01 09:00, timezone: New York",
            "44: there is no time zone 'New York'. Did you mean 'America/New_York'?"),
        one(
            "a zone like no other", "at: 2026-12-01 09:00, timezone: Mars/Olympus_Mons",
            "44: there is no time zone 'Mars/Olympus_Mons'. Zones are named after a continent and a city, for example Europe/Berlin, America/New_York or Asia/Shanghai."
        ),
        one(
            "a path instead of a zone", "at: 2026-12-01 09:00, timezone: ../../../etc/passwd",
            "44: there is no time zone '../../../etc/passwd'. Zones are named after a continent and a city, for example Europe/Berlin, America/New_York or Asia/Shanghai."
        ),
        one(
            "an abbreviation", "at: 2026-12-01 09:00, timezone: CET",
            "44: 'CET' is an abbreviation and no place; abbreviations leave open whether summer time counts. Write timezone: Europe/Berlin."
        ),
        one(
            "an abbreviation of several places", "at: 2026-12-01 09:00, timezone: cst",
            "44: 'cst' is an abbreviation and no place; abbreviations leave open whether summer time counts. Write timezone: Asia/Shanghai or America/Chicago."
        ),
        one(
            "an offset as a zone", "at: 2026-12-01 09:00, timezone: UTC+2",
            "44: 'UTC+2' is a distance from UTC, and knows no summer time. Write the place, for example timezone: Europe/Berlin."),
        one(
            "a zone whose name turns the sign around", "at: 2026-12-01 09:00, timezone: Etc/GMT+1",
            "44: 'Etc/GMT+1' is 1 hour behind UTC, as these names turn the sign around. Write the place, for example timezone: Europe/Berlin."
        ),
        one(
            "'recipient' misspelt", "at: 2026-12-01 09:00, timezone: recipients, fallback_timezone: UTC",
            "44: there is no time zone 'recipients'. Did you mean 'recipient', each device by its own clock?"),
        one(
            "no zone for devices without one", "at: 2026-12-01 09:00, timezone: recipient",
            "44: with timezone: recipient the key 'fallback_timezone' is missing: the zone of devices whose own is not known. Add, for example: fallback_timezone: Europe/Berlin."
        ),
        one(
            "'recipient' as its own fallback", "at: 2026-12-01 09:00, timezone: recipient, fallback_timezone: recipient",
            "74: 'fallback_timezone' must be a zone, not 'recipient': it is for devices whose own is not known. For example: fallback_timezone: Europe/Berlin."
        ),
        one(
            "a fallback for nothing", "at: 2026-12-01 09:00, timezone: UTC, fallback_timezone: Europe/Berlin",
            "49: 'fallback_timezone' stands beside timezone: recipient only; here all devices go by one clock. Remove it, or write timezone: recipient."
        ),
        one(
            "no time at all", "timezone: Europe/Berlin, late: send",
            "11: 'schedule' does not say when: it has neither 'at' nor 'repeat' nor 'quiet_hours'. For example: schedule: {at: 2026-12-01 09:00, timezone: Europe/Berlin}."
        ),
        one(
            "a date without time", "at: 2026-12-01, timezone: UTC",
            "16: the date '2026-12-01' lacks a time. For example: at: 2026-12-01 09:00."),
        one(
            "a time with an offset", "at: \"2026-12-01T09:00:00+02:00\", timezone: UTC",
            "16: '2026-12-01T09:00:00+02:00' names a distance from UTC; whose clock is meant stands in 'timezone'. For that moment in UTC write at: 2026-12-01 07:00."
        ),
        one(
            "a time in UTC", "at: 2026-12-01 09:00Z, timezone: UTC",
            "16: '2026-12-01 09:00Z' names a distance from UTC; whose clock is meant stands in 'timezone'. For that moment in UTC write at: 2026-12-01 09:00."
        ),
        one(
            "a time in UTC beside another clock", "at: 2026-12-01T09:00Z, timezone: Europe/Berlin",
            "16: '2026-12-01T09:00Z' names a distance from UTC; whose clock is meant stands in 'timezone'. For that moment in Europe/Berlin write at: 2026-12-01 10:00."
        ),
        one(
            "a time with an offset for clocks of devices", "at: 2026-12-01 09:00 +01:00, timezone: recipient, fallback_timezone: UTC",
            "16: '2026-12-01 09:00 +01:00' says more than a date and a time; whose clock is meant stands in 'timezone'. Write at: 2026-12-01 09:00, and in timezone the place whose clock shows that."
        ),
        one(
            "a time with a zone behind it", "at: 2026-12-01 09:00 Europe/Berlin, timezone: UTC",
            "16: '2026-12-01 09:00 Europe/Berlin' says more than a date and a time; whose clock is meant stands in 'timezone'. Write at: 2026-12-01 09:00, and in timezone the place whose clock shows that."
        ),
        one(
            "an hour of the afternoon", "at: 2026-12-01 9:00pm, timezone: UTC",
            "16: '2026-12-01 9:00pm' is written by a clock of twelve hours. Write at: 2026-12-01 21:00."
        ),
        one(
            "an hour without its zero", "at: 2026-12-01 9:00, timezone: UTC",
            "16: '2026-12-01 9:00' is no date and time. Write at: 2026-12-01 09:00."),
        one(
            "seconds", "at: 2026-12-01 09:00:30, timezone: UTC",
            "16: '2026-12-01 09:00:30' has seconds, and schedules know minutes. Write at: 2026-12-01 09:00."),
        one(
            "a day that there is not", "at: 2027-02-29 09:00, timezone: UTC",
            "16: '2027-02-29 09:00' is no date and time that there is. Write it like 2026-12-01 09:00."),
        one("words", "at: tomorrow, timezone: UTC", "16: 'tomorrow' is no date and time. Write it like 2026-12-01 09:00."),
        one(
            "another order", "at: 01.12.2026 09:00, timezone: UTC",
            "16: '01.12.2026 09:00' is not written as times are here. Write at: 2026-12-01 09:00."),
        one(
            "quiet hours without end", "timezone: UTC, quiet_hours: \"21:00\"",
            "41: '21:00' are no hours of a day. Write when they begin and end, for example 21:00-08:00."),
        one(
            "quiet hours that are none", "timezone: UTC, quiet_hours: 21:00-26:00",
            "46: '26:00' is no time of day. Write when they begin and end, for example 21:00-08:00."),
        one(
            "quiet hours with a dash", "timezone: UTC, quiet_hours: 21:00 – 08:00",
            "40: '21:00 – 08:00' has a dash ('–') and no hyphen between the two times. Write 21:00-08:00, with the hyphen of the keyboard."),
        one(
            "a week of the month", "timezone: UTC, repeat: \"30 9 * * fri#1\"",
            "45: 'fri#1' is no day of the week: cron does not count the weeks of a month. For the days 1 to 7 that are such a day write \"30 9 */31,1-7 * fri\": where a field begins with *, both must hold."
        ),
        one(
            "the fifth week of a month", "timezone: UTC, repeat: \"30 9 * 1,3 1#5\"",
            "47: '1#5' is no day of the week: cron does not count the weeks of a month. Cron can say the first such day of a month only. For another one write a campaign for each date, with `at` instead of `repeat`."
        ),
        one(
            "days with a dash", "timezone: UTC, repeat: \"0 9 * * mon–fri\"",
            "44: 'mon–fri' is no day of the week. The dash '–' is no hyphen. Write mon-fri."),
        one(
            "a rule with too few fields", "timezone: UTC, repeat: \"9 * * mon\"",
            "36: '9 * * mon' has 4 fields instead of five. Write minute, hour, day of the month, month and day of the week: \"0 9 * * mon,thu\" is every Monday and Thursday at 09:00."
        ),
        one("a day of the week written out", "timezone: UTC, repeat: \"0 9 * * monday\"", "44: 'monday' is no day of the week. Write mon."),
        one(
            "a rule that never comes true", "timezone: UTC, repeat: \"0 9 30 2 *\"",
            "40: '30 2' is no date of any year, so this would never go out. Correct the day or the month."),
        one(
            "an unknown way to be late", "timezone: UTC, at: 2026-12-01 09:00, late: drop",
            "55: 'late' must be send, skip or skip after a time, not 'drop'. For example: late: skip after 2h."),
        one(
            "a time without unit", "timezone: UTC, at: 2026-12-01 09:00, late: skip after 2",
            "55: '2' lacks a unit. Write 2s, 2min, 2h or 2d."),
        one(
            "a misspelt key", "timezone: UTC, on: 2026-12-01 09:00, quite_hours: 21:00-08:00",
            """
            27: unknown key 'on' in 'schedule'. Valid here: at, timezone, fallback_timezone, quiet_hours, repeat, late.
            campaign.yaml:1:49: unknown key 'quite_hours' in 'schedule'. Did you mean 'quiet_hours'?
            """),
        Mistake(
            "no group", "schedule: 2026-12-01 09:00\n",
            "campaign.yaml:1:11: 'schedule' must hold keys of its own, not '2026-12-01 09:00'. For example: schedule: {at: 2026-12-01 09:00, timezone: Europe/Berlin}."
        ),
    ]

    private static let warnings: [Mistake] = [
        one(
            "days of the month and of the week that unite", "repeat: \"0 9 1-7 * mon\", timezone: Europe/Berlin",
            "20: warning: cron unites days of the month and days of the week: this goes out on days 1-7 of a month, and also on every mon. For the days 1 to 7 that are such a day of the week write \"0 9 */31,1-7 * mon\": where a field begins with *, both must hold. [days-united]"
        ),
        one(
            "a Friday the 13th", "repeat: \"0 9 13 * fri\", timezone: UTC",
            "20: warning: cron unites days of the month and days of the week: this goes out on day 13 of a month, and also on every fri. Leave one of the two free (*), or allow the warning if it is meant so. [days-united]"
        ),
        one(
            "a day of the week by its number", "repeat: \"0 9 1 * 1\", timezone: UTC",
            "20: warning: cron unites days of the month and days of the week: this goes out on day 1 of a month, and also on every Monday. Leave one of the two free (*), or allow the warning if it is meant so. [days-united]"
        ),
        Mistake(
            "an expiry at one moment beside times that come again",
            "delivery: {expires: 2026-11-24 18:00 +01:00}\nschedule: {repeat: \"0 9 * * mon\", timezone: UTC}\n",
            "campaign.yaml:2:20: warning: the expiry 2026-11-24T17:00:00Z is one moment, and 'repeat' goes on behind it: then nothing would be sent any more. Write a time from the start, for example expires: 4h. [expires-before-schedule]"
        ),
        Mistake(
            "an expiry without a zone beside quiet hours",
            "delivery: {expires: 2026-11-24 18:00}\nschedule: {quiet_hours: 21:00-08:00, timezone: Europe/Berlin}\n",
            "campaign.yaml:1:21: warning: the expiry '2026-11-24 18:00' is in UTC: it is 2026-11-24 19:00 in Europe/Berlin, by whose clock the schedule goes. Write 2026-11-24 18:00 +01:00 for the clock of Europe/Berlin, or 2026-11-24 18:00 +00:00. [expires-in-utc]"
        ),
        one(
            "a time that is past", "at: 2026-11-20 20:00, timezone: Europe/Berlin",
            "16: warning: 2026-11-20 20:00 in Europe/Berlin is past, and late: skip after 2h, so nothing would be sent. Write a later time; `volley send FILE --now` sends it at once. [schedule-past]"
        ),
        one(
            "a time that has passed, though not too late", "at: 2026-11-20 23:19, timezone: UTC",
            "16: warning: 2026-11-20 23:19 in UTC has passed, by 41 min, so that it would be sent at once (late: skip after 2h). If a later time is meant, write that. [schedule-past]"
        ),
        one(
            "Greenwich", "at: 2027-07-01 09:00, timezone: GMT",
            "44: warning: 'GMT' is UTC all year: in summer the clocks of London are an hour ahead of it. For London write timezone: Europe/London; if UTC is meant, write timezone: UTC. [odd-timezone]"
        ),
        one(
            "UTC as the military calls it", "at: 2027-07-01 09:00, timezone: recipient, fallback_timezone: Zulu",
            "74: warning: 'Zulu' is UTC all year: in summer the clocks of London are an hour ahead of it. For London write fallback_timezone: Europe/London; if UTC is meant, write fallback_timezone: UTC. [odd-timezone]"
        ),
        one(
            "a time that is past everywhere", "at: 2026-11-18 20:00, timezone: recipient, fallback_timezone: UTC",
            "16: warning: 2026-11-18 20:00 everywhere is past, and late: skip after 2h, so nothing would be sent. Write a later time; `volley send FILE --now` sends it at once. [schedule-past]"
        ),
        one(
            "a time within quiet hours", "at: 2026-12-01 22:00, timezone: UTC, quiet_hours: 21:00-08:00",
            "16: warning: 22:00 lies in the quiet hours 21:00-08:00, so that everything is held until 08:00. Write at: 2026-12-02 08:00, or change the hours. [time-in-quiet-hours]"
        ),
        one(
            "times within quiet hours", "repeat: \"0 * * * *\", timezone: UTC, quiet_hours: 21:00-08:00",
            "20: warning: 11 of its times of day lie in the quiet hours 21:00-08:00: what is held goes out at 08:00, one push after the other. Leave these times out, or change the hours. [time-in-quiet-hours]"
        ),
        one(
            "a time that clocks leave out", "at: 2027-03-28 02:30, timezone: Europe/Berlin",
            "16: warning: 2027-03-28 02:30 never comes in Europe/Berlin, where clocks go forward just then; it means 2027-03-28 03:00. Write the time that is meant. [time-in-gap]"
        ),
        Mistake(
            "an expiry before the time", "schedule: {at: 2026-12-01 09:00, timezone: UTC}\ndelivery: {expires: 2026-12-01 08:00}\n",
            "campaign.yaml:1:16: warning: 2026-12-01 09:00 is too late for the expiry 2026-12-01T08:00:00Z: then nothing would be sent any more. Write a later expiry, or a time from the start such as expires: 4h. [expires-before-schedule]"
        ),
        Mistake(
            "quiet hours that outlast the expiry",
            "schedule: {at: 2026-12-01 20:59, timezone: UTC, quiet_hours: 20:00-08:00}\ndelivery: {expires: 2026-12-02 07:00}\nallow: [{warning: time-in-quiet-hours, reason: x}]\n",
            """
            campaign.yaml:1:16: warning: 20:59 lies in the quiet hours 20:00-08:00, so that everything is held until 08:00. Write at: 2026-12-02 08:00, or change the hours. [time-in-quiet-hours]
            campaign.yaml:1:16: warning: 2026-12-01 20:59 is too late for the expiry 2026-12-02T07:00:00Z: when the quiet hours end nothing would be sent any more. Write a later expiry, or a time from the start such as expires: 4h. [expires-before-schedule]
            """),
        Mistake(
            "an expiry before the time of the last zone",
            "schedule: {at: 2026-12-01 09:00, timezone: recipient, fallback_timezone: UTC}\ndelivery: {expires: 2026-12-01 12:00}\n",
            "campaign.yaml:1:16: warning: 2026-12-01 09:00 is too late for the expiry 2026-12-01T12:00:00Z: in some zones nothing would be sent any more. Write a later expiry, or a time from the start such as expires: 4h. [expires-before-schedule]"
        ),
    ]

    @Test("what is not past yet for everybody, or comes again, is no warning")
    func notPast() throws {
        for schedule in [
            "at: 2026-11-21 00:00, timezone: UTC", "at: 2026-11-20 12:30, timezone: recipient, fallback_timezone: UTC",
            "at: 2020-11-20 10:00, timezone: UTC, late: send", "at: 2020-11-20 10:00, timezone: UTC, repeat: \"0 9 * * *\"",
        ] {
            #expect(try readPart("schedule: {\(schedule)}\n").1.isEmpty, "\(schedule)")
        }
    }

    @Test("everything is read as written")
    func everything() throws {
        let (campaign, warnings) = try readPart(
            """
            schedule:
              at: 2026-12-01 09:00
              timezone: recipient
              fallback_timezone: Europe/Berlin
              quiet_hours: 21:00-08:00
              repeat: "0 9 * * mon,thu"
              late: skip after 90 min

            """)
        #expect(warnings.isEmpty)
        let schedule = try #require(campaign.schedule)
        #expect(schedule.at?.description == "2026-12-01T09:00")
        #expect(schedule.zone == .recipient(fallback: try ZoneDatabase.system.zone(named: "Europe/Berlin")))
        #expect(schedule.quietHours?.description == "21:00-08:00")
        #expect(schedule.repeat?.description == "0 9 * * mon,thu")
        #expect(schedule.late == .skip(afterSeconds: 5400))
        #expect(campaign.schedulePosition?.line == 3)
    }

    @Test("where nothing is said, two hours late is late; 'skip' leaves a minute")
    func usual() throws {
        func late(_ text: String) throws -> LatePolicy? {
            try readPart("schedule: {at: \"2026-12-01T09:00:00\", timezone: UTC\(text)}\n").0.schedule?.late
        }
        #expect(try late("") == .skip(afterSeconds: 7200))
        #expect(try late(", late: skip") == .skip(afterSeconds: 60))
        #expect(try late(", late: send") == .send)
        #expect(try readPart("").0.schedule == nil)
    }
}
