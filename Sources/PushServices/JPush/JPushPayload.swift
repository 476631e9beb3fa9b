import Base

/// A payload from the keys of `content`: a push without its audience, and without what all pushes
/// of a run have in common, which `JPushRequestBody` adds. For that `notification` is its first
/// member and begins with `android`, and `options` is its last one. One for a Live Activity has
/// `live_activity` instead, which begins with the priority of a run.
/// Source: docs.jiguang.cn, "Push API v3"; JPush's SDK for Java, `bean/push`.
struct JPushPayload: ContentFindings {
    static let service = JPush().displayName

    static let notificationKey = "notification", activityKey = "live_activity"
    /// Source: docs.jiguang.cn, "Push API v3", limits: `ios` may have 2,000 bytes, `android` and
    /// `message` together 4,000, including 14 for the priority that a run adds.
    static let mostIOSBytes = 2000, mostOtherBytes = 4000 - 20
    /// What of the latter Volley leaves for a message in the app, if there is one.
    private static let mostMessageBytes = 2000
    /// JPush documents none: what iPhones have.
    static let mostHarmonyBytes = 2000
    /// `ios` of a Live Activity may have 3,584, including what a run adds: a digit of the priority,
    /// and those of two times. Source: calvinit/jiguang-sdk-go, `liveactivity`.
    static let mostActivityBytes = 3584 - 1 - ActivityStamp.bytesOfLengths

    /// What becomes of the keys of content, for people that read the service's documentation; in
    /// Markdown.
    static let carried: [ContentKey: String] = [
        .title: "Android's and HarmonyOS' `title`, iPhones' `alert`",
        .subtitle: "iPhones' `alert`",
        .body: "`alert`",
        .sound: "iPhones' and Android's `sound`",
        .badge: "iPhones' `badge`, HarmonyOS' `badge_set_num`",
        .category: "iPhones' `category`",
        .thread: "iPhones' `thread-id`",
        .image: "`big_pic_path`, iPhones' `extras`",
        .link: "`extras.link`, `intent`",
        .data: "`extras`",
        .interruption: "iPhones' `interruption-level`",
        .localized: "iPhones' `alert`; Android shows `title` and `body`",
        .wakeApp: "iPhones' `content-available`",
        .silent: "a blank text, and a background push",
    ]

    var findings: [Diagnostic] = []

    /// The payload that JPush makes of content.
    static func draft(of content: MessageContent) -> PayloadDraft {
        var payload = JPushPayload()
        if let activity = content.activity {
            let root = payload.activity(activity, content)
            return PayloadDraft(
                root: root, pushType: .liveactivity, byteLimit: JPush().payloadLimit(of: .liveactivity),
                findings: payload.findings)
        }
        let root = payload.root(content)
        var draft = PayloadDraft(
            root: root, pushType: content.isSilent ? .background : .alert, byteLimit: JPush.payloadLimit,
            findings: payload.findings)
        draft.losses = losses(content)
        return draft
    }

    /// What phones with HarmonyOS do without. Source: JPush's SDK for Java, `HmosNotification`.
    private static func losses(_ content: MessageContent) -> [ContentLoss] {
        guard let image = content.image, content.own.contains(where: { $0.name.value == CampaignRules.harmonyKey })
        else { return [] }
        return [
            ContentLoss(
                key: .image, reason: "JPush passes no image to phones with HarmonyOS",
                effect: "they get the push without it",
                place: image.position,
                remedy: "Allow the warning, or give these phones an icon: harmony: {icon: https://…}",
                isPartial: true)
        ]
    }

    private mutating func root(_ content: MessageContent) -> PayloadNode {
        let isShown = !content.isSilent && (content.title != nil || content.body != nil)
        if !content.isSilent, !isShown { checkInvisible(content) }
        checkBadge(content, highest: Self.highestBadge)
        // Both systems hand them to the app.
        let message = message(content), extras = ownKeys(content, onlyTexts: false)
        if case .object(let data, _) = content.data { refuseTwice(Self.imageKey, content.image, in: data) }
        let android = android(content, isShown: isShown) + (extras.isEmpty ? [] : [("extras", .object(extras))])
        let mostAndroidBytes = Self.mostOtherBytes - (message.isEmpty ? 0 : Self.mostMessageBytes)
        var notification: [Member] = [
            (
                "android",
                .limited(
                    .object(android),
                    Self.limit(mostAndroidBytes, .bytes, of: "notification for Android", at: content.position))
            ),
            (
                "ios",
                .limited(
                    .object(ios(content, extras: extras)),
                    Self.limit(Self.mostIOSBytes, .bytes, of: "notification for iPhones", at: content.position))
            ),
        ]
        if let hmos = hmos(content, isShown: isShown, extras: extras) {
            let limit = Self.limit(
                Self.mostHarmonyBytes, .bytes, of: "notification for HarmonyOS", at: content.position)
            notification.append((Self.harmonyName, .limited(.object(hmos), limit)))
        }
        var members: [Member] = [(Self.notificationKey, .object(notification))]
        if !message.isEmpty {
            let limit = Self.limit(Self.mostMessageBytes, .bytes, of: "message in the app", at: content.position)
            members.append(("message", .limited(.object(message), limit)))
        }
        // A target of another system than those that a push names counts as unknown, and is not.
        members += [("platform", .constant(.string("all"))), ("options", .object(options(content)))]
        return .object(members)
    }

