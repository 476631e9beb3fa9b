import Base
import Campaigns

/// Which devices get a campaign.
enum WhoSection: ComposerSection {
    static let title = "Who"

    static func fields(in edit: YAMLEdit) -> [CampaignForm.Field] {
        [
            .init(path: TagsControl.path, label: "Tags", kind: .tags, hint: "Devices with at least one of the checked tags get it."),
            .init(path: ["audience", "everyone"], label: "Everyone", kind: .choice, hint: "Instead of tags."),
            .init(
                path: ["audience", "devices"], label: "Device exports", kind: .list, hint: "One file in a line; blank for that of the app."),
        ]
    }

    static func apply(_ form: [String: String], to edit: inout YAMLEdit) -> [String: Mistake] {
        var mistakes = CampaignForm.apply(form, to: &edit, fields(in: edit))
        if mistakes.isEmpty, let mistake = unselected(form, edit) { mistakes[TagsControl.path.joined(separator: ".")] = mistake }
        return mistakes
    }

    /// Removing all tags never selects everyone: that must be chosen.
    private static func unselected(_ form: [String: String], _ edit: YAMLEdit) -> Mistake? {
        let selectors = ["tags", "everyone", "aliases", "registration_ids"]
        func isMissing(_ key: String) -> Bool {
            do throws(Mistake) { return CampaignForm.text(of: try edit.value(at: ["audience", key])).isEmpty } catch { return false }
        }
        guard TagsControl.isInForm(form), selectors.allSatisfy(isMissing) else { return nil }
        return Mistake(
            "no tag is chosen, and everyone is not", remedy: "Choose a tag; or, if every device is meant, choose that under Everyone.")
    }
}
