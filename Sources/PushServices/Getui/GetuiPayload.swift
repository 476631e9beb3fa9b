import Base

/// A payload from the keys of `content`: a message without its request id, its target, and what all pushes of a run have in common, which
/// `GetuiMessage` adds. For that its members have a fixed order: `settings`, with `strategy` as its last member; `push_channel`, with `ios`
/// as its first member; `push_message`, with the notification or the transmission as its last member.
///
/// Getui shows a notification on Android only. iPhones get `push_channel.ios` through APNs. A message has either a notification or a
/// transmission, which the app reads while it runs and which shows nothing.
/// Source: docs.getui.com, RestAPI V2, "push"; limits from DCloud's page about uni-push and Getui's SDK for Java, `GTNotification`.
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
        var draft = PayloadDraft(root: root, pushType: pushType, byteLimit: Getui.payloadLimit, findings: payload.findings)
        draft.losses = losses(content)
        return draft
    }

    /// What the app does not get on Android, where a message in the app takes the place of the notification: what that message does not have
    /// under the same key.
    private static func losses(_ content: MessageContent) -> [ContentLoss] {
        guard !content.isSilent, content.payload == nil, let inApp = content.own.first(where: { $0.name.value == inAppKey }),
            case .object(let members, _) = inApp.value
        else { return [] }
        let there = Set(members.map(\.name.value))
        let places: [(ContentKey, SourcePosition?)] = [
            (.title, content.title?.position), (.body, content.body?.position), (.image, content.image?.position),
            (.link, content.link?.position), (.data, content.data?.position),
        ]
        return places.compactMap { key, place in
            guard let place, !there.contains(key.rawValue) else { return nil }
            return ContentLoss(
                key: key, reason: "Getui gives the app on Android only what is below '\(inAppKey)'",
                effect: "only iPhones get this '\(key.rawValue)'", place: place,
                remedy: "Write \(key.rawValue) below '\(inAppKey)' as well", isPartial: true)
        }
    }

    static func strategyText(_ strategy: AppleStrategy) -> String { "\"strategy\":{\"default\":1,\"ios\":\(strategy.rawValue)}" }

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
            .object(ios(content, data)), Self.limit(Self.largestForApple, .bytes, of: "part for iPhones", at: content.position))
        return Self.root(settings: [("strategy", Self.strategy(strategy))], channel: [("ios", ios)], message: [message])
    }

    /// The notification, or what the app reads in its place.
    private mutating func message(_ content: MessageContent, _ data: [Member], _ inApp: ContentMember?) -> Member {
        let android = androidMembers(content)
        if let inApp {
            if let name = content.own.first(where: { $0.name.value == Self.androidKey })?.name {
                error(
                    "'\(Self.androidKey)' is about a notification, and with '\(Self.inAppKey)' Android shows none", at: name.position,
                    remedy: "Remove one of the two.")
            }
            if content.isSilent {
                error(
                    "a silent push has 'data' for the app, and needs no '\(Self.inAppKey)'", at: inApp.name.position,
                    remedy: "Write its keys into 'data', or remove 'silent'.")
            } else {
                _ = group(Self.inAppKey, in: content, example: "For example: \(Self.inAppKey): {title: Hello, screen: sale}.")
            }
            return transmission(.content(inApp.value), at: inApp.value.position)
        }
        if content.isSilent { return transmission(.object(data), at: content.position) }
        guard let title = content.title, let body = content.body else {
            checkIncomplete(content)
            return transmission(.object(data), at: content.position)
        }
        return ("notification", .object(notification(content, title, body) + android + click(content, data)))
    }

    private func transmission(_ value: PayloadNode, at place: SourcePosition) -> Member {
        ("transmission", .limited(.encoded(value), Self.limit(Self.longestText, .characters, of: "data for the app", at: place)))
    }

    private mutating func checkIncomplete(_ content: MessageContent) {
        if let text = content.title ?? content.body ?? content.subtitle {
            let missing = content.title == nil ? (content.body == nil ? "a title and a body" : "a title") : "a body"
            error(
                "Getui's notifications on Android have a title and a body, and this push lacks \(missing)", at: text.position,
                remedy: "Add \(missing).")
        } else {
            warnInvisible(content, remedy: "Add a title and a body.")
        }
    }

    /// What Android shows.
    private func notification(_ content: MessageContent, _ title: SourceText, _ body: SourceText) -> [Member] {
        var members: [Member] = [
            ("title", Self.shown(title, .title, atMost: Self.longestTitle)), ("body", Self.shown(body, .body, atMost: Self.longestBody)),
        ]
        if let image = content.image { members.append(("big_image", address(image, "address of the image", mustBeSecure: true))) }
        return members
    }

    private func address(_ text: SourceText, _ noun: String, mustBeSecure: Bool = false) -> PayloadNode {
        .limited(
            .address(text, mustBeSecure: mustBeSecure), Self.limit(Self.longestAddress, .characters, of: noun, at: text.position))
    }

    /// Where a tap on Android leads. A notification leads to one place, so the app gets a link together with data.
    private func click(_ content: MessageContent, _ data: [Member]) -> [Member] {
        func kind(_ kind: String) -> Member { ("click_type", .constant(.string(kind))) }
        guard !data.isEmpty else { return [kind("startapp")] }
        if let link = content.link, data.count == 1 {
            if ["http://", "https://"].contains(where: link.value.hasPrefix) { return [kind("url"), ("url", address(link, "link"))] }
            if link.value.hasPrefix("intent:") { return [kind("intent"), ("intent", .text(link))] }
        }
        let limit = Self.limit(Self.longestText, .characters, of: "data for the app", at: content.data?.position ?? content.position)
        return [kind("payload"), ("payload", .limited(.encoded(.object(data)), limit))]
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
                    .list([.object([("url", address), ("type", .constant(.integer(1))), ("only_wifi", .constant(.bool(false)))])])
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

    /// The members of the notification that a campaign names for Android alone. What is wrong with them is noted.
    private mutating func androidMembers(_ content: MessageContent) -> [Member] {
        let keys = [("channel", "channel_id"), ("channel_name", "channel_name"), ("logo", "logo")]
        let example = "For example: \(Self.androidKey): {channel: offers, logo: sale.png}."
        return texts(of: Self.androidKey, in: content, keys, example: example).map { ($0.name, .text($0.text)) }
    }
}
