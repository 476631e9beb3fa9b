import Base

/// A payload from the keys of `content`: a message without its request id, its target, and what all
/// pushes of a run have in common, which `GetuiMessage` adds. For that its members have a fixed
/// order: `settings`, with `strategy` as its last member; `push_channel`, with `ios` as its first
/// member, and the notifications of `ups` and `harmony` first in these; `push_message`, with the
/// notification or the transmission as its last member.
///
/// Getui shows a notification on Android only, while the app has a connection to it. Where it has
/// none, the phone's maker shows `push_channel.android.ups`, or HarmonyOS `push_channel.harmony`;
/// iPhones get `push_channel.ios` through APNs. A message has either a notification or a
/// transmission, which the app reads while it runs and which shows nothing.
/// Source: docs.getui.com, RestAPI V2, "push"; limits from DCloud's page about uni-push and Getui's
/// SDK for Java, `GTNotification`.
struct GetuiPayload: ContentFindings {
    static let service = Getui().displayName

    /// How Getui reaches iPhones. Source: docs.getui.com, "push", strategy.
    enum AppleStrategy: Int64 {
        /// Its own channel while the app runs, and otherwise APNs.
        case ownFirst = 1
        /// APNs alone: Getui's own channel shows nothing.
        case appleOnly = 2
    }

    static let messageKey = "push_message", inAppKey = "in_app", androidKey = "android"
    static let longestTitle = 50, longestBody = 256, longestText = 3072, longestAddress = 1024, largestForApple = 4096
    /// Without a sound Getui plays the usual one.
    static let silence = "com.gexin.ios.silence"

    /// What becomes of the keys of content, for people that read the service's documentation; in
    /// Markdown.
    static let carried: [ContentKey: String] = [
        .title: "notification (required), iPhones' `alert`",
        .subtitle: "iPhones' `alert`",
        .body: "notification (required), iPhones' `alert`",
        .sound: "iPhones' `sound`",
        .badge: "iPhones' `auto_badge`",
        .category: "iPhones' `category`",
        .thread: "iPhones' `thread-id`",
        .image: "`big_image`, iPhones' `multimedia`",
        .link: "`url`, `intent` or `payload`",
        .data: "`payload`",
        .localized: "iPhones' `alert`, and `title` and `body` on Android",
        .wakeApp: "iPhones' `content-available`",
        .silent: "data, and a background push",
        .payload: "`push_message: {…}`",
    ]

    var findings: [Diagnostic] = []

    /// The payload that Getui makes of content.
    static func draft(of content: MessageContent) -> PayloadDraft {
        var payload = GetuiPayload()
        let (root, pushType) =
            if let whole = content.payload {
                payload.byHand(whole)
            } else {
                (payload.fields(content), content.isSilent ? PushType.background : .alert)
            }
        var draft = PayloadDraft(
            root: root, pushType: pushType, byteLimit: Getui.payloadLimit, findings: payload.findings)
        draft.losses = lossesInApp(content) + lossesOnHarmony(content)
        return draft
    }

    /// What the app does not get on Android, where a message in the app takes the place of the
    /// notification: what that message does not have under the same key.
    private static func lossesInApp(_ content: MessageContent) -> [ContentLoss] {
        guard !content.isSilent, content.payload == nil,
            let inApp = content.own.first(where: { $0.name.value == inAppKey }),
            case .object(let members, _) = inApp.value
        else { return [] }
        let there = Set(members.map(\.name.value))
        let places: [(ContentKey, SourcePosition?)] = [
            (.title, content.title?.position), (.body, content.body?.position), (.image, content.image?.position),
            (.link, content.link?.position), (.data, content.data?.position),
        ]
        var unshown: [ContentLoss] = []
        if content.title == nil || content.body == nil {
            unshown.append(
                ContentLoss(
                    key: content.title == nil ? .title : .body, reason: "makers of phones show a title and a body",
                    effect: "Android phones on which the app is not running show nothing of this push",
                    place: inApp.name.position,
                    remedy: "Add a title and a body to content", isPartial: true))
        }
        return unshown
            + places.compactMap { key, place in
                guard let place, !there.contains(key.rawValue) else { return nil }
                return ContentLoss(
                    key: key, reason: "Getui gives a running app on Android only what is below '\(inAppKey)'",
                    effect: "it does not get this '\(key.rawValue)'", place: place,
                    remedy: "Write \(key.rawValue) below '\(inAppKey)' as well", isPartial: true)
            }
    }

