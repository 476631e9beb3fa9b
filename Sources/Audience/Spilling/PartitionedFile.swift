/// Bytes that belong to one of many partitions, on disk: a partition is read back in the order in which it was appended. Takes 16 KiB of
/// memory for each partition that holds anything, and 16 KiB while one is read.
struct PartitionedFile: ~Copyable {
    /// Enough that a partition's devices easily fit into memory, few enough that all buffers together are small.
    static let partitions = 256
    private static let chunkSize = 16 << 10

    private var file = ScratchFile()
    /// What is not on disk yet.
    private var buffers = [UnsafeMutableRawBufferPointer?](repeating: nil, count: partitions)
    private var filled = [Int](repeating: 0, count: partitions)
    /// Where the chunks of a partition begin on disk, each full.
    private var chunks = [[Int]](repeating: [], count: partitions)

    deinit { for buffer in buffers { buffer?.deallocate() } }

    /// The partition of a fingerprint: by bits that `DeviceIndex` does not use, as it must spread the devices of one partition.
    @inline(__always) static func of(_ fingerprint: TokenFingerprint) -> Int {
        Int(truncatingIfNeeded: fingerprint.word >> 32) & (partitions - 1)
    }

    mutating func append(_ element: some BitwiseCopyable, to partition: Int) throws {
        try withUnsafeBytes(of: element) { try append($0, to: partition) }
    }

    mutating func append(_ bytes: UnsafeRawBufferPointer, to partition: Int) throws {
        let buffer = buffers[partition] ?? UnsafeMutableRawBufferPointer.allocate(byteCount: Self.chunkSize, alignment: 16)
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
            // It crosses the end of a chunk, or there is none.
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
