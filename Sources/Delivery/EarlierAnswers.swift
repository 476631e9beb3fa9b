public import Base

/// Answers that other senders of the same run received before this one begins: in earlier waves, or
/// before a pause.
public struct EarlierAnswers: Hashable, Sendable {
    /// Answers by outcome that the campaign's own limits (`stop_when`) judge together with those to
    /// come.
    public var judged: [Outcome: Int] = [:]
    /// Answers of a canary that was too small to be judged and therefore continues.
    public var canary = 0
    /// How many of the canary's answers refused the token for a reason that wrong settings can also
    /// cause, and how many refused the push for good.
    public var ambiguous = 0, rejected = 0
    /// Whether the service has accepted a push of the run.
    public var hasAccepted = false

    /// No earlier answers.
    public init() {}

    /// The number of answers that make a canary.
    public static let canarySize = Canary.usualSize
}
