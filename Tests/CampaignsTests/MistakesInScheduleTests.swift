import Base
import Testing

@testable import Campaigns

@Suite("Schedules")
struct MistakesInScheduleTests {
    @Test("each is said at its place, with what to do", arguments: mistakes + warnings)
    func isSaid(_ mistake: MistakeCase) {
        #expect(found { () throws(Diagnostics) in try readPart(mistake.yaml) } == mistake.expected)
    }

    private static func one(_ title: String, _ schedule: String, _ expected: String) -> MistakeCase {
        MistakeCase(title, "schedule: {\(schedule)}\n", "campaign.yaml:1:" + expected)
    }

    static let mistakes: [MistakeCase] = [
        one(
            "no zone", "at: 2026-12-01 09:00",
            "11: the key 'timezone' is missing in 'schedule'. Add it, for example: timezone: Europe/Berlin, or timezone: recipient."
        ),
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
            "44: 'CET' is an abbreviation, not a place; abbreviations leave open whether summer time counts. Write timezone: Europe/Berlin."
        ),
        one(
            "an abbreviation of several places", "at: 2026-12-01 09:00, timezone: cst",
            "44: 'cst' is an abbreviation, not a place; abbreviations leave open whether summer time counts. Write timezone: Asia/Shanghai or America/Chicago."
        ),
        one(
            "an offset as a zone", "at: 2026-12-01 09:00, timezone: UTC+2",
            "44: 'UTC+2' is an offset from UTC, which has no summer time. Write the place, for example timezone: Europe/Athens."
        ),
        one(
            "a zone whose name turns the sign around", "at: 2026-12-01 09:00, timezone: Etc/GMT+1",
            "44: 'Etc/GMT+1' is 1 hour behind UTC, as these names reverse the sign. Write the place, for example timezone: Atlantic/Azores."
        ),
        one(
            "'recipient' misspelt", "at: 2026-12-01 09:00, timezone: recipients, fallback_timezone: UTC",
            "44: there is no time zone 'recipients'. Did you mean 'recipient', each device by its own clock?"),
        one(
            "no zone for devices without one", "at: 2026-12-01 09:00, timezone: recipient",
            "44: the key 'fallback_timezone' is missing: timezone: recipient needs the zone of devices whose own is not known. Add, for example: fallback_timezone: Europe/Berlin."
        ),
        one(
            "'recipient' as its own fallback",
            "at: 2026-12-01 09:00, timezone: recipient, fallback_timezone: recipient",
            "74: 'fallback_timezone' must be a zone, not 'recipient': it is for devices whose own is not known. For example: fallback_timezone: Europe/Berlin."
        ),
        one(
            "a fallback for nothing", "at: 2026-12-01 09:00, timezone: UTC, fallback_timezone: Europe/Berlin",
            "49: 'fallback_timezone' is only for timezone: recipient; here one clock counts for all devices. Remove it, or write timezone: recipient."
        ),
        one(
            "no time at all", "timezone: Europe/Berlin, late: send",
            "11: 'schedule' does not say when: it has neither 'at' nor 'repeat' nor 'quiet_hours'. For example: schedule: {at: 2026-12-01 09:00, timezone: Europe/Berlin}."
        ),
        one(
            "a date without time", "at: 2026-12-01, timezone: UTC",
            "16: the date '2026-12-01' lacks a time. For example: at: 2026-12-01 09:00."),
        one(
            "a time with the hyphens of a word processor", "at: \"2026‑12‑01 09:00\", timezone: UTC",
            "16: '2026‑12‑01 09:00' has a dash ('‑') instead of a hyphen. Write at: 2026-12-01 09:00, with the hyphen of the keyboard."
        ),
        one(
            "a time with an offset", "at: \"2026-12-01T09:00:00+02:00\", timezone: UTC",
            "16: '2026-12-01T09:00:00+02:00' has an offset from UTC; 'timezone' says whose clock is meant. For that moment in UTC write at: 2026-12-01 07:00."
        ),
        one(
            "a time in UTC", "at: 2026-12-01 09:00Z, timezone: UTC",
            "16: '2026-12-01 09:00Z' has an offset from UTC; 'timezone' says whose clock is meant. For that moment in UTC write at: 2026-12-01 09:00."
        ),
        one(
            "a time in UTC beside another clock", "at: 2026-12-01T09:00Z, timezone: Europe/Berlin",
            "16: '2026-12-01T09:00Z' has an offset from UTC; 'timezone' says whose clock is meant. For that moment in Europe/Berlin write at: 2026-12-01 10:00."
        ),
        one(
            "a time with an offset for clocks of devices",
            "at: 2026-12-01 09:00 +01:00, timezone: recipient, fallback_timezone: UTC",
            "16: '2026-12-01 09:00 +01:00' says more than a date and a time; 'timezone' says whose clock is meant. Write at: 2026-12-01 09:00, and in 'timezone' write the place whose clock shows that."
        ),
        one(
            "a time with a zone behind it", "at: 2026-12-01 09:00 Europe/Berlin, timezone: UTC",
            "16: '2026-12-01 09:00 Europe/Berlin' says more than a date and a time; 'timezone' says whose clock is meant. Write at: 2026-12-01 09:00, and in 'timezone' write the place whose clock shows that."
        ),
        one(
            "an hour of the afternoon", "at: 2026-12-01 9:00pm, timezone: UTC",
            "16: '2026-12-01 9:00pm' is written in the 12-hour clock. Write at: 2026-12-01 21:00."
        ),
        one(
            "an hour without its zero", "at: 2026-12-01 9:00, timezone: UTC",
            "16: '2026-12-01 9:00' is not a date and time. Write at: 2026-12-01 09:00."),
        one(
            "seconds", "at: 2026-12-01 09:00:30, timezone: UTC",
            "16: '2026-12-01 09:00:30' has seconds, but schedules go by the minute. Write at: 2026-12-01 09:00."),
        one(
            "a day that there is not", "at: 2027-02-29 09:00, timezone: UTC",
            "16: '2027-02-29 09:00' is not a date and time that exists. Write it like 2026-12-01 09:00."),
        one(
            "words", "at: tomorrow, timezone: UTC",
            "16: 'tomorrow' is not a date and time. Write it like 2026-12-01 09:00."),
        one(
            "another order", "at: 01.12.2026 09:00, timezone: UTC",
            "16: '01.12.2026 09:00' is not written the way Volley reads times. Write at: 2026-12-01 09:00."),
        one(
            "quiet hours without end", "timezone: UTC, quiet_hours: \"21:00\"",
            "41: '21:00' is not a range of hours. Write when they begin and end, for example 21:00-08:00."),
        one(
            "quiet hours that are none", "timezone: UTC, quiet_hours: 21:00-26:00",
            "46: '26:00' is not a time of day. Write when they begin and end, for example 21:00-08:00."),
        one(
            "quiet hours with a dash", "timezone: UTC, quiet_hours: 21:00 – 08:00",
            "40: '21:00 – 08:00' has a dash ('–') instead of a hyphen between the two times. Write 21:00-08:00, with the hyphen of the keyboard."
        ),
        one(
            "a week of the month", "timezone: UTC, repeat: \"30 9 * * fri#1\"",
            "45: 'fri#1' is not a day of the week: cron does not count the weeks of a month. To send only on days 1 to 7 that are such a day, write \"30 9 */31,1-7 * fri\": where a field begins with *, both must hold."
        ),
        one(
            "the fifth week of a month", "timezone: UTC, repeat: \"30 9 * 1,3 1#5\"",
            "47: '1#5' is not a day of the week: cron does not count the weeks of a month. Cron can only say the first such day of a month. For another one, write a campaign for each date, with `at` instead of `repeat`."
        ),
        one(
            "days with a dash", "timezone: UTC, repeat: \"0 9 * * mon–fri\"",
            "44: 'mon–fri' is not a day of the week. The dash '–' is not a hyphen. Write mon-fri."),
        one(
            "a rule with too few fields", "timezone: UTC, repeat: \"9 * * mon\"",
            "36: '9 * * mon' has 4 fields instead of five. Write minute, hour, day of the month, month and day of the week. For example, \"0 9 * * mon,thu\" is every Monday and Thursday at 09:00."
        ),
        one(
            "a day of the week written out", "timezone: UTC, repeat: \"0 9 * * monday\"",
            "44: 'monday' is not a day of the week. Write mon."),
        one(
            "a rule that never comes true", "timezone: UTC, repeat: \"0 9 30 2 *\"",
            "40: '30 2' is not a date of any year, so this would never be sent. Correct the day or the month."),
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
        MistakeCase(
            "no group", "schedule: 2026-12-01 09:00\n",
            "campaign.yaml:1:11: 'schedule' must be a group of keys, not '2026-12-01 09:00'. For example: schedule: {at: 2026-12-01 09:00, timezone: Europe/Berlin}."
        ),
    ]

    static let warnings: [MistakeCase] = [
        one(
            "days of the month and of the week that unite", "repeat: \"0 9 1-7 * mon\", timezone: Europe/Berlin",
            "20: warning: cron adds days of the week to days of the month: this is sent on days 1-7 of a month, and also on every mon. To send only on days 1 to 7 that are also that day of the week, write \"0 9 */31,1-7 * mon\": where a field begins with *, both must hold. [days-united]"
        ),
        one(
            "a Friday the 13th", "repeat: \"0 9 13 * fri\", timezone: UTC",
            "20: warning: cron adds days of the week to days of the month: this is sent on day 13 of a month, and also on every fri. Leave one of the two free (*), or allow the warning if that is what you want. [days-united]"
        ),
        one(
            "a day of the week by its number", "repeat: \"0 9 1 * 1\", timezone: UTC",
            "20: warning: cron adds days of the week to days of the month: this is sent on day 1 of a month, and also on every Monday. Leave one of the two free (*), or allow the warning if that is what you want. [days-united]"
        ),
        MistakeCase(
            "an expiry at one moment beside times that come again",
            "delivery: {expires: 2026-11-24 18:00 +01:00}\nschedule: {repeat: \"0 9 * * mon\", timezone: UTC}\n",
            "campaign.yaml:2:20: warning: the expiry 2026-11-24T17:00:00Z is a single moment, but 'repeat' continues after it: then nothing would be sent any more. Write a time from the start, for example expires: 4h. [expires-before-schedule]"
        ),
        MistakeCase(
            "an expiry without a zone beside quiet hours",
            "delivery: {expires: 2026-11-24 18:00}\nschedule: {quiet_hours: 21:00-08:00, timezone: Europe/Berlin}\n",
            "campaign.yaml:1:21: warning: the expiry '2026-11-24 18:00' is in UTC: it is 2026-11-24 19:00 in Europe/Berlin, whose clock the schedule uses. Write 2026-11-24 18:00 +01:00 for the clock of Europe/Berlin, or 2026-11-24 18:00 +00:00. [expires-in-utc]"
        ),
        one(
            "a time that is past", "at: 2026-11-20 20:00, timezone: Europe/Berlin",
            "16: warning: 2026-11-20 20:00 in Europe/Berlin has passed, and with late: skip after 2h nothing would be sent. Write a later time; `volley send FILE --now` sends it at once. [schedule-past]"
        ),
        one(
            "a past period, though not too late", "at: 2026-11-20 23:19, timezone: UTC",
            "16: warning: 2026-11-20 23:19 in UTC passed 41 min ago, so it would be sent at once (late: skip after 2h). If you mean a later time, write that. [schedule-past]"
        ),
        one(
            "Greenwich", "at: 2027-07-01 09:00, timezone: GMT",
            "44: warning: 'GMT' is UTC all year: in summer the clocks of London are an hour ahead of it. For London write timezone: Europe/London; if you mean UTC, write timezone: UTC. [odd-timezone]"
        ),
        one(
            "UTC as the military calls it", "at: 2027-07-01 09:00, timezone: recipient, fallback_timezone: Zulu",
            "74: warning: 'Zulu' is UTC all year: in summer the clocks of London are an hour ahead of it. For London write fallback_timezone: Europe/London; if you mean UTC, write fallback_timezone: UTC. [odd-timezone]"
        ),
        one(
            "a time that is past everywhere", "at: 2026-11-18 20:00, timezone: recipient, fallback_timezone: UTC",
            "16: warning: 2026-11-18 20:00 everywhere has passed, and with late: skip after 2h nothing would be sent. Write a later time; `volley send FILE --now` sends it at once. [schedule-past]"
        ),
        one(
            "a time within quiet hours", "at: 2026-12-01 22:00, timezone: UTC, quiet_hours: 21:00-08:00",
            "16: warning: 22:00 is in the quiet hours 21:00-08:00, so everything is held until 08:00. Write at: 2026-12-02 08:00, or change the hours. [time-in-quiet-hours]"
        ),
        one(
            "times within quiet hours", "repeat: \"0 * * * *\", timezone: UTC, quiet_hours: 21:00-08:00",
            "20: warning: 11 of its times of day are in the quiet hours 21:00-08:00: pushes held then are sent at 08:00, one after the other. Leave these times out, or change the hours. [time-in-quiet-hours]"
        ),
        one(
            "a time that clocks leave out", "at: 2027-03-28 02:30, timezone: Europe/Berlin",
            "16: warning: 2027-03-28 02:30 does not exist in Europe/Berlin, where clocks go forward at that moment; it means 2027-03-28 03:00. Write the time that you mean. [time-in-gap]"
        ),
        MistakeCase(
            "an expiry before the time",
            "schedule: {at: 2026-12-01 09:00, timezone: UTC}\ndelivery: {expires: 2026-12-01 08:00}\n",
            "campaign.yaml:1:16: warning: 2026-12-01 09:00 is too late for the expiry 2026-12-01T08:00:00Z: then nothing would be sent any more. Write a later expiry, or a time from the start such as expires: 4h. [expires-before-schedule]"
        ),
        MistakeCase(
            "quiet hours that outlast the expiry",
            "schedule: {at: 2026-12-01 20:59, timezone: UTC, quiet_hours: 20:00-08:00}\ndelivery: {expires: 2026-12-02 07:00}\nallow: [{warning: time-in-quiet-hours, reason: x}]\n",
            """
            campaign.yaml:1:16: warning: 20:59 is in the quiet hours 20:00-08:00, so everything is held until 08:00. Write at: 2026-12-02 08:00, or change the hours. [time-in-quiet-hours]
            campaign.yaml:1:16: warning: 2026-12-01 20:59 is too late for the expiry 2026-12-02T07:00:00Z: when the quiet hours end nothing would be sent any more. Write a later expiry, or a time from the start such as expires: 4h. [expires-before-schedule]
            """),
        MistakeCase(
            "an expiry before the time of the last zone",
            "schedule: {at: 2026-12-01 09:00, timezone: recipient, fallback_timezone: UTC}\ndelivery: {expires: 2026-12-01 12:00}\n",
            "campaign.yaml:1:16: warning: 2026-12-01 09:00 is too late for the expiry 2026-12-01T12:00:00Z: in some zones nothing would be sent any more. Write a later expiry, or a time from the start such as expires: 4h. [expires-before-schedule]"
        ),
    ]

    @Test("what is not past yet for everybody, or comes again, is no warning")
    func notPast() throws {
        for schedule in [
            "at: 2026-11-21 00:00, timezone: UTC", "at: 2026-11-20 12:30, timezone: recipient, fallback_timezone: UTC",
            "at: 2020-11-20 10:00, timezone: UTC, late: send",
            "at: 2020-11-20 10:00, timezone: UTC, repeat: \"0 9 * * *\"",
        ] {
            #expect(try readPart("schedule: {\(schedule)}\n").1.isEmpty, "\(schedule)")
        }
    }

    @Test(
        "steps that do not divide the hour, the day or the year are said with the times that they mean, and with even ones",
        arguments: [
            ("*/40 * * * *", "this is sent at minutes 0 and 40 of an hour", "*/30 * * * *"),
            ("*/90 * * * *", "longer than an hour: this is sent only at minute 0 of each hour", "*/30 * * * *"),
            ("*/120 * * * *", "longer than an hour: this is sent only at minute 0 of each hour", "0 */2 * * *"),
            ("0 */7 * * *", "this is sent at hours 0, 7, 14 and 21 of a day", "0 */6 * * *"),
            ("0 */48 * * *", "longer than a day: this is sent only at hour 0 of each day", "0 */12 * * *"),
            ("0 9 1 */5 *", "this is sent in months 1, 6 and 11 of a year", "0 9 1 */4 *"),
            ("0 9 */45 * *", "longer than a month: this is sent only on the 1st of each month", "0 9 * * mon"),
            ("0 9 1-31/40 * *", "longer than a month: this is sent only on the 1st of each month", "0 9 * * mon"),
            ("0-59/40 * * * *", "this is sent at minutes 0 and 40 of an hour", "*/30 * * * *"),
            ("0 0-23/7 * * *", "this is sent at hours 0, 7, 14 and 21 of a day", "0 */6 * * *"),
            ("0 9 1 1-12/5 *", "this is sent in months 1, 6 and 11 of a year", "0 9 1 */4 *"),
        ])
    func unevenSteps(rule: String, words: String, even: String) throws {
        func warnings(_ rule: String) throws -> [Diagnostic] {
            try readPart("schedule: {repeat: \"\(rule)\", timezone: UTC}\n").1
        }
        let found = try warnings(rule)
        #expect(found.map(\.name) == [.repeatUneven] && found.first?.message.contains(words) == true, "\(found)")
        #expect(found.first?.remedy?.contains("\"\(even)\"") == true, "\(found)")
        #expect(try warnings(even).isEmpty)
    }

    @Test(
        "a day that some of the named months do not have is said with these months",
        arguments: [
            ("0 9 31 apr,jul *", "April has no day 31: there, that day is left out"),
            ("0 9 1,31 4,6,7 *", "April and June have no day 31"), ("0 9 29 2 *", "only in leap years"),
            ("0 9 30 jan-mar *", "February has no day 30"),
            ("0 9 15,29 * *", "February has a day 29 only in leap years"),
            ("0 9 15,31 * *", "only 7 months of the year have a day 31"),
        ])
    func daysOfNamedMonths(rule: String, words: String) throws {
        let found = try readPart("schedule: {repeat: \"\(rule)\", timezone: UTC}\n").1
        #expect(found.map(\.name) == [.repeatUneven] && found.first?.message.contains(words) == true, "\(found)")
    }

    @Test(
        "even steps are no warning",
        arguments: [
            "0 9 31 1,3 *", "0 9 29 mar *", "0 9 28-31 apr *", "*/20 7-9 * * *", "0 */8 * * *", "*/40 9 * * *",
            "5-59/25 * * * *",
            "0 9 1 */3 *",
        ])
    func evenSteps(rule: String) throws {
        #expect(try readPart("schedule: {repeat: \"\(rule)\", timezone: UTC}\n").1.isEmpty)
    }

    @Test(
        "`skip after` no time is answered with what can be written",
        arguments: ["skip after 0", "skip after 0h", "skip after 00 min"])
    func skipAfterNothing(late: String) throws {
        #expect(try ScheduleReader.latePolicy("skip after 1s") == .skip(afterSeconds: LatePolicy.shortestSeconds))
        func mistakes(_ late: String) -> String {
            found { () throws(Diagnostics) in
                try readPart("schedule: {at: 2030-12-01 09:00, timezone: UTC, late: \(late)}\n")
            }
        }
        #expect(
            mistakes(late).contains(
                "'\(late)' names no time. Write late: skip to send only on time, or for example late: skip after 2h."))
        #expect(mistakes("skip").isEmpty && mistakes("skip after 2h").isEmpty && mistakes("skip after 10min").isEmpty)
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
