public import Base
import CNghttp2

/// A server's end of one HTTP/2 connection, without its socket: the client's bytes go in, bytes for the client come out.
///
/// A subclass overrides the events that it needs. nghttp2 reports to it directly, with nothing between a header and its reader. Everything
/// belongs to one thread.
open class HTTP2ServerSession {
    /// One piece of a body.
    public struct BodyPiece {
        /// What follows a piece.
        public enum End {
            /// More follows; never with a count of 0.
            case more
            /// The stream ends with this piece.
            case endOfStream
            /// The body ends with this piece, and the stream with trailers that were submitted before it.
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

    /// nghttp2's session. It is never replaced, and accesses to it are not checked: nghttp2 calls back in the middle of them.
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

    /// Takes bytes from the client and reports their contents. Mistakes for which HTTP/2 has an answer are answered.
    /// - Returns: false if this is not HTTP/2 at all: nothing more can be read.
    public func consume(_ bytes: UnsafeRawBufferPointer) -> Bool {
        nghttp2_session_mem_recv(pointer, bytes.bindMemory(to: UInt8.self).baseAddress, bytes.count) >= 0
    }

    /// Adds frames for the client until `buffer` contains `bytes` or more: a system call for each frame would cost more than the frame.
    /// - Returns: whether there is nothing more to send for now. The added bytes then end with a whole frame.
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

    /// The headers of a request begin (or its trailers, if `isRequest` is false); `headerReceived` follows for each.
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

    /// A stream was reset with REFUSED_STREAM: it exceeded a limit that the client had not acknowledged yet.
    open func streamRefused() {}

    /// A stream exceeded a limit that the client had acknowledged. The connection ends with GOAWAY, PROTOCOL_ERROR (RFC 9113 section 5.1.2
    /// leaves the choice).
    open func streamLimitViolated() {}

    /// The client sent a PING, which is being answered.
    open func pingReceived() {}

    /// Asks for a piece of the body of an answer that was submitted with a body.
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

    /// nghttp2 has one error for all mistakes in HEADERS; the number of open streams shows which one it was.
    func noteInvalidHeaders() {
        let limit = nghttp2_session_get_local_settings(pointer, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS)
        if openStreams >= Int(limit) { streamLimitViolated() }
    }
}
