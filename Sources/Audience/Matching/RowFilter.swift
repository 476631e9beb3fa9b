import Base

/// All conditions of `where`. One for each thread.
struct RowFilter {
    /// What was found about the conditions in a block.
    private(set) var findings: [ConditionFindings] = []
    /// The same, with cells that are a condition's value in disguise.
    var allFindings: [ConditionFindings] {
        zip(findings, nearTexts).map { findings, texts in
            var findings = findings
            findings.spellings = texts.counts
            return findings
        }
    }
    private let conditions: [ColumnCondition]
    /// By condition: its values, and cells that may be one of them in disguise.
    private let near: [SimilarSpellings]
    private var nearTexts: [SimilarTexts]
    private var tests: [ConditionTest] = []
    private var cells: [Int] = []
    /// By condition, whether it compares whole cells with words.
    private var comparesWords: [Bool] = []
    /// Conditions with a value that was not seen yet.
    private var unseenCount = 0
    private let now: Timestamp
    private let separator: [UInt8]

    init(_ query: AudienceQuery) {
        conditions = query.conditions
        near = query.conditions.map { SimilarSpellings($0.test.texts, ignoresCase: false) }
        nearTexts = conditions.map { _ in SimilarTexts() }
        now = query.now
        separator = Array(query.columns.tagSeparator.utf8)
    }

    /// Prepares for the rows of another file.
    mutating func use(_ plan: ColumnPlan) {
        cells = plan.conditions
        comparesWords = zip(conditions, cells).map {
            !$0.test.texts.isEmpty && ($1 != plan.language || $1 == plan.blankCell)
        }
        tests = zip(conditions, cells).map { condition, cell in
            ConditionTest(condition, now: now, isLanguage: cell == plan.language && cell != plan.blankCell)
        }
    }

    /// Forgets what was found before.
    mutating func beginBlock() {
        findings = conditions.map(ConditionFindings.init)
        for index in nearTexts.indices { nearTexts[index].begin() }
        unseenCount = conditions.count
    }

    /// Whether a selected row satisfies all conditions.
    mutating func passes(_ row: CellRow) -> Bool {
        var passes = true
        for index in tests.indices {
            // A value that no row has had yet is looked for even when another condition fails, so
            // that the warning is true.
            guard passes || unseenCount > 0 && !findings[index].isComplete else { continue }
            var value = 0
            let answer = answer(tests[index], row, cell: cells[index], value: &value)
            count(answer, row, index: index, isReached: passes)
            if !answer.holds { passes = false }
            guard answer.holds || value > 0, !findings[index].isComplete else { continue }
            findings[index].isSeen[value] = true
            if findings[index].isComplete { unseenCount -= 1 }
        }
        return passes
    }

    /// Counts the rows that the condition was evaluated for, and keeps some cells that do not
    /// satisfy it, or differ from the operand of `!=`.
    /// - Parameter isReached: whether the conditions before it are met.
    @inline(__always) private mutating func count(
        _ answer: ConditionTest.Answer, _ row: CellRow, index: Int, isReached: Bool
    ) {
        findings[index].wasAsked = true
        if isReached { findings[index].rows += 1 }
        if isReached, answer.holds { findings[index].holdingRows += 1 }
        if isReached, tests[index].comparesNumbers { findings[index].numbers.note(row.bytes(cells[index])) }
        if answer == .yes, !findings[index].isNotEqual { return }
        if isReached, answer != .unreadable { lookForDisguise(row, index: index) }
        let isUnreadable = isReached && (answer == .unreadable || answer == .unlike)
        if isUnreadable { findings[index].unreadableRows += 1 }
        if findings[index].wantsCell(isUnreadable: isUnreadable) { note(row, index: index, isUnreadable: isUnreadable) }
    }

    /// Notes a cell that does not count as a value, and is one with quotes around it, an invisible
    /// character in it or the like.
    @inline(__always) private mutating func lookForDisguise(_ row: CellRow, index: Int) {
        let cell = row.bytes(cells[index])
        if !cell.isEmpty, !row.isArray(cells[index]), near[index].mayHoldDisguised(cell) {
            nearTexts[index].note(cell, near[index])
        }
    }

    private mutating func note(_ row: CellRow, index: Int, isUnreadable: Bool) {
        findings[index].note(row.text(cells[index], separator: separator), isUnreadable: isUnreadable)
    }

    /// Whether a cell says another word than a condition wants, as an opt-out does: `no` for
    /// `push: "yes"`.
    func saysNo(_ row: CellRow) -> Bool {
        var value = 0
        return tests.indices.contains { index in
            comparesWords[index] && !Blank.isCell(row.bytes(cells[index]))
                && !answer(tests[index], row, cell: cells[index], value: &value).holds
        }
    }

    /// The numbers of all conditions that a row does not satisfy.
    func failing(_ row: CellRow) -> [Int] {
        var value = 0
        return tests.indices.filter { !answer(tests[$0], row, cell: cells[$0], value: &value).holds }
    }

    private func answer(_ test: ConditionTest, _ row: CellRow, cell: Int, value: inout Int) -> ConditionTest.Answer {
        let bytes = row.bytes(cell)
        guard row.isArray(cell) else { return test.answer(bytes, value: &value) }
        return Array(row.text(cell, separator: separator).utf8).withUnsafeBufferPointer {
            test.answer($0, value: &value)
        }
    }
}
