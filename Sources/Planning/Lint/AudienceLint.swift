import Audience
import Base
import Campaigns
import Content
import PushServices
import Reports

/// Warnings from the rows of the exports: things that a campaign may do, but that are rarely meant.
struct AudienceLint {
    let context: CampaignContext
    let result: AudienceResult

    /// Fewer devices than this are a test, where one tag often names all of them.
    private static let fewDevices = 100

    var warnings: [Diagnostic] {
        emptyAudience + nearlyEveryone + languagesNobodySpeaks + namesOfLanguages + scriptsWithoutText
            + regionsWithoutText
    }

    private var emptyAudience: [Diagnostic] {
        guard result.audience == 0 else { return [] }
        let remedy = Self.remedy(forNoneOf: result.skipped, file: context.campaign.file)
        return [
            .warning(
                .audienceEmpty, message: "no device is in the audience", at: context.campaign.audience.position,
                remedy: remedy ?? "The exports hold no rows.", remedy == nil ? [] : [.explainDevice])
        ]
    }

    /// What to do about rows that were all skipped; nil if there are no rows.
    static func remedy(forNoneOf skipped: [SkipReason: Int], file: String) -> String? {
        // If most rows are not selected, the reason of the others matters.
        let unselected: Set<SkipReason> = [.badRow, .notMatched, .duplicateToken]
        let selected = skipped.filter { !unselected.contains($0.key) && $0.value > 0 }
        let isSelection = !selected.isEmpty && skipped[.notMatched, default: 0] > 0
        let most = (isSelection ? selected : skipped).max { ($0.value, $1.key.rawValue) < ($1.value, $0.key.rawValue) }
        let rows = isSelection ? "\(selected.count == 1 ? "All" : "Most") rows that it selects" : "Most rows"
        return most.map {
            "\(rows) were skipped as \($0.key.rawValue); `volley preview \(file) --why TOKEN` explains a single device."
        }
    }

    /// A campaign that is meant for all devices would say `everyone: true`.
    private var nearlyEveryone: [Diagnostic] {
        let audience = context.campaign.audience
        guard !audience.everyone, !(audience.anyTags.isEmpty && audience.allTags.isEmpty && audience.noneTags.isEmpty)
        else { return [] }
        let without: [SkipReason] = [.badRow, .missingToken, .badToken, .duplicateToken]
        let devices = result.rows - without.reduce(0) { $0 + result.skipped[$1, default: 0] }
        let chosen = result.audience + result.skipped[.holdout, default: 0]
        guard devices >= Self.fewDevices, chosen * 10 > devices * 9 else { return [] }
        let target = TextFormat.withArticle(context.messages.services.shortTargetNoun)
        return [
            .warning(
                .audienceNearlyEveryone,
                message:
                    "the tags name \(TextFormat.percent(Double(chosen) / Double(devices))) of all devices with \(target)",
                at: audience.position,
                remedy: "Check the tags; if you mean all devices, write everyone: true.")
        ]
    }

    /// The languages of the campaign's texts, normalised.
    private var written: [String] { context.messages.messages.compactMap { LanguageTag.normalized($0.language) } }

    private func reads(_ cell: String) -> Bool { LanguageTag.fallbacks(of: cell).contains { written.contains($0) } }

    /// Cells that give a language in another way than by its tag: their devices get the text above
    /// `languages`, although there may be one for them.
    private var namesOfLanguages: [Diagnostic] {
        guard !written.isEmpty else { return [] }
        let holdsCountries = result.languages.keys.contains { LanguageCell.isCountry($0) }
        let cells = result.languages.filter {
            (LanguageCell.isNoTag($0.key) || holdsCountries && LanguageCell.mayBeCountry($0.key)) && !reads($0.key)
        }.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
        guard !cells.isEmpty else { return [] }
        let devices = cells.reduce(0) { $0 + $1.value }
        let shown = cells.prefix(5).map { "'\(TargetRedaction.cell($0.key, maximumBytes: 40))'" }.joined(
            separator: ", ")
        let meant = cells.prefix(5).compactMap { cell in
            LanguageCell.meant(by: cell.key).map { "\($0) for '\(TargetRedaction.cell(cell.key, maximumBytes: 40))'" }
        }
        let tags = meant.isEmpty ? "such as de, pt-BR or zh-Hans" : meant.joined(separator: ", ")
        return [
            .warning(
                .cellsNotCompared,
                message:
                    "\(TextFormat.counted(devices, one: "device has", many: "devices have")) something other than a language tag in the language column, "
                    + "and \(TextFormat.plural(devices, one: "gets", many: "get")) the text for all others: \(shown)",
                at: context.campaign.content.position,
                remedy: holdsCountries
                    ? "They look like countries. Write the devices' languages in the export, such as de or de-AT."
                    : "Write language tags in the export: \(tags).")
        ]
    }

