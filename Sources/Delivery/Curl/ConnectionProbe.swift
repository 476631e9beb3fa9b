public import Base
import CCurl
import PushServices

/// Sends a server one request, with a token that no device has, and tells how far it got.
/// `volley doctor` uses it.
///
/// It uses libcurl, which reports each step of the way, through every kind of proxy.
public struct ConnectionProbe {
    /// The steps of the way, in order.
    public enum Stage: Int, Comparable, CaseIterable, Sendable {
        /// Looking up the address of the server, or of the proxy if there is one.
        case name
        /// Opening a TCP connection to that address.
        case connection
        /// Getting through the proxy to the server.
        case proxy
        /// Trusting the server's certificate and agreeing on a version of TLS.
        case tls
        /// Agreeing on HTTP/2.
        case http2
        /// Getting an answer.
        case answer

        /// Earlier steps come first.
        public static func < (left: Stage, right: Stage) -> Bool { left.rawValue < right.rawValue }
    }

    /// How far the request got.
    public struct Result: Sendable {
        /// The step that failed and why; nil if the server answered.
        public var failure: (stage: Stage, message: String)?
        /// The address that the probe connected to; blank for none.
        public var address = ""
        /// The TLS version and cipher in libcurl's words; blank if none were agreed on.
        public var tls = ""
        /// The answer's status; 0 without one.
        public var status = 0
        /// The answer's reason; blank if it gives none.
        public var reason = ""
        /// Whether the answer is not one that the service writes: a page, or a part of one.
        public var isStrange = false
        /// The time in the server's answer; nil if it gives none, as is usual.
        public var serverTime: Timestamp?
        /// The midpoint between request and answer, by this machine's clock.
        public var localTime = Timestamp.now()

        /// Creates a result without any progress.
        public init() {}
    }

    /// The longest time from the beginning to the answer.
    private static let timeoutMilliseconds = 20_000

    private let settings: SenderSettings

    /// - Parameter settings: the endpoint, credentials, headers and proxy of the pushes that the
    ///   probe stands for.
    public init(_ settings: SenderSettings) { self.settings = settings }

    /// Sends the request and waits for the answer. Blocks the calling thread for at most twenty
    /// seconds.
    public func run() -> Result {
        withPipeSignalBlocked { () -> Result in
            do throws(Diagnostic) { return try ask() } catch {
                var result = Result()
                result.failure = (.name, error.message)
                return result
            }
        }
    }

    private func ask() throws(Diagnostic) -> Result {
        let easy = try CurlEasyHandle()
        let notes = ProbeLog(hasProxyTLS: settings.proxyAddress?.scheme == .https)
        var token: ServiceToken?
        if let tokens = settings.credentials.tokens {
            guard case .ready(let current) = tokens.state() else {
                throw Diagnostic("there is no token to show to the server")
            }
            token = current
        }
        let template = settings.service.probeRequest(settings.options)
        let signature = settings.credentials.signer?.lines(at: .now()) ?? []
        let headers = try CurlHeaderList(CurlRoute.headerLines(template, token, signature: signature))
        prepare(easy.pointer, notes, template)
        volley_easy_set_pointer(easy.pointer, CURLOPT_HTTPHEADER, headers.first)
        let before = Timestamp.now()
        let code = withExtendedLifetime(notes) { curl_easy_perform(easy.pointer) }
        let after = Timestamp.now()
        var result = Result()
        result.localTime = Timestamp(epochMilliseconds: (before.epochMilliseconds + after.epochMilliseconds) / 2)
        result.address = volley_easy_get_string(easy.pointer, CURLINFO_PRIMARY_IP).map { String(cString: $0) } ?? ""
        result.tls = notes.tls
        result.status = volley_easy_get_long(easy.pointer, CURLINFO_RESPONSE_CODE)
        let answer = AnswerReader(settings.service).answer(
            status: result.status, retryAfterSeconds: nil, date: nil, body: notes.body)
        (result.reason, result.isStrange) = (answer.reason, answer.isCutOff)
        result.serverTime = volley_easy_get_header(easy.pointer, "date").flatMap {
            Timestamp(httpDate: String(cString: $0))
        }
        if code != CURLE_OK { result.failure = failure(code, easy.pointer, notes) }
        return result
    }

    private func prepare(_ easy: UnsafeMutableRawPointer, _ notes: ProbeLog, _ template: RequestTemplate) {
        CurlRoute(settings).apply(to: easy)
        let context = Unmanaged.passUnretained(notes).toOpaque()
        volley_easy_set_long(easy, CURLOPT_TIMEOUT_MS, Self.timeoutMilliseconds)
        let push = settings.service.probe.push(PushID(runSeed: settings.runSeed, recipient: 0))
        let request = template.single(push, at: Timestamp.now().epochSeconds)
        volley_easy_set_string(easy, CURLOPT_REQUEST_TARGET, request.path)
        volley_easy_set_string(easy, CURLOPT_COPYPOSTFIELDS, String(decoding: request.body, as: UTF8.self))
        volley_easy_set_pointer(easy, CURLOPT_ERRORBUFFER, notes.errorText)
        volley_easy_set_pointer(easy, CURLOPT_WRITEDATA, context)
        volley_easy_set_transfer_function(easy, CURLOPT_WRITEFUNCTION) { buffer, size, count, context in
            guard let buffer, let context else { return 0 }
            ProbeLog.from(context).take(UnsafeRawBufferPointer(start: buffer, count: size * count))
            return size * count
        }
        volley_easy_set_long(easy, CURLOPT_VERBOSE, 1)
        volley_easy_set_pointer(easy, CURLOPT_DEBUGDATA, context)
        volley_easy_set_debug_function(easy) { _, kind, text, count, context in
            if kind == CURLINFO_TEXT, let text, let context {
                ProbeLog.from(context).hear(
                    String(decoding: UnsafeRawBufferPointer(start: text, count: count), as: UTF8.self))
            }
            return 0
        }
        // Sends nothing to a server that does not speak HTTP/2.
        volley_easy_set_pointer(easy, CURLOPT_PREREQDATA, context)
        volley_easy_set_prerequest_function(easy) { context, _, _, _, _ in
            guard let context, ProbeLog.from(context).speaksHTTP2 != false else { return CURL_PREREQFUNC_ABORT }
            return CURL_PREREQFUNC_OK
        }
    }

