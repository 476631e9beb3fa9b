import Base

/// A payload from the keys of `content`: a notification without its users, and without what all
/// pushes of a run have in common, which `RongCloudRequestBody` adds. For that `ios` is its first
/// member.
/// Source: rongcloud/server-sdk-go, `PushNotification`; rongcloud/server-sdk-java,
/// `PlatformNotification`, `HarmonyOSPlatformNotification`.
struct RongCloudPayload: ContentFindings {
    static let service = RongCloud().displayName

    /// What becomes of the keys of content, for people that read the service's documentation; in
    /// Markdown.
    static let carried: [ContentKey: String] = [
        .title: "`title`",
        .body: "`pushContent` (required)",
        .badge: "iPhones' `badge`",
        .category: "iPhones' `category`",
        .thread: "iPhones' `thread-id`",
        .image: "HarmonyOS' `image`; iPhones' `richMediaUri`, with a category",
        .link: "`extras.link`",
        .data: "`extras`",
        .interruption: "iPhones' `interruption-level`",
        .wakeApp: "`contentAvailable`",
    ]

    var findings: [Diagnostic] = []

    /// The payload that RongCloud makes of content.
    static func draft(of content: MessageContent) -> PayloadDraft {
        var payload = RongCloudPayload()
        let root = payload.root(content)
        var draft = PayloadDraft(
            root: root, pushType: .alert, byteLimit: RongCloud.payloadLimit, findings: payload.findings)
        draft.losses = losses(content)
        return draft
    }

    private mutating func root(_ content: MessageContent) -> PayloadNode {
        checkText(content)
        checkBadge(content, highest: Self.highestBadge)
        // The apps of all systems get them.
        let extras = ownKeys(content, onlyTexts: true)
        var notification: [Member] = [
            ("ios", .object(ios(content) + (extras.isEmpty ? [] : [("extras", .object(extras))])))
        ]
        let data: [Member] = extras.isEmpty ? [] : [("extras", .object(extras))]
        let android = data + makers(content, Self.makers, numbersAreTexts: true).map { ($0.name, .object($0.members)) }
        if !android.isEmpty { notification.append(("android", .object(android))) }
        let ohos = ohos(content)
        if !data.isEmpty || !ohos.isEmpty {
            notification.append(("harmonyOS", .object(data + (ohos.isEmpty ? [] : [("ohos", .object(ohos))]))))
        }
        if let title = content.title {
            notification.append(("title", Self.shown(title, .title, atMost: Self.mostTitleCharacters)))
        }
        if let body = content.body { notification.append(("pushContent", .shown(body, mustShow: true))) }
        return .object([("notification", .object(notification))])
    }

    /// What the makers of phones get. Source: rongcloud/server-sdk-java, `PlatformNotification`.
    static let makers = [
        MakerForm(.huawei, "hw", [(.category, "category"), (.importance, "importance"), (.channel, "channelId")]),
        MakerForm(.honor, "honor", [(.importance, "importance")]), MakerForm(.xiaomi, "mi", [(.channel, "channelId")]),
        MakerForm(.oppo, "oppo", [(.category, "category"), (.channel, "channelId")]),
        MakerForm(.vivo, "vivo", [(.category, "category"), (.classification, "classification")]),
    ]

    /// What only HarmonyOS has. Source: rongcloud/server-sdk-java, `HarmonyOSPlatformNotification`.
    private mutating func ohos(_ content: MessageContent) -> [Member] {
        var members: [Member] = content.image.map { [("image", .address($0, mustBeSecure: true))] } ?? []
        if let own = harmony(content), let category = harmonyCategory(own) { members.append(("category", category)) }
        return members
    }

    /// What only iPhones have.
    private func ios(_ content: MessageContent) -> [Member] {
        var members: [Member] = []
        if let badge = content.badge { members.append(("badge", .constant(.integer(Int64(badge))))) }
        if let category = content.category { members.append(("category", .text(category))) }
        if let thread = content.thread { members.append(("thread-id", .text(thread))) }
        members += Self.interruption(content)
        if let image = content.image, content.category != nil {
            members.append(("richMediaUri", .address(image, mustBeSecure: true)))
        }
        if content.wakesApp { members.append(("contentAvailable", .constant(.integer(1)))) }
        return members
    }

    // MARK: - Checks

    /// Source: rongcloud/server-sdk-go, `PushNotification`: `pushContent` is required, also where
    /// the push wakes the app.
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

    /// Source: rongcloud/server-sdk-go, `PushNotification`: at most 50 characters. Volley counts
    /// them as Java does, so an emoji is two.
    private static let mostTitleCharacters = 50

    private static let highestBadge = 9999

    /// An image without a category, which iPhones do not get.
    /// Source: rongcloud/server-sdk-java, `PlatformNotification`: `richMediaUri` is used together
    /// with `category`.
    private static func losses(_ content: MessageContent) -> [ContentLoss] {
        guard let image = content.image, content.category == nil else { return [] }
        return [
            ContentLoss(
                key: .image, reason: "RongCloud passes an image to iPhones only together with a category",
                effect: "iPhones get the push without it", place: image.position,
                remedy: "Add the category for which the app loads images, for example category: rich")
        ]
    }
}
