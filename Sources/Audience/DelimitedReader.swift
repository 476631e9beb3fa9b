import Base
import Glibc

/// Reads CSV and TSV (RFC 4180).
///
/// A record is parsed from its start whenever it is not in memory as a whole, so no state survives a chunk boundary. Words of
/// eight bytes are searched at once for what ends a field; all fields are only counted and their ends kept, and only cells
/// that the query uses are looked at.
///
/// Beyond RFC 4180: lines may end in LF, CRLF or CR; blank lines are no rows; a quote inside an unquoted field is an ordinary
/// character. Stricter than most readers: text after a closing quote makes the row unreadable, as does a wrong number of fields.
/// The tests hold a slow, obvious reader that says the same.
struct DelimitedReader: RowReader, ~Copyable {
    private var buffer: RecordBuffer
    private let separator: UInt8
    private var fieldEnds: UnsafeMutablePointer<Int>
    private var fieldCapacity: Int
    /// Of the last record.
    private var fieldCount = 0
    private var recordStart = 0
    private var recordLine = 1
    private var linesInside = 0
    /// The line at `buffer.start`.
    private var line = 1
    private var columnCount = 0
    private var usedColumns: [Int] = []
    private(set) var row: CellRow
    private var badReason = ""

    /// The header's cells.
    private(set) var header: [String] = []

    private static let quote = UInt8(ascii: "\"")
    private static let lineFeed = UInt8(ascii: "\n")
    private static let carriageReturn = UInt8(ascii: "\r")

    /// Opens the file and reads its header.
    static func open(path: String, isGzip: Bool, separator: UInt8, limits: ReadingLimits) throws(Diagnostic) -> DelimitedReader {
        var reader = DelimitedReader(
            buffer: try RecordBuffer.open(path: path, isGzip: isGzip, limits: limits), separator: separator)
        try reader.readHeader()
        return reader
    }

    private init(buffer: consuming RecordBuffer, separator: UInt8) {
        self.separator = separator
        fieldCapacity = 256
        fieldEnds = .allocate(capacity: fieldCapacity)
        row = CellRow(cells: .allocate(capacity: 1), base: buffer.base)
        self.buffer = buffer
    }

    deinit {
        fieldEnds.deallocate()
        row.cells.deallocate()
    }

    var bytesRead: Int { buffer.bytesRead }

    var badRow: Diagnostic { Diagnostic(badReason, at: SourcePosition(file: buffer.file, line: recordLine, column: 1)) }

    var badRowLines: Int { linesInside + 1 }

    mutating func refill() throws(Diagnostic) {
        try buffer.refill()
        row.base = buffer.base
    }

    /// Says which columns of the header become the cells of a row; one more cell, always blank, follows them.
    mutating func use(columns: [Int]) {
        usedColumns = columns
        row.cells.deallocate()
        row = CellRow(cells: .allocate(capacity: columns.count + 1), base: buffer.base)
        row.cells.initialize(repeating: Cell(), count: columns.count + 1)
    }

    private mutating func readHeader() throws(Diagnostic) {
        var record = findRecord()
        while true {
            if record == .needsMore {
                try refill()
            } else if record == .record, fieldCount > fieldCapacity {
                fieldEnds.deallocate()
                fieldCapacity = fieldCount
                fieldEnds = .allocate(capacity: fieldCapacity)
            } else {
                break
            }
            (buffer.start, line) = record == .needsMore ? (buffer.start, line) : (recordStart, recordLine)
            record = findRecord()
        }
        let position = SourcePosition(file: buffer.file, line: recordLine, column: 1)
        switch record {
        case .end: throw Diagnostic("the file has no header row", file: buffer.file, remedy: "The first line must name the columns.")
        case .malformed: throw Diagnostic("the header row cannot be read: \(badReason)", at: position)
        case .record, .needsMore: break
        }
        if let flaw = buffer.flaw(from: recordStart, to: buffer.start) {
            throw Diagnostic("the header row cannot be read: \(flaw)", at: position, remedy: "Save the export as UTF-8.")
        }
        columnCount = fieldCount
        use(columns: Array(0..<columnCount))
        fillCells()
        header = (0..<columnCount).map { row.text($0, separator: []) }
    }

    mutating func next() -> RowEvent {
        switch findRecord() {
        case .end: return .end
        case .needsMore: return .needsMore
        case .malformed: return .badRow
        case .record: break
        }
        guard fieldCount == columnCount else {
            badReason = "the row has \(fieldCount) field\(fieldCount == 1 ? "" : "s") instead of \(columnCount)"
            return .badRow
        }
        if buffer.start > buffer.cleanEnd, let flaw = buffer.flaw(from: recordStart, to: buffer.start) {
            badReason = flaw
            return .badRow
        }
        fillCells()
        return .row
    }

    private func fillCells() {
        let cells = row.cells
        usedColumns.withUnsafeBufferPointer { columns in
            for cell in columns.indices {
                let column = columns[cell]
                let start = column == 0 ? recordStart : fieldEnds[column - 1] + 1
                cells[cell] = Cell(start: start, count: fieldEnds[column] - start, form: .delimited)
            }
        }
    }

    private enum FoundRecord { case record, malformed, needsMore, end }