    /// What the app does not get on HarmonyOS, where a tap leads to what the campaign names, or to
    /// the app alone: data make a notification there one that the app's extension handles, for
    /// which Huawei demands a permission of its own. Source: Getui's SDK for Java,
    /// `HarmonyNotification` (payload); Huawei, "Sending notification extension messages".
    private static func lossesOnHarmony(_ content: MessageContent) -> [ContentLoss] {
        guard !content.isSilent, content.payload == nil,
            let own = content.own.first(where: { $0.name.value == CampaignRules.harmonyKey })?.value,
            case .object(let members, _) = own, !members.contains(where: { $0.name.value == "want" })
        else { return [] }
        let places: [(ContentKey, SourcePosition?)] = [
            (.link, content.link?.position), (.data, content.data?.position),
        ]
        return places.compactMap { key, place in
            guard let place else { return nil }
            return ContentLoss(
                key: key, reason: "Getui hands data to apps on HarmonyOS only with a permission of Huawei's",
                effect: "a tap there opens the app without this '\(key.rawValue)'", place: place,
                remedy: "Say where a tap leads there: harmony: {want: {uri: …, parameters: {…}}}", isPartial: true)
        }
    }

    static func strategyText(_ strategy: AppleStrategy) -> String {
        "\"strategy\":{\"default\":1,\"ios\":\(strategy.rawValue)}"
    }

    static func strategy(_ strategy: AppleStrategy) -> PayloadNode {
        .object([("default", .constant(.integer(1))), ("ios", .constant(.integer(strategy.rawValue)))])
    }

    /// A payload with its parts where `GetuiMessage` expects them.
    static func root(settings: [Member], channel: [Member], message: [Member]) -> PayloadNode {
        .object(
            [("settings", .object(settings))] + (channel.isEmpty ? [] : [("push_channel", .object(channel))])
                + [(messageKey, .object(message))])
    }

    // MARK: - By the keys of content

    private mutating func fields(_ content: MessageContent) -> PayloadNode {
        // What both systems hand to the app.
        let data = ownKeys(content, onlyTexts: false)
        let inApp = content.own.first { $0.name.value == Self.inAppKey }
        let message = message(content, data, inApp)
        let strategy = inApp == nil || content.isSilent ? AppleStrategy.appleOnly : .ownFirst
        let ios = PayloadNode.limited(
            .object(ios(content, data)),
            Self.limit(Self.largestForApple, .bytes, of: "part for iPhones", at: content.position))
        let channel = [("ios", ios)] + ups(content, data) + harmonyPart(content)
        return Self.root(settings: [("strategy", Self.strategy(strategy))], channel: channel, message: [message])
    }

    /// The notification, or what the app reads in its place.
    private mutating func message(_ content: MessageContent, _ data: [Member], _ inApp: ContentMember?) -> Member {
        let android = androidMembers(content)
        if let inApp {
            if let name = content.own.first(where: { $0.name.value == Self.androidKey })?.name {
                error(
                    "'\(Self.androidKey)' is about the notification that Getui shows, and with '\(Self.inAppKey)' it shows none",
                    at: name.position, remedy: "Remove one of the two.")
            }
            if content.isSilent {
                error(
                    "a silent push has 'data' for the app, and needs no '\(Self.inAppKey)'", at: inApp.name.position,
                    remedy: "Write its keys into 'data', or remove 'silent'.")
            } else {
                _ = group(
                    Self.inAppKey, in: content, example: "For example: \(Self.inAppKey): {title: Hello, screen: sale}.")
            }
            var inside = PayloadNode.content(inApp.value)
            if content.tracking != nil, case .object(let members, _) = inApp.value {
                findings += members.repeatedNames
                inside = .object(
                    members.map { ($0.name.value, .content($0.value)) }
                        + tracking(content, beside: members, of: Self.inAppKey))
            }
            return transmission(inside, at: inApp.value.position)
        }
        if content.isSilent { return transmission(.object(data), at: content.position) }
        guard let title = content.title, let body = content.body else {
            checkIncomplete(content)
            return transmission(.object(data), at: content.position)
        }
        return ("notification", .object(notification(content, title, body) + android + click(content, data)))
    }

