public import Base
import PushServices

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

/// Lengths of time as campaigns and commands take them.
///
/// ```swift
/// let seconds = try LengthOfTime.seconds("90min")  // 5400
/// ```
public enum LengthOfTime {
    /// The seconds of `30s`, `15min`, `4h`, `90d`, `1w`: 0 to a hundred years.
    /// - Throws: `Diagnostic` when the text is not a length of time.
    public static func seconds(_ text: String) throws(Diagnostic) -> Int {
        do { return try DurationNotation.seconds(text) } catch { throw Diagnostic(error.message, remedy: error.remedy) }
    }
}

/// How often: `at most 2 per 7 days`, `1 per day`.
enum FrequencyNotation {
    static let example = "frequency: at most 2 per 7 days"
    /// A year: runs further back are not looked at, as they are not kept forever.
    static let maximumSeconds = 365 * 86_400
    private static let maximumPushes = 200

    /// A cap from its notation.
    static func cap(_ text: String) throws(Mistake) -> FrequencyCap {
        var words = text.lowercased().split(whereSeparator: \.isWhitespace).map(String.init)
        if words.prefix(2) == ["at", "most"] { words.removeFirst(2) }
        if words.count > 2, ["time", "times", "push", "pushes"].contains(words[1]) { words.remove(at: 1) }
        guard words.count >= 3, ["per", "in", "a", "every"].contains(words[1]) else { throw notACap(text) }
        guard words[0].allSatisfy({ $0.isASCII && $0.isNumber }), let pushes = Int(words[0]) else {
            throw notACap(text)
        }
        guard (1...maximumPushes).contains(pushes) else {
            throw Mistake(
                pushes == 0 ? "with 'at most 0' no device would ever get a push" : "\(quoted(text)) limits nothing",
                remedy: "Write 1 to \(maximumPushes) pushes, for example: \(example).")
        }
        let length = words.dropFirst(2).joined(separator: " ")
        // `per day` is `per 1 day`.
        let seconds = try DurationNotation.seconds(length.first?.isNumber == true ? length : "1 " + length)
        guard seconds >= 3600, seconds % 3600 == 0, seconds <= maximumSeconds else {
            throw Mistake(
                "the time in \(quoted(text)) must be whole hours or days, at most 365 days",
                remedy: "For example: \(example).")
        }
        return FrequencyCap(pushes: pushes, seconds: seconds)
    }

    private static func notACap(_ text: String) -> Mistake {
        let meant = meant(by: text)
        return Mistake(
            "\(quoted(text)) does not say how often",
            remedy: meant.map { "Write frequency: \($0)." } ?? "Write it like this: \(example).")
    }

    /// `at most 1 per 1 day` for `1/day`, `daily`, `once a day`.
    private static func meant(by text: String) -> String? {
        let lengths = [
            "hour": "1 hour", "h": "1 hour", "day": "1 day", "d": "1 day", "week": "7 days", "w": "7 days",
            "month": "30 days",
        ]
        let adverbs = ["hourly": "1 hour", "daily": "1 day", "weekly": "7 days", "monthly": "30 days"]
        let small = text.lowercased().trimmingSpaces()
        if let length = adverbs[small] { return "at most 1 per \(length)" }
        let words = small.split { $0 == "/" || $0 == " " }.map(String.init)
        guard let first = words.first, let last = words.last, words.count > 1, let length = lengths[last] else {
            return nil
        }
        let count = ["once": 1, "one": 1, "twice": 2, "two": 2][first] ?? Int(first) ?? 0
        return (1...maximumPushes).contains(count) ? "at most \(count) per \(length)" : nil
    }
}

/// How fast: `5000/s`, `300000/min`, `100/h`.
enum PaceNotation {
    /// No sender comes near it, and no product with it overflows.
    static let maximumPushes = 1_000_000_000

