import Base
import Glibc

/// Bytes that belong to one of many partitions, on disk: a partition is read back in the order in
/// which it was appended. Takes 16 KiB of memory for each partition that holds anything, and 16 KiB
/// while one is read.
struct PartitionedFile: ~Copyable {
    /// Enough that a partition's devices easily fit into memory, few enough that all buffers
    /// together are small.
    static let partitions = 256
    private static let chunkSize = 16 << 10

    private var file = ScratchFile()
    /// What is not on disk yet.
    private var buffers = [UnsafeMutableRawBufferPointer?](repeating: nil, count: partitions)
    private var filled = [Int](repeating: 0, count: partitions)
    /// Where the chunks of a partition begin on disk, each full.
    private var chunks = [[Int]](repeating: [], count: partitions)

    deinit { for buffer in buffers { buffer?.deallocate() } }

    /// The partition of a fingerprint: by bits that `DeviceIndex` does not use, as it must spread
    /// the devices of one partition.
    @inline(__always) static func of(_ fingerprint: TokenFingerprint) -> Int {
        Int(truncatingIfNeeded: fingerprint.word >> 32) & (partitions - 1)
    }

    mutating func append(_ element: some BitwiseCopyable, to partition: Int) throws {
        try withUnsafeBytes(of: element) { try append($0, to: partition) }
    }

    mutating func append(_ bytes: UnsafeRawBufferPointer, to partition: Int) throws {
        let buffer =
            buffers[partition] ?? UnsafeMutableRawBufferPointer.allocate(byteCount: Self.chunkSize, alignment: 16)
        buffers[partition] = buffer
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = min(rest.count, Self.chunkSize - filled[partition])
            let room = UnsafeMutableRawBufferPointer(rebasing: buffer[filled[partition]...])
            room.copyMemory(from: UnsafeRawBufferPointer(rebasing: rest.prefix(count)))
            filled[partition] += count
            rest = rest.dropFirst(count)
            if filled[partition] == Self.chunkSize {
                chunks[partition].append(try file.append(UnsafeRawBufferPointer(buffer)))
                filled[partition] = 0
            }
        }
    }

    /// All that a partition holds. Must not be used once this file is gone or appended to.
    func contents(of partition: Int) -> Contents {
        let rest = buffers[partition].map { UnsafeRawBufferPointer(rebasing: $0[..<filled[partition]]) }
        return Contents(file.reader, chunks[partition][...], rest)
    }

    /// What a partition holds, read from front to back, a chunk at a time.
    struct Contents: ~Copyable {
        private let file: ScratchFile.Reader
        /// Where the chunks that were not read yet begin.
        private var chunks: ArraySlice<Int>
        /// What comes after them; nil once it is being read.
        private var rest: UnsafeRawBufferPointer?
        private let chunk = UnsafeMutableRawBufferPointer.allocate(byteCount: chunkSize, alignment: 16)
        private var place = 0
        private var end = 0

        fileprivate init(_ file: ScratchFile.Reader, _ chunks: ArraySlice<Int>, _ rest: UnsafeRawBufferPointer?) {
            self.file = file
            self.chunks = chunks
            self.rest = rest
        }

        deinit { chunk.deallocate() }

        /// The next element, which must be of the type that was appended; nil at the end.
        @inline(__always) mutating func next<Element: BitwiseCopyable>(_ type: Element.Type) throws -> Element? {
            let size = MemoryLayout<Element>.size
            if place + size <= end {
                defer { place += size }
                return chunk.loadUnaligned(fromByteOffset: place, as: Element.self)
            }
            // It crosses the end of a chunk, or the end is reached.
            let bytes = try next(size)
            return bytes.isEmpty ? nil : bytes.withUnsafeBytes { $0.loadUnaligned(as: Element.self) }
        }

        /// The next bytes; fewer only at the end.
        mutating func next(_ count: Int) throws -> [UInt8] {
            var bytes: [UInt8] = []
            while bytes.count < count {
                if place == end, try !readChunk() { break }
                let taken = min(count - bytes.count, end - place)
                bytes += chunk[place..<place + taken]
                place += taken
            }
            return bytes
        }

        /// Skips the next bytes.
        mutating func skip(_ count: Int) throws {
            var rest = count
            while rest > 0 {
                if place == end, try !readChunk() { return }
                let passed = min(rest, end - place)
                place += passed
                rest -= passed
            }
        }

        private mutating func readChunk() throws -> Bool {
            place = 0
            if let start = chunks.popFirst() {
                try file.read(from: start, into: chunk)
                end = chunk.count
                return true
            }
            end = rest?.count ?? 0
            if let rest { UnsafeMutableRawBufferPointer(rebasing: chunk[..<end]).copyMemory(from: rest) }
            rest = nil
            return end > 0
        }
    }
}

