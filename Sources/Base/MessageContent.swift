/// The message of a campaign, as written: its texts are still templates and know their places.
///
/// ```swift
/// let place = SourcePosition(file: "campaign.yaml", line: 9, column: 3)
/// var content = MessageContent(position: place)
/// content.title = SourceText("Spring sale", at: place)
/// ```
public struct MessageContent: Hashable, Sendable {
    /// The place of `content` in the campaign.
    public var position: SourcePosition
    /// The first line that people see.
    public var title: SourceText?
    /// The second line.
    public var subtitle: SourceText?
    /// The text.
    public var body: SourceText?
    /// The name of a sound, or `default`.
    public var sound: SourceText?
    /// The number on the app's icon; 0 clears it.
    public var badge: Int?
    /// Selects the buttons that the app shows with the push.
    public var category: SourceText?
    /// Pushes of one thread are shown together.
    public var thread: SourceText?
    /// An https URL of an image that the app loads.
    public var image: SourceText?
    /// What the app opens when the push is tapped.
    public var link: SourceText?
    /// The app's own keys: always a `.object`.
    public var data: ContentNode?
    /// How much the push may disturb: one of `interruptions`.
    public var interruption: SourceText?
    /// From 0 to 1: how high the push is in the summary of several. A whole number or a double.
    public var relevance: ContentNode?
    /// The app's own name of the window that a tap brings forward.
    public var targetContent: SourceText?
    /// The app's own word by which the filter of a Focus decides whether the push is shown.
    public var filter: SourceText?
    /// Texts of the app itself, in the phone's language, instead of `title`, `subtitle` and `body`;
    /// no other keys.
    public var localized: [ContentKey: LocalizedText] = [:]
    /// Wakes the app in addition to showing the push.
    public var wakesApp: Bool
    /// Wakes the app and shows nothing.
    public var isSilent: Bool
    /// The whole payload, written by hand, instead of all of the above: always a `.object`.
    public var payload: ContentNode?
    /// The Live Activity of which this is the alert; nil for a push of its own.
    public var activity: ActivityContent?
    /// What devices of a language get instead, in the order of the file.
    public var languages: [Translation] = []
    /// What devices of a service get instead, in the order of the file.
    public var services: [ServiceContent] = []
    /// What only one service has, by its own names, which it checks itself; empty but in the
    /// content of a service.
    public var own: [ContentMember] = []
    /// What devices of a service do without, whatever the other levels set; empty except in the
    /// content of a service.
    public var removed: Set<ContentKey> = []
    /// What the push says of itself; nil for a push that is not tracked.
    public var tracking: PushTracking?

    /// Empty content.
    public init(position: SourcePosition) {
        self.position = position
        wakesApp = false
        isSilent = false
    }
}

/// A Live Activity that a campaign starts, updates or ends on iPhones. The content next to it is
/// its alert.
public struct ActivityContent: Hashable, Sendable {
    /// What happens to the activity.
    public enum Event: String, CaseIterable, Hashable, Sendable { case start, update, end }

    /// The place of `activity` in the campaign.
    public var position: SourcePosition
    /// What happens to it.
    public var event: Event
    /// The app's Swift type of its attributes, and their values, which stay the same; for the start
    /// alone.
    public var attributesType: SourceText?, attributes: ContentNode?
    /// What it shows, as the app's type has it: always a `.object`.
    public var state: ContentNode?
    /// After how many seconds the state counts as out of date; nil for never.
    public var staleSeconds: Int?
    /// After how many seconds an activity that ended leaves the lock screen; nil for as long as the
    /// phone keeps it.
    public var dismissSeconds: Int?
    /// Which of several activities comes first: any number.
    public var relevance: ContentNode?
    /// The column of its tokens.
    public var tokens: ActivityTokens { event == .start ? .start : .running }

    /// An activity.
    public init(position: SourcePosition, event: Event) {
        (self.position, self.event) = (position, event)
    }
}

/// Tokens of Live Activities, which have a column each.
public enum ActivityTokens: String, CaseIterable, Hashable, Sendable {
    /// With which an app lets activities be started.
    case start = "start_token"
    /// Of an activity that runs.
    case running = "activity_token"

    /// What people call one.
    public static let noun = "token of a Live Activity", aNoun = "a \(noun)"
}

