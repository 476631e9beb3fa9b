import Glibc

/// A part of an export in memory, which usually begins and ends with whole records.
///
/// `@unchecked Sendable`: one thread has it at a time; it passes from thread to thread under the lock of `BlockDispatcher`.
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
    var room: UnsafeMutableBufferPointer<UInt8> { UnsafeMutableBufferPointer(start: memory + count, count: capacity - count) }

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

    /// Ends it after so many bytes of its text.
    func end(after bytes: Int, isLast: Bool, bytesRead: Int) {
        count = bytes + skipped
        self.isLast = isLast
        self.bytesRead = bytesRead
        memset(memory + count, 0x0A, RecordBuffer.slack)
    }
}
