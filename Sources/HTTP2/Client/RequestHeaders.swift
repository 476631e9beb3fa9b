import CNghttp2
import Glibc

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
