import Base
import Glibc
import Synchronization

/// Reads the files of a scan one after the other, and cuts them into blocks. One thread at a time.
struct BlockSource: ~Copyable {
    private let files: [ExportFile]
    private let sources: SourceFiles
    private var file = 0
    private var number = 0
    private var bytes: FileBytes?
    /// What follows the last block's end and was read with it.
    private var carried: [UInt8] = []
    private var bytesOfFormerFiles = 0

    /// - Parameter sources: records which files are read.
    init(files: [ExportFile], noting sources: SourceFiles) { (self.files, self.sources) = (files, sources) }

    /// The fewest bytes that a block has room for.
    static func blockCapacity(_ limits: ReadingLimits) -> Int { max(limits.chunkSize, FileEncoding.markSize) }

    /// Fills the next block.
    /// - Returns: false after the last block.
    /// - Throws: a file cannot be read. Do not call it again then.
    mutating func next(into block: Block) throws(Diagnostic) -> Bool {
        guard file < files.count else { return false }
        block.begin(number: number, file: file, isFirst: bytes == nil)
        number += 1
        if bytes == nil {
            bytes = try FileBytes(path: files[file].path, isGzip: files[file].format.isGzip, noting: sources)
        }
        carried.withUnsafeBufferPointer { block.append($0) }
        let wanted = block.room.count
        let count = try bytes?.read(into: block.room) ?? 0
        block.filled(count)
        if block.isFirst { block.skip(try FileEncoding.check(block.text, file: files[file].path)) }
        end(block, isLast: count < wanted)
        return true
    }

    private mutating func end(_ block: Block, isLast: Bool) {
        let text = block.text
        let count = isLast ? text.count : files[file].cutter.cut(text)
        carried.removeAll(keepingCapacity: true)
        carried.append(contentsOf: text[count...])
        block.end(after: count, isLast: isLast, bytesRead: bytesOfFormerFiles + (bytes?.bytesRead ?? 0))
        guard isLast else { return }
        bytesOfFormerFiles += bytes?.size ?? 0
        bytes = nil
        file += 1
    }
}

/// What the first bytes of a file show.
enum FileEncoding {
    /// Bytes to look at, so that all readers of a file see the same.
    static let markSize = max(LeanCloudExport.bsonMarkSize, 4 * TextEncoding.mark.count)

    /// Refuses files that are not UTF-8 text at all.
    /// - Returns: where the text begins: after the byte order marks.
    static func check(_ bytes: UnsafeBufferPointer<UInt8>, file: String) throws(Diagnostic) -> Int {
        if bytes.isEmpty {
            throw Diagnostic("the file is empty", file: file, remedy: "Check whether the export finished.")
        }
        let bytes = UnsafeBufferPointer(rebasing: bytes.prefix(markSize))
        if LeanCloudExport.isBSON(bytes) { throw LeanCloudExport.bson(file) }
        // A workbook of Excel before 2007 (.xls) is a compound file. Source: [MS-CFB], 2.2.
        if bytes.starts(with: [0xD0, 0xCF, 0x11, 0xE0, 0xA1, 0xB1, 0x1A, 0xE1]) {
            throw Diagnostic(
                "this is a spreadsheet (.xls)", file: file, remedy: "Save it as 'CSV UTF-8' in the spreadsheet program."
            )
        }
        if let other = TextEncoding.foreign(bytes) {
            throw Diagnostic(
                "the file is encoded as \(other)", file: file,
                remedy: "Save or export it as UTF-8; spreadsheet programs call that 'CSV UTF-8'.")
        }
        if bytes.starts(with: [0x1F, 0x8B]) {
            throw Diagnostic(
                "the file is compressed, but its name does not say so", file: file, remedy: "Rename it to \(file).gz.")
        }
        if bytes.starts(with: [UInt8(ascii: "P"), UInt8(ascii: "K"), 3, 4]) {
            throw Diagnostic("this is a zip archive or a spreadsheet", file: file, remedy: "Export it as CSV, UTF-8.")
        }
        return TextEncoding.markBytes(bytes)
    }
}

/// A file's bytes, inflated on a separate thread when it is gzip.
struct FileBytes: ~Copyable {
    private var plain: ByteSource?
    private var plainBytesRead = 0
    private let inflated: InflatingThread?
    /// Bytes on disk.
    let size: Int

    init(path: String, isGzip: Bool, noting sources: SourceFiles) throws(Diagnostic) {
        let source = try ByteSource(path: path, isGzip: isGzip, noting: sources)
        let size = source.size
        if isGzip {
            self.init(inflated: try InflatingThread(consume source), plain: nil, size: size)
        } else {
            self.init(inflated: nil, plain: consume source, size: size)
        }
    }

    private init(inflated: InflatingThread?, plain: consuming ByteSource?, size: Int) {
        self.inflated = inflated
        self.size = size
        self.plain = consume plain
    }

    var bytesRead: Int { inflated?.bytesRead ?? plainBytesRead }

    /// Fills `target`; returns fewer bytes than asked for only at the end of the file.
    mutating func read(into target: UnsafeMutableBufferPointer<UInt8>) throws(Diagnostic) -> Int {
        if let inflated { return try inflated.read(into: target) }
        let count = try plain?.read(into: target) ?? 0
        plainBytesRead += count
        return count
    }
}

