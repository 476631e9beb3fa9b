public import Base
import CCurl

/// One request to a server that is no push service, such as a provider of identities: GET, or POST of a form. It does not follow redirects,
/// always checks certificates and names, and takes no more than a bounded answer in a bounded time.
///
/// libcurl and OpenSSL are in the process anyway. AsyncHTTPClient, which comes with Hummingbird, would
/// add a second TLS library, with authorities and limits of its own.
public struct WebRequest: Sendable {
    /// The result of a request.
    public enum Answer: Hashable, Sendable {
        /// The server answered, completely.
        case answered(status: Int, body: [UInt8])
        /// The answer is larger than `mostBytes`.
        case tooLarge
        /// No complete answer came, and why.
        case failed(String)
    }

    /// https, and nothing else.
    public var url: String
    /// The headers' names and values.
    public var headers: [(name: String, value: String)]
    /// The form to post, encoded; nil for GET.
    public var form: String?
    /// A PEM file with the only authority to trust; nil for the system's.
    public var certificateAuthorityFile: String?
    /// The proxy; nil to connect directly to the server, whatever the environment says.
    public var proxy: ProxyAddress?
    /// The longest time from the beginning to the end of the answer.
    public var timeoutSeconds: Double = 10
    /// The most bytes to take of the answer.
    public var mostBytes = 256 << 10

    /// Creates a request.
    public init(url: String, headers: [(name: String, value: String)] = [], form: String? = nil) {
        self.url = url
        self.headers = headers
        self.form = form
    }

    /// Asks, and waits for the answer. Blocks the calling thread for at most `timeoutSeconds`.
    public func run() -> Answer {
        withPipeSignalBlocked { () -> Answer in
            do throws(Diagnostic) { return try ask() } catch { return .failed(error.message) }
        }
    }

    private func ask() throws(Diagnostic) -> Answer {
        let easy = try CurlEasyHandle()
        let lines = try CurlHeaderList(["Accept: application/json", "Expect:"] + headers.map { "\($0.name): \($0.value)" })
        let body = AnswerBytes(limit: mostBytes)
        let errorText = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))
        errorText.pointee = 0
        defer { errorText.deallocate() }
        prepare(easy.pointer)
        volley_easy_set_pointer(easy.pointer, CURLOPT_HTTPHEADER, lines.first)
        volley_easy_set_pointer(easy.pointer, CURLOPT_ERRORBUFFER, errorText)
        volley_easy_set_pointer(easy.pointer, CURLOPT_WRITEDATA, Unmanaged.passUnretained(body).toOpaque())
        volley_easy_set_transfer_function(easy.pointer, CURLOPT_WRITEFUNCTION) { buffer, size, count, context in
            guard let buffer, let context else { return 0 }
            let body = Unmanaged<AnswerBytes>.fromOpaque(context).takeUnretainedValue()
            return body.take(UnsafeRawBufferPointer(start: buffer, count: size * count)) ? size * count : 0
        }
        let posted = form.map { Array($0.utf8) } ?? []
        let code = posted.withUnsafeBytes { bytes in
            if form != nil {
                volley_easy_set_long(easy.pointer, CURLOPT_POST, 1)
                volley_easy_set_offset(easy.pointer, CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(bytes.count))
                volley_easy_set_pointer(easy.pointer, CURLOPT_POSTFIELDS, UnsafeMutableRawPointer(mutating: bytes.baseAddress))
            }
            return withExtendedLifetime((lines.first, body)) { curl_easy_perform(easy.pointer) }
        }
        if body.isTooLarge { return .tooLarge }
        guard code == CURLE_OK else {
            return .failed(
                curlWords(
                    code, detail: String(cString: errorText), of: easy.pointer, proxy: proxy, authorityFile: certificateAuthorityFile))
        }
        return .answered(status: volley_easy_get_long(easy.pointer, CURLINFO_RESPONSE_CODE), body: body.bytes)
    }

    private func prepare(_ easy: UnsafeMutableRawPointer) {
        volley_easy_set_string(easy, CURLOPT_URL, url)
        volley_easy_set_string(easy, CURLOPT_PROTOCOLS_STR, "https")
        volley_easy_set_long(easy, CURLOPT_FOLLOWLOCATION, 0)
        // A signal could interrupt any thread.
        volley_easy_set_long(easy, CURLOPT_NOSIGNAL, 1)
        volley_easy_set_long(easy, CURLOPT_TIMEOUT_MS, Int(timeoutSeconds * 1000))
        volley_easy_set_string(easy, CURLOPT_USERAGENT, "Volley")
        useProxy(easy, proxy?.url ?? "")
        verifyServer(easy, certificateAuthorityFile.map(CurlAuthority.init))
    }
}
