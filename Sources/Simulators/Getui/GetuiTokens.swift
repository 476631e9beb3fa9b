import Base
import Cryptography

/// The tokens that the simulator gave out, and the proofs that it gives them out for: a digest of
/// app key, time and master secret.
/// Source: docs.getui.com, RestAPI V2, "token".
struct GetuiTokens {
    private struct Token {
        var bytes: [UInt8]
        var app: String
        var end: Timestamp
        var uses = 0
    }

    /// How far a sender's clock may be off. A guess: the documentation does not say.
    static let clockSkewSeconds: Int64 = 600
    static let mostAuthenticationsPerMinute = 100
    /// The header that carries a token.
    static let header: StaticString = "token"
    /// The name of an app that belongs to its master secret.
    static let appKey = "app_key"
    /// From this number on, tokens that have ended are forgotten.
    private static let manyTokens = 256

    private let accounts: [TrustedSecret]
    private let tokenSeconds: Int
    /// After this many uses a token is revoked; 0 for never.
    private let mostUses: Int
    private var tokens: [Token] = []
    private var quotas: [String: MinuteQuota] = [:]
    /// The number of tokens that were used.
    private(set) var usedTokens = 0

    init(_ configuration: SimulatorConfiguration) {
        accounts = configuration.secrets
        tokenSeconds = configuration.issuer.tokenSeconds
        mostUses = configuration.issuer.messagesPerToken
    }

    // MARK: Use

    /// Whether a header `token` is one of an app's.
    mutating func accepts(_ header: [UInt8]?, app: String, now: Timestamp) -> Bool {
        guard let header,
            let index = tokens.lastIndex(where: { header == $0.bytes && $0.app == app }), now < tokens[index].end,
            mostUses == 0 || tokens[index].uses < mostUses
        else { return false }
        if tokens[index].uses == 0 { usedTokens += 1 }
        tokens[index].uses += 1
        return true
    }

    /// Forgets a token, at its owner's request.
    mutating func remove(_ token: some Collection<UInt8>, app: String) {
        tokens.removeAll { $0.app == app && $0.bytes.elementsEqual(token) }
    }

    // MARK: Proofs

    /// Answers a request for a token.
    mutating func giveOut(to app: String, for body: JSONValue, now: Timestamp) -> GetuiReply {
        guard quotas[app, default: MinuteQuota(limit: Self.mostAuthenticationsPerMinute)].take(at: now) else {
            return .refusal(10003)
        }
        if let flaw = GetuiKeys.authentication.flaw(in: body) { return .badParameter(flaw) }
        guard
            let account = accounts.first(where: {
                $0.app == app && $0.names[Self.appKey] == body["appkey"]?.stringValue
            })
        else {
            return .badParameter("appid or appkey is invalid")
        }
        // The page has it as a text, and Getui's own SDK writes a number.
        let written = body["timestamp"]
        guard let text = written?.stringValue ?? written?.integerValue.map(String.init), let milliseconds = Int64(text),
            abs(milliseconds - now.epochMilliseconds) <= Self.clockSkewSeconds * 1000
        else { return .badParameter("timestamp is invalid") }
        var digest = SHA256()
        for part in [account.names[Self.appKey] ?? "", text, account.secret] { digest.update(part) }
        guard digest.finalizeHex() == body["sign"]?.stringValue else { return .badParameter("sign is invalid") }
        return .success(giveOut(to: app, now: now))
    }

    private mutating func giveOut(to app: String, now: Timestamp) -> JSONValue {
        let digits = (0..<64).map { _ in String(Int.random(in: 0..<16), radix: 16) }.joined()
        if tokens.count >= Self.manyTokens { tokens.removeAll { $0.end <= now } }
        let end = now.adding(seconds: Double(tokenSeconds))
        tokens.append(Token(bytes: Array(digits.utf8), app: app, end: end))
        return .object(pairs: [("expire_time", .string(String(end.epochMilliseconds))), ("token", .string(digits))])
    }
}
