import Base
import CCurl
import Glibc
import PushServices

/// The requests that one token signs, and the sockets that carry them. Belongs to its transport's
/// thread.
///
/// libcurl says which sockets to watch and when to wake it. It multiplexes requests where the
/// server speaks HTTP/2, and otherwise opens a socket for each request at a time. It calls back
/// only within calls of `advance`, `submit`, `abandon` and `close`.
///
/// Of a name with three or more addresses, libcurl 7.88 may not notice that the third is connected
/// after two were refused: neither its socket nor a timer says so before the attempt times out. So
/// while a request waits for a connection, libcurl looks at it from time to time.
///
/// Over HTTP/2, libcurl 7.88 resets every stream, also those that were answered. Servers limit that
/// since CVE-2023-44487 (nghttp2: 1,000 at once, then 33 a second) and close the connection, with
/// everything in flight in doubt. So a connection is left before, in good order.
final class CurlConnection {
    /// The most requests over HTTP/2.
    static let mostRequestsOverHTTP2 = 900

    /// How often libcurl looks at requests that wait for a connection.
    static let lookNanoseconds: Int64 = 100_000_000

    /// When libcurl wants to be called even if nothing happens: monotonic nanoseconds, nil for
    /// never.
    private var timerAt: Int64?
    /// When it looks at requests that wait for a connection: monotonic nanoseconds, nil while none
    /// does.
    private var lookAt: Int64?

    private let index: Int
    private let setup: CurlSetup
    private let multi: UnsafeMutableRawPointer
    private let headers: CurlHeaderList
    private let epoll: Int32
    private var watched: [Int32: SocketInterest] = [:]
    private let meter = BodyByteCounter()
    private var calls: [Int: CurlCall] = [:]
    private var freeCalls: [CurlCall] = []
    private var submitted = 0
    private var answers = 0
    /// Whether the last answer came over HTTP/2.
    private var speaksHTTP2 = false
    /// When the last answer came: monotonic nanoseconds.
    private var answeredAt: Int64 = 0
    private var hasLeft = false
    private var isClosed = false

    /// - Throws: a `Diagnostic` when there is not enough memory.
    init(index: Int, _ setup: CurlSetup, _ token: ServiceToken?, epoll: Int32) throws(Diagnostic) {
        headers = try setup.headers(token)
        guard curlIsReady, let multi = curl_multi_init() else { throw .cannotMake("a libcurl connection") }
        self.multi = multi
        self.index = index
        self.setup = setup
        self.epoll = epoll
        // libcurl's own limits are other ones: no limit of sockets, and a pool from which it takes
        // warm connections.
        volley_multi_set_long(multi, CURLMOPT_MAX_HOST_CONNECTIONS, setup.inFlight)
        volley_multi_set_long(multi, CURLMOPT_MAXCONNECTS, setup.inFlight)
        volley_multi_set_long(multi, CURLMOPT_MAX_CONCURRENT_STREAMS, setup.inFlight)
        volley_multi_set_long(multi, CURLMOPT_PIPELINING, Int(CURLPIPE_MULTIPLEX))
        listen()
    }

    deinit {
        precondition(isClosed, "a connection is closed before it goes, because libcurl calls back while it closes")
    }

    /// Ends everything. Nothing is reported afterwards.
    func close() {
        guard !isClosed else { return }
        isClosed = true
        for call in calls.values { curl_multi_remove_handle(multi, call.easy) }
        // Handles with connections that libcurl keeps must go before the multi handle does.
        calls = [:]
        freeCalls = []
        curl_multi_cleanup(multi)
        for socket in watched.keys { epoll_ctl(epoll, EPOLL_CTL_DEL, socket, nil) }
        watched = [:]
        (timerAt, lookAt) = (nil, nil)
    }

    // MARK: Requests

    /// Starts a request; false if it cannot be started.
    func submit(
        request: Int, id: PushID, target: UnsafeBufferPointer<UInt8>, body: UnsafeBufferPointer<UInt8>,
        _ events: inout [TransportEvent]
    ) -> Bool {
        guard !isClosed, !hasLeft, let call = freeCalls.popLast() ?? (try? CurlCall(setup, after: headers.first, meter))
        else {
            return false
        }
        call.begin(request: request, id: id, target: target, body: body)
        guard curl_multi_add_handle(multi, call.easy) == CURLM_OK else { return false }
        calls[request] = call
        lookAt = lookAt ?? monotonicNanoseconds() + Self.lookNanoseconds
        submitted += 1
        if speaksHTTP2, submitted >= Self.mostRequestsOverHTTP2 {
            leave("it has carried enough requests", isInOrder: true, &events)
        }
        return true
    }

