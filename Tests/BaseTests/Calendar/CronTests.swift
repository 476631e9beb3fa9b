@testable import Base
import Testing

@Suite("Cron rules")
struct CronTests {
    /// A rule read and judged as slowly as possible: with strings, minute by minute.
    private struct SlowRule {
        var fields: [String]

        init(_ text: String) { fields = text.split(separator: " ").map(String.init) }

        private func allows(_ field: Int, _ value: Int, _ last: Int) -> Bool {
            fields[field].split(separator: ",").contains { part in
                let step = part.split(separator: "/").dropFirst().first.flatMap { Int($0) } ?? 1
                let range = String(part.split(separator: "/")[0])
                let first = field == 2 || field == 3 ? 1 : 0
                let ends = range == "*" ? [first, last] : range.split(separator: "-").map { number(String($0)) }
                return (ends[0]...ends[ends.count - 1]).enumerated().contains {
                    $0.offset % step == 0 && $0.element == value
                }
            }
        }

        private func number(_ text: String) -> Int {
            let days = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"]
            let months = ["", "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
            return Int(text) ?? days.firstIndex(of: text) ?? months.firstIndex(of: text) ?? -1
        }

        func matches(_ time: LocalTime) -> Bool {
            let words = time.description
            func part(_ from: Int, _ to: Int) -> Int { Int(String(Array(words)[from..<to])) ?? -1 }
            guard allows(0, part(14, 16), 59), allows(1, part(11, 13), 23), allows(3, part(5, 7), 12) else {
                return false
            }
            let day = allows(2, part(8, 10), 31)
            // Sakamoto's method, for independence from ours.
            let (year, month) = (part(0, 4) - (part(5, 7) < 3 ? 1 : 0), part(5, 7))
            let weekday =
                (year + year / 4 - year / 100 + year / 400 + [0, 3, 2, 5, 0, 3, 5, 1, 4, 6, 2, 4][month - 1]
                    + part(8, 10)) % 7
            let isWeekday = allows(4, weekday, 6) || weekday == 0 && allows(4, 7, 6)
            return fields[2].hasPrefix("*") || fields[4].hasPrefix("*") ? day && isWeekday : day || isWeekday
        }
    }

    @Test(
        "times are those of a slow computation",
        arguments: [
            "0 9 * * mon,thu", "*/15 8-18 * * 1-5", "0 0 1 * *", "30 23 28-31 * *", "0 12 1,15 * fri", "5 4 * * sun",
            "0 9 29 feb *",
            "0 9 */10 * mon", "10-50/20 */6 * jan-mar,12 *", "0 9 13 * 5", "0 0 * * 5-7", "59 23 31 12 *",
            "0 9 1 * */2",
            "0 9 */31,1-7 * mon",
        ])
    func slowly(_ text: String) throws {
        let rule = try CronRule(text)
        let slow = SlowRule(text)
        let start = try local("2027-11-27 00:00")
        // Every minute of three days of each of five months, and noon-like minutes of the rest of
        // the year.
        for day in 0..<430 {
            let minutes = day % 29 < 2 ? Array(stride(from: 0, to: 1440, by: 1)) : [0, 245, 540, 720, 1410, 1439]
            for minute in minutes {
                let time = start.adding(minutes: day * 1440 + minute)
                #expect(rule.matches(time) == slow.matches(time), "\(time)")
            }
        }
        // The next time is the first that matches.
        var time = start
        for _ in 0..<12 {
            let next = try #require(rule.next(from: time))
            #expect(slow.matches(next) && next >= time, "\(next)")
            if next.minutes - time.minutes < 3000 {
                #expect(!(time.minutes..<next.minutes).contains { slow.matches(LocalTime(minutes: $0)) })
            }
            time = next.adding(minutes: 1)
        }
    }

    @Test("a leap day comes when there is one")
    func leapDay() throws {
        let rule = try CronRule("0 9 29 2 *")
        #expect(rule.next(from: try local("2026-01-01 00:00"))?.words == "2028-02-29 09:00")
        #expect(rule.next(from: try local("2096-03-01 00:00"))?.words == "2104-02-29 09:00")
        #expect(try CronRule("0 9 31 4 mon").next(from: local("2026-01-01 00:00"))?.words == "2026-04-06 09:00")
    }

