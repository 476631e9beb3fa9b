import Base
import CCurl
import Glibc
import PushServices

/// A request of libcurl, from `begin` to its end: the handle, the body, and the answer. It is used
/// again for other requests of its connection. libcurl's callbacks hold it unretained.
///
/// libcurl would silently send a request again when a connection from its pool dies before the
/// answer. Its body therefore comes from a callback that can only be read forwards, once, and a
/// second start of a request is refused once its body was read.
final class CurlCall {
    /// The result of a request.
    enum Verdict {
        case answered(DeliveryMachine.Answer)
        /// No answer came, and the peer may have the body.
        case doubtful
        /// libcurl never asked for a byte of the body, and no server can act without it.
        case unsent(ConnectionFailure)
    }

    /// The number that the caller gave it.
    private(set) var request = -1
    /// Whether libcurl asked for the body.
    private(set) var hasReadBody = false
    /// Monotonic nanoseconds.
    private(set) var submittedAt: Int64 = 0

    private let handle: CurlEasyHandle
    private let setup: CurlSetup
    private let meter: BodyByteCounter
    /// `NAME: ID` and a zero: the only header that differs from request to request. libcurl reads
    /// it here.
    private let idLine: UnsafeMutableBufferPointer<UInt8>
    private let idHeader: UnsafeMutablePointer<curl_slist>
    /// The other headers, where each request has its own.
    private var ownHeaders: OwnHeaders?
    private let errorText = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))
    private var body: [UInt8] = []
    private var bodyRead = 0
    private var hasURL = false
    private var answer: [UInt8] = []
    private var answerCount = 0

    var easy: UnsafeMutableRawPointer { handle.pointer }

    /// - Parameters:
    ///   - headers: those of all requests; they must outlive this object.
    ///   - meter: counts what libcurl takes of bodies.
    /// - Throws: a `Diagnostic` when there is not enough memory.
    init(_ setup: CurlSetup, after headers: UnsafeMutablePointer<curl_slist>, _ meter: BodyByteCounter)
        throws(Diagnostic)
    {
        self.setup = setup
        self.meter = meter
        handle = try CurlEasyHandle()
        let name = Array("\(setup.template.idHeader): ".utf8)
        idLine = .allocate(capacity: name.count + PushID.textCount + 1)
        idLine.initialize(repeating: 0)
        _ = idLine.update(fromContentsOf: name)
        idHeader = .allocate(capacity: 1)
        let line = UnsafeMutableRawPointer(idLine.baseAddress)?.assumingMemoryBound(to: CChar.self)
        idHeader.initialize(to: curl_slist(data: line, next: headers))
        errorText.pointee = 0
        prepare()
    }

    deinit {
        idHeader.deallocate()
        idLine.deallocate()
        errorText.deallocate()
    }

    static func of(_ easy: UnsafeMutableRawPointer) -> CurlCall { from(volley_easy_get_private(easy)) }

    private static func from(_ context: UnsafeMutableRawPointer?) -> CurlCall {
        guard let context else { preconditionFailure("libcurl hands back what it was given") }
        return Unmanaged<CurlCall>.fromOpaque(context).takeUnretainedValue()
    }

    /// The place of the id in its line.
    private var id: UnsafeMutableBufferPointer<UInt8> {
        UnsafeMutableBufferPointer(rebasing: idLine[(idLine.count - 1 - PushID.textCount)..<(idLine.count - 1)])
    }

    // MARK: Before

    private func prepare() {
        setup.route.apply(to: easy)
        volley_easy_set_long(easy, CURLOPT_PIPEWAIT, 1)
        volley_easy_set_long(easy, CURLOPT_TIMEOUT_MS, setup.timeoutMilliseconds)
        // Otherwise a connection that is closed would wait for the lookup of a name.
        volley_easy_set_long(easy, CURLOPT_QUICK_EXIT, 1)
        volley_easy_set_pointer(easy, CURLOPT_HTTPHEADER, idHeader)
        volley_easy_set_pointer(easy, CURLOPT_ERRORBUFFER, errorText)
        let context = Unmanaged.passUnretained(self).toOpaque()
        for option in [CURLOPT_PRIVATE, CURLOPT_READDATA, CURLOPT_SEEKDATA, CURLOPT_WRITEDATA, CURLOPT_PREREQDATA] {
            volley_easy_set_pointer(easy, option, context)
        }
        volley_easy_set_transfer_function(easy, CURLOPT_READFUNCTION) { buffer, size, count, context in
            guard let buffer else { return Int(CURL_READFUNC_ABORT) }
            return CurlCall.from(context).give(UnsafeMutableRawBufferPointer(start: buffer, count: size * count))
        }
        volley_easy_set_seek_function(easy) { _, _, _ in CURL_SEEKFUNC_FAIL }
        volley_easy_set_prerequest_function(easy) { context, _, _, _, _ in
            CurlCall.from(context).hasReadBody ? CURL_PREREQFUNC_ABORT : CURL_PREREQFUNC_OK
        }
        volley_easy_set_transfer_function(easy, CURLOPT_WRITEFUNCTION) { buffer, size, count, context in
            CurlCall.from(context).take(UnsafeRawBufferPointer(start: buffer, count: size * count)) ? size * count : 0
        }
    }

    /// Makes it a request. Target and body are copied.
    func begin(request: Int, id: PushID, target: UnsafeBufferPointer<UInt8>, body: UnsafeBufferPointer<UInt8>) {
        precondition(!body.isEmpty, "a request without a body could be processed before a byte of it is read")
        self.request = request
        submittedAt = monotonicNanoseconds()
        id.write(to: self.id)
        self.body.removeAll(keepingCapacity: true)
        self.body.append(contentsOf: body)
        (bodyRead, hasReadBody) = (0, false)
        answer.removeAll(keepingCapacity: true)
        answerCount = 0
        errorText.pointee = 0
        if !target.isEmpty || !hasURL {
            hasURL = true
            let path = setup.template.pathPrefix + String(decoding: target, as: UTF8.self)
            volley_easy_set_string(easy, CURLOPT_URL, setup.route.origin + path)
        }
        volley_easy_set_offset(easy, CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(body.count))
        if let signer = setup.signer { sign(signer) }
    }

    /// Gives the request header lines of its own.
    private func sign(_ signer: RequestSigner) {
        let lines = CurlRoute.headerLines(setup.template, nil, signature: signer.lines(at: setup.clock.now()))
        // Without memory the last signature stays, which the service refuses.
        guard let own = try? OwnHeaders(lines) else { return }
        idHeader.pointee.next = own.list.first
        ownHeaders = own
    }

    // MARK: During the request

    /// Gives libcurl the next bytes of the body.
    private func give(_ buffer: UnsafeMutableRawBufferPointer) -> Int {
        hasReadBody = true
        let piece = body[bodyRead...].prefix(buffer.count)
        buffer.copyBytes(from: piece)
        bodyRead += piece.count
        meter.bytes += piece.count
        return piece.count
    }

    /// Takes bytes of the answer. Returns whether it is not too large yet.
    private func take(_ bytes: UnsafeRawBufferPointer) -> Bool {
        answerCount += bytes.count
        guard answerCount <= CurlEasyHandle.longestAnswer else { return false }
        if setup.answers.mayReadBody(status: status) { answer.append(contentsOf: bytes) }
        return true
    }

    // MARK: Afterwards

    /// Whether it has a connection, so that libcurl has begun to send it.
    var isConnected: Bool { volley_easy_get_offset(easy, CURLINFO_PRETRANSFER_TIME_T) > 0 }

    private var status: Int { volley_easy_get_long(easy, CURLINFO_RESPONSE_CODE) }

    var speaksHTTP2: Bool { volley_easy_get_long(easy, CURLINFO_HTTP_VERSION) == Int(CURL_HTTP_VERSION_2_0) }

    /// Returns the result of the request, which libcurl ended with this code.
    func verdict(_ code: CURLcode) -> Verdict {
        // Headers that announce another answer (1xx) do not count, and a proxy's answer does not
        // either. Over HTTP/2, libcurl 7.88 forgets a status that comes together with a reset of
        // its stream, which leaves the request in doubt.
        if status >= 200, isConnected { return .answered(answer(isCutOff: code != CURLE_OK)) }
        return hasReadBody ? .doubtful : .unsent(failure(code))
    }

    private func answer(isCutOff: Bool) -> DeliveryMachine.Answer {
        let wait = volley_easy_get_offset(easy, CURLINFO_RETRY_AFTER)
        var answer = setup.answers.answer(
            status: status, retryAfterSeconds: wait > 0 ? Double(wait) : nil, date: header("date"), body: answer)
        answer.id = identity
        if let names = setup.budgetHeaders, let reset = header(names.reset).flatMap(Self.seconds) {
            if status == 429, answer.retryAfterSeconds == nil { answer.retryAfterSeconds = max(1, reset) }
            if header(names.remaining).flatMap(Self.seconds) == 0 { answer.budgetReturnsAfterSeconds = max(1, reset) }
        }
        // A page is not what a service wrote, even if it came whole.
        if isCutOff || header("content-type")?.lowercased().hasPrefix("text/html") == true { answer.isCutOff = true }
        return answer
    }

    private var identity: ServiceAnswer.Identity {
        guard let value = volley_easy_get_header(easy, setup.template.idHeader) else { return .missing }
        return UnsafeRawBufferPointer(start: value, count: strlen(value)).elementsEqual(UnsafeRawBufferPointer(id))
            ? .own : .other
    }

    /// A number that is not negative; nil for anything else.
    private static func seconds(_ text: String) -> Double? {
        text.utf8.count <= 9 && !text.isEmpty && text.utf8.allSatisfy({ (0x30...0x39).contains($0) })
            ? Double(text) : nil
    }

    private func header(_ name: String) -> String? { volley_easy_get_header(easy, name).map { String(cString: $0) } }

    private func failure(_ code: CURLcode) -> ConnectionFailure {
        let message = curlWords(
            code, detail: String(cString: errorText), of: easy, proxy: setup.proxy,
            authorityFile: setup.route.authority?.file)
        if let proxy = setup.proxy {
            let isProxys = volley_easy_get_long(easy, CURLINFO_PROXY_SSL_VERIFYRESULT) != 0
            if let failure = CurlProxyReply(address: proxy, easy: easy).failure(
                code, message: message, isBeforeTunnel: isProxys)
            {
                return failure
            }
        }
        switch code {
        case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_ISSUER_ERROR: return .untrusted(message)
        case CURLE_SSL_CACERT_BADFILE, CURLE_SSL_CERTPROBLEM: return .misconfigured(message)
        default: return .unreachable(message)
        }
    }
}

