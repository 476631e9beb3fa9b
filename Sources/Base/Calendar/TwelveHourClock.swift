/// Times of day such as `9:00 PM`, `9pm` or `12 a.m.`: the intended time is known, and may be half a day away from the digits.
public enum TwelveHourClock {
    /// `21:00` for `9:00 PM`; nil for anything else.
    public static func time(in text: String) -> String? {
        let small = text.lowercased().filter { $0 != " " && $0 != "." }
        guard let half = ["am", "pm"].first(where: small.hasSuffix) else { return nil }
        let parts = small.dropLast(2).split(separator: ":", omittingEmptySubsequences: false)
        guard (1...3).contains(parts.count),
            parts.allSatisfy({ (1...2).contains($0.utf8.count) && $0.utf8.allSatisfy { (48...57).contains($0) } }),
            let hour = Int(parts[0]), (1...12).contains(hour), let minute = Int(parts.count > 1 ? parts[1] : "0"), minute < 60
        else { return nil }
        return LocalTime(minutes: (hour % 12 + (half == "pm" ? 12 : 0)) * 60 + minute).timeOfDay
    }
}
