import Base
import PushServices

/// A token as a server gave it.
struct IssuedToken: Hashable, Sendable {
    /// A secret.
    var text: String
    /// For how long it is valid.
    var seconds: Double
}

/// The result of a request for a token.
enum TokenFetchResult: Hashable, Sendable {
    case given(IssuedToken)
    case failed(TokenFetchFailure)
}

/// An answer of a server that gives out tokens, as it arrived.
struct TokenAnswer {
    static let longestBody = 65_536
    static let longestToken = 8192
    /// For how long a token is taken to be valid if the server does not say it, as it need not (RFC
    /// 6749, section 5.1): as long as Google's.
    static let usualSeconds = 3600.0
    /// No service gives out tokens for longer.
    static let longestSeconds = 30 * 86_400.0

    var status: Int
    var body: [UInt8]
    var contentType = ""
    /// The header `date`.
    var serverTime: Timestamp?
    var retryAfterSeconds: Double?

    /// Reads the token, or why the server gave none.
    /// - Parameters:
    ///   - facts: how the service writes its answers; nil for as RFC 6749 says (section 5.1).
    ///   - secret: what no message may repeat.
    ///   - localTime: this machine's clock, between request and answer.
    func read(by facts: DigestFacts? = nil, hiding secret: String, at localTime: Timestamp) -> TokenFetchResult {
        let json = try? JSONValue(parsing: body, maximumDepth: 16)
        if let facts, let json, !isWebPage { return read(facts.read(status, json), hiding: secret, at: localTime) }
        guard (200...299).contains(status) else { return .failed(refusal(json, hiding: secret, at: localTime)) }
        if isWebPage { return flawed(.webPage) }
        if body.allSatisfy({ $0 == 0x20 || $0 == 0x0A || $0 == 0x0D || $0 == 0x09 }) { return flawed(.empty) }
        guard let json else { return flawed(.notJSON) }
        guard let token = json["access_token"]?.stringValue, !token.isEmpty else { return flawed(.noToken) }
        if let flaw = Self.flaw(of: token) { return flawed(flaw) }
        let type = json["token_type"]?.stringValue ?? ""
        guard type.lowercased() == "bearer" else {
            return flawed(.otherType(Self.shown(type, hiding: token, maximumBytes: 40)))
        }
        switch json["expires_in"] {
        case .integer(let seconds): return given(token, seconds: Double(seconds))
        case .double(let seconds): return given(token, seconds: seconds)
        // Some servers put the number in quotes.
        case .string(let text):
            guard let seconds = Int64(text) else { return flawed(.noLifetime) }
            return given(token, seconds: Double(seconds))
        case nil: return given(token, seconds: Self.usualSeconds)
        default: return flawed(.noLifetime)
        }
    }

    private static func flaw(of token: String) -> TokenFetchFailure.Flaw? {
        if token.isEmpty { return .noToken }
        if token.utf8.count > longestToken { return .longToken }
        return token.utf8.allSatisfy { (0x21...0x7E).contains($0) } ? nil : .unfitToken
    }

    /// What an answer in a service's own form says. The end of a token's time is by the server's
    /// clock.
    private func read(_ reading: DigestFacts.Reading, hiding secret: String, at localTime: Timestamp)
        -> TokenFetchResult
    {
        switch reading {
        case .token(let token, let end):
            if let flaw = Self.flaw(of: token) { return flawed(flaw) }
            return given(token, seconds: Double(end - (serverTime ?? localTime).epochMilliseconds) / 1000)
        case .refused(let words, let mayPass):
            var refusal = TokenRefusal(status: status, retryAfterSeconds: retryAfterSeconds)
            refusal.error = Self.shown(words, hiding: secret, maximumBytes: 200)
            refusal.mayPass = mayPass
            refusal.clockLagSeconds = clockLag(at: localTime)
            return .failed(.refused(refusal))
        case .unreadable: return flawed(.noToken)
        }
    }

    private func clockLag(at localTime: Timestamp) -> Double? {
        serverTime.map { Double($0.epochMilliseconds - localTime.epochMilliseconds) / 1000 }
    }

