import Base

/// Lengths of time as people write them: `30s`, `15min`, `4h`, `2d`, `1w`, `4 hours`, `2 days`.
enum DurationNotation {
    static let examples = "30s, 15min, 4h, 2d, 1w"
    /// A hundred years: beyond that, sums of moments and lengths would be nonsense.
    static let maximumSeconds = 100 * 365 * 86_400

    private static let units: [(names: [String], seconds: Int)] = [
        (["s", "sec", "secs", "second", "seconds"], 1),
        (["min", "mins", "minute", "minutes"], 60),
        (["h", "hr", "hrs", "hour", "hours"], 3_600),
        (["d", "day", "days"], 86_400),
        (["w", "week", "weeks"], 604_800),
    ]

    /// The seconds in a length of time, 0 to a hundred years.
    static func seconds(_ text: String) throws(Mistake) -> Int {
        let text = text.trimmingSpaces()
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        let unit = text.dropFirst(digits.count).trimmingSpaces().lowercased()
        guard !digits.isEmpty else { throw notADuration(text) }
        if unit.isEmpty {
            throw Mistake(
                "\(quoted(text)) lacks a unit", remedy: "Write \(digits)s, \(digits)min, \(digits)h or \(digits)d.")
        }
        if unit == "m" || unit.hasPrefix("mo") {
            throw Mistake(
                "the unit of \(quoted(text)) can be misread",
                remedy: "Write min for minutes; write months in days, for example: 30d.")
        }
        if unit.hasPrefix(".") || unit.hasPrefix(",") {
            throw Mistake(
                "\(quoted(text)) is not a whole number of its unit",
                remedy: whole(text).map { "Write \($0)." }
                    ?? "Use a smaller unit, such as 90min for an hour and a half.")
        }
        guard let seconds = units.first(where: { $0.names.contains(unit) })?.seconds else { throw notADuration(text) }
        guard let amount = Int(digits), amount <= maximumSeconds / seconds else {
            throw Mistake("\(quoted(text)) is too long", remedy: "Write a shorter time.")
        }
        return amount * seconds
    }

    /// `90min` for `1.5h` and `1,5 hours`; nil for what no smaller unit can say, or no length of
    /// time.
    static func whole(_ text: String) -> String? {
        guard let match = text.wholeMatch(of: /([0-9]{1,6})[.,]([0-9]{1,4}) *([A-Za-z]+)/),
            let unit = units.first(where: { $0.names.contains(match.output.3.lowercased()) })?.seconds,
            let number = Int(match.output.1 + match.output.2)
        else { return nil }
        var scale = 1
        for _ in match.output.2 { scale *= 10 }
        guard number > 0, number * unit % scale == 0 else { return nil }
        let seconds = number * unit / scale
        return units.dropLast().last { $0.seconds < unit && seconds % $0.seconds == 0 }.map {
            "\(seconds / $0.seconds)\($0.names[0])"
        }
    }

    private static func notADuration(_ text: String) -> Mistake {
        Mistake("\(quoted(text)) is not a length of time", remedy: "Write it like one of these: \(examples).")
    }
}
