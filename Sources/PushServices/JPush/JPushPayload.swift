import Base

/// A payload from the keys of `content`: a push without its audience, and without what all pushes of a run have in common, which
/// `JPushRequestBody` adds. For that `notification` is its first member and begins with `android`, and `options` is its last one.
/// Source: docs.jiguang.cn, "Push API v3"; JPush's SDK for Java, `bean/push`.
struct JPushPayload {
    typealias Member = (name: String, value: PayloadNode)

    static let notificationKey = "notification"
    /// Source: docs.jiguang.cn, "Push API v3", limits: `ios` may have 2,000 bytes, `android` and `message` together 4,000, of which the
    /// priority that a run adds needs 14.
    static let mostIOSBytes = 2000, mostOtherBytes = 4000 - 20
    /// What of the latter Volley leaves for a message in the app, if there is one.
    private static let mostMessageBytes = 2000

    var findings: [Diagnostic] = []

    /// The payload that JPush makes of content.
    static func draft(of content: MessageContent) -> PayloadDraft {
        var payload = JPushPayload()
        let root = payload.root(content)
        return PayloadDraft(
            root: root, pushType: content.isSilent ? .background : .alert, byteLimit: JPush.payloadLimit, findings: payload.findings)
    }

    mutating func error(_ message: String, at place: SourcePosition, remedy: String? = nil) {
        findings.append(Diagnostic(message, at: place, remedy: remedy))
    }

    private mutating func root(_ content: MessageContent) -> PayloadNode {
        let isShown = !content.isSilent && (content.title != nil || content.body != nil)
        if !content.isSilent, !isShown { checkInvisible(content) }
        checkData(content)
        checkBadge(content)
        let message = message(content), extras = extras(content)
        let android = android(content, isShown: isShown) + (extras.isEmpty ? [] : [("extras", .object(extras))])
        let mostAndroidBytes = Self.mostOtherBytes - (message.isEmpty ? 0 : Self.mostMessageBytes)
        let notification: [Member] = [
            (
                "android",
                .limited(
                    .object(android), PayloadLimit(mostAndroidBytes, .bytes, of: "notification for Android", at: content.position))
            ),
            (
                "ios",
                .limited(
                    .object(ios(content, extras: extras)),
                    PayloadLimit(Self.mostIOSBytes, .bytes, of: "notification for iPhones", at: content.position))
            ),
        ]
        var members: [Member] = [(Self.notificationKey, .object(notification))]
        if !message.isEmpty {
            let limit = PayloadLimit(Self.mostMessageBytes, .bytes, of: "message in the app", at: content.position)
            members.append(("message", .limited(.object(message), limit)))
        }
        // A target of another system than those that a push names counts as unknown, and is not.
        members += [("platform", .constant(.string("all"))), ("options", .object(options(content)))]
        return .object(members)
    }

    // MARK: - The two systems

