public import Base
import CCurl

/// One POST to a webhook, by libcurl: redirects are not followed, certificates and names always checked.
public struct WebhookPost: Sendable {
    /// What came of it.
    public enum Answer: Hashable, Sendable {
        /// The server answered: the status, and for how many seconds it wants to be left alone.
        case answered(status: Int, retryAfterSeconds: Int?)
        /// No answer came, and why, in libcurl's words.
        case failed(String)
    }

    /// https, or http to this machine.
    public var url: String
    /// Names and values; Content-Type is JSON's unless said otherwise.
    public var headers: [(name: String, value: String)]
    /// What is posted.
    public var body: [UInt8]
    /// A PEM with the only authority to trust; nil for the system's.
    public var certificateAuthorityFile: String?
    /// The proxy's URL; nil goes straight to the server, whatever the environment says.
    public var proxy: ProxyAddress?
    /// From the beginning to the answer's end.
    public var timeoutSeconds: Double

    /// A POST.
    public init(
        url: String, headers: [(name: String, value: String)], body: [UInt8], certificateAuthorityFile: String? = nil,
        proxy: ProxyAddress? = nil, timeoutSeconds: Double = 10
    ) {
        self.url = url
        self.headers = headers
        self.body = body
        self.certificateAuthorityFile = certificateAuthorityFile
        self.proxy = proxy
        self.timeoutSeconds = timeoutSeconds
    }

    /// Posts; the calling thread waits, at most `timeoutSeconds`.
    public func run() -> Answer {
        withPipeSignalBlocked { () -> Answer in
            do throws(Diagnostic) { return try post() } catch { return .failed(error.message) }
        }
    }

    private func post() throws(Diagnostic) -> Answer {
        let easy = try CurlEasyHandle()
        let lines = try CurlHeaderList(["Content-Type: application/json", "Expect:"] + headers.map { "\($0.name): \($0.value)" })
        let errorText = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))
        errorText.pointee = 0
        defer { errorText.deallocate() }
        prepare(easy.pointer)
        volley_easy_set_pointer(easy.pointer, CURLOPT_HTTPHEADER, lines.first)
        volley_easy_set_pointer(easy.pointer, CURLOPT_ERRORBUFFER, errorText)
        volley_easy_set_offset(easy.pointer, CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(body.count))
        let code = body.withUnsafeBytes { bytes in
            // libcurl takes "no bytes" for "read them from somewhere".
            volley_easy_set_pointer(easy.pointer, CURLOPT_POSTFIELDS, UnsafeMutableRawPointer(mutating: bytes.baseAddress))
            return curl_easy_perform(easy.pointer)
        }
        let status = volley_easy_get_long(easy.pointer, CURLINFO_RESPONSE_CODE)
        // An answer that is cut behind its headers is an answer: its body is of no interest.
        if status >= 200 {
            let wait = volley_easy_get_offset(easy.pointer, CURLINFO_RETRY_AFTER)
            return .answered(status: status, retryAfterSeconds: wait > 0 ? Int(wait) : nil)
        }
        var text = String(cString: errorText)
        if text.isEmpty { text = curl_easy_strerror(code).map { String(cString: $0) } ?? "error \(code.rawValue)" }
        return .failed(proxy.map { text.replacing($0.url, with: $0.description) } ?? text)
    }

    private func prepare(_ easy: UnsafeMutableRawPointer) {
        volley_easy_set_string(easy, CURLOPT_URL, url)
        volley_easy_set_string(easy, CURLOPT_PROTOCOLS_STR, url.lowercased().hasPrefix("http://") ? "http" : "https")
        volley_easy_set_long(easy, CURLOPT_POST, 1)
        volley_easy_set_long(easy, CURLOPT_FOLLOWLOCATION, 0)
        // Signals would hit whatever thread they like.
        volley_easy_set_long(easy, CURLOPT_NOSIGNAL, 1)
        volley_easy_set_long(easy, CURLOPT_TIMEOUT_MS, Int(timeoutSeconds * 1000))
        volley_easy_set_string(easy, CURLOPT_USERAGENT, "Volley")
        // The environment, which libcurl reads where these are not set, has no say here.
        volley_easy_set_string(easy, CURLOPT_PROXY, proxy?.url ?? "")
        volley_easy_set_string(easy, CURLOPT_NOPROXY, "")
        volley_easy_set_long(easy, CURLOPT_PROXYAUTH, volley_auth_basic)
        volley_easy_set_long(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
        verifyServer(easy, certificateAuthorityFile.map(CurlAuthority.init))
        // The status says all; what else is answered is dropped, a mebibyte at most.
        volley_easy_set_offset(easy, CURLOPT_MAXFILESIZE_LARGE, 1 << 20)
        volley_easy_set_transfer_function(easy, CURLOPT_WRITEFUNCTION) { _, size, count, _ in size * count }
    }
}
