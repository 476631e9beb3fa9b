/// What a comparison of `where` or of a template may compare with: a number, a version or a date, as `ComparisonValue` tells them apart. What is
/// none of them, or may be two things, is a mistake, as it would hold of all or of nobody.
public struct OperandRule {
    /// Where a comparison stands, which decides how it is written.
    public enum Notation {
        /// In `where`: `points: ">= 1000"`.
        case condition
        /// Behind `{% if`: `points >= 1000`, `born < '1990-12-24'`.
        case template
    }

    /// What is wrong with an operand, and what to write.
    public struct Mistake: Error, Hashable {
        /// Without a full stop.
        public var message: String
        /// Whole sentences.
        public var remedy: String

        init(_ message: String, remedy: String) { (self.message, self.remedy) = (message, remedy) }
    }

    let column: String
    let comparison: ComparisonOperator
    let operand: String
    let notation: Notation

    /// - Parameters:
    ///   - column: as written before the operator.
    ///   - operand: without white space around it.
    public init(column: String, comparison: ComparisonOperator, operand: String, notation: Notation = .condition) {
        (self.column, self.comparison, self.operand, self.notation) = (column, comparison, operand, notation)
    }

    /// The comparison with another operand, as it is written there.
    private func written(_ operand: String) -> String {
        switch notation {
        case .condition: "\"\(comparison.rawValue) \(operand)\""
        case .template:
            "\(column) \(comparison.rawValue) \(ComparisonValue(operand, column: column).kind == .number ? operand : "'\(operand)'")"
        }
    }

    private func quoted(_ text: String) -> String {
        "'\(text.utf8.count >= 32 && DeviceToken(text) != nil ? DeviceToken.redact(text) : TextFormat.foreign(text, maximumBytes: 60))'"
    }

    private var isOrder: Bool { comparison != .equal && comparison != .notEqual }
    private var isVersionColumn: Bool { ComparisonValue.isVersion(column: column) }

    /// The dates that a text means which writes them as people do elsewhere, `01.12.1990`, as Volley reads them: several where day and month may be
    /// either; none for other texts.
    public static func dates(meantBy text: String) -> [String] { WrittenDate(text)?.dates { $0 } ?? [] }

    /// - Throws: what is wrong with the operand.
    public func check() throws(Mistake) {
        let kind = ComparisonValue(operand, column: column).kind
        if !isVersionColumn, kind != .date, let date = WrittenDate(operand) {
            throw Mistake("\(quoted(operand)) is no date as Volley reads it: the year comes first", remedy: date.remedy(written))
        }
        if ComparisonValue.isDate(column: column), kind != .date {
            throw Mistake(
                "\(quoted(operand)) is no date, and \(quoted(column)) holds dates",
                remedy:
                    "Write it as \(written("2026-11-30"))\(notation == .condition ? ", or a time: within 30 days, older than 90 days" : "")."
            )
        }
        if isVersionColumn, kind != .version, isOrder {
            throw Mistake("\(quoted(operand)) is no version", remedy: "Write it as \(written("3.2.0")).")
        }
        if !isVersionColumn { try checkGroups() }
        if kind == .text, isOrder {
            throw Mistake(
                "\(quoted(operand)) is neither a number, a version nor a date, so that nothing is less or more than it", remedy: textRemedy)
        }
    }

    /// `1.000` is a thousand where people write so, and one for Volley; `1.000.000` would be a version.
    private func checkGroups() throws(Mistake) {
        let digits = operand.first == "-" ? operand.dropFirst() : operand[...]
        let parts = digits.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count > 1, (1...3).contains(parts[0].count), parts[0].first != "0", parts.dropFirst().allSatisfy({ $0.count == 3 }),
            parts.allSatisfy({ $0.allSatisfy { $0.isASCII && $0.isNumber } })
        else { return }
        let whole = operand.filter { $0 != "." }
        let decimal = parts.count == 2 ? " For the decimal write \(written(operand + "0"))." : ""
        throw Mistake(
            "\(quoted(operand)) may be \(whole), or a number with a point",
            remedy: "For \(whole) write \(written(whole)).\(decimal)")
    }

    private var textRemedy: String {
        if operand.contains(where: { $0.isASCII && $0.isNumber }) {
            return "Write a number as 1234.5, without units or groups, a date as 2026-11-30, a version as 3.2.0."
        }
        switch notation {
        case .condition: return "List the values that are meant: \(column): [\(operand), …]."
        case .template: return "Name the values that are meant: \(column) == '\(operand)' or \(column) == '…'."
        }
    }
}

/// A date as people write it elsewhere: `01.10.2026`, `10/1/2026`, `2026/10/01`.
private struct WrittenDate {
    private let year: Int
    /// In the order in which they stand.
    private let first: Int, second: Int
    private let isYearFirst: Bool
    private let hasSlashes: Bool

    init?(_ text: String) {
        let date = text.split(separator: " ").first.map(String.init) ?? text
        guard let mark = date.first(where: { "./-".contains($0) }) else { return nil }
        let parts = date.split(separator: mark, omittingEmptySubsequences: true)
        let numbers = parts.compactMap { $0.count <= 4 && $0.allSatisfy { $0.isASCII && $0.isNumber } ? Int($0) : nil }
        guard parts.count == 3, numbers.count == 3, let last = parts.last else { return nil }
        hasSlashes = mark == "/"
        if parts[0].count == 4, (1900...2100).contains(numbers[0]) {
            (year, first, second, isYearFirst) = (numbers[0], numbers[1], numbers[2], true)
        } else if last.count == 4, (1900...2100).contains(numbers[2]) {
            (year, first, second, isYearFirst) = (numbers[2], numbers[0], numbers[1], false)
        } else {
            return nil
        }
        guard (1...31).contains(first), (1...31).contains(second) else { return nil }
    }

    /// - Parameter comparison: how the comparison with a date is written.
    func remedy(_ comparison: (String) -> String) -> String {
        let forms = dates(comparison)
        return forms.isEmpty ? "Write it like 2026-11-30." : "Write \(forms.joined(separator: " or "))."
    }

    /// - Parameter comparison: how what is done with a date is written.
    func dates(_ comparison: (String) -> String) -> [String] {
        func written(month: Int, day: Int) -> String? {
            guard (1...12).contains(month), day <= daysInMonth(month, year: year) else { return nil }
            let digits = [month, day].map { $0 < 10 ? "0\($0)" : "\($0)" }
            return comparison("\(year)-\(digits[0])-\(digits[1])")
        }
        let dayFirst = isYearFirst ? nil : written(month: second, day: first)
        // A point stands behind the day in all countries that write dates so.
        let monthFirst = isYearFirst || hasSlashes || dayFirst == nil ? written(month: first, day: second) : nil
        return Set([monthFirst, dayFirst].compactMap(\.self)).sorted()
    }
}