extension MessageContent {
    /// This content without what `other` removes, and with everything that it sets replaced by it;
    /// `data`, `localized` and `payload` are replaced as a whole. Languages and services are
    /// unchanged.
    public func overlaid(by other: MessageContent) -> MessageContent {
        var result = without(other.removed)
        result.position = other.position
        result.title = other.title ?? result.title
        result.subtitle = other.subtitle ?? result.subtitle
        result.body = other.body ?? result.body
        result.sound = other.sound ?? result.sound
        result.badge = other.badge ?? result.badge
        result.category = other.category ?? result.category
        result.thread = other.thread ?? result.thread
        result.image = other.image ?? result.image
        result.link = other.link ?? result.link
        result.data = other.data ?? result.data
        result.interruption = other.interruption ?? result.interruption
        result.relevance = other.relevance ?? result.relevance
        result.targetContent = other.targetContent ?? result.targetContent
        result.filter = other.filter ?? result.filter
        result.localized = other.localized.isEmpty ? result.localized : other.localized
        result.payload = other.payload ?? result.payload
        result.own = other.own.isEmpty ? result.own : other.own
        return result
    }

    /// This content without some keys. Languages and services are unchanged.
    public func without(_ keys: Set<ContentKey>) -> MessageContent {
        var result = self
        for key in keys {
            switch key {
            case .title: result.title = nil
            case .subtitle: result.subtitle = nil
            case .body: result.body = nil
            case .sound: result.sound = nil
            case .badge: result.badge = nil
            case .category: result.category = nil
            case .thread: result.thread = nil
            case .image: result.image = nil
            case .link: result.link = nil
            case .data: result.data = nil
            case .interruption: result.interruption = nil
            case .relevance: result.relevance = nil
            case .targetContent: result.targetContent = nil
            case .filter: result.filter = nil
            case .localized: result.localized = [:]
            case .wakeApp: result.wakesApp = false
            case .silent: result.isSilent = false
            case .payload: result.payload = nil
            }
        }
        return result
    }
}

extension MessageContent {
    /// The levels of `interruption`. Source: Apple, "UNNotificationInterruptionLevel".
    public static let interruptions = ["passive", "active", "time-sensitive", "critical"]
}

/// A text that the app holds in all its languages.
public struct LocalizedText: Hashable, Sendable {
    /// Its key in the app.
    public var key: SourceText
    /// What takes the places of its variables.
    public var arguments: [SourceText]

    /// A text of the app.
    public init(key: SourceText, arguments: [SourceText] = []) {
        self.key = key
        self.arguments = arguments
    }
}

/// What devices of a language get instead of the texts above.
public struct Translation: Hashable, Sendable {
    /// A BCP 47 tag as written: `zh-Hans`.
    public var language: SourceText
    /// Only the differences.
    public var content: MessageContent

    /// A translation.
    public init(language: SourceText, content: MessageContent) {
        self.language = language
        self.content = content
    }
}

/// What devices of a service get instead of the texts above, and what only that service has.
public struct ServiceContent: Hashable, Sendable {
    /// The name of the service.
    public var service: SourceText
    /// Only the differences.
    public var content: MessageContent

    /// A service's content.
    public init(service: SourceText, content: MessageContent) {
        self.service = service
        self.content = content
    }
}

/// How devices are assigned to variants.
public enum VariantDealing: String, CaseIterable, Hashable, Sendable {
    /// By the alias of a device's newest row, so that a person with two phones gets the same text
    /// on both. Devices without an alias are assigned by their token.
    case alias
    /// By the device's token.
    case device
}

/// A part of the audience that gets its own content, or nothing.
public struct MessageVariant: Hashable, Sendable {
    /// The name of the variant for devices that get nothing.
    public static let holdoutName = "holdout"
    /// The sum of all shares of a campaign.
    public static let wholeShare = 10_000

    /// As written.
    public var name: SourceText
    /// The share of the audience, in hundredths of a percent; the shares of a campaign add up to
    /// `wholeShare`.
    public var share: Int
    /// The differences from the campaign's content; nil for none.
    public var content: MessageContent?

    /// A variant.
    public init(name: SourceText, share: Int, content: MessageContent? = nil) {
        self.name = name
        self.share = share
        self.content = content
    }

    /// Whether its devices get nothing.
    public var isHoldout: Bool { name.value == Self.holdoutName }
}

