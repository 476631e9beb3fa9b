import Base
import CSIMD
import Glibc

/// Reads JSON Lines: an object a line, blank lines skipped. A broken line is an unreadable row; the
/// next line starts again.
struct JSONLinesReader: JSONReader, ~Copyable {
    private var buffer: RecordBuffer
    private var objects: JSONObjectReader
    private var line = 1
    private(set) var row: CellRow
    private(set) var badRow = Diagnostic("")
    private(set) var badRowIsUTF8 = true
    let badRowLines = 1

    /// Reads a file from front to back.
    /// - Parameters:
    ///   - keys: the keys of the values that become the cells of a row; one more cell, always
    ///     blank, follows them.
    ///   - tagsCell: the cell that may be an array.
    init(
        path: String, isGzip: Bool, keys: [String], tagsCell: Int?, limits: ReadingLimits, form: JSONForm = JSONForm()
    ) throws(Diagnostic) {
        self.init(
            buffer: try RecordBuffer.open(path: path, isGzip: isGzip, limits: limits), keys: keys, tagsCell: tagsCell,
            form)
    }

    /// Reads a block of a file.
    static func ofBlock(_ block: BlockBytes, of export: ExportFile) -> JSONLinesReader {
        JSONLinesReader(
            buffer: .ofBlock(block, file: export.path), keys: export.plan.names(in: export.header),
            tagsCell: export.plan.tagsCell,
            export.json)
    }

    private init(buffer: consuming RecordBuffer, keys: [String], tagsCell: Int?, _ form: JSONForm) {
        row = CellRow(count: keys.count)
        objects = JSONObjectReader(usedKeys: keys, tagsCell: tagsCell, base: buffer.base)
        objects.hasTypedValues = form.hasTypedValues
        self.buffer = buffer
    }

    deinit { row.deallocate() }

    var keyCount: Int { objects.keys.count }

    var seenKeys: [String] { objects.keys.map { String(decoding: $0.name, as: UTF8.self) } }

    var isWrapped: Bool { false }
    private(set) var wrongForm: Diagnostic?
    var state: ReadingState { .record }
    var rowsWithDuplicateKeys: Int { objects.objectsWithDuplicateKeys }
    var rowsWithLookalikes: [String: Int] { objects.objectsWithLookalikes }
    var consumed: Int { buffer.start }
    var rowLine: Int { line - 1 }
    var place: TextPlace { TextPlace(line: line) }

    mutating func refill() throws(Diagnostic) { try buffer.refill() }

    mutating func next() throws(Diagnostic) -> RowEvent {
        while true {
            let start = buffer.start
            guard start < buffer.end else { return buffer.isAtEnd ? .end : .needsMore }
            var end = buffer.end
            if let place = memchr(buffer.base + start, 0x0A, end - start) {
                end = UnsafeRawPointer(place) - UnsafeRawPointer(buffer.base)
            } else if !buffer.isAtEnd, buffer.zeroBytes == .max {
                return .needsMore
            }
            if buffer.zeroBytes < end { throw buffer.holdsZeroBytes(line: line) }
            buffer.start = min(end + 1, buffer.end)
            line += 1
            var object = start
            while object < end, isSpace(buffer.base[object]) { object += 1 }
            if object < end, buffer.base[object] != UInt8(ascii: "#") || !isLeanCloudsFirstLine(start, end) {
                return read(from: object, to: end, lineStart: start)
            }
        }
    }

    /// Parts of an export that were put together have several.
    private func isLeanCloudsFirstLine(_ start: Int, _ end: Int) -> Bool {
        let mark = LeanCloudExport.firstLine
        return end - start >= mark.utf8CodeUnitCount
            && memcmp(buffer.base + start, mark.utf8Start, mark.utf8CodeUnitCount) == 0
    }