    private func failure(_ code: CURLcode, _ easy: UnsafeMutableRawPointer, _ notes: ProbeLog) -> (
        stage: Stage, message: String
    ) {
        let message = curlWords(
            code, detail: String(cString: notes.errorText), of: easy, proxy: settings.proxyAddress,
            authorityFile: settings.endpoint.certificateAuthorityFile)
        if let alert = notes.certificateAlert { return (.tls, "the server refused the certificate: \(alert)") }
        if notes.speaksHTTP2 == false { return (.http2, "the server does not speak HTTP/2") }
        if let address = settings.proxyAddress,
            let failure = CurlProxyReply(address: address, easy: easy).failure(
                code, message: message, isBeforeTunnel: notes.isBeforeTunnel)
        {
            return (code == CURLE_COULDNT_RESOLVE_PROXY ? .name : .proxy, failure.text)
        }
        let isConnected = volley_easy_get_offset(easy, CURLINFO_CONNECT_TIME_T) > 0
        switch code {
        case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY: return (.name, message)
        case CURLE_COULDNT_CONNECT: return (.connection, message)
        case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CONNECT_ERROR, CURLE_SSL_CACERT_BADFILE, CURLE_SSL_CERTPROBLEM:
            return (.tls, message)
        case _ where !isConnected: return (.connection, message)
        case _ where volley_easy_get_offset(easy, CURLINFO_APPCONNECT_TIME_T) == 0: return (.tls, message)
        default: return (.answer, message)
        }
    }
}

extension ConnectionFailure {
    /// What went wrong, in words.
    var text: String {
        switch self {
        case .unreachable(let text), .untrusted(let text), .certificateRefused(let text), .misconfigured(let text): text
        case .proxyRefused(.credentials(let text)): "the proxy did not accept the user and password: \(text)"
        case .proxyRefused(.forbidden(let text)): "the proxy does not allow this server: \(text)"
        case .proxyRefused(.untrusted(let text)): "the proxy's own certificate is not trusted: \(text)"
        case .notHTTP2: "the server does not speak HTTP/2"
        case .credentialPending: "there is no token to show to the server"
        }
    }
}

/// What libcurl reports on the way. Its callbacks hold this object unretained.
private final class ProbeLog {
    let errorText = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))
    private(set) var body: [UInt8] = []
    private(set) var tls = ""
    private(set) var speaksHTTP2: Bool?
    private(set) var certificateAlert: String?
    /// Whether what libcurl reports about a handshake still concerns the proxy, which is reached
    /// over TLS.
    private(set) var isBeforeTunnel: Bool

    private static let answerLimit = 65_536

    init(hasProxyTLS: Bool) {
        isBeforeTunnel = hasProxyTLS
        errorText.pointee = 0
    }

    deinit { errorText.deallocate() }

    static func from(_ context: UnsafeMutableRawPointer) -> ProbeLog {
        Unmanaged<ProbeLog>.fromOpaque(context).takeUnretainedValue()
    }

    func take(_ bytes: UnsafeRawBufferPointer) { body.append(contentsOf: bytes.prefix(Self.answerLimit - body.count)) }

    /// Reads a line of libcurl's log. libcurl 7.88 writes
    /// `SSL connection using TLSv1.3 / TLS_AES_256_GCM_SHA384` and `ALPN: server accepted h2`. From
    /// lines with other words nothing is concluded.
    func hear(_ line: String) {
        guard !isBeforeTunnel else {
            isBeforeTunnel = !line.hasPrefix("CONNECT tunnel established")
            return
        }
        let line = line.split(separator: "\n").first.map(String.init) ?? ""
        if Self.isAboutClientCertificate(line) { certificateAlert = line }
        let version = "SSL connection using "
        if line.hasPrefix(version) { tls = String(line.dropFirst(version.count)) }
        if line.hasPrefix("ALPN: server") { speaksHTTP2 = line.contains("accepted h2") }
    }

    /// Returns whether a line reports an alert with which a server refuses a client's certificate
    /// (RFC 8446 section 6.2). With TLS 1.3 it arrives after the client's handshake is over, as a
    /// read error.
    private static func isAboutClientCertificate(_ line: String) -> Bool {
        let line = line.lowercased()
        // Outgoing alerts are Volley's own, about the server's certificate.
        guard line.contains("alert"), !line.contains("(out)") else { return false }
        let alerts = [
            "bad certificate", "unsupported certificate", "certificate revoked", "certificate expired",
            "certificate unknown", "unknown ca",
            "access denied", "certificate required",
        ]
        return alerts.contains { line.contains($0) }
    }

}
