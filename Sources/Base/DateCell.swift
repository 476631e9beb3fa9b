/// Reads a date as `Timestamp` does, without an allocation for the two most common forms in
/// exports: `2026-11-01` and `2026-11-01T09:30:15`, with or without `Z`.
/// - Returns: milliseconds since 1970, or nil if it is not a date.
public func dateMilliseconds(_ bytes: UnsafeBufferPointer<UInt8>) -> Int64? {
    if bytes.count == 10 || bytes.count == 19 || bytes.count == 20, let moment = commonDate(bytes) { return moment }
    guard bytes.count >= 8, bytes.count <= 64 else { return nil }
    return Timestamp(bytes)?.epochMilliseconds
}

/// The last moment that a cell may mean: a date without a time means its whole day.
/// - Returns: milliseconds since 1970, or nil if it is not a date.
public func latestMilliseconds(_ bytes: UnsafeBufferPointer<UInt8>) -> Int64? {
    dateMilliseconds(bytes).map { isDayOnly(bytes) ? $0 + 86_399_999 : $0 }
}

/// nil also for dates of the common forms that only `Timestamp` can judge, such as the 29th of
/// February.
@inline(__always) private func commonDate(_ bytes: UnsafeBufferPointer<UInt8>) -> Int64? {
    let raw = UnsafeRawBufferPointer(bytes)
    guard let date = Digits(raw, 0, of: "0000-00-") else { return nil }
    let month = date.pair(5)
    guard (1...12).contains(month) else { return nil }
    let (tens, ones) = (Int(raw[8] &- UInt8(ascii: "0")), Int(raw[9] &- UInt8(ascii: "0")))
    let day = tens * 10 + ones
    guard tens <= 3, ones <= 9, day >= 1, day <= 28 || month != 2 && day <= 30 + (month ^ month >> 3) & 1 else {
        return nil
    }
    let year = date.pair(0) * 100 + date.pair(2)
    guard year > 0 else { return nil }
    let midnight = Int64(days(year, month: month, day: day)) * 86_400_000
    guard raw.count > 10 else { return midnight }
    guard raw[10] == UInt8(ascii: "T") || raw[10] == UInt8(ascii: " "), raw.count == 19 || raw[19] == UInt8(ascii: "Z"),
        let time = Digits(raw, 11, of: "00:00:00")
    else { return nil }
    let (hour, minute, second) = (time.pair(0), time.pair(3), time.pair(6))
    guard hour < 24, minute < 60, second < 60 else { return nil }
    return midnight + Int64(hour * 3600 + minute * 60 + second) * 1000
}

/// `daysFromCivil` of a year above 0, in a third of the steps.
@inline(__always) private func days(_ year: Int, month: Int, day: Int) -> Int {
    // Years begin in March, so that the leap day is their last.
    let isBeforeMarch = month < 3
    let years = UInt32(truncatingIfNeeded: isBeforeMarch ? year - 1 : year)
    let months = UInt32(truncatingIfNeeded: isBeforeMarch ? month + 9 : month - 3)
    let days = years &* 365 &+ years / 4 &- years / 100 &+ years / 400 &+ (months &* 153 &+ 2) / 5
    return Int(days) + day - 719_469
}

/// The digits of eight bytes of a form, each in the low half of its byte.
private struct Digits {
    private let values: UInt64

    /// nil if the bytes do not have the form: a digit for each 0, and every other character
    /// exactly.
    @inline(__always) init?(_ raw: UnsafeRawBufferPointer, _ place: Int, of form: StaticString) {
        let template = UInt64(littleEndian: UnsafeRawPointer(form.utf8Start).loadUnaligned(as: UInt64.self))
        let zeros: UInt64 = 0x3030_3030_3030_3030
        // 0 where the template has a digit, and not 0 elsewhere, where every bit must match.
        let fixed = template ^ zeros
        values = UInt64(littleEndian: raw.loadUnaligned(fromByteOffset: place, as: UInt64.self)) ^ template
        let isFixed = (fixed &+ 0x7F7F_7F7F_7F7F_7F7F) & 0x8080_8080_8080_8080
        // The high bit is set for a digit beyond 9, and for any difference at a fixed character.
        let most = 0x7676_7676_7676_7676 &+ (isFixed &>> 7) &* 9
        guard ((values &+ most) | values) & 0x8080_8080_8080_8080 == 0 else { return nil }
    }