/// A part of an export in memory, which usually begins and ends with whole records.
///
/// `@unchecked Sendable`: one thread has it at a time; it passes from thread to thread under the
/// lock of `BlockDispatcher`.
final class Block: @unchecked Sendable {
    /// Blocks of a scan count from 0, whatever their file.
    private(set) var number = 0
    /// Which of the query's files it is a part of.
    private(set) var file = 0
    private(set) var isFirst = false
    /// Bytes of all files that were taken from the disk when it was read.
    private(set) var bytesRead = 0
    private(set) var count = 0
    private(set) var isLast = false
    private let memory: UnsafeMutablePointer<UInt8>
    private let capacity: Int
    /// Bytes in front that are not text: a byte order mark.
    private var skipped = 0

    init(capacity: Int) {
        self.capacity = capacity
        memory = .allocate(capacity: capacity + RecordBuffer.slack)
    }

    deinit { memory.deallocate() }

    var bytes: BlockBytes { BlockBytes(start: memory + skipped, count: count - skipped, isLast: isLast) }
    var text: UnsafeBufferPointer<UInt8> { UnsafeBufferPointer(start: memory + skipped, count: count - skipped) }
    /// Free space after its content.
    var room: UnsafeMutableBufferPointer<UInt8> {
        UnsafeMutableBufferPointer(start: memory + count, count: capacity - count)
    }

    func begin(number: Int, file: Int, isFirst: Bool) {
        self.number = number
        self.file = file
        self.isFirst = isFirst
        (count, skipped, isLast) = (0, 0, false)
    }

    func skip(_ bytes: Int) { skipped = bytes }

    func append(_ bytes: UnsafeBufferPointer<UInt8>) {
        precondition(count + bytes.count <= capacity, "a block cannot hold more than it has room for")
        if let start = bytes.baseAddress { (memory + count).update(from: start, count: bytes.count) }
        count += bytes.count
    }

    /// Bytes were put into `room`.
    func filled(_ bytes: Int) { count += bytes }

    /// Ends it after this many bytes of its text.
    func end(after bytes: Int, isLast: Bool, bytesRead: Int) {
        count = bytes + skipped
        self.isLast = isLast
        self.bytesRead = bytesRead
        memset(memory + count, 0x0A, RecordBuffer.slack)
    }
}

/// Inflates a gzip file ahead of its reader: inflating takes longer than anything else done with an
/// export.
///
/// `@unchecked Sendable`: `rest` belongs to the one thread that reads; the inflating thread shares
/// only a queue and an atomic.
final class InflatingThread: @unchecked Sendable {
    private enum Piece: Sendable {
        case bytes([UInt8])
        case failure(Diagnostic)
    }

    private static let pieceSize = 256 << 10
    private static let piecesAhead = 4

    private let pieces = BoundedQueue<Piece>(capacity: piecesAhead)
    private let compressedBytes: Shared
    private let thread: WorkerThread<Void>
    private var rest: ArraySlice<UInt8> = []

    private final class Shared: Sendable {
        let bytesRead = Atomic(0)
    }

    /// The thread takes over the source.
    private final class SourceTransfer: @unchecked Sendable {
        var source: ByteSource?
        init(_ source: consuming ByteSource) { self.source = consume source }
    }

    /// - Throws: a `Diagnostic` when no thread can be started.
    init(_ source: consuming ByteSource) throws(Diagnostic) {
        let shared = Shared(), handover = SourceTransfer(consume source), pieces = pieces
        compressedBytes = shared
        thread = try WorkerThread("inflate") { Self.inflate(handover, into: pieces, shared) }
    }

    deinit {
        pieces.close()
        thread.join()
    }

    /// Bytes read from the disk so far.
    var bytesRead: Int { compressedBytes.bytesRead.load(ordering: .relaxed) }

    /// Fills `target`; returns fewer bytes than asked for only at the end of the file.
    func read(into target: UnsafeMutableBufferPointer<UInt8>) throws(Diagnostic) -> Int {
        var filled = 0
        while filled < target.count {
            if rest.isEmpty {
                switch pieces.take() {
                case .bytes(let bytes): rest = bytes[...]
                case .failure(let mistake): throw mistake
                case nil: return filled
                }
            }
            let count = min(rest.count, target.count - filled)
            let room = UnsafeMutableBufferPointer(rebasing: target[filled..<filled + count])
            _ = room.update(fromContentsOf: rest.prefix(count))
            rest = rest.dropFirst(count)
            filled += count
        }
        return filled
    }

    private static func inflate(_ handover: SourceTransfer, into pieces: BoundedQueue<Piece>, _ shared: Shared) {
        guard var source = handover.source.take() else { return }
        var isOpen = true
        while isOpen {
            do throws(Diagnostic) {
                let bytes = try piece(of: &source)
                shared.bytesRead.store(source.bytesRead, ordering: .relaxed)
                isOpen = !bytes.isEmpty && pieces.put(.bytes(bytes))
            } catch {
                pieces.put(.failure(error))
                isOpen = false
            }
        }
        pieces.close()
    }

    /// Empty at the end of the file.
    private static func piece(of source: inout ByteSource) throws(Diagnostic) -> [UInt8] {
        var mistake: Diagnostic?
        let bytes = [UInt8](unsafeUninitializedCapacity: pieceSize) { buffer, count in
            do throws(Diagnostic) { count = try source.read(into: buffer) } catch { mistake = error }
        }
        if let mistake { throw mistake }
        return bytes
    }
}
