import Base
import Glibc

/// A cell that the query uses, and how it is written.
struct Cell {
    enum Form: UInt8 {
        /// Ready to be read.
        case plain
        /// As in a CSV file, perhaps in quotes.
        case delimited
        /// The inside of a JSON string with escapes.
        case escaped
        /// The inside of a JSON array, brackets excluded, known to be well-formed and flat.
        case array
        /// The same, but blank elements are not part of it.
        case arrayOfTexts
    }

    var start: UnsafePointer<UInt8>
    var count = 0
    var form = Form.plain

    init(_ start: UnsafePointer<UInt8>, count: Int = 0, form: Form = .plain) {
        self.start = start
        self.count = count
        self.form = form
    }
}

/// The cells of the current row that the query uses. Valid until the reader moves on.
///
/// Cells are found and made readable on first use; the file's bytes are never written to. Spaces,
/// tabs and line breaks around a cell do not count, nor does the formula around a text that a cell
/// in quotes may hold for Excel's sake: `"=""0012"""` is `0012`.
struct CellRow {
    /// One more than the query uses; the last is always blank.
    let cells: UnsafeMutableBufferPointer<Cell>
    /// The row for which a cell was prepared.
    private let readyForRow: UnsafeMutablePointer<UInt32>
    private let rowNumber: UnsafeMutablePointer<UInt32>
    /// What blank cells point to.
    private let blank: UnsafeMutablePointer<UInt8>
    private let scratch: UnsafeMutablePointer<Scratch>
    /// Where the fields of a delimited row end, and which of them are cells; nil when cells are
    /// found by the reader.
    private var fields: Fields?

    private struct Fields {
        var base: UnsafeMutablePointer<UInt8>
        var start = 0
        var ends: UnsafeMutablePointer<Int32>
        var columns: UnsafeMutablePointer<Int>

        /// Where the field of a cell begins, and where it ends.
        @inline(__always) func bounds(of cell: Int) -> (start: Int, end: Int) {
            let column = columns[cell]
            return (column == 0 ? start : Int(ends[column - 1]) + 1, Int(ends[column]))
        }
    }

    /// Room for what has to be written differently: as much as the row has bytes for its cells, and
    /// as much again for an array's element.
    private struct Scratch {
        var bytes: UnsafeMutablePointer<UInt8>
        var capacity: Int
        var used = 0

        init(capacity: Int) {
            bytes = .allocate(capacity: 2 * capacity + RecordBuffer.slack)
            self.capacity = capacity
        }
    }

    /// - Parameter count: cells that the query uses.
    init(count: Int) {
        cells = .allocate(capacity: count + 1)
        readyForRow = .allocate(capacity: count + 1)
        rowNumber = .allocate(capacity: 1)
        blank = .allocate(capacity: RecordBuffer.slack)
        scratch = .allocate(capacity: 1)
        readyForRow.initialize(repeating: 0, count: count + 1)
        rowNumber.initialize(to: 1)
        blank.initialize(repeating: 0, count: RecordBuffer.slack)
        scratch.initialize(to: Scratch(capacity: 1024))
        cells.initialize(repeating: Cell(blank))
    }

    /// Fields of these columns become cells.
    init(columns: [Int], ends: UnsafeMutablePointer<Int32>) {
        self.init(count: columns.count)
        let copy = UnsafeMutablePointer<Int>.allocate(capacity: max(columns.count, 1))
        copy.initialize(from: columns, count: columns.count)
        fields = Fields(base: blank, ends: ends, columns: copy)
    }

    func deallocate() {
        fields?.columns.deallocate()
        scratch.pointee.bytes.deallocate()
        scratch.deallocate()
        blank.deallocate()
        rowNumber.deallocate()
        readyForRow.deallocate()
        cells.deallocate()
    }

    // MARK: - What readers say

    /// Begins another row, of a delimited file. Its fields end at `ends`.
    @inline(__always) mutating func begin(
        base: UnsafeMutablePointer<UInt8>, start: Int, count: Int, ends: UnsafeMutablePointer<Int32>
    ) {
        fields?.base = base
        fields?.start = start
        fields?.ends = ends
        begin(count: count)
    }

    /// Begins another row, of this many bytes; its cells follow.
    @inline(__always) func begin(count: Int) {
        rowNumber.pointee &+= 1
        scratch.pointee.used = 0
        if scratch.pointee.capacity < count { growScratch(count) }
    }

    private func growScratch(_ count: Int) {
        scratch.pointee.bytes.deallocate()
        scratch.pointee = Scratch(capacity: count)
    }

