/// Volley's own reasons for outcomes, in the style of push services' reasons. Run files, CSV and
/// JSON hold the raw values.
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
    /// Unknown: the process that sent the push, or was about to, ended before it recorded an
    /// answer.
    case processEnded = "ProcessEnded"
    /// Unknown: an answer was lost, and when the push went out again the service refused it for
    /// good, which says nothing of the first time.
    case refusedAgain = "RefusedAgain"
    /// In reports of a run that is being sent, never in its file: the push is on its way, or its
    /// turn has not come.
    case awaitingAnswer = "AwaitingAnswer"
    case notSentYet = "NotSentYet"
    /// In reports of a run that was put back from a backup before it had ended, never in its file:
    /// not sent by then, for whatever reason.
    case notKnownSinceBackup = "NotKnownSinceBackup"
    /// In reports of a run that other machines send, never in its file: what they recorded has not
    /// been fetched.
    case notKnownHere = "NotKnownHere"
    /// Any reason that a run file has no space to distinguish.
    case other = "OtherReason"

    /// Devices that are unsent for one of these reasons get nothing more, even if their run is
    /// resumed.
    public static let final: Set<OwnReason> = [.tooLate, .frequencyCap]

    /// Devices that are unsent for one of these reasons were given back, and may be sent to later
    /// in the same run.
    public static let givenBack: Set<OwnReason> = [.interrupted, .paused, .stopped, .cancelled, .quietHours]

    /// The outcome that the reason explains; nil if it may be any.
    public var outcome: Outcome? {
        switch self {
        case .expired, .tooLate, .frequencyCap, .quietHours, .paused, .stopped, .interrupted, .cancelled, .notSentYet,
            .notKnownSinceBackup:
            .unsent
        case .connectionLost, .streamReset, .noAnswer, .processEnded, .refusedAgain, .awaitingAnswer, .notKnownHere:
            .unknown
        case .other: nil
        }
    }
}

/// How many pushes a device may get in a period: `at most 2 per 7 days`.
public struct FrequencyCap: Hashable, Sendable, CustomStringConvertible {
    /// At least 1.
    public var pushes: Int
    /// The period, in seconds: a whole number of hours, at most a year.
    public var seconds: Int

    /// The most pushes per device in any period of the given seconds.
    public init(pushes: Int, seconds: Int) {
        self.pushes = pushes
        self.seconds = seconds
    }

    /// As written in a campaign, in the largest unit that fits.
    public var description: String {
        let (amount, unit) = seconds % 86_400 == 0 ? (seconds / 86_400, "day") : (seconds / 3600, "hour")
        return "at most \(pushes) per \(amount == 1 ? unit : "\(amount) \(unit)s")"
    }
}
