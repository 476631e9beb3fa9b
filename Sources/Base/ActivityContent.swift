/// A Live Activity that a campaign starts, updates or ends on iPhones. The content next to it is its alert.
public struct ActivityContent: Hashable, Sendable {
    /// What happens to the activity.
    public enum Event: String, CaseIterable, Hashable, Sendable { case start, update, end }

    /// The place of `activity` in the campaign.
    public var position: SourcePosition
    /// What happens to it.
    public var event: Event
    /// The app's Swift type of its attributes, and their values, which stay the same; for the start alone.
    public var attributesType: SourceText?, attributes: ContentNode?
    /// What it shows, as the app's type has it: always a `.object`.
    public var state: ContentNode?
    /// After how many seconds the state counts as out of date; nil for never.
    public var staleSeconds: Int?
    /// After how many seconds an activity that ended leaves the lock screen; nil for as long as the phone keeps it.
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
}
