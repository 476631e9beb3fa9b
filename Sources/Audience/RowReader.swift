import Base

/// What a reader came to.
enum RowEvent {
    /// `row` holds the next row.
    case row
    /// A row that cannot be read; `badRow` says why.
    case badRow
    /// The next record is not in memory as a whole: `refill`, then ask again.
    case needsMore
    /// Nothing follows.
    case end
}

/// Reads the rows of one export, whatever its format.
protocol RowReader: ~Copyable {
    /// The cells of the current row.
    var row: CellRow { get }
    /// The mistake of the row that was just found to be unreadable, with its line.
    var badRow: Diagnostic { get }
    /// How many lines the unreadable row takes up.
    var badRowLines: Int { get }
    /// Bytes taken from the disk.
    var bytesRead: Int { get }
    /// Goes to the next row.
    /// - Throws: a mistake after which nothing in the file can be trusted.
    mutating func next() throws(Diagnostic) -> RowEvent
    /// Reads more of the file.
    mutating func refill() throws(Diagnostic)
}
