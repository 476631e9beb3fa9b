/// One condition of `where`: a column, and what must hold of its cell.
public struct ColumnCondition: Hashable, Sendable {
    /// A name as in the export's header, or one of the standard names (`language`, `last_active`, …).
    public var column: SourceText
    /// What must hold.
    public var test: ColumnTest

    /// A condition on a column.
    public init(column: SourceText, test: ColumnTest) {
        self.column = column
        self.test = test
    }
}

/// What must hold of a cell.
public enum ColumnTest: Hashable, Sendable {
    /// Equal to one of these.
    case oneOf([String])
    /// `>= 3.2.0`: as `ComparisonValue` compares.
    case comparison(ComparisonOperator, String)
    /// `within 30 days`: a date not further back than so many seconds.
    case within(seconds: Int)
    /// `older than 90 days`: a date further back than so many seconds.
    case olderThan(seconds: Int)
    /// Not blank.
    case present
    /// Blank or absent.
    case missing
}

/// The operators of a comparison in `where`.
public enum ComparisonOperator: String, CaseIterable, Hashable, Sendable, BitwiseCopyable {
    case less = "<"
    case lessOrEqual = "<="
    case equal = "=="
    case notEqual = "!="
    case greaterOrEqual = ">="
    case greater = ">"
}