    /// Gives up a request because its answer does not come. If nothing was answered since it was
    /// submitted, the connection may be dead, whatever TCP believes: other requests take another
    /// one.
    func abandon(request: Int, _ events: inout [TransportEvent]) {
        guard let call = calls.removeValue(forKey: request) else { return }
        curl_multi_remove_handle(multi, call.easy)
        freeCalls.append(call)
        if answeredAt < call.submittedAt { leave("nothing was answered in time", &events) }
    }

    // MARK: Sockets and time

    /// When to call `advance(at:)` even if nothing happens: monotonic nanoseconds, nil for never.
    var wakeAt: Int64? {
        var first = [timerAt, lookAt].compactMap(\.self).min()
        for interest in watched.values { if let until = interest.restsUntil { first = min(first ?? until, until) } }
        return first
    }

    /// Lets libcurl do what a socket is ready for.
    func advance(_ socket: Int32, _ ready: UInt32) {
        guard !isClosed else { return }
        var action: Int32 = 0
        let isBroken = ready & (EPOLLERR.rawValue | EPOLLHUP.rawValue) != 0
        if isBroken || ready & EPOLLIN.rawValue != 0 { action |= CURL_CSELECT_IN }
        if isBroken || ready & EPOLLOUT.rawValue != 0 { action |= CURL_CSELECT_OUT }
        var running: Int32 = 0
        let before = meter.bytes
        curl_multi_socket_action(multi, socket, action, &running)
        if watched[socket]?.note(ready, moved: meter.bytes != before, at: monotonicNanoseconds()) == true {
            arm(socket)
        }
    }

    /// Lets libcurl do what is due, and reports the requests that have ended.
    func advance(at now: Int64, _ events: inout [TransportEvent]) {
        for socket in watched.keys where watched[socket]?.wake(at: now) == true { arm(socket) }
        if let timer = timerAt, timer <= now {
            timerAt = nil
            var running: Int32 = 0
            // CURL_SOCKET_TIMEOUT
            curl_multi_socket_action(multi, -1, 0, &running)
        }
        if let look = lookAt, look <= now {
            lookAt = now + Self.lookNanoseconds
            var running: Int32 = 0
            volley_multi_check_all(multi, &running)
        }
        var left: Int32 = 0
        while !isClosed, let message = curl_multi_info_read(multi, &left) {
            guard message.pointee.msg == CURLMSG_DONE, let easy = message.pointee.easy_handle else { continue }
            // Removing the handle frees the message.
            let code = message.pointee.data.result
            curl_multi_remove_handle(multi, easy)
            guard let call = calls.removeValue(forKey: CurlCall.of(easy).request) else { continue }
            report(call, call.verdict(code), at: now, &events)
            freeCalls.append(call)
        }
        if lookAt != nil, calls.values.allSatisfy(\.isConnected) { lookAt = nil }
    }

    private func report(_ call: CurlCall, _ verdict: CurlCall.Verdict, at now: Int64, _ events: inout [TransportEvent])
    {
        switch verdict {
        case .answered(let answer):
            answers += 1
            answeredAt = now
            speaksHTTP2 = call.speaksHTTP2
            events.append(.answered(request: call.request, answer))
        case .doubtful:
            events.append(.reset(request: call.request))
            // libcurl would open a socket for each request that follows.
            if speaksHTTP2 { leave("the server ended requests without an answer", &events) }
        case .unsent(let failure):
            if answers == 0, !calls.values.contains(where: \.hasReadBody) {
                // No request of this connection got anywhere.
                events.append(.failed(connection: index, failure))
                close()
            } else {
                events.append(.notProcessed(request: call.request))
                leave(failure.text, &events)
            }
        }
    }

    /// Takes no more requests. Those in flight may still be answered.
    private func leave(_ cause: String, isInOrder: Bool = false, _ events: inout [TransportEvent]) {
        guard !hasLeft else { return }
        hasLeft = true
        events.append(.leaving(connection: index, cause: cause, isInOrder: isInOrder))
    }

    // MARK: Callbacks

