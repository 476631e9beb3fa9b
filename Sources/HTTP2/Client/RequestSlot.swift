import CNghttp2
import Glibc

/// A request from `submit` to the end of its stream. Slots and their memory are reused: nothing is
/// allocated per request.
struct RequestSlot {
    /// Path, own header and body, one after the other. nghttp2 reads them here, so they stay in
    /// place until the stream is closed.
    private(set) var memory: UnsafeMutablePointer<UInt8>
    private var capacity: Int
    private(set) var pathCount = 0, ownCount = 0, bodyCount = 0
    var bodyRead = 0
    var bodyProgress = BodyOrder.Progress.whole
    /// The caller's tag; -1 once the caller was told the end, or no longer needs it.
    var tag = -1
    var streamID: Int32 = 0
    var isOpen = false
    /// How many bytes had been collected before the frame that ends the request; nil until that
    /// frame is made.
    var lastFrameStart: Int?
    var status: Int32 = 0
    /// Whether the answer's headers are complete.
    var hasHeaders = false
    /// The answer's.
    var ownHeader = OwnHeader.missing
    /// -1 for none.
    var retryAfterSeconds: Int32 = -1
    var answer: [UInt8] = []

    init() {
        capacity = 512
        memory = .allocate(capacity: capacity)
    }

    func deallocate() { memory.deallocate() }

    mutating func begin(
        tag: Int, path: (UnsafeBufferPointer<UInt8>, UnsafeBufferPointer<UInt8>), own: UnsafeBufferPointer<UInt8>,
        body: UnsafeBufferPointer<UInt8>
    ) {
        let count = path.0.count + path.1.count + own.count + body.count
        if count > capacity {
            memory.deallocate()
            capacity = count
            memory = .allocate(capacity: count)
        }
        var end = memory
        Self.copy(path.0, to: &end)
        Self.copy(path.1, to: &end)
        Self.copy(own, to: &end)
        Self.copy(body, to: &end)
        (pathCount, ownCount, bodyCount) = (path.0.count + path.1.count, own.count, body.count)
        bodyRead = 0
        bodyProgress = .whole
        self.tag = tag
        isOpen = true
        lastFrameStart = nil
        status = 0
        hasHeaders = false
        ownHeader = .missing
        retryAfterSeconds = -1
        answer = []
    }

    var unreadBody: UnsafeBufferPointer<UInt8> {
        UnsafeBufferPointer(start: memory + pathCount + ownCount + bodyRead, count: bodyCount - bodyRead)
    }

    /// Whether a value equals that of the own header.
    func isOwn(_ value: UnsafeBufferPointer<UInt8>) -> Bool {
        areEqual(value, UnsafeBufferPointer(start: memory + pathCount, count: ownCount))
    }

    private static func copy(_ piece: UnsafeBufferPointer<UInt8>, to end: inout UnsafeMutablePointer<UInt8>) {
        guard let start = piece.baseAddress else { return }
        end.update(from: start, count: piece.count)
        end += piece.count
    }
}

/// All slots of a session, in memory of their own: in an array, every access to a field would check
/// whether the array is shared, which took a tenth of the time of a push.
struct SlotTable: ~Copyable {
    private var slots: UnsafeMutablePointer<RequestSlot>
    private var capacity = 64
    private(set) var count = 0
    private var freeSlots: [Int32] = []

    init() { slots = .allocate(capacity: capacity) }

    deinit {
        for slot in 0..<count { slots[slot].deallocate() }
        slots.deinitialize(count: count)
        slots.deallocate()
    }

    subscript(slot: Int) -> RequestSlot {
        @inline(__always) unsafeAddress {
            precondition(slot >= 0 && slot < count, "there is no such slot")
            return UnsafePointer(slots + slot)
        }
        @inline(__always) unsafeMutableAddress {
            precondition(slot >= 0 && slot < count, "there is no such slot")
            return slots + slot
        }
    }

    /// A free slot.
    mutating func take() -> Int {
        if let free = freeSlots.popLast() { return Int(free) }
        if count == capacity { grow() }
        (slots + count).initialize(to: RequestSlot())
        count += 1
        return count - 1
    }

    mutating func free(_ slot: Int) {
        slots[slot].isOpen = false
        slots[slot].tag = -1
        freeSlots.append(Int32(slot))
    }

    private mutating func grow() {
        let larger = UnsafeMutablePointer<RequestSlot>.allocate(capacity: 2 * capacity)
        larger.moveInitialize(from: slots, count: count)
        slots.deallocate()
        slots = larger
        capacity *= 2
    }
}

/// Sends bodies that were begun before those that were not, while the peer's window for the
/// connection is the limit.
///
/// nghttp2 shares a connection by how much each stream has sent: a body that the window cut in two
/// has had its share, and waits behind every stream that comes after it. While new streams keep
/// coming, it would wait forever. So the body of a stream that has sent nothing yet is held back
/// (`NGHTTP2_ERR_DEFERRED`) as long as another one could continue. A body that waits for the window
/// of its own stream holds back no other.
struct BodyOrder {
    /// How much of a stream's body was sent.
    enum Progress {
        /// Nothing, or all of it.
        case whole
        /// A part was sent; the rest waits for the connection's window.
        case cut
        /// A part was sent; the rest waits for the window of its own stream.
        case blocked
    }

