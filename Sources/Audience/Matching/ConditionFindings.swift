import Base

/// What was found of a condition.
struct ConditionFindings: Sendable {
    /// Whether it was asked of any row, also of one of which a condition before it does not hold.
    var wasAsked = false
    /// Rows that came so far: the conditions before it held.
    var rows = 0
    /// Those of them of which it holds.
    var holdingRows = 0
    /// Those whose cell cannot be what the condition compares.
    var unreadableRows = 0
    /// By value of a list, else of the only one: whether some row has it.
    var isSeen: [Bool]
    /// Different cells that do not satisfy it, and those of them that cannot be compared: the first ones.
    private(set) var otherCells: [String] = []
    private(set) var unreadableCells: [String] = []
    /// How many more rows are looked at for those.
    private var rowsToSample = 200

    /// Cells that are kept to find the nearest to a value, and to show.
    private static let mostCells = 50

    init(_ condition: ColumnCondition) {
        isSeen = if case .oneOf(let values) = condition.test { Array(repeating: false, count: max(values.count, 1)) } else { [false] }
    }

    var isSatisfied: Bool { isSeen.contains(true) }
    var isComplete: Bool { !isSeen.contains(false) }

    /// Whether a cell that does not satisfy it is to be noted.
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
        guard !cell.isEmpty, cells.count < limit, !cells.contains(cell) else { return }
        cells.append(cell)
    }

    mutating func add(_ other: ConditionFindings) {
        wasAsked = wasAsked || other.wasAsked
        rows += other.rows
        holdingRows += other.holdingRows
        unreadableRows += other.unreadableRows
        for index in isSeen.indices where other.isSeen[index] { isSeen[index] = true }
        for cell in other.unreadableCells { Self.add(cell, to: &unreadableCells, atMost: ConditionCount.mostCells) }
        for cell in other.otherCells { Self.add(cell, to: &otherCells, atMost: Self.mostCells) }
    }
}

extension ConditionFindings {
    /// What is worth saying of a condition, at its place in the campaign.
    func warnings(_ condition: ColumnCondition, now: Timestamp, isLanguage: Bool) -> [Diagnostic] {
        guard wasAsked else { return [] }
        let (column, position) = (condition.column.value, condition.column.position)
        let kind = ConditionTest(condition, now: now, isLanguage: isLanguage).kindInWords
        var warnings: [Diagnostic] = []
        if unreadableRows > 0, let kind {
            let hold = unreadableRows == 1 ? "1 row holds" : "\(TextFormat.count(unreadableRows)) rows hold"
            warnings.append(
                .warning(
                    .cellsNotCompared,
                    "in '\(column)' \(hold) something else than \(kind), so that the condition cannot hold of them: "
                        + Self.list(unreadableCells), at: position, remedy: Self.remedy(kind, unreadableCells)))
        }
        if !isSatisfied {
            // Of cells none of which can be compared that was said.
            if unreadableRows == rows, !warnings.isEmpty { return warnings }
            let cells = otherCells.isEmpty ? "" : ": its cells are for example \(Self.list(otherCells))"
            let remedy = otherCells.isEmpty ? "The column is blank in these rows." : "Are its values written as in the export?"
            warnings.append(
                .warning(
                    .conditionNeverHolds, "no selected device satisfies this condition on '\(column)'\(cells)", at: position,
                    remedy: nearest(condition) ?? remedy))
        } else if case .oneOf(let values) = condition.test {
            for value in values where !hasSeen(value, of: values, isLanguage: isLanguage) {
                warnings.append(
                    .warning(
                        .valueNotFound, "no selected device has '\(TextFormat.foreign(value, maximumBytes: 60))' in '\(column)'",
                        at: position,
                        remedy: nearestName(to: value, among: otherCells).map { "Did you mean '\($0)'?" } ?? Self.example(otherCells)))
            }
        }
        return warnings + spellings(condition)
    }

    /// Cells that mean a value of the condition, most likely, and are written otherwise; of those that were looked at.
    private func spellings(_ condition: ColumnCondition) -> [Diagnostic] {
        guard case .oneOf(let values) = condition.test else { return [] }
        return zip(values, isSeen).filter(\.1).compactMap { value, _ in
            let name = trimmedText(value)
            let isTruth = ["true", "false"].contains(name.lowercased())
            let others = otherCells.filter { cell in
                !values.contains { trimmedText($0) == cell }
                    && (Self.folded(cell) == Self.folded(name) || !isTruth && Self.isSameTruth(cell, name))
            }
            guard !others.isEmpty else { return nil }
            let truth = Array(name.utf8).withUnsafeBufferPointer(truthValue)
            let meant = truth.map { " For all that say so write \(condition.column.value): \($0)." } ?? ""
            return .warning(
                .tagSpelling, "cells of '\(condition.column.value)' hold \(Self.list(others)), which does not count as '\(name)'",
                at: condition.column.position,
                remedy:
                    "If it means the same, name it as well: [\(name), \(others.prefix(3).joined(separator: ", "))].\(isTruth ? "" : meant)")
        }
    }

    private static func folded(_ text: String) -> String { text.lowercased().filter { !$0.isWhitespace } }

    private static func isSameTruth(_ cell: String, _ value: String) -> Bool {
        func truth(_ text: String) -> Bool? { Array(text.utf8).withUnsafeBufferPointer(truthValue) }
        return truth(value).map { $0 == truth(cell) } ?? false
    }

    /// A value that stands twice counts once, and a language is seen with each of its regions.
    private func hasSeen(_ value: String, of values: [String], isLanguage: Bool) -> Bool {
        zip(values, isSeen).contains { other, isSeen in
            guard isSeen else { return false }
            if trimmedText(other) == trimmedText(value) { return true }
            return isLanguage && LanguageTag.normalized(value).map { LanguageTag.fallbacks(of: other).contains($0) } ?? false
        }
    }

    private func nearest(_ condition: ColumnCondition) -> String? {
        guard case .oneOf(let values) = condition.test else { return nil }
        return values.lazy.compactMap { nearestName(to: $0, among: otherCells) }.first.map { "Did you mean '\($0)'?" }
    }

    private static func example(_ cells: [String]) -> String? {
        cells.isEmpty ? nil : "Other cells are for example \(list(cells))."
    }

    static func list(_ cells: [String]) -> String {
        cells.prefix(ConditionCount.mostCells).map { "'\(TextFormat.foreign(DeviceToken($0)?.redacted ?? $0, maximumBytes: 40))'" }
            .joined(separator: ", ")
    }

    private static func remedy(_ kind: String, _ cells: [String]) -> String {
        let parts = cells.first?.split(separator: ".").count ?? 0
        if kind == "a number", parts > 2 { return "For versions write all three numbers: \">= 3.2.0\"." }
        return switch kind {
        case "a number": "Write numbers in the export as 1234.5, without units or groups."
        case "a date": "Write dates in the export as 2026-11-30 or 2026-11-30T09:00:00Z."
        case "a version": "Write versions in the export as 3.2.0."
        case "a language": "Write tags in the export such as de, pt-BR or zh-Hans."
        default: "Write true or false in the export (or yes and no, 1 and 0)."
        }
    }
}
