import Base
import Campaigns

/// How fast a campaign goes out, and what happens on the way.
enum HowSection: ComposerSection {
    static let title = "How"
    static let isFolded = true

    static func fields(in edit: YAMLEdit) -> [CampaignForm.Field] { [] }
}