    private func transmission(_ value: PayloadNode, at place: SourcePosition) -> Member {
        (
            "transmission",
            .limited(.encoded(value), Self.limit(Self.longestText, .characters, of: "data for the app", at: place))
        )
    }

    private mutating func checkIncomplete(_ content: MessageContent) {
        if let text = content.title ?? content.body ?? content.subtitle {
            let missing = content.title == nil ? (content.body == nil ? "a title and a body" : "a title") : "a body"
            error(
                "Getui's notifications on Android have a title and a body, and this push lacks \(missing)",
                at: text.position,
                remedy: "Add \(missing).")
        } else {
            warnInvisible(content, remedy: "Add a title and a body.")
        }
    }

    /// What Android shows.
    private func notification(_ content: MessageContent, _ title: SourceText, _ body: SourceText) -> [Member] {
        var members = texts(title, body)
        if let image = content.image {
            members.append(("big_image", address(image, "address of the image", mustBeSecure: true)))
        }
        return members
    }

    private func address(_ text: SourceText, _ noun: String, mustBeSecure: Bool = false) -> PayloadNode {
        .limited(
            .address(text, mustBeSecure: mustBeSecure),
            Self.limit(Self.longestAddress, .characters, of: noun, at: text.position))
    }

    /// Where a tap on Android leads. A notification leads to one place, so the app gets a link
    /// together with data.
    private func click(_ content: MessageContent, _ data: [Member]) -> [Member] {
        func kind(_ kind: String) -> Member { ("click_type", .constant(.string(kind))) }
        guard !data.isEmpty else { return [kind("startapp")] }
        // A link alone is opened by the phone, whether the push is tracked or not.
        if let link = content.link, data.count == (content.tracking == nil ? 1 : 2) {
            if ["http://", "https://"].contains(where: link.value.hasPrefix) {
                return [kind("url"), ("url", address(link, "link"))]
            }
            if link.value.hasPrefix("intent:") { return [kind("intent"), ("intent", .text(link))] }
        }
        return [kind("payload"), payload(content, data)]
    }

    /// What the makers of Android phones show while the app is not running. Source: docs.getui.com,
    /// "push", push_channel.android.ups; the paths of `options` are those of the makers' own
    /// messages.
    private mutating func ups(_ content: MessageContent, _ data: [Member]) -> [Member] {
        let options = makers(content, Self.makers)
        guard !content.isSilent, let title = content.title, let body = content.body else {
            checkUnshown(content)
            return []
        }
        var ups: [Member] = [("notification", .object(texts(title, body) + click(content, data)))]
        if !options.isEmpty { ups.append(("options", .object(options.map { ($0.name, .object($0.members)) }))) }
        return [("android", .object([("ups", .object(ups))]))]
    }

    /// Makers and HarmonyOS show a title and a body, and nothing without them, which a message in
    /// the app does not demand.
    private mutating func checkUnshown(_ content: MessageContent) {
        guard !content.isSilent, content.own.contains(where: { $0.name.value == Self.inAppKey }) else { return }
        for member in content.own where [CampaignRules.makersKey, CampaignRules.harmonyKey].contains(member.name.value)
        {
            error(
                "'\(member.name.value)' is about what phones show while the app is not running, and this push lacks a title and a body",
                at: member.name.position, remedy: "Add a title and a body to content, or remove '\(member.name.value)'."
            )
        }
    }

    /// What makers get. Source: docs.getui.com, "push", options of makers; paths as apps use them.
    static let makers = [
        MakerForm(
            .huawei, "HW",
            [
                (.category, "/message/android/category"), (.importance, "/message/android/notification/importance"),
                (.channel, "/message/android/notification/channel_id"),
            ]),
        MakerForm(.honor, "HO", [(.importance, "/android/notification/importance")]),
        MakerForm(.xiaomi, "XM", [(.channel, "/extra.channel_id"), (.template, "/extra.template_id")]),
        MakerForm(.oppo, "OP", [(.category, "/category"), (.channel, "/channel_id")]),
        MakerForm(.vivo, "VV", [(.category, "/category"), (.classification, "/classification")]),
    ]

