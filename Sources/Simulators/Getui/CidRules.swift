import Cryptography

/// Targets, which are client ids, aliases and tags, with fixed answers: those of
/// `SimulatorFaults.answers`, and always those that begin with one of these eight digits:
///
/// | first digits | answer |
/// |---|---|
/// | `00000090` | the status `successed_ignore`: not active for 90 days |
/// | `00000200` | the status `successed_offline` |
/// | `000` and a code of Getui with five digits | the whole request gets it, once if it passes |
///
/// A client id of zeros only is one that no device has; an alias and a tag are known, whatever they
/// are. So `00020001…` is refused as Getui refuses a target of another app, and `00010005…` as it
/// refuses too many requests.
struct CidRules {
    /// What a target does to its request.
    enum Effect {
        /// The target's own status.
        case status(String)
        /// The answer to the whole request.
        case refusal(GetuiReply)
    }

    static let online = "successed_online", offline = "successed_offline", ignored = "successed_ignore"
    /// Codes that are answered once: what is refused now may be accepted later.
    static let passing: Set<Int> = [2, 301, 10001, 10003, 10005, 30012, 30013, 30014, 30015, 30018, 30019]
    /// Refusals that come before a request's content is looked at.
    static let early: Set<Int> = [1, 2, 301, 10001, 10002, 10003, 10004, 10005]

    private var fixed: [String: SimulatedAnswer]
    private var seen: Set<String> = []

    init(_ answers: [String: SimulatedAnswer]) { fixed = answers }

    /// Whether a text is a target at all: 32 lower-case hex digits.
    static func isTarget(_ cid: String) -> Bool {
        cid.utf8.count == 32
            && cid.utf8.allSatisfy { isDigit($0) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains($0) }
    }

    /// The client id of the device that has an alias.
    static func cid(ofAlias alias: String) -> String {
        var digest = SHA256()
        digest.update(alias)
        return String(digest.finalizeHex().prefix(32))
    }

    /// What a target that exists does.
    mutating func effect(of cid: String) -> Effect {
        if let answer = fixedAnswer(cid) {
            if answer.reason.hasPrefix("successed_") { return .status(answer.reason) }
            return .refusal(.refusal(Int(answer.reason) ?? 20001))
        }
        if Self.isTarget(cid), cid.utf8.allSatisfy({ $0 == UInt8(ascii: "0") }) { return .refusal(.refusal(20001)) }
        guard cid.utf8.starts(with: "000".utf8), let code = Int(cid.prefix(8)) else { return .status(Self.online) }
        switch code {
        case 90: return .status(Self.ignored)
        case 200: return .status(Self.offline)
        case 1, 2, 301, 10001...39999:
            guard !Self.passing.contains(code) || seen.insert(cid).inserted else { return .status(Self.online) }
            return .refusal(.refusal(code))
        default: return .status(Self.online)
        }
    }

    private mutating func fixedAnswer(_ cid: String) -> SimulatedAnswer? {
        guard !fixed.isEmpty, let answer = fixed[cid], answer.times != 0 else { return nil }
        if let times = answer.times { fixed[cid]?.times = times - 1 }
        return answer
    }
}
