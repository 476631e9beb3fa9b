import CISAL

/// Inflates gzip data of any number of members, as `cat a.gz b.gz` makes them: with ISA-L, which
/// takes half the time of zlib.
struct Inflater: ~Copyable {
    /// The result of a step.
    enum Step {
        case produced(Int)
        case needsInput
        case end
        case failed(message: String, consumed: Int, produced: Int)
    }

    /// Put compressed bytes here before you call `supplied`.
    let input = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: 64 << 10)
    // Large, as it holds the window.
    private let state = UnsafeMutablePointer<inflate_state>.allocate(capacity: 1)
    /// Read separately, because ISA-L 2.30 forgets the header's checksum when `isal_inflate` meets
    /// the header in two pieces.
    private let header = UnsafeMutablePointer<isal_gzip_header>.allocate(capacity: 1)
    private var isInHeader = false
    /// Before the first member, too.
    private var isBetweenMembers = true
    private var isInputAtEnd = false
    private var membersRead = 0
    private var consumed = 0
    /// Zero bytes after the last member, which count as consumed.
    private var padding = 0
    private var produced = 0

    init() {
        header.initialize(to: isal_gzip_header())
        isal_inflate_init(state)
        // Header and checksum of every member are checked.
        state.pointee.crc_flag = UInt32(ISAL_GZIP)
        state.pointee.avail_in = 0
    }

    deinit {
        state.deallocate()
        header.deallocate()
        input.deallocate()
    }

    /// Whether all input was used up.
    var needsInput: Bool { state.pointee.avail_in == 0 && !isInputAtEnd }

    /// Tells how many bytes are in `input`; 0 means the end of the file.
    mutating func supplied(_ count: Int) {
        isInputAtEnd = count == 0
        state.pointee.next_in = input.baseAddress
        state.pointee.avail_in = UInt32(count)
    }

    /// Inflates into `target` as far as the input goes.
    mutating func inflate(into target: UnsafeMutableBufferPointer<UInt8>) -> Step {
        if isBetweenMembers {
            if membersRead > 0 { skipPadding() }
            guard state.pointee.avail_in > 0 else { return isInputAtEnd ? end() : .needsInput }
            if padding > 0 { return zeroBytes() }
            // A file shorter than a header would only be reported as cut off.
            guard state.pointee.next_in[0] == Self.firstByte else { return failure(noMember) }
            isal_inflate_reset(state)
            isal_gzip_header_init(header)
            (isBetweenMembers, isInHeader) = (false, true)
        }
        if isInHeader, let step = readHeader() { return step }
        let (inputBefore, room) = (state.pointee.avail_in, UInt32(clamping: target.count))
        state.pointee.next_out = target.baseAddress
        state.pointee.avail_out = room
        let code = isal_inflate(state)
        noteConsumed(of: inputBefore)
        let count = Int(room - state.pointee.avail_out)
        produced += count
        if let message = message(code) { return failure(message) }
        if state.pointee.block_state == ISAL_BLOCK_FINISH {
            isBetweenMembers = true
            membersRead += 1
        }
        if count > 0 { return .produced(count) }
        if isBetweenMembers || !isInputAtEnd { return .needsInput }
        return failure("ends too early")
    }

    /// - Returns: nil once the header is read.
    private mutating func readHeader() -> Step? {
        let inputBefore = state.pointee.avail_in
        let code = isal_read_gzip_header(state, header)
        noteConsumed(of: inputBefore)
        if let message = message(code) { return failure(message) }
        guard code == ISAL_DECOMP_OK else { return isInputAtEnd ? failure("ends too early") : .needsInput }
        isInHeader = false
        return nil
    }

    /// When it finds damage, ISA-L may leave more input than there was: bytes that it had buffered.
    private mutating func noteConsumed(of inputBefore: UInt32) {
        consumed += Int(inputBefore - min(inputBefore, state.pointee.avail_in))
    }

    /// RFC 1952, section 2.3.1.
    static let firstByte: UInt8 = 0x1F

    private var noMember: String { membersRead > 0 ? "is followed by something else" : "is damaged" }

    /// What is wrong; nil when there is no error.
    private func message(_ code: Int32) -> String? {
        switch code {
        case ISAL_INVALID_WRAPPER: noMember
        case ISAL_DECOMP_OK, ISAL_END_INPUT, ISAL_OUT_OVERFLOW: nil
        default: "is damaged"
        }
    }

    /// A file from a tape ends with the rest of its last block as zeros: POSIX (pax, ustar) has
    /// blocks of 512 bytes, and at most twenty of them in a record. Any other zeros mean that
    /// something was not written.
    private func end() -> Step { padding == 0 || padding < 10_240 && consumed.isMultiple(of: 512) ? .end : zeroBytes() }

    private func zeroBytes() -> Step {
        .failed(
            message: "is followed by \(padding) zero bytes, like a file that was not completely written",
            consumed: consumed - padding,
            produced: produced)
    }

    private mutating func skipPadding() {
        while state.pointee.avail_in > 0, let next = state.pointee.next_in, next.pointee == 0 {
            state.pointee.next_in = next + 1
            // Not `-=`: under the thread sanitizer Swift 6.3.1 cannot compile that.
            state.pointee.avail_in = state.pointee.avail_in - 1
            consumed += 1
            padding += 1
        }
    }

    private func failure(_ message: String) -> Step {
        .failed(message: message, consumed: consumed, produced: produced)
    }
}
