/// A date and a minute as shown by a clock on the wall, in no particular zone. Proleptic Gregorian
/// calendar.
///
/// ```swift
/// let opening = LocalTime("2026-12-01T09:00")
/// let next = opening?.adding(minutes: 24 * 60).words  // 2026-12-02 09:00
/// ```
public struct LocalTime: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// Minutes since 1970-01-01 00:00 on that clock, as if the clock had never been changed.
    public var minutes: Int

    /// A time from minutes since 1970-01-01 00:00.
    public init(minutes: Int) { self.minutes = minutes }

    /// Minutes since 1970-01-01 00:00 in UTC, rounded down.
    public static func minutes(of moment: Timestamp) -> Int { quotient(Int(moment.epochSeconds), divisor: 60) }

    /// A time from its parts; nil if there is no such date or time.
    public init?(year: Int, month: Int, day: Int, hour: Int = 0, minute: Int = 0) {
        guard (1...9999).contains(year), (1...12).contains(month),
            (1...Self.days(inMonth: month, of: year)).contains(day),
            (0...23).contains(hour), (0...59).contains(minute)
        else { return nil }
        minutes = (daysFromCivil(year: year, month: month, day: day) * 24 + hour) * 60 + minute
    }

    /// Reads `2026-12-01 09:00`, with a space or `T` in between; nil for anything else.
    public init?(_ text: String) {
        let bytes = Array(text.utf8)
        guard bytes.count == 16, bytes[4] == UInt8(ascii: "-"), bytes[7] == UInt8(ascii: "-"),
            bytes[13] == UInt8(ascii: ":"),
            bytes[10] == UInt8(ascii: " ") || bytes[10] == UInt8(ascii: "T") || bytes[10] == UInt8(ascii: "t"),
            let year = Self.number(bytes[0..<4]), let month = Self.number(bytes[5..<7]),
            let day = Self.number(bytes[8..<10]),
            let hour = Self.number(bytes[11..<13]), let minute = Self.number(bytes[14..<16])
        else { return nil }
        self.init(year: year, month: month, day: day, hour: hour, minute: minute)
    }

    /// Days since 1970-01-01.
    public var dayNumber: Int { Self.quotient(minutes, divisor: 24 * 60) }

    /// Minutes since midnight, 0 to 1439.
    public var minuteOfDay: Int { minutes - dayNumber * 24 * 60 }

    /// The date.
    public var date: (year: Int, month: Int, day: Int) { civilDate(fromDays: dayNumber) }

    /// 0 for Sunday to 6 for Saturday.
    public var weekday: Int {
        // 1970-01-01 was a Thursday.
        let weekday = (dayNumber + 4) % 7
        return weekday < 0 ? weekday + 7 : weekday
    }

    /// Midnight of the same day.
    public var startOfDay: LocalTime { LocalTime(minutes: dayNumber * 24 * 60) }

    /// This many minutes later on the same clock.
    public func adding(minutes: Int) -> LocalTime { LocalTime(minutes: self.minutes + minutes) }

    /// Earlier times come first.
    public static func < (left: LocalTime, right: LocalTime) -> Bool { left.minutes < right.minutes }

    /// `2026-12-01T09:00`, which is also the name of an occurrence.
    public var description: String { text(between: "T") }

    /// `2026-12-01 09:00`, as people write it.
    public var words: String { text(between: " ") }

    /// `09:00`
    public var timeOfDay: String {
        "\(Self.padded(minuteOfDay / 60, width: 2)):\(Self.padded(minuteOfDay % 60, width: 2))"
    }

    private func text(between separator: String) -> String {
        let date = date
        return
            "\(Self.padded(date.year, width: 4))-\(Self.padded(date.month, width: 2))-\(Self.padded(date.day, width: 2))\(separator)\(timeOfDay)"
    }

    /// The number of days in a month.
    static func days(inMonth month: Int, of year: Int) -> Int {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    /// Rounded down, also for negative numbers.
    static func quotient(_ number: Int, divisor: Int) -> Int {
        number >= 0 ? number / divisor : (number - divisor + 1) / divisor
    }

    private static func padded(_ number: Int, width: Int) -> String { TextFormat.zeroPadded(number, digits: width) }

    private static func number(_ digits: ArraySlice<UInt8>) -> Int? {
        var value = 0
        for byte in digits {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
            value = value * 10 + Int(byte - UInt8(ascii: "0"))
        }
        return value
    }
}

extension LocalTime {
    /// Days since 1970-01-01 of an existing date.
    static func dayNumber(_ year: Int, month: Int, day: Int) -> Int {
        daysFromCivil(year: year, month: month, day: day)
    }
}
