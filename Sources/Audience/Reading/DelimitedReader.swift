import Base
import CSIMD
import Glibc
import PushServices

/// Reads CSV and TSV (RFC 4180).
///
/// A record that is not completely in memory is parsed again from its start, so no state survives a
/// chunk boundary. For 64 bytes at once, a mask says which of them end a field; all fields are only
/// counted and their ends kept, and only cells that the query uses are read.
///
/// Beyond RFC 4180: columns may be separated by semicolons, tabs or bars, as the header shows;
/// lines may end in LF, CRLF or CR; blank lines are not rows; blanks may surround a quoted cell
/// (`token, "Anna"`); any other quote inside an unquoted field is an ordinary character. Stricter
/// than most readers: text after a closing quote makes the row unreadable, as does a wrong number
/// of fields, and a quoted cell that looks as if its quote was left open (`QuotedCell`). Zero bytes
/// and a second header end the reading: such a file is faulty.
/// The tests contain a slow, obvious reader with the same results.
struct DelimitedReader: RowReader, ~Copyable {
    private var buffer: RecordBuffer
    /// Between the fields of a record.
    private(set) var separator: UInt8
    private var fieldEnds: UnsafeMutablePointer<Int32>
    private var fieldCapacity: Int
    /// Of the last record.
    private var fieldCount = 0
    private var recordStart = 0
    /// Where the last record begins.
    private(set) var recordLine = 1
    private var linesInside = 0
    /// The line at `buffer.start`.
    private var line = 1
    private var columnCount = 0
    private let targets: TargetForm
    /// nil where a row may look like the header.
    private var headerNames: HeaderNames?
    private(set) var row: CellRow
    private var badReason = ""
    private(set) var badRowIsUTF8 = true
    private(set) var state = ReadingState.start
    /// Bit i: byte `maskStart` + i is a separator or ends a line.
    private var mask: UInt64 = 0
    private var maskStart = Int.max

    /// The header's cells.
    private(set) var header: [String] = []

    private static let quote = UInt8(ascii: "\"")
    private static let lineFeed = UInt8(ascii: "\n")
    private static let carriageReturn = UInt8(ascii: "\r")

    /// Opens the file and reads its header.
    /// - Parameter separator: as the file's name suggests; its header may have another one.
    static func open(path: String, isGzip: Bool, separator: UInt8, limits: ReadingLimits) throws(Diagnostic)
        -> DelimitedReader
    {
        var reader = DelimitedReader(
            buffer: try RecordBuffer.open(path: path, isGzip: isGzip, limits: limits), separator: separator,
            limits.targets)
        try reader.findSeparator()
        try reader.readHeader()
        return reader
    }

    /// Where numbers have a decimal comma (1,5), spreadsheet programs separate the columns of CSV
    /// files with semicolons, and others use tabs or bars: the characters between the header's
    /// names decide, unless the expected separator is among them.
    private mutating func findSeparator() throws(Diagnostic) {
        while true {
            let bytes = UnsafeBufferPointer(start: buffer.base + buffer.start, count: buffer.end - buffer.start)
            let line = HeaderLine(bytes, expecting: separator)
            if !line.isComplete, !buffer.isAtEnd, bytes.count < HeaderLine.mostBytes, buffer.zeroBytes == .max {
                try refill()
                continue
            }
            separator = line.separator
            return
        }
    }

    /// Reads a block of an export with a known header.
    /// - Parameters:
    ///   - state: what to expect at the block's first byte.
    ///   - targets: what targets look like.
    static func ofBlock(
        _ block: BlockBytes, expecting state: ReadingState, of export: ExportFile, separator: UInt8, targets: TargetForm
    ) -> DelimitedReader {
        var reader = DelimitedReader(buffer: .ofBlock(block, file: export.path), separator: separator, targets)
        reader.columnCount = export.header.count
        reader.makeRoom(forFields: reader.columnCount)
        reader.headerNames = export.names
        reader.state = state
        return reader
    }

    private init(buffer: consuming RecordBuffer, separator: UInt8, _ targets: TargetForm) {
        self.separator = separator
        self.targets = targets
        fieldCapacity = 256
        fieldEnds = .allocate(capacity: fieldCapacity)
        row = CellRow(columns: [], ends: fieldEnds)
        self.buffer = buffer
    }

