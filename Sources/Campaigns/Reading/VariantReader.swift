import Base
import PushServices

/// Reads `variants`: parts of the audience that get different content, or nothing.
struct VariantReader {
    let root: Section
    let source: YAMLSource
    /// Those that take the pushes, at least one.
    let services: [any PushService]
    let content: MessageContent?

    private var findings: Findings { root.findings }
    private static let example = "variants: {short: {share: 50, content: {body: \"20 % off.\"}}, long: {share: 50}}"
    /// More would be too small to compare, and too many to read.
    private static let mostVariants = 26

    /// The variants, in the order of the file, and how devices are assigned to them; what is wrong
    /// in them was reported.
    func read() -> ([MessageVariant], VariantDealing) {
        guard let node = root.node("variants") else { return ([], .alias) }
        guard let entries = Section.entries(of: node, name: "variants", example: Self.example, findings: findings)
        else {
            return ([], .alias)
        }
        // `by` is among the variants' names: a variant with this name holds a group, the setting a
        // text.
        let isSetting: (YAMLEntry) -> Bool = { $0.key.value == "by" && $0.value.text != nil }
        let dealing = entries.first(where: isSetting).map { self.dealing($0.value) } ?? .alias
        return (variants(entries.filter { !isSetting($0) }, at: node.position), dealing)
    }

    /// `by: alias`
    private func dealing(_ node: YAMLNode) -> VariantDealing {
        guard let text = root.text(node, subject: "'by'", example: "by: alias") else { return .alias }
        if let dealing = VariantDealing(rawValue: text.value) { return dealing }
        let isPerson = ["person", "user", "customer", "people", "account", "member"].contains(text.value.lowercased())
        let words = VariantDealing.allCases.map(\.rawValue)
        let meant = isPerson ? "alias" : text.value == "token" ? "device" : nearestName(to: text.value, among: words)
        findings.error(
            "'by' must be \(orList(words)), not \(quoted(text.value))", at: text.position,
            remedy: meant.map { "Did you mean '\($0)'?" } ?? "Write by: alias for one text per person, or by: device.")
        return .alias
    }

    private func variants(_ entries: [YAMLEntry], at place: SourcePosition) -> [MessageVariant] {
        guard (1...Self.mostVariants).contains(entries.count) else {
            findings.error(
                entries.isEmpty
                    ? "'variants' is empty"
                    : "there are \(entries.count) variants, and at most \(Self.mostVariants) are possible",
                at: place, remedy: "For example: \(Self.example).")
            return []
        }
        let variants = entries.map(variant)
        let read = variants.compactMap(\.self)
        guard read.count == entries.count else { return [] }
        let sum = read.reduce(0) { $0 + $1.share }
        if sum != MessageVariant.wholeShare {
            findings.error(
                "the shares of the variants add up to \(Self.percent(sum)), not to 100", at: place,
                remedy: Self.remedy(sum))
        }
        if read.allSatisfy(\.isHoldout) {
            findings.error(
                "every device is in the holdout, so no device would get anything", at: place,
                remedy: "For example: \(Self.example).")
        }
        return read
    }

    private func variant(_ entry: YAMLEntry) -> MessageVariant? {
        let name = entry.key
        guard isName(name) else { return nil }
        let example = "\(name.value): {share: 50}"
        guard
            let section = Section(
                entry.value, CampaignKeys.variant, of: CampaignKeys.file, example: example, findings: findings)
        else {
            return nil
        }
        let share = section.required("share", example: "share: 50").flatMap {
            section.text($0, subject: "'share'", example: "share: 50")
        }
        .flatMap { section.checked($0, Self.share) }
        var variant = MessageVariant(name: name, share: share ?? 0)
        if variant.isHoldout, section.has("content") {
            findings.error(
                "the devices of 'holdout' get nothing, so it has no content", at: section.place(of: "content"),
                remedy: "Remove the content, or give the variant another name.")
        } else if let node = section.node("content") {
            let changed = Section(
                node, CampaignKeys.variantContent.carried(by: services), of: CampaignKeys.file,
                example: "content: {body: \"20 % off.\"}", findings: findings)
            variant.content = changed.map {
                ContentReader(
                    section: $0, source: source, services: services,
                    base: content ?? MessageContent(position: node.position)
                )
                .read()
            }
        }
        if !section.has("content") { checkHoldout(name) }
        return share == nil ? nil : variant
    }

