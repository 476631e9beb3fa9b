import CNghttp2

/// Why a stream ended: the error codes of RFC 9113 section 7.
public struct HTTP2ErrorCode: RawRepresentable, Hashable, Sendable {
    /// The code as it stands on the wire.
    public let rawValue: UInt32

    /// Any code, also one that no RFC names.
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// Not an error.
    public static let noError = HTTP2ErrorCode(rawValue: NGHTTP2_NO_ERROR.rawValue)
    /// Something went wrong in the peer, before or after it did what was asked.
    public static let internalError = HTTP2ErrorCode(rawValue: NGHTTP2_INTERNAL_ERROR.rawValue)
    /// The peer did nothing with the request: it may be sent again (RFC 9113 section 8.7).
    public static let refusedStream = HTTP2ErrorCode(rawValue: NGHTTP2_REFUSED_STREAM.rawValue)
    /// Not wanted any more.
    public static let cancel = HTTP2ErrorCode(rawValue: NGHTTP2_CANCEL.rawValue)

    /// The RFC's name, `REFUSED_STREAM`; the number where it has none.
    public var name: String { String(cString: nghttp2_http2_strerror(rawValue)) }
}
