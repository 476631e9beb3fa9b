public import Base
import CNghttp2

/// A server's end of one HTTP/2 connection, without its socket: the client's bytes go in, bytes for
/// the client come out.
///
/// A subclass overrides the events that it needs. nghttp2 reports to it directly, with nothing
/// between a header and its reader. Everything belongs to one thread.
open class HTTP2ServerSession {
    /// One piece of a body.
    public struct BodyPiece {
        /// What follows a piece.
        public enum End {
            /// More follows; never with a count of 0.
            case more
            /// The stream ends with this piece.
            case endOfStream
            /// The body ends with this piece, and the stream with trailers that were submitted
            /// before it.
            case beforeTrailers
        }

        /// The number of bytes put into the buffer.
        public var count: Int
        /// What follows.
        public var end: End

        /// A piece of a body.
        public init(count: Int, end: End) {
            self.count = count
            self.end = end
        }
    }

    /// nghttp2's session. It is never replaced, and accesses to it are not checked: nghttp2 calls
    /// back in the middle of them.
    @exclusivity(unchecked) private(set) var pointer: OpaquePointer?
    private let memory = SessionMemory()
    /// Streams that the client has opened and that have not ended.
    @exclusivity(unchecked) public private(set) var openStreams = 0

    /// A session that waits for the client's preface.
    /// - Throws: a `Diagnostic` if there is not enough memory.
    public init(_ callbacks: borrowing HTTP2ServerCallbacks) throws(Diagnostic) {
        pointer = try callbacks.makeSession(for: self, memory: memory)
    }

    deinit { nghttp2_session_del(pointer) }

    // MARK: Bytes

    /// Takes bytes from the client and reports their contents. Mistakes for which HTTP/2 has an
    /// answer are answered.
    /// - Returns: false if this is not HTTP/2 at all: nothing more can be read.
    public func consume(_ bytes: UnsafeRawBufferPointer) -> Bool {
        nghttp2_session_mem_recv(pointer, bytes.bindMemory(to: UInt8.self).baseAddress, bytes.count) >= 0
    }

    /// Adds frames for the client until `buffer` contains `bytes` or more: a system call for each
    /// frame would cost more than the frame.
    /// - Returns: whether there is nothing more to send for now. The added bytes then end with a
    ///   whole frame.
    public func gather(into buffer: inout [UInt8], upTo bytes: Int) -> Bool {
        while buffer.count < bytes {
            var frame: UnsafePointer<UInt8>?
            let count = nghttp2_session_mem_send(pointer, &frame)
            guard count > 0 else { return true }
            buffer.append(contentsOf: UnsafeBufferPointer(start: frame, count: count))
        }
        return false
    }

    /// Whether the session has ended: there is nothing left to read or write.
    public var isFinished: Bool { nghttp2_session_want_read(pointer) == 0 && nghttp2_session_want_write(pointer) == 0 }

    // MARK: Events for a subclass

    /// The headers of a request begin (or its trailers, if `isRequest` is false); `headerReceived`
    /// follows for each.
    open func headersBegan(streamID: Int32, isRequest: Bool) {}

    /// A header of the stream that began last. The bytes are valid only during the call.
    open func headerReceived(_ name: UnsafeBufferPointer<UInt8>, _ value: UnsafeBufferPointer<UInt8>) {}

    /// The headers are complete, and a payload follows.
    open func headersEnded(streamID: Int32) {}

    /// A piece of a request's payload. The bytes are valid only during the call.
    open func payloadReceived(_ bytes: UnsafeBufferPointer<UInt8>, streamID: Int32) {}

    /// A request is complete.
    open func requestEnded(streamID: Int32) {}

    /// A stream has ended, normally or by a reset.
    open func streamClosed(_ streamID: Int32) {}

    /// A stream was reset with REFUSED_STREAM: it exceeded a limit that the client had not
    /// acknowledged yet.
    open func streamRefused() {}

    /// A stream exceeded a limit that the client had acknowledged. The connection ends with GOAWAY,
    /// PROTOCOL_ERROR (RFC 9113 section 5.1.2 leaves the choice).
    open func streamLimitViolated() {}

    /// The client sent a PING, which is being answered.
    open func pingReceived() {}

    /// Called for the next piece of the body of an answer that was submitted with a body.
    open func takeBody(streamID: Int32, into buffer: UnsafeMutableBufferPointer<UInt8>) -> BodyPiece {
        BodyPiece(count: 0, end: .endOfStream)
    }

    // MARK: Events that the session itself handles first

    func noteHeaders(streamID: Int32, isRequest: Bool) {
        if isRequest { openStreams += 1 }
        headersBegan(streamID: streamID, isRequest: isRequest)
    }

    func noteClosed(streamID: Int32) {
        openStreams -= 1
        streamClosed(streamID)
    }

    /// nghttp2 has one error for all mistakes in HEADERS; the number of open streams shows which
    /// one it was.
    func noteInvalidHeaders() {
        let limit = nghttp2_session_get_local_settings(pointer, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS)
        if openStreams >= Int(limit) { streamLimitViolated() }
    }
}

