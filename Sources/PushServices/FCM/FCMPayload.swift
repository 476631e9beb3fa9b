import Base

/// A payload from the keys of `content`: a message without its target, and without what all pushes
/// of a run have in common, which `FCMRequestBody` adds. For that `apns` is its first member and
/// begins with `headers`, and `android` is its last one.
/// Source: Google, "REST Resource: projects.messages"; for `aps`, Apple, "Generating a remote
/// notification".
struct FCMPayload: ContentFindings {
    static let service = FCM().displayName

    /// What becomes of the keys of content, for people that read the service's documentation; in
    /// Markdown.
    static let carried: [ContentKey: String] = [
        .title: "`notification`",
        .subtitle: "iPhones' `alert`",
        .body: "`notification`",
        .sound: "`aps.sound`, Android's `sound`",
        .badge: "`aps.badge`",
        .category: "`aps.category`",
        .thread: "`aps.thread-id`",
        .image: "`notification.image`, `mutable-content`",
        .link: "`data.link`",
        .data: "`data`",
        .interruption: "`aps.interruption-level`",
        .relevance: "`aps.relevance-score`",
        .targetContent: "`aps.target-content-id`",
        .filter: "`aps.filter-criteria`",
        .localized: "iPhones' `title-loc-key`, …, Android's `title_loc_key`, `body_loc_key`, …",
        .wakeApp: "iPhones' `content-available`",
        .silent: "data, and a background push",
        .payload: "`message: {…}`",
    ]

    var findings: [Diagnostic] = []

    /// The payload that FCM makes of content.
    static func draft(of content: MessageContent) -> PayloadDraft {
        var payload = FCMPayload()
        let (root, pushType) =
            if let activity = content.activity {
                (Self.activityMessage(activity, content), PushType.liveactivity)
            } else if let whole = content.payload {
                (payload.byHand(whole), payload.checkByHand(whole))
            } else {
                (payload.fields(content), content.isSilent ? PushType.background : .alert)
            }
        return PayloadDraft(root: root, pushType: pushType, byteLimit: FCM.payloadLimit, findings: payload.findings)
    }

    /// A payload with its parts where `FCMRequestBody` expects them.
    static func root(headers: PayloadNode, apns: [Member], others: [Member], android: PayloadNode) -> PayloadNode {
        let message = [("apns", .object([("headers", headers)] + apns))] + others + [("android", android)]
        return .object([("message", .object(message))])
    }

    /// The activity's token is in a column; the phone's is the target. Source: Google,
    /// "ApnsConfig", live_activity_token.
    private static func activityMessage(_ activity: ActivityContent, _ content: MessageContent) -> PayloadNode {
        let token = SourceText("{{ \(activity.tokens.rawValue) }}", at: activity.position)
        return root(
            headers: .object([]), apns: [(activityKey, .text(token)), ("payload", Self.activity(activity, content))],
            others: [],
            android: .object([]))
    }

    // MARK: - By the keys of content

    private mutating func fields(_ content: MessageContent) -> PayloadNode {
        let isShown =
            !content.isSilent
            && (content.title ?? content.body ?? content.localized[.title]?.key ?? content.localized[.body]?.key) != nil
        refuseTwice(content)
        if !content.isSilent, !isShown { checkInvisible(content) }
        let aps = content.isSilent ? [("content-available", .constant(.integer(1)))] : aps(content)
        var others: [Member] = []
        let notification = notification(content)
        if isShown, !notification.isEmpty { others.append(("notification", .object(notification))) }
        let data = data(content)
        if !data.isEmpty { others.append(("data", .object(data))) }
        others += label(content)
        if let run = content.tracking?.run, !others.contains(where: { $0.name == "fcm_options" }) {
            others.append(("fcm_options", .object([("analytics_label", .constant(.string(FCM.label(ofRun: run))))])))
        }
        var android: [Member] = []
        var shown = localized(content) + androidMembers(content)
        if let sound = content.sound, !content.isSilent {
            checkSound(sound)
            // Source: Google, "AndroidNotification", sound; firebase-android-sdk,
            // `CommonNotificationBuilder.getCustomSound`: `getIdentifier(sound, "raw", …)`.
            shown.append(("sound", .text(Self.androidSound(sound))))
        }
        // A notification without a text would be an empty one.
        if isShown, !shown.isEmpty { android.append(("notification", .object(shown))) }
        return Self.root(
            headers: .object([]), apns: aps.isEmpty ? [] : [("payload", .object([("aps", .object(aps))]))],
            others: others,
            android: .object(android))
    }

    /// What both systems show.
    private func notification(_ content: MessageContent) -> [Member] {
        var members: [Member] = []
        if let title = content.title, content.localized[.title] == nil {
            members.append(("title", .shown(title, mustShow: true)))
        }
        if let body = content.body, content.localized[.body] == nil {
            members.append(("body", .shown(body, mustShow: true)))
        }
        if let image = content.image { members.append(("image", .address(image, mustBeSecure: true))) }
        return members
    }

