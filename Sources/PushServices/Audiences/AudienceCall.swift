public import Base

/// One call to an audience that a service keeps itself: everyone, or the devices under some names
/// of one kind.
public struct AudienceCall: Hashable, Sendable {
    /// A kind of names that choose devices.
    public enum Selector: String, CaseIterable, Hashable, Sendable {
        /// Devices with at least one of the tags.
        case tags
        /// Every device of the aliases.
        case aliases
        /// Exactly these devices.
        case registrationIDs = "registration_ids"
        /// The phones that follow a broadcast channel.
        case channel

        /// After a number, and before names: "aliases".
        public var nouns: String {
            switch self {
            case .tags, .aliases: rawValue
            case .registrationIDs: "registration ids"
            case .channel: "channels"
            }
        }
        /// One of them: "alias".
        public var noun: String {
            switch self {
            case .tags: "tag"
            case .aliases: "alias"
            case .registrationIDs: "registration id"
            case .channel: "channel"
            }
        }

        /// A name as it may be shown: the id of a device is shortened, unless it is too short to be
        /// one.
        public func shown(_ name: String) -> String {
            let isID = self == .registrationIDs && name.count > Self.shortNameCharacters
            return TextFormat.foreign(isID ? Target.redact(name) : name, maximumBytes: 60)
        }

        private static let shortNameCharacters = 8
    }

    /// What the names are; nil for everyone.
    public let selector: Selector?
    /// Empty for everyone.
    public let names: [String]

    /// A call to everyone.
    public static let everyone = AudienceCall()

    /// A call to the devices under some names.
    public init(_ selector: Selector, _ names: [String]) {
        self.selector = selector
        self.names = names
    }

    private init() { (selector, names) = (nil, []) }

    // MARK: - As a target

    private static let everyoneText = "everyone"
    /// Not a comma, which would divide the cell of a CSV.
    private static let separator = ":"
    private static let plain = ASCIISet("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-.~")
    private static let digits = Array("0123456789ABCDEF".utf8)

    /// The target of the run that makes the call: `everyone`, `tags/vip:new`, `aliases/%E6%9D%8E`.
    /// What is neither a letter of ASCII nor a digit is written in percent, apart from `_-.~`.
    public var target: Target {
        guard let selector else { return Target(normalized: Self.everyoneText) }
        return Target(normalized: "\(selector.rawValue)/\(names.map(Self.escaped).joined(separator: Self.separator))")
    }

    /// Reads what `target` wrote; nil for anything else.
    public init?(target: some Sequence<UInt8>) {
        let text = String(decoding: Array(target), as: UTF8.self)
        guard text != Self.everyoneText else {
            self.init()
            return
        }
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, let selector = Selector(rawValue: String(parts[0])) else { return nil }
        let names = parts[1].split(separator: Self.separator, omittingEmptySubsequences: false).map {
            Self.unescaped($0)
        }
        guard names.allSatisfy({ $0.map { !$0.isEmpty } ?? false }) else { return nil }
        self.init(selector, names.compactMap(\.self))
    }