    deinit {
        fieldEnds.deallocate()
        row.deallocate()
    }

    var badRow: Diagnostic {
        let span = linesInside == 0 ? "" : ", in a row of \(linesInside + 1) lines"
        return Diagnostic(badReason + span, at: SourcePosition(file: buffer.file, line: recordLine, column: 1))
    }

    var badRowLines: Int { linesInside + 1 }
    var rowLine: Int { recordLine }

    var rowsWithDuplicateKeys: Int { 0 }
    var rowsWithLookalikes: [String: Int] { [:] }

    var consumed: Int { buffer.start }

    var place: TextPlace { TextPlace(line: line) }

    mutating func refill() throws(Diagnostic) {
        try buffer.refill()
        maskStart = Int.max
    }

    /// Sets which columns of the header become the cells of a row; one more cell, always blank,
    /// follows them.
    mutating func use(columns: [Int]) {
        row.deallocate()
        row = CellRow(columns: columns, ends: fieldEnds)
    }

    private mutating func makeRoom(forFields count: Int) {
        guard count > fieldCapacity else { return }
        fieldEnds.deallocate()
        fieldCapacity = count
        fieldEnds = .allocate(capacity: count)
    }

    private mutating func readHeader() throws(Diagnostic) {
        var record = findRecord()
        while true {
            if buffer.zeroBytes < (record == .needsMore ? buffer.end : buffer.start) { throw zeroBytes() }
            if record == .needsMore {
                try refill()
            } else if record == .record, fieldCount > fieldCapacity {
                makeRoom(forFields: fieldCount)
            } else {
                break
            }
            (buffer.start, line) = record == .needsMore ? (buffer.start, line) : (recordStart, recordLine)
            record = findRecord()
        }
        let position = SourcePosition(file: buffer.file, line: recordLine, column: 1)
        switch record {
        case .end:
            throw Diagnostic(
                "the file has no header row", file: buffer.file, remedy: "The first line must name the columns.")
        case .malformed: throw Diagnostic("the header row cannot be read: \(badReason)", at: position)
        case .record, .needsMore: break
        }
        if let flaw = buffer.flaw(from: recordStart, to: buffer.start) {
            throw Diagnostic(
                "the header row cannot be read: \(flaw.text())", at: position, remedy: "Save the export as UTF-8.")
        }
        columnCount = fieldCount
        use(columns: Array(0..<columnCount))
        beginRow()
        header = (0..<columnCount).map { row.text($0, separator: []) }
        headerNames = HeaderNames(header, targets)
        if let first = header.first?.lowercased(), first.hasPrefix("sep="), columnCount <= 2 {
            throw Diagnostic(
                "the first line only tells a spreadsheet program the separator", at: position,
                remedy: "Remove that line: the first line must name the columns.")
        }
        try readAhead()
        let below = UnsafeBufferPointer(start: buffer.base + buffer.start, count: buffer.end - buffer.start)
        let check = HeaderCheck(header: header, separator: separator, targets: targets, position: position)
        if let mistake = check.foreignForm(above: below) ?? check.title(above: below, firstLine: line) {
            throw mistake
        }
        state = .record
    }

    /// Reads on until the lines below the header are in memory, which tell whether it is one,
    /// however small the parts are that a file comes in.
    private mutating func readAhead() throws(Diagnostic) {
        while !buffer.isAtEnd, buffer.end - buffer.start < min(HeaderLine.mostBytes, buffer.limits.maximumRecordSize) {
            let rest = UnsafeBufferPointer(start: buffer.base + buffer.start, count: buffer.end - buffer.start)
            if rest.count(where: { $0 == Self.lineFeed }) >= HeaderCheck.mostTitleLines { return }
            try refill()
        }
    }

