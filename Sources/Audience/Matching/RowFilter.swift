import Base

/// All conditions of `where`, and which of them no row has satisfied yet.
struct RowFilter {
    private let conditions: [ColumnCondition]
    private var tests: [ConditionTest] = []
    private var cells: [Int] = []
    private var isSatisfied: [Bool]
    private var unsatisfiedCount: Int
    /// Rows that were asked about.
    private var rows = 0
    private let now: Timestamp
    private let separator: [UInt8]

    init(_ query: AudienceQuery) {
        conditions = query.conditions
        isSatisfied = Array(repeating: false, count: conditions.count)
        unsatisfiedCount = conditions.count
        now = query.now
        separator = Array(query.columns.tagSeparator.utf8)
    }

    /// Prepares for the rows of another file.
    mutating func use(_ plan: ColumnPlan) {
        cells = plan.conditions
        tests = zip(conditions, cells).map { condition, cell in
            ConditionTest(condition.test, now: now, ignoresCase: cell == plan.language && cell != plan.blankCell)
        }
    }

    /// Whether a selected row satisfies all conditions.
    mutating func passes(_ row: CellRow) -> Bool {
        rows += 1
        var passes = true
        for index in tests.indices {
            // A condition that no row has satisfied yet is asked even when another one fails, so that the warning is true.
            guard passes || unsatisfiedCount > 0 && !isSatisfied[index] else { continue }
            guard holds(tests[index], row, cells[index]) else {
                passes = false
                continue
            }
            guard !isSatisfied[index] else { continue }
            isSatisfied[index] = true
            unsatisfiedCount -= 1
        }
        return passes
    }

    private func holds(_ test: ConditionTest, _ row: CellRow, _ cell: Int) -> Bool {
        let bytes = row.bytes(cell)
        guard row.isArray(cell) else { return test.holds(bytes) }
        return Array(row.text(cell, separator: separator).utf8).withUnsafeBufferPointer { test.holds($0) }
    }

    /// Adds what another thread's filter has seen.
    mutating func unite(_ other: RowFilter) {
        rows += other.rows
        for index in isSatisfied.indices where other.isSatisfied[index] { isSatisfied[index] = true }
    }

    /// Conditions that no selected row satisfied, each with its place in the campaign.
    var warnings: [Diagnostic] {
        guard rows > 0 else { return [] }
        return zip(conditions, isSatisfied).filter { !$0.1 }.map { condition, _ in
            Diagnostic(
                "no selected device satisfies this condition on '\(condition.column.value)'", at: condition.column.position,
                remedy: "Are its values written as in the export?", severity: .warning)
        }
    }
}
