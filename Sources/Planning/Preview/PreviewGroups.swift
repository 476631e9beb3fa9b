import Audience
import Base
import Content

/// How an audience is divided into variants and languages of the content.
struct PreviewGroups: Sendable {
    /// Devices of a variant that get the same text.
    struct Group: Sendable {
        /// Blank when the campaign has no variants.
        var variant: String
        /// The language of `content.languages`; blank for the text above them.
        var language: String
        var recipients: Int
        /// The texts as in the campaign file, by the keys of `content`; empty for a payload by hand.
        var texts: [(key: String, text: String)]

        init(_ message: MessageCatalog.Message, recipients: Int) {
            variant = message.variant
            language = message.language
            self.recipients = recipients
            let content = message.content
            texts = [("title", content.title), ("subtitle", content.subtitle), ("body", content.body)].compactMap { key, text in
                text.map { (key, $0.value) }
            }
        }

        /// Its member of `messages` in `preview --json`, and in the plan of a run.
        var json: JSONValue {
            .object(
                pairs: [
                    ("variant", .string(variant)), ("language", .string(language)), ("recipients", .integer(Int64(recipients))),
                ] + texts.map { ($0.key, .string($0.text)) })
        }
    }

    /// Every message of the campaign, including those that no device gets.
    var messages: [Group]
    /// Devices that are kept back for comparison; nil when the campaign keeps none back.
    var holdout: Int?

    /// The name of the text above `languages` where it needs one.
    static let defaultLanguage = "default"

    package init(_ catalog: MessageCatalog, _ result: AudienceResult) {
        messages = catalog.messages.enumerated().map { Group($1, recipients: result.groups[$0, default: 0]) }
        holdout = catalog.variantNames.contains(MessageVariant.holdoutName) ? result.skipped[.holdout, default: 0] : nil
    }

    /// Recipients by variant, in the order of the campaign; empty when there are none.
    var variants: [(name: String, recipients: Int)] { messages.contains { !$0.variant.isEmpty } ? sums(\.variant) : [] }

    /// Recipients by the language of the text that they get; empty when there is only one language.
    var texts: [(name: String, recipients: Int)] {
        guard messages.contains(where: { !$0.language.isEmpty }) else { return [] }
        return sums(\.language).map { ($0.name.isEmpty ? Self.defaultLanguage : $0.name, $0.recipients) }
    }

    /// A message's name for people: its variant and its language.
    func name(of number: Int) -> String {
        let group = messages[number]
        let language = group.language.isEmpty ? Self.defaultLanguage : group.language
        if group.variant.isEmpty { return language }
        return messages.contains { !$0.language.isEmpty } ? "\(group.variant), \(language)" : group.variant
    }

    private func sums(_ name: KeyPath<Group, String>) -> [(name: String, recipients: Int)] {
        var sums: [(name: String, recipients: Int)] = []
        for group in messages {
            if let place = sums.firstIndex(where: { $0.name == group[keyPath: name] }) {
                sums[place].recipients += group.recipients
            } else {
                sums.append((group[keyPath: name], group.recipients))
            }
        }
        return sums
    }

    /// Members of `preview --json`: `messages`, one object for each variant in each language with its texts as in the campaign file,
    /// and, where there are several, `texts`, recipients by the language of the text that they get.
    var pairs: [(String, JSONValue)] {
        (messages.count > 1 ? [("texts", Preview.counts(texts))] : []) + [("messages", .array(messages.map(\.json)))]
    }
}
