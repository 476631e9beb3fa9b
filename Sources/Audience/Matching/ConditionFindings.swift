import Base
import PushServices

/// What was found about a condition.
struct ConditionFindings: Sendable {
    /// Whether it was evaluated for any row, even one that fails a condition before it.
    var wasAsked = false
    /// Rows that got this far: they met the conditions before it.
    var rows = 0
    /// The rows among them that meet it.
    var holdingRows = 0
    /// Rows with a cell that the condition cannot compare.
    var unreadableRows = 0
    /// For each value of a list, or the only value: whether some row has it. For `!=`: whether some
    /// row meets it, and whether some row has what it compares with.
    var isSeen: [Bool]
    /// Whether the condition is `!=`: cells that meet it are kept, as they show what may be meant.
    let isNotEqual: Bool
    /// Cells that may be thousands, where numbers are compared.
    var numbers = NumberForms()
    /// The first different cells that are not its value, and those among them that cannot be
    /// compared.
    private(set) var otherCells: [String] = []
    private(set) var unreadableCells: [String] = []
    /// Cells that are a value in disguise, of all rows that got this far.
    var spellings = SpellingCounts()
    /// How many more rows are checked for those.
    private var rowsToSample = 200

    /// Cells that are kept to find the nearest to a value, and to show.
    private static let mostCells = 50

    init(_ condition: ColumnCondition) {
        switch condition.test {
        case .oneOf(let values): (isSeen, isNotEqual) = (Array(repeating: false, count: max(values.count, 1)), false)
        case .comparison(.notEqual, _): (isSeen, isNotEqual) = ([false, false], true)
        default: (isSeen, isNotEqual) = ([false], false)
        }
    }

    var isSatisfied: Bool { isNotEqual ? isSeen[0] : isSeen.contains(true) }
    var isComplete: Bool { !isSeen.contains(false) }

    /// Whether to keep a cell that is not its value.
    @inline(__always) mutating func wantsCell(isUnreadable: Bool) -> Bool {
        guard isUnreadable ? unreadableCells.count < ConditionCount.mostCells : rowsToSample > 0 else { return false }
        rowsToSample -= 1
        return true
    }

    mutating func note(_ cell: String, isUnreadable: Bool) {
        if isUnreadable { Self.add(cell, to: &unreadableCells, atMost: ConditionCount.mostCells) }
        Self.add(cell, to: &otherCells, atMost: Self.mostCells)
    }

    private static func add(_ cell: String, to cells: inout [String], atMost limit: Int) {
        guard !cell.isEmpty, cells.count < limit, !cells.contains(where: { $0.utf8.elementsEqual(cell.utf8) }) else {
            return
        }
        cells.append(cell)
    }

    mutating func add(_ other: ConditionFindings) {
        wasAsked = wasAsked || other.wasAsked
        rows += other.rows
        holdingRows += other.holdingRows
        unreadableRows += other.unreadableRows
        numbers.add(other.numbers)
        spellings.add(other.spellings)
        for index in isSeen.indices where other.isSeen[index] { isSeen[index] = true }
        for cell in other.unreadableCells { Self.add(cell, to: &unreadableCells, atMost: ConditionCount.mostCells) }
        for cell in other.otherCells { Self.add(cell, to: &otherCells, atMost: Self.mostCells) }
    }

    /// Cells as a message shows them.
    static func list(_ cells: [String]) -> String {
        cells.prefix(ConditionCount.mostCells).map {
            "'\(TargetRedaction.possible($0) ?? TargetRedaction.cell($0, maximumBytes: 40))'"
        }
        .joined(separator: ", ")
    }
}

extension ColumnTest {
    /// What whole cells are compared with.
    var texts: [String] {
        switch self {
        case .oneOf(let values): values.map(trimmedText)
        case .comparison(.equal, let operand), .comparison(.notEqual, let operand): [trimmedText(operand)]
        default: []
        }
    }
}

/// What was found of a comparison of the templates in the rows of recipients.
struct ComparisonFindings: Sendable {
    /// Rows with a cell that cannot be compared.
    var unreadableRows = 0
    /// Whether some cell is equal to what it is compared with, or holds it.
    var isSeen = false
    /// Cells that may be thousands, where numbers are compared.
    var numbers = NumberForms()
    /// Different cells of the first rows that are not equal, and of rows that cannot be compared.
    private(set) var otherCells: [String] = []
    private(set) var unreadableCells: [String] = []
    /// How many more rows are checked for `otherCells`.
    private(set) var rowsToSample = 200

