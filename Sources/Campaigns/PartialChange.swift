public import Base
import PushServices

/// A text, link or image that a change of a campaign gave a new value in its main content, while languages, variants or services kept the values of
/// their own: their devices would get the old one, although the author may believe that the campaign says something else now.
public struct PartialChange: Sendable {
    /// A value that stayed as it was.
    public struct Kept: Hashable, Sendable {
        /// Which devices get it, in words: `'de'`, `the variant 'short'`.
        public let name: String
        /// As the campaign has it now.
        public let text: SourceText
    }

    /// The key of `content`: `title`.
    public let key: ContentKey
    /// In the order of the file; at least one.
    public let kept: [Kept]

    /// What changed in part between two versions of a campaign, as far as both could be read; empty if nothing did.
    public static func all(from old: CampaignDraft, to new: CampaignDraft) -> [PartialChange] {
        guard let before = old.content, let after = new.content else { return [] }
        return all(from: (before, old.variants), to: (after, new.variants))
    }

    /// The same of contents with their variants.
    public static func all(
        from old: (content: MessageContent, variants: [MessageVariant]), to new: (content: MessageContent, variants: [MessageVariant])
    ) -> [PartialChange] {
        let former = Dictionary(overrides(old.content, old.variants).map { ($0.name, $0.content) }) { first, _ in first }
        return keys.compactMap { key in
            guard words(key.of(old.content)) != words(key.of(new.content)) else { return nil }
            let kept = overrides(new.content, new.variants).compactMap { override -> Kept? in
                guard let text = key.of(override.content), let before = former[override.name].flatMap(key.of),
                    words(before) == words(text)
                else { return nil }
                return Kept(name: override.name, text: text)
            }
            return kept.isEmpty ? nil : PartialChange(key: key.name, kept: kept)
        }
    }

    /// What the key is called in sentences: `text` for the body.
    public var noun: String { key == .body ? "text" : key.rawValue }

    /// `'de' and the variant 'short'`
    public var names: String {
        let shown = kept.prefix(4).map(\.name), more = kept.count - shown.count
        if more > 0 { return "\(shown.joined(separator: ", ")) and \(more) more" }
        return shown.count == 1 ? shown[0] : shown.dropLast().joined(separator: ", ") + " and " + shown[shown.count - 1]
    }

    /// Whether a device that gets a value gets one of those that stayed.
    public func isKept(_ value: String) -> Bool { kept.contains { $0.text.value == value } }

    private struct Key: Sendable {
        var name: ContentKey
        var of: @Sendable (MessageContent) -> SourceText?
    }

    private static let keys = [
        Key(name: .title) { $0.title }, Key(name: .subtitle) { $0.subtitle }, Key(name: .body) { $0.body }, Key(name: .link) { $0.link },
        Key(name: .image) { $0.image },
    ]

    /// Other white space is not another text.
    private static func words(_ text: SourceText?) -> [Substring]? { text?.value.split(whereSeparator: \.isWhitespace) }

    /// What differs from the main content, in the order of the file: languages, services and variants, each also within another.
    private static func overrides(_ content: MessageContent, _ variants: [MessageVariant]) -> [(name: String, content: MessageContent)] {
        overrides(content, within: nil)
            + variants.flatMap { variant -> [(name: String, content: MessageContent)] in
                guard let content = variant.content else { return [] }
                let name = "the variant '\(variant.name.value)'"
                return [(name, content)] + overrides(content, within: name)
            }
    }

    private static func overrides(_ content: MessageContent, within outer: String?) -> [(name: String, content: MessageContent)] {
        let parts =
            content.languages.map { ("'\($0.language.value)'", $0.content) }
            + content.services.map { (PushServices.named($0.service.value)?.displayName ?? $0.service.value, $0.content) }
        return parts.flatMap { part, content in
            let name = outer.map { "\($0) in \(part)" } ?? part
            return [(name, content)] + overrides(content, within: name)
        }
    }
}
