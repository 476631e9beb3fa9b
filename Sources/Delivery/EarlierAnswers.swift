public import Base

/// What was answered before a sender begins, by other senders of the same run: in earlier waves, and before a pause.
public struct EarlierAnswers: Hashable, Sendable {
    /// Answers by outcome that the campaign's own limits judge with those to come (`stop_when`).
    public var judged: [Outcome: Int] = [:]
    /// Answers of a canary that was too small to be judged: it goes on.
    public var canary = 0
    /// Those of them that refused the token for a reason that wrong settings cause as well, and those that refused the push for good.
    public var ambiguous = 0, rejected = 0

    /// None.
    public init() {}

    /// Answers that make a canary.
    public static let canarySize = Canary.usualSize
}
