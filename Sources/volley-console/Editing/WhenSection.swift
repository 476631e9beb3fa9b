import Base
import Campaigns

/// When a campaign goes out.
enum WhenSection: ComposerSection {
    static let title = "When"

    static func fields(in edit: YAMLEdit) -> [CampaignForm.Field] {
        [
            .init(
                path: ["schedule", "at"], label: "Sent at", kind: .moment,
                hint: "On the clock of the zone below. Blank to send it by hand; if it is repeated, this is the first time."),
            .init(path: ["schedule", "repeat"], label: "Repeated", kind: .rule),
            .init(
                path: ["schedule", "timezone"], label: "Time zone", kind: .zone,
                hint: "Whose clock counts: Europe/Berlin, or recipient for each device’s own. Typing a part of the name finds it."),
            .init(
                path: ["schedule", "fallback_timezone"], label: "Time zone of devices whose own is not known", kind: .zone,
                hint: "Only with recipient above."),
        ]
    }

    static func html(_ context: ComposerContext) -> HTML {
        "\(HTML(joined: fields(in: context.edit).map(context.control)))\(NextTimes.html(context.item, context.visit, context.site))"
    }
}
