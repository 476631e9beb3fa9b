import Base

/// How many objects of a JSON export are read to learn its columns, when those are all that is
/// needed.
private let sampledObjects = 1000

/// What the first objects of a JSON export show.
struct SampledKeys {
    /// In the order of their appearance.
    var keys: [String]
    /// Whether the objects are in the list of an object.
    var isWrapped: Bool
}

/// The keys of a JSON export: of the first 1,000 objects, and of as many more as needed until
/// nothing is missing. nil when there is no object.
/// - Parameter hasAll: whether these keys are enough. If they never are, all objects are read.
/// - Throws: also when no object can be read, as then nothing can be said about columns.
func sampleKeys(
    path: String, format: ExportFormat, limits: ReadingLimits, until hasAll: ([String]) -> Bool
) throws(Diagnostic) -> SampledKeys? {
    if format.records == .jsonLines {
        var reader = try JSONLinesReader(path: path, isGzip: format.isGzip, keys: [], tagsCell: nil, limits: limits)
        return try sample(&reader, until: hasAll)
    }
    var reader = try JSONArrayReader(path: path, isGzip: format.isGzip, keys: [], tagsCell: nil, limits: limits)
    return try sample(&reader, until: hasAll)
}

private func sample(
    _ reader: inout some JSONReader & ~Copyable, until hasAll: ([String]) -> Bool
) throws(Diagnostic) -> SampledKeys? {
    func sampled() -> SampledKeys { SampledKeys(keys: reader.seenKeys, isWrapped: reader.isWrapped) }
    var rows = 0
    var judgedKeys = -1
    var firstBad: Diagnostic?
    while true {
        if rows >= sampledObjects, reader.keyCount != judgedKeys {
            judgedKeys = reader.keyCount
            if hasAll(reader.seenKeys) { return sampled() }
        }
        switch try reader.next() {
        case .row: rows += 1
        case .badRow:
            if rows == 0, firstBad == nil, let mistake = reader.wrongForm { throw mistake }
            firstBad = firstBad ?? reader.badRow
        case .needsMore: try reader.refill()
        case .end:
            if rows == 0, let firstBad { throw firstBad }
            return rows > 0 ? sampled() : nil
        }
    }
}
