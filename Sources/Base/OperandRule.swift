/// What a comparison of `where` or of a template may compare with: a number, a version or a date,
/// as `ComparisonValue` tells them apart. Anything else, or anything ambiguous, is a mistake: the
/// comparison would hold for all devices or for no device.
public struct OperandRule {
    /// Where a comparison is written, which decides its form.
    public enum Notation {
        /// In `where`: `points: ">= 1000"`.
        case condition
        /// After `{% if`: `points >= 1000`, `born < '1990-12-24'`.
        case template
    }

    let column: String
    let comparison: ComparisonOperator
    let operand: String
    let notation: Notation
    private let redact: (String) -> String

    /// - Parameters:
    ///   - column: as written before the operator.
    ///   - operand: without white space around it.
    ///   - redact: returns an operand as it may be shown.
    public init(
        column: String, comparison: ComparisonOperator, operand: String, notation: Notation = .condition,
        redact: @escaping (String) -> String = { $0 }
    ) {
        self.column = column
        self.comparison = comparison
        self.operand = operand
        self.notation = notation
        self.redact = redact
    }

    /// The comparison with another operand, as you would write it in this place.
    private func written(_ operand: String) -> String { written(comparison, operand) }

    private func written(_ comparison: ComparisonOperator, _ operand: String) -> String {
        switch notation {
        case .condition: "\"\(comparison.rawValue) \(operand)\""
        case .template:
            "\(column) \(comparison.rawValue) \(ComparisonValue(operand, column: column).kind == .number ? operand : "'\(operand)'")"
        }
    }

    private func quoted(_ text: String) -> String {
        "'\(TextFormat.foreign(SecretText.hidden(in: redact(text)), maximumBytes: 60))'"
    }

    private var isOrder: Bool { comparison != .equal && comparison != .notEqual }
    private var isVersionColumn: Bool { ComparisonValue.isVersion(column: column) }

    /// The dates, in Volley's form, that a text in another common form may mean (`01.12.1990`,
    /// `2026-12-1 9.00`): several if day and month could be swapped; none for other texts.
    public static func dates(meantBy text: String) -> [String] {
        (WrittenDate(text) ?? WrittenDate(month: text))?.dates { $0 } ?? []
    }

    /// - Throws: a `Mistake` that says what is wrong with the operand.
    public func check() throws(Mistake) {
        if notation == .condition, !operand.isEmpty, Blank.isCell(operand) {
            throw Mistake(
                "a cell that reads \(quoted(operand)) counts as blank",
                remedy: "For blank cells write \(column): missing; for all others \(column): present.")
        }
        try checkSingle()
        let kind = ComparisonValue(operand, column: column).kind
        if let mistake = WrittenDash.mistake(
            in: operand, isRight: { ComparisonValue($0, column: column).kind == .date },
            remedy: { "Write \(written($0))" })
        {
            throw mistake
        }
        if !isVersionColumn, kind != .date, let date = WrittenDate(operand) {
            throw Mistake("\(quoted(operand)) \(date.flaw)", remedy: date.remedy(written))
        }
        if isOrder, !isVersionColumn, kind == .text || ComparisonValue.isDate(column: column),
            let period = WrittenPeriod(operand)
        {
            let (comparison, day) = period.compared(comparison)
            throw Mistake(
                "\(quoted(operand)) is a \(period.isYear ? "year" : "month"), and dates are compared with a day",
                remedy: "Write \(written(comparison, day)).")
        }
        if ComparisonValue.isDate(column: column), kind != .date {
            throw Mistake(
                "\(quoted(operand)) is not a date, but \(quoted(column)) holds dates",
                remedy:
                    "Write it as \(written("2026-11-30"))\(notation == .condition ? ", or a time: within 30 days, older than 90 days" : "")."
            )
        }
        if isVersionColumn, kind != .version, isOrder {
            throw Mistake("\(quoted(operand)) is not a version", remedy: "Write it as \(written("3.2.0")).")
        }
        if !isVersionColumn { try checkGroups() }
        if kind == .text, isOrder {
            throw Mistake(
                "\(quoted(operand)) is not a number, a version or a date, so nothing is less or more than it",
                remedy: textRemedy)
        }
    }

