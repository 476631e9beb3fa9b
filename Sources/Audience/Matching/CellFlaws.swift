import Base

/// Rows of recipients in which a column that texts print shows signs of a faulty export.
struct CellFlaws: Sendable {
    private var rows: [CellFlaw: Int] = [:]
    private var cells: [CellFlaw: [String]] = [:]

    /// Cells in columns of people's names that are not names, from the rows that were checked.
    private var noNames: [String] = []
    /// How many more rows are checked for them.
    private(set) var namesToSample = 200

    mutating func note(name cell: @autoclosure () -> String, isNone: Bool) {
        namesToSample -= 1
        if isNone { keep(noName: cell()) }
    }

    private mutating func keep(noName cell: String) {
        if noNames.count < ConditionCount.mostCells, !noNames.contains(cell) { noNames.append(cell) }
    }

    mutating func note(_ flaw: CellFlaw, cell: String) {
        rows[flaw, default: 0] += 1
        if cells[flaw, default: []].count < ConditionCount.mostCells, !cells[flaw, default: []].contains(cell) {
            cells[flaw, default: []].append(cell)
        }
    }

    mutating func add(_ other: CellFlaws) {
        for cell in other.noNames { keep(noName: cell) }
        for (flaw, count) in other.rows { rows[flaw, default: 0] += count }
        for (flaw, others) in other.cells {
            for cell in others where cells[flaw, default: []].count < ConditionCount.mostCells && !cells[flaw, default: []].contains(cell) {
                cells[flaw, default: []].append(cell)
            }
        }
    }

    /// - Parameter column: with the place where a text names it first.
    func warnings(_ column: SourceText) -> [Diagnostic] {
        noName(column)
            + CellFlaw.allCases.compactMap { flaw in
                guard let count = rows[flaw] else { return nil }
                let hold = "in '\(column.value)' \(TextFormat.counted(count, one: "row holds", many: "rows hold"))"
                let list = ConditionFindings.list(cells[flaw] ?? [])
                return switch flaw {
                case .garbled:
                    .warning(
                        .garbledText, message: "\(hold) letters that were read in the wrong encoding: \(list)", at: column.position,
                        remedy: "Save the export as UTF-8 again; otherwise people read these.")
                case .entity:
                    .warning(
                        .markupInText, message: "\(hold) HTML, which people would read unchanged: \(list)", at: column.position,
                        remedy: "Export the text itself.")
                case .quoted:
                    .warning(
                        .markupInText, message: "\(hold) a text in quotes, which people would read with it: \(list)", at: column.position,
                        remedy: "Export the text without them; in a CSV file, a quote (\") belongs right after the separator.")
                }
            }
    }

    private func noName(_ column: SourceText) -> [Diagnostic] {
        guard !noNames.isEmpty else { return [] }
        return [
            .warning(
                .placeholderInText,
                message:
                    "cells of '\(column.value)' are not names, and people would read them unchanged: \(ConditionFindings.list(noNames))",
                at: column.position, remedy: "Leave them empty in the export, so that 'default' replaces them.")
        ]
    }
}
