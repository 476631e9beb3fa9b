import Base

/// Finds where a block may end so that the next one begins with a record, as far as the block alone
/// can tell.
///
/// That is a guess: inside quoted text a line may look like a record. The reader that merges blocks
/// in order notices when one did not end with a record, and reads the next one again from the right
/// place; a wrong guess only costs time.
enum BlockCutter: Sendable {
    /// Lines that are records, whatever they hold.
    case lines
    /// Lines with this many fields.
    case delimited(separator: UInt8, columnCount: Int)
    /// Objects of an array. Their first key is usually this one.
    case array(firstKey: [UInt8])

    /// How many lines are checked before a line that does not look like a record is accepted.
    private static let lookedAt = 64
    /// How far back to search for an array's object.
    private static let searchedBytes = 64 << 10

    /// Bytes of the block, at least 1; all of them when nothing in them looks like an end.
    func cut(_ bytes: UnsafeBufferPointer<UInt8>) -> Int {
        switch self {
        case .lines: return lastLineEnd(bytes, before: bytes.count) ?? bytes.count
        case .delimited(let separator, let columnCount):
            return cutDelimited(bytes, separator: separator, columnCount: columnCount)
        case .array(let firstKey): return cutArray(bytes, firstKey: firstKey) ?? bytes.count
        }
    }

    /// One past the last line feed before a place.
    private func lastLineEnd(_ bytes: UnsafeBufferPointer<UInt8>, before end: Int) -> Int? {
        bytes[..<max(end, 0)].lastIndex(of: 0x0A).map { $0 + 1 }
    }

    private func cutDelimited(_ bytes: UnsafeBufferPointer<UInt8>, separator: UInt8, columnCount: Int) -> Int {
        guard let last = lastLineEnd(bytes, before: bytes.count) else {
            return lastCarriageReturn(bytes) ?? bytes.count
        }
        var end = last
        for _ in 0..<Self.lookedAt {
            guard let start = lastLineEnd(bytes, before: end - 1) else { break }
            if fieldCount(bytes[start..<end - 1], separator: separator) == columnCount { return end }
            end = start
        }
        return last
    }

    /// For files with lines that end in CR alone.
    private func lastCarriageReturn(_ bytes: UnsafeBufferPointer<UInt8>) -> Int? {
        // The very last byte may be half of a line's end.
        bytes.dropLast().lastIndex(of: 0x0D).map { $0 + 1 }
    }

    /// Fields of a line that is a record by itself; nil when a quote stays open or text follows
    /// one.
    private func fieldCount(_ line: Slice<UnsafeBufferPointer<UInt8>>, separator: UInt8) -> Int? {
        let quote = UInt8(ascii: "\"")
        func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 && separator != 0x09 }
        var (count, place) = (1, line.startIndex)
        while place < line.endIndex {
            let opening = line[place...].firstIndex { !isBlank($0) } ?? place
            if line[opening] == quote {
                place = opening
                repeat {
                    place += 1
                    while place < line.endIndex, line[place] != quote { place += 1 }
                    guard place < line.endIndex else { return nil }
                    place += 1
                } while place < line.endIndex && line[place] == quote
                while place < line.endIndex, isBlank(line[place]) { place += 1 }
                guard place == line.endIndex || line[place] == separator || line[place] == 0x0D else { return nil }
            }
            while place < line.endIndex, line[place] != separator { place += 1 }
            guard place < line.endIndex else { break }
            count += 1
            place += 1
        }
        return count
    }

    private func cutArray(_ bytes: UnsafeBufferPointer<UInt8>, firstKey: [UInt8]) -> Int? {
        var place = bytes.count - 1
        let stop = max(0, bytes.count - Self.searchedBytes)
        while place > stop {
            if bytes[place] == UInt8(ascii: ","), endsWithObject(bytes[..<place]),
                beginsObject(bytes[(place + 1)...], firstKey: firstKey)
            {
                return place + 1
            }
            place -= 1
        }
        return nil
    }

    private func endsWithObject(_ bytes: Slice<UnsafeBufferPointer<UInt8>>) -> Bool {
        bytes.last { !isSpace($0) } == UInt8(ascii: "}")
    }

    private func beginsObject(_ bytes: Slice<UnsafeBufferPointer<UInt8>>, firstKey: [UInt8]) -> Bool {
        let object = bytes.drop(while: isSpace)
        guard object.first == UInt8(ascii: "{") else { return false }
        let key = object.dropFirst().drop(while: isSpace)
        return key.first == UInt8(ascii: "\"") && key.dropFirst().starts(with: firstKey)
    }
}