    @Test(
        "what is no rule is said at its place, with what to write",
        arguments: [
            ("0 9 * *", 0, "'0 9 * *' has 4 fields instead of five"),
            ("0 0 9 * * mon", 0, "'0 0 9 * * mon' has 6 fields instead of five"),
            ("60 9 * * *", 0, "60 is not a minute"), ("0 24 * * *", 2, "24 is not an hour"),
            ("0 9 0 * *", 4, "0 is not a day of the month"),
            ("0 9 * 13 *", 6, "13 is not a month"), ("0 9 * * 8", 8, "8 is not a day of the week"),
            ("0 9 * * monday", 8, "'monday' is not a day of the week"),
            ("0 9 * * mon,tues", 12, "'tues' is not a day of the week"),
            ("0 9 L * *", 4, "'L' is not a day of the month"), ("0 9 ? * mon", 4, "'?' is not a day of the month"),
            ("0 9 * * fri-mon", 8, "the range 'fri-mon' runs backwards"),
            ("0 18-9 * * *", 2, "the range '18-9' runs backwards"),
            ("5/15 * * * *", 0, "'5/15' has a step from a single minute"), ("*/0 * * * *", 2, "'0' is not a step"),
            ("*/x * * * *", 2, "'x' is not a step"),
            ("0 9,, * * *", 4, "an hour is missing"),
            ("0 9 30 feb *", 4, "'30 feb' is not a date of any year, so this would never be sent"),
            ("0 9 31 4,6,9,11 *", 4, "'31 4,6,9,11' is not a date of any year, so this would never be sent"),
            ("@daily", 0, "'@daily' means midnight"), ("@hourly", 0, "'@hourly' is not written in five fields"),
            ("@reboot", 0, "'@reboot' does not say when to send"),
            ("@every 5m", 0, "'@every 5m' does not say when to send"),
            ("", 0, "'' has 0 fields instead of five"),
            ("-1 9 * * *", 0, "a minute is missing"), ("0 99999 * * *", 2, "'99999' is not an hour"),
            ("0 9 * * mon-", 12, "a day of the week is missing"),
        ])
    func mistakes(_ text: String, _ offset: Int, _ message: String) {
        let mistake = #expect(throws: Mistake.self) { try CronRule(text) }
        #expect(mistake?.message == message && mistake?.utf8Offset == offset)
        #expect(mistake?.remedy?.hasSuffix(".") == true || mistake?.remedy?.hasSuffix("09:00.") == true)
    }

