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

/// Tells whether what seems to be the header of a delimited file is one.
struct HeaderCheck {
    let header: [String]
    /// Between the header's names.
    let separator: UInt8
    let targets: TargetForm
    let position: SourcePosition

    /// A title above the names of the columns has at most this many lines.
    static let mostTitleLines = 5

    private static let quote = UInt8(ascii: "\"")
    private static let lineFeed = UInt8(ascii: "\n")
    private static let carriageReturn = UInt8(ascii: "\r")

    /// What the file is, if it is no CSV.
    /// - Parameter below: the text below the header, as far as it is in memory.
    func foreignForm(above below: UnsafeBufferPointer<UInt8>) -> Diagnostic? {
        let next = below.prefix { $0 != Self.lineFeed }
        return Self.foreignForm(header, next: next).map { Diagnostic($0.what, at: position, remedy: $0.remedy) }
    }

    /// What a file is if its header cannot be from a program that writes CSV: any other message
    /// would name columns that do not exist. nil for CSV.
    /// - Parameter next: the line after the header.
    static func foreignForm(_ header: [String], next: some Collection<UInt8>) -> (what: String, remedy: String)? {
        func isRule(_ line: some Collection<UInt8>) -> Bool {
            line.allSatisfy { "+-|\r".utf8.contains($0) }
                && line.split { $0 != UInt8(ascii: "-") }.contains { $0.count > 2 }
        }
        let first = header.first ?? ""
        if header.count == 1 && isRule(first.utf8) || isRule(next) {
            return (
                "this is a table as a database program draws it, not CSV",
                "Export it with `psql --csv`, or with `mysql --batch` instead of `mysql --table`."
            )
        }
        // Not `<aa00…>`, a token.
        if ["<!", "<?", "<html", "<head", "<body", "<meta", "<table"].contains(where: first.lowercased().hasPrefix) {
            return ("this is a web page or XML, not CSV", "Export it as CSV, UTF-8.")
        }
        if first.hasPrefix("{\\rtf") {
            return ("this is a document with formatted text (RTF), not CSV", "Export it as CSV, UTF-8.")
        }
        for (opening, closing) in [
            ("'", "'"), ("\u{201C}", "\u{201D}"), ("\u{201D}", "\u{201D}"), ("\u{2018}", "\u{2019}"), ("`", "`"),
        ]
        where header.allSatisfy({ $0.count > 2 && $0.hasPrefix(opening) && $0.hasSuffix(closing) }) {
            return (
                "the names of the columns are in quotes that CSV does not have: \(TargetRedaction.cell(first, maximumBytes: 60))",
                "Export the file with straight double quotes (\") around cells, or with none."
            )
        }
        return nil
    }

    /// A title or notes above the names of the columns, which one of the next lines has, without a
    /// target.
    /// - Parameters:
    ///   - below: the text below the header, as far as it is in memory.
    ///   - firstLine: the number of its first line.
    func title(above below: UnsafeBufferPointer<UInt8>, firstLine: Int) -> Diagnostic? {
        let known = Set(
            ExportColumns.Standard.allCases.flatMap { ExportColumns().candidates(for: $0) } + [targets.column])
        guard !header.contains(where: { known.contains($0.lowercased()) }) else { return nil }
        var rest = below.prefix(HeaderLine.mostBytes)
        for number in firstLine..<firstLine + Self.mostTitleLines {
            guard let end = rest.firstIndex(where: { $0 == Self.lineFeed }) else { return nil }
            let text = UnsafeBufferPointer(rebasing: rest[..<end])
            let separator = HeaderLine(UnsafeBufferPointer(rebasing: rest[...end]), expecting: separator).separator
            let names = text.split(separator: separator).map {
                String(decoding: $0.filter { $0 != Self.quote && $0 != Self.carriageReturn }, as: UTF8.self)
                    .lowercased()
            }
            if names.count > 1, names.contains(where: known.contains),
                !names.contains(where: { TargetRedaction.certain($0) != nil })
            {
                return Diagnostic(
                    "the first line is not the names of the columns: line \(number) seems to have them", at: position,
                    remedy:
                        "Remove \(number == 2 ? "the line" : "the lines") above it: the first line must name the columns."
                )
            }
            rest = rest[(end + 1)...]
        }
        return nil
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
