public import Base

/// What a phone makes of a payload: what people see and hear of it, and what only the app reads.
public struct ShownPush: Sendable {
    /// What people read, by the keys of `content`; blank where a push has no such text.
    public private(set) var title = "", subtitle = "", body = ""
    /// Whether nobody sees it: a background push.
    public private(set) var isSilent = false
    /// The address of the image beside the text; blank when there is none.
    public private(set) var image = ""
    /// What else it says, as people would say it: sound, badge, category, …
    public private(set) var marks: [(name: String, value: String)] = []
    /// Own keys, with their values as JSON; texts without quotes.
    public private(set) var ownKeys: [(name: String, value: String)] = []

    /// - Parameter payload: a JSON object.
    public init(_ payload: JSONValue) {
        guard case .object(let members) = payload else { return }
        for member in members {
            if member.name == "aps", case .object(let aps) = member.value {
                isSilent = !aps.contains { ["alert", "badge", "sound"].contains($0.name) }
                for key in aps { read(key) }
            } else if member.name == "image", case .string(let address) = member.value {
                image = address
            } else {
                ownKeys.append((member.name, Self.plain(member.value)))
            }
        }
    }

    /// A push of which nothing is known but its texts, as a campaign writes them.
    init(title: String, subtitle: String, body: String) { (self.title, self.subtitle, self.body) = (title, subtitle, body) }

    /// Texts that people read, by the keys of `content`.
    public var texts: [(key: String, text: String)] {
        [("title", title), ("subtitle", subtitle), ("body", body)].filter { !$0.text.isEmpty }
    }

    private mutating func read(_ key: JSONMember) {
        switch (key.name, key.value) {
        case ("alert", .string(let text)): body = text
        case ("alert", .object(let texts)):
            for text in texts {
                switch text.name {
                case "title": title = Self.plain(text.value)
                case "subtitle": subtitle = Self.plain(text.value)
                case "body": body = Self.plain(text.value)
                // Texts that the app translates itself are known by their keys only.
                case "title-loc-key" where title.isEmpty: title = "‹\(Self.plain(text.value))›"
                case "subtitle-loc-key" where subtitle.isEmpty: subtitle = "‹\(Self.plain(text.value))›"
                case "loc-key" where body.isEmpty: body = "‹\(Self.plain(text.value))›"
                default: marks.append((text.name, Self.plain(text.value)))
                }
            }
        case ("mutable-content", _): break
        case ("content-available", _): if !isSilent { marks.append(("wakes the app", "")) }
        case ("thread-id", let value): marks.append(("thread", Self.plain(value)))
        case ("badge", .integer(0)): marks.append(("badge", "removed"))
        case (let name, let value): marks.append((name, Self.plain(value)))
        }
    }

    private static func plain(_ value: JSONValue) -> String {
        if case .string(let text) = value { return text }
        return value.text
    }
}
