/// One of the five fields of a cron rule.
struct CronField: Sendable {
    var name: String
    var values: ClosedRange<Int>
    /// Names of the values, starting with the lowest.
    var names: [String] = []

    static let minute = CronField(name: "minute", values: 0...59)
    static let hour = CronField(name: "hour", values: 0...23)
    static let day = CronField(name: "day of the month", values: 1...31)
    static let month = CronField(
        name: "month", values: 1...12,
        names: ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"])
    /// 0 and 7 are both Sunday.
    static let weekday = CronField(
        name: "day of the week", values: 0...7, names: ["sun", "mon", "tue", "wed", "thu", "fri", "sat"])

    /// In the order in which they are written.
    static let all = [minute, hour, day, month, weekday]

    /// The values that a field names, as bits.
    /// - Parameter offset: where the field begins in the rule, in UTF-8 bytes.
    func bits(_ text: Substring, at offset: Int) throws(Mistake) -> UInt64 {
        var bits: UInt64 = 0
        var place = offset
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            bits |= try self.part(part, at: place)
            place += part.utf8.count + 1
        }
        return bits
    }

    /// `*`, `5`, `1-5`, `mon-fri`, each optionally with `/step`.
    private func part(_ text: Substring, at offset: Int) throws(Mistake) -> UInt64 {
        let halves = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        let range = try range(halves[0], at: offset, of: text)
        guard halves.count == 2 else { return Self.bits(range, step: 1) }
        let stepOffset = offset + halves[0].utf8.count + 1
        guard halves[0].contains("-") || halves[0] == "*" else {
            throw Mistake(
                "'\(text)' has a step from a single \(name)", remedy: remedy(forStep: halves[1], from: halves[0]),
                at: offset)
        }
        guard let step = Self.number(halves[1]), step > 0 else {
            throw Mistake(
                "'\(halves[1])' is not a step", remedy: "Write a whole number above 0, for example */5.", at: stepOffset
            )
        }
        return Self.bits(range, step: step)
    }

    private static func bits(_ range: ClosedRange<Int>, step: Int) -> UInt64 {
        stride(from: range.lowerBound, through: range.upperBound, by: step).reduce(0) { $0 | 1 << UInt64($1) }
    }

    private var lastWritten: Int { values.upperBound == 7 ? 6 : values.upperBound }

    /// - Parameter part: the range with its step, if it has one.
    private func range(_ text: Substring, at offset: Int, of part: Substring) throws(Mistake) -> ClosedRange<Int> {
        if text == "*" { return values.lowerBound...lastWritten }
        let ends = text.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
        let first = try value(ends[0], at: offset)
        guard ends.count == 2 else { return first...first }
        var last = try value(ends[1], at: offset + ends[0].utf8.count + 1)
        // A week may end with Sunday: fri-sun.
        if values.upperBound == 7, last == 0, first > 0 { last = 7 }
        guard first <= last else {
            throw Mistake(
                "the range '\(part)' runs backwards", remedy: "Write \(forwards(part, ends, from: first, to: last)).",
                at: offset)
        }
        return first...last
    }

    /// The values of a range that runs past the highest one, as two ranges; with a step, as a list.
    private func forwards(_ part: Substring, _ ends: [Substring], from first: Int, to last: Int) -> String {
        let step = part.split(separator: "/", maxSplits: 1).dropFirst().first.flatMap { Self.number($0) } ?? 1
        // 7 is Sunday, the first day of the next week.
        let start = first > lastWritten ? values.lowerBound : first
        if step > 1 {
            let count = lastWritten - values.lowerBound + 1
            return stride(from: start, through: last < start ? last + count : last, by: step)
                .map { written(($0 - values.lowerBound) % count + values.lowerBound, like: ends[0]) }.joined(
                    separator: ",")
        }
        func range(_ from: Int, _ to: Int, like text: Substring) -> String {
            from == to ? written(from, like: text) : "\(written(from, like: text))-\(written(to, like: text))"
        }
        if start <= last { return range(start, last, like: ends[1]) }
        return "\(range(start, lastWritten, like: ends[0])),\(range(values.lowerBound, last, like: ends[1]))"
    }

    private func written(_ value: Int, like text: Substring) -> String {
        names.isEmpty || Self.number(text) != nil ? String(value) : names[value - values.lowerBound]
    }

    /// The name with its article.
    private var one: String { "\(name == "hour" ? "an" : "a") \(name)" }

    private func value(_ text: Substring, at offset: Int) throws(Mistake) -> Int {
        if let index = names.firstIndex(of: text.lowercased()) { return values.lowerBound + index }
        if let number = Self.number(text) {
            if values.contains(number) { return number }
            throw Mistake(
                "\(number) is not \(one)",
                remedy:
                    "\(one.prefix(1).uppercased())\(one.dropFirst()) is a number from \(values.lowerBound) to \(values.upperBound).",
                at: offset)
        }
        throw Mistake(
            text.isEmpty ? "\(one) is missing" : "'\(text.prefix(60))' is not \(one)", remedy: remedy(for: text),
            at: offset)
    }

    private func remedy(for text: Substring) -> String {
        if let dash = text.first(where: WrittenDash.isDash) {
            return "The dash '\(dash)' is not a hyphen. Write \(WrittenDash.replaced(text))."
        }
        if let short = names.first(where: { text.utf8.count > 3 && text.lowercased().hasPrefix($0) }) {
            return "Write \(short)."
        }
        if text == "?" { return "Cron has no ?, unlike some other schedulers. Write * for any." }
        if text.contains(where: { "LW#".contains($0) }) {
            return
                "Cron has none of the letters and signs that some other schedulers know (L, W, #). \(name == "day of the month" && text == "L" ? "Write 28, a day that every month has, or" : "Write") "
                + "a campaign for each date, with `at` instead of `repeat`."
        }
        let example = names.isEmpty ? "" : ", or a name from \(names[0]) to \(names[names.count - 1])"
        return
            "Write a number from \(values.lowerBound) to \(values.upperBound)\(example), a list (1,3), a range (1-5), a step (*/2), or * for any."
    }

    /// For minutes, hours, days and months, a range can say where the steps begin. Each week begins
    /// again, so no field can mean every second week.
    private func remedy(forStep step: Substring, from first: Substring) -> String {
        guard values.upperBound == 7 else { return "Write \(first)-\(lastWritten)/\(step), or */\(step)." }
        return
            "Cron does not count weeks. Write \(first) for every week, or a campaign for each date, with `at` instead of `repeat`."
    }

    private static func number(_ text: Substring) -> Int? {
        guard (1...4).contains(text.utf8.count),
            text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
        else {
            return nil
        }
        return Int(text)
    }
}