    /// Devices in the script of a text for a region, such as zh-Hans and zh-Hans-CN where there is
    /// a text for zh-CN.
    private var scriptsWithoutText: [Diagnostic] {
        Set(written.filter { $0.hasPrefix("zh-") }).sorted().flatMap { tag -> [Diagnostic] in
            let chain = LanguageTag.fallbacks(of: tag)
            guard let script = chain.first(where: { ["zh-hans", "zh-hant"].contains($0) }), script != tag,
                chain.count > 3
            else {
                return []
            }
            let cells = result.languages.filter { cell in
                let normal = LanguageTag.normalized(cell.key)
                return (normal == script || normal.map { chain.contains($0) && $0.hasPrefix(script) } ?? false)
                    && !reads(cell.key)
            }.sorted { $0.key < $1.key }
            guard !cells.isEmpty,
                let message = context.messages.messages.first(where: { LanguageTag.normalized($0.language) == tag })
            else {
                return []
            }
            let devices = cells.reduce(0) { $0 + $1.value }
            let shown = cells.prefix(5).map { "'\(TargetRedaction.cell($0.key, maximumBytes: 40))'" }.joined(
                separator: ", ")
            return [
                .warning(
                    .languageNotSpoken,
                    message:
                        "\(TextFormat.devices(devices)) with the language \(shown) \(TextFormat.plural(devices, one: "gets", many: "get")) "
                        + "the text for all others, not the one for \(message.language)",
                    at: message.content.position,
                    remedy: "Name the text \(script == "zh-hans" ? "zh-Hans" : "zh-Hant"), which covers both.")
            ]
        }
    }

    /// Devices in a language that has a text for one region only: with a text for de-DE, the
    /// devices of de and de-AT. If the text for all others is in that language, they get what is
    /// meant for them. It probably is not if most of the devices that get it have another one.
    private var regionsWithoutText: [Diagnostic] {
        let others = result.languages.filter { !$0.key.isEmpty && !reads($0.key) }
        return Set(written).sorted().compactMap { tag -> Diagnostic? in
            guard let base = LanguageTag.fallbacks(of: tag).last, base != tag, base != "zh", base != "en",
                !written.contains(base),
                let message = context.messages.messages.first(where: { LanguageTag.normalized($0.language) == tag }),
                context.messages.messages.indices.contains(where: {
                    context.messages.messages[$0].language == message.language && result.groups[$0, default: 0] > 0
                })
            else { return nil }
            let cells = others.filter { LanguageTag.fallbacks(of: $0.key).contains(base) }.sorted { $0.key < $1.key }
            let devices = cells.reduce(0) { $0 + $1.value }
            guard devices > 0, others.reduce(0, { $0 + $1.value }) > 2 * devices else { return nil }
            return .warning(
                .languageNotSpoken,
                message: "\(TextFormat.devices(devices)) with the language "
                    + "\(cells.prefix(5).map { "'\(TargetRedaction.cell($0.key, maximumBytes: 40))'" }.joined(separator: ", ")) \(TextFormat.plural(devices, one: "gets", many: "get")) "
                    + "the text for all others, not the one for \(message.language)",
                at: message.content.position, remedy: "Name the text \(base), which covers all of them.")
        }
    }

    /// A remedy that names a wider tag of the same language, `de` for a text called `de-DE`; nil
    /// when that would cover no device of the audience that gets the text for all others.
    private func widerTag(of language: String) -> String? {
        // `zh` alone would mix two scripts.
        for tag in LanguageTag.fallbacks(of: language).dropFirst() where tag != "zh" {
            let cells = result.languages.keys.filter { LanguageTag.fallbacks(of: $0).contains(tag) && !reads($0) }
                .sorted()
            guard !cells.isEmpty else { continue }
            let named = cells.prefix(5).map { "'\(TargetRedaction.cell($0, maximumBytes: 40))'" }.joined(
                separator: ", ")
            return "Name the text \(Self.written(tag)), which covers \(named)."
        }
        return nil
    }

    /// `zh-Hans-CN` for `zh-hans-cn`.
    private static func written(_ tag: String) -> String {
        let parts = tag.split(separator: "-").map(String.init)
        return parts.enumerated().map { place, part in
            place == 0
                ? part : part.count == 4 ? TextFormat.capitalized(part) : part.count == 2 ? part.uppercased() : part
        }.joined(separator: "-")
    }

