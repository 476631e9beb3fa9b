import Base

/// A payload from the keys of `content`: a notification without its users, and without what all pushes of a run have in common, which
/// `RongCloudRequestBody` adds. For that `ios` is its first member.
/// Source: rongcloud/server-sdk-go, `PushNotification`; rongcloud/server-sdk-java, `PlatformNotification`,
/// `HarmonyOSPlatformNotification`.
struct RongCloudPayload {
    typealias Member = (name: String, value: PayloadNode)

    var findings: [Diagnostic] = []

    /// The payload that RongCloud makes of content.
    static func draft(of content: MessageContent) -> PayloadDraft {
        var payload = RongCloudPayload()
        let root = payload.root(content)
        return PayloadDraft(root: root, pushType: .alert, byteLimit: RongCloud.payloadLimit, findings: payload.findings)
    }

    private mutating func error(_ message: String, at place: SourcePosition, remedy: String) {
        findings.append(Diagnostic(message, at: place, remedy: remedy))
    }

    private mutating func root(_ content: MessageContent) -> PayloadNode {
        checkText(content)
        checkTitle(content.title)
        checkBadge(content)
        checkImage(content)
        let extras = extras(content)
        var notification: [Member] = [("ios", .object(ios(content) + (extras.isEmpty ? [] : [("extras", .object(extras))])))]
        if !extras.isEmpty { notification.append(("android", .object([("extras", .object(extras))]))) }
        var harmony: [Member] = extras.isEmpty ? [] : [("extras", .object(extras))]
        if let image = content.image { harmony.append(("ohos", .object([("image", .address(image, mustBeSecure: true))]))) }
        if !harmony.isEmpty { notification.append(("harmonyOS", .object(harmony))) }
        if let title = content.title { notification.append(("title", .shown(title, mustShow: true))) }
        if let body = content.body { notification.append(("pushContent", .shown(body, mustShow: true))) }
        return .object([("notification", .object(notification))])
    }

    /// What only iPhones have.
    private func ios(_ content: MessageContent) -> [Member] {
        var members: [Member] = []
        if let badge = content.badge { members.append(("badge", .constant(.integer(Int64(badge))))) }
        if let category = content.category { members.append(("category", .text(category))) }
        if let thread = content.thread { members.append(("thread-id", .text(thread))) }
        if let image = content.image { members.append(("richMediaUri", .address(image, mustBeSecure: true))) }
        if content.wakesApp { members.append(("contentAvailable", .constant(.integer(1)))) }
        return members
    }

    /// The app's own keys, and `link` among them: the apps of all systems get them.
    private mutating func extras(_ content: MessageContent) -> [Member] {
        var members: [Member] = []
        if let link = content.link { members.append(("link", .address(link))) }
        guard case .object(let data, _) = content.data else { return members }
        findings += data.repeatedNames
        for member in data {
            if member.name.value == "link", content.link != nil {
                error("'data' holds 'link', which 'content' sets too", at: member.name.position, remedy: "Keep one of them.")
            }
            if let mistake = member.mistakeUnlessText(in: "data", of: "RongCloud") { findings.append(mistake) }
        }
        return members + data.map { ($0.name.value, .content($0.value)) }
    }

    // MARK: - Checks

    /// Source: rongcloud/server-sdk-go, `PushNotification`: `pushContent` is required, also where the push wakes the app.
    private mutating func checkText(_ content: MessageContent) {
        if content.isSilent {
            return error(
                "RongCloud has no silent pushes: every push shows a text", at: content.position,
                remedy: "Write a body, and wake_app: true if the push should wake the app, too.")
        }
        guard content.body == nil else { return }
        if let title = content.title {
            error("RongCloud shows no push without a body", at: title.position, remedy: "Write the text as 'body'.")
        } else {
            error("RongCloud shows no push without a body", at: content.position, remedy: "Add a body.")
        }
    }

    private static let mostTitleCharacters = 50

    /// Source: rongcloud/server-sdk-go, `PushNotification`: at most 50 characters. They are counted as Java does, so an emoji is two. What a
    /// template prints is only known to be too long when RongCloud refuses it.
    private mutating func checkTitle(_ title: SourceText?) {
        guard let title, !title.isTemplate, title.value.utf16.count > Self.mostTitleCharacters else { return }
        error(
            "the title has \(title.value.utf16.count) characters, and RongCloud takes \(Self.mostTitleCharacters) at most",
            at: title.position, remedy: "Shorten it, or write a shorter one for RongCloud: services: {rongcloud: {title: …}}.")
    }

    private static let highestBadge = 9999

    private mutating func checkBadge(_ content: MessageContent) {
        guard let badge = content.badge, badge > Self.highestBadge else { return }
        error(
            "the badge \(badge) is higher than RongCloud takes, which is \(Self.highestBadge)", at: content.position,
            remedy: "Write a badge from 0 to \(Self.highestBadge).")
    }

    /// Source: rongcloud/server-sdk-java, `PlatformNotification`: `richMediaUri` is used together with `category`.
    private mutating func checkImage(_ content: MessageContent) {
        guard let image = content.image, content.category == nil else { return }
        error(
            "RongCloud passes an image to iPhones only together with a category", at: image.position,
            remedy: "Add the category for which the app loads images, for example category: rich.")
    }
}
