/// The keys of a request to FCM, as data. Source: firebase.google.com, REST resource projects.messages, fields of Message and below, and
/// firebase-admin-node for `fid`. Keys that only answers have (`name`) are not among them.
enum MessageKeys {
    /// The whole body.
    static let body: JSONShape = .object(["validate_only": .flag, "message": message])

    private static let message: JSONShape = .object([
        "data": .texts, "notification": notification, "android": android, "webpush": webpush, "apns": apns, "fcm_options": label,
        "fid": .text, "token": .text, "topic": .text, "condition": .text,
    ])

    private static let label: JSONShape = .object(["analytics_label": .text])
    private static let notification: JSONShape = .object(["title": .text, "body": .text, "image": .text])

    private static let android: JSONShape = .object([
        "collapse_key": .text, "priority": .choice(["NORMAL", "HIGH"]), "ttl": .duration, "restricted_package_name": .text,
        "data": .texts, "notification": androidNotification, "fcm_options": label, "direct_boot_ok": .flag,
        "bandwidth_constrained_ok": .flag, "restricted_satellite_ok": .flag,
    ])

    private static let androidNotification: JSONShape = .object([
        "title": .text, "body": .text, "icon": .text, "color": .text, "sound": .text, "tag": .text, "click_action": .text,
        "body_loc_key": .text, "body_loc_args": .list(.text), "title_loc_key": .text, "title_loc_args": .list(.text),
        "channel_id": .text, "ticker": .text, "sticky": .flag, "event_time": .text, "local_only": .flag,
        "notification_priority": .choice([
            "PRIORITY_UNSPECIFIED", "PRIORITY_MIN", "PRIORITY_LOW", "PRIORITY_DEFAULT", "PRIORITY_HIGH", "PRIORITY_MAX",
        ]),
        "default_sound": .flag, "default_vibrate_timings": .flag, "default_light_settings": .flag,
        "vibrate_timings": .list(.duration), "visibility": .choice(["VISIBILITY_UNSPECIFIED", "PRIVATE", "PUBLIC", "SECRET"]),
        "notification_count": .wholeNumber, "light_settings": lights, "image": .text, "bypass_proxy_notification": .flag,
        "proxy": .choice(["PROXY_UNSPECIFIED", "ALLOW", "DENY", "IF_PRIORITY_LOWERED"]),
    ])

    private static let lights: JSONShape = .object([
        "color": .object(["red": .fraction, "green": .fraction, "blue": .fraction, "alpha": .fraction]),
        "light_on_duration": .duration, "light_off_duration": .duration,
    ])

    private static let webpush: JSONShape = .object([
        "headers": .texts, "data": .texts, "notification": .anyObject,
        "fcm_options": .object(["link": .text, "analytics_label": .text]),
    ])

    private static let apns: JSONShape = .object([
        "headers": .texts, "payload": .anyObject, "fcm_options": .object(["analytics_label": .text, "image": .text]),
        "live_activity_token": .text,
    ])
}
