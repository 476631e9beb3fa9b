import Base

/// The result of a reader's step.
enum RowEvent {
    /// `row` holds the next row.
    case row
    /// A row that cannot be read; `badRow` says why.
    case badRow
    /// The next record is not completely in memory: call `refill`, then try again. In a block: the
    /// rest belongs to the next one.
    case needsMore
    /// Nothing follows.
    case end
}

/// The syntactic state at a place of a file, as far as reading on from there needs it.
enum ReadingState: Hashable, Sendable {
    /// The header, or the bracket that opens an array.
    case start
    /// A record.
    case record
    /// In an array: its first element or its end.
    case recordOrEnd
    /// In an array: what follows an element.
    case separatorOrEnd
    /// In an object that holds an array: what follows the array.
    case afterList
    /// Nothing but white space.
    case nothing
}

/// A place in a text: lines and columns (in Unicode scalars) count from 1.
struct TextPlace: Hashable, Sendable {
    var line = 1
    var column = 1

    /// The absolute place of one given relative to this one.
    func adding(_ relative: TextPlace) -> TextPlace {
        relative.line == 1
            ? TextPlace(line: line, column: column + relative.column - 1)
            : TextPlace(line: line + relative.line - 1, column: relative.column)
    }
}

/// Reads the rows of one export, whatever its format: from front to back, or a block at a time.
/// Lines and columns in its messages then count from the block's first byte.
protocol RowReader: ~Copyable {
    /// The cells of the current row.
    var row: CellRow { get }
    /// The line on which the current row begins; read it right after `next`.
    var rowLine: Int { get }
    /// The mistake of the row that was just found to be unreadable, with its line.
    var badRow: Diagnostic { get }
    /// Whether that row is UTF-8, at least.
    var badRowIsUTF8: Bool { get }
    /// How many rows the unreadable one counts as: its lines, as each may be a row hidden by an
    /// open quote; 1 for JSON, which may be written on any number of lines.
    var badRowLines: Int { get }
    /// JSON objects so far that name a key twice; the last value counts.
    var rowsWithDuplicateKeys: Int { get }
    /// JSON objects so far that lack a used key and have one like it, such as `Tags` for `tags`:
    /// how many by that key.
    var rowsWithLookalikes: [String: Int] { get }
    /// Goes to the next row.
    /// - Throws: a mistake after which nothing in the file can be trusted.
    mutating func next() throws(Diagnostic) -> RowEvent
    /// Reads more of the file.
    mutating func refill() throws(Diagnostic)

    /// The state at the first byte that is not consumed yet.
    var state: ReadingState { get }
    /// Bytes consumed of what is in memory.
    var consumed: Int { get }
    /// The place of the first byte that is not consumed yet.
    var place: TextPlace { get }
}

/// A reader with keys as columns, which may come at any time.
protocol JSONReader: RowReader, ~Copyable {
    /// How many different keys were seen so far.
    var keyCount: Int { get }
    /// The keys seen so far, in the order of their first appearance.
    var seenKeys: [String] { get }
    /// Whether the objects are in the list of an object.
    var isWrapped: Bool { get }
    /// What the last unreadable row says of the whole file, if it is the first one.
    var wrongForm: Diagnostic? { get }
}
