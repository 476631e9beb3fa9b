import Base

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