    /// Texts of the app on Android. Source: Google, "AndroidNotification", title_loc_key.
    private func localized(_ content: MessageContent) -> [Member] {
        [ContentKey.title, .body].flatMap { key in
            content.localized[key].map {
                Self.members($0, key: "\(key.rawValue)_loc_key", arguments: "\(key.rawValue)_loc_args")
            } ?? []
        }
    }

    /// What only iPhones have.
    private func aps(_ content: MessageContent) -> [Member] {
        var members: [Member] = []
        // An `alert` replaces the title and the body of the notification (Google, "ApnsConfig",
        // payload), so it repeats them.
        if content.subtitle != nil || !content.localized.isEmpty {
            members.append(("alert", .object(Self.alert(content))))
        }
        if let badge = content.badge { members.append(("badge", .constant(.integer(Int64(badge))))) }
        if let sound = Self.appleSound(content) { members.append(("sound", sound)) }
        let texts = [("thread-id", content.thread), ("category", content.category)]
        members += texts.compactMap { name, text in text.map { (name, .text($0)) } } + Self.presentation(content)
        if Self.runsExtension(content) { members.append(("mutable-content", .constant(.integer(1)))) }
        if content.wakesApp { members.append(("content-available", .constant(.integer(1)))) }
        return members
    }

    // MARK: - Data

    /// The app's own keys: both systems hand them to the app. Source: Google, "Message", data: both
    /// keys and values are texts.
    private mutating func data(_ content: MessageContent) -> [Member] {
        if case .object(let data, _) = content.data { data.forEach { checkDataName($0.name) } }
        return ownKeys(content, onlyTexts: true)
    }

    /// Source: Google, "Message", data: `from`, `message_type`, and what begins with `google` or
    /// `gcm`, is reserved. On iPhones `data` is next to `aps`.
    mutating func checkDataName(_ name: SourceText) {
        let isReserved =
            ["from", "message_type"].contains(name.value) || ["google", "gcm"].contains(where: name.value.hasPrefix)
        if isReserved {
            error(
                "FCM keeps the key '\(name.value)' of 'data' for itself", at: name.position,
                remedy: "Rename it, here and in the app.")
        } else if name.value == "aps" {
            error(
                "'data' must not hold 'aps', which belongs to APNs", at: name.position,
                remedy: "Use the keys of 'content', or write the whole push as 'payload'.")
        }
    }

    /// Source: Google, "Message", data: both keys and values are texts.
    mutating func checkText(_ member: ContentMember) {
        if let mistake = member.mistakeUnlessText(in: "data", of: Self.service) { findings.append(mistake) }
    }
}

/// What a campaign may say of Android alone, below `services: {fcm: {android: {…}}}` of its
/// content. Source: Google, "AndroidNotification".
extension FCMPayload {
    /// The key of the content that holds them.
    static let androidKey = "android"

    static let androidKeys = [
        OwnKey("channel", "channel_id"), OwnKey("color", "color", .color), OwnKey("icon", "icon"), OwnKey("tag", "tag"),
        OwnKey(
            "priority", "notification_priority", .words(priorities.map { ($0, .string("PRIORITY_\($0.uppercased())")) })
        ),
        OwnKey(
            "visibility", "visibility", .words(["private", "public", "secret"].map { ($0, .string($0.uppercased())) })),
        OwnKey("count", "notification_count", .number(0...2_147_483_647)), OwnKey("click_action", "click_action"),
        OwnKey("ticker", "ticker"),
    ]
    private static let priorities = ["min", "low", "default", "high", "max"]

    /// The members of `android.notification` that a campaign names. What is wrong with them is
    /// noted.
    mutating func androidMembers(_ content: MessageContent) -> [Member] {
        let example = "For example: \(Self.androidKey): {channel: offers, color: \"#FF8800\"}."
        return values(of: Self.androidKey, in: content, Self.androidKeys, example: example)
    }

    // MARK: - Label

    static let labelKey = "analytics_label", labelPattern = #"^[A-Za-z0-9\-_.~%]{1,50}$"#

    /// The members of `fcm_options`. Labels of devices would be more than Firebase counts. Source:
    /// Google, "Understanding message delivery", analytics labels.
    mutating func label(_ content: MessageContent) -> [Member] {
        guard let member = content.own.first(where: { $0.name.value == Self.labelKey }) else { return [] }
        if content.tracking != nil {
            error(
                "'\(Self.labelKey)' takes the place of the run's, by which report --refresh finds what devices received",
                at: member.name.position, remedy: "Remove it; or write track: false under 'delivery'.")
        }
        if case .text(let text) = member.value, text.value.wholeMatch(of: /[A-Za-z0-9\-_.~%]{1,50}/) != nil {
            return [("fcm_options", .object([(Self.labelKey, .text(text))]))]
        }
        error(
            "'\(Self.labelKey)' must be 1 to 50 letters, digits and characters of -_.~%, not \(member.value.found)",
            at: member.value.position, remedy: "For example: \(Self.labelKey): spring-sale.")
        return []
    }
}