    /// What HarmonyOS 5 and later show: nothing without the group `harmony`, as Huawei demands a
    /// category. Source: Getui's SDK for Java, `HarmonyDTO`.
    private mutating func harmonyPart(_ content: MessageContent) -> [Member] {
        let own = harmony(content, valid: ["want"])
        guard let own, let title = content.title, let body = content.body else { return [] }
        var notification = texts(title, body)
        if let category = harmonyCategory(own) {
            notification.append(
                (
                    "category",
                    .limited(category, Self.limit(Self.longestTitle, .characters, of: "category", at: content.position))
                ))
        }
        let want = own.first { $0.name.value == "want" }.map { member -> PayloadNode in
            if case .object = member.value { return .encoded(.content(member.value)) }
            return nonBlankText(member).map { .text($0) } ?? .constant(.null)
        }
        notification.append(("click_type", .constant(.string(want == nil ? "startapp" : "want"))))
        if let want { notification.append(("want", want)) }
        return [("harmony", .object([("notification", .object(notification))]))]
    }

    private func texts(_ title: SourceText, _ body: SourceText) -> [Member] {
        [
            ("title", Self.shown(title, .title, atMost: Self.longestTitle)),
            ("body", Self.shown(body, .body, atMost: Self.longestBody)),
        ]
    }

    private func payload(_ content: MessageContent, _ data: [Member]) -> Member {
        let limit = Self.limit(
            Self.longestText, .characters, of: "data for the app", at: content.data?.position ?? content.position)
        return ("payload", .limited(.encoded(.object(data)), limit))
    }

    /// What iPhones get through APNs.
    private func ios(_ content: MessageContent, _ data: [Member]) -> [Member] {
        var members: [Member] = [("type", .constant(.string("notify")))]
        if content.isSilent {
            members.append(("aps", .object([("content-available", .constant(.integer(1)))])))
        } else {
            members.append(("aps", .object(aps(content))))
            if let badge = content.badge { members.append(("auto_badge", .constant(.string(String(badge))))) }
        }
        if !data.isEmpty { members.append(("payload", .encoded(.object(data)))) }
        if let image = content.image, !content.isSilent {
            let address = address(image, "address of the image", mustBeSecure: true)
            members.append(
                (
                    "multimedia",
                    .list([
                        .object([
                            ("url", address), ("type", .constant(.integer(1))), ("only_wifi", .constant(.bool(false))),
                        ])
                    ])
                ))
        }
        return members
    }

    private func aps(_ content: MessageContent) -> [Member] {
        var members: [Member] = []
        let alert = Self.alert(content)
        if !alert.isEmpty {
            members.append(("alert", .object(alert)))
            members.append(("sound", content.sound.map { .text($0) } ?? .constant(.string(Self.silence))))
        } else if let sound = content.sound {
            members.append(("sound", .text(sound)))
        }
        let names = [("category", content.category), ("thread-id", content.thread)]
        members += names.compactMap { name, text in text.map { (name, .text($0)) } }
        if content.wakesApp { members.append(("content-available", .constant(.integer(1)))) }
        return members
    }

    // MARK: - Android

    /// The members of the notification that a campaign names for Android alone. What is wrong with
    /// them is noted.
    private mutating func androidMembers(_ content: MessageContent) -> [Member] {
        let example = "For example: \(Self.androidKey): {channel: offers, logo: sale.png}."
        let members = values(of: Self.androidKey, in: content, Self.androidKeys, example: example)
        if content.image != nil,
            let text = content.own.members(of: Self.androidKey).first(where: { $0.name.value == Self.bigTextKey })
        {
            error(
                "Android shows either an image or a large text, and this push has both", at: text.name.position,
                remedy: "Remove '\(Self.bigTextKey)', or write image: null next to '\(Self.androidKey)'.")
        }
        return members
    }

    private static let bigTextKey = "big_text"
    /// Source: docs.getui.com, "push", notification: `channel_level` is 0 for none to 4 for high;
    /// what Getui adds to a badge is at most 999.
    static let androidKeys = [
        OwnKey("channel", "channel_id"), OwnKey("channel_name", "channel_name"), OwnKey("logo", "logo"),
        OwnKey("logo_url", "logo_url"),
        OwnKey(
            "priority", "channel_level",
            .words([("min", .integer(1)), ("low", .integer(2)), ("default", .integer(3)), ("high", .integer(4))])),
        OwnKey(bigTextKey, bigTextKey, .limitedText(512)), OwnKey("badge", "badge_add_num", .added(1...999)),
    ]
}
