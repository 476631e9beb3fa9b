import Base
import CCurl
import PushServices

/// Fetches from a service what requests need before they leave, with libcurl: by the same route,
/// and with the same credential, as pushes.
struct ServiceClient: Sendable {
    private static let totalSeconds = 15.0
    private static let longestName = 200

    /// What is asked.
    enum Question {
        case get
        case post([UInt8])
    }

    /// What the service says.
    struct Answer {
        var status: Int
        /// nil for a body that is no JSON.
        var json: JSONValue?
        /// The service's reason; blank for none.
        var reason: String
        var meaning: AnswerMeaning
        /// The wait that the service requests; nil without one.
        var retryAfterSeconds: Double?
        /// The token that was used.
        var token: ServiceToken?

        /// Whether the service refuses what every further question would ask for, or no such
        /// service answers at the address.
        var isFinal: Bool {
            switch meaning {
            case .stop, .stopIfRepeated, .usedUp: true
            case .notTheService: (400..<500).contains(status) && status != 407
            default: false
            }
        }

        /// The reason, or what the status means.
        var reasonText: String { reason.isEmpty ? StatusReason.text(status) : reason }
    }

    /// The result of a question.
    enum Result {
        case answered(Answer)
        case failed(String)
        case cancelled
    }

    private let settings: SenderSettings

    init(_ settings: SenderSettings) { self.settings = settings }

    /// Whether a text can be a name in a request.
    static func isName(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.count <= longestName && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    }

    /// Sends one request. Blocks the calling thread for at most fifteen seconds, or until it is
    /// cancelled.
    /// - Parameter host: nil for the endpoint's own.
    func ask(_ question: Question, _ path: String, at host: String? = nil, until cancellation: FetchCancellation)
        -> Result
    {
        withPipeSignalBlocked { () -> Result in
            do throws(Diagnostic) { return try send(question, path, at: host, until: cancellation) } catch {
                return .failed(error.message)
            }
        }
    }

    private func send(
        _ question: Question, _ path: String, at host: String?, until cancellation: FetchCancellation
    ) throws(Diagnostic) -> Result {
        var token: ServiceToken?
        if let tokens = settings.credentials.tokens {
            guard case .ready(let current) = tokens.state() else { return .failed("there is no token yet") }
            token = current
        }
        let route = CurlRoute(settings, host: host)
        let easy = try CurlEasyHandle(), notes = FetchLog()
        let signature = settings.credentials.signer?.lines(at: settings.clock.now()) ?? []
        let headers = try CurlHeaderList(CurlRoute.headerLines(settings.request, token, signature: signature))
        route.apply(to: easy.pointer)
        switch question {
        case .get: volley_easy_set_long(easy.pointer, CURLOPT_HTTPGET, 1)
        case .post(let body):
            // A text without zeros: it is JSON.
            volley_easy_set_string(easy.pointer, CURLOPT_COPYPOSTFIELDS, String(decoding: body, as: UTF8.self))
        }
        volley_easy_set_string(easy.pointer, CURLOPT_URL, route.origin + path)
        // Otherwise a question that is cancelled would wait for the lookup of a name.
        volley_easy_set_long(easy.pointer, CURLOPT_QUICK_EXIT, 1)
        volley_easy_set_long(easy.pointer, CURLOPT_TIMEOUT_MS, Int(Self.totalSeconds * 1000))
        volley_easy_set_pointer(easy.pointer, CURLOPT_HTTPHEADER, headers.first)
        notes.attach(to: easy.pointer)
        let ended = try withExtendedLifetime(notes) { () throws(Diagnostic) -> CURLcode? in
            try CurlTransfer(easy.pointer).run(until: cancellation)
        }
        guard let code = ended else { return .cancelled }
        guard code == CURLE_OK else {
            return .failed(
                curlWords(
                    code, detail: notes.detail, of: easy.pointer, proxy: settings.proxyAddress,
                    authorityFile: route.authority?.file))
        }
        let status = volley_easy_get_long(easy.pointer, CURLINFO_RESPONSE_CODE)
        var answer = read(notes.body, status: status, retryAfterSeconds: status == 200 ? nil : wait(easy.pointer))
        answer.token = token
        return .answered(answer)
    }

    /// The wait that the service requests; nil without one.
    private func wait(_ easy: UnsafeMutableRawPointer) -> Double? {
        let wait = volley_easy_get_offset(easy, CURLINFO_RETRY_AFTER)
        if wait > 0 { return Double(wait) }
        guard let name = settings.service.budgetHeaders?.reset, let text = volley_easy_get_header(easy, name) else {
            return nil
        }
        return UInt32(String(cString: text)).map { max(1, Double($0)) }
    }

    /// What an answer says, by the service's facts.
    private func read(_ body: [UInt8], status: Int, retryAfterSeconds: Double?) -> Answer {
        let json = try? JSONValue(parsing: body, maximumDepth: 16)
        let reason = TextFormat.foreign(json.map(settings.service.details(of:))?.reason ?? "", maximumBytes: 100)
        let meaning = settings.service.meaning(of: ServiceAnswer(status: status, reason: reason, id: .missing))
        return Answer(
            status: status, json: json, reason: reason, meaning: meaning, retryAfterSeconds: retryAfterSeconds)
    }
}
