import Base
import CSIMD
import Glibc
import PushServices

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

/// The number of bytes before the first NUL and the first byte that does not belong to well-formed
/// UTF-8.
///
/// Exports are mostly ASCII with a few other names: of 64 bytes at once, only those that are not
/// ASCII are examined, which is several times faster than the standard library's check on such
/// text.
func cleanPrefix(_ bytes: UnsafeBufferPointer<UInt8>) -> Int {
    let raw = UnsafeRawBufferPointer(bytes)
    guard let base = raw.baseAddress else { return 0 }
    // Everything before this place is clean; it may be within the block, or after it because of a
    // sequence that straddles its end.
    var (block, place) = (0, 0)
    while block + 64 <= raw.count {
        var unusual = volley_unusual(base + block)
        if place > block { unusual &= ~0 &<< UInt64(truncatingIfNeeded: place - block) }
        while unusual != 0 {
            place = block + unusual.trailingZeroBitCount
            let length = raw[place] == 0 ? 0 : wellFormedLength(raw, at: place)
            if length == 0 { return place }
            place += length
            if place >= block + 64 { break }
            unusual &= ~0 &<< UInt64(truncatingIfNeeded: place - block)
        }
        block += 64
    }
    place = max(place, block)
    while place < raw.count {
        let length = raw[place] == 0 ? 0 : raw[place] < 0x80 ? 1 : wellFormedLength(raw, at: place)
        if length == 0 { return place }
        place += length
    }
    return place
}

/// The offset of the first two NUL bytes in a row from a place on.
func firstZeroPair(_ bytes: UnsafeBufferPointer<UInt8>, from start: Int) -> Int? {
    guard let base = bytes.baseAddress else { return nil }
    var place = start
    while place < bytes.count, let found = memchr(base + place, 0, bytes.count - place) {
        let zero = UnsafeRawPointer(found) - UnsafeRawPointer(base)
        if zero + 1 < bytes.count, base[zero + 1] == 0 { return zero }
        place = zero + 1
    }
    return nil
}

/// The offset of the first byte that does not belong to well-formed UTF-8.
func firstInvalidUTF8(_ bytes: UnsafeBufferPointer<UInt8>) -> Int? {
    let raw = UnsafeRawBufferPointer(bytes)
    var place = 0
    while place < raw.count {
        let length = raw[place] < 0x80 ? 1 : wellFormedLength(raw, at: place)
        if length == 0 { return place }
        place += length
    }
    return nil
}

/// The length of the multi-byte sequence at a place; 0 when it is not well-formed. Source: The
/// Unicode Standard, table 3-7.
@inline(__always) private func wellFormedLength(_ bytes: UnsafeRawBufferPointer, at place: Int) -> Int {
    let lead = bytes[place]
    if place + 4 <= bytes.count {
        // Nearly all are of two bytes, or of three that begin like Han, Kana or Hangul.
        let four = UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: place, as: UInt32.self))
        if four & 0xC0_C0F0 == 0x80_80E0, lead != 0xE0, lead != 0xED { return 3 }
        if four & 0xC0E0 == 0x80C0, lead >= 0xC2 { return 2 }
    }
    let length = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4
    guard (0xC2...0xF4).contains(lead), place + length <= bytes.count else { return 0 }
    let lowest: UInt8 = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80
    let highest: UInt8 = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF
    guard bytes[place + 1] >= lowest, bytes[place + 1] <= highest else { return 0 }
    for index in 2..<4 where index < length && bytes[place + index] & 0xC0 != 0x80 { return 0 }
    return length
}

/// How much is read at once, how long a record may be, how many threads scan, and how much memory
/// devices may take.
struct ReadingLimits: Sendable {
    /// Bytes of a chunk; tests make it tiny, so that every record straddles a boundary.
    var chunkSize = 256 << 10
    /// Bytes of the longest record, give or take a block. Beyond it, an unclosed quote is far more
    /// likely than a cell of that length.
    var maximumRecordSize = 16 << 20
    /// Threads that scan; nil for one on each core that the process may use.
    var threads: Int?
    /// Bytes that devices may take in memory before they go to disk.
    var deviceMemory = Int.max
    /// What targets look like, by which a header, and a cell of many lines, are told from rows.
    var targets = PushServices.standard.target
    /// Records which files are read, so that each can be checked to be unchanged.
    var sources = SourceFiles()
}
