/// Volley's own reasons behind outcomes, in the style in which push services write theirs. Run files, CSV and JSON hold the raw values.
public enum OwnReason: String, CaseIterable, Hashable, Sendable {
    /// Unsent: the campaign's expiry passed before.
    case expired = "Expired"
    /// Unsent: its wave could not begin in time.
    case tooLate = "TooLate"
    /// Unsent: it may get no more pushes for now.
    case frequencyCap = "FrequencyCap"
    /// Unsent: its quiet hours began before its turn.
    case quietHours = "QuietHours"
    /// Unsent: the run was paused, stopped, interrupted or cancelled before its turn.
    case paused = "Paused"
    case stopped = "Stopped"
    case interrupted = "Interrupted"
    case cancelled = "Cancelled"
    /// Unknown: the connection broke, the stream was reset, or no answer came in time.
    case connectionLost = "ConnectionLost"
    case streamReset = "StreamReset"
    case noAnswer = "NoAnswer"
    /// A run file distinguishes no more reasons than this.
    case other = "OtherReason"

    /// Devices that are unsent for one of these reasons get nothing more, even when their run continues.
    public static let final: Set<OwnReason> = [.tooLate, .frequencyCap]

    /// The outcome that it stands behind; nil where it may be any.
    public var outcome: Outcome? {
        switch self {
        case .expired, .tooLate, .frequencyCap, .quietHours, .paused, .stopped, .interrupted, .cancelled: .unsent
        case .connectionLost, .streamReset, .noAnswer: .unknown
        case .other: nil
        }
    }
}
