import Base

/// What a device does with a payload: what people see and hear, and what only the app reads.
public struct ShownPush: Sendable {
    /// What people read, by the keys of `content`; blank where a push has no such text.
    public var title = "", subtitle = "", body = ""
    /// Whether it is invisible: a background push.
    public var isSilent = false
    /// The address of the image next to the text; blank without one.
    public var image = ""
    /// Other properties in plain words: sound, badge, category, …
    public var marks: [(name: String, value: String)] = []
    /// Own keys with their values as JSON; texts are without quotes.
    public var ownKeys: [(name: String, value: String)] = []

    /// A push with only its texts known, as they are in the campaign.
    public init(title: String = "", subtitle: String = "", body: String = "") {
        self.title = title
        self.subtitle = subtitle
        self.body = body
    }

    /// What an iPhone shows of `alert`.
    mutating func readAlert(_ alert: JSONValue?) {
        guard case .object(let texts)? = alert else {
            if let text = alert?.stringValue { body = text }
            return
        }
        for text in texts {
            let value = Self.plain(text.value)
            switch text.name {
            case "title": title = value
            case "subtitle": subtitle = value
            case "body": body = value
            // Of texts that the app translates itself, only the keys are known.
            case "title-loc-key" where title.isEmpty: title = "‹\(value)›"
            case "subtitle-loc-key" where subtitle.isEmpty: subtitle = "‹\(value)›"
            case "loc-key" where body.isEmpty: body = "‹\(value)›"
            default: marks.append((text.name, value))
            }
        }
    }

    /// The sound of an iPhone: a text, or an object with `critical`.
    mutating func readSound(_ sound: JSONValue) {
        guard let name = sound["name"] else { return marks.append(("sound", Self.plain(sound))) }
        marks.append(("sound", Self.plain(name) + (sound["critical"] == .integer(1) ? ", also on muted phones" : "")))
    }

    /// A text without its quotes, anything else as JSON.
    static func plain(_ value: JSONValue) -> String { value.stringValue ?? value.text }

    /// Texts that people read, by the keys of `content`.
    public var texts: [(key: String, text: String)] {
        [("title", title), ("subtitle", subtitle), ("body", body)].filter { !$0.text.isEmpty }
    }
}
