import Audience
import Base
import Content
import PushServices

/// How an audience is divided into variants and languages of the content.
struct PreviewGroups: Sendable {
    /// Devices of a variant that get the same text.
    struct Group: Sendable {
        /// The display name of the service; blank when the app has only one.
        var service: String
        /// The service's name; blank when the app has only one.
        var serviceName: String
        /// Blank when the campaign has no variants.
        var variant: String
        /// The language of `content.languages`; blank for the text above them.
        var language: String
        var recipients: Int
        /// The texts as in the campaign file, by the keys of `content`; empty for a payload by hand.
        var texts: [(key: String, text: String)]

        init(_ message: MessageCatalog.Message, in catalog: MessageCatalog, recipients: Int) {
            let isOneOfSeveral = catalog.services.count > 1
            service = isOneOfSeveral ? catalog.services[message.service].displayName : ""
            serviceName = isOneOfSeveral ? catalog.services[message.service].name : ""
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
                pairs: (serviceName.isEmpty ? [] : [("service", .string(serviceName))]) + [
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
        messages = catalog.messages.enumerated().map { Group($1, in: catalog, recipients: result.groups[$0, default: 0]) }
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
        let hasLanguages = messages.contains { !$0.language.isEmpty }
        let language = hasLanguages ? group.language.isEmpty ? Self.defaultLanguage : group.language : ""
        let parts = [group.service, group.variant, language].filter { !$0.isEmpty }
        return parts.isEmpty ? Self.defaultLanguage : parts.joined(separator: ", ")
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
