import Base
import CCurl
import Synchronization

/// Ends a fetch from another thread.
final class FetchCancellation: Sendable {
    /// Rung by `cancel`; and by all that want the fetching thread to look around.
    let wakeup: Wakeup
    private let isSet = Atomic(false)

    /// - Throws: a `Diagnostic` when no more files can be opened.
    init() throws(Diagnostic) { wakeup = try Wakeup() }

    var isCancelled: Bool { isSet.load(ordering: .acquiring) }

    func cancel() {
        isSet.store(true, ordering: .releasing)
        wakeup.wake()
    }
}

/// Asks a server for a token, with libcurl: always over verified TLS, without following redirects.
struct TokenFetcher: Sendable {
    static let connectSeconds = 10.0
    static let totalSeconds = 15.0

    /// https.
    let address: String
    /// The only authority to trust; nil for the system's.
    let authority: CurlAuthority?
    /// The proxy; nil for none, whatever the environment says.
    let proxy: ProxyAddress?
    let question: TokenQuestion

    /// Asks once. Blocks the calling thread for at most fifteen seconds, or until it is cancelled.
    func fetch(until cancellation: FetchCancellation) -> TokenFetch {
        withPipeSignalBlocked { () -> TokenFetch in
            do throws(Diagnostic) { return try ask(until: cancellation) } catch { return .failed(.impossible(error.message)) }
        }
    }

    private func ask(until cancellation: FetchCancellation) throws(Diagnostic) -> TokenFetch {
        let easy = try CurlEasyHandle()
        let notes = FetchNotes()
        let before = Timestamp.now()
        let asked = question.asked(at: before)
        let headers = try CurlHeaderList(["Content-Type: \(asked.contentType)", "Accept: application/json", "Expect:"])
        prepare(easy.pointer, notes, form: asked.body)
        volley_easy_set_pointer(easy.pointer, CURLOPT_HTTPHEADER, headers.first)
        let ended = try withExtendedLifetime(notes) { () throws(Diagnostic) -> CURLcode? in
            try CurlTransfer(easy.pointer).run(until: cancellation)
        }
        guard let code = ended else { return .failed(.cancelled) }
        let status = volley_easy_get_long(easy.pointer, CURLINFO_RESPONSE_CODE)
        if code != CURLE_OK { return .failed(failure(code, status: status, easy.pointer, notes)) }
        let after = Timestamp.now()
        let middle = Timestamp(epochMilliseconds: (before.epochMilliseconds + after.epochMilliseconds) / 2)
        return answer(easy.pointer, status: status, body: notes.body).read(by: question.reading, hiding: asked.secret, at: middle)
    }

    private func prepare(_ easy: UnsafeMutableRawPointer, _ notes: FetchNotes, form: String) {
        volley_easy_set_string(easy, CURLOPT_URL, address)
        volley_easy_set_string(easy, CURLOPT_PROTOCOLS_STR, "https")
        volley_easy_set_long(easy, CURLOPT_FOLLOWLOCATION, 0)
        volley_easy_set_long(easy, CURLOPT_NOSIGNAL, 1)
        // Otherwise a fetch that is cancelled would wait for the lookup of a name.
        volley_easy_set_long(easy, CURLOPT_QUICK_EXIT, 1)
        volley_easy_set_long(easy, CURLOPT_CONNECTTIMEOUT_MS, Int(Self.connectSeconds * 1000))
        volley_easy_set_long(easy, CURLOPT_TIMEOUT_MS, Int(Self.totalSeconds * 1000))
        volley_easy_set_string(easy, CURLOPT_USERAGENT, "Volley")
        volley_easy_set_string(easy, CURLOPT_COPYPOSTFIELDS, form)
        verifyServer(easy, authority)
        useProxy(easy, proxy?.url ?? "")
        volley_easy_set_pointer(easy, CURLOPT_ERRORBUFFER, notes.errorText)
        volley_easy_set_pointer(easy, CURLOPT_WRITEDATA, Unmanaged.passUnretained(notes).toOpaque())
        volley_easy_set_transfer_function(easy, CURLOPT_WRITEFUNCTION) { buffer, size, count, context in
            guard let buffer, let context else { return 0 }
            let notes = Unmanaged<FetchNotes>.fromOpaque(context).takeUnretainedValue()
            return notes.take(UnsafeRawBufferPointer(start: buffer, count: size * count)) ? size * count : 0
        }
    }

    private func answer(_ easy: UnsafeMutableRawPointer, status: Int, body: [UInt8]) -> TokenAnswer {
        var answer = TokenAnswer(status: status, body: body)
        answer.contentType = volley_easy_get_header(easy, "content-type").map { String(cString: $0) } ?? ""
        answer.serverTime = volley_easy_get_header(easy, "date").flatMap { Timestamp(httpDate: String(cString: $0)) }
        let wait = volley_easy_get_offset(easy, CURLINFO_RETRY_AFTER)
        if wait > 0 { answer.retryAfterSeconds = Double(wait) }
        return answer
    }

    private func failure(_ code: CURLcode, status: Int, _ easy: UnsafeMutableRawPointer, _ notes: FetchNotes) -> TokenFetchFailure {
        if notes.isTooLarge { return .unusable(status: status, .tooLarge) }
        let message = notes.message(code, hiding: proxy)
        let isConnected = volley_easy_get_offset(easy, CURLINFO_APPCONNECT_TIME_T) > 0
        if let proxy, !isConnected,
            let failure = CurlProxyReply(address: proxy, easy: easy).failure(code, message: message, isBeforeTunnel: false)
        {
            return .noConnection(failure.text)
        }
        switch code {
        case CURLE_OPERATION_TIMEDOUT: return .timedOut(isConnected: isConnected)
        case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CONNECT_ERROR, CURLE_SSL_CACERT_BADFILE, CURLE_SSL_CERTPROBLEM,
            CURLE_SSL_ISSUER_ERROR:
            return .untrusted(message)
        case CURLE_OUT_OF_MEMORY: return .impossible(message)
        case _ where status >= 200: return .unusable(status: status, .cutOff)
        case _ where isConnected: return .noAnswer(message)
        default: return .noConnection(message)
        }
    }
}

/// What libcurl reports about a fetch. Its callback holds this object unretained.
private final class FetchNotes {
    let errorText = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))
    private(set) var body: [UInt8] = []
    private(set) var isTooLarge = false

    init() { errorText.pointee = 0 }

    deinit { errorText.deallocate() }

    /// Returns whether the answer is not too large yet.
    func take(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard body.count + bytes.count <= TokenAnswer.longestBody else {
            isTooLarge = true
            return false
        }
        body += bytes
        return true
    }

    /// Returns libcurl's message, or its text for the code if there is none, without a proxy's user and password.
    func message(_ code: CURLcode, hiding proxy: ProxyAddress?) -> String {
        var text = String(cString: errorText)
        if text.isEmpty { text = curl_easy_strerror(code).map { String(cString: $0) } ?? "error \(code.rawValue)" }
        return proxy.map { text.replacing($0.url, with: $0.description) } ?? text
    }
}

/// A transfer that another thread can end at once, as `curl_easy_perform` cannot be.
private struct CurlTransfer: ~Copyable {
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
            // libcurl wakes earlier for its own deadlines.
            curl_multi_poll(multi, &watched, 1, Int32(TokenFetcher.totalSeconds * 1000), nil)
            if watched.revents != 0 { cancellation.wakeup.clear() }
        }
        var left: Int32 = 0
        guard let message = curl_multi_info_read(multi, &left) else { throw .cannotMake("a libcurl connection") }
        return message.pointee.data.result
    }
}
