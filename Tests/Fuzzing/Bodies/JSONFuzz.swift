import Base

@testable import Audience

/// JSON Lines and JSON arrays: every way to scan gives the same result, and finds the same rows as
/// a plain JSON reader finds objects.
func fuzzJSON(_ bytes: [UInt8]) throws(FuzzFinding) {
    guard let input = ScanInput(bytes) else { return }
    let file = ScratchFile(input.content, suffix: input.usesSecondFormat ? ".json" : ".jsonl")
    let outcome = try scanEveryWay(input, file.path)
    guard let reference = ReferenceJSON(input, file.path) else { return }
    let text = Array(input.content.dropFirst(TextEncoding.markBytes(input.content.prefix(12))))
    if !input.usesSecondFormat {
        guard !zip(text, text.dropFirst()).contains(where: { $0 == 0 && $1 == 0 }) else {
            return try require(outcome.result == nil, "zero bytes, and read")
        }
        guard let (rows, badLines) = reference.lines(text) else { return }
        return try requireRows(outcome, rows: rows - badLines.count, badRows: badLines.map { ($0, 1) })
    }
    guard let result = outcome.result, !ReferenceJSON.holdsHugeNumber(text) else { return }
    guard let elements = ReferenceJSON.elements(text) else {
        return try require(result.skipped[.badRow] ?? 0 > 0, "no JSON, and read without complaint")
    }
    let bad = elements.count { !reference.isRow($0) }
    try require(result.rows == elements.count, "\(result.rows) rows instead of \(elements.count)")
    try require(result.skipped[.badRow] ?? 0 == bad, "\(result.badRows) instead of \(bad) unreadable rows")
}
