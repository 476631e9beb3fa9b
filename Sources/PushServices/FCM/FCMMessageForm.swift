/// What a key of a message may hold, for messages that are written by hand. Source: Google, "REST Resource: projects.messages"; for the
/// forms of labels, colours and durations, firebase-admin-python, `_messaging_encoder.py`.
indirect enum FCMMessageForm: Sendable {
    case text, flag, wholeNumber
    /// A number from 0 to 1.
    case share
    /// `#rrggbb`
    case color
    /// Seconds with up to nine decimals: `3.5s`.
    case duration
    /// A label for statistics.
    case label
    /// An address that begins with `https://`.
    case secureAddress
    /// One of these words.
    case choice([String])
    case list(FCMMessageForm)
    /// The app's own keys, each with a text.
    case data
    /// Headers of the web push protocol, each with a text.
    case headers
    /// A group of keys that is not FCM's.
    case foreign
    case group([(key: String, form: FCMMessageForm)])

    /// The members of a message that a campaign may write.
    static let message: [(key: String, form: FCMMessageForm)] = [
        ("notification", notification), ("data", .data), ("android", android), ("apns", apns), ("webpush", webpush),
        ("fcm_options", .group([analyticsLabel])),
    ]

    private static let analyticsLabel: (key: String, form: FCMMessageForm) = ("analytics_label", .label)

    private static let notification = FCMMessageForm.group([("title", .text), ("body", .text), ("image", .text)])

    private static let android = FCMMessageForm.group([
        ("notification", androidNotification), ("data", .data), ("restricted_package_name", .text),
        ("fcm_options", .group([analyticsLabel])),
        ("direct_boot_ok", .flag), ("bandwidth_constrained_ok", .flag), ("restricted_satellite_ok", .flag),
    ])

    private static let androidNotification = FCMMessageForm.group([
        ("title", .text), ("body", .text), ("icon", .text), ("color", .color), ("sound", .text), ("tag", .text), ("click_action", .text),
        ("body_loc_key", .text), ("body_loc_args", .list(.text)), ("title_loc_key", .text), ("title_loc_args", .list(.text)),
        ("channel_id", .text), ("ticker", .text), ("sticky", .flag), ("event_time", .text), ("local_only", .flag),
        (
            "notification_priority",
            .choice(["PRIORITY_MIN", "PRIORITY_LOW", "PRIORITY_DEFAULT", "PRIORITY_HIGH", "PRIORITY_MAX"])
        ),
        ("default_sound", .flag), ("default_vibrate_timings", .flag), ("default_light_settings", .flag),
        ("vibrate_timings", .list(.duration)), ("visibility", .choice(["PRIVATE", "PUBLIC", "SECRET"])),
        ("notification_count", .wholeNumber), ("light_settings", lights), ("image", .text), ("bypass_proxy_notification", .flag),
        ("proxy", .choice(["ALLOW", "DENY", "IF_PRIORITY_LOWERED"])),
    ])

    private static let lights = FCMMessageForm.group([
        ("color", .group([("red", .share), ("green", .share), ("blue", .share), ("alpha", .share)])),
        ("light_on_duration", .duration), ("light_off_duration", .duration),
    ])

    /// `headers` and the keys of `aps` have rules of their own.
    private static let apns = FCMMessageForm.group([
        ("headers", .foreign), ("payload", .foreign), ("fcm_options", .group([analyticsLabel, ("image", .text)])),
    ])

    /// The notification is the browser's, with keys that browsers add from time to time.
    private static let webpush = FCMMessageForm.group([
        ("headers", .headers), ("data", .data), ("notification", .foreign),
        ("fcm_options", .group([("link", .secureAddress), analyticsLabel])),
    ])
}
