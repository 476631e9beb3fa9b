/// The header `date`: `Sun, 06 Nov 1994 08:49:37 GMT` (IMF-fixdate, RFC 9110 section 5.6.7).
extension Timestamp {
    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
    private static let weekdays = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]

    /// Reads the form that servers must write; nil for anything else, including the two obsolete forms.
    public init?(httpDate text: String) {
        guard text.utf8.count == 29, text.utf8.allSatisfy({ $0 < 0x80 }) else { return nil }
        let parts = text.split(separator: " ", omittingEmptySubsequences: false)
        guard parts.count == 6, parts[0].utf8.count == 4, parts[0].hasSuffix(","), parts[5] == "GMT",
            let month = Self.months.firstIndex(of: String(parts[2]))
        else { return nil }
        let clock = parts[4].split(separator: ":", omittingEmptySubsequences: false)
        guard clock.count == 3, let day = Self.number(parts[1], count: 2), let year = Self.number(parts[3], count: 4),
            let hour = Self.number(clock[0], count: 2),
            let minute = Self.number(clock[1], count: 2), let second = Self.number(clock[2], count: 2),
            // A leap second is written as 60.
            (1...31).contains(day), hour < 24, minute < 60, second <= 60
        else { return nil }
        let days = daysFromCivil(year: year, month: month + 1, day: day)
        guard civilDate(fromDays: days).day == day else { return nil }
        self.init(epochSeconds: Int64(days) * 86_400 + Int64(hour * 3600 + minute * 60 + second))
    }

    /// This moment in the form that servers write, to the second.
    public var httpDate: String {
        let days = Int((Double(epochSeconds) / 86_400).rounded(.down))
        let date = civilDate(fromDays: days)
        let seconds = Int(epochSeconds) - days * 86_400
        let clock = [seconds / 3600, seconds / 60 % 60, seconds % 60].map { Self.digits($0, width: 2) }.joined(separator: ":")
        let weekday = Self.weekdays[((days % 7) + 7) % 7]
        return
            "\(weekday), \(Self.digits(date.day, width: 2)) \(Self.months[date.month - 1]) \(Self.digits(date.year, width: 4)) \(clock) GMT"
    }

    private static func number(_ digits: Substring, count: Int) -> Int? {
        guard digits.utf8.count == count, digits.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else {
            return nil
        }
        return Int(digits)
    }

    private static func digits(_ number: Int, width: Int) -> String { TextFormat.zeroPadded(number, digits: width) }
}
