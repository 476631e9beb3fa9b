import Base
import Glibc

/// Reads a JSON array of objects. Nothing after a syntax error can be trusted: it is an error, not
/// an unreadable row.
struct JSONArrayReader: JSONReader, ~Copyable {
    private var buffer: RecordBuffer
    private var objects: JSONObjectReader
    private(set) var state = ReadingState.start
    /// Whether the array is the list in an object.
    private(set) var isWrapped = false
    /// The place of the byte at `countedTo`: lines are counted on demand.
    private var counted = TextPlace()
    private var countedTo = 0
    /// Where the last element begins.
    private var elementStart = 0
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
    /// - Parameter state: the expected state at the block's first byte.
    static func ofBlock(_ block: BlockBytes, expecting state: ReadingState, of export: ExportFile) -> JSONArrayReader {
        var reader = JSONArrayReader(
            buffer: .ofBlock(block, file: export.path), keys: export.plan.names(in: export.header),
            tagsCell: export.plan.tagsCell,
            export.json)
        reader.state = state
        reader.isWrapped = export.json.isWrapped
        return reader
    }

    private init(buffer: consuming RecordBuffer, keys: [String], tagsCell: Int?, _ form: JSONForm) {
        row = CellRow(count: keys.count)
        objects = JSONObjectReader(usedKeys: keys, tagsCell: tagsCell, base: buffer.base)
        objects.hasTypedValues = form.hasTypedValues
        countedTo = buffer.start
        self.buffer = buffer
    }

    deinit { row.deallocate() }

    var keyCount: Int { objects.keys.count }

    var seenKeys: [String] { objects.keys.map { String(decoding: $0.name, as: UTF8.self) } }

    var rowsWithDuplicateKeys: Int { objects.objectsWithDuplicateKeys }
    var rowsWithLookalikes: [String: Int] { objects.objectsWithLookalikes }
    var consumed: Int { buffer.start }
    var rowLine: Int { place(of: elementStart).line }
    var place: TextPlace { place(of: buffer.start) }

    mutating func refill() throws(Diagnostic) {
        counted = place
        try buffer.refill()
        countedTo = 0
    }

    mutating func next() throws(Diagnostic) -> RowEvent {
        while true {
            while buffer.start < buffer.end, isSpace(buffer.base[buffer.start]) { buffer.start += 1 }
            let place = buffer.start
            guard place < buffer.end else {
                guard buffer.isAtEnd else { return .needsMore }
                guard state == .nothing else {
                    throw failure("the array is not closed", at: place, remedy: Self.cutOff)
                }
                return .end
            }
            switch (state, buffer.base[place]) {
            case (.start, UInt8(ascii: "[")): state = .recordOrEnd
            case (.start, UInt8(ascii: "{")):
                guard let list = try startOfList(in: place) else { return .needsMore }
                (isWrapped, state, buffer.start) = (true, .recordOrEnd, list)
                continue
            case (.start, _):
                throw noArray(at: place)
            case (.recordOrEnd, UInt8(ascii: "]")), (.separatorOrEnd, UInt8(ascii: "]")):
                state = isWrapped ? .afterList : .nothing
            case (.afterList, UInt8(ascii: "}")): state = .nothing
            case (.afterList, UInt8(ascii: ",")):
                guard let end = try skipMember(after: place) else { return .needsMore }
                buffer.start = end
                continue
            case (.afterList, _): throw failure("expected ',' or '}' after the list", at: place)
            case (.separatorOrEnd, UInt8(ascii: ",")): state = .record
            case (.separatorOrEnd, _): throw failure("expected ',' or ']' after an element", at: place)
            case (.nothing, _): throw failure("something follows the end of the array", at: place)
            case (.record, _), (.recordOrEnd, _): return try readElement(at: place)
            }
            buffer.start = place + 1
        }
    }

    var wrongForm: Diagnostic? { nil }