    private func given(_ token: String, seconds: Double) -> TokenFetchResult {
        guard seconds >= 1, seconds <= Self.longestSeconds else { return flawed(.oddLifetime(seconds: seconds)) }
        return .given(IssuedToken(text: token, seconds: seconds))
    }

    private func flawed(_ flaw: TokenFetchFailure.Flaw) -> TokenFetchResult { .failed(.unusable(status: status, flaw)) }

    private func refusal(_ json: JSONValue?, hiding secret: String, at localTime: Timestamp) -> TokenFetchFailure {
        // A page comes from something in between: it does not speak for the server.
        if isWebPage || (300...399).contains(status) {
            return .unusable(status: status, isWebPage ? .webPage : .noToken)
        }
        var refusal = TokenRefusal(status: status, retryAfterSeconds: retryAfterSeconds)
        refusal.error = Self.shown(json?["error"]?.stringValue ?? "", hiding: secret, maximumBytes: 60)
        refusal.details = Self.shown(json?["error_description"]?.stringValue ?? "", hiding: secret, maximumBytes: 200)
        refusal.clockLagSeconds = clockLag(at: localTime)
        return .refused(refusal)
    }

    private var isWebPage: Bool {
        contentType.lowercased().hasPrefix("text/html")
            || body.first { $0 != 0x20 && $0 != 0x0A && $0 != 0x0D } == UInt8(ascii: "<")
    }

    /// The server's words without secrets: a server may repeat what it was sent, whole or in parts.
    private static func shown(_ words: String, hiding secret: String, maximumBytes: Int) -> String {
        var shown = ""
        var word = ""
        func end() {
            shown += isSecret(word, of: secret) ? "…" : word
            word = ""
        }
        for character in words {
            if character.isASCII, character.isLetter || character.isNumber || "-_.".contains(character) {
                word.append(character)
            } else {
                end()
                shown.append(character)
            }
        }
        end()
        return TextFormat.foreign(shown, maximumBytes: maximumBytes)
    }

    /// Whether a word is part of a secret, or looks like one.
    private static func isSecret(_ word: String, of secret: String) -> Bool {
        word.utf8.count > 60 || word.utf8.count >= 8 && secret.contains(word)
    }
}

/// Why no token came. Neither a token nor an assertion is ever in it.
enum TokenFetchFailure: Hashable, Sendable {
    /// There is no connection: a name, a route, a proxy.
    case noConnection(String)
    /// The server's certificate is not trusted, or the handshake failed.
    case untrusted(String)
    /// No whole answer came in time.
    case timedOut(isConnected: Bool)
    /// The connection ended before the answer.
    case noAnswer(String)
    /// The server refused the app's assertion, or said that it cannot answer now.
    case refused(TokenRefusal)
    /// The server, or something in its place, answered without a token that can be used.
    case unusable(status: Int, Flaw)
    /// This machine lacks memory or files.
    case impossible(String)
    /// The run is over.
    case cancelled

    /// What is wrong with an answer.
    enum Flaw: Hashable, Sendable {
        case webPage, empty, cutOff, tooLarge, notJSON, noToken
        /// The token has characters that no header may hold.
        case unfitToken
        case longToken
        /// `expires_in` is no number.
        case noLifetime
        /// `expires_in` is nothing that a token may be valid for.
        case oddLifetime(seconds: Double)
        /// `token_type` is not Bearer.
        case otherType(String)
    }

    /// The refusal after which no other attempt helps; nil if one may.
    var final: TokenRefusal? {
        guard case .refused(let refusal) = self, refusal.isFinal else { return nil }
        return refusal
    }

    /// Whether the cause may pass by itself: the network, or a server in trouble.
    var mayPass: Bool {
        switch self {
        case .noConnection, .timedOut, .noAnswer: true
        case .refused(let refusal): !refusal.isFinal
        case .untrusted, .unusable, .impossible, .cancelled: false
        }
    }

    /// The wait that the server requests; nil without one.
    var retryAfterSeconds: Double? { if case .refused(let refusal) = self { refusal.retryAfterSeconds } else { nil } }