/// The callbacks and options of nghttp2 for all sessions of a server. Made once per server.
///
/// Each callback gets its `HTTP2ServerSession` as user data; nghttp2's session never outlives it.
public struct HTTP2ServerCallbacks: ~Copyable {
    private let setup: SessionSetup
    private var callbacks: OpaquePointer { setup.callbacks }

    /// A client that resets more than 1,000 streams, and then more than 33 a second, gets GOAWAY:
    /// nghttp2's own limit (CVE-2023-44487).
    /// - Parameter givesWindowsByHand: whether flow-control windows are given back only with
    ///   `HTTP2ServerSession.giveWindow`, and not by nghttp2 as bytes arrive.
    /// - Throws: a `Diagnostic` if there is not enough memory.
    public init(givesWindowsByHand: Bool = false) throws(Diagnostic) {
        setup = try SessionSetup()
        if givesWindowsByHand { nghttp2_option_set_no_auto_window_update(setup.options, 1) }
        setHeaderCallbacks()
        setFrameCallbacks()
        setStreamCallbacks()
    }

    /// Makes nghttp2's session for one of ours.
    func makeSession(for session: HTTP2ServerSession, memory: SessionMemory) throws(Diagnostic) -> OpaquePointer {
        var made: OpaquePointer?
        var functions = memory.functions
        let result = nghttp2_session_server_new3(
            &made, callbacks, Unmanaged.passUnretained(session).toOpaque(), setup.options, &functions)
        guard result == 0, let made else { throw .cannotMake("an HTTP/2 connection") }
        return made
    }

    private func setHeaderCallbacks() {
        nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks) { _, frame, user in
            guard let frame else { return 0 }
            let isRequest = frame.pointee.headers.cat == NGHTTP2_HCAT_REQUEST
            withSession(user) { $0.noteHeaders(streamID: frame.pointee.hd.stream_id, isRequest: isRequest) }
            return 0
        }
        nghttp2_session_callbacks_set_on_header_callback(callbacks) {
            _, _, name, nameLength, value, valueLength, _, user in
            let name = UnsafeBufferPointer(start: name, count: nameLength),
                value = UnsafeBufferPointer(start: value, count: valueLength)
            withSession(user) { $0.headerReceived(name, value) }
            return 0
        }
    }

    private func setFrameCallbacks() {
        nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks) { _, _, streamID, bytes, length, user in
            withSession(user) {
                $0.payloadReceived(UnsafeBufferPointer(start: bytes, count: length), streamID: streamID)
            }
            return 0
        }
        nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks) { _, frame, user in
            guard let frame else { return 0 }
            let header = frame.pointee.hd
            switch UInt32(header.type) {
            case NGHTTP2_HEADERS.rawValue, NGHTTP2_DATA.rawValue:
                if header.flags & UInt8(NGHTTP2_FLAG_END_STREAM.rawValue) != 0 {
                    withSession(user) { $0.requestEnded(streamID: header.stream_id) }
                } else if UInt32(header.type) == NGHTTP2_HEADERS.rawValue {
                    withSession(user) { $0.headersEnded(streamID: header.stream_id) }
                }
            case NGHTTP2_PING.rawValue where header.flags & UInt8(NGHTTP2_FLAG_ACK.rawValue) == 0:
                withSession(user) { $0.pingReceived() }
            default: break
            }
            return 0
        }
    }

    private func setStreamCallbacks() {
        nghttp2_session_callbacks_set_on_stream_close_callback(callbacks) { _, streamID, _, user in
            withSession(user) { $0.noteClosed(streamID: streamID) }
            return 0
        }
        nghttp2_session_callbacks_set_on_invalid_frame_recv_callback(callbacks) { _, frame, error, user in
            guard let frame else { return 0 }
            if error == NGHTTP2_ERR_REFUSED_STREAM.rawValue {
                withSession(user) { $0.streamRefused() }
            } else if error == NGHTTP2_ERR_PROTO.rawValue, UInt32(frame.pointee.hd.type) == NGHTTP2_HEADERS.rawValue {
                withSession(user) { $0.noteInvalidHeaders() }
            }
            return 0
        }
    }
}

/// Calls the session that nghttp2 calls about. Its owner passed it the bytes, so it outlives the
/// call: there is no need to retain it.
@inline(__always)
private func withSession(_ user: UnsafeMutableRawPointer?, _ body: (HTTP2ServerSession) -> Void) {
    guard let user else { return }
    Unmanaged<HTTP2ServerSession>.fromOpaque(user)._withUnsafeGuaranteedRef { body($0) }
}

/// Passes the body of an answer to nghttp2.
let bodyProvider: nghttp2_data_source_read_callback = { _, streamID, buffer, capacity, flags, _, user in
    var taken = HTTP2ServerSession.BodyPiece(count: 0, end: .endOfStream)
    withSession(user) {
        taken = $0.takeBody(streamID: streamID, into: UnsafeMutableBufferPointer(start: buffer, count: capacity))
    }
    switch taken.end {
    case .more: break
    case .endOfStream: flags?.pointee |= UInt32(NGHTTP2_DATA_FLAG_EOF.rawValue)
    case .beforeTrailers:
        flags?.pointee |= UInt32(NGHTTP2_DATA_FLAG_EOF.rawValue | NGHTTP2_DATA_FLAG_NO_END_STREAM.rawValue)
    }
    return taken.count
}

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
