import Base
import PushServices

/// What other tools, and push services themselves, call the keys of a campaign; and keys that would
/// say the opposite elsewhere.
enum KeySynonyms {
    /// What to do about a key that has another name here, and the key of the group that is meant;
    /// nil for other keys.
    static func remedy(for key: String, in group: KeyGroup) -> (text: String, meant: String?)? {
        // A key that leaves devices out must not be moved to where it selects them.
        if group.name == CampaignKeys.exclude.name {
            switch key {
            case "where":
                return (
                    "'exclude' takes no conditions. Under 'where' in 'audience', write what must hold for the others.",
                    nil
                )
            case "everyone": return ("'exclude' takes tags, aliases, registration_ids and devices.", nil)
            default: break
            }
        }
        if group.valid == CampaignKeys.tags.valid, let meant = quantifiers[key.lowercased().replacing("-", with: "_")] {
            return ("Volley calls it '\(meant)'.", meant)
        }
        if let remedy = projectRemedy(for: key, in: group) { return remedy }
        if let remedy = serviceRemedy(for: key, in: group) { return remedy }
        guard groups.contains(where: group.isSame) else { return nil }
        let small = key.lowercased().replacing("-", with: "_")
        if small == "icon" || small == "large_icon" || small == "small_icon" {
            let picture =
                group.valid.contains(ContentKey.image.rawValue) ? " For a picture next to the text, write image." : ""
            return ("A push has no icon of its own: phones show the app's.\(picture)", nil)
        }
        guard let home = words[small] else { return nil }
        if group.valid.contains(home.key) { return ("Volley calls it '\(home.key)'.", home.key) }
        // `contents` is more likely a slip for 'content' than another tool's name for the text.
        guard group.name != home.group.name, !group.valid.contains(where: { small == $0 + "s" }) else { return nil }
        return ("Volley calls it '\(home.key)', and it belongs \(home.group.location).", nil)
    }

    /// Keys that only some services have, where they are for all; and what these services call
    /// `makers` and `harmony`.
    private static func serviceRemedy(for key: String, in group: KeyGroup) -> (text: String, meant: String?)? {
        func has(_ service: any PushService, _ key: String) -> Bool { service.rules.ownKeys.contains { $0.key == key } }
        if PushServices.all.contains(where: { $0.name == group.name }) {
            let meant = [
                "hmos": "harmony", "harmonyos": "harmony", "ohos": "harmony", "third_party_channel": "makers",
                "ups": "makers",
            ][
                key.lowercased()]
            return meant.flatMap { group.valid.contains($0) ? ("Volley calls it '\($0)'.", $0) : nil }
        }
        guard
            [CampaignKeys.content, CampaignKeys.variantContent, CampaignKeys.translation].contains(where: group.isSame)
        else {
            return nil
        }
        let owners = PushServices.all.filter { has($0, key) }
        guard let first = owners.first else { return nil }
        let names = owners.map(\.displayName).joined(separator: ", ")
        return (
            "\(owners.count == 1 ? "Only \(names) has it" : "Some services have it (\(names))"): write it below the service, under "
                + "'content': services: {\(first.name): {\(key): {…}}}.", nil
        )
    }

