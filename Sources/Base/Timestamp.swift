import Glibc

/// A moment in UTC, to the millisecond.
///
/// ```swift
/// let now = Timestamp.now(), tomorrow = now.adding(seconds: 86_400)
/// let opening = Timestamp("2026-12-01T09:00:00Z")
/// ```
public struct Timestamp: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// Milliseconds since 1970-01-01T00:00:00Z.
    public var epochMilliseconds: Int64

    /// A moment, in milliseconds since 1970.
    public init(epochMilliseconds: Int64) { self.epochMilliseconds = epochMilliseconds }

    /// A moment, in seconds since 1970.
    public init(epochSeconds: Int64) { epochMilliseconds = epochSeconds * 1000 }

    /// The current time of the system's clock.
    public static func now() -> Timestamp {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Timestamp(epochMilliseconds: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000)
    }

    /// Whole seconds since 1970, rounded down.
    public var epochSeconds: Int64 {
        epochMilliseconds >= 0 ? epochMilliseconds / 1000 : (epochMilliseconds - 999) / 1000
    }

    /// This moment plus a number of seconds.
    public func adding(seconds: Double) -> Timestamp {
        Timestamp(epochMilliseconds: epochMilliseconds + Int64((seconds * 1000).rounded()))
    }

    /// Earlier moments come first.
    public static func < (left: Timestamp, right: Timestamp) -> Bool {
        left.epochMilliseconds < right.epochMilliseconds
    }

    /// ISO 8601 to the second: `2026-12-01T09:00:00Z`.
    public var description: String {
        let parts = civil
        return
            "\(pad(parts.year, width: 4))-\(pad(parts.month))-\(pad(parts.day))T\(pad(parts.hour)):\(pad(parts.minute)):\(pad(parts.second))Z"
    }

    /// `2026-12-01 09:00 UTC`
    public var minuteText: String { description.prefix(16).replacing("T", with: " ") + " UTC" }

    /// ISO 8601 to the millisecond: `2026-12-01T09:00:00.123Z`.
    public var descriptionWithMilliseconds: String {
        "\(description.dropLast()).\(pad(Int(epochMilliseconds - epochSeconds * 1000), width: 3))Z"
    }

    /// `20261201-090000`, the start of run ids.
    public var compact: String {
        let parts = civil
        return
            "\(pad(parts.year, width: 4))\(pad(parts.month))\(pad(parts.day))-\(pad(parts.hour))\(pad(parts.minute))\(pad(parts.second))"
    }

    private var civil: (year: Int, month: Int, day: Int, hour: Int, minute: Int, second: Int) {
        let seconds = epochSeconds
        let day = seconds >= 0 ? seconds / 86400 : (seconds - 86399) / 86400
        let rest = Int(seconds - day * 86400)
        let date = civilDate(fromDays: Int(day))
        return (date.year, date.month, date.day, rest / 3600, rest / 60 % 60, rest % 60)
    }

    private func pad(_ number: Int, width: Int = 2) -> String { TextFormat.zeroPadded(number, digits: width) }
}

extension Timestamp {
    /// Reads the forms that exports use: `2026-11-01`, `2026-11-01 09:30[:15[.123]]` with `T` or a
    /// space, with `Z` or an offset such as `+08:00` (UTC without either); `20261101`,
    /// `202611010930` and `20261101093015`, as `CompactDate` tells them from numbers; epoch seconds
    /// (9 to 11 digits) or milliseconds (12 to 14 digits); nil for anything else.
    public init?(_ bytes: some Collection<UInt8>) {
        var scanner = DateScanner(Array(bytes))
        guard let moment = scanner.scan() else { return nil }
        self = moment
    }

    /// Reads the same from text.
    public init?(_ text: String) { self.init(text.utf8) }
}

/// Days from 1970-01-01 to a date in the proleptic Gregorian calendar. Source: Howard Hinnant,
/// "chrono-Compatible Low-Level Date Algorithms", days_from_civil.
@inlinable public func daysFromCivil(year: Int, month: Int, day: Int) -> Int {
    let y = month <= 2 ? year - 1 : year
    let era = (y >= 0 ? y : y - 399) / 400
    let yearOfEra = y - era * 400
    let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
    let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
    return era * 146097 + dayOfEra - 719468
}

/// The date that is this many days after 1970-01-01. Source: as above, civil_from_days.
public func civilDate(fromDays days: Int) -> (year: Int, month: Int, day: Int) {
    let z = days + 719468
    let era = (z >= 0 ? z : z - 146096) / 146097
    let dayOfEra = z - era * 146097
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36524 - dayOfEra / 146096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let mp = (5 * dayOfYear + 2) / 153
    let month = mp < 10 ? mp + 3 : mp - 9
    return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * mp + 2) / 5 + 1)
}

