import Base
import PushServices

/// What was found about a condition.
struct ConditionFindings: Sendable {
    /// Whether it was evaluated for any row, even one that fails a condition before it.
    var wasAsked = false
    /// Rows that got this far: they met the conditions before it.
    var rows = 0
    /// The rows among them that meet it.
    var holdingRows = 0
    /// Rows with a cell that the condition cannot compare.
    var unreadableRows = 0
    /// For each value of a list, or the only value: whether some row has it. For `!=`: whether some
    /// row meets it, and whether some row has what it compares with.
    var isSeen: [Bool]
    /// Whether the condition is `!=`: cells that meet it are kept, as they show what may be meant.
    let isNotEqual: Bool
    /// Cells that may be thousands, where numbers are compared.
    var numbers = NumberForms()
    /// The first different cells that are not its value, and those among them that cannot be
    /// compared.
    private(set) var otherCells: [String] = []
    private(set) var unreadableCells: [String] = []
    /// Cells that are a value in disguise, of all rows that got this far.
    var spellings = SpellingCounts()
    /// How many more rows are checked for those.
    private var rowsToSample = 200

    /// Cells that are kept to find the nearest to a value, and to show.
    private static let mostCells = 50

    init(_ condition: ColumnCondition) {
        switch condition.test {
        case .oneOf(let values): (isSeen, isNotEqual) = (Array(repeating: false, count: max(values.count, 1)), false)
        case .comparison(.notEqual, _): (isSeen, isNotEqual) = ([false, false], true)
        default: (isSeen, isNotEqual) = ([false], false)
        }
    }

    var isSatisfied: Bool { isNotEqual ? isSeen[0] : isSeen.contains(true) }
    var isComplete: Bool { !isSeen.contains(false) }

    /// Whether to keep a cell that is not its value.
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
        guard !cell.isEmpty, cells.count < limit, !cells.contains(where: { $0.utf8.elementsEqual(cell.utf8) }) else {
            return
        }
        cells.append(cell)
    }

    mutating func add(_ other: ConditionFindings) {
        wasAsked = wasAsked || other.wasAsked
        rows += other.rows
        holdingRows += other.holdingRows
        unreadableRows += other.unreadableRows
        numbers.add(other.numbers)
        spellings.add(other.spellings)
        for index in isSeen.indices where other.isSeen[index] { isSeen[index] = true }
        for cell in other.unreadableCells { Self.add(cell, to: &unreadableCells, atMost: ConditionCount.mostCells) }
        for cell in other.otherCells { Self.add(cell, to: &otherCells, atMost: Self.mostCells) }
    }

    /// Cells as a message shows them.
    static func list(_ cells: [String]) -> String {
        cells.prefix(ConditionCount.mostCells).map {
            "'\(TargetRedaction.possible($0) ?? TargetRedaction.cell($0, maximumBytes: 40))'"
        }
        .joined(separator: ", ")
    }
}

extension ColumnTest {
    /// What whole cells are compared with.
    var texts: [String] {
        switch self {
        case .oneOf(let values): values.map(trimmedText)
        case .comparison(.equal, let operand), .comparison(.notEqual, let operand): [trimmedText(operand)]
        default: []
        }
    }
}
