/// The outcome of one push.
///
/// ```swift
/// let taken = Settlement(recipient: 4, outcome: .accepted, status: 200, settledAt: now)
/// let late = Settlement(recipient: 5, outcome: .unsent, own: .expired, settledAt: now)
/// ```
public struct Settlement: Hashable, Sendable {
    /// The recipient's dense id.
    public var recipient: Int
    /// How it ended.
    public var outcome: Outcome
    /// The last HTTP status, 0 if there was none.
    public var status: Int
    /// The service's reason, or the raw value of an `OwnReason`; empty for accepted.
    public var reason: String
    /// How many times it was handed to the wire.
    public var attempts: Int
    /// From the last submission to the answer, 0 if there was none.
    public var latencyMilliseconds: Int
    /// When it was settled.
    public var settledAt: Timestamp
    /// For status 410: since when the token is invalid, according to the service.
    public var invalidSince: Timestamp?

    /// A settlement.
    public init(
        recipient: Int, outcome: Outcome, status: Int = 0, reason: String = "", attempts: Int = 0,
        latencyMilliseconds: Int = 0,
        settledAt: Timestamp, invalidSince: Timestamp? = nil
    ) {
        self.recipient = recipient
        self.outcome = outcome
        self.status = status
        self.reason = reason
        self.attempts = attempts
        self.latencyMilliseconds = latencyMilliseconds
        self.settledAt = settledAt
        self.invalidSince = invalidSince
    }

    /// A push that is settled without an answer.
    public init(recipient: Int, outcome: Outcome, own reason: OwnReason, attempts: Int = 0, settledAt: Timestamp) {
        self.init(
            recipient: recipient, outcome: outcome, reason: reason.rawValue, attempts: attempts, settledAt: settledAt)
    }
}
