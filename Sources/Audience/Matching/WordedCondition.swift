import Base

/// A value of `where` that no cell has, read as a condition in words: `gold or silver`, `not gold`,
/// `over 50`, `30 days`.
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
        if let length = lengthOfTime(words) {
            return "Write \(column): within \(length), or \(column): older than \(length)."
        }
        if words.first == "not", words.dropFirst().first == "within", let length = lengthOfTime(words.dropFirst(2)) {
            return "Write \(column): older than \(length)."
        }
        let holdsDates = ComparisonValue.isDate(column: column) || cells.contains { isDate($0) && $0.contains("-") }
        if holdsDates, let period = WrittenPeriod(value) {
            return OperandRule.remedy(forTwo: column, "\">= \(period.first)\"", "\"< \(period.next)\"")
        }
        return range(words, small: small, column: column, holdsDates: holdsDates)
            ?? comparison(words, small: small, column: column, holdsDates: holdsDates)
            ?? several(value, small: small, column: column, cells: cells)
            ?? negation(value, small: small, column: column)
    }

    private static func lengthOfTime(_ words: some Collection<String>) -> String? {
        let units = ["hour", "hours", "day", "days", "week", "weeks"]
        guard words.count == 2, let first = words.first, let unit = words.dropFirst().first, units.contains(unit),
            isWhole(first)
        else {
            return nil
        }
        return "\(first) \(unit)"
    }

    private static func isWhole(_ text: some StringProtocol) -> Bool {
        !text.isEmpty && text.allSatisfy { $0.isASCII && $0.isNumber }
    }

    private static func isDate(_ text: String) -> Bool {
        Array(text.utf8).withUnsafeBufferPointer(dateMilliseconds) != nil
    }

    private static func isNumber(_ text: String) -> Bool {
        Array(text.utf8).withUnsafeBufferPointer { DecimalText($0) != nil }
    }

    /// `50-100`, `50 to 100`, `between 2026-01-01 and 2026-02-01`: more than one condition can
    /// express.
    private static func range(_ words: [String], small: String, column: String, holdsDates: Bool) -> String? {
        var ends = words.filter { !["between", "from", "and", "to", "-", "–", "bis"].contains($0) }
        guard ends.count < words.count || words.count == 1 else { return nil }
        if words.count == 1 {
            ends = small.split(separator: "..").map(String.init)
            if ends.count == 1 { ends = small.split { "-–".contains($0) }.map(String.init) }
        }
        guard ends.count == 2, let first = proposal(.greaterOrEqual, ends[0], column: column, holdsDates: holdsDates),
            let second = proposal(.lessOrEqual, ends[1], column: column, holdsDates: holdsDates)
        else { return nil }
        // `2026-11` is no range.
        if let low = Double(ends[0]), let high = Double(ends[1]), low > high { return nil }
        return OperandRule.remedy(forTwo: column, first, second)
    }

    /// A comparison as you would write it; nil when it would be a mistake, or compare with
    /// something other than the cells.
    private static func proposal(_ meant: ComparisonOperator, _ text: String, column: String, holdsDates: Bool)
        -> String?
    {
        var (sign, operand) = (meant, text)
        if holdsDates, let period = WrittenPeriod(text) { (sign, operand) = period.compared(meant) }
        guard holdsDates ? isDate(operand) && operand.contains("-") : isNumber(operand) || isDate(operand),
            OperandRule.accepts(sign, operand, column: column)
        else { return nil }
        return "\"\(sign.rawValue) \(operand)\""
    }

    /// `50+`, `over 50`, `up to 50`, `from 2026-11-01`.
    private static func comparison(_ words: [String], small: String, column: String, holdsDates: Bool) -> String? {
        let openings: [(words: [String], sign: ComparisonOperator)] = [
            (["over"], .greater), (["above"], .greater), (["under"], .less), (["below"], .less),
            (["from"], .greaterOrEqual),
            (["min"], .greaterOrEqual), (["minimum"], .greaterOrEqual), (["max"], .lessOrEqual),
            (["maximum"], .lessOrEqual),
            (["up", "to"], .lessOrEqual),
        ]
        func remedy(_ sign: ComparisonOperator, _ operand: String) -> String? {
            proposal(sign, operand, column: column, holdsDates: holdsDates).map { "Write \(column): \($0)." }
        }
        if small.hasSuffix("+") { return remedy(.greaterOrEqual, String(small.dropLast())) }
        let opening = openings.first { words.starts(with: $0.words) && words.count == $0.words.count + 1 }
        return opening.flatMap { remedy($0.sign, words[words.count - 1]) }
    }

    /// `gold or silver`, `gold|silver`.
    private static func several(_ value: String, small: String, column: String, cells: [String]) -> String? {
        let known = Set(cells.map { $0.lowercased() })
        let isLanguage = column == ExportColumns.Standard.language.rawValue
        for mark in [" or ", " oder ", " and ", " und ", ",", ";", "|", "/", "&", "+", " "] where small.contains(mark) {
            let parts = value.split(separator: mark).map { trimmedText(String($0)) }.filter { !$0.isEmpty }
            guard parts.count > 1, parts.count == small.split(separator: mark).count,
                mark.count > 1 || parts.contains(where: { known.contains($0.lowercased()) }),
                mark != " "
                    || parts.allSatisfy({
                        known.contains($0.lowercased()) || isLanguage && LanguageTag.normalized($0) != nil
                    })
            else { continue }
            return "For any of several values, write \(column): [\(parts.joined(separator: ", "))]."
        }
        return nil
    }

    private static func negation(_ value: String, small: String, column: String) -> String? {
        guard let word = ["not ", "no ", "except ", "without ", "nicht ", "ohne "].first(where: small.hasPrefix) else {
            return nil
        }
        let rest = trimmedText(String(value.dropFirst(word.count)))
        return rest.isEmpty ? nil : "Write \(column): \"!= \(rest)\"."
    }
}
