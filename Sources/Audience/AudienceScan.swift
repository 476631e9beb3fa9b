public import Base

/// What takes the recipients of a scan. Slots count from 0 in the order in which tokens are first selected.
public protocol RecipientSink {
    /// Takes the recipient of a slot: a new slot (always the next one), or again the same device from a newer row, which replaces it.
    /// - Returns: why it cannot be sent to (renderError, payloadTooLarge, suppressed, holdout), or nil.
    mutating func put(_ recipient: Recipient, at slot: Int) throws -> SkipReason?
    /// Called once at the end: these slots, ascending, did not become recipients after all; the rest did.
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
    /// - Parameter isCancelled: asked about ten times a second; true ends the scan with `CancellationError`.
    /// - Throws: `Diagnostics` for a file that cannot be read or lacks a column, for too many bad rows; whatever the sink throws.
    public func scan(
        into sink: inout some RecipientSink, progress: (ScanProgress) -> Void = { _ in }, isCancelled: () -> Bool = { false }
    ) throws -> AudienceResult { fatalError("skeleton") }

    /// The selectors, in the order of the bits of a mask, each with the name it has in `AudienceResult.selectedBy`.
    public var selectorNames: [String] { fatalError("skeleton") }
}
