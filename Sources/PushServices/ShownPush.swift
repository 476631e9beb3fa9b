/// How a device shows a payload: what people see and hear of it, and what only the app reads.
public struct ShownPush: Sendable {
    /// What people read, by the keys of `content`; blank where a push has no such text.
    public var title = "", subtitle = "", body = ""
    /// Whether it is invisible: a background push.
    public var isSilent = false
    /// The address of the image beside the text; blank when there is none.
    public var image = ""
    /// What else it says, as people would say it: sound, badge, category, …
    public var marks: [(name: String, value: String)] = []
    /// Own keys, with their values as JSON; texts without quotes.
    public var ownKeys: [(name: String, value: String)] = []

    /// A push of which only the texts are known, as in the campaign.
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
