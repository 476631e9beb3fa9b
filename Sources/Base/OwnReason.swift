/// Volley's own reasons for outcomes, in the style of push services' reasons. Run files, CSV and JSON hold the raw values.
public enum OwnReason: String, CaseIterable, Hashable, Sendable {
    /// Unsent: the campaign's expiry passed first.
    case expired = "Expired"
    /// Unsent: its wave could not begin in time.
    case tooLate = "TooLate"
    /// Unsent: the device may get no more pushes for now.
    case frequencyCap = "FrequencyCap"
    /// Unsent: the device's quiet hours began before its turn.
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
    /// Any reason that a run file has no space to distinguish.
    case other = "OtherReason"

    /// Devices that are unsent for one of these reasons get nothing more, even if their run is resumed.
    public static let final: Set<OwnReason> = [.tooLate, .frequencyCap]

    /// The outcome that the reason explains; nil if it may be any.
    public var outcome: Outcome? {
        switch self {
        case .expired, .tooLate, .frequencyCap, .quietHours, .paused, .stopped, .interrupted, .cancelled: .unsent
        case .connectionLost, .streamReset, .noAnswer: .unknown
        case .other: nil
        }
    }
}
