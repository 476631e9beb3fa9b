/// Bytes that belong to one of many partitions, on disk: what is appended to a partition comes back in the same order. Takes 16 KiB of
/// memory for each partition that holds anything.
struct PartitionedFile: ~Copyable {
    /// Enough that what a partition holds fits into memory many times, few enough that their buffers are small.
    static let partitions = 256
    private static let chunkSize = 16 << 10

    private var file = ScratchFile()
    /// What is not on disk yet.
    private var buffers = [UnsafeMutableRawBufferPointer?](repeating: nil, count: partitions)
    private var filled = [Int](repeating: 0, count: partitions)
    /// Where the chunks of a partition begin on disk, each full.
    private var chunks = [[Int]](repeating: [], count: partitions)

    deinit { for buffer in buffers { buffer?.deallocate() } }

    /// The partition of a fingerprint: by bits that `SlotIndex` does not use, as it must find those of one partition far apart.
    @inline(__always) static func of(_ fingerprint: UInt64) -> Int { Int(truncatingIfNeeded: fingerprint >> 32) & (partitions - 1) }

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

    /// All that a partition holds.
    func contents(of partition: Int) throws -> Contents {
        let onDisk = chunks[partition].count * Self.chunkSize
        let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: onDisk + filled[partition], alignment: 16)
        let contents = Contents(bytes)
        for (index, start) in chunks[partition].enumerated() {
            let place = index * Self.chunkSize
            try file.read(from: start, into: UnsafeMutableRawBufferPointer(rebasing: bytes[place..<place + Self.chunkSize]))
        }
        if let buffer = buffers[partition] {
            let rest = UnsafeRawBufferPointer(rebasing: buffer[..<filled[partition]])
            UnsafeMutableRawBufferPointer(rebasing: bytes[onDisk...]).copyMemory(from: rest)
        }
        return contents
    }

    /// What a partition holds, read from front to back.
    struct Contents: ~Copyable {
        private let bytes: UnsafeMutableRawBufferPointer
        private var place = 0

        fileprivate init(_ bytes: UnsafeMutableRawBufferPointer) { self.bytes = bytes }

        deinit { bytes.deallocate() }

        /// The next element, which must be of the type that was appended; nil at the end.
        @inline(__always) mutating func next<Element: BitwiseCopyable>(_ type: Element.Type) -> Element? {
            guard place < bytes.count else { return nil }
            defer { place += MemoryLayout<Element>.size }
            return bytes.loadUnaligned(fromByteOffset: place, as: Element.self)
        }

        /// The next bytes.
        mutating func next(_ count: Int) -> [UInt8] {
            defer { place += count }
            return Array(bytes[place..<place + count])
        }
    }
}