    /// Cells that are kept to find the nearest to a value, and to show.
    private static let mostCells = 50

    mutating func note(unreadable cell: @autoclosure () -> String) {
        unreadableRows += 1
        if unreadableCells.count < ConditionCount.mostCells {
            Self.add(cell(), to: &unreadableCells, atMost: ConditionCount.mostCells)
        }
    }

    mutating func note(other cell: String) {
        rowsToSample -= 1
        Self.add(cell, to: &otherCells, atMost: Self.mostCells)
    }

    private static func add(_ cell: String, to cells: inout [String], atMost limit: Int) {
        guard cells.count < limit, !cells.contains(cell) else { return }
        cells.append(cell)
    }

    mutating func add(_ other: ComparisonFindings) {
        unreadableRows += other.unreadableRows
        numbers.add(other.numbers)
        isSeen = isSeen || other.isSeen
        for cell in other.unreadableCells { Self.add(cell, to: &unreadableCells, atMost: ConditionCount.mostCells) }
        for cell in other.otherCells { Self.add(cell, to: &otherCells, atMost: Self.mostCells) }
    }
}

extension ComparisonFindings {
    /// Warnings about a comparison, at its place in the campaign.
    /// - Parameter all: of the same texts: a spelling that one of them names is intended.
    func warnings(_ comparison: TemplateComparison, among all: [TemplateComparison]) -> [Diagnostic] {
        switch comparison.kind {
        case .order(let sign, let value):
            switch ComparisonValue(value, column: comparison.column.value).kind {
            case .number:
                unreadable(
                    comparison, sign, kind: "a number",
                    remedy: numberRemedy(sign, value: value, column: comparison.column.value))
                    + numbers.warnings(comparison.column)
            case .version:
                unreadable(comparison, sign, kind: "a version", remedy: "Write versions in the export as 3.2.0.")
            case .date:
                unreadable(
                    comparison, sign, kind: "a date",
                    remedy: "Write dates in the export as 2026-11-30 or 2026-11-30T09:00:00Z.")
            case .text: []
            }
        case .truth(let sign, _):
            unreadable(
                comparison, sign, kind: "true or false",
                remedy: "Write true or false in the export (or yes and no, 1 and 0).")
        case .text(_, let text):
            oneOfSeveral(comparison, text: text).map { [$0] }
                ?? unseen(comparison, text: text, named: Self.named(comparison, all)) {
                    Array($0.utf8).withUnsafeBufferPointer(
                        ComparisonValue(text, column: comparison.column.value).isEqual)
                }
        case .language(_, let tag): isSeen ? [] : unseen(comparison, text: tag, named: []) { $0 == tag }
        case .part(let text): unseen(comparison, text: text, named: Self.named(comparison, all)) { $0.contains(text) }
        case .presence: saysNo(comparison)
        case .number: Self.comparesNumbers(comparison.column, all) ? [] : numbers.thousands(comparison.column)
        }
    }

    /// Whether a comparison is the one that reports on a column's numbers.
    private static func comparesNumbers(_ column: SourceText, _ all: [TemplateComparison]) -> Bool {
        all.contains {
            guard $0.column.value == column.value, case .order(_, let value) = $0.kind else { return false }
            return ComparisonValue(value, column: column.value).kind == .number
        }
    }

    /// A text that is one of several in cells, which are compared as a whole.
    private func oneOfSeveral(_ comparison: TemplateComparison, text: String) -> Diagnostic? {
        guard case .text(let sign, _) = comparison.kind,
            ComparisonValue(text, column: comparison.column.value).kind == .text
        else {
            return nil
        }
        let cells = MultiValueCells.cells(holding: text, among: otherCells, leavesOut: sign == .notEqual)
        guard !cells.isEmpty else { return nil }
        let (column, shown) = (comparison.column.value, TargetRedaction.cell(text, maximumBytes: 60))
        let holds = sign == .notEqual ? "is true" : "is false"
        let remedy =
            sign == .notEqual
            ? "Write {% if \(column) contains '\(shown)' %}{% else %} before the text for the others."
            : "Write {% if \(column) contains '\(shown)' %}."
        return .warning(
            .tagSpelling,
            message:
                "cells of '\(column)' hold \(ConditionFindings.list(cells)), in which '\(shown)' is one of several: {% if \(comparison) %} \(holds) for them",
            at: comparison.column.position, remedy: remedy)
    }