    /// Finds the array in an object that begins with `"results": [`.
    /// - Returns: the place after its bracket; nil when the object continues beyond what is in
    ///   memory.
    private func startOfList(in object: Int) throws(Diagnostic) -> Int? {
        var place = object
        for part in ["{", "\"results\"", ":", "["] as [StaticString] {
            while place < buffer.end, isSpace(buffer.base[place]) { place += 1 }
            for index in 0..<part.utf8CodeUnitCount {
                guard place < buffer.end else {
                    if buffer.isAtEnd { throw noArray(at: object) }
                    return nil
                }
                guard buffer.base[place] == part.utf8Start[index] else { throw noArray(at: object) }
                place += 1
            }
        }
        return place
    }

    /// Skips a further member of the object that holds the array, such as the `cursor` of a query.
    /// - Returns: the place after it; nil when it continues beyond what is in memory.
    private mutating func skipMember(after comma: Int) throws(Diagnostic) -> Int? {
        do { return try objects.skipMember(buffer.base, from: comma + 1, to: buffer.end) } catch {
            switch error {
            case .incomplete where !buffer.isAtEnd: return nil
            case .incomplete:
                throw failure(
                    "the file ends within the object that holds the list", at: buffer.end, remedy: Self.cutOff)
            case .broken(let offset, let message): throw failure("the JSON is broken: \(message)", at: offset)
            }
        }
    }

    private func noArray(at place: Int) -> Diagnostic {
        let text = UnsafeBufferPointer(start: buffer.base + place, count: min(200, buffer.end - place))
        let start = String(decoding: text, as: UTF8.self).filter { !$0.isWhitespace }
        // An object that holds the list under a name: {"devices": [{
        if start.first == "{", let colon = start.firstIndex(of: ":"), start[colon...].hasPrefix(":[{") {
            return failure(
                "the file is an object that contains the list of devices, below \(start[start.index(after: start.startIndex)..<colon])",
                at: place,
                remedy: "Export only the list: [{…}, {…}].")
        }
        // Or deeper: {"data": {"devices": [{
        if start.first == "{", let colon = start.firstIndex(of: ":"), start[colon...].hasPrefix(":{"),
            start.contains(":[{")
        {
            return failure(
                "the file is an object with the list of devices deep inside", at: place,
                remedy: "Export only the list: [{…}, {…}].")
        }
        return failure(
            "the file is not a JSON array", at: place,
            remedy: start.first == "{" || start.hasPrefix("\(LeanCloudExport.firstLine)")
                ? "A file with an object on each line must end in .jsonl."
                : "A list of objects begins with [. A file with columns must end in .csv.")
    }

    static let objects =
        "Write an object for each device, {…}. A list of tokens alone is a .txt file with one on each line."
    private static let cutOff = "The upload may have been cut off. Export the file again."

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
        row.begin(count: end - start)
        var flaw = objects.flaw.map { failure($0.message, at: $0.offset) }
        let textFlaw = end > buffer.cleanEnd ? buffer.flaw(from: start, to: end) : nil
        if let textFlaw { flaw = failure(textFlaw.text(), at: start) }
        if !isObject { flaw = failure("the element is not an object", at: start, remedy: Self.objects) }
        state = .separatorOrEnd
        (elementStart, buffer.start) = (start, end)
        guard let flaw else { return .row }
        badRow = flaw
        badRowIsUTF8 = !isObject || textFlaw != .notUTF8
        (counted, countedTo) = (place(of: end), end)
        return .badRow
    }

    /// Line and column of a place at or after `countedTo`.
    private func place(of offset: Int) -> TextPlace {
        var place = counted
        var lineStart = countedTo
        while let found = memchr(buffer.base + lineStart, 0x0A, offset - lineStart) {
            lineStart = UnsafeRawPointer(found) - UnsafeRawPointer(buffer.base) + 1
            place = TextPlace(line: place.line + 1)
        }
        place.column += scalarCount(UnsafeBufferPointer(start: buffer.base + lineStart, count: offset - lineStart))
        return place
    }

    private func failure(_ message: String, at offset: Int, remedy: String? = nil) -> Diagnostic {
        let place = place(of: offset)
        if offset < buffer.end, buffer.base[offset] == 0 { return buffer.holdsZeroBytes(line: place.line) }
        return Diagnostic(
            message, at: SourcePosition(file: buffer.file, line: place.line, column: place.column), remedy: remedy)
    }
}