/// A list of headers that a call owns.
private final class OwnHeaders {
    let list: CurlHeaderList

    /// - Throws: a `Diagnostic` when there is not enough memory.
    init(_ lines: [String]) throws(Diagnostic) { list = try CurlHeaderList(lines) }
}

/// A proxy's reply to a transfer that got no connection, as libcurl keeps it.
struct CurlProxyReply {
    private let address: ProxyAddress
    /// The status that answered CONNECT; 0 for none.
    private let status: Int
    /// libcurl's code for the SOCKS answer (CURLproxycode).
    private let socks: CURLproxycode

    init(address: ProxyAddress, easy: UnsafeMutableRawPointer) {
        self.address = address
        status = volley_easy_get_long(easy, CURLINFO_HTTP_CONNECTCODE)
        socks = CURLproxycode(UInt32(clamping: volley_easy_get_long(easy, CURLINFO_PROXY_ERROR)))
    }

    /// Returns what went wrong at the proxy; nil if the failure was behind it.
    /// - Parameter isBeforeTunnel: whether a failed handshake was the one with the proxy.
    func failure(_ code: CURLcode, message: String, isBeforeTunnel: Bool) -> ConnectionFailure? {
        switch code {
        case CURLE_PROXY: return socksFailure(message)
        case CURLE_COULDNT_RESOLVE_PROXY: return .unreachable("the name of the proxy \(address) cannot be resolved")
        case CURLE_PEER_FAILED_VERIFICATION: return isBeforeTunnel ? .proxyRefused(.untrusted(message)) : nil
        case CURLE_RECV_ERROR where status != 0 && !(200...299).contains(status): return connectFailure
        default: return nil
        }
    }

