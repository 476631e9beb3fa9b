import Base

/// Checks the rows of recipients against what templates compare with, to report what cannot be
/// compared and what no row has. It decides nothing: the templates do when they are rendered. One
/// for each thread.
struct ComparisonChecker {
    /// What was found in a block.
    private(set) var findings: [ComparisonFindings] = []
    private let comparisons: [Prepared]
    private var cells: [Int] = []
    private let fields: [String]
    /// By field: whether it holds people's names.
    private let areNames: [Bool]
    /// The cells that templates name.
    private var fieldCells: [Int] = []
    /// By field: the flaws in its cells.
    private(set) var flaws: [CellFlaws] = []
    /// Whether a flaw of the last row lacks its line.
    private(set) var wantsLine = false
    private let separator: [UInt8]

    private struct Prepared {
        var kind: TemplateComparison.Kind
        var isNumber = false
        var column: String
        var value: ComparisonValue?
        var bytes: [UInt8] = []
        /// A device has a version even where the export does not say it: such a cell is not an
        /// answer.
        var wantsBlanks = false
    }

    init(_ query: AudienceQuery) {
        comparisons = query.comparisons.map { comparison in
            var prepared = Prepared(kind: comparison.kind, column: comparison.column.value)
            switch comparison.kind {
            case .order(_, let value):
                let compared = ComparisonValue(value, column: comparison.column.value)
                prepared.value = compared
                prepared.isNumber = compared.kind == .number
                prepared.wantsBlanks = compared.kind == .version
            case .text(_, let text): prepared.value = ComparisonValue(text, column: comparison.column.value)
            case .part(let text): prepared.bytes = Array(text.utf8)
            case .language(_, let tag): prepared.bytes = Array((LanguageTag.normalized(tag) ?? tag).utf8)
            case .number: prepared.isNumber = true
            case .truth, .presence: break
            }
            return prepared
        }
        fields = query.fields.map(\.value)
        areNames = fields.map(NameCell.isColumn)
        separator = Array(query.columns.tagSeparator.utf8)
    }

    /// Prepares for the rows of another file.
    mutating func use(_ plan: ColumnPlan) {
        fieldCells = Array(plan.fields.prefix(fields.count))
        cells = comparisons.map { comparison in
            fields.firstIndex(of: comparison.column).map { plan.fields[$0] } ?? plan.blankCell
        }
    }

    /// Forgets what was found before.
    mutating func beginBlock() {
        flaws = fields.map { _ in CellFlaws() }
        guard !comparisons.isEmpty else { return }
        findings = comparisons.map { _ in ComparisonFindings() }
    }

    /// Checks the row of a recipient.
    @inline(__always) mutating func observe(_ row: CellRow) {
        for index in comparisons.indices { observe(row, index: index) }
        for (field, cell) in fieldCells.enumerated() {
            if areNames[field], flaws[field].namesToSample > 0 { observe(name: row, cell: cell, field: field) }
            guard let flaw = CellFlaw.of(row.bytes(cell)) else { continue }
            let text = row.text(cell, separator: separator)
            // A list of an export in JSON has quotes around its names, and perhaps backslashes,
            // that no text shows.
            if flaw == .quoted || flaw == .unmatched || flaw == .code,
                Array(text.utf8).withUnsafeBufferPointer(CellFlaw.of) != flaw
            {
                continue
            }
            flaws[field].note(flaw, cell: text)
            if flaws[field].wantsLine { wantsLine = true }
        }
    }

    /// Says in which line of the block the last row is.
    @inline(never) mutating func note(line: Int) {
        wantsLine = false
        for field in flaws.indices where flaws[field].wantsLine { flaws[field].note(line: line) }
    }

    private mutating func observe(name row: CellRow, cell: Int, field: Int) {
        let bytes = row.bytes(cell)
        guard !Blank.isCell(bytes) else { return }
        flaws[field].note(name: row.text(cell, separator: separator), isNone: NameCell.isNoName(bytes))
    }

    private mutating func observe(_ row: CellRow, index: Int) {
        let comparison = comparisons[index]
        let seeks = !findings[index].isSeen || findings[index].rowsToSample > 0
        guard seeks || isCounted(comparison.kind) else { return }
        let cell = cells[index]
        guard !row.isArray(cell) else {
            let text = row.text(cell, separator: separator)
            return Array(text.utf8).withUnsafeBufferPointer { observe($0, index: index, comparison) }
        }
        observe(row.bytes(cell), index: index, comparison)
    }

    /// Whether each row counts, and not only whether one was seen.
    private func isCounted(_ kind: TemplateComparison.Kind) -> Bool {
        switch kind {
        case .order, .truth, .number: true
        case .text, .language, .part, .presence: false
        }
    }

    private mutating func observe(_ cell: UnsafeBufferPointer<UInt8>, index: Int, _ comparison: Prepared) {
        var text: String { String(decoding: cell, as: UTF8.self) }
        if Blank.isCell(cell) {
            if comparison.wantsBlanks { findings[index].note(unreadable: text) }
            return
        }
        let isSeen: Bool
        switch comparison.kind {
        case .order:
            if comparison.value?.order(of: cell) == nil { findings[index].note(unreadable: text) }
            if comparison.isNumber { findings[index].numbers.note(cell) }
            return
        case .number: return findings[index].numbers.note(cell)
        case .truth:
            if truthValue(of: cell) == nil { findings[index].note(unreadable: text) }
            return
        case .presence:
            // A cell that is neither yes nor no makes the column text, where any value counts.
            if let truth = truthValue(of: cell) {
                if !truth, !["0", "false"].contains(text.lowercased()) { findings[index].note(unreadable: text) }
                return
            }
            isSeen = true
        case .text: isSeen = comparison.value?.isEqual(to: cell) ?? false
        case .language: isSeen = LanguageTag.fallbacks(of: text).contains { $0.utf8.elementsEqual(comparison.bytes) }
        case .part(let part): isSeen = text.contains(part)
        }
        if isSeen {
            findings[index].isSeen = true
        } else if findings[index].rowsToSample > 0 {
            findings[index].note(other: text)
        }
    }
}
