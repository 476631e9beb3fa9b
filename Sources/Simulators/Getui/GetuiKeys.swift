/// The bodies of requests to Getui, as data. Source: docs.getui.com, RestAPI V2, "push" and "token"; for names and for what may be left
/// out, Getui's SDK for Java (`dto/req`). Where the documentation leaves something open, what is stricter is meant.
enum GetuiKeys {
    static let mostSingles = 200, mostInList = 1000
    /// Three days.
    static let longestLifeMilliseconds: Int64 = 259_200_000

    static let authentication: GetuiShape = .object(
        ["sign": .name(64...64, also: ""), "timestamp": .name(13...13, also: ""), "appkey": .text(1...64)],
        required: ["sign", "timestamp", "appkey"])

    /// One push to one device.
    static let single = toAudience(audience(1...1))

    /// One push to the devices of an alias.
    static let singleAlias = toAudience(.object(["alias": .list(.text(1...39), 1...1)], required: ["alias"]))

    /// One push to all devices.
    static let everyone = toAudience(.choice(["all"]))

    /// One push to the devices for which all conditions hold. How long a tag is, and how many there are, is checked apart (`GetuiQuotas`).
    static let tags = toAudience(
        .object(
            [
                "tag": .list(
                    .object(
                        [
                            "key": .choice(["custom_tag", "phone_type", "region", "portrait"]),
                            "values": .list(.text(1...1000), 1...10_000),
                            "opt_type": .choice(["or", "and", "not"]),
                        ], required: ["key", "values", "opt_type"]), 1...10)
            ], required: ["tag"]))

    private static func toAudience(_ audience: GetuiShape) -> GetuiShape {
        .object(message.merging(["audience": audience]) { $1 }, required: ["request_id", "audience", "push_message"])
    }

    /// Pushes to several devices, each with its own content.
    static let batch: GetuiShape = .object(
        ["is_async": .flag, "msg_list": .list(single, 1...mostSingles)], required: ["msg_list"])

    /// Content that is sent later, to devices that another request names.
    static let listMessage: GetuiShape = .object(message, required: ["push_message"])

    static let list: GetuiShape = .object(
        ["audience": audience(1...mostInList), "taskid": .text(1...100), "is_async": .flag], required: ["audience", "taskid"])

    /// The form of a target is checked apart, as Getui has a text of its own for a wrong one.
    private static func audience(_ counts: ClosedRange<Int>) -> GetuiShape {
        .object(["cid": .list(.text(0...200), counts)], required: ["cid"])
    }

    private static let message: [String: GetuiShape] = [
        "request_id": .text(10...32), "task_name": .text(1...40), "group_name": .name(1...100, also: "-_"), "settings": settings,
        "push_message": pushMessage, "push_channel": .object(["ios": ios, "android": android]),
    ]

    private static let settings: GetuiShape = .object([
        "ttl": .number(-1...longestLifeMilliseconds), "strategy": .table(channels, .number(1...4)), "speed": .number(0...1_000_000),
        "schedule_time": .number(0...9_999_999_999_999),
    ])

    /// Getui's own channel (`default`), Apple's, and those of the makers of phones. Source: the SDK, `Strategy`.
    private static let channels = ["default", "ios", "hw", "xm", "mz", "op", "vv", "st", "hx", "hwq", "ho", "hoshw"]

    /// That there is exactly one of the three kinds is checked apart.
    private static let pushMessage: GetuiShape = .object([
        "network_type": .number(0...1), "duration": .text(27...27), "notification": notification, "transmission": .text(1...3072),
        "revoke": .object(
            ["old_task_id": .text(1...100), "force": .flag], required: ["old_task_id"]),
    ])

    private static let notification: GetuiShape = .object(
        [
            "title": .text(1...50), "body": .text(1...256), "big_text": .text(1...512), "big_image": .text(1...1024),
            "logo": .text(1...200), "logo_url": .text(1...1024), "channel_id": .text(1...100), "channel_name": .text(1...100),
            "channel_level": .digits(0...4), "click_type": .choice(["intent", "url", "payload", "payload_custom", "startapp", "none"]),
            "intent": .text(1...4096), "url": .text(1...1024), "payload": .text(1...3072), "notify_id": .digits(0...2_147_483_647),
            "ring_name": .text(1...100), "badge_add_num": .digits(1...999), "thread_id": .text(1...100),
        ], required: ["title", "body", "click_type"])

    private static let ios: GetuiShape = .object([
        "type": .choice(["notify", "voip"]), "aps": aps, "auto_badge": .badge, "payload": .text(1...4096),
        "multimedia": .list(
            .object(["url": .text(1...1024), "type": .number(1...3), "only_wifi": .flag], required: ["url", "type"]), 1...3),
        "apns-collapse-id": .text(1...64),
    ])

    private static let texts: GetuiShape = .list(.text(0...1024), 0...20)

    private static let aps: GetuiShape = .object([
        "alert": .object([
            "title": .text(1...4096), "subtitle": .text(1...4096), "body": .text(1...4096), "action-loc-key": .text(1...100),
            "loc-key": .text(1...100), "loc-args": texts, "launch-image": .text(1...100), "title-loc-key": .text(1...100),
            "title-loc-args": texts, "subtitle-loc-key": .text(1...100), "subtitle-loc-args": texts,
        ]),
        "content-available": .number(0...1), "sound": .text(1...100), "category": .text(1...100), "thread-id": .text(1...100),
    ])

    /// What the makers' own channels show while the app does not run.
    private static let android: GetuiShape = .object([
        "ups": .object([
            "notification": .object(
                [
                    "title": .text(1...50), "body": .text(1...256),
                    "click_type": .choice(["intent", "url", "payload", "startapp", "none"]), "intent": .text(1...4096),
                    "url": .text(1...1024), "payload": .text(1...3072), "notify_id": .digits(0...2_147_483_647),
                ], required: ["title", "body", "click_type"]),
            "transmission": .text(1...3072),
        ])
    ])
}
