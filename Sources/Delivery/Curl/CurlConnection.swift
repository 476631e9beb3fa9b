import CCurl
import Glibc

/// A multi handle that is kept to exactly one connection, so that each connection can be opened, watched and closed by itself. libcurl would open
/// another one as soon as this one dies, and send pushes there before the first was accepted: once a push was written, every further socket
/// is refused.
///
/// The callbacks hold this object unretained; it lives until its multi handle is gone.
final class CurlConnection {
    /// What the handshake said about HTTP/2.
    enum Negotiated { case undecided, http2, other }

    let index: Int
    let headers: CurlHeaderList
    let token: ProviderToken?
    /// When libcurl wants to be called even if nothing happens: monotonic nanoseconds.
    private(set) var timerAt: Int64?
    private(set) var negotiated = Negotiated.undecided
    /// The alert by which the server refused the client certificate.
    private(set) var certificateAlert: String?
    /// A push was handed over: libcurl may not make another connection.
    private(set) var isSealed = false
    private var hasFirstTransfer = false
    /// Any answer came over it.
    var hasAnswered = false
    /// The proxy is spoken to over TLS, and what libcurl tells of a handshake is still about the proxy.
    private(set) var isBeforeTunnel: Bool
    /// libcurl said of a transfer that the connection is in trouble, and the machine was told.
    var isLeaving = false

    private let multi = CurlMultiHandle()
    private let epoll: Int32

    /// - Parameter hasProxyTLS: a handshake with the proxy comes first.
    init(index: Int, epoll: borrowing EpollHandle, headers: [String], token: ProviderToken?, hasProxyTLS: Bool) {
        self.index = index
        isBeforeTunnel = hasProxyTLS
        self.epoll = epoll.descriptor
        self.headers = CurlHeaderList(headers)
        self.token = token
        setUpMulti()
    }

    static func from(_ context: UnsafeMutableRawPointer) -> CurlConnection {
        Unmanaged<CurlConnection>.fromOpaque(context).takeUnretainedValue()
    }

    private func setUpMulti() {
        let context = Unmanaged.passUnretained(self).toOpaque()
        volley_multi_set_long(multi.pointer, CURLMOPT_PIPELINING, Int(CURLPIPE_MULTIPLEX))
        volley_multi_set_long(multi.pointer, CURLMOPT_MAX_HOST_CONNECTIONS, 1)
        volley_multi_set_long(multi.pointer, CURLMOPT_MAX_TOTAL_CONNECTIONS, 1)
        volley_multi_set_long(multi.pointer, CURLMOPT_MAXCONNECTS, 1)
        volley_multi_set_long(multi.pointer, CURLMOPT_MAX_CONCURRENT_STREAMS, 1000)
        volley_multi_set_pointer(multi.pointer, CURLMOPT_SOCKETDATA, context)
        volley_multi_set_socket_function(multi.pointer) { _, socket, what, context, _ in
            if let context { CurlConnection.from(context).watch(socket, what) }
            return 0
        }
        volley_multi_set_pointer(multi.pointer, CURLMOPT_TIMERDATA, context)
        volley_multi_set_timer_function(multi.pointer) { _, milliseconds, context in
            if let context {
                CurlConnection.from(context).timerAt = milliseconds < 0 ? nil : monotonicNanoseconds() + Int64(milliseconds) * 1_000_000
            }
            return 0
        }
    }

    // MARK: What the transport calls

    /// Starts a transfer that was prepared.
    func add(_ transfer: CurlTransfer) {
        if !hasFirstTransfer {
            hasFirstTransfer = true
            observeHandshake(of: transfer)
        }
        curl_multi_add_handle(multi.pointer, transfer.easy.pointer)
    }

    /// Takes a transfer out; its stream is reset if it was still open.
    func remove(_ transfer: CurlTransfer) {
        curl_multi_remove_handle(multi.pointer, transfer.easy.pointer)
    }

    /// Something happened on a socket.
    func act(on socket: Int32, _ mask: Int32) {
        var running: Int32 = 0
        curl_multi_socket_action(multi.pointer, socket, mask, &running)
    }

    /// Lets libcurl do what is due.
    func actOnTimer() {
        timerAt = nil
        var running: Int32 = 0
        curl_multi_socket_action(multi.pointer, CURL_SOCKET_TIMEOUT, 0, &running)
    }

