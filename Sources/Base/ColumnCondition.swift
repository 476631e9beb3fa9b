/// One condition of `where`: a column, and a test of its cell.
public struct ColumnCondition: Hashable, Sendable {
    /// A name as in the export's header, or one of the standard names (`language`, `last_active`, …).
    public var column: SourceText
    /// The test of its cell.
    public var test: ColumnTest

    /// A condition on a column.
    public init(column: SourceText, test: ColumnTest) {
        self.column = column
        self.test = test
    }
}

/// A test of a cell.
public enum ColumnTest: Hashable, Sendable {
    /// Equal to one of these texts.
    case oneOf([String])
    /// `>= 3.2.0`: as `ComparisonValue` compares.
    case comparison(ComparisonOperator, String)
    /// `within 30 days`: a date at most this many seconds ago.
    case within(seconds: Int)
    /// `older than 90 days`: a date more than this many seconds ago.
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
