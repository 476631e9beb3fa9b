import CNghttp2

/// Why a stream ended: the error codes of RFC 9113 section 7.
public struct HTTP2ErrorCode: RawRepresentable, Hashable, Sendable {
    /// The code as it is on the wire.
    public let rawValue: UInt32

    /// Any code, including those that no RFC names.
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// Not an error.
    public static let noError = HTTP2ErrorCode(rawValue: NGHTTP2_NO_ERROR.rawValue)
    /// Something went wrong in the peer, before or after it acted on the request.
    public static let internalError = HTTP2ErrorCode(rawValue: NGHTTP2_INTERNAL_ERROR.rawValue)
    /// The peer did nothing with the request, so it may be sent again (RFC 9113 section 8.7).
    public static let refusedStream = HTTP2ErrorCode(rawValue: NGHTTP2_REFUSED_STREAM.rawValue)
    /// No longer needed.
    public static let cancel = HTTP2ErrorCode(rawValue: NGHTTP2_CANCEL.rawValue)

    /// The RFC's name, `REFUSED_STREAM`; the number for a code without a name.
    public var name: String { String(cString: nghttp2_http2_strerror(rawValue)) }
}

/// The library that speaks HTTP/2.
public enum HTTP2Library {
    /// The version that this process runs with: `1.52.0`; blank if it does not say.
    public static var version: String { nghttp2_version(0)?.pointee.version_str.map { String(cString: $0) } ?? "" }
}