    /// The members are those of `aps`, but for the time of sending, which JPush adds. Source:
    /// JPush's SDK for Java, `LiveActivityMessage`.
    private mutating func activity(_ activity: ActivityContent, _ content: MessageContent) -> PayloadNode {
        if activity.state == nil {
            error(
                "JPush ends no activity without a 'state'", at: activity.position,
                remedy: "Write what it shows last, for example: state: {minutes: 0}.")
        }
        switch activity.relevance {
        case nil, .integer(1...100, _)?: break
        case let value?:
            error(
                "'relevance' is a whole number from 1 to 100 at JPush, not \(value.found)", at: value.position,
                remedy: "For example: relevance: 100.")
        }
        let members =
            [(JPushRequestBody.priorityKey, PayloadNode.constant(.integer(0)))] + Self.members(of: activity, content)
        let limit = Self.limit(Self.mostActivityBytes, .bytes, of: "Live Activity", at: activity.position)
        return .object([
            (Self.activityKey, .object([("ios", .limited(.object(members), limit))])),
            ("platform", .constant(.string("all"))),
            ("options", .object([])),
        ])
    }

    // MARK: - The systems

    /// Android shows nothing for a blank text, and the app's name where there is no title. Source:
    /// docs.jiguang.cn, "Push API v3", android.
    private mutating func android(_ content: MessageContent, isShown: Bool) -> [Member] {
        guard isShown, let text = content.body ?? content.title else { return [("alert", .constant(.string("")))] }
        var members: [Member] = [("alert", .shown(text, mustShow: true))]
        if content.body != nil, let title = content.title { members.append(("title", .shown(title, mustShow: true))) }
        if let image = content.image {
            // The style with a large picture.
            members += [("style", .constant(.integer(3))), ("big_pic_path", .address(image, mustBeSecure: true))]
        }
        if let sound = content.sound, sound.value != "default" {
            checkSound(sound)
            members.append(("sound", .text(Self.androidSound(sound))))
        }
        if let link = content.link, Self.opensApp(link) {
            members.append(("intent", .object([("url", .address(link))])))
        }
        let own = androidMembers(content)
        if let text = own.first(where: { $0.name == Self.bigTextKey }) {
            if content.image == nil {
                members.append(("style", .constant(.integer(1))))
            } else {
                refuseTwoStyles(content, text.name)
            }
        }
        return members + own
    }

    private mutating func refuseTwoStyles(_ content: MessageContent, _ name: String) {
        guard
            let place = content.own.members(of: Self.androidKey).first(where: { $0.name.value == name })?.name.position
        else { return }
        error(
            "Android shows either an image or a large text, and this push has both", at: place,
            remedy: "Remove '\(name)', or write image: null next to '\(Self.androidKey)'.")
    }

    /// A push that only wakes the app has a blank text, too. Source: docs.jiguang.cn, "Push API
    /// v3", ios.
    private func ios(_ content: MessageContent, extras: [Member]) -> [Member] {
        var extras = extras
        let alert = content.isSilent ? [] : Self.alert(content)
        var members: [Member] = [("alert", alert.isEmpty ? .constant(.string("")) : .object(alert))]
        let isSilent = content.isSilent
        if let sound = Self.appleSound(content), !isSilent { members.append(("sound", sound)) }
        if let badge = content.badge, !isSilent { members.append(("badge", .constant(.string(String(badge))))) }
        if let category = content.category { members.append(("category", .text(category))) }
        if let thread = content.thread { members.append(("thread-id", .text(thread))) }
        members += Self.interruption(content)
        if content.wakesApp || isSilent { members.append(("content-available", .constant(.bool(true)))) }
        if Self.runsExtension(content) { members.append(("mutable-content", .constant(.bool(true)))) }
        if let image = content.image {
            // The app's extension loads it.
            extras.append((Self.imageKey, .address(image, mustBeSecure: true)))
        }
        return members + (extras.isEmpty ? [] : [("extras", .object(extras))])
    }

