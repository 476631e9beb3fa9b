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

    /// Texts that people read, by the keys of `content`.
    public var texts: [(key: String, text: String)] {
        [("title", title), ("subtitle", subtitle), ("body", body)].filter { !$0.text.isEmpty }
    }
}
