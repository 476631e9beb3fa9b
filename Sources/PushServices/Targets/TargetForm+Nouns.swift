import Base

/// What targets are called in sentences.
extension TargetForm {
    /// One of them, where the sentence speaks of a device anyway: "token".
    public var shortNoun: String {
        let device = "device "
        return noun.hasPrefix(device) ? String(noun.dropFirst(device.count)) : noun
    }

    /// The same with its article: "a token".
    public var aShortNoun: String { TextFormat.withArticle(shortNoun) }

    /// Several of them, where the sentence speaks of devices anyway: "tokens".
    public var shortNouns: String { shortNoun + "s" }

    /// What the exports call a registration id, which a service may call its targets as well.
    public static let registrationID = "registration id"

    /// What names a device in a list: "token or registration id".
    public var listedNoun: String { noun == Self.registrationID ? noun : "\(shortNoun) or \(Self.registrationID)" }

    /// The same of several: "tokens or registration ids".
    public var listedNouns: String { noun == Self.registrationID ? nouns : "\(shortNouns) or \(Self.registrationID)s" }

    /// The same in full: "device tokens or registration ids".
    public var listedNounsInFull: String { noun == Self.registrationID ? nouns : "\(nouns) or \(Self.registrationID)s" }

    /// What names a device in an export: "token, alias or registration id".
    public var namesInExports: String {
        noun == Self.registrationID ? "\(noun) or alias" : "\(shortNoun), alias or \(Self.registrationID)"
    }

    /// What something is that names no device: "neither a device token nor a registration id".
    public var nothingListed: String {
        noun == Self.registrationID ? "no \(noun)" : "neither \(aNoun) nor \(TextFormat.withArticle(Self.registrationID))"
    }
}

extension [any PushService] {
    /// What their targets are called beside a device: `token` where they have device tokens and registration tokens, and `target` where
    /// their words have nothing in common.
    public var shortTargetNoun: String {
        let nouns = map(\.target.shortNoun)
        return Self.common(nouns) ?? Self.common(nouns.map { $0.split(separator: " ").last.map(String.init) ?? $0 }) ?? "target"
    }

    /// Several of them, in full, as alternatives: "device tokens or registration tokens".
    public var targetNouns: String {
        map(\.target.nouns).reduce(into: []) { if !$0.contains($1) { $0.append($1) } }.joined(separator: " or ")
    }

    private static func common(_ words: [String]) -> String? { Set(words).count == 1 ? words.first : nil }
}
