/// Recurring times, in cron's five fields: minute, hour, day of the month, month, day of the week.
///
/// As in Vixie's cron, days of the month and of the week are combined if both are restricted, that
/// is, if neither field begins with `*`: `0 9 1 * mon` is the first of every month and every
/// Monday. Source: crontab(5).
///
/// ```swift
/// let mondays = try CronRule("0 9 * * 1")
/// let first = mondays.next(from: LocalTime(year: 2026, month: 12, day: 1)!)  // 2026-12-07T09:00
/// ```
public struct CronRule: Hashable, Sendable, CustomStringConvertible {
    /// As written.
    public let description: String
    /// What each field names, as bits; 0 is Sunday.
    let minutes: UInt64
    let hours: UInt64
    let days: UInt64
    let months: UInt64
    let weekdays: UInt64
    private let daysAreFree: Bool
    private let weekdaysAreFree: Bool
    /// Whether the campaign should be sent repeatedly within a day, rather than at chosen times:
    /// minute or hour begins with `*`.
    public let isWildcard: Bool

    /// Whether both days of the month and days of the week are restricted, so that a day needs to
    /// match only one of them.
    public var unitesDays: Bool { !daysAreFree && !weekdaysAreFree }

    /// - Throws: `Mistake` if it is not a rule, or never applies.
    public init(_ text: String) throws(Mistake) {
        description = text
        let fields = text.split(separator: " ").flatMap { $0.split(separator: "\t") }
        try Self.checkCount(fields, of: text)
        try Self.checkMinute(fields)
        try Self.checkWeekOfMonth(fields, in: text)
        var bits: [UInt64] = []
        for (field, kind) in zip(fields, CronField.all) {
            bits.append(try kind.bits(field, at: text.utf8.distance(from: text.startIndex, to: field.startIndex)))
        }
        minutes = bits[0]
        hours = bits[1]
        days = bits[2]
        months = bits[3]
        // 7 is also Sunday.
        weekdays = (bits[4] | bits[4] >> 7) & 0x7F
        daysAreFree = fields[2].hasPrefix("*")
        weekdaysAreFree = fields[4].hasPrefix("*")
        isWildcard = fields[0].hasPrefix("*") || fields[1].hasPrefix("*")
        guard hasSomeDay else {
            throw Mistake(
                "'\(fields[2]) \(fields[3])' is not a date of any year, so this would never be sent",
                remedy: "Correct the day or the month.",
                at: text.utf8.distance(from: text.startIndex, to: fields[2].startIndex))
        }
    }

    private static func checkCount(_ fields: [Substring], of text: String) throws(Mistake) {
        if fields.first?.hasPrefix("@") == true { throw word(fields.joined(separator: " ")) }
        guard fields.count != 5 else { return }
        let remedy: String
        let translations = translations(of: fields)
        if !translations.isEmpty {
            let rules = translations.map { "\"\($0.rule)\"" + (translations.count > 1 ? " \($0.reading)" : "") }.joined(
                separator: ", or ")
            remedy =
                "Write \(rules): minute, hour, day of the month, month and day of the week, without seconds\(translations.count > 1 ? " or year" : "")."
        } else {
            remedy =
                (fields.count > 5
                    ? "Leave out seconds and year, and write days of the week as names, because schedulers number them differently: "
                    : "Write ")
                + "minute, hour, day of the month, month and day of the week. For example, \"0 9 * * mon,thu\" is every Monday and Thursday at 09:00."
        }
        throw Mistake(
            "'\(text.prefix(60))' has \(fields.count) \(TextFormat.plural(fields.count, one: "field")) instead of five",
            remedy: remedy)
    }

    /// The words of Vixie's cron for whole rules. Source: crontab(5). Each of them means a
    /// midnight, but `@hourly` and `@reboot`.
    private static func word(_ text: String) -> Mistake {
        let shown = "'\(text.prefix(60))'"
        func midnight(_ days: String) -> Mistake {
            Mistake(
                "\(shown) means midnight", remedy: "Write \"0 0 \(days)\" for midnight, or \"0 9 \(days)\" for 09:00.")
        }
        switch text.lowercased() {
        case "@hourly": return Mistake("\(shown) is not written in five fields", remedy: "Write \"0 * * * *\".")
        case "@daily", "@midnight": return midnight("* * *")
        case "@weekly": return midnight("* * sun")
        case "@monthly": return midnight("1 * *")
        case "@yearly", "@annually": return midnight("1 1 *")
        default:
            return Mistake(
                "\(shown) does not say when to send",
                remedy:
                    "Write minute, hour, day of the month, month and day of the week. For example, \"0 9 * * mon,thu\" is every Monday and Thursday at 09:00."
            )
        }
    }

