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