    private var connectFailure: ConnectionFailure {
        let answer = "it answered \(status) to CONNECT"
        switch status {
        case 407: return .proxyRefused(.credentials(answer))
        case 408, 429, 500...: return .unreachable("the proxy cannot reach it: \(answer)")
        default: return .proxyRefused(.forbidden(answer))
        }
    }

    private func socksFailure(_ message: String) -> ConnectionFailure {
        switch socks {
        case CURLPX_USER_REJECTED, CURLPX_NO_AUTH, CURLPX_IDENTD, CURLPX_IDENTD_DIFFER:
            .proxyRefused(.credentials(message))
        case CURLPX_REPLY_NOT_ALLOWED: .proxyRefused(.forbidden(message))
        default: .unreachable(message)
        }
    }
}

/// What libcurl reports about a fetch. Its callback holds this object unretained.
final class FetchLog {
    let errorText = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))
    private(set) var body: [UInt8] = []
    private(set) var isTooLarge = false

    init() { errorText.pointee = 0 }

    deinit { errorText.deallocate() }

    /// Makes a handle report here. This object must outlive the transfer.
    func attach(to easy: UnsafeMutableRawPointer) {
        volley_easy_set_pointer(easy, CURLOPT_ERRORBUFFER, errorText)
        volley_easy_set_pointer(easy, CURLOPT_WRITEDATA, Unmanaged.passUnretained(self).toOpaque())
        volley_easy_set_transfer_function(easy, CURLOPT_WRITEFUNCTION) { buffer, size, count, context in
            guard let buffer, let context else { return 0 }
            let notes = Unmanaged<FetchLog>.fromOpaque(context).takeUnretainedValue()
            return notes.take(UnsafeRawBufferPointer(start: buffer, count: size * count)) ? size * count : 0
        }
    }

    /// Returns whether the answer is not too large yet.
    func take(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard body.count + bytes.count <= TokenAnswer.longestBody else {
            isTooLarge = true
            return false
        }
        body += bytes
        return true
    }

    /// What libcurl wrote about the failure; blank for nothing.
    var detail: String { String(cString: errorText) }
}