/// The format of a file of devices, by its name: `.csv`, `.tsv`, `.json`, `.jsonl` or `.ndjson`,
/// each also with `.gz`.
struct ExportFormat: Hashable, Sendable {
    /// How records are written.
    enum Records: Hashable, Sendable {
        case delimited(separator: UInt8)
        case jsonArray
        case jsonLines
    }

    var records: Records
    var isGzip: Bool

    /// nil when Volley cannot read files with this ending.
    init?(path: String) {
        var name = path.lowercased()
        isGzip = name.hasSuffix(".gz")
        if isGzip { name.removeLast(3) }
        switch name {
        case _ where name.hasSuffix(".csv"): records = .delimited(separator: UInt8(ascii: ","))
        case _ where name.hasSuffix(".tsv"): records = .delimited(separator: UInt8(ascii: "\t"))
        case _ where name.hasSuffix(".jsonl") || name.hasSuffix(".ndjson"): records = .jsonLines
        case _ where name.hasSuffix(".json"): records = .jsonArray
        default: return nil
        }
    }

    /// The mistake of a name that `init` refuses.
    static func unknown(path: String) -> Diagnostic {
        let name = path.lowercased()
        if [".xlsx", ".xls", ".ods", ".numbers"].contains(where: name.hasSuffix) {
            return Diagnostic(
                "this is a spreadsheet, but Volley reads text files", file: path,
                remedy: "Save it as 'CSV UTF-8' in the spreadsheet program, and name that file here.")
        }
        if name.hasSuffix(".zip") {
            return Diagnostic(
                "this is a zip archive", file: path,
                remedy: "Unpack it and name the file in it. Volley reads .csv.gz directly.")
        }
        if [".tar.gz", ".tgz", ".tar"].contains(where: name.hasSuffix) {
            return Diagnostic(
                "this is an archive of files", file: path,
                remedy: "Unpack it with `tar -xf`, and name the .jsonl files in it. Volley reads .jsonl.gz directly.")
        }
        if [".bson", ".bson.gz"].contains(where: name.hasSuffix) { return LeanCloudExport.bson(path) }
        return Diagnostic(
            "the file's name does not say what it holds", file: path,
            remedy: "Exports end in .csv, .tsv, .json or .jsonl, and may be compressed: .csv.gz.")
    }
}

/// An export with known columns.
struct ExportFile: Sendable {
    let path: String
    let format: ExportFormat
    /// The header's names, or the keys of the first objects of JSON.
    let header: [String]
    let plan: ColumnPlan
    /// What columns are called in it.
    let columns: ExportColumns
    /// What is special about its JSON.
    var json = JSONForm()
    /// Where there is no `last_active`: a column that holds it, judging by its name.
    let otherActivity: String?
    /// What a second header looks like; nil for JSON.
    let names: HeaderNames?

    /// Where its blocks may end.
    var cutter: BlockCutter {
        switch format.records {
        case .delimited(let separator): .delimited(separator: separator, columnCount: header.count)
        case .jsonLines: .lines
        case .jsonArray: .array(firstKey: Array((header.first ?? "").utf8))
        }
    }

    /// The expected state at the beginning of any block but the first.
    var stateOfBlocks: ReadingState { .record }

    /// The expected state at the beginning of the file.
    var stateOfFile: ReadingState { format.records == .jsonLines ? .record : .start }
}