    /// What comparisons of the same column name.
    private static func named(_ comparison: TemplateComparison, _ all: [TemplateComparison]) -> [String] {
        all.filter { $0.column.value == comparison.column.value }.compactMap {
            switch $0.kind {
            case .text(_, let text), .part(let text): text
            default: nil
            }
        }
    }

    /// `no` where a condition is the column alone: it is text like any other, and so the condition
    /// is true.
    private func saysNo(_ comparison: TemplateComparison) -> [Diagnostic] {
        guard unreadableRows > 0, !isSeen else { return [] }
        let column = comparison.column.value
        let rows = TextFormat.counted(unreadableRows, one: "row holds", many: "rows hold")
        return [
            .warning(
                .cellsNotCompared,
                message:
                    "in '\(column)' \(rows) \(ConditionFindings.list(unreadableCells)), for which {% if \(column) %} is true: only false and 0 are no",
                at: comparison.column.position, remedy: "Write {% if \(column) == true %}.")
        ]
    }

    private func numberRemedy(_ sign: ComparisonOperator, value: String, column: String) -> String {
        let isDate =
            unreadableCells.first.map { Array($0.utf8).withUnsafeBufferPointer { dateMilliseconds($0) != nil } }
            ?? false
        if isDate {
            let isYear = value.utf8.count == 4 && Int(value).map { (1900...2100).contains($0) } ?? false
            let date =
                isYear ? "\(value)-\(sign == .greater || sign == .lessOrEqual ? "12-31" : "01-01")" : "2026-11-30"
            return "These are dates. Compare with a date: {% if \(column) \(sign.rawValue) '\(date)' %}."
        }
        let parts = unreadableCells.first?.split(separator: ".").count ?? 0
        return parts > 2
            ? "For versions, write all three numbers: {% if \(column) \(sign.rawValue) '3.2.0' %}."
            : "Write numbers in the export as 1234.5, without units or groups."
    }

    private func unreadable(
        _ comparison: TemplateComparison, _ sign: ComparisonOperator, kind: String, remedy: String
    ) -> [Diagnostic] {
        guard unreadableRows > 0 else { return [] }
        let rows = TextFormat.counted(unreadableRows, one: "row holds", many: "rows hold")
        let holds = sign == .notEqual ? "is true" : "is false"
        return [
            .warning(
                .cellsNotCompared,
                message:
                    "in '\(comparison.column.value)' \(rows) something other than \(kind), so {% if \(comparison) %} \(holds) for them: "
                    + ConditionFindings.list(unreadableCells), at: comparison.column.position, remedy: remedy)
        ]
    }

    /// A text that no row has, or has only in other spellings.
    /// - Parameter named: texts that count as known.
    private func unseen(
        _ comparison: TemplateComparison, text: String, named: [String], isEqual: (String) -> Bool
    ) -> [Diagnostic] {
        let column = comparison.column.value
        let shown = TargetRedaction.cell(text, maximumBytes: 60)
        if !isSeen {
            // A column that is blank in every row tells nothing about its values.
            guard !otherCells.isEmpty else { return [] }
            let near = nearest(to: text, column: column)
            return [
                .warning(
                    .valueNotFound, message: "no device of the audience has '\(shown)' in '\(column)'",
                    at: comparison.column.position,
                    remedy: near.map { "Did you mean '\($0)'?" }
                        ?? "Its cells are, for example, \(ConditionFindings.list(otherCells)).")
            ]
        }
        let others = otherCells.filter { cell in
            !isEqual(cell) && Self.isSpelledOtherwise(cell, text: text, comparison.kind)
                && !named.contains { Self.names($0, cell: cell, comparison.kind) }
        }
        guard !others.isEmpty else { return [] }
        return [
            .warning(
                .tagSpelling,
                message:
                    "cells of '\(column)' hold \(ConditionFindings.list(others)), which \(TextFormat.plural(others.count, one: "does", many: "do")) not count as '\(shown)'",
                at: comparison.column.position, remedy: Self.remedy(comparison, shown: shown, others: others))
        ]
    }

