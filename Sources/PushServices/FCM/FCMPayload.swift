import Base

/// A payload from the keys of `content`: a message without its target, and without what all pushes of a run have in common, which
/// `FCMRequestBody` adds. For that `apns` is its first member and begins with `headers`, and `android` is its last one.
/// Source: Google, "REST Resource: projects.messages"; for `aps`, Apple, "Generating a remote notification".
struct FCMPayload {
    typealias Member = (name: String, value: PayloadNode)

    var findings: [Diagnostic] = []

    /// The payload that FCM makes of content.
    static func draft(of content: MessageContent) -> PayloadDraft {
        var payload = FCMPayload()
        let (root, pushType) =
            if let whole = content.payload {
                (payload.byHand(whole), payload.checkByHand(whole))
            } else {
                (payload.fields(content), content.isSilent ? PushType.background : .alert)
            }
        return PayloadDraft(root: root, pushType: pushType, byteLimit: FCM.payloadLimit, findings: payload.findings)
    }

    mutating func error(_ message: String, at place: SourcePosition, remedy: String? = nil) {
        findings.append(Diagnostic(message, at: place, remedy: remedy))
    }

    mutating func warning(_ name: WarningName, message: String, at place: SourcePosition, remedy: String? = nil) {
        findings.append(.warning(name, message: message, at: place, remedy: remedy))
    }

    /// A payload whose parts stand where `FCMRequestBody` expects them.
    static func root(headers: PayloadNode, apns: [Member], others: [Member], android: PayloadNode) -> PayloadNode {
        let message = [("apns", .object([("headers", headers)] + apns))] + others + [("android", android)]
        return .object([("message", .object(message))])
    }

    // MARK: - By the keys of content

    private mutating func fields(_ content: MessageContent) -> PayloadNode {
        let isShown = !content.isSilent && (content.title != nil || content.body != nil)
        if !content.isSilent, !isShown { checkInvisible(content) }
        let aps = content.isSilent ? [("content-available", .constant(.integer(1)))] : aps(content)
        var others: [Member] = []
        if isShown { others.append(("notification", .object(notification(content)))) }
        let data = data(content)
        if !data.isEmpty { others.append(("data", .object(data))) }
        var android: [Member] = []
        var shown = androidMembers(content)
        if let sound = content.sound, !content.isSilent {
            checkSound(sound)
            shown.append(("sound", .text(Self.androidSound(sound))))
        }
        // A notification without a text would be an empty one.
        if isShown, !shown.isEmpty { android.append(("notification", .object(shown))) }
        return Self.root(
            headers: .object([]), apns: aps.isEmpty ? [] : [("payload", .object([("aps", .object(aps))]))], others: others,
            android: .object(android))
    }

    /// What both systems show.
    private func notification(_ content: MessageContent) -> [Member] {
        var members: [Member] = []
        if let title = content.title { members.append(("title", .shown(title, mustShow: true))) }
        if let body = content.body { members.append(("body", .shown(body, mustShow: true))) }
        if let image = content.image { members.append(("image", .address(image, mustBeSecure: true))) }
        return members
    }

    /// What only iPhones have.
    private func aps(_ content: MessageContent) -> [Member] {
        var members: [Member] = []
        // An `alert` replaces the title and the body of the notification (Google, "ApnsConfig", payload), so it repeats them.
        if content.subtitle != nil {
            let texts = [("title", content.title, true), ("subtitle", content.subtitle, false), ("body", content.body, true)]
            members.append(
                ("alert", .object(texts.compactMap { name, text, mustShow in text.map { (name, .shown($0, mustShow: mustShow)) } })))
        }
        if let badge = content.badge { members.append(("badge", .constant(.integer(Int64(badge))))) }
        let texts = [("sound", content.sound), ("thread-id", content.thread), ("category", content.category)]
        members += texts.compactMap { name, text in text.map { (name, .text($0)) } }
        if content.image != nil { members.append(("mutable-content", .constant(.integer(1)))) }
        if content.wakesApp { members.append(("content-available", .constant(.integer(1)))) }
        return members
    }

