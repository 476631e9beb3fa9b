public import Base
import Glibc

/// What takes the recipients of a scan. Slots count from 0 in the order in which tokens are first selected.
public protocol RecipientSink {
    /// Takes the recipient of a slot: a new slot (always the next one), or again the same device from a newer row, which replaces it.
    /// - Returns: why it cannot be sent to (renderError, payloadTooLarge, suppressed, holdout), or nil.
    mutating func put(_ recipient: Recipient, at slot: Int) throws -> SkipReason?
    /// Called once at the end: these slots, ascending, did not become recipients (those for which `put` named a reason, and those beyond an
    /// alias limit); the rest did. Not called when the scan throws.
    mutating func finish(slots: Int, dropping dropped: [Int]) throws
}

/// What a scan found.
public struct AudienceResult: Sendable {
    /// Rows read, broken ones included, headers not. Equals `audience` plus the sum of `skipped`.
    public var rows: Int
    /// Recipients.
    public var audience: Int
    /// Rows that did not become recipients, by reason; reasons without rows are absent.
    public var skipped: [SkipReason: Int]
    /// Recipients by selector (`tag:NAME`, `alias`, `registration_id`, `everyone`), each under every selector that names it, in the query's order.
    public var selectedBy: [(selector: String, recipients: Int)]
    /// Recipients by language, blank ones under "".
    public var languages: [String: Int]
    /// The first ten rows that could not be read, with file and line.
    public var badRows: [Diagnostic]
    /// Things worth saying: unknown selectors, columns that are there twice, …
    public var warnings: [Diagnostic]
    /// The names of the selectors that name a device, for the first `namedSlots` slots: what a preview shows of its samples.
    public var selectorsOfFirstSlots: [[String]]

    /// For how many slots `selectorsOfFirstSlots` knows the selectors.
    public static let namedSlots = 1000
}

/// How far a scan is. Called about ten times a second from the scanning thread.
public struct ScanProgress: Sendable {
    /// Bytes read of the files as they lie on disk, and their sum.
    public var bytesRead: Int, bytesTotal: Int
    /// Rows read and recipients found so far.
    public var rows: Int, recipients: Int
}

extension AudienceQuery {
    /// Reads the exports once, streaming, and hands every selected device to `sink`.
    ///
    /// A row that replaces an older one of its device is handed over at the same slot; what `put` says of the newest row counts. Other rows of
    /// the device are `duplicateToken`. Memory: about 45 bytes a selected device, whatever the size of the exports.
    /// - Parameters:
    ///   - progress: called about ten times a second, and once at the end.
    ///   - isCancelled: asked about ten times a second; true ends the scan with `CancellationError`.
    /// - Throws: `Diagnostics` for a file that cannot be read or lacks a column, for too many bad rows; whatever the sink throws.
    public func scan(
        into sink: inout some RecipientSink, progress: (ScanProgress) -> Void = { _ in }, isCancelled: () -> Bool = { false }
    ) throws -> AudienceResult {
        try scan(into: &sink, limits: ReadingLimits(), progress: progress, isCancelled: isCancelled)
    }

    /// The same with limits that tests make small.
    func scan(
        into sink: inout some RecipientSink, limits: ReadingLimits, progress: (ScanProgress) -> Void = { _ in },
        isCancelled: () -> Bool = { false }
    ) throws -> AudienceResult {
        if files.isEmpty {
            throw Diagnostics(Diagnostic("no export is named", remedy: "Name one: `audience: {devices: exports/devices.csv}`."))
        }
        var scanner = try AudienceScanner(self, limits: limits)
        try scanner.checkColumns()
        var meter = ScanMeter(files: files)
        for file in files {
            try scanner.scan(file: file) { recipient, slot in
                try sink.put(recipient, at: slot)
            } tick: { scanner, bytes in
                try meter.tick(scanner, bytes, progress, isCancelled)
            }
            meter.finish(file: file)
        }
        let (result, dropped) = try scanner.finish()
        try sink.finish(slots: scanner.devices.count, dropping: dropped)
        progress(meter.now(scanner, 0))
        return result
    }
}

/// Says ten times a second how far a scan is.
private struct ScanMeter {
    private let sizes: [String: Int]
    private let total: Int
    private var finishedBytes = 0
    /// nil before the first call, which comes with the first chunk.
    private var lastCall: ContinuousClock.Instant?

    init(files: [String]) {
        sizes = Dictionary(files.map { ($0, fileSize($0)) }, uniquingKeysWith: { first, _ in first })
        total = files.reduce(0) { [sizes] in $0 + (sizes[$1] ?? 0) }
    }

    mutating func finish(file: String) { finishedBytes += sizes[file] ?? 0 }

    mutating func tick(
        _ scanner: borrowing AudienceScanner, _ bytes: Int, _ progress: (ScanProgress) -> Void, _ isCancelled: () -> Bool
    ) throws {
        let now = ContinuousClock.now
        if let lastCall, now - lastCall < .milliseconds(100) { return }
        lastCall = now
        if isCancelled() { throw CancellationError() }
        progress(self.now(scanner, bytes))
    }

    func now(_ scanner: borrowing AudienceScanner, _ bytes: Int) -> ScanProgress {
        ScanProgress(
            bytesRead: min(finishedBytes + bytes, total), bytesTotal: total, rows: scanner.rows, recipients: scanner.devices.count)
    }
}

private func fileSize(_ path: String) -> Int {
    var status = stat()
    return stat(path, &status) == 0 ? Int(status.st_size) : 0
}