    // MARK: - Reading cells

    /// The bytes of a cell; empty when it is blank or absent. A JSON array reads as it is written,
    /// without brackets.
    @inline(__always) func bytes(_ cell: Int) -> UnsafeBufferPointer<UInt8> {
        if let fields, cell < cells.count - 1 {
            // Most cells of a delimited row are written as they are meant: there is nothing to
            // remove at either end.
            let (start, end) = fields.bounds(of: cell)
            if start < end, fields.base[start] > UInt8(ascii: "\""), fields.base[end - 1] > UInt8(ascii: " ") {
                return UnsafeBufferPointer(start: UnsafePointer(fields.base) + start, count: end - start)
            }
        }
        if readyForRow[cell] != rowNumber.pointee { resolve(cell) }
        return UnsafeBufferPointer(start: cells[cell].start, count: cells[cell].count)
    }

    /// Whether a cell is a JSON array. `forEachElement` gives its elements.
    @inline(__always) func isArray(_ cell: Int) -> Bool {
        fields == nil && cells[cell].form.rawValue >= Cell.Form.array.rawValue
    }

    /// The text of a cell; list elements have `separator` between them.
    func text(_ cell: Int, separator: [UInt8]) -> String {
        guard isArray(cell) else { return String(decoding: bytes(cell), as: UTF8.self) }
        var text: [UInt8] = []
        appendText(cell, separator: separator, to: &text)
        return String(decoding: text, as: UTF8.self)
    }

    /// Appends the text of a cell; list elements have `separator` between them.
    func appendText(_ cell: Int, separator: [UInt8], to text: inout [UInt8]) {
        guard isArray(cell) else { return text.append(contentsOf: bytes(cell)) }
        var isFirst = true
        let skipsBlanks = cells[cell].form == .arrayOfTexts
        forEachElement(cell) { element in
            if skipsBlanks, trimmed(element).isEmpty { return }
            if !isFirst { text.append(contentsOf: separator) }
            text.append(contentsOf: element)
            isFirst = false
        }
    }

    /// Calls `body` with each element of a JSON array, escapes resolved, null as blank.
    @inline(__always) func forEachElement(_ cell: Int, _ body: (UnsafeBufferPointer<UInt8>) -> Void) {
        let limit = cells[cell].start + cells[cell].count
        var source = cells[cell].start
        while source < limit {
            let byte = source.pointee
            if byte == UInt8(ascii: "\"") {
                let start = source + 1
                var end = endOfPlainJSON(start)
                let isEscaped = end.pointee != UInt8(ascii: "\"")
                while end.pointee != UInt8(ascii: "\"") { end = endOfPlainJSON(end + 2) }
                source = end + 1
                body(
                    isEscaped
                        ? unescapedElement(start, count: end - start)
                        : UnsafeBufferPointer(start: start, count: end - start))
            } else if byte == UInt8(ascii: ",") || isSpace(byte) {
                source += 1
            } else {
                let start = source
                while source < limit, source.pointee != UInt8(ascii: ","), !isSpace(source.pointee) { source += 1 }
                body(UnsafeBufferPointer(start: start, count: byte == UInt8(ascii: "n") ? 0 : source - start))
            }
        }
    }

    // MARK: - Making cells ready

    @inline(never) private func resolve(_ index: Int) {
        if let fields, index < cells.count - 1 {
            let (start, end) = fields.bounds(of: index)
            cells[index] = Cell(fields.base + start, count: end - start, form: .delimited)
        }
        var cell = cells[index]
        switch cell.form {
        case .plain: break
        case .array, .arrayOfTexts: return
        case .delimited:
            // Blanks may surround the quotes, too.
            trim(&cell)
            let isQuoted = unquote(&cell)
            trim(&cell)
            if isQuoted { takeOutOfFormula(&cell) }
        case .escaped:
            let target = take(cell.count)
            cell.count = unescapeJSON(cell.start, count: cell.count, into: target)
            cell.start = UnsafePointer(target)
            trim(&cell)
        }
        cell.form = .plain
        cells[index] = cell
        readyForRow[index] = rowNumber.pointee
    }

