import Base

/// What a campaign may say of Android alone, below `services: {fcm: {android: {…}}}` of its content. Source: Google,
/// "AndroidNotification".
extension FCMPayload {
    /// Keys of a campaign, and of a message.
    private static let androidKeys = [("channel", "channel_id"), ("color", "color"), ("icon", "icon"), ("tag", "tag")]

    /// The key of the content that holds them.
    static let androidKey = "android"

    /// The members of `android.notification` that a campaign names. What is wrong with them is noted.
    mutating func androidMembers(_ content: MessageContent) -> [Member] {
        guard let own = content.own.first(where: { $0.name.value == Self.androidKey }) else { return [] }
        let names = Self.androidKeys.map(\.0)
        guard case .object(let members, _) = own.value else {
            error(
                "'\(Self.androidKey)' must be a group of keys", at: own.value.position,
                remedy: "For example: \(Self.androidKey): {channel: offers, color: \"#FF8800\"}.")
            return []
        }
        findings += members.repeatedNames
        return members.compactMap { member in
            let name = member.name.value
            guard let key = Self.androidKeys.first(where: { $0.0 == name }) else {
                let nearest = nearestName(to: name, among: names).map { "Did you mean '\($0)'?" }
                error(
                    "unknown key '\(TextFormat.foreign(name, maximumBytes: 40))' in '\(Self.androidKey)'", at: member.name.position,
                    remedy: nearest ?? "Valid here: \(names.joined(separator: ", ")).")
                return nil
            }
            guard case .text(let text) = member.value else {
                error("'\(name)' must be a text", at: member.value.position, remedy: "Put it in quotes.")
                return nil
            }
            if name == "color", text.value.wholeMatch(of: /#[0-9A-Fa-f]{6}/) == nil {
                error(
                    "'color' must be a colour like #FF8800, not '\(TextFormat.foreign(text.value, maximumBytes: 40))'", at: text.position,
                    remedy: "For example: color: \"#FF8800\".")
            }
            return (key.1, .text(text))
        }
    }
}
