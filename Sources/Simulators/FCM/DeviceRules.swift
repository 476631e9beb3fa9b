/// Registration tokens and installation ids with fixed answers: those of `SimulatorFaults.answers`, and always those that begin with one of
/// these eight digits:
///
/// | first digits | answer |
/// |---|---|
/// | `00000404` | 404 UNREGISTERED |
/// | `00000400` | 400 INVALID_ARGUMENT for the token |
/// | `00000403` | 403 SENDER_ID_MISMATCH |
/// | `00000401` | 401 THIRD_PARTY_AUTH_ERROR |
/// | `00000429` | 429 QUOTA_EXCEEDED the first time, then accepted |
/// | `00000500` | 500 INTERNAL the first time, then accepted |
/// | `00000503` | 503 UNAVAILABLE the first time, then accepted |
///
/// A token of zeros only is INVALID_ARGUMENT. Topics and conditions have no fixed answers.
struct DeviceRules {
    private static let permanent = [
        "00000404": (404, "UNREGISTERED"), "00000400": (400, "INVALID_ARGUMENT"), "00000403": (403, "SENDER_ID_MISMATCH"),
        "00000401": (401, "THIRD_PARTY_AUTH_ERROR"),
    ]
    private static let temporary = [
        "00000429": (429, "QUOTA_EXCEEDED"), "00000500": (500, "INTERNAL"), "00000503": (503, "UNAVAILABLE"),
    ]

    private var fixed: [String: SimulatedAnswer]
    private var seenTemporary: Set<String> = []

    init(_ answers: [String: SimulatedAnswer]) { fixed = answers }

    /// The refusal of a message that is correct; nil if it is accepted.
    mutating func refusal(of addressee: PushRequest.Addressee) -> FCMError? {
        let (kind, target) = (addressee.kind, addressee.target)
        guard kind == "token" || kind == "fid" else { return nil }
        let field = "message.\(kind)"
        if let answer = fixedAnswer(target) { return .named(answer.reason, status: answer.status, field: field) }
        guard target.utf8.starts(with: "00000".utf8) else { return nil }
        if target.utf8.allSatisfy({ $0 == UInt8(ascii: "0") }) { return .named("INVALID_ARGUMENT", status: 400, field: field) }
        let prefix = String(target.prefix(8))
        if let (status, reason) = Self.permanent[prefix] { return .named(reason, status: status, field: field) }
        guard let (status, reason) = Self.temporary[prefix], seenTemporary.insert(target).inserted else { return nil }
        return .named(reason, status: status, field: field)
    }

    private mutating func fixedAnswer(_ target: String) -> SimulatedAnswer? {
        guard !fixed.isEmpty, let answer = fixed[target], answer.times != 0 else { return nil }
        if let times = answer.times { fixed[target]?.times = times - 1 }
        return answer.status == 200 ? nil : answer
    }
}