    private func listen() {
        volley_multi_set_callbacks(
            multi,
            { _, socket, what, user, _ in
                CurlConnection.from(user).watch(socket, what)
                return 0
            },
            { _, milliseconds, user in
                CurlConnection.from(user).setTimer(milliseconds)
                return 0
            }, Unmanaged.passUnretained(self).toOpaque())
    }

    private static func from(_ user: UnsafeMutableRawPointer?) -> CurlConnection {
        guard let user else { preconditionFailure("libcurl hands back what it was given") }
        return Unmanaged<CurlConnection>.fromOpaque(user).takeUnretainedValue()
    }

    private func setTimer(_ milliseconds: Int) {
        timerAt = milliseconds < 0 ? nil : monotonicNanoseconds() + Int64(milliseconds) * 1_000_000
    }

    private func watch(_ socket: Int32, _ what: Int32) {
        guard what != CURL_POLL_REMOVE else {
            watched[socket] = nil
            epoll_ctl(epoll, EPOLL_CTL_DEL, socket, nil)
            return
        }
        let wanted =
            (what & CURL_POLL_IN != 0 ? EPOLLIN.rawValue : 0) | (what & CURL_POLL_OUT != 0 ? EPOLLOUT.rawValue : 0)
        guard watched[socket] == nil else {
            watched[socket]?.change(to: wanted)
            return arm(socket)
        }
        watched[socket] = SocketInterest(wanted)
        arm(socket, isNew: true)
    }

    private func arm(_ socket: Int32, isNew: Bool = false) {
        let name = UInt64(index) << 32 | UInt64(UInt32(bitPattern: socket))
        var event = epoll_event(events: watched[socket]?.events ?? 0, data: epoll_data_t(u64: name))
        // A socket that was closed is no longer watched, and its number may be that of another one.
        if !isNew, epoll_ctl(epoll, EPOLL_CTL_MOD, socket, &event) == 0 { return }
        epoll_ctl(epoll, EPOLL_CTL_ADD, socket, &event)
    }

    /// Takes an epoll event's name apart.
    static func parts(ofName name: UInt64) -> (index: Int, socket: Int32) {
        (Int(name >> 32), Int32(bitPattern: UInt32(truncatingIfNeeded: name)))
    }
}

/// What libcurl wants to hear of a socket, and whether it hears now that the socket can be written
/// to.
///
/// libcurl 7.88 wants that even while the peer's HTTP/2 windows are full, and then does nothing:
/// its thread would loop without end. So after a few times without effect, a socket rests for some
/// milliseconds, or until there is something to read, such as an update of a window.
struct SocketInterest {
    /// What libcurl wants: EPOLLIN, EPOLLOUT.
    private var wanted: UInt32
    /// How often in a row the socket could be written to without effect.
    private var idle = 0
    /// When it hears of that again: monotonic nanoseconds; nil when it does not rest.
    private(set) var restsUntil: Int64?

    private static let mostIdle = 3
    private static let shortestRest: Int64 = 1_000_000
    private static let longestRest: Int64 = 16_000_000

    init(_ wanted: UInt32) { self.wanted = wanted }

    /// What to watch the socket for.
    var events: UInt32 { restsUntil == nil ? wanted : wanted & ~EPOLLOUT.rawValue }

    mutating func change(to wanted: UInt32) { self.wanted = wanted }

    /// Notes that libcurl was told what the socket is ready for.
    /// - Parameters:
    ///   - ready: EPOLLIN, EPOLLOUT and errors.
    ///   - moved: whether it took some of a body.
    /// - Returns: whether `events` has changed.
    mutating func note(_ ready: UInt32, moved: Bool, at now: Int64) -> Bool {
        guard ready == EPOLLOUT.rawValue, !moved else {
            idle = 0
            return wake()
        }
        idle += 1
        guard idle >= Self.mostIdle, restsUntil == nil else { return false }
        restsUntil = now + min(Self.longestRest, Self.shortestRest << Int64(min(10, idle - Self.mostIdle)))
        return true
    }

    /// Ends the rest, if it is over.
    /// - Returns: whether `events` has changed.
    mutating func wake(at now: Int64 = .max) -> Bool {
        guard let until = restsUntil, until <= now else { return false }
        restsUntil = nil
        return true
    }
}

/// How many bytes of bodies libcurl has taken from the requests of a connection.
final class BodyByteCounter {
    var bytes = 0
}