    /// Android has no subtitle, and its badges count notifications.
    private mutating func checkInvisible(_ content: MessageContent) {
        if let subtitle = content.subtitle {
            error(
                "Android shows no subtitle, so a push through FCM needs a title or a body, too", at: subtitle.position,
                remedy: "Write the text as 'title' or 'body'.")
        } else {
            warning(
                .nothingVisible, message: "a push without title and body does nothing on Android; iPhones get its badge and its sound",
                at: content.position, remedy: "Add a title or a body.")
        }
    }

    // MARK: - Data

    /// The app's own keys, and `link` among them: both systems hand them to the app.
    private mutating func data(_ content: MessageContent) -> [Member] {
        var members: [Member] = []
        if let link = content.link { members.append(("link", .address(link))) }
        guard case .object(let data, _) = content.data else { return members }
        findings += data.repeatedNames
        for member in data {
            checkDataName(member.name)
            if member.name.value == "link", content.link != nil {
                error(
                    "'data' holds 'link', which 'content' sets too", at: member.name.position, remedy: "Keep one of them.")
            }
            checkText(member)
        }
        return members + data.map { ($0.name.value, .content($0.value)) }
    }

    /// Source: Google, "Message", data: `from`, `message_type`, and what begins with `google` or `gcm`, is reserved. On iPhones `data`
    /// stands next to `aps`.
    mutating func checkDataName(_ name: SourceText) {
        let isReserved = ["from", "message_type"].contains(name.value) || ["google", "gcm"].contains(where: name.value.hasPrefix)
        if isReserved {
            error("FCM keeps the key '\(name.value)' of 'data' for itself", at: name.position, remedy: "Rename it, here and in the app.")
        } else if name.value == "aps" {
            error(
                "'data' must not hold 'aps', which belongs to APNs", at: name.position,
                remedy: "Use the keys of 'content', or write the whole push as 'payload'.")
        }
    }

    /// Source: Google, "Message", data: both keys and values are texts.
    mutating func checkText(_ member: ContentMember) {
        if let mistake = member.mistakeUnlessText(in: "data", of: "FCM") { findings.append(mistake) }
    }

    // MARK: - Sounds

    /// Android names a sound as a resource of the app, without the ending that iPhones need. Source: Google, "AndroidNotification", sound;
    /// firebase-android-sdk, `CommonNotificationBuilder.getCustomSound`: `getIdentifier(sound, "raw", …)`.
    static func androidSound(_ sound: SourceText) -> SourceText {
        var sound = sound
        if let ending = ending(of: sound) { sound.value.removeLast(ending.count + 1) }
        return sound
    }

    /// What follows the last full stop that does not belong to a template.
    private static func ending(of sound: SourceText) -> Substring? {
        let plain = sound.value.lastIndex(of: "}").map { sound.value[sound.value.index(after: $0)...] } ?? sound.value[...]
        return plain.lastIndex(of: ".").map { plain[plain.index(after: $0)...] }
    }

    private mutating func checkSound(_ sound: SourceText) {
        let hasTemplate = sound.value.contains("{{") || sound.value.contains("{%")
        guard sound.value != "default" else { return }
        guard let ending = Self.ending(of: sound) else {
            if hasTemplate {
                error(
                    "the ending of the sound must stand behind its template, because Android needs the name without it", at: sound.position,
                    remedy: "For example: sound: \"{{ tone }}.caf\", with a column that holds the name alone.")
            }
            return
        }
        let name = Self.androidSound(sound).value
        if !hasTemplate, !name.utf8.allSatisfy(ASCIISet("abcdefghijklmnopqrstuvwxyz0123456789_").contains) {
            // Source: Android, "App resources overview": file names are lower-case letters, digits and underscores.
            warning(
                .soundNotPlayable, message: "Android has no sound '\(name)': its names are lower-case letters, digits and underscores",
                at: sound.position, remedy: "Rename the file in both apps, for example: sound: spring_sale.\(ending).")
        } else if !Self.endingsOfPhones.contains(ending.lowercased()) {
            warning(
                .soundNotPlayable, message: "the sound '\(sound.value)' is not in a format that iPhones play, so they play their usual one",
                at: sound.position, remedy: "End it in .caf, .aiff or .wav; Android finds its own file of that name.")
        }
    }

    /// Source: Apple, "Preparing custom alert sounds".
    private static let endingsOfPhones = ["aiff", "aif", "wav", "caf"]
}