    /// The number made of two digits.
    @inline(__always) func pair(_ place: Int) -> Int {
        let two = values >> UInt64(8 * place)
        return Int(two & 0xF) * 10 + Int(two >> 8 & 0xF)
    }
}

/// Whether a date has no time of day: `2026-11-01`, `20261101`.
public func isDayOnly(_ date: UnsafeBufferPointer<UInt8>) -> Bool {
    date.count == 8 || date.count == 10 && date[4] == UInt8(ascii: "-")
}

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

/// A date in another common form, `01.10.2026`, `10/1/2026`, `2026/10/01`, or one that does not
/// exist, `2026-11-31`; with or without a time of day.
package struct WrittenDate {
    private let year: Int
    /// In the order in which they are written.
    private let first: Int, second: Int
    private let isYearFirst: Bool
    private let mark: Character
    /// ` 09:00`, if a time follows the date.
    private let time: String

    package init?(_ text: String) {
        let words = text.split { $0 == " " || $0 == "T" || $0 == "," }
        let date = words.first.map(String.init) ?? text
        guard let mark = date.first(where: { "./-".contains($0) }) else { return nil }
        let parts = date.split(separator: mark, omittingEmptySubsequences: true)
        let numbers = parts.compactMap { $0.count <= 4 && $0.allSatisfy { $0.isASCII && $0.isNumber } ? Int($0) : nil }
        guard parts.count == 3, numbers.count == 3, let last = parts.last else { return nil }
        self.mark = mark
        if parts[0].count == 4, (1900...2100).contains(numbers[0]) {
            (year, first, second, isYearFirst) = (numbers[0], numbers[1], numbers[2], true)
        } else if last.count == 4, (1900...2100).contains(numbers[2]) {
            (year, first, second, isYearFirst) = (numbers[2], numbers[0], numbers[1], false)
        } else {
            return nil
        }
        // Of two dates, neither may be lost.
        guard (1...31).contains(first), (1...31).contains(second),
            !words.dropFirst().contains(where: { WrittenDate(String($0)) != nil })
        else { return nil }
        time = WrittenTime.time(in: words.dropFirst().joined(separator: " ")).map { " \($0)" } ?? ""
    }

    /// `2 Dec 2030, 09:00`, `December 2nd, 2030 9:00`. A condition may compare texts of this form,
    /// so it is a date only where one is wanted.
    init?(month text: String) {
        var words = text.lowercased().split { " ,".contains($0) }.map(String.init)
        if let day = words.first,
            day.hasSuffix("day") || ["mon", "tue", "wed", "thu", "fri", "sat", "sun"].contains(day)
        {
            words.removeFirst()
        }
        let month = WrittenPeriod.month(named:)
        func day(_ word: String) -> Int? {
            let digits = word.prefix { $0.isASCII && $0.isNumber }
            guard ["", ".", "st", "nd", "rd", "th"].contains(word.dropFirst(digits.count)) else { return nil }
            return Int(digits).flatMap { (1...31).contains($0) ? $0 : nil }
        }
        guard words.count > 2, let number = month(words[0]) ?? month(words[1]),
            let day = month(words[0]) == nil ? day(words[0]) : day(words[1]),
            let year = Int(words[2]), (1900...2100).contains(year)
        else { return nil }
        (self.year, first, second, isYearFirst, mark) = (year, number, day, true, "-")
        let rest = words.dropFirst(3).drop { $0 == "at" }.joined(separator: " ")
        time = WrittenTime.time(in: rest).map { " \($0)" } ?? ""
    }

    /// What is wrong with the date; continues a sentence that begins with its text.
    package var flaw: String {
        if dates({ $0 }).isEmpty { return "is not a day that exists" }
        guard isYearFirst else { return "is not a date that Volley reads: the year comes first" }
        return mark == "-"
            ? "is not a date that Volley reads" : "is not a date that Volley reads: its parts need hyphens between them"
    }

    /// - Parameter comparison: writes the comparison with a date.
    package func remedy(_ comparison: (String) -> String) -> String {
        let forms = dates(comparison)
        return forms.isEmpty ? "Write it like 2026-11-30." : "Write \(forms.joined(separator: " or "))."
    }

    /// - Parameter comparison: writes the use of a date.
    func dates(_ comparison: (String) -> String) -> [String] {
        func written(month: Int, day: Int) -> String? {
            guard (1...12).contains(month), day <= daysInMonth(month, year: year) else { return nil }
            let digits = [month, day].map { TextFormat.zeroPadded($0) }
            return comparison("\(year)-\(digits[0])-\(digits[1])\(time)")
        }
        let dayFirst = isYearFirst ? nil : written(month: second, day: first)
        // Every country that writes dates with full stops puts the day first.
        let monthFirst = isYearFirst || mark == "/" || dayFirst == nil ? written(month: first, day: second) : nil
        return Set([monthFirst, dayFirst].compactMap(\.self)).sorted()
    }
}

