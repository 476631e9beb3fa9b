public import Base
import CNghttp2

/// How a request ended.
public struct EndedRequest: Sendable {
    /// The caller's tag for the request.
    public var tag: Int
    /// The answer's status, 0 if there was none.
    public var status: Int
    /// Whether the answer was cut off: it has a status, and perhaps a part of the body.
    public var isCutOff: Bool
    /// Whether the answer repeats the request's own header.
    public var ownHeader: OwnHeader
    /// Header retry-after in seconds from now, whichever of its two forms it has (RFC 9110, section
    /// 10.2.3); nil if it is missing, or neither.
    public var retryAfterSeconds: Int?
    /// Header date of an answer that refuses the sender (403); nil for all others, for which the
    /// time does not matter.
    public var date: String?
    /// The answer's body, at most `HTTP2ClientSession.bodyLimit` bytes.
    public var body: [UInt8]
    /// Why the stream ended without an answer.
    public var error: HTTP2ErrorCode
    /// Whether `collect` handed out no byte of the request's last frame: then the peer cannot have
    /// acted on it.
    public var isUnsent: Bool
}

/// Whether an answer repeats the header that differs from request to request.
public enum OwnHeader: Hashable, Sendable {
    case missing
    /// It has the header, with a value other than the request's.
    case other
    /// It has the header, with the request's value.
    case own
}

/// The client's end of an HTTP/2 connection (RFC 9113): requests in, bytes out; bytes in, answers
/// out. It does no I/O, and belongs to one thread.
///
/// Every request is a POST with a body to a path. It has the headers that all requests share, and
/// one of its own. `:path` and that header are never indexed (RFC 7541 section 6.2.3), so that they
/// do not churn the compression table.
public final class HTTP2ClientSession {
    /// The most bytes to keep of an answer's body.
    public static let bodyLimit = 65_536
    /// `Sun, 06 Nov 1994 08:49:37 GMT`; a longer text is not a date.
    private static let dateBytes = 29
    /// The window for the peer on the connection, so large that thousands of answers never wait for
    /// it.
    private static let connectionWindow: Int32 = 16 << 20
    /// The most that one frame adds to what `collect` hands out: a frame of 16 KiB with its header.
    public static let largestFrame = 16_384 + 9

    /// Requests that ended since the caller last cleared it.
    @exclusivity(unchecked) public var ended: [EndedRequest] = []
    /// The peer's latest limit of concurrent streams; nil until it announces one.
    @exclusivity(unchecked) public private(set) var streamLimit: Int?
    /// Why the peer takes no more requests: its words (the debug data of GOAWAY), or the name of
    /// the error code; nil while it takes them.
    @exclusivity(unchecked) public private(set) var goAway: String?
    /// Whether a peer that takes no more requests says that nothing is wrong (NO_ERROR).
    @exclusivity(unchecked) public private(set) var leavesInOrder = false
    /// Answers to `ping` so far.
    @exclusivity(unchecked) public private(set) var pongs = 0
    /// Bytes handed out by `collect` so far.
    @exclusivity(unchecked) public private(set) var collectedBytes = 0
    /// nghttp2's error when it gave up the connection.
    @exclusivity(unchecked) private var failure: String?
    /// nghttp2's last complaint about the peer; not every complaint ends the connection.
    @exclusivity(unchecked) private var complaint: String?

    @exclusivity(unchecked) private var slots = SlotTable()
    @exclusivity(unchecked) private var order = BodyOrder()
    /// Requests with a last frame that was not collected: their number, and the bytes of their
    /// bodies that the connection's window must take.
    @exclusivity(unchecked) private var uncollected = 0, queuedBytes = 0
    /// Requests and bytes of bodies so far.
    @exclusivity(unchecked) private var requestCount = 0, bodyBytes = 0
    /// Slots by tag; -1 for none.
    @exclusivity(unchecked) private var slotByTag: [Int32] = []
    /// The slot of the request for which the answer's headers are being read; -1 for none.
    @exclusivity(unchecked) private var current = -1
    /// Header date of the last answer; empty for none. Not stored with each answer, because hardly
    /// any of them needs it.
    @exclusivity(unchecked) private var date: [UInt8] = []
    /// Header retry-after of the last answer, if it is a date.
    @exclusivity(unchecked) private var retryDate: Timestamp?
    private let ownHeader: [UInt8]
    private let headers: RequestHeaders
    private let memory = SessionMemory()
    @exclusivity(unchecked) private var session: OpaquePointer?

