import Base

/// Rows of recipients in which a column that texts print shows that it came the wrong way.
struct CellFlaws: Sendable {
    private var rows: [CellFlaw: Int] = [:]
    private var cells: [CellFlaw: [String]] = [:]

    /// Cells of people's names that are none, of the rows that were looked at.
    private var noNames: [String] = []
    /// How many more rows are looked at for them.
    private(set) var namesToSample = 200

    mutating func note(name cell: @autoclosure () -> String, isNone: Bool) {
        namesToSample -= 1
        if isNone { keep(noName: cell()) }
    }

    private mutating func keep(noName cell: String) {
        if noNames.count < ConditionCount.mostCells, !noNames.contains(cell) { noNames.append(cell) }
    }

    mutating func note(_ flaw: CellFlaw, _ cell: String) {
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
                let hold = "in '\(column.value)' \(TextFormat.counted(count, "row holds", "rows hold"))"
                let list = ConditionFindings.list(cells[flaw] ?? [])
                return switch flaw {
                case .garbled:
                    .warning(
                        .garbledText, "\(hold) letters that were read in the wrong encoding: \(list)", at: column.position,
                        remedy: "Save the export as UTF-8 again; else people read them so.")
                case .entity:
                    .warning(
                        .markupInText, "\(hold) HTML, which people would read as it stands: \(list)", at: column.position,
                        remedy: "Export the text itself.")
                }
            }
    }

    private func noName(_ column: SourceText) -> [Diagnostic] {
        guard !noNames.isEmpty else { return [] }
        return [
            .warning(
                .placeholderInText,
                "cells of '\(column.value)' are no names, and people would read them as they stand: \(ConditionFindings.list(noNames))",
                at: column.position, remedy: "Leave them empty in the export, so that 'default' stands for them.")
        ]
    }
}
