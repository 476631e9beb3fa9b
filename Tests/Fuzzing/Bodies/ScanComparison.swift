import Base

@testable import Audience

/// Scans a file in one piece and in small ones, on one thread and on three, in memory and on disk,
/// and refuses any difference.
/// - Returns: the common result.
func scanEveryWay(_ input: ScanInput, _ path: String) throws(FuzzFinding) -> ScanOutcome {
    let whole = try ScanOutcome(input, path, ReadingLimits(chunkSize: 16 << 10, threads: 1))
    for chunkSize in input.chunkSizes {
        let alone = try ScanOutcome(input, path, ReadingLimits(chunkSize: chunkSize, threads: 1))
        try whole.requireEqual(alone, comparesWarnings: false, "chunks of \(chunkSize) bytes")
        let together = try ScanOutcome(input, path, ReadingLimits(chunkSize: chunkSize, threads: 3))
        try alone.requireEqual(together, comparesWarnings: true, "chunks of \(chunkSize) bytes, three threads")
        let onDisk = try ScanOutcome(input, path, ReadingLimits(chunkSize: chunkSize, threads: 1, deviceMemory: 100))
        try alone.requireEqual(onDisk, comparesWarnings: true, "chunks of \(chunkSize) bytes, devices on disk")
    }
    return whole
}

/// Refuses a result that differs from what a slow reader says about the same export.
/// - Parameters:
///   - rows: how many rows can be read.
///   - badRows: where the others begin, and how many lines each has.
func requireRows(_ outcome: ScanOutcome, rows: Int, badRows: [(line: Int, lines: Int)]) throws(FuzzFinding) {
    guard let result = outcome.result else { return }
    let expected = badRows.reduce(0) { $0 + $1.lines }
    try require(result.rows == rows + expected, "\(result.rows) rows instead of \(rows) + \(expected)")
    let bad = result.skipped[.badRow] ?? 0
    try require(bad == expected, "\(bad) unreadable rows instead of \(expected): \(result.badRows), not \(badRows)")
    let lines = result.badRows.map { $0.position?.line ?? 0 }
    try require(lines == badRows.prefix(10).map(\.line), "unreadable rows at lines \(lines) instead of \(badRows)")
}
