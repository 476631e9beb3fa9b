public import Base

/// What a condition of `where` met.
public struct ConditionCount: Hashable, Sendable {
    /// Which.
    public var condition: ColumnCondition
    /// Rows that were held against it: those that are selected, and of which the conditions before it hold.
    public var rows: Int
    /// Those of them of which it holds.
    public var holdingRows: Int
    /// Those of them whose cell cannot be what it compares: no number, no date. It does not hold of them.
    public var unreadableRows: Int
    /// What stands in such cells, for example.
    public var cells: [String]

    /// Cells that are shown.
    static let mostCells = 3
}
