import Base
import PushServices

/// Reads `languages`: what devices of a language get instead of the texts above.
struct TranslationReader {
    let section: Section
    let source: YAMLSource
    /// Those that take the pushes, at least one.
    let services: [any PushService]
    /// What they differ from.
    let base: MessageContent

    private var findings: Findings { section.findings }
    private static let example = "languages: {de: {title: \"Frühling\", body: \"20 % auf alles.\"}}"

    /// The translations, in the order of the file; what is wrong in them was reported.
    func read() -> [Translation] {
        guard let node = section.node("languages") else { return [] }
        guard let entries = Section.entries(of: node, name: "languages", example: Self.example, findings: findings)
        else { return [] }
        if entries.isEmpty {
            findings.error("'languages' is empty", at: node.position, remedy: "For example: \(Self.example).")
        }
        var first: [String: SourceText] = [:]
        return withoutLost(entries).compactMap { entry in
            guard check(entry.key, &first) else { return nil }
            let example = "\(entry.key.value): {body: \"…\"}"
            guard
                let section = Section(
                    entry.value, CampaignKeys.translation.carried(by: services), of: CampaignKeys.file,
                    example: example, findings: findings
                )
            else { return nil }
            var content = ContentReader(section: section, source: source, services: services, base: base).read()
            content.position = entry.key.position
            return Translation(language: entry.key, content: content)
        }
    }

    /// Leaves out languages with texts that are not indented further than they are, which is one
    /// mistake.
    private func withoutLost(_ entries: [YAMLEntry]) -> [YAMLEntry] {
        func isText(_ entry: YAMLEntry) -> Bool {
            CampaignKeys.translation.holds(entry.key.value) && LanguageTag.normalized(entry.key.value) == nil
        }
        var kept: [YAMLEntry] = []
        var isBelowEmpty = false
        for (place, entry) in entries.enumerated() {
            let isTextItself = isText(entry)
            if isTextItself, isBelowEmpty { continue }
            isBelowEmpty =
                !isTextItself && entry.value.isNull && place + 1 < entries.count && isText(entries[place + 1])
            if isBelowEmpty {
                let text = entries[place + 1].key
                findings.error(Section.lost(text.value, from: entry.key.value), at: text.position)
            } else {
                kept.append(entry)
            }
        }
        return kept
    }

    /// Whether a key is a language tag, and the first of its kind.
    private func check(_ tag: SourceText, _ first: inout [String: SourceText]) -> Bool {
        guard let normal = LanguageTag.normalized(tag.value) else {
            findings.error(
                "\(quoted(tag.value)) is not a language", at: tag.position,
                remedy:
                    "Write a language tag such as de, pt-BR or zh-Hans\(LanguageTag.named(tag.value).map { "; '\(tag.value)' is '\($0)'" } ?? "")."
            )
            return false
        }
        if let meant = LanguageTag.meant(by: tag.value) {
            findings.warning(
                .oddLanguage, message: "hardly any device has the language \(quoted(tag.value))", at: tag.position,
                remedy: "Did you mean '\(meant)'?")
        }
        if let other = first[normal] {
            findings.error(
                "\(quoted(tag.value)) is the same language as \(quoted(other.value)) in line \(other.position.line)",
                at: tag.position,
                remedy: "Keep one of them.")
            return false
        }
        first[normal] = tag
        return true
    }
}
