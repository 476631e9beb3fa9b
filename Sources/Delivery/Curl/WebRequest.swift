public import Base
import CCurl
import Glibc
public import PushServices

/// One request to a server that is no push service, such as a provider of identities: GET, or POST
/// of a form. It does not follow redirects, always checks certificates and names, and takes no more
/// than a bounded answer in a bounded time.
///
/// libcurl and OpenSSL are in the process anyway. AsyncHTTPClient, which comes with Hummingbird,
/// would add a second TLS library, with authorities and limits of its own.
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

    /// Sends the request, and waits for the answer. Blocks the calling thread for at most
    /// `timeoutSeconds`.
    public func run() -> Answer {
        withPipeSignalBlocked { () -> Answer in
            do throws(Diagnostic) { return try ask() } catch { return .failed(error.message) }
        }
    }

    private func ask() throws(Diagnostic) -> Answer {
        let easy = try CurlEasyHandle()
        let lines = try CurlHeaderList(
            ["Accept: application/json", "Expect:"] + headers.map { "\($0.name): \($0.value)" })
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
                volley_easy_set_pointer(
                    easy.pointer, CURLOPT_POSTFIELDS, UnsafeMutableRawPointer(mutating: bytes.baseAddress))
            }
            return withExtendedLifetime((lines.first, body)) { curl_easy_perform(easy.pointer) }
        }
        if body.isTooLarge { return .tooLarge }
        guard code == CURLE_OK else {
            return .failed(
                curlWords(
                    code, detail: String(cString: errorText), of: easy.pointer, proxy: proxy,
                    authorityFile: certificateAuthorityFile))
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

/// A question to a service, apart from its pushes: GET over verified TLS, with the sender's
/// credentials.
public struct ServiceQuery: Sendable {
    private static let timeoutMilliseconds = 30_000

    private let settings: SenderSettings

    /// - Parameter settings: of a sender to the service: only its server, its credentials and its
    ///   way there count.
    public init(_ settings: SenderSettings) { self.settings = settings }

    /// Sends one request. Blocks the calling thread for at most thirty seconds.
    /// - Throws: a `Diagnostic` that says why there is no answer that can be read; it holds no
    ///   secret.
    public func ask(_ question: StatisticsFacts.Question) throws(Diagnostic) -> JSONValue {
        let result = withPipeSignalBlocked { Result { () throws(Diagnostic) in try get(question) } }
        return try result.get()
    }

    private var serviceName: String { settings.service.displayName }

    private func get(_ question: StatisticsFacts.Question) throws(Diagnostic) -> JSONValue {
        let reply = try answer("GET", question.path, at: question.host, asking: ["Accept: application/json"])
        guard (200...299).contains(reply.status), let answer = reply.json else {
            throw Diagnostic(
                "\(serviceName) answered \(reply.status) \(reply.reasonText)",
                remedy: "`volley doctor` tries the app's credentials.",
                [.ask(.checkCredentials)])
        }
        return answer
    }

    /// What the service answered to a request.
    public struct Reply: Sendable {
        /// Its status.
        public var status: Int
        /// nil for a body that is no JSON.
        public var json: JSONValue?
        /// The service's reason; blank for none.
        public var reason: String
        /// The channel that the answer names; nil for none.
        public var channel: String?

        /// The reason, or what the status means.
        public var reasonText: String { reason.isEmpty ? StatusReason.text(status) : reason }
    }

    /// Sends a request about channels. Blocks the calling thread for at most thirty seconds.
    /// - Throws: a `Diagnostic` that says why there is no answer; it holds no secret.
    public func ask(_ request: ChannelRequest) throws(Diagnostic) -> Reply {
        let headers = request.headers.map { "\($0.name): \($0.value)" }
        let result = withPipeSignalBlocked {
            Result { () throws(Diagnostic) in
                try answer(request.method, request.path, asking: headers, request.body, naming: request.idHeader)
            }
        }
        return try result.get()
    }

    private func answer(
        _ method: String, _ path: String, at host: String? = nil, asking own: [String], _ posted: [UInt8] = [],
        naming idHeader: String? = nil
    ) throws(Diagnostic) -> Reply {
        var token: ServiceToken?
        if let tokens = settings.credentials.tokens {
            guard case .ready(let current) = tokens.state() else {
                throw Diagnostic("there is no token to show to \(serviceName)")
            }
            token = current
        }
        let route = CurlRoute(settings, host: host)
        let easy = try CurlEasyHandle()
        let template = RequestTemplate(pathPrefix: "", headers: [], idHeader: "")
        let signature = settings.credentials.signer?.lines(at: settings.clock.now()) ?? []
        let replaced = Set(own.map { $0.prefix { $0 != ":" }.lowercased() })
        let headers = try CurlHeaderList(
            CurlRoute.headerLines(template, token, signature: signature).filter {
                !replaced.contains($0.dropLast().lowercased())
            } + own)
        let body = AnswerBytes(limit: CurlEasyHandle.longestAnswer)
        route.apply(to: easy.pointer)
        switch method {
        case "POST":
            volley_easy_set_string(easy.pointer, CURLOPT_COPYPOSTFIELDS, String(decoding: posted, as: UTF8.self))
        default:
            volley_easy_set_long(easy.pointer, CURLOPT_HTTPGET, 1)
            volley_easy_set_string(easy.pointer, CURLOPT_CUSTOMREQUEST, method)
        }
        volley_easy_set_string(easy.pointer, CURLOPT_URL, route.origin + path)
        volley_easy_set_long(easy.pointer, CURLOPT_TIMEOUT_MS, Self.timeoutMilliseconds)
        volley_easy_set_pointer(easy.pointer, CURLOPT_HTTPHEADER, headers.first)
        volley_easy_set_pointer(easy.pointer, CURLOPT_WRITEDATA, Unmanaged.passUnretained(body).toOpaque())
        volley_easy_set_transfer_function(easy.pointer, CURLOPT_WRITEFUNCTION) { buffer, size, count, context in
            guard let buffer, let context else { return 0 }
            let body = Unmanaged<AnswerBytes>.fromOpaque(context).takeUnretainedValue()
            return body.take(UnsafeRawBufferPointer(start: buffer, count: size * count)) ? size * count : 0
        }
        let code = withExtendedLifetime((headers.first, body)) { curl_easy_perform(easy.pointer) }
        guard code == CURLE_OK else {
            let why = curlWords(
                code, of: easy.pointer, proxy: settings.proxyAddress, authorityFile: route.authority?.file)
            throw Diagnostic("\(serviceName) cannot be asked: \(why)", remedy: "Try again later.")
        }
        let status = volley_easy_get_long(easy.pointer, CURLINFO_RESPONSE_CODE)
        let answer = try? JSONValue(parsing: body.bytes, maximumDepth: 32)
        return Reply(
            status: status, json: answer,
            reason: TextFormat.foreign(answer.map { settings.service.details(of: $0).reason } ?? "", maximumBytes: 100),
            channel: idHeader.flatMap { volley_easy_get_header(easy.pointer, $0) }.map { String(cString: $0) })
    }
}

/// An answer as it arrives. libcurl's callback holds this object unretained.
final class AnswerBytes {
    private(set) var bytes: [UInt8] = []
    private(set) var isTooLarge = false
    private let limit: Int

    init(limit: Int) { self.limit = limit }

    /// Returns whether the answer is not too large yet.
    func take(_ piece: UnsafeRawBufferPointer) -> Bool {
        guard bytes.count + piece.count <= limit else {
            isTooLarge = true
            return false
        }
        bytes += piece
        return true
    }
}

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
