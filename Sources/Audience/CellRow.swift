import Glibc

/// Where a cell that the query uses stands in the buffer, and how it is written there.
struct Cell {
    enum Form: UInt8 {
        /// Ready to be read.
        case plain
        /// As it stands in a CSV file, perhaps in quotes.
        case delimited
        /// The inside of a JSON string with escapes.
        case escaped
        /// The inside of a JSON array, brackets excluded.
        case array
        /// The elements of a JSON array, a NUL between them.
        case joined
    }

    var start = 0
    var count = 0
    var form = Form.plain
}

/// The cells of the current row that the query uses. Valid until the reader moves on.
///
/// Cells are made readable on first use, in place: quotes, escapes and brackets only ever make them shorter. Spaces, tabs and
/// line breaks around a cell do not count.
struct CellRow {
    let cells: UnsafeMutablePointer<Cell>
    var base: UnsafeMutablePointer<UInt8>

    /// The bytes of a cell; empty when it is blank or absent.
    @inline(__always) func bytes(_ cell: Int) -> UnsafeBufferPointer<UInt8> {
        if cells[cell].form != .plain { resolve(cell) }
        return UnsafeBufferPointer(start: base + cells[cell].start, count: cells[cell].count)
    }

    /// Whether the bytes of a cell are list elements with NUL between them, rather than text.
    func isJoined(_ cell: Int) -> Bool { cells[cell].form == .joined }

    /// The text of a cell; list elements stand with `separator` between them.
    func text(_ cell: Int, separator: [UInt8]) -> String {
        let bytes = bytes(cell)
        if bytes.isEmpty { return "" }
        guard isJoined(cell) else { return String(decoding: bytes, as: UTF8.self) }
        return String(
            decoding: Array(bytes.split(separator: 0, omittingEmptySubsequences: false).joined(separator: separator)), as: UTF8.self)
    }

    private func resolve(_ index: Int) {
        var cell = cells[index]
        switch cell.form {
        case .plain, .joined: return
        case .delimited: unquote(&cell)
        case .escaped: cell.count = unescapeJSON(base + cell.start, count: cell.count, into: base + cell.start)
        case .array:
            joinElements(&cell)
            cells[index] = cell
            return
        }
        trim(&cell)
        cell.form = .plain
        cells[index] = cell
    }

    private func unquote(_ cell: inout Cell) {
        guard cell.count >= 2, base[cell.start] == UInt8(ascii: "\"") else { return }
        cell.start += 1
        cell.count -= 2
        let first = base + cell.start
        guard let doubled = memchr(first, Int32(UInt8(ascii: "\"")), cell.count) else { return }
        var target = UnsafeRawPointer(doubled) - UnsafeRawPointer(first)
        var source = target
        while source < cell.count {
            if first[source] == UInt8(ascii: "\"") { source += 1 }
            first[target] = first[source]
            source += 1
            target += 1
        }
        cell.count = target
    }

    @inline(__always) private func trim(_ cell: inout Cell) {
        while cell.count > 0, isSpace(base[cell.start]) {
            cell.start += 1
            cell.count -= 1
        }
        while cell.count > 0, isSpace(base[cell.start + cell.count - 1]) { cell.count -= 1 }
    }

    /// The array was read once already, so that it is known to be well-formed and flat.
    private func joinElements(_ cell: inout Cell) {
        let limit = cell.start + cell.count
        var (source, target) = (cell.start, cell.start)
        var isFirst = true
        while source < limit {
            let byte = base[source]
            if isSpace(byte) || byte == UInt8(ascii: ",") {
                source += 1
                continue
            }
            var (elementStart, elementEnd) = (source, source)
            if byte == UInt8(ascii: "\"") {
                elementStart += 1
                elementEnd = elementStart
                while base[elementEnd] != UInt8(ascii: "\"") { elementEnd += base[elementEnd] == UInt8(ascii: "\\") ? 2 : 1 }
                source = elementEnd + 1
            } else {
                while source < limit, base[source] != UInt8(ascii: ","), !isSpace(base[source]) { source += 1 }
                elementEnd = byte == UInt8(ascii: "n") ? elementStart : source
            }
            if !isFirst {
                base[target] = 0
                target += 1
            }
            isFirst = false
            target += unescapeJSON(base + elementStart, count: elementEnd - elementStart, into: base + target)
        }
        cell.count = target - cell.start
        cell.form = .joined
    }
}

/// White space that does not count at the edges of a cell.
@inline(__always) func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D }

/// A part without the white space at its edges.
@inline(__always) func trimmed(_ bytes: UnsafeBufferPointer<UInt8>) -> UnsafeBufferPointer<UInt8> {
    var (start, end) = (0, bytes.count)
    while start < end, isSpace(bytes[start]) { start += 1 }
    while end > start, isSpace(bytes[end - 1]) { end -= 1 }
    return UnsafeBufferPointer(rebasing: bytes[start..<end])
}

/// Resolves the escapes of the inside of a JSON string that is known to be well-formed; `target` may be at or before `source`.
/// - Returns: the number of bytes written, never more than `count`.
func unescapeJSON(_ source: UnsafePointer<UInt8>, count: Int, into target: UnsafeMutablePointer<UInt8>) -> Int {
    var (from, to) = (0, 0)
    while from < count {
        let byte = source[from]
        from += 1
        guard byte == UInt8(ascii: "\\") else {
            target[to] = byte
            to += 1
            continue
        }
        let escape = source[from]
        from += 1
        if escape == UInt8(ascii: "u") {
            var code = hexQuad(source + from)
            from += 4
            if code & 0xFC00 == 0xD800 {
                code = 0x10000 + (code & 0x3FF) << 10 + (hexQuad(source + from + 2) & 0x3FF)
                from += 6
            }
            to += writeUTF8(code, to: target + to)
        } else {
            target[to] = unescaped(escape)
            to += 1
        }
    }
    return to
}

private func unescaped(_ letter: UInt8) -> UInt8 {
    switch letter {
    case UInt8(ascii: "b"): 8
    case UInt8(ascii: "f"): 12
    case UInt8(ascii: "n"): 10
    case UInt8(ascii: "r"): 13
    case UInt8(ascii: "t"): 9
    default: letter
    }
}

/// The value of four hex digits.
func hexQuad(_ digits: UnsafePointer<UInt8>) -> UInt32 {
    var value: UInt32 = 0
    for index in 0..<4 {
        let digit = digits[index]
        value = value << 4 | UInt32(digit & 15) + (digit >= UInt8(ascii: "A") ? 9 : 0)
    }
    return value
}

private func writeUTF8(_ code: UInt32, to target: UnsafeMutablePointer<UInt8>) -> Int {
    func byte(_ lead: UInt32, _ shift: UInt32) -> UInt8 { UInt8(truncatingIfNeeded: lead | (code >> shift) & (lead == 0x80 ? 0x3F : 0xFF)) }
    switch code {
    case ..<0x80:
        target[0] = UInt8(code)
        return 1
    case ..<0x800:
        (target[0], target[1]) = (byte(0xC0, 6), byte(0x80, 0))
        return 2
    case ..<0x10000:
        (target[0], target[1], target[2]) = (byte(0xE0, 12), byte(0x80, 6), byte(0x80, 0))
        return 3
    default:
        (target[0], target[1], target[2], target[3]) = (byte(0xF0, 18), byte(0x80, 12), byte(0x80, 6), byte(0x80, 0))
        return 4
    }
}
