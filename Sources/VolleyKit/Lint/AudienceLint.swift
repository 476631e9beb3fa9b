import Audience
import Base
import Reports
import Campaigns
import Content

/// What the rows of the exports show of a campaign that is allowed, but rarely meant.
struct AudienceLint {
    let context: CampaignContext
    let result: AudienceResult

    /// Fewer devices than that are a test, of which a tag may well name all.
    private static let fewDevices = 100

    var warnings: [Diagnostic] { emptyAudience + nearlyEveryone + languagesNobodySpeaks }

    private var emptyAudience: [Diagnostic] {
        guard result.audience == 0 else { return [] }
        let most = result.skipped.max { ($0.value, $1.key.rawValue) < ($1.value, $0.key.rawValue) }
        let remedy = most.map { "Most rows were skipped as \($0.key.rawValue); `volley preview --why TOKEN` explains a single device." }
        return [
            .warning(
                .audienceEmpty, "no device is in the audience", at: context.campaign.audience.position,
                remedy: remedy ?? "The exports hold no rows.")
        ]
    }

    /// Whoever meant everyone would have written so.
    private var nearlyEveryone: [Diagnostic] {
        let audience = context.campaign.audience
        guard !audience.everyone, !(audience.anyTags.isEmpty && audience.allTags.isEmpty && audience.noneTags.isEmpty) else { return [] }
        let without: [SkipReason] = [.badRow, .missingToken, .badToken, .duplicateToken]
        let devices = result.rows - without.reduce(0) { $0 + result.skipped[$1, default: 0] }
        let chosen = result.audience + result.skipped[.holdout, default: 0]
        guard devices >= Self.fewDevices, chosen * 10 > devices * 9 else { return [] }
        return [
            .warning(
                .audienceNearlyEveryone,
                "the tags name \(TextFormat.percent(Double(chosen) / Double(devices))) of all devices with a token", at: audience.position,
                remedy: "Look at the tags again; write everyone: true if all are meant.")
        ]
    }

    private var languagesNobodySpeaks: [Diagnostic] {
        guard result.audience > 0 else { return [] }
        let messages = context.messages.messages
        var seen: Set<String> = []
        return messages.filter { !$0.language.isEmpty && seen.insert($0.language).inserted }.compactMap { message in
            let readers = messages.indices.filter { messages[$0].language == message.language }
            guard readers.allSatisfy({ result.groups[$0, default: 0] == 0 }) else { return nil }
            let spoken = result.languages.filter { !$0.key.isEmpty }.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.prefix(5)
            let list = spoken.map(\.key).joined(separator: ", ")
            return .warning(
                .languageNotSpoken, "no device of the audience reads the text for \(message.language)", at: message.content.position,
                remedy: spoken.isEmpty ? "The exports say nothing of languages." : "The audience's languages are: \(list).")
        }
    }
}

/// Texts as rendered: what a column holds shows only then.
struct RenderedLint {
    let context: CampaignContext
    let samples: [PreviewSample]

    /// At most one of a kind for each text, and none that the text itself gave already.
    var warnings: [Diagnostic] {
        struct Kind: Hashable {
            var name: WarningName?
            var position: SourcePosition?
        }
        var seen = Set(context.warnings.map { Kind(name: $0.name, position: $0.position) })
        return samples.flatMap(warnings).filter { seen.insert(Kind(name: $0.name, position: $0.position)).inserted }
    }

    private func warnings(_ sample: PreviewSample) -> [Diagnostic] {
        let content = context.messages.messages[sample.message].content
        let places = ["title": content.title?.position, "subtitle": content.subtitle?.position, "body": content.body?.position]
        return ShownPush(sample.shownPayload).texts.flatMap { key, text in
            ShownText.warnings(
                key, text, isWhole: true, at: places[key].flatMap(\.self) ?? content.payload?.position ?? content.position,
                note: " for \(sample.token.redacted)")
        }
    }
}
