public import Base
import CCurl

/// One POST to a webhook with libcurl. It does not follow redirects, and always checks certificates
/// and names.
public struct WebhookPost: Sendable {
    /// The result of a POST.
    public enum Answer: Hashable, Sendable {
        /// The server answered with this status, and may ask for a wait before the next request.
        case answered(status: Int, retryAfterSeconds: Int?)
        /// No answer came, and why.
        case failed(String)
    }

    /// The webhook's URL: https, or http to this machine.
    public var url: String
    /// The headers' names and values. Content-Type is JSON unless it is among them.
    public var headers: [(name: String, value: String)]
    /// The body to post.
    public var body: [UInt8]
    /// A PEM file with the only authority to trust; nil for the system's.
    public var certificateAuthorityFile: String?
    /// The proxy; nil to connect directly to the server, whatever the environment says.
    public var proxy: ProxyAddress?
    /// The longest time from the beginning to the end of the answer.
    public var timeoutSeconds: Double

    /// Creates a POST.
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

    /// Posts and waits for the answer. Blocks the calling thread for at most `timeoutSeconds`.
    public func run() -> Answer {
        withPipeSignalBlocked { () -> Answer in
            do throws(Diagnostic) { return try post() } catch { return .failed(error.message) }
        }
    }

    private func post() throws(Diagnostic) -> Answer {
        let easy = try CurlEasyHandle()
        let lines = try CurlHeaderList(
            ["Content-Type: application/json", "Expect:"] + headers.map { "\($0.name): \($0.value)" })
        let errorText = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))
        errorText.pointee = 0
        defer { errorText.deallocate() }
        prepare(easy.pointer)
        volley_easy_set_pointer(easy.pointer, CURLOPT_HTTPHEADER, lines.first)
        volley_easy_set_pointer(easy.pointer, CURLOPT_ERRORBUFFER, errorText)
        volley_easy_set_offset(easy.pointer, CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(body.count))
        let code = body.withUnsafeBytes { bytes in
            // With a nil pointer libcurl would read the body from its read callback.
            volley_easy_set_pointer(
                easy.pointer, CURLOPT_POSTFIELDS, UnsafeMutableRawPointer(mutating: bytes.baseAddress))
            return curl_easy_perform(easy.pointer)
        }
        let status = volley_easy_get_long(easy.pointer, CURLINFO_RESPONSE_CODE)
        // An answer cut off after its headers still counts: its body does not matter.
        if status >= 200 {
            let wait = volley_easy_get_offset(easy.pointer, CURLINFO_RETRY_AFTER)
            return .answered(status: status, retryAfterSeconds: wait > 0 ? Int(wait) : nil)
        }
        let why = curlWords(
            code, detail: String(cString: errorText), of: easy.pointer, proxy: proxy,
            authorityFile: certificateAuthorityFile)
        return .failed("\(why). \(advice(code))")
    }

    /// What to check when no answer came, without a full stop. Source: libcurl-errors(3).
    private func advice(_ code: CURLcode) -> String {
        switch code {
        case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_ISSUER_ERROR:
            "Check the webhook's host name and `ca` in volley.yaml, and this machine's clock"
        case CURLE_COULDNT_RESOLVE_HOST: "Check the webhook's host name in volley.yaml, and this machine's DNS"
        case CURLE_COULDNT_RESOLVE_PROXY, CURLE_PROXY: "Check `proxy` in volley.yaml, or the variable HTTPS_PROXY"
        case CURLE_COULDNT_CONNECT where proxy != nil:
            "Check `proxy` in volley.yaml, whether the proxy runs, and firewalls on the way to it"
        case CURLE_COULDNT_CONNECT:
            "Check the webhook's host and port in volley.yaml, whether its server runs, and firewalls on the way"
        case CURLE_SSL_CONNECT_ERROR:
            "Check the port of the webhook in volley.yaml: the server must speak HTTPS there, with TLS 1.2 or later, and not plain HTTP"
        case CURLE_OPERATION_TIMEDOUT:
            "Check whether its server is busy, and the way to it; it has \(TextFormat.duration(seconds: timeoutSeconds)) to answer"
        case _ where proxy != nil: "Check `proxy` and the webhook's host and port in volley.yaml, and the proxy's log"
        default: "Check the webhook's host and port in volley.yaml, and its server's log"
        }
    }

    private func prepare(_ easy: UnsafeMutableRawPointer) {
        volley_easy_set_string(easy, CURLOPT_URL, url)
        volley_easy_set_string(easy, CURLOPT_PROTOCOLS_STR, url.lowercased().hasPrefix("http://") ? "http" : "https")
        volley_easy_set_long(easy, CURLOPT_POST, 1)
        volley_easy_set_long(easy, CURLOPT_FOLLOWLOCATION, 0)
        // A signal could interrupt any thread.
        volley_easy_set_long(easy, CURLOPT_NOSIGNAL, 1)
        volley_easy_set_long(easy, CURLOPT_TIMEOUT_MS, Int(timeoutSeconds * 1000))
        volley_easy_set_string(easy, CURLOPT_USERAGENT, "Volley")
        // libcurl would read the environment if these options were not set.
        volley_easy_set_string(easy, CURLOPT_PROXY, proxy?.url ?? "")
        volley_easy_set_string(easy, CURLOPT_NOPROXY, "")
        volley_easy_set_long(easy, CURLOPT_PROXYAUTH, volley_auth_basic)
        volley_easy_set_long(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
        verifyServer(easy, certificateAuthorityFile.map(CurlAuthority.init))
        // Only the status counts. The body is dropped, a mebibyte at most.
        volley_easy_set_offset(easy, CURLOPT_MAXFILESIZE_LARGE, 1 << 20)
        volley_easy_set_transfer_function(easy, CURLOPT_WRITEFUNCTION) { _, size, count, _ in size * count }
    }
}
