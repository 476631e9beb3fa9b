import Base
import CCurl
import PushServices

/// What became of a request for names.
enum NameFetch: Hashable, Sendable {
    case given([String])
    case failed(NameTrouble)
    /// The run is over.
    case cancelled
}

/// Asks a service for names of requests, with libcurl: on the same way, and with the same credential, as pushes go.
struct NameFetcher: Sendable {
    private static let totalSeconds = 15.0
    private static let longestName = 200

    private let settings: SenderSettings
    private let names: FetchedNames

    init(_ settings: SenderSettings, _ names: FetchedNames) {
        self.settings = settings
        self.names = names
    }

    /// Asks once. Blocks the calling thread for at most fifteen seconds, or until it is cancelled.
    func fetch(_ count: Int, until cancellation: FetchCancellation) -> NameFetch {
        withPipeSignalBlocked { () -> NameFetch in
            do throws(Diagnostic) { return try ask(count, until: cancellation) } catch { return failed(error.message) }
        }
    }

    private func ask(_ count: Int, until cancellation: FetchCancellation) throws(Diagnostic) -> NameFetch {
        var token: ServiceToken?
        if let tokens = settings.credentials.tokens {
            guard case .ready(let current) = tokens.state() else { return failed("there is no token yet") }
            token = current
        }
        let route = CurlRoute(settings)
        let easy = try CurlEasyHandle(), notes = FetchNotes()
        let signature = settings.credentials.signer?.lines(at: .now()) ?? []
        let headers = try CurlHeaderList(CurlRoute.headerLines(settings.request, token, signature: signature))
        route.apply(to: easy.pointer)
        volley_easy_set_long(easy.pointer, CURLOPT_HTTPGET, 1)
        volley_easy_set_string(easy.pointer, CURLOPT_URL, route.origin + names.path(count))
        // Otherwise a fetch that is cancelled would wait for the lookup of a name.
        volley_easy_set_long(easy.pointer, CURLOPT_QUICK_EXIT, 1)
        volley_easy_set_long(easy.pointer, CURLOPT_TIMEOUT_MS, Int(Self.totalSeconds * 1000))
        volley_easy_set_pointer(easy.pointer, CURLOPT_HTTPHEADER, headers.first)
        notes.attach(to: easy.pointer)
        let ended = try withExtendedLifetime(notes) { () throws(Diagnostic) -> CURLcode? in
            try CurlTransfer(easy.pointer).run(until: cancellation)
        }
        guard let code = ended else { return .cancelled }
        guard code == CURLE_OK else { return failed(notes.message(code, hiding: settings.proxyAddress)) }
        let status = volley_easy_get_long(easy.pointer, CURLINFO_RESPONSE_CODE)
        return read(notes.body, status: status, retryAfterSeconds: status == 200 ? nil : wait(easy.pointer))
    }

    /// How long the service asks to wait: nil if it does not.
    private func wait(_ easy: UnsafeMutableRawPointer) -> Double? {
        let wait = volley_easy_get_offset(easy, CURLINFO_RETRY_AFTER)
        if wait > 0 { return Double(wait) }
        guard let name = settings.service.budgetHeaders?.reset, let text = volley_easy_get_header(easy, name) else { return nil }
        return UInt32(String(cString: text)).map { max(1, Double($0)) }
    }

    private func failed(_ cause: String) -> NameFetch { .failed(NameTrouble(text: "no \(names.noun)s for calls: \(cause)")) }

    /// Reads an answer: names, or what the service's facts say that it means.
    func read(_ body: [UInt8], status: Int, retryAfterSeconds: Double?) -> NameFetch {
        let json = try? JSONValue(parsing: body, maximumDepth: 16)
        if status == 200, let texts = json.flatMap(names.read) {
            let usable = texts.filter {
                !$0.isEmpty && $0.utf8.count <= Self.longestName && $0.utf8.allSatisfy { (0x21...0x7E).contains($0) }
            }
            return usable.isEmpty ? failed("it gave out none that can be used") : .given(usable)
        }
        let reason = TextFormat.foreign(json.map(settings.service.details(of:))?.reason ?? "", maximumBytes: 100)
        let meaning = settings.service.meaning(of: ServiceAnswer(status: status, reason: reason, id: .missing))
        guard case .stop = meaning else {
            return .failed(
                NameTrouble(
                    text: "no \(names.noun)s for calls: it answered \(status) \(reason.isEmpty ? StatusReason.text(status) : reason)",
                    status: status,
                    retryAfterSeconds: retryAfterSeconds))
        }
        return .failed(NameTrouble(text: reason.isEmpty ? StatusReason.text(status) : reason, status: status, isFinal: true))
    }
}
