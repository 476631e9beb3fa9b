public import Base
import CNghttp2

/// The callbacks and options of nghttp2 for all sessions of a server. Made once per server.
///
/// Each callback gets its `HTTP2ServerSession` as user data; nghttp2's session never outlives it.
public struct HTTP2ServerCallbacks: ~Copyable {
    private let setup: SessionSetup
    private var callbacks: OpaquePointer { setup.callbacks }

    /// A client that resets more than 1,000 streams, and then more than 33 a second, gets GOAWAY: nghttp2's own limit (CVE-2023-44487).
    /// - Parameter givesWindowsByHand: whether flow-control windows are given back only with `HTTP2ServerSession.giveWindow`, and not by
    ///   nghttp2 as bytes arrive.
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
        let result = nghttp2_session_server_new3(&made, callbacks, Unmanaged.passUnretained(session).toOpaque(), setup.options, &functions)
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
        nghttp2_session_callbacks_set_on_header_callback(callbacks) { _, _, name, nameLength, value, valueLength, _, user in
            let name = UnsafeBufferPointer(start: name, count: nameLength), value = UnsafeBufferPointer(start: value, count: valueLength)
            withSession(user) { $0.headerReceived(name, value) }
            return 0
        }
    }

    private func setFrameCallbacks() {
        nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks) { _, _, streamID, bytes, length, user in
            withSession(user) { $0.payloadReceived(UnsafeBufferPointer(start: bytes, count: length), streamID: streamID) }
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

/// Calls the session that nghttp2 calls about. Its owner passed it the bytes, so it outlives the call: there is no need to retain it.
@inline(__always)
private func withSession(_ user: UnsafeMutableRawPointer?, _ body: (HTTP2ServerSession) -> Void) {
    guard let user else { return }
    Unmanaged<HTTP2ServerSession>.fromOpaque(user)._withUnsafeGuaranteedRef { body($0) }
}

/// Passes the body of an answer to nghttp2.
let bodyProvider: nghttp2_data_source_read_callback = { _, streamID, buffer, capacity, flags, _, user in
    var taken = HTTP2ServerSession.BodyPiece(count: 0, end: .endOfStream)
    withSession(user) { taken = $0.takeBody(streamID: streamID, into: UnsafeMutableBufferPointer(start: buffer, count: capacity)) }
    switch taken.end {
    case .more: break
    case .endOfStream: flags?.pointee |= UInt32(NGHTTP2_DATA_FLAG_EOF.rawValue)
    case .beforeTrailers: flags?.pointee |= UInt32(NGHTTP2_DATA_FLAG_EOF.rawValue | NGHTTP2_DATA_FLAG_NO_END_STREAM.rawValue)
    }
    return taken.count
}
