import Base
import Glibc

/// The part of a file that is in memory: whole records from `start` on, and a last one that may be
/// cut off at `end`.
///
/// It either reads its file itself, chunk by chunk, and grows only for a record that is longer than
/// a chunk; or it looks at a block that another reader has read. There is always a line feed at
/// `end`, so a search may run that far without bounds checks, and `slack` bytes from there on can
/// be read, so that words and vectors can be loaded.
struct RecordBuffer: ~Copyable {
    /// Read only below `end` + `slack`.
    private(set) var base: UnsafeMutablePointer<UInt8>
    /// The first byte that is not consumed yet.
    var start = 0
    /// One past the last byte that was read.
    private(set) var end = 0
    /// Whether nothing follows `end`.
    private(set) var isAtEnd = false
    /// Everything before this offset is UTF-8 without NUL; records beyond must be looked at on
    /// their own.
    private(set) var cleanEnd = 0
    /// Where two zero bytes in a row begin, the first in memory; `Int.max` without any. A record
    /// that holds them is invalid.
    private(set) var zeroBytes = Int.max
    /// The path as the caller named it.
    let file: String
    private var capacity: Int
    let limits: ReadingLimits
    /// nil when it looks at blocks.
    private var source: ByteSource?
    private let ownsMemory: Bool

    /// Bytes that can be read from `end` on, all of them line feeds.
    static let slack = 128

    /// Reads the first chunk, refuses files that are not UTF-8 text at all, and skips a byte order
    /// mark.
    static func open(path: String, isGzip: Bool, limits: ReadingLimits) throws(Diagnostic) -> RecordBuffer {
        var buffer = RecordBuffer(
            file: path, source: try ByteSource(path: path, isGzip: isGzip, noting: limits.sources), limits: limits)
        repeat { try buffer.refill() } while buffer.end < FileEncoding.markSize && !buffer.isAtEnd
        do throws(Diagnostic) {
            buffer.start = try FileEncoding.check(
                UnsafeBufferPointer(start: buffer.base, count: buffer.end), file: path)
        } catch {
            // Swift 6.3.1 forgets to destroy it when the call throws across it.
            _ = consume buffer
            throw error
        }
        return buffer
    }

    /// Looks at a block of a file.
    static func ofBlock(_ block: BlockBytes, file: String) -> RecordBuffer {
        var buffer = RecordBuffer(file: file, block: block)
        buffer.load(block)
        return buffer
    }

    private init(file: String, source: consuming ByteSource, limits: ReadingLimits) {
        self.file = file
        self.source = consume source
        self.limits = limits
        ownsMemory = true
        capacity = max(limits.chunkSize, 1)
        base = .allocate(capacity: capacity + Self.slack)
    }

    private init(file: String, block: BlockBytes) {
        self.file = file
        limits = ReadingLimits()
        ownsMemory = false
        capacity = block.count
        base = block.start
    }

    deinit { if ownsMemory { base.deallocate() } }

    /// Looks at a block, which must stay where it is and be followed by `slack` line feeds.
    private mutating func load(_ block: BlockBytes) {
        (base, start, end, isAtEnd) = (block.start, 0, block.count, block.isLast)
        lookAtBytes()
    }

    /// Checking a whole chunk at once is far cheaper than checking each record.
    private mutating func lookAtBytes() {
        let bytes = UnsafeBufferPointer(start: base, count: end)
        cleanEnd = cleanPrefix(bytes)
        zeroBytes = cleanEnd == end ? .max : firstZeroPair(bytes, from: cleanEnd) ?? .max
    }

    /// Drops consumed bytes and reads on; grows when a single record fills the buffer.
    mutating func refill() throws(Diagnostic) {
        precondition(ownsMemory, "a block is all that there is")
        let kept = end - start
        if kept == capacity {
            try grow()
        } else if start > 0 {
            memmove(base, base + start, kept)
        }
        start = 0
        let count = try source?.read(into: UnsafeMutableBufferPointer(start: base + kept, count: capacity - kept)) ?? 0
        isAtEnd = count < capacity - kept
        end = kept + count
        memset(base + end, 0x0A, Self.slack)
        lookAtBytes()
    }

    private mutating func grow() throws(Diagnostic) {
        guard capacity < limits.maximumRecordSize else { throw Self.tooLong(limits.maximumRecordSize, file: file) }
        capacity = min(capacity * 2, max(limits.maximumRecordSize, 1))
        let larger = UnsafeMutablePointer<UInt8>.allocate(capacity: capacity + Self.slack)
        larger.update(from: base, count: end)
        base.deallocate()
        base = larger
    }

    /// A record longer than the limit.
    static func tooLong(_ limit: Int, file: String) -> Diagnostic {
        Diagnostic(
            "a record is longer than \(limit >> 20) MiB", file: file,
            remedy: "A quote that is never closed causes this. Check the export.")
    }

    /// The mistake of zero bytes: a file system returns them for data that was not on the disk when
    /// the power failed. A single one is a bad character of its row.
    func holdsZeroBytes(line: Int) -> Diagnostic {
        Diagnostic(
            "the file contains zero bytes, like one that was not completely written",
            at: SourcePosition(file: file, line: line, column: 1),
            remedy: "Export it again.")
    }

    /// Why a record cannot be used as text, or nil.
    func flaw(from start: Int, to end: Int) -> RecordFlaw? {
        guard end > cleanEnd else { return nil }
        let record = UnsafeBufferPointer(start: base + start, count: end - start)
        if record.contains(0) { return .holdsNUL }
        return firstInvalidUTF8(record) == nil ? nil : .notUTF8
    }
}

/// Why a record cannot be used as text.
enum RecordFlaw {
    case holdsNUL, notUTF8

    /// For a message: `the row is not UTF-8`.
    func text(of noun: String = "row") -> String {
        switch self {
        case .holdsNUL: "the \(noun) contains a NUL byte"
        case .notUTF8: "the \(noun) is not UTF-8"
        }
    }
}

/// Whole records of a file, and perhaps the beginning of the next one.
struct BlockBytes {
    /// `RecordBuffer.slack` line feeds follow the last byte.
    var start: UnsafeMutablePointer<UInt8>
    var count: Int
    /// Whether the file ends with it.
    var isLast: Bool
}
