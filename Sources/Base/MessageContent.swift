/// What a campaign says, as written: texts are still templates and know their places.
public struct MessageContent: Hashable, Sendable {
    /// Where `content` stands in the campaign.
    public var position: SourcePosition
    /// aps.alert.title
    public var title: SourceText?
    /// aps.alert.subtitle
    public var subtitle: SourceText?
    /// aps.alert.body
    public var body: SourceText?
    /// aps.sound
    public var sound: SourceText?
    /// aps.badge; 0 clears it.
    public var badge: Int?
    /// aps.category
    public var category: SourceText?
    /// aps.thread-id
    public var thread: SourceText?
    /// An https URL, as own key `image` beside aps; sets mutable-content.
    public var image: SourceText?
    /// Own key `link` beside aps.
    public var link: SourceText?
    /// Own keys beside aps: always a `.object`.
    public var data: ContentNode?
    /// content-available beside a visible push.
    public var wakesApp: Bool
    /// A background push.
    public var isSilent: Bool
    /// The whole payload by hand, instead of all of the above: always a `.object`.
    public var payload: ContentNode?

    /// Content with nothing in it yet.
    public init(position: SourcePosition) {
        self.position = position
        wakesApp = false
        isSilent = false
    }
}

/// JSON as written in a campaign's `data` or `payload`: texts are templates and know their places.
public indirect enum ContentNode: Hashable, Sendable {
    case null(SourcePosition)
    case bool(Bool, SourcePosition)
    case integer(Int64, SourcePosition)
    case double(Double, SourcePosition)
    case text(SourceText)
    case array([ContentNode], SourcePosition)
    case object([ContentMember], SourcePosition)

    /// Where the node starts.
    public var position: SourcePosition {
        switch self {
        case .null(let place), .bool(_, let place), .integer(_, let place), .double(_, let place), .array(_, let place),
            .object(_, let place):
            place
        case .text(let text): text.position
        }
    }
}

/// A key and its node within `data` or `payload`. Keys are never templates.
public struct ContentMember: Hashable, Sendable {
    /// The key.
    public var name: SourceText
    /// Its value.
    public var value: ContentNode

    /// A member.
    public init(_ name: SourceText, _ value: ContentNode) {
        self.name = name
        self.value = value
    }
}