    /// HarmonyOS 5 and later: older ones are Android. Nothing without the group `harmony`, as JPush
    /// demands a category. Source: JPush's SDK for Java, `HmosNotification`.
    private mutating func hmos(_ content: MessageContent, isShown: Bool, extras: [Member]) -> [Member]? {
        guard let own = harmony(content, valid: Self.harmonyForms.map(\.key)), isShown,
            let alert = content.body ?? content.title
        else { return nil }
        var members: [Member] = [("alert", .shown(alert, mustShow: true))]
        if content.body != nil, let title = content.title { members.append(("title", .shown(title, mustShow: true))) }
        if let category = harmonyCategory(own) { members.append(("category", category)) }
        var target = content.link.flatMap { Self.opensApp($0) ? PayloadNode.address($0) : nil }
        for member in own {
            switch (member.name.value, member.value) {
            case ("intent", _):
                if let text = nonBlankText(member) {
                    target = text.value.contains("://") ? .address(text) : .text(text)
                }
            case ("icon", _):
                if let text = text(member) { members.append(("large_icon", .address(text, mustBeSecure: true))) }
            case ("sound", _): if let text = nonBlankText(member) { members.append(("sound", .text(text))) }
            case ("test", .bool(let isTest, _)): members.append(("test_message", .constant(.bool(isTest))))
            case ("test", let value):
                error(
                    "'test' must be true or false, not \(value.found)", at: value.position,
                    remedy: "For example: test: true.")
            default: break
            }
        }
        // Without a place in the app a tap opens the app.
        members.append(("intent", .object([("url", target ?? .constant(.string("action.system.home")))])))
        if let badge = content.badge { members.append(("badge_set_num", .constant(.integer(Int64(badge))))) }
        return members + (extras.isEmpty ? [] : [("extras", .object(extras))])
    }

    static let harmonyName = "hmos"
    /// What HarmonyOS gets next to its category.
    static let harmonyForms: [(key: String, form: OwnForm)] = [
        ("intent", .text), ("icon", .text), ("sound", .text), ("test", .truth),
    ]
    private static let imageKey = "image"
    /// Source: docs.jiguang.cn, "Push API v3", ios, badge.
    private static let highestBadge = 99

    /// Whether a link is one that JPush's SDK opens by itself: an intent, or an address of an app.
    /// It does not open web pages.
    /// Source: docs.jiguang.cn, "Push API v3", android, intent.
    private static func opensApp(_ link: SourceText) -> Bool {
        guard let colon = link.value.firstIndex(of: ":") else { return false }
        let scheme = link.value[..<colon].lowercased()
        return !["http", "https"].contains(scheme) && scheme.utf8.allSatisfy(ASCIISet.lettersAndDigits.contains)
            && !scheme.isEmpty
    }
}

/// What only JPush has, below `services: {jpush: …}` of a campaign's content. Source:
/// docs.jiguang.cn, "Push API v3".
extension JPushPayload {
    static let androidKey = "android", inAppKey = "in_app", optionsKey = "options"

    // MARK: - Android

    /// The members of `notification.android` that a campaign names. What is wrong with them is
    /// noted.
    mutating func androidMembers(_ content: MessageContent) -> [Member] {
        let example = "For example: \(Self.androidKey): {channel: offers, category: MARKETING}."
        return values(of: Self.androidKey, in: content, Self.androidKeys, example: example)
    }

    private static let bigTextKey = "big_text"
    static let androidKeys = [
        OwnKey("channel", "channel_id"), OwnKey("category", "category"), OwnKey("icon", "small_icon_uri"),
        OwnKey("color", "icon_bg_color"),
        OwnKey("large_icon", "large_icon"), OwnKey(bigTextKey, bigTextKey, .limitedText(mostOtherBytes)),
        OwnKey("badge", "badge_set_num", .badge(added: "badge_add_num")), OwnKey("badge_class", "badge_class"),
    ]

    // MARK: - In the app

