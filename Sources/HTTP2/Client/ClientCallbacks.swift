import Base
import CNghttp2

/// The callbacks and options of nghttp2 for client sessions. nghttp2 copies both into the session,
/// so that they may be freed once the session is made.
///
/// Each callback gets its `HTTP2ClientSession` as user data, which owns the session.
struct ClientCallbacks: ~Copyable {
    private let setup: SessionSetup
    private var callbacks: OpaquePointer { setup.callbacks }

    /// More than the number of PINGs that fit into 1 MiB.
    private static let mostAcknowledgements = 65_000

    /// - Throws: a `Diagnostic` if there is not enough memory.
    init() throws(Diagnostic) {
        setup = try SessionSetup()
        // The bytes that are read before the next write may contain more PINGs than nghttp2 leaves
        // unanswered by default.
        nghttp2_option_set_max_outbound_ack(setup.options, Self.mostAcknowledgements)
        setHeaderCallbacks()
        setFrameCallbacks()
        setStreamCallbacks()
    }

    func makeSession(for owner: HTTP2ClientSession, memory: SessionMemory) throws(Diagnostic) -> OpaquePointer {
        var session: OpaquePointer?
        var functions = memory.functions
        let result = nghttp2_session_client_new3(
            &session, callbacks, Unmanaged.passUnretained(owner).toOpaque(), setup.options, &functions)
        guard result == 0, let session else { throw .cannotMake("an HTTP/2 connection") }
        return session
    }

    private func setHeaderCallbacks() {
        nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks) { session, frame, user in
            guard let frame else { return 0 }
            let name = nghttp2_session_get_stream_user_data(session, frame.pointee.hd.stream_id)
            withSession(user) { $0.beginHeaders(slot: HTTP2ClientSession.slot(named: name)) }
            return 0
        }
        nghttp2_session_callbacks_set_on_header_callback(callbacks) {
            _, _, name, nameCount, value, valueCount, _, user in
            // Compares the length first: of an answer's headers only these matter.
            if nameCount == 7, memoryEquals(name, ":status") {
                withSession(user) { $0.receiveStatus(UnsafeBufferPointer(start: value, count: valueCount)) }
            } else if nameCount == 11, memoryEquals(name, "retry-after") {
                withSession(user) { $0.receiveRetryAfter(UnsafeBufferPointer(start: value, count: valueCount)) }
            } else if nameCount == 4, memoryEquals(name, "date") {
                withSession(user) { $0.receiveDate(UnsafeBufferPointer(start: value, count: valueCount)) }
            } else {
                withSession(user) {
                    $0.receiveOther(
                        UnsafeBufferPointer(start: name, count: nameCount),
                        UnsafeBufferPointer(start: value, count: valueCount))
                }
            }
            return 0
        }
    }

    private func setFrameCallbacks() {
        nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks) { session, _, stream, bytes, count, user in
            let slot = HTTP2ClientSession.slot(named: nghttp2_session_get_stream_user_data(session, stream))
            if slot >= 0 {
                withSession(user) { $0.receiveBody(slot: slot, UnsafeBufferPointer(start: bytes, count: count)) }
            }
            return 0
        }
        nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks) { session, frame, user in
            guard let frame else { return 0 }
            withSession(user) { receive(frame.pointee, of: session, $0) }
            return 0
        }
        nghttp2_session_callbacks_set_on_frame_send_callback(callbacks) { _, frame, user in
            guard let frame, UInt32(frame.pointee.hd.type) == NGHTTP2_GOAWAY.rawValue else { return 0 }
            let error = HTTP2ErrorCode(rawValue: frame.pointee.goaway.error_code)
            withSession(user) { $0.sentGoAway(error) }
            return 0
        }
        nghttp2_session_callbacks_set_error_callback2(callbacks) { _, _, text, count, user in
            guard let text else { return 0 }
            let words = String(decoding: UnsafeRawBufferPointer(start: text, count: count), as: UTF8.self)
            withSession(user) { $0.noteComplaint(words) }
            return 0
        }
    }

    private func setStreamCallbacks() {
        nghttp2_session_callbacks_set_on_stream_close_callback(callbacks) { session, stream, error, user in
            let slot = HTTP2ClientSession.slot(named: nghttp2_session_get_stream_user_data(session, stream))
            if slot >= 0 { withSession(user) { $0.closeStream(slot: slot, error: HTTP2ErrorCode(rawValue: error)) } }
            return 0
        }
    }
}