/// JSON as written in a campaign's `data` or `payload`: its texts are templates and know their
/// places.
public indirect enum ContentNode: Hashable, Sendable {
    case null(SourcePosition)
    case bool(Bool, SourcePosition)
    case integer(Int64, SourcePosition)
    case double(Double, SourcePosition)
    case text(SourceText)
    case array([ContentNode], SourcePosition)
    case object([ContentMember], SourcePosition)

    /// The place where the node starts.
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

extension [ContentMember] {
    /// A mistake for each name that is repeated. JSON readers treat a repeated name differently, so
    /// that it is unknown what a phone would make of it.
    public var repeatedNames: [Diagnostic] {
        var seen: Set<String> = []
        return filter { !seen.insert($0.name.value).inserted }.map {
            Diagnostic(
                "the key '\($0.name.value)' appears here twice", at: $0.name.position, remedy: "Keep one of them.")
        }
    }
}

/// A key of `content` that is about the push itself. A service need not have all of them.
public enum ContentKey: String, CaseIterable, Sendable {
    case title, subtitle, body, sound, badge, category, thread, image, link, data
    case interruption, relevance, targetContent = "target_content", filter, localized
    case wakeApp = "wake_app", silent, payload

    /// Those that make a push visible or audible, in the order in which people are told of them.
    public static let visible: [ContentKey] = [.title, .body, .badge, .sound]

    /// Those that can be taken away from what devices of a service get: `image: null`.
    public static let removable = Set(allCases).subtracting([.wakeApp, .silent, .payload])
}

/// Text from a file that a person wrote, with its place in the file.
public struct SourceText: Hashable, Sendable {
    /// How the text was written; decides how precisely an offset into the value can be traced back
    /// to the file.
    public enum Style: Hashable, Sendable {
        /// Bare, or between single or double quotes: on one line, an offset is a column.
        case plain, singleQuoted, doubleQuoted
        /// `|`: line breaks are kept.
        case literal
        /// `>`: lines are joined.
        case folded
    }

    /// The text itself, quotes and escapes resolved.
    public var value: String
    /// Where the node starts (for quoted text: the quote).
    public var position: SourcePosition
    /// How it was written.
    public var style: Style
    /// The places of its parts, ordered by offset, if its style alone does not give them: lines
    /// that were joined, escapes.
    public var parts: [Part]

    /// From an offset up to the next part, characters follow one another on one line of the file.
    public struct Part: Hashable, Sendable {
        /// Into the value, in UTF-8.
        public var offset: Int
        /// The place of the first character.
        public var line: Int, column: Int

        /// A part.
        public init(offset: Int, line: Int, column: Int) {
            self.offset = offset
            self.line = line
            self.column = column
        }
    }

    /// Text with its place.
    public init(_ value: String, at position: SourcePosition, style: Style = .plain, parts: [Part] = []) {
        self.value = value
        self.position = position
        self.style = style
        self.parts = parts
    }

    /// The place of the character at a UTF-8 offset into `value`. Exact if the parts are known, and
    /// for plain and quoted text on one line without escapes; the line for literal blocks;
    /// otherwise the start of the text.
    public func position(atUTF8Offset offset: Int) -> SourcePosition {
        if let part = parts.last(where: { $0.offset <= offset }) { return position(atUTF8Offset: offset, in: part) }
        let bytes = value.utf8
        guard let end = bytes.index(bytes.startIndex, offsetBy: offset, limitedBy: bytes.endIndex) else {
            return position
        }
        let before = value[..<end]
        var place = position
        switch style {
        case .plain: place.column += before.unicodeScalars.count
        case .singleQuoted: place.column += 1 + before.unicodeScalars.reduce(0) { $0 + ($1 == "'" ? 2 : 1) }
        case .doubleQuoted: place.column += 1 + before.unicodeScalars.count
        case .literal:
            place.line += 1 + before.unicodeScalars.count { $0 == "\n" }
            place.column = 1
        case .folded: break
        }
        return place
    }

    private func position(atUTF8Offset offset: Int, in part: Part) -> SourcePosition {
        let bytes = value.utf8
        let start = bytes.index(bytes.startIndex, offsetBy: part.offset, limitedBy: bytes.endIndex) ?? bytes.endIndex
        let end = bytes.index(bytes.startIndex, offsetBy: offset, limitedBy: bytes.endIndex) ?? bytes.endIndex
        var place = position
        (place.line, place.column) = (part.line, part.column + value.unicodeScalars[start..<end].count)
        return place
    }
}
