import Base
import PushServices

/// Keys of `content` by which phones decide how, where and in which language they show a push.
extension ContentReader {
    /// One of a few words.
    func interruption() -> SourceText? {
        let levels = MessageContent.interruptions
        guard section.choice("interruption", levels.map { ($0, $0) }) != nil else { return nil }
        return section.text("interruption", example: "interruption: \(levels[1])")
    }

    /// A number from 0 to 1.
    func relevance() -> ContentNode? {
        guard let node = section.node("relevance") else { return nil }
        let example = "relevance: 0.8"
        if let text = node.text, text.style == .plain {
            switch CoreSchema.value(of: text.value) {
            case .integer(let number) where (0...1).contains(number): return .integer(number, node.position)
            case .double(let number) where (0...1).contains(number): return .double(number, node.position)
            default: break
            }
        } else if let text = node.text, Double(text.value) != nil {
            section.findings.error(
                "'relevance' must be a number, not a text in quotes", at: node.position, remedy: "Remove the quotes.")
            return nil
        }
        section.wrongKind("'relevance'", node, must: "a number from 0 to 1", example: example)
        return nil
    }

    /// Texts of the app by its keys: `localized: {title: SALE, body: {key: SALE_TEXT, args: ["{{
    /// first_name }}"]}}`.
    func localized() -> [ContentKey: LocalizedText] {
        let example = "localized: {title: SALE_TITLE, body: {key: SALE_TEXT, args: [\"{{ first_name }}\"]}}"
        guard let node = section.node("localized"),
            let group = Section(
                node, CampaignKeys.localized, of: CampaignKeys.file, example: example, findings: section.findings)
        else { return [:] }
        if group.entries.isEmpty {
            section.findings.error("'localized' is empty", at: node.position, remedy: "For example: \(example).")
        }
        var texts: [ContentKey: LocalizedText] = [:]
        for entry in group.entries {
            guard let key = ContentKey(rawValue: entry.key.value), CampaignKeys.localized.holds(key.rawValue) else {
                continue
            }
            texts[key] = localizedText(entry)
        }
        return texts
    }

    private func localizedText(_ entry: YAMLEntry) -> LocalizedText? {
        let name = entry.key.value, example = "\(name): {key: SALE, args: [\"{{ first_name }}\"]}"
        guard case .mapping = entry.value.content else {
            return section.text(entry.value, subject: "'\(name)'", example: "\(name): SALE").map {
                LocalizedText(key: $0)
            }
        }
        guard
            let group = Section(
                entry.value, CampaignKeys.localizedText, of: CampaignKeys.file, example: example,
                findings: section.findings),
            let key = group.requiredText("key", example: "key: SALE")
        else { return nil }
        guard let list = group.node("args") else { return LocalizedText(key: key) }
        guard case .sequence(let items) = list.content else {
            group.wrongKind("'args'", list, must: "a list of texts", example: "args: [\"{{ first_name }}\"]")
            return nil
        }
        return LocalizedText(
            key: key,
            arguments: items.compactMap {
                group.text($0, subject: "an entry of 'args'", example: "args: [\"{{ first_name }}\"]")
            })
    }
}