/// A transfer that another thread can end at once, as `curl_easy_perform` cannot be.
struct CurlTransfer: ~Copyable {
    private let multi: UnsafeMutableRawPointer
    private let easy: UnsafeMutableRawPointer

    /// - Parameter easy: outlives this value.
    /// - Throws: a `Diagnostic` when there is not enough memory.
    init(_ easy: UnsafeMutableRawPointer) throws(Diagnostic) {
        guard let multi = curl_multi_init() else { throw .cannotMake("a libcurl connection") }
        self.multi = multi
        self.easy = easy
        curl_multi_add_handle(multi, easy)
    }

    deinit {
        curl_multi_remove_handle(multi, easy)
        curl_multi_cleanup(multi)
    }

    /// Returns libcurl's verdict; nil if it was cancelled.
    /// - Throws: a `Diagnostic` when libcurl cannot go on.
    borrowing func run(until cancellation: FetchCancellation) throws(Diagnostic) -> CURLcode? {
        var running: Int32 = 1
        while true {
            guard curl_multi_perform(multi, &running) == CURLM_OK else { throw .cannotMake("a libcurl connection") }
            if running == 0 { break }
            if cancellation.isCancelled { return nil }
            var watched = curl_waitfd(fd: cancellation.wakeup.descriptor, events: Int16(CURL_WAIT_POLLIN), revents: 0)
            // libcurl wakes earlier for its own deadlines, but may overlook a connection
            // (`CurlConnection`).
            let isConnected = volley_easy_get_offset(easy, CURLINFO_PRETRANSFER_TIME_T) > 0
            let longest = isConnected ? TokenFetcher.totalSeconds * 1000 : Double(CurlConnection.lookNanoseconds) / 1e6
            curl_multi_poll(multi, &watched, 1, Int32(longest), nil)
            if watched.revents != 0 { cancellation.wakeup.clear() }
        }
        var left: Int32 = 0
        guard let message = curl_multi_info_read(multi, &left) else { throw .cannotMake("a libcurl connection") }
        return message.pointee.data.result
    }
}
