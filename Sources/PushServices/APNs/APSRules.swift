/// What `aps` may contain. Source: Apple, "Generating a remote notification".
enum APSRules {
    /// The values that a key takes.
    enum Rule {
        case alert, badge, sound, text, flag, interruptionLevel, relevanceScore
    }

    /// The keys of `aps`, in the order of Apple's table.
    static let keys: [(name: String, rule: Rule)] = [
        ("alert", .alert), ("badge", .badge), ("sound", .sound), ("thread-id", .text), ("category", .text), ("content-available", .flag),
        ("mutable-content", .flag), ("target-content-id", .text), ("interruption-level", .interruptionLevel),
        ("relevance-score", .relevanceScore), ("filter-criteria", .text),
    ]

    /// Keys of `aps` that only live activities have.
    static let liveActivityKeys = ["event", "content-state", "timestamp", "stale-date", "dismissal-date", "attributes-type", "attributes"]

    /// Keys of `aps.alert` that take a text.
    static let alertTexts = ["title", "subtitle", "body", "launch-image", "title-loc-key", "subtitle-loc-key", "loc-key"]
    /// Keys of `aps.alert` that take a list of texts.
    static let alertLists = ["title-loc-args", "subtitle-loc-args", "loc-args"]

    static let interruptionLevels = ["passive", "active", "time-sensitive", "critical"]

    /// Keys of `aps` that people tend to write next to it, with the key of `content` that they mean.
    static let contentKeys = ["sound": "sound", "category": "category", "badge": "badge", "alert": "body", "thread-id": "thread"]
}
