import CNghttp2

/// What nghttp2 calls for every connection, and how its sessions are set up. Made once per server.
///
/// Each callback gets its `Connection` as user data; a session never outlives its connection.
struct HTTP2Callbacks: ~Copyable {
    private let callbacks: OpaquePointer
    private let options: OpaquePointer

    /// Clients whose requests time out reset them in numbers; nghttp2 takes that for an attack (CVE-2023-44487) sooner than a simulator
    /// should.
    private static let resetBurst: UInt64 = 1 << 40

    init() {
        var made: OpaquePointer?
        var madeOptions: OpaquePointer?
        guard nghttp2_session_callbacks_new(&made) == 0, nghttp2_option_new(&madeOptions) == 0, let made, let madeOptions else {
            fatalError("nghttp2 is out of memory")
        }
        callbacks = made
        options = madeOptions
        nghttp2_option_set_no_closed_streams(options, 1)
        nghttp2_option_set_stream_reset_rate_limit(options, Self.resetBurst, Self.resetBurst)
        setRequestCallbacks()
        setStreamCallbacks()
    }

    deinit {
        nghttp2_option_del(options)
        nghttp2_session_callbacks_del(callbacks)
    }

    /// A server's session for a connection.
    func makeSession(for connection: Connection) -> OpaquePointer {
        var session: OpaquePointer?
        let result = nghttp2_session_server_new2(&session, callbacks, Unmanaged.passUnretained(connection).toOpaque(), options)
        guard result == 0, let session else { fatalError("nghttp2 is out of memory") }
        return session
    }

    private func setRequestCallbacks() {
        nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks) { _, frame, user in
            guard let frame else { return 0 }
            let isRequest = frame.pointee.headers.cat == NGHTTP2_HCAT_REQUEST
            withConnection(user) { $0.beginHeaders(streamID: frame.pointee.hd.stream_id, isRequest: isRequest) }
            return 0
        }
        nghttp2_session_callbacks_set_on_header_callback(callbacks) { _, _, name, nameLength, value, valueLength, _, user in
            guard let name = HeaderName(UnsafeBufferPointer(start: name, count: nameLength)) else { return 0 }
            withConnection(user) { $0.receive(name, UnsafeBufferPointer(start: value, count: valueLength)) }
            return 0
        }
        nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks) { _, _, streamID, bytes, length, user in
            withConnection(user) { $0.receive(payload: UnsafeBufferPointer(start: bytes, count: length), streamID: streamID) }
            return 0
        }
        nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks) { _, frame, user in
            guard let frame else { return 0 }
            let header = frame.pointee.hd
            let carriesRequest = header.type == UInt8(NGHTTP2_HEADERS.rawValue) || header.type == UInt8(NGHTTP2_DATA.rawValue)
            if carriesRequest, header.flags & UInt8(NGHTTP2_FLAG_END_STREAM.rawValue) != 0 {
                withConnection(user) { $0.endRequest(streamID: header.stream_id) }
            }
            return 0
        }
    }

    private func setStreamCallbacks() {
        nghttp2_session_callbacks_set_on_stream_close_callback(callbacks) { _, streamID, _, user in
            withConnection(user) { $0.closeStream(streamID) }
            return 0
        }
        nghttp2_session_callbacks_set_on_invalid_frame_recv_callback(callbacks) { _, _, error, user in
            if error == NGHTTP2_ERR_REFUSED_STREAM.rawValue { withConnection(user) { $0.noteRefusedStream() } }
            return 0
        }
    }
}

/// Calls the connection that a session belongs to. It outlives the call, as its owner is what fed the session: no need to retain it.
@inline(__always)
private func withConnection(_ user: UnsafeMutableRawPointer?, _ body: (Connection) -> Void) {
    guard let user else { return }
    Unmanaged<Connection>.fromOpaque(user)._withUnsafeGuaranteedRef { body($0) }
}

/// Hands the JSON of a refusal to nghttp2.
let bodyProvider: nghttp2_data_source_read_callback = { session, streamID, buffer, capacity, flags, _, user in
    var taken = (count: 0, isLast: true)
    withConnection(user) { taken = $0.takeBody(streamID: streamID, into: UnsafeMutableBufferPointer(start: buffer, count: capacity)) }
    if taken.isLast { flags?.pointee |= UInt32(NGHTTP2_DATA_FLAG_EOF.rawValue) }
    return taken.count
}
