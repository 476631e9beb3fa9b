/// A date without separators, as spreadsheets and databases often write it: `20261101`,
/// `202611010930`, `20261101093015`.
///
/// Twelve and fourteen digits could also be milliseconds since 1970. They are read as a date if
/// they make a date of the years 1970 to 2199: as milliseconds they would be a moment in 1976, or
/// in the year 2594 or later.
public struct CompactDate: Hashable, Sendable {
    /// As written.
    public var year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0

    /// nil for anything other than the digits of such a date.
    public init?(_ bytes: UnsafeBufferPointer<UInt8>) {
        guard bytes.count == 8 || bytes.count == 12 || bytes.count == 14 else { return nil }
        func number(_ first: Int, count: Int) -> Int? {
            var value = 0
            for place in first..<first + count {
                let digit = bytes[place] &- UInt8(ascii: "0")
                guard digit <= 9 else { return nil }
                value = value * 10 + Int(digit)
            }
            return value
        }
        guard let year = number(0, count: 4), (1970...2199).contains(year), let month = number(4, count: 2),
            (1...12).contains(month),
            let day = number(6, count: 2), (1...daysInMonth(month, year: year)).contains(day)
        else { return nil }
        self.year = year
        self.month = month
        self.day = day
        guard bytes.count > 8 else { return }
        guard let hour = number(8, count: 2), hour < 24, let minute = number(10, count: 2), minute < 60,
            let second = bytes.count == 14 ? number(12, count: 2) : 0, second < 61
        else { return nil }
        self.hour = hour
        self.minute = minute
        self.second = second
    }

    /// The moment in UTC.
    var timestamp: Timestamp {
        Timestamp(
            epochSeconds: Int64(daysFromCivil(year: year, month: month, day: day)) * 86_400
                + Int64(hour * 3600 + minute * 60 + second))
    }
}
