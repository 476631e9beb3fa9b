import Base

/// How often: `at most 2 per 7 days`, `1 per day`.
enum FrequencyNotation {
    static let example = "frequency: at most 2 per 7 days"
    /// A year: what lies further back is not asked, as runs do not stay for ever.
    static let maximumSeconds = 365 * 86_400
    private static let maximumPushes = 200

    /// A cap from its notation.
    static func cap(_ text: String) throws(Complaint) -> FrequencyCap {
        var words = text.lowercased().split(whereSeparator: \.isWhitespace).map(String.init)
        if words.prefix(2) == ["at", "most"] { words.removeFirst(2) }
        if words.count > 2, ["time", "times", "push", "pushes"].contains(words[1]) { words.remove(at: 1) }
        guard words.count >= 3, ["per", "in", "a", "every"].contains(words[1]) else { throw notACap(text) }
        guard words[0].allSatisfy({ $0.isASCII && $0.isNumber }), let pushes = Int(words[0]) else { throw notACap(text) }
        guard (1...maximumPushes).contains(pushes) else {
            throw Complaint(
                pushes == 0 ? "with 'at most 0' nobody would ever get anything" : "\(quoted(text)) limits nothing",
                remedy: "Write 1 to \(maximumPushes) pushes, for example: \(example).")
        }
        let length = words.dropFirst(2).joined(separator: " ")
        // `per day` is `per 1 day`.
        let seconds = try DurationNotation.seconds(length.first?.isNumber == true ? length : "1 " + length)
        guard seconds >= 3600, seconds % 3600 == 0, seconds <= maximumSeconds else {
            throw Complaint(
                "the time in \(quoted(text)) must be whole hours or days, at most 365 days", remedy: "For example: \(example).")
        }
        return FrequencyCap(pushes: pushes, seconds: seconds)
    }

    private static func notACap(_ text: String) -> Complaint {
        Complaint("\(quoted(text)) does not say how often", remedy: "Write it like this: \(example).")
    }
}