    /// What happened, without a full stop.
    var text: String {
        switch self {
        case .noConnection(let cause): "there is no connection: \(cause)"
        case .untrusted(let cause): "its certificate is not trusted: \(cause)"
        case .timedOut(false): "there was no connection within \(Int(TokenFetcher.connectSeconds)) s"
        case .timedOut(true): "it did not answer within \(Int(TokenFetcher.totalSeconds)) s"
        case .noAnswer(let cause): "the connection ended before an answer: \(cause)"
        case .refused(let refusal): refusal.text
        case .unusable(let status, let flaw): "it answered \(status) \(flaw.text)"
        case .impossible(let cause): cause
        case .cancelled: "the run is over"
        }
    }

    /// What to do, whole sentences.
    var remedy: String {
        switch self {
        case .noConnection, .timedOut, .noAnswer:
            "Check this machine's network, and the proxy in volley.yaml; then try again."
        case .untrusted: "Check the environment in volley.yaml and its ca, and any proxy that opens TLS."
        case .refused(let refusal): refusal.remedy
        case .unusable:
            "Something else may answer in its place: check the environment and proxy in volley.yaml, then try again."
        case .impossible: "Close other programs, or allow more memory and files."
        case .cancelled: "Resume the run."
        }
    }
}

/// The words with which a server gives no token (RFC 6749, section 5.2).
struct TokenRefusal: Hashable, Sendable {
    /// From this difference on, the clock is the likely cause: services allow about five minutes.
    private static let harmfulLagSeconds = 300.0
    /// Errors that say "later", whatever their status (RFC 6749, section 4.1.2.1).
    private static let passing: Set<String> = ["server_error", "temporarily_unavailable", "slow_down"]

    var status: Int
    /// The field `error`; blank without one.
    var error = ""
    /// The field `error_description`; blank without one.
    var details = ""
    var retryAfterSeconds: Double?
    /// The server's clock minus this machine's; nil if the server does not tell the time.
    var clockLagSeconds: Double?

    /// Whether the service says that it will give out a token later; nil if its status and error
    /// say it.
    var mayPass: Bool?

    /// Whether another attempt would be refused, too.
    var isFinal: Bool { mayPass.map(!) ?? isFinalByRFC }

    private var isFinalByRFC: Bool {
        (400...499).contains(status) && status != 408 && status != 429 && !Self.passing.contains(error)
    }

    /// How far this machine's clock is behind the server's, if that may be why; nil otherwise.
    var harmfulClockLagSeconds: Double? { clockLagSeconds.flatMap { abs($0) > Self.harmfulLagSeconds ? $0 : nil } }

    /// The server's words: `invalid_grant: Invalid JWT Signature.`
    var reason: String {
        let known = error.isEmpty ? StatusReason.text(status) : error
        return details.isEmpty ? known : "\(known): \(details)"
    }

    /// What happened, without a full stop.
    var text: String {
        var reason = reason
        if reason.last == "." { reason.removeLast() }
        guard let lag = harmfulClockLagSeconds else { return "it answered \(status) with \(reason)" }
        return
            "it answered \(status) with \(reason); this machine's clock is \(TextFormat.duration(seconds: abs(lag))) "
            + "\(lag > 0 ? "behind" : "ahead of") the server's"
    }

    fileprivate var remedy: String {
        guard isFinal else { return "Try again later." }
        if harmfulClockLagSeconds != nil { return "Set this machine's clock, then try again." }
        if mayPass != nil {
            return "Check the app's names and its secret in volley.yaml, and that this machine's clock is right."
        }
        return
            "Check that the file that identifies the app is the right one, that its key was not deleted or disabled, and that this "
            + "machine's clock is right."
    }
}

extension TokenFetchFailure.Flaw {
    fileprivate var text: String {
        switch self {
        case .webPage: "with a web page"
        case .empty: "with nothing"
        case .cutOff: "and the answer was cut off"
        case .tooLarge: "with more than \(TokenAnswer.longestBody / 1024) KiB"
        case .notJSON: "with something that is not JSON"
        case .noToken: "without a token"
        case .unfitToken: "with a token that no header can hold"
        case .longToken: "with a token of more than \(TokenAnswer.longestToken / 1024) KiB"
        case .noLifetime: "without saying for how long the token is valid"
        case .oddLifetime(let seconds): "with a token that is valid for \(seconds) s"
        case .otherType(let type):
            type.isEmpty ? "without the token's type" : "with a token of type '\(type)', not Bearer"
        }
    }
}