    mutating func next() throws(Diagnostic) -> RowEvent {
        if state == .start, !passHeader() { return buffer.isAtEnd ? .end : .needsMore }
        let found = findRecord()
        if buffer.zeroBytes < (found == .needsMore ? buffer.end : buffer.start) { throw zeroBytes() }
        switch found {
        case .end: return .end
        case .needsMore: return .needsMore
        case .malformed:
            badRowIsUTF8 = true
            return .badRow
        case .record: break
        }
        guard fieldCount == columnCount else {
            try refuseHeader()
            badReason =
                "the row has \(fieldCount) \(TextFormat.plural(fieldCount, one: "field")) instead of \(columnCount)"
            badRowIsUTF8 = true
            return .badRow
        }
        if buffer.start > buffer.cleanEnd, isFlawed() { return .badRow }
        if firstFieldMayBeName() { try refuseHeader() }
        beginRow()
        return .row
    }

    // Methods that are called for every row, or that end it, change nothing but are `mutating`
    // anyway: Swift 6.3 copies a reader for a call of one that is not, half a kilobyte per row.

    /// Zero bytes in a record end the reading, however much of it is in memory: thousands of rows
    /// may be missing there.
    @inline(never) private mutating func zeroBytes() -> Diagnostic {
        buffer.holdsZeroBytes(line: recordLine + lineEnds(from: recordStart, to: buffer.zeroBytes))
    }

    @inline(never) private mutating func isFlawed() -> Bool {
        guard let flaw = buffer.flaw(from: recordStart, to: buffer.start) else { return false }
        badReason = flaw.text()
        badRowIsUTF8 = flaw != .notUTF8
        return true
    }

    @inline(__always) private mutating func firstFieldMayBeName() -> Bool {
        let first = UnsafeBufferPointer(start: buffer.base + recordStart, count: Int(fieldEnds[0]) - recordStart)
        return headerNames?.isName(first: first) ?? false
    }

    /// A header among the rows begins another export, and its columns may be in another order.
    @inline(never) private mutating func refuseHeader() throws(Diagnostic) {
        guard let headerNames, headerNames.mayHave(fieldCount), fieldCount <= fieldCapacity else { return }
        var fields: [UnsafeBufferPointer<UInt8>] = []
        for index in 0..<fieldCount { fields.append(field(index)) }
        guard headerNames.end(fields) else { return }
        throw Diagnostic(
            "there is a second header among the rows: these are two exports in one file",
            at: SourcePosition(file: buffer.file, line: recordLine, column: 1),
            remedy: "Keep each export in a file of its own, and name both: `devices: [a.csv, b.csv]`.")
    }

    /// A field of the last record as written.
    @inline(__always) private func field(_ index: Int) -> UnsafeBufferPointer<UInt8> {
        let start = index == 0 ? recordStart : Int(fieldEnds[index - 1]) + 1
        return UnsafeBufferPointer(start: buffer.base + start, count: Int(fieldEnds[index]) - start)
    }

    /// The header was read when the file was opened; now it is only skipped.
    private mutating func passHeader() -> Bool {
        let record = findRecord()
        guard record == .record || record == .malformed else { return false }
        state = .record
        return true
    }

    @inline(__always) private mutating func beginRow() {
        row.begin(base: buffer.base, start: recordStart, count: buffer.start - recordStart, ends: fieldEnds)
    }

    private enum FoundRecord { case record, malformed, needsMore, end }

    /// Finds the next record that is not a blank line, and moves `buffer.start` past it.
    private mutating func findRecord() -> FoundRecord {
        guard skipBlankLines() else { return .needsMore }
        guard buffer.start < buffer.end else { return buffer.isAtEnd ? .end : .needsMore }
        (recordStart, recordLine, linesInside, fieldCount) = (buffer.start, line, 0, 0)
        var flaw: String?
        var position = buffer.start
        while true {
            if let opening = Self.openingQuote(buffer.base, at: position, separator: separator) {
                let linesBefore = linesInside
                guard var after = endOfQuoted(opening) else { return unclosedQuote() }
                if linesInside > linesBefore {
                    let text = UnsafeBufferPointer(start: buffer.base + opening + 1, count: after - opening - 2)
                    let cell = QuotedCell(text: text, lineBreaks: linesInside - linesBefore, targets: targets)
                    flaw = flaw ?? cell.flaw(separator: separator, columnCount: columnCount)
                }
                while Self.isBlank(buffer.base[after], separator: separator) { after += 1 }
                // A carriage return at the very end may be half of a line's end; a quote there half
                // of a doubled one.
                if after >= buffer.end, !buffer.isAtEnd { return .needsMore }
                let byte = buffer.base[after]
                if byte != separator, byte != Self.lineFeed, byte != Self.carriageReturn {
                    flaw = flaw ?? "text follows a closing quote"
                }
                position = after
            }
            position = endOfFields(position)
            if buffer.base[position] != separator { break }
            position += 1
        }
        guard endRecord(at: position) else { return .needsMore }
        guard let flaw else { return .record }
        badReason = flaw
        return .malformed
    }