    /// Bodies that could continue if the connection's window allowed it.
    private var cutCount = 0
    private var blockedCount = 0
    /// Streams with bodies that were held back, in the order in which they came.
    private var held: [Int32] = []

    /// Whether a body that was not begun must wait.
    var mustWait: Bool { cutCount > 0 }

    /// Whether any body was sent in part.
    var hasBegun: Bool { cutCount + blockedCount > 0 }

    mutating func hold(_ stream: Int32) { held.append(stream) }

    mutating func move(_ progress: inout Progress, to next: Progress) {
        count(progress, change: -1)
        count(next, change: 1)
        progress = next
    }

    private mutating func count(_ progress: Progress, change: Int) {
        switch progress {
        case .whole: break
        case .cut: cutCount += change
        case .blocked: blockedCount += change
        }
    }

    /// Streams that no longer need to wait, oldest first; some may have been closed in the
    /// meantime.
    mutating func takeReleased() -> [Int32]? {
        guard cutCount == 0, !held.isEmpty else { return nil }
        defer { held.removeAll(keepingCapacity: true) }
        return held
    }
}

/// A header that all requests of a session carry.
public struct HTTP2Header: Hashable, Sendable {
    /// In lower case.
    public var name: String
    /// Its value.
    public var value: String
    /// Kept out of the compression table, also by intermediaries (RFC 7541 section 6.2.3).
    public var isNeverIndexed: Bool

    /// A header.
    public init(_ name: String, value: String, isNeverIndexed: Bool = false) {
        self.name = name
        self.value = value
        self.isNeverIndexed = isNeverIndexed
    }

    /// Whether a text may be a header's value: it contains no control character. RFC 9110 section
    /// 5.5 also allows the tab, which is not needed.
    public static func canHold(_ value: String) -> Bool { value.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F } }
}

/// The header list of a request, made once: each request replaces only its own two values.
final class RequestHeaders {
    private static let pathIndex = 3

    /// The fields that nghttp2 reads; it copies nothing.
    let fields: UnsafeMutableBufferPointer<nghttp2_nv>
    private let text: UnsafeMutableBufferPointer<UInt8>
    private let ownIndex: Int

    init(authority: String, headers: [HTTP2Header], ownHeader: String) {
        let all =
            [
                HTTP2Header(":method", value: "POST"), HTTP2Header(":scheme", value: "https"),
                HTTP2Header(":authority", value: authority),
                HTTP2Header(":path", value: "", isNeverIndexed: true),
            ] + headers + [HTTP2Header(ownHeader, value: "", isNeverIndexed: true)]
        // The last place to detect this: the text after a line break would become a header of its
        // own.
        precondition(all.allSatisfy { HTTP2Header.canHold($0.value) }, "a header with a control character")
        ownIndex = all.count - 1
        let bytes = all.flatMap { Array($0.name.utf8) + Array($0.value.utf8) }
        text = .allocate(capacity: bytes.count)
        _ = text.initialize(from: bytes)
        fields = .allocate(capacity: all.count)
        var offset = 0
        for (index, header) in all.enumerated() {
            let name = UnsafeMutableBufferPointer(rebasing: text[offset..<(offset + header.name.utf8.count)])
            offset += name.count
            let value = UnsafeMutableBufferPointer(rebasing: text[offset..<(offset + header.value.utf8.count)])
            offset += value.count
            let indexing = header.isNeverIndexed ? NGHTTP2_NV_FLAG_NO_INDEX.rawValue : 0
            let flags = NGHTTP2_NV_FLAG_NO_COPY_NAME.rawValue | NGHTTP2_NV_FLAG_NO_COPY_VALUE.rawValue | indexing
            fields.initializeElement(
                at: index,
                to: nghttp2_nv(
                    name: name.baseAddress, value: value.baseAddress, namelen: name.count, valuelen: value.count,
                    flags: UInt8(flags)))
        }
    }

    deinit {
        fields.deallocate()
        text.deallocate()
    }

    /// Takes path and own header from a request's slot.
    func point(to slot: RequestSlot) {
        fields[Self.pathIndex].value = slot.memory
        fields[Self.pathIndex].valuelen = slot.pathCount
        fields[ownIndex].value = slot.memory + slot.pathCount
        fields[ownIndex].valuelen = slot.ownCount
    }
}

/// Whether two buffers hold the same bytes. `elementsEqual` compares one after the other: with the
/// id that every answer repeats, that was a thirtieth of a push.
func areEqual(_ left: UnsafeBufferPointer<UInt8>, _ right: UnsafeBufferPointer<UInt8>) -> Bool {
    guard left.count == right.count else { return false }
    guard let first = left.baseAddress, let second = right.baseAddress else { return true }
    return memcmp(first, second, left.count) == 0
}
