import Base

/// Reads a JSON array of objects. Where it is broken, nothing that follows can be trusted: that is an error, not an unreadable row.
struct JSONArrayReader: RowReader, ~Copyable {
    private enum Expected { case array, elementOrEnd, element, commaOrEnd, nothing }

    private var buffer: RecordBuffer
    private var objects: JSONObjectReader
    private var expected = Expected.array
    /// The place of `buffer.start`.
    private var line = 1
    private var column = 1
    private(set) var row: CellRow
    private(set) var badRow = Diagnostic("")
    private(set) var badRowLines = 1

    /// - Parameters:
    ///   - keys: the keys whose values become the cells of a row; one more cell, always blank, follows them.
    ///   - tagsCell: the cell that may be an array.
    init(path: String, isGzip: Bool, keys: [String], tagsCell: Int?, limits: ReadingLimits) throws(Diagnostic) {
        buffer = try RecordBuffer.open(path: path, isGzip: isGzip, limits: limits)
        row = CellRow(cells: .allocate(capacity: keys.count + 1), base: buffer.base)
        row.cells.initialize(repeating: Cell(), count: keys.count + 1)
        objects = JSONObjectReader(usedKeys: keys, tagsCell: tagsCell, base: buffer.base)
    }

    deinit { row.cells.deallocate() }

    var bytesRead: Int { buffer.bytesRead }
    /// The keys seen so far, in the order of their first appearance.
    var seenKeys: [String] { objects.keys.map { String(decoding: $0.name, as: UTF8.self) } }

    mutating func refill() throws(Diagnostic) {
        try buffer.refill()
        row.base = buffer.base
    }

    mutating func next() throws(Diagnostic) -> RowEvent {
        while true {
            var place = buffer.start
            while place < buffer.end, isSpace(buffer.base[place]) { place += 1 }
            advance(to: place)
            guard place < buffer.end else {
                guard buffer.isAtEnd else { return .needsMore }
                guard expected == .nothing else { throw failure("the array is not closed", at: place, remedy: Self.cutOff) }
                return .end
            }
            let byte = buffer.base[place]
            switch (expected, byte) {
            case (.array, UInt8(ascii: "[")): expected = .elementOrEnd
            case (.array, _):
                throw failure("the file is no JSON array", at: place, remedy: "A file with an object on each line must end in .jsonl.")
            case (.elementOrEnd, UInt8(ascii: "]")), (.commaOrEnd, UInt8(ascii: "]")): expected = .nothing
            case (.commaOrEnd, UInt8(ascii: ",")): expected = .element
            case (.commaOrEnd, _): throw failure("expected ',' or ']' after an element", at: place)
            case (.nothing, _): throw failure("something follows the end of the array", at: place)
            case (.element, _), (.elementOrEnd, _): return try readElement(at: place)
            }
            advance(to: place + 1)
        }
    }

    private static let cutOff = "Was the upload cut off? Export the file again."

    private mutating func readElement(at start: Int) throws(Diagnostic) -> RowEvent {
        let isObject = buffer.base[start] == UInt8(ascii: "{")
        var end = start
        do {
            end =
                isObject
                ? try objects.read(buffer.base, from: start, to: buffer.end, into: row.cells)
                : try objects.skip(buffer.base, from: start, to: buffer.end)
        } catch {
            switch error {
            case .incomplete where !buffer.isAtEnd: return .needsMore
            case .incomplete: throw failure("the file ends within an element", at: buffer.end, remedy: Self.cutOff)
            case .broken(let offset, let message): throw failure("the JSON is broken: \(message)", at: offset)
            }
        }
        var flaw = objects.flaw.map { failure($0.message, at: $0.offset) }
        if let message = buffer.flaw(from: start, to: end) { flaw = failure(message, at: start) }
        if !isObject { flaw = failure("the element is no object", at: start) }
        expected = .commaOrEnd
        let startLine = line
        advance(to: end)
        guard let flaw else { return .row }
        badRow = flaw
        badRowLines = line - startLine + 1
        return .badRow
    }

    private mutating func advance(to place: Int) {
        (line, column) = position(of: place)
        buffer.start = place
    }

    /// Line and column of a place at or behind `buffer.start`.
    private func position(of place: Int) -> (line: Int, column: Int) {
        var (line, column) = (line, column)
        for index in buffer.start..<place {
            let byte = buffer.base[index]
            if byte == 0x0A {
                line += 1
                column = 1
            } else if byte & 0xC0 != 0x80 {
                column += 1
            }
        }
        return (line, column)
    }

    private func failure(_ message: String, at place: Int, remedy: String? = nil) -> Diagnostic {
        let (line, column) = position(of: place)
        return Diagnostic(message, at: SourcePosition(file: buffer.file, line: line, column: column), remedy: remedy)
    }
}