    /// Keys that people expect in volley.yaml, but that are called something else there or belong
    /// elsewhere.
    private static func projectRemedy(for key: String, in group: KeyGroup) -> (text: String, meant: String?)? {
        if group.valid == ProjectKeys.tags.valid {
            switch key {
            case "name": return ("Volley calls it 'column'.", "column")
            case "sep", "delimiter", "separated_by", "split": return ("Volley calls it 'separator'.", "separator")
            default: return nil
            }
        }
        if group.valid == ProjectKeys.notice.valid {
            switch key {
            case "url", "uri", "hook", "address", "endpoint", "http", "https":
                return ("Volley calls it 'webhook'.", "webhook")
            case "exec", "run", "program", "script", "cmd": return ("Volley calls it 'command'.", "command")
            case "secret":
                return (
                    "Keep the secret out of this file: write secret_env with the name of the variable that holds it.",
                    "secret_env"
                )
            case "event", "on", "when": return ("Volley calls it 'events'.", "events")
            default: break
            }
        }
        if [ProjectKeys.database.valid, ProjectKeys.postgresStore.valid].contains(group.valid),
            addressWords.contains(key)
        {
            return (
                "Keep the address out of this file: write url_env with the name of the environment variable that holds it.",
                "url_env"
            )
        }
        if group.valid == ProjectKeys.store.valid, addressWords.contains(key) || key == "url_env" {
            return (
                "Write \(StoreReader.example), with the name of the environment variable that holds the address.",
                "postgres"
            )
        }
        if group.valid == CampaignKeys.deviceQuery.valid, ["sql", "select", "statement"].contains(key) {
            return ("Volley calls it 'query'.", "query")
        }
        if group.valid == ProjectKeys.testDevice.valid, key == "registration_id" {
            return ("Name a test device by its token, or a person by their alias: {name: Anna, token: 7276…}.", nil)
        }
        if group.name == ProjectKeys.columns.name { return columnRemedy(for: key, of: group.services) }
        let isRoot = group.name.isEmpty && group.valid == ProjectKeys.root.valid
        guard let service = group.service else { return nil }
        if let remedy = accountRemedy(for: key, service, isRoot: isRoot) { return remedy }
        switch key {
        case "timezone", "quiet_hours", "fallback_timezone":
            let column =
                key == "timezone"
                ? " For a column of the exports write \(isRoot ? "in the app " : "")columns: {timezone: NAME}." : ""
            return ("It belongs in a campaign, under 'schedule'.\(column)", nil)
        case "language", "languages":
            return (
                "Texts in other languages belong in a campaign, under 'content'. For the column of the exports write \(isRoot ? "in the app " : "")columns: {language: NAME}.",
                nil
            )
        default: return nil
        }
    }

    /// What people call the address of a database, or parts of it.
    private static let addressWords: Set<String> = ["url", "uri", "dsn", "address", "host", "password", "env"]

    /// What other tools call the keys of an account.
    private static func accountRemedy(for key: String, _ service: any PushService, isRoot: Bool) -> (
        text: String, meant: String?
    )? {
        let (account, place) = (service.account, isRoot ? " in the app" : "")
        let environment = EnvironmentForm.key
        if account.topic.otherNames.contains(key) {
            let name = account.topic.key
            return isRoot
                ? ("It belongs to the app; Volley calls it '\(name)'.", nil) : ("Volley calls it '\(name)'.", name)
        }
        if account.environments.named(key) != nil || key == Environment.simulatorName {
            return ("Write\(place) \(environment): \(key).", isRoot ? nil : environment)
        }
        if ["url", "server", "host", "endpoint"].contains(key) {
            let example = "\(environment): {url: \"\(account.environments.serverExample)\", ca: ca.pem}"
            return (
                "For a server other than \(service.owner.name)'s write\(place) \(example).", isRoot ? nil : environment
            )
        }
        guard let credential = account.credentials.first(where: { $0.otherNames.contains(key) }) else { return nil }
        return ("Write\(place) \(credential.example).", isRoot ? nil : credential.key)
    }

    /// What people look for among the columns that Volley needs.
    /// - Parameter services: the app's; empty if they are not known.
    private static func columnRemedy(for key: String, of services: [any PushService]) -> (text: String, meant: String?)?
    {
        switch key {
        case "name", "first_name", "firstname", "last_name", "city", "country", "email", "phone":
            (
                "Columns that you use in texts or in 'where' need no entry here: use their names from the export, for example {{ first_name }}.",
                nil
            )
        case "user_id", "user", "customer_id", "external_id", "userid": userRemedy(services)
        case "device_token": ("Volley calls it 'token'.", "token")
        case "lang", "locale": ("Volley calls it 'language'.", "language")
        case "tz", "zone": ("Volley calls it 'timezone'.", "timezone")
        default: nil
        }
    }

    /// Where a service addresses users, their ids are targets; as names of devices' owners they are
    /// aliases.
    private static func userRemedy(_ services: [any PushService]) -> (text: String, meant: String?) {
        guard let service = services.first(where: \.target.areUsers) else {
            return ("Volley calls it 'alias'.", "alias")
        }
        let column = services.count > 1 ? service.target.column : ExportColumns.Standard.token.rawValue
        return (
            "For the \(service.target.nouns) that \(service.displayName) pushes to, Volley calls it '\(column)'; for those that a campaign names, 'alias'.",
            column
        )
    }

