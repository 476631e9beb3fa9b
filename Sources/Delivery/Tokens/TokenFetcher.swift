import Base
import CCurl
import Cryptography
public import PushServices
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

/// Fetches a token from a server, with libcurl: always over verified TLS, without following
/// redirects.
struct TokenFetcher: Sendable {
    static let connectSeconds = 10.0
    static let totalSeconds = 15.0

    /// https.
    let address: String
    /// The only authority to trust; nil for the system's.
    let authority: CurlAuthority?
    /// The proxy; nil for none, whatever the environment says.
    let proxy: ProxyAddress?
    let question: TokenRequest
    /// Dates the requests.
    let clock: CommonClock

    /// Sends one request. Blocks the calling thread for at most fifteen seconds, or until it is
    /// cancelled.
    func fetch(until cancellation: FetchCancellation) -> TokenFetchResult {
        withPipeSignalBlocked { () -> TokenFetchResult in
            do throws(Diagnostic) { return try ask(until: cancellation) } catch {
                return .failed(.impossible(error.message))
            }
        }
    }

    private func ask(until cancellation: FetchCancellation) throws(Diagnostic) -> TokenFetchResult {
        let easy = try CurlEasyHandle()
        let notes = FetchLog()
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
        return answer(easy.pointer, status: status, body: notes.body).read(
            by: question.reading, hiding: asked.secret, at: middle)
    }

    private func prepare(_ easy: UnsafeMutableRawPointer, _ notes: FetchLog, form: String) {
        volley_easy_set_string(easy, CURLOPT_URL, address)
        volley_easy_set_string(easy, CURLOPT_PROTOCOLS_STR, "https")
        volley_easy_set_long(easy, CURLOPT_FOLLOWLOCATION, 0)
        readCompressed(easy)
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

    private func failure(_ code: CURLcode, status: Int, _ easy: UnsafeMutableRawPointer, _ notes: FetchLog)
        -> TokenFetchFailure
    {
        if notes.isTooLarge { return .unusable(status: status, .tooLarge) }
        let message = curlWords(code, detail: notes.detail, of: easy, proxy: proxy, authorityFile: authority?.file)
        let isConnected = volley_easy_get_offset(easy, CURLINFO_APPCONNECT_TIME_T) > 0
        if let proxy, !isConnected,
            let failure = CurlProxyReply(address: proxy, easy: easy).failure(
                code, message: message, isBeforeTunnel: false)
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

/// The identity that requests tokens.
public enum TokenIdentity: Sendable {
    /// The key of an account, which signs assertions.
    case key(AssertionKey)
    /// A secret, for making a digest.
    case secret(AppSecret)
}

/// What is posted to a server that gives out tokens.
struct TokenRequest: Sendable {
    /// A question as it is posted.
    struct PostedRequest {
        var contentType: String
        var body: String
        /// What no message may repeat.
        var secret: String
    }

    private enum Proof {
        case assertion(TokenAssertion)
        case digest(DigestFacts, AppSecret)
    }

    /// https.
    let address: String
    private let proof: Proof

    /// - Parameters:
    ///   - server: see `FetchedTokenSource.init`.
    ///   - file: where a key comes from, for messages.
    /// - Throws: a `Diagnostic` when the private key cannot be used.
    init(_ exchange: TokenExchange, _ identity: TokenIdentity, at server: Endpoint?, file: String?) throws(Diagnostic) {
        switch (exchange.proof, identity) {
        case (.assertion(let facts), .key(let key)):
            address = server.map { "https://\($0.authority)\(facts.path)" } ?? facts.address
            proof = .assertion(
                TokenAssertion(
                    issuer: key.issuer, keyID: key.keyID, scope: facts.scope, audience: address, seconds: facts.seconds,
                    key: try RSASigningKey(pem: key.privateKeyPEM, file: file)))
        case (.digest(let facts), .secret(let secret)):
            guard let server else { preconditionFailure("the server that takes the pushes gives out the tokens") }
            address = "https://\(server.authority)\(facts.path(secret.topic))"
            proof = .digest(facts, secret)
        default: preconditionFailure("an identity is of the kind that its service asks for")
        }
    }

    /// How answers are read: nil for as RFC 6749 says.
    var reading: DigestFacts? { if case .digest(let facts, _) = proof { facts } else { nil } }

    func asked(at now: Timestamp) -> PostedRequest {
        switch proof {
        case .assertion(let assertion):
            let text = assertion.text(at: now)
            return PostedRequest(
                contentType: "application/x-www-form-urlencoded", body: TokenAssertion.form(text), secret: text)
        case .digest(let facts, let secret):
            let parts = DigestFacts.Parts(topic: secret.topic, names: secret.names, milliseconds: now.epochMilliseconds)
            let digest = SHA256.hex(SHA256.digest(of: Array(facts.text(parts, secret.secret).utf8)))
            return PostedRequest(
                contentType: "application/json;charset=utf-8", body: facts.body(parts, digest).text,
                secret: digest)
        }
    }
}

/// What identifies the app to a server that gives out tokens: a JWT (RFC 7523, section 3), signed
/// with RS256.
struct TokenAssertion: Sendable {
    /// The claim `iss`.
    var issuer: String
    /// The header `kid`.
    var keyID: String
    /// The claim `scope`.
    var scope: String
    /// The claim `aud`: the address of the server that gives out the token.
    var audience: String
    /// The claim `exp` is so long after `iat`.
    var seconds: Int64
    var key: RSASigningKey

    /// The signed text. A secret: it is exchanged for a token.
    func text(at now: Timestamp) -> String {
        let header = JSONValue.object(pairs: [
            ("alg", .string("RS256")), ("typ", .string("JWT")), ("kid", .string(keyID)),
        ])
        let claims = JSONValue.object(pairs: [
            ("iss", .string(issuer)), ("scope", .string(scope)), ("aud", .string(audience)),
            ("iat", .integer(now.epochSeconds)),
            ("exp", .integer(now.epochSeconds + seconds)),
        ])
        return jsonWebToken(header: header, claims: claims, sign: key.sign)
    }

    /// The form that is posted (RFC 7523, section 2.1). An assertion needs no escapes.
    static func form(_ assertion: String) -> String {
        "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion=\(assertion)"
    }
}