    /// The next transfer that ended, and how; it is still in the multi handle.
    func nextDone() -> (CurlTransfer, CURLcode)? {
        var left: Int32 = 0
        while let message = curl_multi_info_read(multi.pointer, &left) {
            guard message.pointee.msg == CURLMSG_DONE, let easy = message.pointee.easy_handle else { continue }
            guard let context = volley_easy_get_pointer(easy, CURLINFO_PRIVATE) else { continue }
            return (CurlTransfer.from(context), volley_message_result(message))
        }
        return nil
    }

    // MARK: What libcurl calls

    func openSocket(_ address: curl_sockaddr) -> curl_socket_t {
        guard !isSealed else { return CURL_SOCKET_BAD }
        return socket(Int32(address.family), Int32(address.socktype) | Int32(SOCK_CLOEXEC.rawValue), Int32(address.protocol))
    }

    private func watch(_ socket: Int32, _ what: Int32) {
        var event = epoll_event(events: 0, data: epoll_data_t(u64: UInt64(index) << 32 | UInt64(UInt32(bitPattern: socket))))
        switch what {
        case CURL_POLL_IN: event.events = EPOLLIN.rawValue
        case CURL_POLL_OUT: event.events = EPOLLOUT.rawValue
        case CURL_POLL_INOUT: event.events = EPOLLIN.rawValue | EPOLLOUT.rawValue
        default:
            // It may be closed already, which ends the watch as well.
            epoll_ctl(epoll, EPOLL_CTL_DEL, socket, &event)
            return
        }
        if epoll_ctl(epoll, EPOLL_CTL_MOD, socket, &event) != 0 { epoll_ctl(epoll, EPOLL_CTL_ADD, socket, &event) }
    }

    /// libcurl falls back to HTTP/1.1 without asking, and tells what was negotiated only in its log. The first transfer listens to that, and ends
    /// before anything is sent if it is not HTTP/2.
    private func observeHandshake(of transfer: CurlTransfer) {
        let easy = transfer.easy.pointer
        let context = Unmanaged.passUnretained(self).toOpaque()
        volley_easy_set_long(easy, CURLOPT_VERBOSE, 1)
        volley_easy_set_pointer(easy, CURLOPT_DEBUGDATA, context)
        volley_easy_set_debug_function(easy) { _, kind, text, count, context in
            if kind == CURLINFO_TEXT, let text, let context {
                CurlConnection.from(context).heard(UnsafeRawBufferPointer(start: text, count: count))
            }
            return 0
        }
        volley_easy_set_pointer(easy, CURLOPT_PREREQDATA, context)
        volley_easy_set_prerequest_function(easy) { context, _, _, _, _ in
            guard let context else { return CURL_PREREQFUNC_ABORT }
            let connection = CurlConnection.from(context)
            connection.isSealed = true
            return connection.negotiated == .other ? CURL_PREREQFUNC_ABORT : CURL_PREREQFUNC_OK
        }
    }

    /// The first transfer is over: later ones on its handle need no ear.
    func endObservation(of transfer: CurlTransfer) {
        volley_easy_set_long(transfer.easy.pointer, CURLOPT_VERBOSE, 0)
        volley_easy_set_prerequest_function(transfer.easy.pointer, nil)
    }

    /// Lines of libcurl 7.88: `ALPN: server accepted h2`, `ALPN: server accepted http/1.1`, `ALPN: server did not agree on a protocol. …`.
    /// Between the handshakes with a proxy and through it stands `CONNECT tunnel established, response 200`.
    /// With other words nothing is concluded, and the answer's HTTP version decides.
    private func heard(_ line: UnsafeRawBufferPointer) {
        let text = String(decoding: line, as: UTF8.self)
        guard !isBeforeTunnel else {
            isBeforeTunnel = !text.hasPrefix("CONNECT tunnel established")
            return
        }
        // libcurl keeps only its first complaint as the error's text, and the alert may come second.
        if CurlFailure.isAboutClientCertificate(text) { certificateAlert = text.split(separator: "\n").first.map(String.init) }
        guard text.hasPrefix("ALPN: server") else { return }
        negotiated = text.contains("accepted h2") ? .http2 : .other
    }
}
