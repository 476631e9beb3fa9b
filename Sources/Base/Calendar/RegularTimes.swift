/// Times that people choose without knowing cron: one time of day, on days that a few words name.
///
/// ```swift
/// let rule = RegularTimes(.weekdays([1, 3]), minuteOfDay: 9 * 60).rule  // 0 9 * * mon,wed
/// ```
public struct RegularTimes: Hashable, Sendable {
    /// The days.
    public enum Days: Hashable, Sendable {
        case everyDay
        /// Monday to Friday.
        case workingDays
        /// Of every week; 0 is Sunday, 6 is Saturday. At least one.
        case weekdays(Set<Int>)
        /// Of every month, 1 to 31. Months without it are left out.
        case dayOfMonth(Int)
    }

    /// The days.
    public var days: Days
    /// Minutes since midnight, 0 to 1439.
    public var minuteOfDay: Int

    /// Times of these days.
    public init(_ days: Days, minuteOfDay: Int) { (self.days, self.minuteOfDay) = (days, minuteOfDay) }

    /// The days of a week as cron names them, in the order in which people name them.
    public static let weekdays = [1, 2, 3, 4, 5, 6, 0].map { (number: $0, name: CronField.weekday.names[$0]) }
    private static let monday = 1, friday = 5

    /// What a rule means, however it is written.
    /// - Returns: nil when it means anything else, such as several times a day.
    public init?(_ rule: CronRule) {
        guard let minute = rule.minutes.onlyBit, let hour = rule.hours.onlyBit, rule.months == Self.bits(1...12) else {
            return nil
        }
        minuteOfDay = hour * 60 + minute
        let isAnyDay = rule.days == Self.bits(1...31), isAnyWeekday = rule.weekdays == Self.bits(0...6)
        switch (isAnyDay, isAnyWeekday) {
        case (true, true): days = .everyDay
        // Cron unites both where neither begins with *.
        case (true, false) where !rule.unitesDays:
            let weekdays = Set((0...6).filter { rule.weekdays >> UInt64($0) & 1 == 1 })
            days = weekdays == Set(Self.monday...Self.friday) ? .workingDays : .weekdays(weekdays)
        case (false, true) where !rule.unitesDays:
            guard let day = rule.days.onlyBit else { return nil }
            days = .dayOfMonth(day)
        default: return nil
        }
    }

    /// The rule, as cron writes it: `0 9 * * mon,thu`.
    public var rule: String {
        let time = "\(minuteOfDay % 60) \(minuteOfDay / 60)"
        switch days {
        case .everyDay: return "\(time) * * *"
        case .workingDays: return "\(time) * * mon-fri"
        case .weekdays(let days):
            return "\(time) * * \(Self.weekdays.filter { days.contains($0.number) }.map(\.name).joined(separator: ","))"
        case .dayOfMonth(let day): return "\(time) \(day) * *"
        }
    }

    private static func bits(_ values: ClosedRange<Int>) -> UInt64 { values.reduce(0) { $0 | 1 << UInt64($1) } }
}

extension UInt64 {
    /// The number of the only bit that is set; nil for none or several.
    fileprivate var onlyBit: Int? { nonzeroBitCount == 1 ? trailingZeroBitCount : nil }
}