/// The number of days in a month.
public func daysInMonth(_ month: Int, year: Int) -> Int {
    switch month {
    case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
    case 4, 6, 9, 11: 30
    default: 31
    }
}

private struct DateScanner {
    private let bytes: [UInt8]
    private var index = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    mutating func scan() -> Timestamp? {
        if let compact = bytes.withUnsafeBufferPointer(CompactDate.init) { return compact.timestamp }
        if (9...14).contains(bytes.count), let epoch = number(digits: bytes.count), index == bytes.count {
            return bytes.count <= 11
                ? Timestamp(epochSeconds: Int64(epoch)) : Timestamp(epochMilliseconds: Int64(epoch))
        }
        index = 0
        guard let year = number(digits: 4), consume("-"), let month = number(digits: 2), consume("-"),
            let day = number(digits: 2)
        else {
            return nil
        }
        guard (1...12).contains(month), (1...daysInMonth(month, year: year)).contains(day) else { return nil }
        var milliseconds = Int64(daysFromCivil(year: year, month: month, day: day)) * 86_400_000
        guard index < bytes.count else { return Timestamp(epochMilliseconds: milliseconds) }
        guard consume("T") || consume("t") || consume(" "), let time = timeOfDay(), let offset = zoneOffset(),
            index == bytes.count
        else {
            return nil
        }
        milliseconds += time - offset
        return Timestamp(epochMilliseconds: milliseconds)
    }

    /// Milliseconds since midnight.
    private mutating func timeOfDay() -> Int64? {
        guard let hour = number(digits: 2), hour < 24, consume(":"), let minute = number(digits: 2), minute < 60 else {
            return nil
        }
        var milliseconds = Int64(hour * 3600 + minute * 60) * 1000
        guard consume(":") else { return milliseconds }
        guard let second = number(digits: 2), second < 61 else { return nil }
        milliseconds += Int64(second) * 1000
        guard consume(".") else { return milliseconds }
        var unit: Int64 = 100
        let start = index
        while index < bytes.count, let digit = digit(at: index) {
            milliseconds += Int64(digit) * unit
            unit /= 10
            index += 1
        }
        return index > start ? milliseconds : nil
    }

    /// Milliseconds east of UTC; 0 if there is no offset.
    private mutating func zoneOffset() -> Int64? {
        _ = consume(" ")
        if index == bytes.count || consume("Z") || consume("z") { return 0 }
        if bytes.count - index == 3, consume("U"), consume("T"), consume("C") { return 0 }
        let sign: Int64 = consume("-") ? -1 : 1
        guard sign < 0 || consume("+"), let hours = number(digits: 2), hours <= 14 else { return nil }
        guard index < bytes.count else { return sign * Int64(hours) * 3_600_000 }
        _ = consume(":")
        guard let minutes = number(digits: 2), minutes < 60 else { return nil }
        return sign * Int64(hours * 60 + minutes) * 60_000
    }

    private mutating func number(digits count: Int) -> Int? {
        guard index + count <= bytes.count else { return nil }
        var value = 0
        for place in index..<index + count {
            guard let digit = digit(at: place) else { return nil }
            value = value * 10 + digit
        }
        index += count
        return value
    }

    private func digit(at place: Int) -> Int? {
        let byte = bytes[place]
        return (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) ? Int(byte - UInt8(ascii: "0")) : nil
    }

    private mutating func consume(_ character: Unicode.Scalar) -> Bool {
        guard index < bytes.count, bytes[index] == UInt8(ascii: character) else { return false }
        index += 1
        return true
    }
}

/// The header `date`: `Sun, 06 Nov 1994 08:49:37 GMT` (IMF-fixdate, RFC 9110 section 5.6.7).
extension Timestamp {
    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
    private static let weekdays = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]

    /// Reads the form that servers must write; nil for anything else, including the two obsolete
    /// forms.
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
        let clock = [seconds / 3600, seconds / 60 % 60, seconds % 60].map { Self.digits($0, width: 2) }.joined(
            separator: ":")
        let weekday = Self.weekdays[((days % 7) + 7) % 7]
        return
            "\(weekday), \(Self.digits(date.day, width: 2)) \(Self.months[date.month - 1]) \(Self.digits(date.year, width: 4)) \(clock) GMT"
    }

    private static func number(_ digits: Substring, count: Int) -> Int? {
        guard digits.utf8.count == count,
            digits.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
        else {
            return nil
        }
        return Int(digits)
    }

    private static func digits(_ number: Int, width: Int) -> String { TextFormat.zeroPadded(number, digits: width) }
}
