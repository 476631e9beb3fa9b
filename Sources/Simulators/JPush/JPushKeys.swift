/// The keys of a push, as data. Sources: docs.jiguang.cn, Push API v3; jpush/jiguang-sdk-java, `bean/push`.
enum JPushKeys {
    /// The body of `/v3/push` and `/v3/push/validate`.
    static func push(_ plan: JPushPlan) -> JPushShape { .object(content(plan).merging(["cid": .text, "audience": audience]) { $1 }) }

    /// One push of `/v3/push/batch/…/single`.
    static func single(_ plan: JPushPlan) -> JPushShape { .object(content(plan).merging(["target": .text]) { $1 }) }

    private static func content(_ plan: JPushPlan) -> [String: JPushShape] {
        [
            "platform": .either(.choice(["all"]), .list(.choice(["android", "ios", "hmos", "quickapp"]))), "notification": notification,
            "message": message, "options": options(plan), "callback": .anyObject, "sms_message": .anyObject,
        ]
    }

    private static let audience: JPushShape = .either(
        .choice(["all"]),
        .object([
            "tag": .list(.text), "tag_and": .list(.text), "tag_not": .list(.text), "alias": .list(.text),
            "registration_id": .list(.text), "segment": .list(.text), "abtest": .list(.text),
        ]))

    private static let intent: JPushShape = .object(["url": .text])

    private static let notification: JPushShape = .object([
        "alert": .text, "android": android, "ios": ios, "hmos": .anyObject, "quickapp": .anyObject,
    ])

    private static let android: JPushShape = .object([
        "alert": .text, "title": .text, "builder_id": .number(0...1000), "channel_id": .shortText(1000), "category": .text,
        "priority": .number(-2...2), "style": .number(0...3), "alert_type": .number(-1...7), "big_text": .text, "inbox": .anyObject,
        "big_pic_path": .text, "extras": .anyObject, "large_icon": .text, "small_icon_uri": .text, "icon_bg_color": .text,
        "intent": intent, "uri_activity": .text, "uri_action": .text, "badge_add_num": .number(1...99), "badge_set_num": .number(0...99),
        "badge_class": .text, "sound": .text, "show_begin_time": .text, "show_end_time": .text, "display_foreground": .choice(["0", "1"]),
    ])

    private static let ios: JPushShape = .object([
        "alert": .either(.text, .anyObject), "sound": .either(.text, .anyObject), "badge": .badge, "content-available": .flag,
        "mutable-content": .flag, "category": .text, "extras": .anyObject, "thread-id": .text,
        "interruption-level": .choice(["active", "critical", "passive", "time-sensitive"]),
    ])

    private static let message: JPushShape = .object([
        "msg_content": .text, "title": .text, "content_type": .text, "extras": .anyObject,
    ])

    private static func options(_ plan: JPushPlan) -> JPushShape {
        .object([
            "sendno": .nonZero, "time_to_live": .number(0...plan.longestLifeSeconds), "override_msg_id": .number(1...Int64.max),
            "apns_production": .flag, "apns_collapse_id": .shortText(64), "big_push_duration": .number(0...1400),
            "third_party_channel": .anyObject, "unique_alias": .flag, "classification": .number(0...1), "geofence": .anyObject,
            "message_scenario_code": .shortText(40),
        ])
    }
}

/// What an app may do that has paid for it, and what others may.
struct JPushPlan {
    /// Whether the app has paid.
    var isVIP: Bool
    /// Whether it may send to tags. Source: calvinit/jiguang-sdk-go: only apps that have paid, by now. JPush's own pages do not say so.
    var takesTags = true

    /// Three days, or ten.
    var longestLifeSeconds: Int64 { isVIP ? 864_000 : 259_200 }
    /// How many cids a call gets.
    var mostCids: Int { isVIP ? 1000 : 10 }
}
