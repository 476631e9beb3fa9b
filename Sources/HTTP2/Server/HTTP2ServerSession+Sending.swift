import CNghttp2

/// The frames that a server sends. They are written with the next `gather`.
extension HTTP2ServerSession {
    /// Identifiers of SETTINGS: RFC 9113 section 6.5.2.
    public struct Setting: RawRepresentable, Hashable, Sendable {
        /// The identifier as it is on the wire.
        public let rawValue: UInt16

        /// Any identifier, including those that no RFC names.
        public init(rawValue: UInt16) { self.rawValue = rawValue }

        /// Bytes of the table that compresses headers.
        public static let headerTableSize = Setting(rawValue: 1)
        /// Streams that the client may have open at once.
        public static let maximumConcurrentStreams = Setting(rawValue: 3)
        /// Bytes that a client may send on a new stream before the window is updated.
        public static let initialWindowSize = Setting(rawValue: 4)
        /// Bytes of a frame's payload.
        public static let maximumFrameSize = Setting(rawValue: 5)
        /// Bytes of a request's headers.
        public static let maximumHeaderListSize = Setting(rawValue: 6)
    }

    /// A header of an answer. Its bytes must be valid until it is submitted, which copies them.
    public struct Field {
        /// In lower case.
        public let name: StaticString
        /// The value's bytes.
        public let value: UnsafeBufferPointer<UInt8>
        /// Whether later answers may refer to it by a number instead of repeating it.
        public let isIndexed: Bool

        /// A header.
        public init(_ name: StaticString, _ value: UnsafeBufferPointer<UInt8>, isIndexed: Bool = true) {
            self.name = name
            self.value = value
            self.isIndexed = isIndexed
        }

        fileprivate var nghttp2: nghttp2_nv {
            nghttp2_nv(
                name: UnsafeMutablePointer(mutating: name.utf8Start),
                value: UnsafeMutablePointer(mutating: value.baseAddress),
                namelen: name.utf8CodeUnitCount, valuelen: value.count,
                flags: UInt8((isIndexed ? NGHTTP2_NV_FLAG_NONE : NGHTTP2_NV_FLAG_NO_INDEX).rawValue))
        }
    }

    private static var none: UInt8 { UInt8(NGHTTP2_FLAG_NONE.rawValue) }

    // MARK: The connection

    /// Announces settings. They apply once the client has acknowledged them; until then, a stream
    /// beyond a new limit is refused.
    public func submit(settings: [(Setting, UInt32)]) {
        let entries = settings.map { nghttp2_settings_entry(settings_id: Int32($0.0.rawValue), value: $0.1) }
        nghttp2_submit_settings(pointer, Self.none, entries, entries.count)
    }

    /// Widens the connection's window to this many bytes.
    public func setConnectionWindow(_ bytes: Int32) {
        nghttp2_session_set_local_window_size(pointer, Self.none, 0, bytes)
    }

    /// Sends WINDOW_UPDATE: the client may send as many bytes again. Stream 0 is the connection.
    public func giveWindow(_ bytes: Int, streamID: Int32) {
        nghttp2_submit_window_update(pointer, Self.none, streamID, Int32(bytes))
    }

    /// Sends a PING.
    public func submitPing() { nghttp2_submit_ping(pointer, Self.none, nil) }

    /// Announces that the connection will end, and that no more streams may be opened: GOAWAY with
    /// the last stream id 2^31-1 (RFC 9113 section 6.8).
    public func submitShutdownNotice() { nghttp2_submit_shutdown_notice(pointer) }

    /// Ends the connection: streams after the last one were not processed, the others are
    /// completed.
    public func submitGoAway(lastStreamID: Int32, _ error: HTTP2ErrorCode, debugData: [UInt8]) {
        nghttp2_submit_goaway(pointer, Self.none, lastStreamID, error.rawValue, debugData, debugData.count)
    }

    // MARK: Streams

    /// Stores a pointer with an open stream.
    public func setUserData(_ data: UnsafeMutableRawPointer, streamID: Int32) {
        nghttp2_session_set_stream_user_data(pointer, streamID, data)
    }

    /// The pointer that is stored with a stream; nil if the stream has ended or has none.
    public func userData(streamID: Int32) -> UnsafeMutableRawPointer? {
        nghttp2_session_get_stream_user_data(pointer, streamID)
    }

    /// Resets a stream.
    public func submitReset(_ error: HTTP2ErrorCode, streamID: Int32) {
        nghttp2_submit_rst_stream(pointer, Self.none, streamID, error.rawValue)
    }

    /// Answers a request; the first field is `:status`.
    /// - Parameter hasBody: whether `takeBody` will be called for a body.
    public func submitAnswer(_ fields: UnsafeBufferPointer<Field>, hasBody: Bool, streamID: Int32) {
        withFields(fields) { fields in
            guard hasBody else {
                nghttp2_submit_response(pointer, streamID, fields.baseAddress, fields.count, nil)
                return
            }
            var provider = nghttp2_data_provider(source: nghttp2_data_source(), read_callback: bodyProvider)
            nghttp2_submit_response(pointer, streamID, fields.baseAddress, fields.count, &provider)
        }
    }

    /// Sends a 1xx answer, which must be followed by another.
    public func submitInformation(_ fields: UnsafeBufferPointer<Field>, streamID: Int32) {
        withFields(fields) { nghttp2_submit_headers(pointer, Self.none, streamID, nil, $0.baseAddress, $0.count, nil) }
    }

    /// Sends trailers after a body. Call it while its last piece is requested.
    public func submitTrailers(_ fields: UnsafeBufferPointer<Field>, streamID: Int32) {
        withFields(fields) { nghttp2_submit_trailer(pointer, streamID, $0.baseAddress, $0.count) }
    }

    private func withFields(_ fields: UnsafeBufferPointer<Field>, _ body: (UnsafeBufferPointer<nghttp2_nv>) -> Void) {
        withUnsafeTemporaryAllocation(of: nghttp2_nv.self, capacity: fields.count) { converted in
            for index in fields.indices { converted.initializeElement(at: index, to: fields[index].nghttp2) }
            body(UnsafeBufferPointer(converted))
        }
    }
}