    @Test("remedies that are rules are right ones")
    func remedies() throws {
        func remedy(_ text: String) -> String? { #expect(throws: Mistake.self) { try CronRule(text) }?.remedy }
        #expect(remedy("0 9 * * fri-mon") == "Write fri-sat,sun-mon.")
        #expect(try CronRule("0 9 * * fri-sat,sun-mon").matches(local("2026-11-22 09:00")))
        #expect(remedy("0 18-9 * * *") == "Write 18-23,0-9.")
        #expect(remedy("5/15 * * * *") == "Write 5-59/15, or */15.")
        #expect(remedy("0 9 * * Monday") == "Write mon.")
        #expect(remedy("0 9 30 feb *") == "Correct the day or the month.")
        #expect(remedy("0 9 * * 7-2") == "Write 0-2.")
        #expect(remedy("0 9 * * 6-1") == "Write 6,0-1.")
        #expect(remedy("0 9 * * sat-mon") == "Write sat,sun-mon.")
        #expect(remedy("0 9 * nov-feb *") == "Write nov-dec,jan-feb.")
        #expect(remedy("0 22-6/3 * * *") == "Write 22,1,4.")
        #expect(remedy("0 9 * * fri-tue/2") == "Write fri,sun,tue.")
        // A week may end with Sunday.
        #expect(try CronRule("0 9 * * fri-sun").matches(local("2026-11-22 09:00")))
    }

    @Test(
        "the first rule that a remedy proposes means what was written",
        arguments: [
            ("@hourly", "0 * * * *"), ("@daily", "0 0 * * *"), ("@midnight", "0 0 * * *"), ("@weekly", "0 0 * * 0"),
            ("@monthly", "0 0 1 * *"), ("@yearly", "0 0 1 1 *"), ("@ANNUALLY", "0 0 1 1 *"),
            ("0 0 9 ? * MON-FRI", "0 9 * * 1-5"),
            ("0 30 8 1 * ?", "30 8 1 * *"), ("00 0 9 * * * *", "0 9 * * *"), ("0 */5 * * * *", "*/5 * * * *"),
        ])
    func wholeRules(_ text: String, _ meant: String) throws {
        let remedy = try #require(#expect(throws: Mistake.self) { try CronRule(text) }?.remedy)
        let proposed = try CronRule(String(#require(remedy.firstMatch(of: /"([^"]+)"/)).output.1))
        #expect(try nextTimes(of: proposed) == nextTimes(of: CronRule(meant)))
    }

    @Test(
        "a rule that may begin with the second or end with the year is translated both ways, and by its question marks only one way"
    )
    func secondOrYear() throws {
        func remedy(_ text: String) throws -> String? {
            try #require(#expect(throws: Mistake.self) { try CronRule(text) }).remedy
        }
        #expect(
            try remedy("0 9 * * * *")
                == "Write \"9 * * * *\" if the first field is seconds, or \"0 9 * * *\" if the last one is the year: "
                + "minute, hour, day of the month, month and day of the week, without seconds or year.")
        #expect(
            try remedy("0 0 9 * * *")?.hasPrefix(
                "Write \"0 9 * * *\" if the first field is seconds, or \"0 0 9 * *\" if") ?? false)
        for (text, rule) in [
            ("0 9 * * ? *", "0 9 * * *"), ("15 10 ? * MON-FRI *", "15 10 * * MON-FRI"), ("0 30 8 1 * ?", "30 8 1 * *"),
            ("0 0 9 * * ? *", "0 9 * * *"),
        ] {
            #expect(try remedy(text)?.hasPrefix("Write \"\(rule)\": minute") ?? false, "\(text)")
        }
    }

    @Test(
        "a rule of another scheduler that may mean other days is not translated",
        arguments: ["0 0 9 ? * 2", "0 0 9 * * 2#1", "30 0 9 * * mon", "0 9 1 1 * 2027", "0 0 9 L * ?", "* * * * * *"])
    func notTranslated(_ text: String) throws {
        let remedy = try #require(#expect(throws: Mistake.self) { try CronRule(text) }?.remedy)
        #expect(remedy.hasPrefix("Leave out seconds and year") && remedy.contains("For example"))
    }

    @Test("the proposal for a range that runs backwards names the values that were meant", arguments: 0..<40)
    func backwards(seed: Int) throws {
        var random = SplitMix(seed: UInt64(seed))
        for (field, kind) in CronField.all.enumerated() {
            let highest = kind.values.upperBound
            let first = Int.random(in: kind.values.lowerBound + 1...highest, using: &random)
            let last = Int.random(in: kind.values.lowerBound..<first, using: &random)
            let step = Int.random(in: 1...4, using: &random)
            let range = "\(first)-\(last)" + (step > 1 ? "/\(step)" : "")
            var fields = ["0", "9", "*", "*", "*"]
            fields[field] = range
            // A week may end with Sunday.
            guard let mistake = Self.mistake(fields.joined(separator: " ")) else { continue }
            fields[field] = String(try #require(mistake.remedy?.firstMatch(of: /Write ([0-9,-]+)\./)).output.1)
            let count = (highest == 7 ? 6 : highest) - kind.values.lowerBound + 1
            let start = first == 7 && highest == 7 ? 0 : first
            let wanted = stride(from: start, through: last < start ? last + count : last, by: step)
                .reduce(UInt64(0)) { $0 | 1 << UInt64(($1 - kind.values.lowerBound) % count + kind.values.lowerBound) }
            #expect(try kind.bits(fields[field][...], at: 0) == wanted, "\(range) became \(fields[field])")
        }
    }

    private static func mistake(_ text: String) -> Mistake? {
        do throws(Mistake) {
            _ = try CronRule(text)
            return nil
        } catch { return error }
    }

    private func nextTimes(of rule: CronRule) throws -> [String] {
        var (times, start) = ([String](), try local("2026-01-01 00:00"))
        while times.count < 20, let next = rule.next(from: start) {
            times.append(next.words)
            start = LocalTime(minutes: next.minutes + 1)
        }
        return times
    }
}