    /// - Returns: whether it was in quotes.
    private func unquote(_ cell: inout Cell) -> Bool {
        guard cell.count >= 2, cell.start.pointee == UInt8(ascii: "\"") else { return false }
        cell.start += 1
        cell.count -= 2
        guard memchr(cell.start, Int32(UInt8(ascii: "\"")), cell.count) != nil else { return true }
        let target = take(cell.count)
        var (source, count) = (0, 0)
        while source < cell.count {
            if cell.start[source] == UInt8(ascii: "\"") { source += 1 }
            target[count] = cell.start[source]
            source += 1
            count += 1
        }
        (cell.start, cell.count) = (UnsafePointer(target), count)
        return true
    }

    /// `="0012"`, by which Volley and others keep Excel from reading a text as a number, is that
    /// text.
    private func takeOutOfFormula(_ cell: inout Cell) {
        let quote = UInt8(ascii: "\"")
        guard cell.count >= 3, cell.start[0] == UInt8(ascii: "="), cell.start[1] == quote,
            cell.start[cell.count - 1] == quote,
            memchr(cell.start + 2, Int32(quote), cell.count - 3) == nil
        else { return }
        cell.start += 2
        cell.count -= 3
        trim(&cell)
    }

    private func unescapedElement(_ text: UnsafePointer<UInt8>, count: Int) -> UnsafeBufferPointer<UInt8> {
        let target = scratch.pointee.bytes + scratch.pointee.capacity
        return UnsafeBufferPointer(start: target, count: unescapeJSON(text, count: count, into: target))
    }

    private func take(_ count: Int) -> UnsafeMutablePointer<UInt8> {
        precondition(scratch.pointee.used + count <= scratch.pointee.capacity, "a row's cells are longer than the row")
        defer { scratch.pointee.used += count }
        return scratch.pointee.bytes + scratch.pointee.used
    }

    @inline(__always) private func trim(_ cell: inout Cell) {
        while cell.count > 0, isSpace(cell.start.pointee) {
            cell.start += 1
            cell.count -= 1
        }
        while cell.count > 0, isSpace(cell.start[cell.count - 1]) { cell.count -= 1 }
    }
}

/// White space that does not count at the edges of a cell.
@inline(__always) func isSpace(_ byte: UInt8) -> Bool {
    byte <= 0x20 && (byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D)
}

/// A part without the white space at its edges.
@inline(__always) func trimmed(_ bytes: UnsafeBufferPointer<UInt8>) -> UnsafeBufferPointer<UInt8> {
    var (start, end) = (0, bytes.count)
    while start < end, isSpace(bytes[start]) { start += 1 }
    while end > start, isSpace(bytes[end - 1]) { end -= 1 }
    return UnsafeBufferPointer(rebasing: bytes[start..<end])
}

extension RecipientBatch {
    /// Appends the recipient that a row describes.
    /// - Parameters:
    ///   - token: the row's, normalised.
    ///   - service: the number of its service among the app's.
    ///   - separator: of tags, between the elements of an array.
    @inline(__always) mutating func append(
        _ row: CellRow, _ columns: ColumnPlan, token: UnsafeBufferPointer<UInt8>, service: UInt8, separator: [UInt8]
    ) {
        bytes.append(contentsOf: token)
        let token = bytes.count
        append(row, cell: columns.registrationID, separator: separator)
        let registrationID = bytes.count
        append(row, cell: columns.alias, separator: separator)
        let alias = bytes.count
        append(row, cell: columns.language, separator: separator)
        let language = bytes.count
        appendFields(row, cells: columns.fields, separator: separator)
        complete(
            Ends(token: token, registrationID: registrationID, alias: alias, language: language, fields: bytes.count),
            service: service)
    }

    /// Placeholders for nothing (`NULL`, `N/A`) are blank.
    @inline(__always) private mutating func append(_ row: CellRow, cell: Int, separator: [UInt8]) {
        let text = row.bytes(cell)
        guard !Blank.isCell(text) else { return }
        if row.isArray(cell) {
            row.appendText(cell, separator: separator, to: &bytes)
        } else {
            bytes.append(contentsOf: text)
        }
    }

    @inline(__always) private mutating func appendFields(_ row: CellRow, cells: [Int], separator: [UInt8]) {
        bytes.append(UInt8(ascii: "["))
        for (index, cell) in cells.enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            bytes.append(UInt8(ascii: "\""))
            if row.isArray(cell) {
                var text: [UInt8] = []
                row.appendText(cell, separator: separator, to: &text)
                text.withUnsafeBufferPointer { JSONWriter.appendEscaped($0, to: &bytes) }
            } else {
                JSONWriter.appendEscaped(row.bytes(cell), to: &bytes)
            }
            bytes.append(UInt8(ascii: "\""))
        }
        bytes.append(UInt8(ascii: "]"))
    }
}