    /// A pace from its notation.
    static func pace(_ text: String) throws(Mistake) -> Pace {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false).map { $0.trimmingSpaces() }
        let digits = parts[0].filter { $0.isASCII && $0.isNumber }
        guard parts.count == 2, !digits.isEmpty else {
            let isNumber = parts.count == 1 && digits.count == parts[0].count && !digits.isEmpty
            throw isNumber
                ? Mistake(
                    "\(quoted(text)) does not say per what", remedy: "Write \(digits)/s, \(digits)/min or \(digits)/h.")
                : notAPace(text)
        }
        if ["d", "day", "days"].contains(parts[1].lowercased()), let pushes = Int(parts[0]), pushes > 0 {
            throw Mistake(
                "\(quoted(text)) is per day, but a pace is per second, minute or hour",
                remedy: "Write \(max(1, pushes / 24))/h\(pushes < 24 ? ", the slowest pace" : "").")
        }
        guard let interval = interval(parts[1]) else {
            throw Mistake(
                "the unit of \(quoted(text)) is not known", remedy: "Write \(digits)/s, \(digits)/min or \(digits)/h.")
        }
        let groups = parts[0].split(separator: ".", omittingEmptySubsequences: false)
        if groups.count == 2, (1...3).contains(groups[0].count), groups[0].first != "0", groups[1].count == 3,
            groups.allSatisfy({ $0.allSatisfy { $0.isASCII && $0.isNumber } })
        {
            let decimal = groups[1] == "000" ? String(groups[0]) : "\(groups[0]).\(groups[1])"
            throw Mistake(
                "\(quoted(text)) may mean \(digits)/\(parts[1]) or \(decimal)/\(parts[1])",
                remedy: "For \(digits) write \(digits)/\(parts[1])"
                    + (groups[1] == "000" ? ", for \(decimal) write \(decimal)/\(parts[1])." : "."))
        }
        if let slower = slower(text) {
            throw Mistake("\(quoted(text)) is not a whole number of pushes", remedy: "Write \(slower).")
        }
        if digits.count != parts[0].count {
            guard parts[0].allSatisfy({ $0.isASCII && ($0.isNumber || "_,. '".contains($0)) }) else {
                throw notAPace(text)
            }
            throw Mistake(
                "the number in \(quoted(text)) must be digits only",
                remedy: "Write it without separators, for example: 5000/s.")
        }
        guard let pushes = Int(digits), pushes <= maximumPushes else {
            throw Mistake(
                "\(quoted(text)) is faster than anything Volley can do",
                remedy: "Write at most \(maximumPushes), or leave 'pace' out.")
        }
        guard pushes > 0 else {
            throw Mistake("a pace of 0 would never send anything", remedy: "Write at least 1, for example: 100/s.")
        }
        return Pace(pushes: pushes, intervalSeconds: interval)
    }

    /// A pace that is with a service's own keys, from its notation. Where it counts calls, mistakes
    /// say so.
    static func pace(_ text: String, of service: any PushService) throws(Mistake) -> Pace {
        do { return try pace(text) } catch {
            guard service.batching.isPacedByCalls else { throw error }
            let unit =
                "Below '\(service.name)' a pace counts calls, each for up to \(TextFormat.devices(service.batching.largestTargets))."
            throw Mistake(error.message, remedy: [error.remedy, unit].compactMap(\.self).joined(separator: " "))
        }
    }

    /// The example of a pace with a service's own keys.
    static func example(of service: any PushService) -> String {
        service.batching.isPacedByCalls
            ? service.usualPace.map { "pace: \($0.pace)" } ?? "pace: 600/min" : "pace: 9000/s"
    }

    /// `30/min` for `0.5/s`: a number of pushes in a longer time; nil for anything else.
    static func slower(_ text: String) -> String? {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false).map { $0.trimmingSpaces() }
        guard parts.count == 2, let interval = interval(parts[1]), parts[0].count(where: { $0 == "." }) == 1,
            let share = Double(parts[0]),
            share > 0, share < 100
        else { return nil }
        for (unit, seconds) in [("min", 60), ("h", 3600)] where seconds > interval {
            let pushes = share * Double(seconds / interval)
            if pushes >= 1, pushes == pushes.rounded() { return "\(Int(pushes))/\(unit)" }
        }
        return nil
    }

    private static func interval(_ unit: String) -> Int? {
        switch unit.lowercased() {
        case "s", "sec", "second": 1
        case "min", "minute": 60
        case "h", "hour": 3600
        default: nil
        }
    }

    private static func notAPace(_ text: String) -> Mistake {
        Mistake("\(quoted(text)) is not a pace", remedy: "Write it like one of these: 5000/s, 300000/min, 100/h.")
    }
}
