import CZlib

/// Inflates gzip data of any number of members, as `cat a.gz b.gz` makes them.
struct Inflater: ~Copyable {
    /// What a step came to.
    enum Step {
        case produced(Int)
        case needsInput
        case end
        case failed(message: String, consumed: Int, produced: Int)
    }

    /// Where compressed bytes are to be put before `supplied` is called.
    let input = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: 64 << 10)
    // zlib's state points back at the stream, so that it must never move.
    private let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
    private let initResult: Int32
    private var isBetweenMembers = false
    private var isInputAtEnd = false
    private var membersRead = 0
    private var consumed = 0
    private var produced = 0

    init() {
        stream.initialize(to: z_stream())
        // 15: the largest window; 16: gzip, not zlib.
        initResult = inflateInit2_(stream, 15 + 16, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
    }

    deinit {
        inflateEnd(stream)
        stream.deallocate()
        input.deallocate()
    }

    /// Whether all input was used up.
    var needsInput: Bool { stream.pointee.avail_in == 0 && !isInputAtEnd }

    /// Says how many bytes stand in `input`; 0 is the end of the file.
    mutating func supplied(_ count: Int) {
        isInputAtEnd = count == 0
        stream.pointee.next_in = input.baseAddress
        stream.pointee.avail_in = UInt32(count)
    }

    /// Inflates into `target` as far as the input goes.
    mutating func inflate(into target: UnsafeMutableBufferPointer<UInt8>) -> Step {
        guard initResult == Z_OK else { return failure("cannot be inflated: zlib has no memory") }
        if isBetweenMembers {
            skipPadding()
            guard stream.pointee.avail_in > 0 else { return isInputAtEnd ? .end : .needsInput }
            inflateReset(stream)
            isBetweenMembers = false
        }
        let (inputBefore, room) = (stream.pointee.avail_in, UInt32(clamping: target.count))
        stream.pointee.next_out = target.baseAddress
        stream.pointee.avail_out = room
        let code = CZlib.inflate(stream, Z_NO_FLUSH)
        consumed += Int(inputBefore - stream.pointee.avail_in)
        let count = Int(room - stream.pointee.avail_out)
        produced += count
        switch code {
        case Z_STREAM_END:
            isBetweenMembers = true
            membersRead += 1
        case Z_OK, Z_BUF_ERROR: break
        default: return failure(membersRead > 0 && stream.pointee.total_out == 0 ? "is followed by something else" : "is damaged")
        }
        if count > 0 { return .produced(count) }
        if isBetweenMembers || !isInputAtEnd { return .needsInput }
        return failure("ends too early")
    }

    /// Some archivers fill the last block with zeros.
    private mutating func skipPadding() {
        while stream.pointee.avail_in > 0, let next = stream.pointee.next_in, next.pointee == 0 {
            stream.pointee.next_in = next + 1
            // Not `-=`: under the thread sanitizer Swift 6.3.1 cannot compile that.
            stream.pointee.avail_in = stream.pointee.avail_in - 1
            consumed += 1
        }
    }

    private func failure(_ message: String) -> Step { .failed(message: message, consumed: consumed, produced: produced) }
}
