/// A part of every day in which nothing is sent; it may extend past midnight. `begin` is its first
/// minute, and `end` is the first minute after it.
///
/// ```swift
/// let quiet = try QuietHours("22:00-08:00")
/// let shanghai = try ZoneDatabase.system.zone(named: "Asia/Shanghai")
/// let moment = quiet.contains(now, in: shanghai) ? quiet.end(from: now, in: shanghai) : now
/// ```
public struct QuietHours: Hashable, Sendable, CustomStringConvertible {
    /// Minutes since midnight, 0 to 1439.
    public var begin: Int
    /// Minutes since midnight, 0 to 1439; never the same as `begin`.
    public var end: Int

    /// - Throws: a `Mistake` if `text` is not of the form `21:00-08:00`, or is an empty period.
    public init(_ text: String) throws(Mistake) {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        if let dash = text.first(where: WrittenDash.isDash) {
            throw Mistake(
                "'\(text.prefix(60))' has a dash ('\(dash)') instead of a hyphen between the two times",
                remedy: "Write \(WrittenDash.replaced(text.filter { $0 != " " })), with the hyphen of the keyboard.")
        }
        let example = "Write when they begin and end, for example 21:00-08:00."
        let meant = parts.compactMap { TwelveHourClock.time(in: String($0)) }
        guard meant.count < 2 else {
            throw Mistake(
                "'\(text.prefix(60))' is written in the 12-hour clock", remedy: "Write \(meant.joined(separator: "-"))."
            )
        }
        guard parts.count == 2 else { throw Mistake("'\(text.prefix(60))' is not a range of hours", remedy: example) }
        begin = try Self.minute(parts[0], at: 0, remedy: example)
        end = try Self.minute(parts[1], at: parts[0].utf8.count + 1, remedy: example)
        if end == 24 * 60 { end = 0 }
        guard begin != 24 * 60 else {
            throw Mistake("a day begins at 00:00, not at 24:00", remedy: "Write 00:00-\(parts[1].drop { $0 == " " }).")
        }
        guard begin != end else {
            throw Mistake("these hours begin and end at the same time", remedy: example)
        }
    }

    private static func minute(_ text: Substring, at offset: Int, remedy: String) throws(Mistake) -> Int {
        let spaces = text.prefix { $0 == " " }.utf8.count
        let trimmed = String(text.dropFirst(spaces).reversed().drop { $0 == " " }.reversed())
        let parts = trimmed.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2,
            parts.allSatisfy({ $0.utf8.count <= 2 && !$0.isEmpty && $0.utf8.allSatisfy { (48...57).contains($0) } }),
            parts[1].utf8.count == 2, let hour = Int(parts[0]), let minute = Int(parts[1]),
            hour < 24 && minute < 60 || hour == 24 && minute == 0
        else { throw Mistake("'\(trimmed.prefix(60))' is not a time of day", remedy: remedy, at: offset + spaces) }
        return hour * 60 + minute
    }

    /// `21:00-08:00`
    public var description: String {
        "\(LocalTime(minutes: begin).timeOfDay)-\(LocalTime(minutes: end).timeOfDay)"
    }

    /// Whether a minute of a day, 0 to 1439, is quiet.
    public func contains(minuteOfDay minute: Int) -> Bool {
        begin < end ? (begin..<end).contains(minute) : minute >= begin || minute < end
    }

    /// Whether a moment is quiet in a zone.
    public func contains(_ moment: Timestamp, in zone: ZoneRules) -> Bool {
        contains(minuteOfDay: zone.localTime(at: moment).minuteOfDay)
    }

    /// The first moment, from this one on, that is not quiet in a zone: the moment itself, or the
    /// end of the current quiet hours.
    public func end(from moment: Timestamp, in zone: ZoneRules) -> Timestamp {
        first(isQuiet: false, from: moment, in: zone)
    }

    /// The first moment, from this one on, that is quiet in a zone.
    public func begin(from moment: Timestamp, in zone: ZoneRules) -> Timestamp {
        first(isQuiet: true, from: moment, in: zone)
    }

    /// A change of clocks may also begin or end quiet hours, or make them begin or end twice.
    private func first(isQuiet: Bool, from moment: Timestamp, in zone: ZoneRules) -> Timestamp {
        if contains(moment, in: zone) == isQuiet { return moment }
        let limit = moment.adding(seconds: 4 * 86_400)
        let today = zone.localTime(at: moment).startOfDay
        var candidates = zone.changes(after: moment, through: limit)
        for day in -1...4 {
            candidates += zone.moments(of: today.adding(minutes: day * 24 * 60 + (isQuiet ? begin : end)))
        }
        return candidates.filter { $0 > moment && contains($0, in: zone) == isQuiet }.min() ?? limit
    }

    /// How many seconds between two moments were not quiet.
    public func audibleSeconds(from start: Timestamp, to end: Timestamp, in zone: ZoneRules) -> Int {
        // Beyond a year, the exact number does not matter.
        var time = max(start, end.adding(seconds: -366 * 86_400))
        var seconds = 0
        while time < end {
            let audible = self.end(from: time, in: zone)
            guard audible < end else { break }
            let next = min(begin(from: audible, in: zone), end)
            seconds += Int(next.epochSeconds - audible.epochSeconds)
            time = next
        }
        return seconds
    }
}

/// Dashes that word processors write in place of a hyphen, and that look like one.
public enum WrittenDash {
    /// Whether a character is one of them.
    static func isDash(_ character: Character) -> Bool {
        "\u{2010}\u{2011}\u{2012}\u{2013}\u{2014}\u{2015}\u{2212}\u{FE58}\u{FE63}\u{FF0D}".contains(character)
    }

    /// A text with hyphens in place of such dashes.
    static func replaced(_ text: some StringProtocol) -> String { String(text.map { isDash($0) ? "-" : $0 }) }

    /// What is wrong with a text that would be right with hyphens; nil for others.
    /// - Parameter remedy: what to write, without a full stop.
    public static func mistake(in text: String, isRight: (String) -> Bool, remedy: (String) -> String) -> Mistake? {
        guard let dash = text.first(where: isDash), case let plain = replaced(text), isRight(plain) else { return nil }
        return Mistake(
            "'\(text.prefix(60))' has a dash ('\(dash)') instead of a hyphen",
            remedy: "\(remedy(plain)), with the hyphen of the keyboard.")
    }
}

/// Times of day such as `9:00 PM`, `9pm` or `12 a.m.`: the intended time is known, and may be half
/// a day away from the digits.
public enum TwelveHourClock {
    /// `21:00` for `9:00 PM`; nil for anything else.
    public static func time(in text: String) -> String? {
        let small = text.lowercased().filter { $0 != " " && $0 != "." }
        guard let half = ["am", "pm"].first(where: small.hasSuffix) else { return nil }
        let parts = small.dropLast(2).split(separator: ":", omittingEmptySubsequences: false)
        guard (1...3).contains(parts.count),
            parts.allSatisfy({ (1...2).contains($0.utf8.count) && $0.utf8.allSatisfy { (48...57).contains($0) } }),
            let hour = Int(parts[0]), (1...12).contains(hour), let minute = Int(parts.count > 1 ? parts[1] : "0"),
            minute < 60
        else { return nil }
        return LocalTime(minutes: (hour % 12 + (half == "pm" ? 12 : 0)) * 60 + minute).timeOfDay
    }
}
