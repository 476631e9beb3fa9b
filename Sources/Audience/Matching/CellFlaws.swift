import Base

/// Rows of recipients in which a column that texts print shows signs of a faulty export.
struct CellFlaws: Sendable {
    private var rows: [CellFlaw: Int] = [:]
    private var cells: [CellFlaw: [String]] = [:]
    /// Where the first of them is; in a block, lines count from its beginning, and the file is not
    /// named.
    private var first: [CellFlaw: (file: String, line: Int)] = [:]
    /// Whether a flaw lacks its line.
    private(set) var wantsLine = false

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
        if first[flaw] == nil { wantsLine = true }
        if cells[flaw, default: []].count < ConditionCount.mostCells, !cells[flaw, default: []].contains(cell) {
            cells[flaw, default: []].append(cell)
        }
    }

    /// Says in which line of the block the flaws are that were noted last.
    mutating func note(line: Int) {
        wantsLine = false
        for flaw in rows.keys where first[flaw] == nil { first[flaw] = ("", line) }
    }

    /// Adds those of a block that begins at a line of a file.
    mutating func add(_ other: CellFlaws, in file: String, from line: Int) {
        for (flaw, place) in other.first where first[flaw] == nil { first[flaw] = (file, line + place.line - 1) }
        for cell in other.noNames { keep(noName: cell) }
        for (flaw, count) in other.rows { rows[flaw, default: 0] += count }
        for (flaw, others) in other.cells {
            for cell in others
            where cells[flaw, default: []].count < ConditionCount.mostCells && !cells[flaw, default: []].contains(cell)
            {
                cells[flaw, default: []].append(cell)
            }
        }
    }

    /// - Parameter column: with the place where a text names it first.
    func warnings(_ column: SourceText) -> [Diagnostic] {
        noName(column)
            + CellFlaw.allCases.compactMap { flaw -> Diagnostic? in
                guard let count = rows[flaw] else { return nil }
                let hold = "in '\(column.value)' \(TextFormat.counted(count, one: "row holds", many: "rows hold"))"
                let list = ConditionFindings.list(cells[flaw] ?? [])
                var warning: Diagnostic
                switch flaw {
                case .garbled:
                    warning = .warning(
                        .textNotReady, message: "\(hold) letters that were read in the wrong encoding: \(list)",
                        at: column.position,
                        remedy: "Save the export as UTF-8 again; otherwise people read these.")
                case .entity:
                    warning = .warning(
                        .textNotReady, message: "\(hold) HTML, which people would read unchanged: \(list)",
                        at: column.position,
                        remedy: "Export the text itself.")
                case .quoted:
                    warning = .warning(
                        .textNotReady, message: "\(hold) a text in quotes, which people would read with it: \(list)",
                        at: column.position,
                        remedy:
                            "Export the text without them; in a CSV file, a quote (\") belongs right after the separator."
                    )
                case .unmatched:
                    warning = .warning(
                        .textNotReady,
                        message: "\(hold) a quote without its other half, which people would read with it: \(list)",
                        at: column.position,
                        remedy:
                            "Export the text without it: Excel writes an apostrophe (') in front of a cell that it should take for text."
                    )
                case .code:
                    warning = .warning(
                        .textNotReady,
                        message: "\(hold) what a program wrote for itself, and people would read it: \(list)",
                        at: column.position,
                        remedy:
                            "Export the text that people should read: the result of a formula, one value of an object, a quote without a backslash before it, all digits of a number."
                    )
                }
                if [.quoted, .unmatched, .code].contains(flaw), let (file, line) = first[flaw] {
                    warning.plainMessage =
                        "\(warning.message); the first is \(SourcePosition.plainWords(file: file, line: line))"
                    warning.message += "; the first is \(file):\(line)"
                }
                return warning
            }
    }

    private func noName(_ column: SourceText) -> [Diagnostic] {
        guard !noNames.isEmpty else { return [] }
        return [
            .warning(
                .textNotReady,
                message:
                    "cells of '\(column.value)' are not names, and people would read them unchanged: \(ConditionFindings.list(noNames))",
                at: column.position, remedy: "Leave them empty in the export, so that 'default' replaces them.")
        ]
    }
}
