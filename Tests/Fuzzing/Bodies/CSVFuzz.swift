import Base
import TestSupport

@testable import Audience

/// CSV and TSV: every way to scan gives the same result, and reads what the slow reader reads.
func fuzzCSV(_ bytes: [UInt8]) throws(FuzzFinding) {
    guard let input = ScanInput(bytes) else { return }
    let separator = UInt8(ascii: input.usesSecondFormat ? "\t" : ",")
    let file = ScratchFile(input.content, suffix: input.usesSecondFormat ? ".tsv" : ".csv")
    let outcome = try scanEveryWay(input, file.path)
    let marks: [[UInt8]] = [
        [0xFF, 0xFE], [0xFE, 0xFF], [0x1F, 0x8B], Array("PK\u{3}\u{4}".utf8),
        [0xD0, 0xCF, 0x11, 0xE0, 0xA1, 0xB1, 0x1A, 0xE1],
    ]
    let isForeign = TextEncoding.foreign(input.content) != nil
    guard !isForeign, !marks.contains(where: { input.content.starts(with: $0) }) else {
        return try require(outcome.result == nil, "no UTF-8, and read")
    }
    let text = Array(input.content.dropFirst(TextEncoding.markBytes(input.content.prefix(12))))
    // Other separators of the header's names are found by a separate rule, which has its own tests.
    let head = text.drop { $0 == 0x0A || $0 == 0x0D }.prefix { $0 != 0x0A && $0 != 0x0D }
    let isQuoted = head.contains(UInt8(ascii: "\""))
    if isQuoted || !head.contains(separator), isQuoted || head.contains(where: ",;\t|".utf8.contains) { return }
    let reference = ReferenceCSV.read(text, separator: separator)
    // So are the names of columns below a title, and forms other than CSV.
    let below = text.drop { $0 == 0x0A || $0 == 0x0D }.dropFirst(head.count).drop { $0 == 0x0A || $0 == 0x0D }.prefix {
        $0 != 0x0A
    }
    if let header = reference.rows.first?.cells, HeaderCheck.foreignForm(header, next: below) != nil { return }
    let named = Set(ExportColumns.Standard.allCases.flatMap { ExportColumns().candidates(for: $0) })
    let hasNames = reference.rows.prefix(6).map { $0.cells?.contains { named.contains($0.lowercased()) } ?? true }
    if hasNames.first == false, hasNames.contains(true) { return }
    guard reference.rows.first?.cells != nil else { return try require(outcome.result == nil, "no header, and read") }
    guard !reference.isRefused else {
        return try require(outcome.result == nil, "zero bytes or a second header, and read")
    }
    let rows = Array(reference.rows.dropFirst())
    let bad = rows.filter { $0.cells == nil }
    try requireRows(outcome, rows: rows.count - bad.count, badRows: bad.map { ($0.line, $0.lines) })
    for chunkSize in input.chunkSizes {
        let cells = try cells(of: file.path, separator, chunkSize)
        try require(cells == rows.map(\.cells), "chunks of \(chunkSize) bytes: \(cells) instead of \(rows)")
    }
}

/// The cells of all rows as the reader returns them; nil for unreadable rows.
private func cells(of path: String, _ separator: UInt8, _ chunkSize: Int) throws(FuzzFinding) -> [[String]?] {
    do throws(Diagnostic) {
        var reader = try DelimitedReader.open(
            path: path, isGzip: false, separator: separator, limits: ReadingLimits(chunkSize: chunkSize))
        reader.use(columns: Array(reader.header.indices))
        var rows: [[String]?] = []
        while true {
            switch try reader.next() {
            case .row: rows.append(reader.header.indices.map { reader.row.text($0, separator: []) })
            case .badRow: rows.append(nil)
            case .needsMore: try reader.refill()
            case .end: return rows
            }
        }
    } catch { throw FuzzFinding(description: "the reader refuses: \(error)") }
}