    private static func escaped(_ name: String) -> String {
        var bytes: [UInt8] = []
        for byte in name.utf8 {
            if plain.contains(byte) {
                bytes.append(byte)
            } else {
                bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func unescaped(_ text: Substring) -> String? {
        var (bytes, rest): ([UInt8], ArraySlice<UInt8>) = ([], Array(text.utf8)[...])
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                guard plain.contains(byte) else { return nil }
                bytes.append(byte)
                continue
            }
            guard let high = rest.popFirst().flatMap(digits.firstIndex),
                let low = rest.popFirst().flatMap(digits.firstIndex)
            else {
                return nil
            }
            bytes.append(UInt8(high << 4 | low))
        }
        return String(validating: bytes, as: UTF8.self)
    }

    /// What targets of such runs look like.
    static let form = TargetForm(
        .text(ASCIISet("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-.~%:/"), length: 1...1 << 20),
        tellingLength: nil, noun: "call", example: "tags/vip…", writing: "as Volley writes it",
        rule: "A call names everyone, or tags, aliases, registration ids or a channel",
        remedy: "Plan the campaign again.")

    // MARK: - For people

    /// How many names are shown one by one.
    private static let shownNames = 5

    /// `everyone`, `tags vip, new`, `aliases u1, u2, u3, u4, u5 and 995 more`,
    /// `3 registration ids`: ids of devices are not shown.
    public var words: String {
        guard let selector else { return Self.everyoneText }
        if selector == .registrationIDs {
            return TextFormat.counted(names.count, one: selector.noun, many: selector.nouns)
        }
        return "\(names.count == 1 ? selector.noun : selector.nouns) \(Self.list(names))"
    }

    /// What calls name: a line for each, as `words` has it; if they are more than `most`, a line
    /// for each kind of names: `10,000 aliases in 10,000 calls: u1, u2, u3, u4, u5 and 9,995 more`.
    public static func lines(_ calls: [AudienceCall], atMost most: Int) -> [String] {
        guard calls.count > most else { return calls.map(\.words) }
        return CallsOfKind.all(of: calls).map(\.words)
    }

    /// The first names, and how many more there are.
    static func list(_ names: [String]) -> String {
        let shown = names.prefix(names.count > Self.shownNames + 1 ? Self.shownNames : names.count)
        let list = shown.map { TextFormat.foreign($0, maximumBytes: 60) }.joined(separator: ", ")
        let more = names.count - shown.count
        return "\(list)\(more > 0 ? " and \(TextFormat.count(more)) more" : "")"
    }
}

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

/// The audiences that a service keeps itself, under names that apps gave their devices. A campaign
/// names one, and the service chooses the devices: only the service has their list.
public struct OwnAudience: Sendable {
    /// A kind of names that the service takes.
    public struct Names: Sendable {
        /// What they are.
        public let selector: AudienceCall.Selector
        /// The most of them in a call, at least 1.
        public let mostOfCall: Int
        /// Whether a device has one of them at most, so that calls with different ones reach
        /// different devices.
        public let isOnlyOne: Bool
        /// What a name must look like, for people: a sentence without its full stop.
        public let rule: String
        /// A name as the service writes it, by what a campaign says; nil for a text that cannot be
        /// one.
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

    /// The kinds of names that choose devices; everyone can be reached, too, except through
    /// channels.
    public let names: [Names]
    /// The service as runs of such campaigns use it: each of its targets is a call
    /// (`AudienceCall`).
    public let service: any PushService
    /// The same, but its requests are only checked by the service, which sends nothing; nil if the
    /// service has no such requests.
    public let checker: (any PushService)?
    /// What differs where calls are broadcasts to channels, which campaigns name without the
    /// service; nil for other calls.
    public let broadcasts: BroadcastRules?

    /// - Parameters:
    ///   - request: makes requests with a call as their target.
    ///   - check: makes requests that the service only checks; nil if it has none.
    ///   - answers: how answers to calls differ from those to pushes to devices.
    ///   - broadcasts: what differs where calls are broadcasts to channels; nil for other calls.
    init(
        of service: any PushService, names: [Names], answers: AudienceAnswers,
        request: @escaping AudienceService.MakeRequest,
        check: AudienceService.MakeRequest?, broadcasts: BroadcastRules? = nil
    ) {
        self.names = names
        self.broadcasts = broadcasts
        self.service = AudienceService(base: service, makeRequest: request, answers: answers, broadcasts: broadcasts)
        checker = check.map {
            AudienceService(base: service, makeRequest: $0, answers: answers, repeatProtection: RepeatProtection.none)
        }
    }

    /// The facts about a kind of names; nil if the service has none of it.
    public func names(_ selector: AudienceCall.Selector) -> Names? { names.first { $0.selector == selector } }

    /// The calls that reach the devices under any of the names, each name once.
    public func calls(to chosen: [AudienceCall.Selector: [String]]) -> [AudienceCall] {
        names.flatMap { kind -> [AudienceCall] in
            var seen: Set<String> = []
            let list = (chosen[kind.selector] ?? []).map { kind.normalize($0) ?? $0 }.filter {
                seen.insert($0).inserted
            }
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