    /// A message that the app gets while it runs, and that no system shows: the members of
    /// `message`.
    mutating func message(_ content: MessageContent) -> [Member] {
        let example = "For example: \(Self.inAppKey): {title: Hello, body: 20 % off, data: {page: sale}}."
        let own = members(of: Self.inAppKey, in: content, valid: ["title", "body", "data"], example: example)
        guard let key = content.own.first(where: { $0.name.value == Self.inAppKey }) else { return [] }
        var message: [Member] = []
        for member in own {
            switch (member.name.value, member.value) {
            case ("data", .object(let data, _)):
                findings += data.repeatedNames
                message.append(("extras", .object(data.map { ($0.name.value, .content($0.value)) })))
            case ("data", let value): error("'data' must be a group of keys", at: value.position, remedy: example)
            case ("body", _):
                if let text = text(member) { message.append(("msg_content", .shown(text, mustShow: true))) }
            default: if let text = text(member) { message.append(("title", .shown(text, mustShow: false))) }
            }
        }
        if case .object = key.value, !own.contains(where: { $0.name.value == "body" }) {
            error("'\(Self.inAppKey)' has no body, which JPush demands", at: key.name.position, remedy: example)
        }
        return message
    }

    // MARK: - Options

    /// What Volley sets, and what sets it.
    private static let foreignOptions = [
        "time_to_live": "Write it as 'expires' under 'delivery'.",
        "apns_collapse_id": "Write it as 'collapse' under 'delivery'.",
        "apns_production": "Write the app's environment in volley.yaml.", "sendno": "Remove it.",
    ]

    private static let numberOptions: [String: ClosedRange<Int64>] = [
        "big_push_duration": 1...1400, "classification": 0...1, "override_msg_id": 1...Int64.max,
    ]

    /// The members of `options` that a campaign names.
    mutating func options(_ content: MessageContent) -> [Member] {
        let example = "For example: \(Self.optionsKey): {big_push_duration: 10}."
        let valid = (Self.numberOptions.keys + [Self.channelsKey]).sorted()
        let own = members(of: Self.optionsKey, in: content, valid: valid, others: Self.foreignOptions, example: example)
        let channels = channels(content, own)
        return own.compactMap { member -> Member? in
            let name = member.name.value
            switch (Self.numberOptions[name], member.value) {
            case (let range?, .integer(let number, _)) where range.contains(number):
                return (name, .content(member.value))
            case (let range?, _):
                let numbers =
                    range.upperBound == Int64.max
                    ? "a whole number" : "a whole number from \(range.lowerBound) to \(range.upperBound)"
                error(
                    "'\(name)' must be \(numbers), not \(member.value.found)", at: member.value.position,
                    remedy: example)
            case (nil, .object): break
            case (nil, _):
                error(
                    "'\(name)' must be a group of keys", at: member.value.position,
                    remedy: "For example: \(name): {huawei: {…}}.")
            }
            return nil
        } + (channels.isEmpty ? [] : [(Self.channelsKey, .object(channels))])
    }

    // MARK: - Makers of phones

    static let channelsKey = "third_party_channel"

    /// What the channels of makers get. Source: jpush-docs, "Push API v3", third_party_channel;
    /// calvinit/jiguang-sdk-go.
    static let makers = [
        MakerForm(.huawei, "huawei", [(.category, "category"), (.importance, "importance"), (.channel, "channel_id")]),
        MakerForm(.honor, "honor", [(.importance, "importance")]),
        MakerForm(.xiaomi, "xiaomi", [(.channel, "channel_id")]),
        MakerForm(.oppo, "oppo", [(.category, "category"), (.channel, "channel_id")]),
        MakerForm(.vivo, "vivo", [(.category, "category"), (.classification, "classification")]),
    ]

    /// The channels of makers, by what `makers` says and what is written for them by hand.
    private mutating func channels(_ content: MessageContent, _ own: [ContentMember]) -> [Member] {
        var makers = makers(content, Self.makers)
        let byHand = own.members(of: Self.channelsKey)
        findings += byHand.repeatedNames
        if let member = own.first(where: { $0.name.value == MakerKey.classification.rawValue }),
            makers.contains(where: { $0.members.contains { $0.name == MakerKey.classification.rawValue } })
        {
            error(
                "'\(CampaignRules.makersKey)' has a classification, too, and JPush goes by this one",
                at: member.name.position,
                remedy: "Keep one of them.")
        }
        let channels: [Member] = byHand.map { channel in
            guard case .object(let keys, _) = channel.value,
                let number = makers.firstIndex(where: { $0.name == channel.name.value })
            else {
                return (channel.name.value, .content(channel.value))
            }
            let maker = makers.remove(at: number)
            for key in keys where maker.members.contains(where: { $0.name == key.name.value }) {
                error(
                    "'\(Self.channelsKey)' holds '\(key.name.value)' of \(maker.name), which '\(CampaignRules.makersKey)' sets, too",
                    at: key.name.position, remedy: "Keep one of them.")
            }
            return (channel.name.value, .object(keys.map { ($0.name.value, .content($0.value)) } + maker.members))
        }
        return channels + makers.map { ($0.name, .object($0.members)) }
    }
}
