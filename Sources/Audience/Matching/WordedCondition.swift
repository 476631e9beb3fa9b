import Base

/// A value of `where` that no cell has, read as a condition in words: `gold or silver`, `not gold`, `over 50`, `30 days`.
enum WordedCondition {
    /// What to write, in whole sentences; nil for other values.
    static func remedy(_ value: String, column: String, cells: [String]) -> String? {
        let small = value.lowercased()
        let words = small.split(separator: " ").map(String.init)
        if ["empty", "blank", "none", "nothing", "never", "unset"].contains(small) {
            return "For blank cells, write \(column): missing."
        }
        if ["not empty", "not blank", "not null", "any", "exists", "set", "*"].contains(small) {
            return "For cells that are not blank, write \(column): present."
        }
        if small == "today" { return "Write \(column): within 24 hours." }
        if let length = lengthOfTime(words) { return "Write \(column): within \(length), or \(column): older than \(length)." }
        if words.first == "not", words.dropFirst().first == "within", let length = lengthOfTime(words.dropFirst(2)) {
            return "Write \(column): older than \(length)."
        }
        return range(words, small: small, column: column) ?? comparison(words, small: small, column: column) ?? several(
            value, small: small, column: column, cells: cells)
            ?? negation(value, small: small, column: column)
    }

    private static func lengthOfTime(_ words: some Collection<String>) -> String? {
        let units = ["hour", "hours", "day", "days", "week", "weeks"]
        guard words.count == 2, let first = words.first, let unit = words.dropFirst().first, units.contains(unit), isWhole(first) else {
            return nil
        }
        return "\(first) \(unit)"
    }

    private static func isWhole(_ text: some StringProtocol) -> Bool { !text.isEmpty && text.allSatisfy { $0.isASCII && $0.isNumber } }

    private static func isNumber(_ text: String) -> Bool { Array(text.utf8).withUnsafeBufferPointer { DecimalText($0) != nil } }

    /// `50-100`, `50 to 100`, `between 2026-01-01 and 2026-02-01`: more than one condition can express.
    private static func range(_ words: [String], small: String, column: String) -> String? {
        var ends = words.filter { !["between", "from", "and", "to", "-", "–", "bis"].contains($0) }
        guard ends.count < words.count || words.count == 1 else { return nil }
        if words.count == 1 {
            ends = small.split(separator: "..").map(String.init)
            if ends.count == 1 { ends = small.split { "-–".contains($0) }.map(String.init) }
        }
        func isDate(_ text: String) -> Bool { Array(text.utf8).withUnsafeBufferPointer(dateMilliseconds) != nil }
        guard ends.count == 2, ends.allSatisfy(isWhole) || ends.allSatisfy(isDate) else { return nil }
        return OperandRule.remedy(forTwo: column, "\">= \(ends[0])\"", "\"<= \(ends[1])\"")
    }

    /// `50+`, `over 50`, `up to 50`.
    private static func comparison(_ words: [String], small: String, column: String) -> String? {
        if small.hasSuffix("+"), isNumber(String(small.dropLast())) { return "Write \(column): \">= \(small.dropLast())\"." }
        let openings: [(words: [String], sign: String)] = [
            (["over"], ">"), (["above"], ">"), (["under"], "<"), (["below"], "<"), (["from"], ">="), (["min"], ">="), (["minimum"], ">="),
            (["max"], "<="), (["maximum"], "<="), (["up", "to"], "<="),
        ]
        guard let opening = openings.first(where: { words.starts(with: $0.words) && words.count == $0.words.count + 1 }),
            let last = words.last,
            isNumber(last)
        else { return nil }
        return "Write \(column): \"\(opening.sign) \(last)\"."
    }

    /// `gold or silver`, `gold|silver`.
    private static func several(_ value: String, small: String, column: String, cells: [String]) -> String? {
        let known = Set(cells.map { $0.lowercased() })
        for mark in [" or ", " oder ", " and ", " und ", "|", "/", "&", "+"] where small.contains(mark) {
            let parts = value.split(separator: mark).map { trimmedText(String($0)) }.filter { !$0.isEmpty }
            guard parts.count > 1, parts.count == small.split(separator: mark).count,
                mark.contains(" ") || parts.contains(where: { known.contains($0.lowercased()) })
            else { continue }
            return "For any of several values, write \(column): [\(parts.joined(separator: ", "))]."
        }
        return nil
    }

    private static func negation(_ value: String, small: String, column: String) -> String? {
        guard let word = ["not ", "no ", "except ", "without ", "nicht ", "ohne "].first(where: small.hasPrefix) else { return nil }
        let rest = trimmedText(String(value.dropFirst(word.count)))
        return rest.isEmpty ? nil : "Write \(column): \"!= \(rest)\"."
    }
}
