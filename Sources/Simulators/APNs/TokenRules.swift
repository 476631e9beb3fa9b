import Base

/// Device tokens with fixed answers: those of `SimulatorFaults.answers`, and always those that begin with one of these eight digits:
///
/// | first digits | answer |
/// |---|---|
/// | `00000410` | 410 Unregistered, invalid for three days |
/// | `00000400` | 400 BadDeviceToken |
/// | `00000429` | 429 TooManyRequests the first time, then accepted |
/// | `00000503` | 503 ServiceUnavailable the first time, then accepted |
///
/// A token of zeros only, which `volley doctor` uses, gets BadDeviceToken after everything else was checked.
///
/// These tokens show every kind of outcome in samples and tests without any configuration.
struct TokenRules {
    private struct Rule {
        var answer: SimulatedAnswer
        var remaining: Int?
    }

    private var fixed: [TokenHash: Rule] = [:]
    private var seenTemporary: Set<TokenHash> = []
    private static let prefixDigits = 8
    private static let millisecondsInvalid: Int64 = 3 * 86_400_000

    init(_ answers: [String: SimulatedAnswer]) {
        for (token, answer) in answers {
            fixed[TokenHash(hexDigits: token)] = Rule(answer: answer, remaining: answer.times)
        }
    }

    /// The refusal of a token that is known to be dead; nil for all others. APNs checks this before it checks the sender.
    mutating func permanentRefusal(of token: UnsafeBufferPointer<UInt8>, now: Timestamp) -> Answer? {
        switch Self.prefix(of: token) {
        case 410:
            return Answer(status: 410, reason: "Unregistered", invalidSinceMilliseconds: now.epochMilliseconds - Self.millisecondsInvalid)
        case 400: return .badRequest("BadDeviceToken")
        default: return fixedAnswer(for: token, now: now) { $0 == 400 || $0 == 410 }
        }
    }

    /// The refusal of a token that may pass another time, or that is all zeros; nil for all others. Only correct pushes are checked here.
    mutating func temporaryRefusal(of token: UnsafeBufferPointer<UInt8>, now: Timestamp) -> Answer? {
        if token.allSatisfy({ $0 == UInt8(ascii: "0") }) { return .badRequest("BadDeviceToken") }
        switch Self.prefix(of: token) {
        case 429 where seenTemporary.insert(TokenHash(hexDigits: token)).inserted: return Answer(status: 429, reason: "TooManyRequests")
        case 503 where seenTemporary.insert(TokenHash(hexDigits: token)).inserted: return Answer(status: 503, reason: "ServiceUnavailable")
        default: return fixedAnswer(for: token, now: now) { $0 != 400 && $0 != 410 }
        }
    }

    private mutating func fixedAnswer(
        for token: UnsafeBufferPointer<UInt8>, now: Timestamp, ifStatus isMeant: (Int) -> Bool
    ) -> Answer? {
        guard !fixed.isEmpty else { return nil }
        let hash = TokenHash(hexDigits: token)
        guard var rule = fixed[hash], isMeant(rule.answer.status), rule.remaining != 0 else { return nil }
        if let remaining = rule.remaining {
            rule.remaining = remaining - 1
            fixed[hash] = rule
        }
        let since = rule.answer.status == 410 ? now.epochMilliseconds - Self.millisecondsInvalid : nil
        return Answer(status: rule.answer.status, reason: rule.answer.reason, invalidSinceMilliseconds: since)
    }

    /// The number in the three digits after five zeros at a token's beginning; 0 for any other beginning.
    private static func prefix(of token: UnsafeBufferPointer<UInt8>) -> Int {
        guard token.count >= prefixDigits else { return 0 }
        let zero = UInt8(ascii: "0")
        for place in 0..<5 where token[place] != zero { return 0 }
        var number = 0
        for place in 5..<prefixDigits {
            let digit = token[place]
            guard digit >= zero, digit <= UInt8(ascii: "9") else { return 0 }
            number = number * 10 + Int(digit - zero)
        }
        return number
    }
}
