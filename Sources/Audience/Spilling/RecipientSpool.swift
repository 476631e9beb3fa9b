import Base

/// Recipients on disk, in the order in which they were found, until it is known which of them count.
struct RecipientSpool: ~Copyable {
    private var file = ScratchFile()
    private var buffer: [UInt8] = []

    mutating func append(_ batch: RecipientBatch) throws {
        buffer.removeAll(keepingCapacity: true)
        batch.store(into: &buffer)
        var size = UInt64(buffer.count)
        try withUnsafeBytes(of: &size) { _ = try file.append($0) }
        try buffer.withUnsafeBytes { _ = try file.append($0) }
    }

    /// Calls `body` with every batch, in order; none of the recipients has a slot.
    func forEach(_ body: (inout RecipientBatch) throws -> Void) throws {
        let reader = file.reader
        var place = 0
        var bytes: [UInt8] = []
        while place < file.count {
            var size: UInt64 = 0
            try withUnsafeMutableBytes(of: &size) { try reader.read(from: place, into: $0) }
            place += MemoryLayout<UInt64>.size
            bytes = [UInt8](repeating: 0, count: Int(size))
            try bytes.withUnsafeMutableBytes { try reader.read(from: place, into: $0) }
            place += bytes.count
            var batch = RecipientBatch(stored: bytes)
            try body(&batch)
        }
    }
}
