import Base

/// A piece of a date as it is written.
enum DatePart: Hashable, Sendable {
    /// How a number is padded to its width.
    enum Padding: UInt8, Hashable, Sendable { case none, zero, space }

    case text(String)
    case year, shortYear
    case month(Padding), day(Padding), hour(Padding), hour12(Padding), minute(Padding), second(Padding), dayOfYear(
        Padding)
    /// `%B`: in the device's language, in the form used next to a day if there is one.
    case monthName, shortMonthName, weekday, shortWeekday
    /// `%p`, in the device's language.
    case dayPeriod
    /// `%^B`: what follows in capitals.
    case capitals
}

/// Reads directives such as `%d %B %Y`: the part of strftime that Liquid has and a push can use.
/// Source: Liquid's `date`, Ruby's Time#strftime.
struct DateDirectives {
    private static let padded: [Character: @Sendable (DatePart.Padding) -> DatePart] = [
        "m": { .month($0) }, "d": { .day($0) }, "e": { .day($0) }, "H": { .hour($0) }, "k": { .hour($0) },
        "I": { .hour12($0) },
        "l": { .hour12($0) }, "M": { .minute($0) }, "S": { .second($0) }, "j": { .dayOfYear($0) },
    ]
    private static let plain: [Character: [DatePart]] = [
        "Y": [.year], "y": [.shortYear], "B": [.monthName], "b": [.shortMonthName], "h": [.shortMonthName],
        "A": [.weekday],
        "a": [.shortWeekday], "p": [.dayPeriod], "P": [.dayPeriod], "%": [.text("%")], "n": [.text("\n")],
        "F": [.year, .text("-"), .month(.zero), .text("-"), .day(.zero)],
        "T": [.hour(.zero), .text(":"), .minute(.zero), .text(":"), .second(.zero)],
        "R": [.hour(.zero), .text(":"), .minute(.zero)],
        "D": [.month(.zero), .text("/"), .day(.zero), .text("/"), .shortYear],
    ]
    static let known = "%d %e %m %B %b %A %a %Y %y %H %I %M %S %p %j %F %T %R %D %%"

    static func parse(_ text: String) throws(Mistake) -> [DatePart] {
        var parts: [DatePart] = []
        try checkMinutes(text)
        var constant = ""
        var index = text.startIndex
        while index < text.endIndex {
            guard text[index] == "%" else {
                constant.append(text[index])
                text.formIndex(after: &index)
                continue
            }
            let start = index
            let directive = try directive(in: text, &index, from: start)
            if !constant.isEmpty { parts.append(.text(constant)) }
            constant = ""
            parts += directive
        }
        if !constant.isEmpty { parts.append(.text(constant)) }
        guard parts.contains(where: { if case .text = $0 { false } else { true } }) else { throw noDirective(text) }
        return parts
    }

    /// `%m` is the month and `%M` the minute: `%H:%m` would show the month after the hour,
    /// `%d.%M.%Y` the minute between day and year.
    private static func checkMinutes(_ text: String) throws(Mistake) {
        if let match = text.firstMatch(of: /%[-0_]?[HIkl]:%[-0_]?m/) {
            throw Mistake(
                "'%m' is the month, but follows the hour",
                remedy:
                    "Write '%M' for minutes: '\(text.replacing(match.output, with: match.output.replacing("m", with: "M")))'.",
                at: offset(of: match.range.lowerBound, in: text))
        }
        guard let minute = text.firstMatch(of: /%[-0_]?M/), !text.contains(/%[-0_]?[HIklTRmbBhFDj]/),
            text.contains(/%[-0_]?[deyY]/)
        else {
            return
        }
        throw Mistake(
            "'\(minute.output)' is the minute, but is in a date without hours",
            remedy:
                "Write '%m' for the month: '\(text.replacing(minute.output, with: minute.output.replacing("M", with: "m")))'.",
            at: offset(of: minute.range.lowerBound, in: text))
    }

    private static func directive(in text: String, _ index: inout String.Index, from start: String.Index)
        throws(Mistake) -> [DatePart]
    {
        var (padding, capitals): (DatePart.Padding?, Bool) = (nil, false)
        text.formIndex(after: &index)
        flags: while index < text.endIndex {
            switch text[index] {
            case "-": padding = DatePart.Padding.none
            case "0": padding = .zero
            case "_": padding = .space
            case "^": capitals = true
            default: break flags
            }
            text.formIndex(after: &index)
        }
        guard index < text.endIndex else {
            throw Mistake(
                "the date format ends with '%'", remedy: "Write '%%' for a percent sign.",
                at: offset(of: start, in: text))
        }
        let letter = text[index]
        text.formIndex(after: &index)
        if let make = padded[letter] { return [make(padding ?? ("ekl".contains(letter) ? .space : .zero))] }
        if let parts = plain[letter] { return capitals ? [.capitals] + parts : parts }
        throw Mistake(
            "'date' does not know '\(text[start..<index])'", remedy: "It knows \(known).",
            at: offset(of: start, in: text))
    }

    private static func offset(of index: String.Index, in text: String) -> Int {
        text.utf8.distance(from: text.startIndex, to: index)
    }

    private static func noDirective(_ text: String) -> Mistake {
        let names = NamedDateStyle.allCases.map(\.name)
        let remedy: String
        if let name = nearest(text.lowercased(), names: names) {
            remedy = "Did you mean '\(name)'?"
        } else if text.contains("yy") || text.contains("MM") || text.contains("dd") || text.contains("YY")
            || text.contains("DD")
        {
            remedy = "Write it with percent signs, for example '%d.%m.%Y', or use 'short', 'medium', 'long' or 'full'."
        } else {
            remedy = "Write 'short', 'medium', 'long' or 'full', or directives such as '%d %B %Y'."
        }
        return Mistake("'\(text)' is not a date format", remedy: remedy)
    }

    private static func nearest(_ text: String, names: [String]) -> String? {
        names.first { $0 == text } ?? nearestName(to: text, among: names)
    }
}
