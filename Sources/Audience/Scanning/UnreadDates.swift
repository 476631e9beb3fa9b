import Base

/// Cells of a date column without a date, or with one in the future, where that matters; and those of a column of truth values without one.
struct UnreadDates: Sendable {
    private(set) var rows = 0
    /// The first different ones.
    private var cells: [String] = []

    mutating func note(_ cell: UnsafeBufferPointer<UInt8>) {
        rows += 1
        if cells.count < ConditionCount.mostCells { keep(String(decoding: cell.prefix(200), as: UTF8.self)) }
    }

    mutating func add(_ other: UnreadDates) {
        rows += other.rows
        for cell in other.cells { keep(cell) }
    }

    private mutating func keep(_ cell: String) {
        if cells.count < ConditionCount.mostCells, !cells.contains(cell) { cells.append(cell) }
    }

    /// The mistake of truth values that cannot be read: a device that must be left out may be among them.
    /// - Parameter column: what the export calls it.
    func refusal(_ column: String, file: String?) -> Diagnostic {
        let hold = TextFormat.counted(rows, one: "row holds", many: "rows hold")
        return Diagnostic(
            "in '\(column)' \(hold) something other than true or false: \(ConditionFindings.list(cells))", file: file,
            remedy: "Write true in the export for devices that may get pushes, and false for all others.")
    }

    /// - Parameters:
    ///   - column: what the exports call it.
    ///   - effect: the consequence.
    func warning(_ column: String, effect: String) -> Diagnostic {
        let hold = TextFormat.counted(rows, one: "row holds", many: "rows hold")
        let ahead = cells.filter { Array($0.utf8).withUnsafeBufferPointer(dateMilliseconds) != nil }
        let remedy =
            ahead.count == cells.count
            ? "Dates more than a day ahead are in the future. Correct them in the export."
            : "Write dates in the export as 2026-11-30 or 2026-11-30T09:00:00Z\(ahead.isEmpty ? "" : ", none of them more than a day ahead")."
        return .warning(
            .cellsNotCompared,
            message: "in '\(column)' \(hold) something other than a date\(ahead.isEmpty ? "" : " in the past"), \(effect): "
                + ConditionFindings.list(cells), remedy: remedy)
    }
}