private func receive(_ frame: nghttp2_frame, of session: OpaquePointer?, _ owner: HTTP2ClientSession) {
    let isAck = frame.hd.flags & UInt8(NGHTTP2_FLAG_ACK.rawValue) != 0
    switch UInt32(frame.hd.type) {
    case NGHTTP2_HEADERS.rawValue, NGHTTP2_DATA.rawValue:
        let isLast = frame.hd.flags & UInt8(NGHTTP2_FLAG_END_STREAM.rawValue) != 0
        guard isLast || UInt32(frame.hd.type) == NGHTTP2_HEADERS.rawValue else { return }
        let slot = HTTP2ClientSession.slot(named: nghttp2_session_get_stream_user_data(session, frame.hd.stream_id))
        guard slot >= 0 else { return }
        if UInt32(frame.hd.type) == NGHTTP2_HEADERS.rawValue { owner.endHeaders(slot: slot) }
        if isLast { owner.endAnswer(slot: slot) }
    case NGHTTP2_SETTINGS.rawValue:
        if !isAck { owner.receiveSettings() }
    case NGHTTP2_WINDOW_UPDATE.rawValue:
        guard frame.hd.stream_id != 0 else { return }
        let slot = HTTP2ClientSession.slot(named: nghttp2_session_get_stream_user_data(session, frame.hd.stream_id))
        if slot >= 0 { owner.receiveWindow(slot: slot) }
    case NGHTTP2_PING.rawValue:
        if isAck { owner.receivePong() }
    case NGHTTP2_GOAWAY.rawValue:
        let words = UnsafeBufferPointer(start: frame.goaway.opaque_data, count: frame.goaway.opaque_data_len)
        owner.receiveGoAway(HTTP2ErrorCode(rawValue: frame.goaway.error_code), words)
    default: return
    }
}

extension nghttp2_data_provider {
    /// Where nghttp2 gets the body of a slot's request.
    init(bodyOfSlotNamed name: UnsafeMutableRawPointer?) {
        self.init(source: nghttp2_data_source(ptr: name)) { _, _, buffer, capacity, flags, source, user in
            guard let source else { return 0 }
            let slot = HTTP2ClientSession.slot(named: source.pointee.ptr)
            var read: (count: Int, isLast: Bool)?
            withSession(user) {
                read = $0.readBody(slot: slot, into: UnsafeMutableBufferPointer(start: buffer, count: capacity))
            }
            guard let read else { return Int(NGHTTP2_ERR_DEFERRED.rawValue) }
            if read.isLast { flags?.pointee |= UInt32(NGHTTP2_DATA_FLAG_EOF.rawValue) }
            return read.count
        }
    }
}

/// Calls the session's owner. It called nghttp2 and so outlives the call: there is no need to
/// retain it.
@inline(__always)
private func withSession(_ user: UnsafeMutableRawPointer?, _ body: (HTTP2ClientSession) -> Void) {
    guard let user else { return }
    Unmanaged<HTTP2ClientSession>.fromOpaque(user)._withUnsafeGuaranteedRef { body($0) }
}

private func memoryEquals(_ bytes: UnsafePointer<UInt8>?, _ text: StaticString) -> Bool {
    areEqual(
        UnsafeBufferPointer(start: bytes, count: text.utf8CodeUnitCount),
        UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
}
