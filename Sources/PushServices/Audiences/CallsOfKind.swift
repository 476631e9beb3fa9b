import Base

/// The calls that name names of one kind.
public struct CallsOfKind: Sendable {
    /// What the names are; nil for everyone.
    public let selector: AudienceCall.Selector?
    /// How many calls there are, at least 1.
    public let calls: Int
    /// The names of all calls; empty for everyone.
    public let names: [String]

    /// Puts calls together that name names of the same kind, in the order of the first of each.
    public static func all(of calls: [AudienceCall]) -> [CallsOfKind] {
        var selectors: [AudienceCall.Selector?] = []
        for call in calls where !selectors.contains(call.selector) { selectors.append(call.selector) }
        return selectors.map { selector in
            let own = calls.filter { $0.selector == selector }
            return CallsOfKind(selector: selector, calls: own.count, names: own.flatMap(\.names))
        }
    }

    /// For people: `10,000 aliases in 10,000 calls: u1, u2, u3, u4, u5 and 9,995 more`.
    var words: String {
        guard let selector else { return AudienceCall.everyone.words }
        if calls == 1 { return AudienceCall(selector, names).words }
        let start =
            "\(TextFormat.counted(names.count, one: selector.noun, many: selector.nouns)) in \(TextFormat.counted(calls, one: "call"))"
        return selector == .registrationIDs ? start : "\(start): \(AudienceCall.list(names))"
    }
}