/// A time of day as people write it: `9:00`, `09.00`, `9h00`, `9 Uhr`, `9`.
enum WrittenTime {
    /// `09:00`; nil for anything else.
    static func time(in text: String) -> String? {
        var small = text.lowercased().filter { $0 != " " }
        for word in ["uhr", "h"] where small.hasSuffix(word) { small.removeLast(word.count) }
        let parts = small.split(omittingEmptySubsequences: false) { ":.h".contains($0) }
        guard (1...2).contains(parts.count),
            parts.allSatisfy({ (1...2).contains($0.utf8.count) && $0.utf8.allSatisfy { (48...57).contains($0) } }),
            let hour = Int(parts[0]), hour < 24, let minute = Int(parts.count > 1 ? parts[1] : "0"), minute < 60,
            parts.count == 1 || parts[1].utf8.count == 2
        else { return nil }
        return "\(TextFormat.zeroPadded(hour)):\(TextFormat.zeroPadded(minute))"
    }
}

/// A month or a year as people write them: `2026-11`, `11/2026`, `Nov 2026`, `2026`. A comparison
/// needs a day.
public struct WrittenPeriod {
    /// Its first day, and the first one after it, as `2026-11-01`.
    public let first: String, next: String
    /// Whether it is a whole year, which may also be a number.
    public let isYear: Bool

    /// - Parameter text: without white space around it; nil when it is neither a month nor a year
    ///   from 1900 to 2100.
    public init?(_ text: String) {
        let parts = text.lowercased().split(omittingEmptySubsequences: false) { "-/. ".contains($0) }.map(String.init)
        func number(_ text: String, _ digits: ClosedRange<Int>, _ range: ClosedRange<Int>) -> Int? {
            guard digits.contains(text.utf8.count), text.utf8.allSatisfy({ (48...57).contains($0) }) else { return nil }
            return Int(text).flatMap { range.contains($0) ? $0 : nil }
        }
        func year(_ text: String) -> Int? { number(text, 4...4, 1900...2100) }
        func month(_ text: String) -> Int? { number(text, 1...2, 1...12) ?? Self.month(named: text) }
        if parts.count == 1, let year = year(parts[0]) {
            (first, next, isYear) = ("\(year)-01-01", "\(year + 1)-01-01", true)
        } else if parts.count == 2, let year = year(parts[0]) ?? year(parts[1]),
            let month = month(parts[0]) ?? month(parts[1])
        {
            let (nextYear, nextMonth) = month == 12 ? (year + 1, 1) : (year, month + 1)
            first = "\(year)-\(TextFormat.zeroPadded(month))-01"
            next = "\(nextYear)-\(TextFormat.zeroPadded(nextMonth))-01"
            isYear = false
        } else {
            return nil
        }
    }

    /// 1 to 12 for a name in small letters, shortened or not.
    static func month(named word: String) -> Int? {
        let months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
        let names = [
            "january", "february", "march", "april", "may", "june", "july", "august", "september", "october",
            "november", "december",
        ]
        let name = word.hasSuffix(".") ? String(word.dropLast()) : word == "sept" ? "sep" : word
        return (months.firstIndex(of: name) ?? names.firstIndex(of: name)).map { $0 + 1 }
    }

    /// The comparison with a day that means a comparison with the period.
    public func compared(_ comparison: ComparisonOperator) -> (ComparisonOperator, String) {
        switch comparison {
        case .less: (.less, first)
        case .lessOrEqual: (.less, next)
        case .greater: (.greaterOrEqual, next)
        default: (.greaterOrEqual, first)
        }
    }
}
