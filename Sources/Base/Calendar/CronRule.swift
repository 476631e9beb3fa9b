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

/// One of the five fields of a cron rule.
struct CronField: Sendable {
    var name: String
    var values: ClosedRange<Int>
    /// Names of the values, starting with the lowest.
    var names: [String] = []

    static let minute = CronField(name: "minute", values: 0...59)
    static let hour = CronField(name: "hour", values: 0...23)
    static let day = CronField(name: "day of the month", values: 1...31)
    static let month = CronField(
        name: "month", values: 1...12,
        names: ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"])
    /// 0 and 7 are both Sunday.
    static let weekday = CronField(
        name: "day of the week", values: 0...7, names: ["sun", "mon", "tue", "wed", "thu", "fri", "sat"])

    /// In the order in which they are written.
    static let all = [minute, hour, day, month, weekday]

    /// The values that a field names, as bits.
    /// - Parameter offset: where the field begins in the rule, in UTF-8 bytes.
    func bits(_ text: Substring, at offset: Int) throws(Mistake) -> UInt64 {
        var bits: UInt64 = 0
        var place = offset
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            bits |= try self.part(part, at: place)
            place += part.utf8.count + 1
        }
        return bits
    }

    /// `*`, `5`, `1-5`, `mon-fri`, each optionally with `/step`.
    private func part(_ text: Substring, at offset: Int) throws(Mistake) -> UInt64 {
        let halves = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        let range = try range(halves[0], at: offset, of: text)
        guard halves.count == 2 else { return Self.bits(range, step: 1) }
        let stepOffset = offset + halves[0].utf8.count + 1
        guard halves[0].contains("-") || halves[0] == "*" else {
            throw Mistake(
                "'\(text)' has a step from a single \(name)", remedy: remedy(forStep: halves[1], from: halves[0]),
                at: offset)
        }
        guard let step = Self.number(halves[1]), step > 0 else {
            throw Mistake(
                "'\(halves[1])' is not a step", remedy: "Write a whole number above 0, for example */5.", at: stepOffset
            )
        }
        return Self.bits(range, step: step)
    }

    private static func bits(_ range: ClosedRange<Int>, step: Int) -> UInt64 {
        stride(from: range.lowerBound, through: range.upperBound, by: step).reduce(0) { $0 | 1 << UInt64($1) }
    }

    private var lastWritten: Int { values.upperBound == 7 ? 6 : values.upperBound }

    /// - Parameter part: the range with its step, if it has one.
    private func range(_ text: Substring, at offset: Int, of part: Substring) throws(Mistake) -> ClosedRange<Int> {
        if text == "*" { return values.lowerBound...lastWritten }
        let ends = text.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
        let first = try value(ends[0], at: offset)
        guard ends.count == 2 else { return first...first }
        var last = try value(ends[1], at: offset + ends[0].utf8.count + 1)
        // A week may end with Sunday: fri-sun.
        if values.upperBound == 7, last == 0, first > 0 { last = 7 }
        guard first <= last else {
            throw Mistake(
                "the range '\(part)' runs backwards", remedy: "Write \(forwards(part, ends, from: first, to: last)).",
                at: offset)
        }
        return first...last
    }

    /// The values of a range that runs past the highest one, as two ranges; with a step, as a list.
    private func forwards(_ part: Substring, _ ends: [Substring], from first: Int, to last: Int) -> String {
        let step = part.split(separator: "/", maxSplits: 1).dropFirst().first.flatMap { Self.number($0) } ?? 1
        // 7 is Sunday, the first day of the next week.
        let start = first > lastWritten ? values.lowerBound : first
        if step > 1 {
            let count = lastWritten - values.lowerBound + 1
            return stride(from: start, through: last < start ? last + count : last, by: step)
                .map { written(($0 - values.lowerBound) % count + values.lowerBound, like: ends[0]) }.joined(
                    separator: ",")
        }
        func range(_ from: Int, _ to: Int, like text: Substring) -> String {
            from == to ? written(from, like: text) : "\(written(from, like: text))-\(written(to, like: text))"
        }
        if start <= last { return range(start, last, like: ends[1]) }
        return "\(range(start, lastWritten, like: ends[0])),\(range(values.lowerBound, last, like: ends[1]))"
    }

    private func written(_ value: Int, like text: Substring) -> String {
        names.isEmpty || Self.number(text) != nil ? String(value) : names[value - values.lowerBound]
    }

    /// The name with its article.
    private var one: String { "\(name == "hour" ? "an" : "a") \(name)" }

    private func value(_ text: Substring, at offset: Int) throws(Mistake) -> Int {
        if let index = names.firstIndex(of: text.lowercased()) { return values.lowerBound + index }
        if let number = Self.number(text) {
            if values.contains(number) { return number }
            throw Mistake(
                "\(number) is not \(one)",
                remedy:
                    "\(one.prefix(1).uppercased())\(one.dropFirst()) is a number from \(values.lowerBound) to \(values.upperBound).",
                at: offset)
        }
        throw Mistake(
            text.isEmpty ? "\(one) is missing" : "'\(text.prefix(60))' is not \(one)", remedy: remedy(for: text),
            at: offset)
    }

    private func remedy(for text: Substring) -> String {
        if let dash = text.first(where: WrittenDash.isDash) {
            return "The dash '\(dash)' is not a hyphen. Write \(WrittenDash.replaced(text))."
        }
        if let short = names.first(where: { text.utf8.count > 3 && text.lowercased().hasPrefix($0) }) {
            return "Write \(short)."
        }
        if text == "?" { return "Cron has no ?, unlike some other schedulers. Write * for any." }
        if text.contains(where: { "LW#".contains($0) }) {
            return
                "Cron has none of the letters and signs that some other schedulers know (L, W, #). \(name == "day of the month" && text == "L" ? "Write 28, a day that every month has, or" : "Write") "
                + "a campaign for each date, with `at` instead of `repeat`."
        }
        let example = names.isEmpty ? "" : ", or a name from \(names[0]) to \(names[names.count - 1])"
        return
            "Write a number from \(values.lowerBound) to \(values.upperBound)\(example), a list (1,3), a range (1-5), a step (*/2), or * for any."
    }

    /// For minutes, hours, days and months, a range can say where the steps begin. Each week begins
    /// again, so no field can mean every second week.
    private func remedy(forStep step: Substring, from first: Substring) -> String {
        guard values.upperBound == 7 else { return "Write \(first)-\(lastWritten)/\(step), or */\(step)." }
        return
            "Cron does not count weeks. Write \(first) for every week, or a campaign for each date, with `at` instead of `repeat`."
    }

    private static func number(_ text: Substring) -> Int? {
        guard (1...4).contains(text.utf8.count),
            text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
        else {
            return nil
        }
        return Int(text)
    }
}
