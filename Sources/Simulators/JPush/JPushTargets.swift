/// Registration ids with fixed answers: those of `SimulatorFaults.answers`, and always those that
/// begin with one of these eight digits:
///
/// | first digits | answer |
/// |---|---|
/// | `00001003` | 1003: the call is refused, as for an id that is no registration id |
/// | `00001011` | no device has it: 1011 if so for all ids of a call, otherwise it is taken |
/// | `00000429` | 2002 for its call the first time, then taken |
/// | `00000500` | 1000 for its call the first time, then taken |
/// | `00000503` | 1030 for its call the first time, then taken |
///
/// Aliases and tags that begin with `00001011` belong to no device, and those with `00000429`,
/// `00000500` and `00000503` make their call fail once; all others have devices.
///
/// JPush does not document what registration ids look like. Those of today have 18 or 19 hex
/// digits, those of its pages 11 and 12 letters and digits.
struct JPushTargets {
    private enum Kind {
        case known, malformed, unknown
        /// Fails once, with this status.
        case failing(Int)
    }

    private static let lengths = 10...30

    private var fixed: [String: SimulatedAnswer]
    private var seen: Set<String> = []

    init(_ answers: [String: SimulatedAnswer]) { fixed = answers }

    /// The refusal of a call with the right content; nil if it is taken.
    mutating func refusal(of ids: [String]) -> JPushError? {
        var malformed: [String] = [], unknown = 0, failure: Int?
        for id in ids {
            switch kind(of: id) {
            case .known: break
            case .malformed: malformed.append(id)
            case .unknown: unknown += 1
            case .failing(let status): failure = failure ?? status
            }
        }
        if !malformed.isEmpty { return JPushError(1003, "The registration_id is invalid", illegalIDs: malformed) }
        if let failure { return .fault(status: failure) }
        return unknown == ids.count && !ids.isEmpty ? JPushError(1011, "cannot find user by this audience") : nil
    }

    /// The refusal of a call to aliases or tags; nil if it is taken.
    mutating func refusal(ofNames names: [String]) -> JPushError? {
        let kinds = names.map { kind(ofDigits: $0) }
        for kind in kinds { if case .failing(let status) = kind { return .fault(status: status) } }
        let hasDevices = kinds.contains { if case .unknown = $0 { false } else { true } }
        return hasDevices || names.isEmpty ? nil : JPushError(1011, "cannot find user by this audience")
    }

    private mutating func kind(of id: String) -> Kind {
        if let answer = fixedAnswer(id) { return answer.reason == "1011" ? .unknown : .malformed }
        guard Self.lengths.contains(id.utf8.count), id.utf8.allSatisfy(isLetterOrDigit) else { return .malformed }
        return kind(ofDigits: id)
    }

    private mutating func kind(ofDigits id: String) -> Kind {
        switch id.prefix(8) {
        case "00001003": return .malformed
        case "00001011": return .unknown
        case "00000429" where seen.insert(id).inserted: return .failing(429)
        case "00000500" where seen.insert(id).inserted: return .failing(500)
        case "00000503" where seen.insert(id).inserted: return .failing(503)
        default: return .known
        }
    }

    private mutating func fixedAnswer(_ id: String) -> SimulatedAnswer? {
        guard !fixed.isEmpty, let answer = fixed[id], answer.times != 0 else { return nil }
        if let times = answer.times { fixed[id]?.times = times - 1 }
        return answer.status == 200 ? nil : answer
    }
}