    private mutating func read(from start: Int, to end: Int, lineStart: Int) -> RowEvent {
        // For nearly every line this is known: checking each would copy the buffer's state.
        if end > buffer.cleanEnd, let flaw = buffer.flaw(from: start, to: end) {
            defer { badRowIsUTF8 = flaw != .notUTF8 }
            return bad(flaw.text(), at: start, lineStart: lineStart)
        }
        guard buffer.base[start] == UInt8(ascii: "{") else {
            // Files that were put together have byte order marks within.
            let mark = TextEncoding.markBytes(UnsafeBufferPointer(start: buffer.base + start, count: end - start))
            if mark > 0, start + mark < end { return read(from: start + mark, to: end, lineStart: lineStart) }
            let isArray = buffer.base[start] == UInt8(ascii: "[")
            let event = bad(
                isArray ? "the line is a list, not a JSON object" : "the line is not a JSON object", at: start,
                lineStart: lineStart)
            badRow.remedy = JSONArrayReader.objects
            if isArray { noteArray(from: start + 1, to: end) }
            return event
        }
        row.begin(count: end - start)
        do {
            var after = try objects.read(buffer.base, from: start, to: end, into: row.cells)
            while after < end, isSpace(buffer.base[after]) { after += 1 }
            if after < end { return bad("something follows the object", at: after, lineStart: lineStart) }
        } catch {
            switch error {
            case .incomplete: return bad("the line ends within the object", at: end, lineStart: lineStart)
            case .broken(let offset, let message):
                return bad("the JSON is broken: \(message)", at: offset, lineStart: lineStart)
            }
        }
        if let flaw = objects.flaw { return bad(flaw.message, at: flaw.offset, lineStart: lineStart) }
        return .row
    }

    /// A list of objects may be a whole export in the form of .json files.
    private mutating func noteArray(from start: Int, to end: Int) {
        var place = start
        while place < end, isSpace(buffer.base[place]) { place += 1 }
        guard place == end || buffer.base[place] == UInt8(ascii: "{"), let position = badRow.position else { return }
        wrongForm = Diagnostic(
            "the file is a JSON array, and its name says that each line is an object", at: position,
            remedy:
                "Let its name end in .json (or .json.gz), or export JSON Lines: an object on each line, without [ ] and commas."
        )
    }

    private mutating func bad(_ message: String, at offset: Int, lineStart: Int) -> RowEvent {
        let column = 1 + scalarCount(UnsafeBufferPointer(start: buffer.base + lineStart, count: offset - lineStart))
        badRow = Diagnostic(message, at: SourcePosition(file: buffer.file, line: line - 1, column: column))
        badRowIsUTF8 = true
        return .badRow
    }
}

/// Unicode scalars in UTF-8 text.
func scalarCount(_ bytes: UnsafeBufferPointer<UInt8>) -> Int {
    bytes.reduce(0) { $0 + ($1 & 0xC0 == 0x80 ? 0 : 1) }
}

/// What is special about a JSON export.
struct JSONForm: Hashable, Sendable {
    /// Whether values may be objects, as LeanCloud writes dates: `{"__type": "Date", "iso": "…"}`.
    var hasTypedValues = false
    /// Whether the array is the list in an object, as answers to queries have it:
    /// `{"results": […]}`.
    var isWrapped = false
}

/// The first quote, backslash or control character from a place on. A line feed follows every
/// buffer and stops the search.
@inline(__always) func endOfPlainJSON(_ start: UnsafePointer<UInt8>) -> UnsafePointer<UInt8> {
    var place = start
    while true {
        let found = volley_json_text_end(place)
        if found != 0 { return place + found.trailingZeroBitCount }
        place += 16
    }
}

/// Resolves the escapes inside a JSON string that is known to be well-formed; `target` may be at or
/// before `source`.
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
    func byte(_ lead: UInt32, shift: UInt32) -> UInt8 {
        UInt8(truncatingIfNeeded: lead | (code >> shift) & (lead == 0x80 ? 0x3F : 0xFF))
    }
    switch code {
    case ..<0x80:
        target[0] = UInt8(code)
        return 1
    case ..<0x800:
        (target[0], target[1]) = (byte(0xC0, shift: 6), byte(0x80, shift: 0))
        return 2
    case ..<0x10000:
        (target[0], target[1], target[2]) = (byte(0xE0, shift: 12), byte(0x80, shift: 6), byte(0x80, shift: 0))
        return 3
    default:
        (target[0], target[1], target[2], target[3]) = (
            byte(0xF0, shift: 18), byte(0x80, shift: 12), byte(0x80, shift: 6), byte(0x80, shift: 0)
        )
        return 4
    }
}