    /// False when a carriage return at the end of the buffer may be half of a line's end.
    @inline(__always) private mutating func skipBlankLines() -> Bool {
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

    /// Skips fields without quotes from `start` on, and keeps their ends.
    /// - Returns: where the record ends, or the separator before a field that begins with a quote.
    @inline(__always) private mutating func endOfFields(_ start: Int) -> Int {
        let base = buffer.base
        let ends = fieldEnds
        let capacity = fieldCapacity
        let separator = separator
        var count = fieldCount
        var (block, found) = (maskStart, mask)
        if start < block || start >= block + 64 {
            block = start
            found = volley_any_of_three(base + block, separator, Self.lineFeed, Self.carriageReturn)
        } else {
            found &= ~0 &<< UInt64(truncatingIfNeeded: start - block)
        }
        // The line feed at the buffer's end stops this.
        while true {
            while found == 0 {
                block += 64
                found = volley_any_of_three(base + block, separator, Self.lineFeed, Self.carriageReturn)
            }
            let place = block + found.trailingZeroBitCount
            found &= found &- 1
            if count < capacity { ends[count] = Int32(truncatingIfNeeded: place) }
            count += 1
            // Nearly every cell begins with a greater byte than a quote or a blank.
            let isEnd = base[place] != separator
            if isEnd
                || base[place + 1] <= Self.quote && Self.openingQuote(base, at: place + 1, separator: separator) != nil
            {
                (fieldCount, maskStart, mask) = (count, block, found)
                return place
            }
        }
    }

    /// Where the quote is that opens a cell at `start`, perhaps after blanks; nil for a cell
    /// without one. The line feed at the buffer's end stops the search.
    @inline(__always) private static func openingQuote(
        _ base: UnsafeMutablePointer<UInt8>, at start: Int, separator: UInt8
    ) -> Int? {
        var place = start
        while isBlank(base[place], separator: separator) { place += 1 }
        return base[place] == quote ? place : nil
    }

    /// White space within a line that separates no columns.
    @inline(__always) private static func isBlank(_ byte: UInt8, separator: UInt8) -> Bool {
        byte == 0x20 || byte == 0x09 && separator != 0x09
    }

    /// The place after the closing quote of the field that opens at `start`; nil when it is not in
    /// the buffer.
    private mutating func endOfQuoted(_ start: Int) -> Int? {
        var position = start + 1
        while position < buffer.end,
            let place = memchr(buffer.base + position, Int32(Self.quote), buffer.end - position)
        {
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
        for place in start..<end where buffer.base[place] == Self.lineFeed || buffer.base[place] == Self.carriageReturn
        {
            // The pair counts once, at its line feed.
            if buffer.base[place] == Self.carriageReturn, place + 1 < end, buffer.base[place + 1] == Self.lineFeed {
                continue
            }
            count += 1
        }
        return count
    }

    private mutating func unclosedQuote() -> FoundRecord {
        guard buffer.isAtEnd else { return .needsMore }
        linesInside = lineEnds(from: recordStart, to: buffer.end)
        // The end of its last line hides no other line end.
        if linesInside > 0, [Self.lineFeed, Self.carriageReturn].contains(buffer.base[buffer.end - 1]) {
            linesInside -= 1
        }
        badReason = "a quote is never closed"
        buffer.start = buffer.end
        return .malformed
    }

    /// Moves past the line's end at `position`; false when it may be cut off.
    @inline(__always) private mutating func endRecord(at position: Int) -> Bool {
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
