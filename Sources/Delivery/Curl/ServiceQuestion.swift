public import Base
import CCurl
import Glibc
public import PushServices

/// A question to a service beside its pushes: GET over verified TLS, with the sender's credentials.
public struct ServiceQuestion: Sendable {
    private static let timeoutMilliseconds = 30_000

    private let settings: SenderSettings

    /// - Parameter settings: of a sender to the service: only its server, its credentials and its way there count.
    public init(_ settings: SenderSettings) { self.settings = settings }

    /// Asks once. Blocks the calling thread for at most thirty seconds.
    /// - Throws: a `Diagnostic` that says why there is no answer that can be read; it holds no secret.
    public func ask(_ question: StatisticsFacts.Question) throws(Diagnostic) -> JSONValue {
        let result = withPipeSignalBlocked { Result { () throws(Diagnostic) in try get(question) } }
        return try result.get()
    }

    private var serviceName: String { settings.service.displayName }

    private func get(_ question: StatisticsFacts.Question) throws(Diagnostic) -> JSONValue {
        var token: ServiceToken?
        if let tokens = settings.credentials.tokens {
            guard case .ready(let current) = tokens.state() else { throw Diagnostic("there is no token to show to \(serviceName)") }
            token = current
        }
        let route = CurlRoute(settings, host: question.host)
        let easy = try CurlEasyHandle()
        let template = RequestTemplate(pathPrefix: "", headers: [], idHeader: "")
        let signature = settings.credentials.signer?.lines(at: settings.clock.now()) ?? []
        let headers = try CurlHeaderList(
            CurlRoute.headerLines(template, token, signature: signature).filter { $0 != "Accept:" } + ["Accept: application/json"])
        let body = AnswerBytes(limit: CurlEasyHandle.longestAnswer)
        route.apply(to: easy.pointer)
        volley_easy_set_long(easy.pointer, CURLOPT_HTTPGET, 1)
        volley_easy_set_string(easy.pointer, CURLOPT_URL, route.origin + question.path)
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
            let why = curlWords(code, of: easy.pointer, proxy: settings.proxyAddress, authorityFile: route.authority?.file)
            throw Diagnostic("\(serviceName) cannot be asked: \(why)", remedy: "Try again later.")
        }
        let status = volley_easy_get_long(easy.pointer, CURLINFO_RESPONSE_CODE)
        let answer = try? JSONValue(parsing: body.bytes, maximumDepth: 32)
        guard (200...299).contains(status), let answer else {
            let reason = answer.map { settings.service.details(of: $0).reason } ?? ""
            let shown = reason.isEmpty ? StatusReason.text(status) : TextFormat.foreign(reason, maximumBytes: 100)
            throw Diagnostic(
                "\(serviceName) answered \(status) \(shown)", remedy: "`volley doctor` tries the app's credentials.",
                [.ask(.checkCredentials)])
        }
        return answer
    }
}
