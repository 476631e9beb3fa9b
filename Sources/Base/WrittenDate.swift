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
