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
    /// Dates what is asked.
    let clock: CommonClock

    /// Asks once. Blocks the calling thread for at most fifteen seconds, or until it is cancelled.
    func fetch(until cancellation: FetchCancellation) -> TokenFetch {
        withPipeSignalBlocked { () -> TokenFetch in
            do throws(Diagnostic) { return try ask(until: cancellation) } catch { return .failed(.impossible(error.message)) }
        }
    }

    private func ask(until cancellation: FetchCancellation) throws(Diagnostic) -> TokenFetch {
        let easy = try CurlEasyHandle()
        let notes = FetchNotes()
        let before = clock.now()
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
        let after = clock.now()
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
        notes.attach(to: easy)
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
        let message = curlWords(code, detail: notes.detail, of: easy, proxy: proxy, authorityFile: authority?.file)
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