    /// Names that mean no push, and names of control groups, which may be meant to get the usual
    /// text.
    private static let wordsForNothing: Set<String> = [
        "holdout", "holdouts", "holdoutgroup", "heldout", "none", "nothing", "nobody", "nopush", "nopushes", "nosend",
        "nosending",
        "notsent",
        "unsent", "off", "nomessage", "nonotification", "withoutpush", "excluded", "exclude", "exclusion", "skip",
        "skipped", "leftout",
        "keinpush", "keinepush", "ohnepush", "nichts", "niemand", "ausgeschlossen", "sanspush", "pasdepush", "aucun",
        "rien", "sinpush",
        "ninguno", "nadie", "nada", "nessuno", "senzapush", "niente",
    ]
    private static let wordsForControl: Set<String> = [
        "control", "controls", "controlgroup", "ctrl", "kontrolle", "kontrollgruppe", "controle", "gruppocontrollo",
        "grupocontrol",
        "grupodecontrol", "groupetemoin", "temoin", "baseline", "placebo",
    ]

    /// Only `holdout` gets nothing. Other words for it are a mistake; a control group may be meant
    /// to get the usual text.
    private func checkHoldout(_ name: SourceText) {
        let word = name.value.lowercased().filter { $0.isLetter }
        if Self.wordsForNothing.contains(word), name.value != MessageVariant.holdoutName {
            findings.error(
                "the devices of the variant \(quoted(name.value)) would get the campaign's text, as it changes nothing",
                at: name.position,
                remedy: "For devices that get nothing write holdout; for others choose another name.")
        } else if Self.wordsForControl.contains(word) {
            findings.warning(
                .variantGetsText, message: "the devices of the variant \(quoted(name.value)) get the campaign's text",
                at: name.position,
                remedy: "For a control group that gets nothing write holdout.")
        }
    }

    private func isName(_ name: SourceText) -> Bool {
        let isAllowed = name.value.utf8.allSatisfy { byte in
            byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
                || byte < 0x80 && (Character(Unicode.Scalar(byte)).isLetter || Character(Unicode.Scalar(byte)).isNumber)
        }
        guard isAllowed, (1...64).contains(name.value.utf8.count) else {
            findings.error(
                "the variant's name \(quoted(name.value)) may hold only letters a-z, digits, '-' and '_', at most 64",
                at: name.position,
                remedy: "For example: short.")
            return false
        }
        guard name.value == MessageVariant.holdoutName || name.value.lowercased() != MessageVariant.holdoutName else {
            findings.error(
                "\(quoted(name.value)) must be written in lower-case letters", at: name.position,
                remedy: "Write holdout.")
            return false
        }
        return true
    }

    /// `45`, `33.33`, `45%`: hundredths of a percent.
    static func share(_ text: String) throws(Mistake) -> Int {
        var digits = text.trimmingSpaces()[...]
        if digits.hasSuffix("%") { digits = digits.dropLast().trimmingSpaces()[...] }
        let parts = digits.split(separator: ".", omittingEmptySubsequences: false)
        let isNumber =
            parts.count <= 2 && parts.allSatisfy { !$0.isEmpty && $0.utf8.allSatisfy { (0x30...0x39).contains($0) } }
        guard isNumber, parts[0].utf8.count <= 3, let whole = Int(parts[0]) else {
            let example = digits.contains(",") ? digits.replacing(",", with: ".") : "45"
            throw Mistake(
                "\(quoted(text)) is not a share", remedy: "Write a percentage, for example: share: \(example).")
        }
        let fraction = parts.count == 2 ? parts[1] : "0"
        guard fraction.utf8.count <= 2, let hundredths = Int(fraction.utf8.count == 1 ? fraction + "0" : fraction)
        else {
            throw Mistake(
                "\(quoted(text)) is finer than a hundredth of a percent",
                remedy: "Write at most two digits after the point.")
        }
        let share = whole * 100 + hundredths
        guard (1...MessageVariant.wholeShare).contains(share) else {
            throw Mistake(
                "a share must be above 0 and at most 100, not \(quoted(text))", remedy: "For example: share: 45.")
        }
        return share
    }

    /// What to do about shares that do not add up to 100.
    private static func remedy(_ sum: Int) -> String {
        let missing = MessageVariant.wholeShare - sum
        if missing < 0 { return "Lower them by \(percent(-missing)) in all." }
        if sum <= MessageVariant.wholeShare / 100 { return "Shares are percentages: for a half write 50, not 0.5." }
        // A holdout of most devices is unlikely to be meant.
        let holdout =
            missing <= MessageVariant.wholeShare / 5
            ? ", or add holdout: {share: \(percent(missing))} for devices that get nothing" : ""
        return "Raise them by \(percent(missing)) in all\(holdout)."
    }

    private static func percent(_ hundredths: Int) -> String {
        let (whole, rest) = (hundredths / 100, hundredths % 100)
        if rest == 0 { return "\(whole)" }
        return rest % 10 == 0 ? "\(whole).\(rest / 10)" : "\(whole).\(TextFormat.zeroPadded(rest))"
    }
}

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