    private var languagesNobodySpeaks: [Diagnostic] {
        guard result.audience > 0 else { return [] }
        let messages = context.messages.messages, scripts = Set(scriptsWithoutText.compactMap(\.position))
        var seen: Set<String> = []
        return messages.filter { !$0.language.isEmpty && seen.insert($0.language).inserted }.compactMap { message in
            let readers = messages.indices.filter { messages[$0].language == message.language }
            guard readers.allSatisfy({ result.groups[$0, default: 0] == 0 }),
                !scripts.contains(message.content.position)
            else {
                return nil
            }
            let spoken = result.languages.filter { !$0.key.isEmpty }.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
                .prefix(5)
            let list = spoken.map { TargetRedaction.cell($0.key, maximumBytes: 40) }.joined(separator: ", ")
            if let remedy = widerTag(of: message.language) {
                return .warning(
                    .languageNotSpoken, message: "no device in the audience gets the text for \(message.language)",
                    at: message.content.position,
                    remedy: remedy)
            }
            return .warning(
                .languageNotSpoken, message: "no device in the audience gets the text for \(message.language)",
                at: message.content.position,
                remedy: spoken.isEmpty ? "The exports hold no languages." : "The audience's languages are: \(list).")
        }
    }
}

/// Warnings about rendered texts: only these show the cells of columns.
struct RenderedLint {
    let context: CampaignContext
    let samples: [PreviewSample]
    /// Warnings that the rows gave for all devices, so that a sample need not repeat them.
    let known: Set<WarningName>

    /// At most one of a kind for each text, without those that the template itself already gave.
    var warnings: [Diagnostic] {
        struct Kind: Hashable {
            var name: WarningName?
            var position: SourcePosition?
        }
        var seen = Set(context.warnings.map { Kind(name: $0.name, position: $0.position) })
        let found = samples.flatMap(warnings).filter { warning in
            warning.name != .textNotReady || !known.contains(.textNotReady)
        }
        return found.filter { seen.insert(Kind(name: $0.name, position: $0.position)).inserted }
    }

    private func warnings(_ sample: PreviewSample) -> [Diagnostic] {
        let content = context.messages.messages[sample.message].content
        let templates = ["title": content.title, "subtitle": content.subtitle, "body": content.body].compactMapValues(
            \.self)
        return sample.service.shown(sample.shownPayload).texts.flatMap { key, text in
            ShownText.warnings(
                key, text: text, isWhole: true, template: templates[key]?.value,
                at: templates[key]?.position ?? content.payload?.position ?? content.position,
                note: " for \(sample.shownToken)")
        }
    }
}

/// Recognizes cells in an export's language column that are not a language tag.
enum LanguageCell {
    /// Whether a cell is filled in, but not with the tag of a language that people speak.
    static func isNoTag(_ cell: String) -> Bool {
        guard !Blank.isCell(cell) else { return false }
        return LanguageTag.normalized(cell) == nil || LanguageTag.meant(by: cell) != nil
            || words.contains(cell.lowercased())
            || isCountry(cell)
    }

    /// Whether a cell is the code of a country and not of a language. Source: ISO 3166-1 and ISO
    /// 639-1.
    static func isCountry(_ cell: String) -> Bool { countries.contains(cell.lowercased()) }

    /// Whether a cell is the code of a country and also of a language that few phones are set to,
    /// such as `CH` and `BE`.
    static func mayBeCountry(_ cell: String) -> Bool { countriesAndLanguages.contains(cell.lowercased()) }

    private static let countries: Set = [
        "us", "gb", "at", "au", "nz", "mx", "cl", "ec", "pe", "hk", "ph", "eg", "ma", "qa", "il", "jo", "iq", "by",
        "rs", "md", "ge", "pk",
        "bd", "lk", "np", "gh", "ke", "uy", "py", "gt", "hn", "cu", "pr",
    ]
    private static let countriesAndLanguages: Set = ["ch", "be", "se", "br", "co", "za", "tw", "sg", "sa", "ae", "ie"]

    /// Words for a missing value that have the shape of a tag; `nan` is also the code of Southern
    /// Min, which no phone is set to.
    private static let words: Set = ["nan", "und", "nil", "na"]

    /// The tag that was meant, in its usual spelling; nil where it is not known.
    static func meant(by cell: String) -> String? {
        if let tag = LanguageTag.named(cell) ?? LanguageTag.meant(by: cell) { return tag }
        // Android's Locale.toString: language, region, script after a number sign.
        let parts = cell.split(separator: "_", omittingEmptySubsequences: false)
        guard parts.count == 3, parts[2].first == "#", let script = parts[2].dropFirst().split(separator: "-").first
        else { return nil }
        let tag = parts[1].isEmpty ? "\(parts[0])-\(script)" : "\(parts[0])-\(script)-\(parts[1])"
        return LanguageTag.normalized(tag) == nil ? nil : tag
    }
}