    /// `2026-01-01, < 2026-02-01` after `>=`: a remedy for one of the two conditions would lose the
    /// other.
    private func checkSingle() throws(Mistake) {
        guard isOrder, let second = secondBound else { return }
        let separators: Set = [",", ";", "&", "-", "–", "and", "und", "to", "bis"]
        var words = operand[..<second.start].split { " ,;&".contains($0) }.map(String.init)
        while let last = words.last, separators.contains(last.lowercased()) { words.removeLast() }
        guard !words.isEmpty else { return }
        let (first, other) = (written(words.joined(separator: " ")), written(second.comparison, second.operand))
        let remedy =
            switch notation {
            case .condition: Self.remedy(forTwo: column, first, other)
            case .template: "Write \(first) and \(other)."
            }
        throw Mistake("\(quoted("\(comparison.rawValue) \(operand)")) is two conditions", remedy: remedy)
    }

    /// Whether `where` accepts a comparison, so that a message may propose it.
    public static func accepts(_ comparison: ComparisonOperator, _ operand: String, column: String) -> Bool {
        do throws(Mistake) {
            try OperandRule(column: column, comparison: comparison, operand: operand).check()
            return true
        } catch { return false }
    }

    /// What to do about two conditions of `where` on one column.
    public static func remedy(forTwo column: String, _ first: String, _ second: String) -> String {
        "A column takes only one condition: write \(column): \(first) or \(column): \(second). For both, export the column twice, under two names."
    }

    /// The second of two conditions in the operand, and where it begins: from another sign on, or a
    /// second date.
    private var secondBound: (start: String.Index, comparison: ComparisonOperator, operand: String)? {
        let signs = "<>=≤≥"
        if let start = operand.firstIndex(where: signs.contains) {
            let sign = String(operand[start...].prefix(while: signs.contains))
            let value = operand[start...].dropFirst(sign.count).split(separator: " ").joined(separator: " ")
            let comparison = ComparisonOperator(rawValue: ["≤": "<=", "=<": "<=", "≥": ">=", "=>": ">="][sign] ?? sign)
            return comparison.flatMap { value.isEmpty ? nil : (start, $0, value) }
        }
        let words = operand.split { " ,;&".contains($0) }
        guard let date = words.dropFirst().first(where: { WrittenDate(String($0)) != nil }) else { return nil }
        return (
            date.startIndex, comparison == .less || comparison == .lessOrEqual ? .greaterOrEqual : .lessOrEqual,
            String(date)
        )
    }

    /// `1.000` is a thousand in some countries, and one for Volley; `1.000.000` would be a version.
    private func checkGroups() throws(Mistake) {
        let digits = operand.first == "-" ? operand.dropFirst() : operand[...]
        let parts = digits.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count > 1, (1...3).contains(parts[0].count), parts[0].first != "0",
            parts.dropFirst().allSatisfy({ $0.count == 3 }),
            parts.allSatisfy({ $0.allSatisfy { $0.isASCII && $0.isNumber } })
        else { return }
        let whole = operand.filter { $0 != "." }
        let decimal = parts.count == 2 ? " For the decimal, write \(written(operand + "0"))." : ""
        throw Mistake(
            "\(quoted(operand)) may be \(whole) or a decimal number",
            remedy: "For \(whole), write \(written(whole)).\(decimal)")
    }

    private var textRemedy: String {
        if operand.contains(where: { $0.isASCII && $0.isNumber }) {
            return "Write a number as 1234.5, without units or groups, a date as 2026-11-30, a version as 3.2.0."
        }
        switch notation {
        case .condition: return "List the values that you mean: \(column): [\(operand), …]."
        case .template: return "Name the values that you mean: \(column) == '\(operand)' or \(column) == '…'."
        }
    }
}

/// One condition of `where`: a column, and a test of its cell.
public struct ColumnCondition: Hashable, Sendable {
    /// A name as in the export's header, or one of the standard names (`language`, `last_active`,
    /// …).
    public var column: SourceText
    /// The test of its cell.
    public var test: ColumnTest

    /// A condition on a column.
    public init(column: SourceText, test: ColumnTest) {
        self.column = column
        self.test = test
    }
}

/// A test of a cell.
public enum ColumnTest: Hashable, Sendable {
    /// Equal to one of these texts.
    case oneOf([String])
    /// `>= 3.2.0`: as `ComparisonValue` compares.
    case comparison(ComparisonOperator, String)
    /// `within 30 days`: a date at most this many seconds ago.
    case within(seconds: Int)
    /// `older than 90 days`: a date more than this many seconds ago.
    case olderThan(seconds: Int)
    /// Not blank.
    case present
    /// Blank or absent.
    case missing
}

/// The operators of a comparison in `where`.
public enum ComparisonOperator: String, CaseIterable, Hashable, Sendable, BitwiseCopyable {
    case less = "<"
    case lessOrEqual = "<="
    case equal = "=="
    case notEqual = "!="
    case greaterOrEqual = ">="
    case greater = ">"
}
