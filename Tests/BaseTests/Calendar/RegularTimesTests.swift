@testable import Base
import Testing

@Suite("Regular times")
struct RegularTimesTests {
    @Test(
        "a cron rule is read back as what people choose, however it is written",
        arguments: [
            ("0 9 * * *", RegularTimes(.everyDay, minuteOfDay: 540)),
            ("5 0 */1 * 0-6", RegularTimes(.everyDay, minuteOfDay: 5)),
            ("30 18 * * mon-fri", RegularTimes(.workingDays, minuteOfDay: 1_110)),
            ("30 18 * * 5,4,3,2,1", RegularTimes(.workingDays, minuteOfDay: 1_110)),
            ("0 9 * * mon,THU", RegularTimes(.weekdays([1, 4]), minuteOfDay: 540)),
            ("0 9 * * 7", RegularTimes(.weekdays([0]), minuteOfDay: 540)),
            ("0 9 * * fri-sun", RegularTimes(.weekdays([5, 6, 0]), minuteOfDay: 540)),
            ("59 23 31 * *", RegularTimes(.dayOfMonth(31), minuteOfDay: 1_439)),
        ])
    func reading(rule: String, times: RegularTimes) throws { #expect(try RegularTimes(CronRule(rule)) == times) }

    @Test(
        "a rule that means more stays a rule",
        arguments: [
            "0,30 9 * * *", "0 9,18 * * *", "*/5 * * * *", "0 9 1,15 * *", "0 9 1 jan *", "0 9 1 * mon", "0 9 */2 * *",
            "0 9 */31,1-7 * mon",
            // Both are restricted, so cron sends on every day, which is not what the choice of
            // Monday means.
            "0 9 1-31 * mon",
        ])
    func others(rule: String) throws { #expect(try RegularTimes(CronRule(rule)) == nil) }

    @Test("what is chosen is written as a rule with the same times")
    func writing() throws {
        var choices: [RegularTimes.Days] = [.everyDay, .workingDays] + (1...31).map { .dayOfMonth($0) }
        for set in 1..<127 {
            let days = Set((0...6).filter { set >> $0 & 1 == 1 })
            if days != [1, 2, 3, 4, 5] { choices.append(.weekdays(days)) }
        }
        for (number, days) in choices.enumerated() {
            let times = RegularTimes(days, minuteOfDay: number * 7 % 1_440)
            #expect(try RegularTimes(CronRule(times.rule)) == times, "\(times.rule)")
        }
        #expect(RegularTimes(.weekdays([0, 4, 1]), minuteOfDay: 545).rule == "5 9 * * mon,thu,sun")
    }
}
