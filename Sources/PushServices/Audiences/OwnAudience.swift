public import Base

/// The audiences that a service keeps itself, under names that apps gave their devices. A campaign names one, and the service chooses the
/// devices: nobody else knows them.
public struct OwnAudience: Sendable {
    /// A kind of names that the service takes.
    public struct Names: Sendable {
        /// What they are.
        public let selector: AudienceCall.Selector
        /// The most of them in a call, at least 1.
        public let mostOfCall: Int
        /// Whether a device has one of them at most, so that calls with different ones reach different devices.
        public let isOnlyOne: Bool
        /// What a name must look like, for people: a sentence without its full stop.
        public let rule: String
        /// A name as the service writes it, by what a campaign says; nil for a text that cannot be one.
        public let normalize: @Sendable (String) -> String?

        /// A kind of names.
        init(
            _ selector: AudienceCall.Selector, mostOfCall: Int, isOnlyOne: Bool, rule: String,
            normalize: @escaping @Sendable (String) -> String?
        ) {
            precondition(mostOfCall >= 1, "a call has a name")
            self.selector = selector
            self.mostOfCall = mostOfCall
            self.isOnlyOne = isOnlyOne
            self.rule = rule
            self.normalize = normalize
        }

        /// Why a text cannot be one of them; nil if it can.
        public func mistake(about name: String, in service: String) -> Mistake? {
            if normalize(name) != nil { return nil }
            return Mistake("\(service) can have no \(selector.noun) '\(selector.shown(name))'", remedy: "\(rule).")
        }
    }

    /// The kinds of names that choose devices; everyone can be reached, too.
    public let names: [Names]
    /// The service as runs of such campaigns use it: each of its targets is a call (`AudienceCall`).
    public let service: any PushService
    /// The same, but its requests are only checked by the service, which sends nothing; nil if the service has no such requests.
    public let checker: (any PushService)?

    /// - Parameters:
    ///   - request: makes requests whose target is a call.
    ///   - check: makes requests that the service only checks; nil if it has none.
    ///   - answers: how answers to calls differ from those to pushes to devices.
    init(
        of service: any PushService, names: [Names], answers: AudienceAnswers, request: @escaping AudienceService.MakeRequest,
        check: AudienceService.MakeRequest?
    ) {
        self.names = names
        self.service = AudienceService(base: service, makeRequest: request, answers: answers)
        checker = check.map { AudienceService(base: service, makeRequest: $0, answers: answers, repeatProtection: RepeatProtection.none) }
    }

    /// The facts about a kind of names; nil if the service has none of it.
    public func names(_ selector: AudienceCall.Selector) -> Names? { names.first { $0.selector == selector } }

    /// The calls that reach the devices under any of the names, each name once.
    public func calls(to chosen: [AudienceCall.Selector: [String]]) -> [AudienceCall] {
        names.flatMap { kind -> [AudienceCall] in
            var seen: Set<String> = []
            let list = (chosen[kind.selector] ?? []).map { kind.normalize($0) ?? $0 }.filter { seen.insert($0).inserted }
            return stride(from: 0, to: list.count, by: kind.mostOfCall).map { start in
                AudienceCall(kind.selector, Array(list[start..<min(list.count, start + kind.mostOfCall)]))
            }
        }
    }

    /// Whether a device may be reached by several of these calls.
    public func mayOverlap(_ calls: [AudienceCall]) -> Bool {
        guard calls.count > 1 else { return false }
        let kinds = Set(calls.map(\.selector))
        guard kinds.count == 1, let selector = calls[0].selector, let kind = names(selector) else { return true }
        return !kind.isOnlyOne
    }
}