    /// Android shows nothing for a blank text, and the app's name where there is no title. Source: docs.jiguang.cn, "Push API v3", android.
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
        if let link = content.link, Self.opensApp(link) { members.append(("intent", .object([("url", .address(link))]))) }
        return members + androidMembers(content)
    }

    /// A push that only wakes the app has a blank text, too. Source: docs.jiguang.cn, "Push API v3", ios.
    private func ios(_ content: MessageContent, extras: [Member]) -> [Member] {
        var extras = extras, alert: [Member] = []
        if !content.isSilent {
            for (name, text, mustShow) in [
                ("title", content.title, true), ("subtitle", content.subtitle, false), ("body", content.body, true),
            ] {
                if let text { alert.append((name, .shown(text, mustShow: mustShow))) }
            }
        }
        var members: [Member] = [("alert", alert.isEmpty ? .constant(.string("")) : .object(alert))]
        let isSilent = content.isSilent
        if let sound = content.sound, !isSilent { members.append(("sound", .text(sound))) }
        if let badge = content.badge, !isSilent { members.append(("badge", .constant(.string(String(badge))))) }
        if let category = content.category { members.append(("category", .text(category))) }
        if let thread = content.thread { members.append(("thread-id", .text(thread))) }
        if content.wakesApp || isSilent { members.append(("content-available", .constant(.bool(true)))) }
        if let image = content.image {
            // The app's extension loads it.
            members.append(("mutable-content", .constant(.bool(true))))
            extras.append((Self.imageKey, .address(image, mustBeSecure: true)))
        }
        return members + (extras.isEmpty ? [] : [("extras", .object(extras))])
    }

    private static let imageKey = "image"

    /// The app's own keys, and `link` among them: both systems hand them to the app.
    private func extras(_ content: MessageContent) -> [Member] {
        let link: [Member] = content.link.map { [("link", .address($0))] } ?? []
        guard case .object(let data, _)? = content.data else { return link }
        return link + data.map { ($0.name.value, .content($0.value)) }
    }

    /// Whether a link is one that JPush's SDK opens by itself: an intent, or an address of an app. It does not open web pages.
    /// Source: docs.jiguang.cn, "Push API v3", android, intent.
    private static func opensApp(_ link: SourceText) -> Bool {
        guard let colon = link.value.firstIndex(of: ":") else { return false }
        let scheme = link.value[..<colon].lowercased()
        return !["http", "https"].contains(scheme) && scheme.utf8.allSatisfy(ASCIISet.lettersAndDigits.contains) && !scheme.isEmpty
    }

    // MARK: - Checks

    private mutating func checkInvisible(_ content: MessageContent) {
        if let subtitle = content.subtitle {
            return error(
                "Android shows no subtitle, so a push through JPush needs a title or a body, too", at: subtitle.position,
                remedy: "Write the text as 'title' or 'body'.")
        }
        findings.append(
            .warning(
                .nothingVisible, message: "a push without title and body does nothing on Android; iPhones get its badge and its sound",
                at: content.position, remedy: "Add a title or a body."))
    }

    private mutating func checkData(_ content: MessageContent) {
        guard case .object(let data, _)? = content.data else { return }
        findings += data.repeatedNames
        for (name, text) in [("link", content.link), (Self.imageKey, content.image)] where text != nil {
            guard let member = data.first(where: { $0.name.value == name }) else { continue }
            error("'data' holds '\(name)', which 'content' sets too", at: member.name.position, remedy: "Keep one of them.")
        }
    }

    private static let highestBadge = 99

    /// Source: docs.jiguang.cn, "Push API v3", ios, badge.
    private mutating func checkBadge(_ content: MessageContent) {
        guard let badge = content.badge, badge > Self.highestBadge else { return }
        error(
            "the badge \(badge) is higher than JPush takes, which is \(Self.highestBadge)", at: content.position,
            remedy: "Write a badge from 0 to \(Self.highestBadge).")
    }

    /// Android names a sound as a resource of the app, without the ending that iPhones need.
    private static func androidSound(_ sound: SourceText) -> SourceText {
        guard let dot = endingDot(of: sound.value) else { return sound }
        var sound = sound
        sound.value = String(sound.value[..<dot])
        return sound
    }

    /// The last full stop that does not belong to a template.
    private static func endingDot(of sound: String) -> String.Index? {
        let start = sound.lastIndex(of: "}").map { sound.index(after: $0) } ?? sound.startIndex
        return sound[start...].lastIndex(of: ".")
    }

    private mutating func checkSound(_ sound: SourceText) {
        if Self.endingDot(of: sound.value) == nil, sound.isTemplate {
            return error(
                "the ending of the sound must stand behind its template, because Android needs the name without it", at: sound.position,
                remedy: "For example: sound: \"{{ tone }}.caf\", with a column that holds the name alone.")
        }
        let name = Self.androidSound(sound)
        guard !name.isTemplate, !name.value.utf8.allSatisfy(ASCIISet("abcdefghijklmnopqrstuvwxyz0123456789_").contains) else { return }
        // Source: Android, "App resources overview": file names are lower-case letters, digits and underscores.
        findings.append(
            .warning(
                .soundNotPlayable,
                message: "Android has no sound '\(name.value)': its names are lower-case letters, digits and underscores",
                at: sound.position, remedy: "Rename the file in both apps, for example: sound: autumn_sale.caf."))
    }
}
