import Base
import Campaigns
import Content
import Runs

/// Warnings about texts that were changed since the campaign's last run, while languages, variants
/// or services kept theirs.
struct ChangeLint {
    let context: CampaignContext
    let now: Timestamp

    /// - Parameters:
    ///   - last: the plan of the last run.
    ///   - groups: recipients by number of the message, and all; nil where they were not counted.
    func warnings(since last: RunPlan?, _ groups: (devices: [Int: Int], all: Int)? = nil) -> [Diagnostic] {
        let campaign = context.campaign
        guard let last, last.campaignSource != campaign.source else { return [] }
        let old = Campaign.draft(text: last.campaignSource, file: campaign.file, now: now) { _ in
            context.messages.services
        }
        guard let before = old.content else { return [] }
        return PartialChange.all(from: (before, old.variants), to: (campaign.content, campaign.variants)).map {
            change in
            let devices = groups.map { groups in
                let number = context.messages.messages.indices.reduce(0) { sum, message in
                    let value = context.messages.messages[message].content[change.key]
                    return sum + (value.map(change.isKept) ?? false ? groups.devices[message, default: 0] : 0)
                }
                return
                    ": \(TextFormat.count(number)) of these \(TextFormat.devices(groups.all)) \(TextFormat.plural(number, one: "gets", many: "get")) the old one"
            }
            return .warning(
                .partlyChanged,
                message:
                    "the \(change.noun) was changed since the last run, but not for \(change.names)\(devices ?? "")",
                at: change.kept[0].text.position, remedy: "Change it there too, unless the old one still fits.")
        }
    }
}

extension MessageContent {
    /// The value of a key that is a single text; nil for others.
    fileprivate subscript(key: ContentKey) -> String? {
        switch key {
        case .title: title?.value
        case .subtitle: subtitle?.value
        case .body: body?.value
        case .link: link?.value
        case .image: image?.value
        case .sound, .badge, .category, .thread, .data, .interruption, .relevance, .targetContent, .filter, .localized,
            .wakeApp, .silent,
            .payload:
            nil
        }
    }
}
