import Base
import PushServices

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
