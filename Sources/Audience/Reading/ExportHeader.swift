import Base
import PushServices

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

/// The first line of a delimited file that is not blank, examined to find the separator of its
/// columns.
struct HeaderLine {
    /// The separator.
    let separator: UInt8
    /// Whether the line's end was seen.
    let isComplete: Bool

    /// Of a longer line only the beginning is used.
    static let mostBytes = 1 << 16
    private static let separators = [UInt8(ascii: ","), UInt8(ascii: ";"), 0x09, UInt8(ascii: "|")]

    /// - Parameters:
    ///   - bytes: of the file, as far as they are in memory.
    ///   - expected: used when it appears at all, or when no other separator does.
    init(_ bytes: UnsafeBufferPointer<UInt8>, expecting expected: UInt8) {
        var counts = Array(repeating: 0, count: Self.separators.count)
        var (isQuoted, isFieldStart, isBlank, isComplete) = (false, true, true, false)
        var hasJustClosed = false
        for byte in bytes.prefix(Self.mostBytes) {
            if isQuoted {
                if byte == UInt8(ascii: "\"") { (isQuoted, hasJustClosed) = (false, true) }
                continue
            }
            // A doubled quote is text: the field continues after it.
            if hasJustClosed, byte == UInt8(ascii: "\"") {
                isQuoted = true
                hasJustClosed = false
                continue
            }
            hasJustClosed = false
            if byte == 0x0A || byte == 0x0D {
                guard isBlank else {
                    isComplete = true
                    break
                }
            } else if byte == UInt8(ascii: "\"") {
                isQuoted = isFieldStart
                isBlank = false
            } else if let place = Self.separators.firstIndex(of: byte) {
                counts[place] += 1
                isFieldStart = true
                isBlank = false
                continue
            } else {
                isBlank = false
            }
            // A quote may open a cell after blanks.
            isFieldStart = isFieldStart && byte == 0x20
        }
        self.isComplete = isComplete
        let most = counts.max() ?? 0
        let isExpectedThere = Self.separators.firstIndex(of: expected).map { counts[$0] > 0 } ?? true
        separator =
            isExpectedThere || most == 0
            ? expected : counts.firstIndex(of: most).map { Self.separators[$0] } ?? expected
    }
}

/// The names of a header, to recognise it when it appears again: `cat a.csv b.csv` leaves it among
/// the rows, and the rows after it may have its columns in another order.
struct HeaderNames: Sendable {
    private let names: [String]
    /// Bit n: the first field of a header may be n bytes long, or, of the last bit, longer.
    private let lengths: UInt64

    private static let quote = UInt8(ascii: "\"")

    /// nil where it does no harm, as with a single column, and where it is a row, not a header.
    init?(_ header: [String], _ targets: TargetForm) {
        guard header.count > 1, header.contains(where: { !$0.isEmpty }) else { return nil }
        guard !header.contains(where: { targets.recognizes($0) || $0.utf8.contains(Self.quote) }) else { return nil }
        names = header
        // As is, in quotes, after a byte order mark, next to a blank.
        lengths = header.reduce(0) { bits, name in
            (0...6).reduce(bits) { $0 | 1 << UInt64(min(name.utf8.count + $1, 63)) }
        }
    }

    /// How many fields a header has, and how many it has where it is appended to a row without a
    /// line end.
    @inline(__always) func mayHave(_ count: Int) -> Bool { count == names.count || count == 2 * names.count - 1 }

    /// Whether the first field of a row is one of the names; a single check answers false for most
    /// rows of most exports.
    @inline(__always) func isName(first field: UnsafeBufferPointer<UInt8>) -> Bool {
        lengths & (1 << UInt64(min(field.count, 63))) != 0 && isName(inside(field))
    }

    private func isName(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        names.contains { $0.utf8.count == text.count && $0.utf8.elementsEqual(text) }
    }

    /// Whether the fields of a row are the names in any order, or end with them, the first one
    /// appended to the last cell of another row.
    func end(_ fields: [UnsafeBufferPointer<UInt8>]) -> Bool {
        guard mayHave(fields.count), let first = fields.dropLast(names.count - 1).last else { return false }
        var missing = names.map { Array($0.utf8) }
        for field in fields.suffix(names.count - 1) {
            guard let place = missing.firstIndex(where: { $0.elementsEqual(trimmed(inside(field))) }) else {
                return false
            }
            missing.remove(at: place)
        }
        let start = inside(first)
        return fields.count == names.count
            ? missing[0].elementsEqual(start)
            : !missing[0].isEmpty && start.suffix(missing[0].count).elementsEqual(missing[0])
    }

    /// A field without byte order mark, blanks around it and quotes.
    private func inside(_ field: UnsafeBufferPointer<UInt8>) -> UnsafeBufferPointer<UInt8> {
        let text = trimmed(UnsafeBufferPointer(rebasing: field.dropFirst(TextEncoding.markBytes(field))))
        guard text.count > 1, text.first == Self.quote, text.last == Self.quote else { return text }
        return UnsafeBufferPointer(rebasing: text[1..<text.count - 1])
    }
}