    /// Finds the next record that is not a blank line, and moves `buffer.start` behind it.
    private mutating func findRecord() -> FoundRecord {
        guard skipBlankLines() else { return .needsMore }
        guard buffer.start < buffer.end else { return buffer.isAtEnd ? .end : .needsMore }
        (recordStart, recordLine, linesInside, fieldCount) = (buffer.start, line, 0, 0)
        var isMalformed = false
        var position = buffer.start
        while true {
            if buffer.base[position] == Self.quote {
                guard let after = endOfQuoted(position) else { return unclosedQuote() }
                // A carriage return at the very end may be half of a line's end; a quote there half of a doubled one.
                if after >= buffer.end, !buffer.isAtEnd { return .needsMore }
                let byte = buffer.base[after]
                if byte != separator, byte != Self.lineFeed, byte != Self.carriageReturn { isMalformed = true }
                position = after
            }
            position = endOfFields(position)
            if buffer.base[position] != separator { break }
            position += 1
        }
        guard endRecord(at: position) else { return .needsMore }
        if isMalformed { badReason = "text follows a closing quote" + spanText }
        return isMalformed ? .malformed : .record
    }

    private var spanText: String { linesInside == 0 ? "" : ", in a row that reaches to line \(recordLine + linesInside)" }

    /// False when a carriage return at the end of the buffer may be half of a line's end.
    private mutating func skipBlankLines() -> Bool {
        while buffer.start < buffer.end {
            let byte = buffer.base[buffer.start]
            guard byte == Self.lineFeed || byte == Self.carriageReturn else { break }
            if byte == Self.carriageReturn {
                if buffer.start + 1 == buffer.end, !buffer.isAtEnd { return false }
                if buffer.start + 1 < buffer.end, buffer.base[buffer.start + 1] == Self.lineFeed { buffer.start += 1 }
            }
            buffer.start += 1
            line += 1
        }
        return true
    }

    /// Passes fields without quotes from `start` on, and keeps their ends.
    /// - Returns: where the record ends, or the separator before a field that begins with a quote.
    @inline(__always) private mutating func endOfFields(_ start: Int) -> Int {
        let base = UnsafeRawPointer(buffer.base)
        let separators = UInt64(separator) &* 0x0101_0101_0101_0101
        let ends = fieldEnds
        let capacity = fieldCapacity
        let separator = separator
        var count = fieldCount
        var position = start
        // The line feed that stands at the buffer's end stops this.
        while true {
            let word = UInt64(littleEndian: base.loadUnaligned(fromByteOffset: position, as: UInt64.self))
            var found = bytesEqual(word, separators) | bytesEqual(word, 0x0A0A_0A0A_0A0A_0A0A) | bytesEqual(word, 0x0D0D_0D0D_0D0D_0D0D)
            while found != 0 {
                let place = position + found.trailingZeroBitCount / 8
                if count < capacity { ends[count] = place }
                count += 1
                let isSeparator = base.load(fromByteOffset: place, as: UInt8.self) == separator
                if !isSeparator || base.load(fromByteOffset: place + 1, as: UInt8.self) == Self.quote {
                    fieldCount = count
                    return place
                }
                found &= found &- 1
            }
            position += 8
        }
    }

    /// The place behind the closing quote of the field that opens at `start`; nil when it is not in the buffer.
    private mutating func endOfQuoted(_ start: Int) -> Int? {
        var position = start + 1
        while position < buffer.end, let place = memchr(buffer.base + position, Int32(Self.quote), buffer.end - position) {
            let closing = UnsafeRawPointer(place) - UnsafeRawPointer(buffer.base)
            guard closing + 1 < buffer.end, buffer.base[closing + 1] == Self.quote else {
                linesInside += lineEnds(from: start, to: closing)
                return closing + 1
            }
            position = closing + 2
        }
        return nil
    }

    private func lineEnds(from start: Int, to end: Int) -> Int {
        var count = 0
        for place in start..<end where buffer.base[place] == Self.lineFeed || buffer.base[place] == Self.carriageReturn {
            // The pair counts once, at its line feed.
            if buffer.base[place] == Self.carriageReturn, place + 1 < end, buffer.base[place + 1] == Self.lineFeed { continue }
            count += 1
        }
        return count
    }

    private mutating func unclosedQuote() -> FoundRecord {
        guard buffer.isAtEnd else { return .needsMore }
        linesInside = lineEnds(from: recordStart, to: buffer.end)
        badReason = "a quote is never closed" + spanText
        buffer.start = buffer.end
        return .malformed
    }

    /// Moves behind the line's end at `position`; false when it may be cut off.
    private mutating func endRecord(at position: Int) -> Bool {
        var next = position + 1
        if position >= buffer.end {
            guard buffer.isAtEnd else { return false }
            next = buffer.end
        } else if buffer.base[position] == Self.carriageReturn {
            if next == buffer.end, !buffer.isAtEnd { return false }
            if next < buffer.end, buffer.base[next] == Self.lineFeed { next += 1 }
        }
        buffer.start = next
        line += linesInside + 1
        return true
    }
}

/// A word with the high bit of each byte set that equals the byte of `pattern`; exact, without false hits behind a true one.
@inline(__always) func bytesEqual(_ word: UInt64, _ pattern: UInt64) -> UInt64 {
    let difference = word ^ pattern
    let low: UInt64 = 0x7F7F_7F7F_7F7F_7F7F
    return ~((difference & low) &+ low | difference | low)
}
