import Base

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
