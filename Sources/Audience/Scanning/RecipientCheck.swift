public import Base

/// What is known about a recipient apart from its export: whether it can be sent to.
public struct RecipientCheck: Hashable, Sendable {
    /// Bytes of the payload as rendered, also of one that is too large; 0 when it cannot be
    /// rendered.
    public var payloadBytes: Int
    /// Why the recipient cannot be sent to (renderError, payloadTooLarge, suppressed, frequency,
    /// holdout), or nil.
    public var reason: SkipReason?
    /// What the recipient is counted under in addition to its reason: the check's own number, below
    /// `groupLimit`.
    public var group: Int

    /// Which of the campaign's sending times applies: the check's own number; 0 when all are sent
    /// together.
    public var wave: Int

    /// The most groups that can be distinguished.
    public static let groupLimit = 512

    /// A check.
    public init(payloadBytes: Int = 0, reason: SkipReason? = nil, group: Int = 0, wave: Int = 0) {
        self.payloadBytes = payloadBytes
        self.reason = reason
        self.group = group
        self.wave = wave
    }
}

/// Judges one recipient after another.
public typealias RecipientChecker = (RecipientRecord) -> RecipientCheck
