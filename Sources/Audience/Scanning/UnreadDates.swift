import Base

/// Cells of a column of dates that hold none, or one that is still to come, where that decides something.
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

    /// - Parameters:
    ///   - column: what the exports call it.
    ///   - effect: what comes of it.
    func warning(_ column: String, _ effect: String) -> Diagnostic {
        let hold = TextFormat.counted(rows, "row holds", "rows hold")
        let ahead = cells.filter { Array($0.utf8).withUnsafeBufferPointer(dateMilliseconds) != nil }
        let remedy =
            ahead.count == cells.count
            ? "Dates more than a day ahead have not come yet. Correct them in the export."
            : "Write dates in the export as 2026-11-30 or 2026-11-30T09:00:00Z\(ahead.isEmpty ? "" : ", none of them more than a day ahead")."
        return .warning(
            .cellsNotCompared,
            "in '\(column)' \(hold) something else than a date\(ahead.isEmpty ? "" : " that has passed"), \(effect): "
                + ConditionFindings.list(cells), remedy: remedy)
    }
}