    /// What a rule with six or seven fields may mean in cron, and how it is read for that: other
    /// schedulers begin with the second (Quartz), or end with the year (AWS). Seconds must be 0,
    /// and days of the week no numbers, as both count them from 1 for Sunday.
    private static func translations(of fields: [Substring]) -> [(rule: String, reading: String)] {
        func isAny(_ field: Substring) -> Bool { field == "*" || field == "?" }
        func rule(_ fields: ArraySlice<Substring>) -> String? {
            // `?` is a day that the other field of days decides.
            guard fields.enumerated().allSatisfy({ $1 != "?" || $0 == 2 || $0 == 4 }), let weekday = fields.last,
                weekday.utf8.allSatisfy({ !(0x30...0x39).contains($0) })
            else { return nil }
            let rule = fields.map { $0 == "?" ? "*" : String($0) }.joined(separator: " ")
            return (try? CronRule(rule)) == nil ? nil : rule
        }
        guard fields.count == 6 || fields.count == 7 && isAny(fields[6]) else { return [] }
        let bySecond = fields[0].allSatisfy { $0 == "0" } ? rule(fields[1...5]) : nil
        let byYear = fields.count == 6 && isAny(fields[5]) ? rule(fields[0...4]) : nil
        return [(bySecond, "if the first field is seconds"), (byYear, "if the last one is the year")].compactMap {
            rule, reading in
            rule.map { ($0, reading) }
        }
    }

    /// A free minute is usually a slip: `* 9 * * mon` matches sixty times. If every minute is
    /// intended, a step says so.
    private static func checkMinute(_ fields: [Substring]) throws(Mistake) {
        guard fields[0] == "*" else { return }
        let rest = fields.dropFirst().joined(separator: " ")
        let often = fields[1] == "*" ? "every minute" : "every minute of its hours, sixty times an hour"
        throw Mistake(
            "'* \(rest.prefix(60))' sends \(often)",
            remedy: "Write \"0 \(rest)\" for the full hour, or \"*/1 \(rest)\" if you mean every minute.")
    }

    /// `fri#1`, as some schedulers write the first Friday of a month.
    private static func checkWeekOfMonth(_ fields: [Substring], in text: String) throws(Mistake) {
        let parts = fields[4].split(separator: "#", omittingEmptySubsequences: false)
        guard parts.count == 2, !parts[0].isEmpty, let week = Int(parts[1]), (1...5).contains(week) else { return }
        throw Mistake(
            "'\(fields[4].prefix(60))' is not a day of the week: cron does not count the weeks of a month",
            remedy: week == 1
                ? "To send only on days 1 to 7 that are such a day, write \"\(fields[0]) \(fields[1]) */31,1-7 \(fields[3]) \(parts[0])\": "
                    + "where a field begins with *, both must hold."
                    // */31 also includes the 1st, which is such a day in some months.
                : "Cron can only say the first such day of a month. For another one, write a campaign for each date, with `at` instead of `repeat`.",
            at: text.utf8.distance(from: text.startIndex, to: fields[4].startIndex))
    }

    /// Whether any date matches: `30 feb` never does. Weekdays occur in every month.
    private var hasSomeDay: Bool {
        if daysAreFree || !weekdaysAreFree { return true }
        return (1...12).contains { month in
            months >> UInt64(month) & 1 == 1
                && days & (1 << UInt64(LocalTime.days(inMonth: month, of: 2000) + 1) - 1) > 1
        }
    }

    /// The months that the rule names, from 1 on, and that do not have a day in each year.
    public func months(without day: Int) -> [Int] {
        (1...12).filter { months >> UInt64($0) & 1 == 1 && LocalTime.days(inMonth: $0, of: 2001) < day }
    }

    /// Whether the rule matches a time.
    public func matches(_ time: LocalTime) -> Bool {
        let minute = UInt64(time.minuteOfDay % 60)
        let hour = UInt64(time.minuteOfDay / 60)
        return minutes >> minute & 1 == 1 && hours >> hour & 1 == 1 && matchesDay(of: time)
    }

    private func matchesDay(of time: LocalTime) -> Bool {
        let date = time.date
        guard months >> UInt64(date.month) & 1 == 1 else { return false }
        let isDay = days >> UInt64(date.day) & 1 == 1
        let isWeekday = weekdays >> UInt64(time.weekday) & 1 == 1
        return daysAreFree || weekdaysAreFree ? isDay && isWeekday : isDay || isWeekday
    }

    /// The first time that the rule matches, including `start`; nil if it does not match in the
    /// next hundred years.
    public func next(from start: LocalTime) -> LocalTime? {
        let limit = start.dayNumber + 100 * 366
        var time = start
        while time.dayNumber <= limit {
            if matchesDay(of: time), let minute = firstMinute(from: time.minuteOfDay) {
                return LocalTime(minutes: time.startOfDay.minutes + minute)
            }
            time = LocalTime(minutes: (time.dayNumber + 1) * 24 * 60)
        }
        return nil
    }

    /// The times of day that the rule may match and that satisfy a condition, in minutes since
    /// midnight. Ascending.
    public func timesOfDay(where isWanted: (_ minuteOfDay: Int) -> Bool) -> [Int] {
        (0..<24 * 60).filter {
            hours >> UInt64($0 / 60) & 1 == 1 && minutes >> UInt64($0 % 60) & 1 == 1 && isWanted($0)
        }
    }

    /// The first matching minute of a day, starting with `minute`.
    private func firstMinute(from minute: Int) -> Int? {
        (minute / 60..<24).lazy.compactMap { hour -> Int? in
            guard hours >> UInt64(hour) & 1 == 1 else { return nil }
            let rest = minutes >> UInt64(hour == minute / 60 ? minute % 60 : 0)
            guard rest != 0 else { return nil }
            return hour * 60 + (hour == minute / 60 ? minute % 60 : 0) + rest.trailingZeroBitCount
        }.first
    }
}