    /// The cell that is most likely meant. For numbers, versions and dates the nearest spelling is
    /// a different value, except where leading zeros were lost.
    private func nearest(to text: String, column: String) -> String? {
        if ComparisonValue(text, column: column).kind == .text {
            return nearestCell(
                to: text, in: column,
                among: otherCells + otherCells.flatMap { $0.split(separator: ";").map(String.init) })
        }
        return otherCells.first { $0.hasPrefix("0") && $0.drop { $0 == "0" } == text }
    }

    /// What to write so that other spellings count too. Within `and` and `or` there is no short
    /// form that leaves the rest of the condition unchanged.
    private static func remedy(_ comparison: TemplateComparison, shown: String, others: [String]) -> String {
        let column = comparison.column.value
        let names = ([shown] + others.prefix(3).map { TargetRedaction.cell($0, maximumBytes: 40) })
        let condition: String
        switch comparison.kind {
        case .part: condition = "\(comparison) or \(column) contains …"
        case .text(let sign, let text):
            if let truth = Array(text.utf8).withUnsafeBufferPointer(truthValue(of:)),
                sign == .equal || sign == .notEqual,
                others.contains(where: { Array($0.utf8).withUnsafeBufferPointer(truthValue(of:)) == truth })
            {
                return "For all cells that mean this, write \(column) \(sign.rawValue) \(truth), without quotes."
            }
            condition = names.map { "\(column) \(sign.rawValue) '\($0)'" }.joined(
                separator: sign == .notEqual ? " and " : " or ")
        default: condition = "\(comparison)"
        }
        guard !comparison.isEntangled else {
            return
                "If it means the same, spell it the same in the export, or use {% if \(condition) %} and put the rest in its own {% if %}."
        }
        if case .part = comparison.kind { return "Add the others that you mean: {% if \(condition) %}." }
        return "If it means the same, name it too: {% if \(condition) %}."
    }

    private static func isSpelledOtherwise(_ cell: String, text: String, _ kind: TemplateComparison.Kind) -> Bool {
        if case .part = kind { return cell.lowercased().contains(text.lowercased()) }
        return ConditionFindings.isSame(cell, name: text, isTruth: false, isLanguage: false)
    }

    private static func names(_ text: String, cell: String, _ kind: TemplateComparison.Kind) -> Bool {
        if case .part = kind { return cell.contains(text) }
        return cell == text
    }
}

/// Cells that hold several values, `sport;music`, in a column that is compared as a whole.
enum MultiValueCells {
    /// The cells in which a text is one of several values.
    /// - Parameter leavesOut: whether cells that are not the text meet the condition: it is meant
    ///   to leave out `Lyon, France` too.
    static func cells(holding text: String, among cells: [String], leavesOut: Bool) -> [String] {
        let commas = cells.filter { $0.contains(",") }.map { parts(of: $0, marks: ",") }
        return cells.filter { cell in
            guard cell != text else { return false }
            if parts(of: cell, marks: ";|").contains(text) { return true }
            // A comma without a blank is used in lists; with a blank, also in names of places and
            // plans.
            return parts(of: cell, marks: ",;|").contains(text)
                && (leavesOut || !cell.contains(", ") || isList(commas, all: cells))
        }
    }

    /// Whether the texts between commas are separate values: one of them appears in several
    /// positions, or alone. `France` of `Lyon, France` does not.
    private static func isList(_ cells: [[String]], all: [String]) -> Bool {
        var places: [String: Int] = [:]
        for parts in cells {
            for (place, part) in parts.enumerated()
            where places.updateValue(place, forKey: part).map({ $0 != place }) ?? false {
                return true
            }
        }
        return all.contains { places[$0] ?? 0 > 0 }
    }

    private static func parts(of cell: String, marks: String) -> [String] {
        let parts = cell.split { marks.contains($0) }
        return parts.count > 1 || parts.first?.count ?? 0 < cell.count ? parts.map { trimmedText(String($0)) } : []
    }
}
