import Base

/// How many objects of a JSON export are read to learn its columns.
private let sampledObjects = 1000

/// The keys of the first 1,000 objects of a JSON export in the order of their appearance; nil when there is none.
/// - Throws: also when no object can be read, as then nothing can be said about columns.
func sampleKeys(path: String, format: ExportFormat, limits: ReadingLimits) throws(Diagnostic) -> [String]? {
    if format.records == .jsonLines {
        var reader = try JSONLinesReader(path: path, isGzip: format.isGzip, keys: [], tagsCell: nil, limits: limits)
        return try sample(&reader) ? reader.seenKeys : nil
    }
    var reader = try JSONArrayReader(path: path, isGzip: format.isGzip, keys: [], tagsCell: nil, limits: limits)
    return try sample(&reader) ? reader.seenKeys : nil
}

private func sample(_ reader: inout some RowReader & ~Copyable) throws(Diagnostic) -> Bool {
    var rows = 0
    var firstBad: Diagnostic?
    while rows < sampledObjects {
        switch try reader.next() {
        case .row: rows += 1
        case .badRow: firstBad = firstBad ?? reader.badRow
        case .needsMore: try reader.refill()
        case .end:
            if rows == 0, let firstBad { throw firstBad }
            return rows > 0
        }
    }
    return true
}
