import Base
import Glibc

/// How much is read at once, and how long a record may be.
struct ReadingLimits: Sendable {
    /// Bytes of a chunk; tests make it tiny, so that every record straddles a boundary.
    var chunkSize = 256 << 10
    /// Bytes of the longest record. Beyond it a quote is unclosed far more often than a cell is that long.
    var maximumRecordSize = 16 << 20
}

/// The part of a file that is in memory: whole records from `start` on, and a last one that may be cut off at `end`.
///
/// It grows only for a record that is longer than a chunk. A line feed always stands at `end`, where a search may run to without
/// looking at bounds, and a few bytes beyond can be read, so that words can be loaded.
struct RecordBuffer: ~Copyable {
    /// Read only below `end` + 8.
    private(set) var base: UnsafeMutablePointer<UInt8>
    /// The first byte that is not consumed yet.
    var start = 0
    /// One past the last byte that was read.
    private(set) var end = 0
    /// Whether nothing follows `end`.
    private(set) var isAtEnd = false
    /// Everything before this offset is UTF-8 without NUL; records beyond must be looked at on their own.
    private(set) var cleanEnd = 0
    private var capacity: Int
    private let limits: ReadingLimits
    private var source: ByteSource

    private static let slack = 16

    /// Reads the first chunk, refuses what is no UTF-8 text at all, and skips a byte order mark.
    static func open(path: String, isGzip: Bool, limits: ReadingLimits) throws(Diagnostic) -> RecordBuffer {
        var buffer = RecordBuffer(source: try ByteSource(path: path, isGzip: isGzip), limits: limits)
        repeat { try buffer.refill() } while buffer.end < 4 && !buffer.isAtEnd
        try buffer.checkEncoding()
        return buffer
    }

    private init(source: consuming ByteSource, limits: ReadingLimits) {
        self.source = source
        self.limits = limits
        capacity = max(limits.chunkSize, 1)
        base = .allocate(capacity: capacity + Self.slack)
    }

    deinit { base.deallocate() }

    /// The path as the caller named it.
    var file: String { source.file }
    /// Bytes taken from the disk.
    var bytesRead: Int { source.bytesRead }

    /// Drops what is consumed and reads on, growing when a single record fills everything.
    mutating func refill() throws(Diagnostic) {
        let kept = end - start
        if kept == capacity {
            try grow()
        } else if start > 0 {
            memmove(base, base + start, kept)
        }
        start = 0
        let count = try source.read(into: UnsafeMutableBufferPointer(start: base + kept, count: capacity - kept))
        isAtEnd = count < capacity - kept
        end = kept + count
        for offset in end..<end + Self.slack { base[offset] = UInt8(ascii: "\n") }
        findCleanEnd()
    }

    private mutating func grow() throws(Diagnostic) {
        guard capacity < limits.maximumRecordSize else {
            throw Diagnostic(
                "a record is longer than \(limits.maximumRecordSize >> 20) MiB", file: file,
                remedy: "A quote that is never closed does this; check the export.")
        }
        capacity = min(capacity * 2, max(limits.maximumRecordSize, 1))
        let larger = UnsafeMutablePointer<UInt8>.allocate(capacity: capacity + Self.slack)
        larger.update(from: base, count: end)
        base.deallocate()
        base = larger
    }

    /// Looking at a whole chunk at once is far cheaper than looking at each record.
    private mutating func findCleanEnd() {
        cleanEnd = end
        if let place = memchr(base, 0, end) { cleanEnd = UnsafeRawPointer(place) - UnsafeRawPointer(base) }
        if let offset = firstInvalidUTF8(UnsafeBufferPointer(start: base, count: cleanEnd)) { cleanEnd = offset }
    }

    /// Why a record cannot be used as text, or nil.
    func flaw(from start: Int, to end: Int) -> String? {
        guard end > cleanEnd else { return nil }
        let record = UnsafeBufferPointer(start: base + start, count: end - start)
        if record.contains(0) { return "the row contains a NUL byte" }
        return firstInvalidUTF8(record) == nil ? nil : "the row is not UTF-8"
    }

    private mutating func checkEncoding() throws(Diagnostic) {
        let bytes = (base[0], base[1], end > 1)
        switch bytes {
        case (0xFF, 0xFE, true), (0xFE, 0xFF, true):
            throw Diagnostic("the file is encoded as UTF-16", file: file, remedy: "Save or export it as UTF-8.")
        case (0x1F, 0x8B, true):
            throw Diagnostic("the file is compressed, but its name does not say so", file: file, remedy: "Rename it to \(file).gz.")
        case (UInt8(ascii: "P"), UInt8(ascii: "K"), true) where end > 3 && base[2] == 3 && base[3] == 4:
            throw Diagnostic("this is a zip archive or a spreadsheet", file: file, remedy: "Export it as CSV, UTF-8.")
        case (0xEF, 0xBB, true) where end > 2 && base[2] == 0xBF: start = 3
        default: break
        }
        if end == 0 { throw Diagnostic("the file is empty", file: file, remedy: "Was the export finished?") }
    }
}
