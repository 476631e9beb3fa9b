import Base

/// All conditions of `where`. One for each thread.
struct RowFilter {
    /// What was found of the conditions in a block.
    private(set) var findings: ConditionFindings
    private let conditions: [ColumnCondition]
    private var tests: [ConditionTest] = []
    private var cells: [Int] = []
    private var unsatisfiedCount = 0
    private let now: Timestamp
    private let separator: [UInt8]

    init(_ query: AudienceQuery) {
        conditions = query.conditions
        findings = ConditionFindings(query.conditions)
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

    /// Forgets what was found before.
    mutating func beginBlock() {
        findings = ConditionFindings(conditions)
        unsatisfiedCount = conditions.count
    }

    /// Whether a selected row satisfies all conditions.
    mutating func passes(_ row: CellRow) -> Bool {
        findings.rows += 1
        var passes = true
        for index in tests.indices {
            // A condition that no row has satisfied yet is asked even when another one fails, so that the warning is true.
            guard passes || unsatisfiedCount > 0 && !findings.isSatisfied[index] else { continue }
            guard holds(tests[index], row, cells[index]) else {
                passes = false
                continue
            }
            guard !findings.isSatisfied[index] else { continue }
            findings.isSatisfied[index] = true
            unsatisfiedCount -= 1
        }
        return passes
    }

    /// The numbers of all conditions that a row does not satisfy.
    func failing(_ row: CellRow) -> [Int] { tests.indices.filter { !holds(tests[$0], row, cells[$0]) } }

    private func holds(_ test: ConditionTest, _ row: CellRow, _ cell: Int) -> Bool {
        let bytes = row.bytes(cell)
        guard row.isArray(cell) else { return test.holds(bytes) }
        return Array(row.text(cell, separator: separator).utf8).withUnsafeBufferPointer { test.holds($0) }
    }
}

/// Which conditions some row has satisfied.
struct ConditionFindings: Sendable {
    /// Rows that were asked about.
    var rows = 0
    var isSatisfied: [Bool]

    init(_ conditions: [ColumnCondition]) { isSatisfied = Array(repeating: false, count: conditions.count) }

    mutating func add(_ other: ConditionFindings) {
        rows += other.rows
        for index in isSatisfied.indices where other.isSatisfied[index] { isSatisfied[index] = true }
    }

    /// Conditions that no selected row satisfied, each with its place in the campaign.
    func warnings(_ conditions: [ColumnCondition]) -> [Diagnostic] {
        guard rows > 0 else { return [] }
        return zip(conditions, isSatisfied).filter { !$0.1 }.map { condition, _ in
            .warning(
                .conditionNeverHolds, "no selected device satisfies this condition on '\(condition.column.value)'",
                at: condition.column.position,
                remedy: "Are its values written as in the export?")
        }
    }
}