/// A file without a name, which is gone when it is closed, however the process ends. It is in
/// `TMPDIR`, otherwise in /var/tmp or /tmp: the same places that SQLite uses.
struct ScratchFile: ~Copyable {
    /// -1 before anything is in it.
    private var descriptor: Int32 = -1
    private let folders: [String]
    private var folder = ""
    /// Bytes in it.
    private(set) var count = 0

    /// - Parameter folders: where it may be; the first in which files can be created is used.
    init(folders: [String] = FilePaths.temporaryFolders) { self.folders = folders }

    deinit { if descriptor >= 0 { close(descriptor) } }

    private mutating func open() throws {
        var code: Int32 = 0
        for folder in folders {
            self.folder = folder
            descriptor = Self.open(in: folder)
            if descriptor >= 0 { return }
            code = errno
        }
        throw Self.failure("temporary files cannot be written", code: code, folder: folder)
    }

    /// O_TMPFILE of fcntl.h: an expression, which Swift does not import.
    private static let withoutName = 0o20000000 | O_DIRECTORY

    private static func open(in folder: String) -> Int32 {
        let unnamed = Glibc.open(folder, withoutName | O_RDWR | O_CLOEXEC, 0o600)
        // Not every file system supports files without a name.
        guard unnamed < 0, errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL else { return unnamed }
        var path = Array("\(folder)/volley-XXXXXX".utf8CString)
        let descriptor = mkstemp(&path)
        if descriptor >= 0 { unlink(path) }
        return descriptor
    }

    fileprivate static func failure(_ message: String, code: Int32, folder: String) -> Diagnostics {
        let isFull = code == ENOSPC || code == EDQUOT
        return Diagnostics(
            Diagnostic(
                isFull
                    ? "\((MissingResource(at: FilePaths.join(folder, name: "volley")) ?? .space).words): there is no space for temporary files"
                    : "\(message): \(SystemError.words(code))",
                file: folder,
                remedy:
                    "Set the environment variable TMPDIR to a folder with free space, or let Volley use more memory: --memory.",
                [.ask(.giveMemory)]))
    }

    /// - Returns: where the bytes begin in the file.
    @discardableResult mutating func append(_ bytes: UnsafeRawBufferPointer) throws -> Int {
        if descriptor < 0 { try open() }
        let start = count
        var rest = bytes[...]
        while !rest.isEmpty {
            let written = pwrite(
                descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count, off_t(count))
            if written > 0 {
                rest = rest.dropFirst(written)
                count += written
            } else if written == 0 || errno != EINTR {
                throw Self.failure(
                    "a temporary file cannot be written", code: written == 0 ? EIO : errno, folder: folder)
            }
        }
        return start
    }

    /// A reader of it. Must not be used once the file is gone.
    var reader: Reader { Reader(descriptor: descriptor, folder: folder) }

    /// Reads what was written.
    struct Reader {
        fileprivate let descriptor: Int32
        fileprivate let folder: String

        /// Fills `target` with the bytes from `start` on, all of which were written.
        func read(from start: Int, into target: UnsafeMutableRawBufferPointer) throws {
            var filled = 0
            while filled < target.count {
                let rest = UnsafeMutableRawBufferPointer(rebasing: target[filled...])
                let count = pread(descriptor, rest.baseAddress, rest.count, off_t(start + filled))
                if count > 0 {
                    filled += count
                } else if count == 0 || errno != EINTR {
                    throw ScratchFile.failure(
                        "a temporary file cannot be read", code: count == 0 ? EIO : errno, folder: folder)
                }
            }
        }
    }
}
