public import Base

/// The counts of a condition of `where`.
public struct ConditionCount: Hashable, Sendable {
    /// Which.
    public var condition: ColumnCondition
    /// Rows that it was evaluated for: they are selected and meet the conditions before it.
    public var rows: Int
    /// The rows among them that meet it.
    public var holdingRows: Int
    /// The rows among them with a cell that it cannot compare: not a number, not a date. They do
    /// not meet it.
    public var unreadableRows: Int
    /// Examples of such cells.
    public var cells: [String]

    /// Cells that are shown.
    static let mostCells = 3
}