    /// - Parameters:
    ///   - authority: `host:port`.
    ///   - headers: names in lower case.
    ///   - ownHeader: the name of the header that differs from request to request.
    /// - Throws: a `Diagnostic` if there is not enough memory.
    public init(authority: String, headers: [HTTP2Header], ownHeader: String) throws(Diagnostic) {
        self.ownHeader = Array(ownHeader.utf8)
        self.headers = RequestHeaders(authority: authority, headers: headers, ownHeader: ownHeader)
        session = try ClientCallbacks().makeSession(for: self, memory: memory)
        let entries = [nghttp2_settings_entry(settings_id: Int32(NGHTTP2_SETTINGS_ENABLE_PUSH.rawValue), value: 0)]
        nghttp2_submit_settings(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), entries, entries.count)
        nghttp2_session_set_local_window_size(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), 0, Self.connectionWindow)
    }

    deinit {
        nghttp2_session_del(session)
    }

    // MARK: Calls from the caller

    /// Queues a request. Path, own header and body are copied.
    /// - Parameter tag: small and not in use by another open request; comes back in `ended`.
    /// - Returns: false, with nothing queued, if the session takes no more requests.
    public func submit(
        tag: Int, path: (UnsafeBufferPointer<UInt8>, UnsafeBufferPointer<UInt8>), own: UnsafeBufferPointer<UInt8>,
        body: UnsafeBufferPointer<UInt8>
    ) -> Bool {
        guard goAway == nil, failure == nil else { return false }
        let slot = slots.take()
        slots[slot].begin(tag: tag, path: path, own: own, body: body)
        headers.point(to: slots[slot])
        let name = UnsafeMutableRawPointer(bitPattern: slot + 1)
        var provider = nghttp2_data_provider(bodyOfSlotNamed: name)
        let fields = headers.fields
        let stream = nghttp2_submit_request(session, nil, fields.baseAddress, fields.count, &provider, name)
        guard stream > 0 else {
            slots.free(slot)
            // RFC 9113 section 5.1.1: a connection that has used up its stream ids is replaced.
            goAway =
                goAway
                ?? "the connection takes no further request (nghttp2: \(String(cString: nghttp2_strerror(stream))))"
            return false
        }
        slots[slot].streamID = stream
        uncollected += 1
        queuedBytes += body.count
        requestCount += 1
        bodyBytes += body.count
        while slotByTag.count <= tag { slotByTag.append(-1) }
        slotByTag[tag] = Int32(slot)
        return true
    }

    /// Resets a request because its answer is no longer needed; `ended` will not contain it.
    public func cancel(tag: Int) {
        guard tag < slotByTag.count, slotByTag[tag] >= 0 else { return }
        let slot = Int(slotByTag[tag])
        slotByTag[tag] = -1
        slots[slot].tag = -1
        nghttp2_submit_rst_stream(
            session, UInt8(NGHTTP2_FLAG_NONE.rawValue), slots[slot].streamID, HTTP2ErrorCode.cancel.rawValue)
    }

    /// Queues a PING.
    public func ping() { nghttp2_submit_ping(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), nil) }

    /// Queues GOAWAY: the caller leaves cleanly.
    public func leave() { nghttp2_session_terminate_session(session, HTTP2ErrorCode.noError.rawValue) }

    /// How many more requests should be submitted now: as many as fit completely into the peer's
    /// window for the connection, by the mean length of a body. More of them would only wait here,
    /// and reach the peer no sooner. At least 1 if nothing waits.
    public var room: Int {
        guard uncollected > 0 else { return max(1, freeWindow) }
        return freeWindow
    }

    private var freeWindow: Int {
        let left = Int(nghttp2_session_get_remote_window_size(session)) - queuedBytes
        return max(0, left) / max(1, bodyBytes / max(1, requestCount))
    }

    // MARK: Bytes

    /// Takes bytes from the peer.
    /// - Returns: false if the connection can no longer be used: see `isAlive`.
    public func receive(_ bytes: UnsafeRawBufferPointer) -> Bool {
        let count = nghttp2_session_mem_recv(session, bytes.bindMemory(to: UInt8.self).baseAddress, bytes.count)
        if count < 0 { fail(count) }
        return isAlive
    }

    /// False once there is nothing left to send or receive: after GOAWAY and the last answer, or
    /// after the peer broke the protocol and was told.
    public var isAlive: Bool {
        failure == nil && (nghttp2_session_want_read(session) != 0 || nghttp2_session_want_write(session) != 0)
    }

    /// How the peer broke the protocol or said goodbye; nil if it did neither.
    public var lastWords: String? { goAway ?? complaint ?? failure }

    /// Fills a buffer with as many frames for the peer as fit, and returns the number of bytes; 0
    /// if there is nothing to send.
    /// - Parameter buffer: at least `largestFrame` bytes.
    public func collect(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        var filled = 0
        while buffer.count - filled >= Self.largestFrame {
            var bytes: UnsafePointer<UInt8>?
            let count = nghttp2_session_mem_send(session, &bytes)
            guard count > 0, let bytes, let target = buffer.baseAddress else {
                if count < 0 { fail(count) }
                if count == 0, releaseHeld() { continue }
                break
            }
            (target + filled).copyMemory(from: bytes, byteCount: count)
            filled += count
            collectedBytes += count
        }
        return filled
    }

    /// Releases bodies that were held back for others; false if no body was held back.
    private func releaseHeld() -> Bool {
        guard let streams = order.takeReleased() else { return false }
        // nghttp2 refuses a stream that was closed in the meantime, which has no other effect.
        for stream in streams { nghttp2_session_resume_data(session, stream) }
        return true
    }

    /// Ends every open request without an answer. `isUnsent` of each says whether its last frame is
    /// beyond what was written.
    /// - Parameter writtenBytes: how many of the collected bytes may have reached the peer.
    public func abandonAll(writtenBytes: Int) {
        for slot in 0..<slots.count where slots[slot].isOpen && slots[slot].tag >= 0 {
            let isUnsent = slots[slot].lastFrameStart.map { $0 >= writtenBytes } ?? true
            reportCutOff(slot, error: .cancel, isUnsent: isUnsent)
        }
    }

    // MARK: Calls from nghttp2

    func beginHeaders(slot: Int) {
        current = slot
        date.removeAll(keepingCapacity: true)
        retryDate = nil
    }

    func receiveStatus(_ value: UnsafeBufferPointer<UInt8>) {
        if current >= 0 { slots[current].status = Int32(clamping: number(value) ?? 0) }
    }

    func receiveRetryAfter(_ value: UnsafeBufferPointer<UInt8>) {
        guard current >= 0 else { return }
        slots[current].retryAfterSeconds = number(value).map { Int32(clamping: $0) } ?? -1
        retryDate = Timestamp(httpDate: String(decoding: value, as: UTF8.self))
    }

    func receiveDate(_ value: UnsafeBufferPointer<UInt8>) {
        date.removeAll(keepingCapacity: true)
        if value.count <= Self.dateBytes { date.append(contentsOf: value) }
    }

    /// A header that matters only if it is the request's own.
    func receiveOther(_ name: UnsafeBufferPointer<UInt8>, _ value: UnsafeBufferPointer<UInt8>) {
        guard current >= 0, ownHeader.withUnsafeBufferPointer({ areEqual(name, $0) }) else { return }
        slots[current].ownHeader = slots[current].isOwn(value) ? .own : .other
    }

    func receiveBody(slot: Int, _ bytes: UnsafeBufferPointer<UInt8>) {
        let room = Self.bodyLimit - slots[slot].answer.count
        slots[slot].answer.append(contentsOf: bytes.prefix(room))
    }

    /// Headers that announce another answer (1xx) do not count.
    func endHeaders(slot: Int) {
        slots[slot].hasHeaders = slots[slot].status >= 200
        guard let retryDate else { return }
        // By the server's clock, if it tells the time.
        let now = Timestamp(httpDate: String(decoding: date, as: UTF8.self)) ?? .now()
        let milliseconds = max(0, retryDate.epochMilliseconds - now.epochMilliseconds)
        slots[slot].retryAfterSeconds = Int32(clamping: (milliseconds + 999) / 1000)
    }

    /// The answer is complete, whatever happens to the rest of the request.
    func endAnswer(slot: Int) {
        guard slots[slot].tag >= 0 else { return }
        report(slot, status: Int(slots[slot].status), isCutOff: false, error: .noError, isUnsent: false)
        guard slots[slot].lastFrameStart == nil else { return }
        // The rest of the request is useless, and its stream would count until it was sent.
        nghttp2_submit_rst_stream(
            session, UInt8(NGHTTP2_FLAG_NONE.rawValue), slots[slot].streamID, HTTP2ErrorCode.cancel.rawValue)
    }

    func closeStream(slot: Int, error: HTTP2ErrorCode) {
        if slots[slot].tag >= 0 { reportCutOff(slot, error: error, isUnsent: slots[slot].lastFrameStart == nil) }
        if current == slot { current = -1 }
        if slots[slot].lastFrameStart == nil { forgetBody(of: slot) }
        slots.free(slot)
    }

    /// A request's body, directly from its slot; nil if others go first.
    func readBody(slot: Int, into buffer: UnsafeMutableBufferPointer<UInt8>) -> (count: Int, isLast: Bool)? {
        if order.mustWait, slots[slot].bodyRead == 0 {
            order.hold(slots[slot].streamID)
            return nil
        }
        let rest = slots[slot].unreadBody
        let count = min(rest.count, buffer.count)
        buffer.baseAddress?.update(from: rest.baseAddress ?? UnsafePointer(slots[slot].memory), count: count)
        slots[slot].bodyRead += count
        let isLast = count == rest.count
        queuedBytes -= slots[slot].bodyProgress == .blocked ? 0 : count
        if isLast {
            // The frame is handed out by the same call of `collect` that asked for this.
            slots[slot].lastFrameStart = collectedBytes
            forgetBody(of: slot)
        } else {
            // nghttp2 has not yet subtracted what was just read.
            note(
                streamWindow: Int(nghttp2_session_get_stream_remote_window_size(session, slots[slot].streamID)) - count,
                of: slot)
        }
        return (count, isLast)
    }

    /// Notes whether a body that was cut waits for the connection's window or for that of its
    /// stream.
    private func note(streamWindow: Int, of slot: Int) {
        let (before, rest) = (slots[slot].bodyProgress, slots[slot].unreadBody.count)
        order.move(&slots[slot].bodyProgress, to: streamWindow > 0 ? .cut : .blocked)
        let now = slots[slot].bodyProgress
        queuedBytes += (now == .blocked ? 0 : rest) - (before == .blocked ? 0 : rest)
    }

    /// Notes that nothing more of a request's body will be sent.
    private func forgetBody(of slot: Int) {
        if slots[slot].bodyProgress != .blocked { queuedBytes -= slots[slot].unreadBody.count }
        order.move(&slots[slot].bodyProgress, to: .whole)
        uncollected -= 1
    }

    /// The peer changed the window of a stream.
    func receiveWindow(slot: Int) {
        guard slots[slot].bodyProgress != .whole else { return }
        note(streamWindow: Int(nghttp2_session_get_stream_remote_window_size(session, slots[slot].streamID)), of: slot)
    }

    func receiveSettings() {
        streamLimit = Int(nghttp2_session_get_remote_settings(session, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS))
        // The initial window of streams applies to open ones, too (RFC 9113 section 6.9.2).
        guard order.hasBegun else { return }
        for slot in 0..<slots.count where slots[slot].isOpen { receiveWindow(slot: slot) }
    }

    func receivePong() { pongs += 1 }

    func receiveGoAway(_ error: HTTP2ErrorCode, _ words: UnsafeBufferPointer<UInt8>) {
        leavesInOrder = error == .noError
        goAway = words.isEmpty ? error.name : TextFormat.foreign(String(decoding: words, as: UTF8.self))
    }

    /// nghttp2 tells a peer that broke the protocol which rule it was, and tells us only through
    /// this.
    func sentGoAway(_ error: HTTP2ErrorCode) {
        if error != .noError { complaint = complaint ?? "the peer broke the rules of HTTP/2 (\(error.name))" }
    }

    func noteComplaint(_ words: String) { complaint = TextFormat.foreign(words) }

    private func fail(_ code: Int) {
        failure = failure ?? "HTTP/2 failed (nghttp2: \(String(cString: nghttp2_strerror(Int32(code)))))"
    }

    /// The slot that a stream's user data names.
    static func slot(named pointer: UnsafeMutableRawPointer?) -> Int { Int(bitPattern: pointer) - 1 }

    // MARK: Slots

    /// Reports a stream that ended before its answer did.
    private func reportCutOff(_ slot: Int, error: HTTP2ErrorCode, isUnsent: Bool) {
        let status = slots[slot].hasHeaders ? Int(slots[slot].status) : 0
        report(slot, status: status, isCutOff: status != 0, error: error, isUnsent: isUnsent && status == 0)
    }

    private func report(_ slot: Int, status: Int, isCutOff: Bool, error: HTTP2ErrorCode, isUnsent: Bool) {
        let tag = slots[slot].tag
        let retryAfter = slots[slot].retryAfterSeconds
        ended.append(
            EndedRequest(
                tag: tag, status: status, isCutOff: isCutOff, ownHeader: slots[slot].ownHeader,
                retryAfterSeconds: retryAfter < 0 ? nil : Int(retryAfter),
                date: status == 403 && !date.isEmpty ? String(decoding: date, as: UTF8.self) : nil,
                body: slots[slot].answer, error: error,
                isUnsent: isUnsent))
        slots[slot].tag = -1
        slotByTag[tag] = -1
    }

    private func number(_ digits: UnsafeBufferPointer<UInt8>) -> Int? {
        guard !digits.isEmpty, digits.count <= 9 else { return nil }
        var number = 0
        for digit in digits {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) else { return nil }
            number = number * 10 + Int(digit - UInt8(ascii: "0"))
        }
        return number
    }
}
