import Base
import Campaigns

/// What devices get.
enum WhatSection: ComposerSection {
    static let title = "What"

    static func fields(in edit: YAMLEdit) -> [CampaignForm.Field] {
        [
            .init(path: ["content", "title"], label: "Title", kind: .line),
            .init(path: ["content", "subtitle"], label: "Subtitle", kind: .line, hint: "On iPhones only."),
            .init(path: ["content", "body"], label: "Text", kind: .lines),
        ]
    }
}
