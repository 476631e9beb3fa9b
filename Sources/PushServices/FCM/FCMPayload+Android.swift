import Base

/// What a campaign may say of Android alone, below `services: {fcm: {android: {…}}}` of its content. Source: Google,
/// "AndroidNotification".
extension FCMPayload {
    /// The key of the content that holds them.
    static let androidKey = "android"

    /// The members of `android.notification` that a campaign names. What is wrong with them is noted.
    mutating func androidMembers(_ content: MessageContent) -> [Member] {
        let keys = [("channel", "channel_id"), ("color", "color"), ("icon", "icon"), ("tag", "tag")]
        let example = "For example: \(Self.androidKey): {channel: offers, color: \"#FF8800\"}."
        return texts(of: Self.androidKey, in: content, keys, example: example).map { name, text in
            if name == "color", text.value.wholeMatch(of: /#[0-9A-Fa-f]{6}/) == nil {
                error(
                    "'color' must be a colour like #FF8800, not '\(TextFormat.foreign(text.value, maximumBytes: 40))'", at: text.position,
                    remedy: "For example: color: \"#FF8800\".")
            }
            return (name, .text(text))
        }
    }
}