    /// How many of the tags a device must have, as other tools say it.
    private static let quantifiers = [
        "and": "all", "every": "all", "each": "all", "all_of": "all", "allof": "all", "has_all": "all",
        "or": "any", "is": "any", "in": "any", "has": "any", "any_of": "any", "anyof": "any", "one_of": "any",
        "one": "any",
        "include": "any",
        "includes": "any", "contains": "any", "some": "any", "either": "any", "not": "none", "not_in": "none",
        "is_not": "none",
        "none_of": "none",
        "noneof": "none", "without": "none", "except": "none", "exclude": "none", "excludes": "none", "nor": "none",
        "no": "none",
    ]

    /// The groups of a campaign that people write from memory.
    private static let groups = [
        CampaignKeys.root, CampaignKeys.audience, CampaignKeys.content, CampaignKeys.delivery, CampaignKeys.schedule,
        CampaignKeys.variant, CampaignKeys.variantContent, CampaignKeys.translation,
    ]

    private static let words: [String: (key: String, group: KeyGroup)] = {
        let table: [(KeyGroup, [String: [String]])] = [
            (
                CampaignKeys.content,
                [
                    "title": ["headline", "heading", "headings", "subject", "header"],
                    "body": ["message", "msg", "text", "alert", "contents", "copy", "notification"],
                    "image": [
                        "picture", "media", "photo", "image_url", "big_picture", "attachment", "attachments",
                        "ios_attachments",
                        "rich_media",
                    ],
                    "link": [
                        "url", "uri", "deeplink", "deep_link", "deep_link_url", "click_action", "action_url",
                        "launch_url", "web_url",
                        "href",
                        "target_url", "landing_page",
                    ],
                    "data": [
                        "extra", "extras", "custom", "custom_data", "additional_data", "custom_payload", "properties",
                    ],
                    "badge": ["badge_count", "badge_number", "ios_badge"],
                    "thread": ["thread_id", "thread_identifier", "group", "summary"],
                    "languages": ["language", "locales", "locale", "translations", "localizations", "i18n"],
                    "wake_app": ["content_available"], "silent": ["background"],
                    "interruption": ["interruption_level"], "relevance": ["relevance_score"],
                    "target_content": ["target_content_id"],
                    "filter": ["filter_criteria"],
                    "localized": [
                        "title_loc_key", "subtitle_loc_key", "loc_key", "body_loc_key", "title_loc_args", "loc_args",
                        "localisation",
                    ],
                ]
            ),
            (
                CampaignKeys.audience,
                [
                    "tags": ["segment", "segments", "included_segments", "topics", "labels", "lists"],
                    "aliases": [
                        "users", "user_ids", "external_ids", "customers", "recipients", "to", "external_user_ids",
                    ],
                    "where": ["filter", "filters", "conditions", "condition", "criteria"],
                    "everyone": ["all", "broadcast", "all_users"],
                    "exclude": [
                        "excluded_segments", "except", "excludes", "exclusions", "suppress", "suppression", "without",
                    ],
                    "devices": ["export", "exports", "csv", "file"],
                ]
            ),
            (
                CampaignKeys.delivery,
                [
                    "expires": ["ttl", "time_to_live", "expiry", "expiration", "expire", "valid_until"],
                    "pace": ["rate", "throttle", "speed", "rate_limit", "throttling", "max_rate", "throughput"],
                    "collapse": ["collapse_id", "collapse_key"],
                    "frequency": ["frequency_cap", "capping", "frequency_capping", "cap"],
                    "priority": ["urgency"],
                    "track": ["tracking", "utm", "analytics", "click_tracking", "open_tracking"],
                ]
            ),
            (
                CampaignKeys.schedule,
                [
                    "at": [
                        "send_at", "send_after", "send_time", "date", "datetime", "start", "start_at", "scheduled_at",
                        "when",
                    ],
                    "quiet_hours": ["dnd", "do_not_disturb", "quiet_time", "silent_hours"],
                    "repeat": ["cron", "recurrence", "recurring", "rrule"],
                    "timezone": ["tz", "time_zone", "zone"],
                ]
            ),
            (
                CampaignKeys.root,
                ["variants": ["ab_test", "a_b_test", "ab", "experiment", "split", "split_test", "tests"]]
            ),
        ]
        var words: [String: (key: String, group: KeyGroup)] = [:]
        for (group, keys) in table {
            for (key, others) in keys { for other in others { words[other] = (key, group) } }
        }
        return words
    }()
}
