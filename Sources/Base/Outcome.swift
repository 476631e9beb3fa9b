/// The outcome of a planned recipient: each recipient ends with exactly one.
public enum Outcome: Int, CaseIterable, Hashable, Sendable, CustomStringConvertible {
    /// The service answered 200: it accepted the push. That does not mean that anyone has seen it.
    case accepted = 0
    /// The service does not know the target, or no longer does: the app is gone from that device.
    case invalidToken = 1
    /// Any other final refusal.
    case rejected = 2
    /// A temporary refusal that lasted through all retries.
    case failed = 3
    /// The push went onto the wire, no answer came, and it was not sent again.
    case unknown = 4
    /// The push never went onto the wire: cancelled, stopped, expired, too late.
    case unsent = 5

    /// Outcomes that can be retried. For the others a retry gains nothing: the app is gone, or the
    /// device would get the push twice.
    public static let retriable: Set<Outcome> = [.rejected, .failed, .unknown, .unsent]

    /// The word in campaigns, reports and scripts.
    public var name: String {
        switch self {
        case .accepted: "accepted"
        case .invalidToken: "invalid_token"
        case .rejected: "rejected"
        case .failed: "failed"
        case .unknown: "unknown"
        case .unsent: "unsent"
        }
    }

    /// Same as `name`.
    public var description: String { name }
}

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

/// Why a row of an export did not become a recipient. A row has exactly one reason:
/// `duplicateToken` if it is not the newest of its device, otherwise the first of the following
/// that applies, with two exceptions. `badToken` comes before `notMatched`: it is not clear which
/// device such a row would decide for. A device of the holdout whose text cannot be rendered or
/// sent is `renderError` or `payloadTooLarge`: the others of its variant that are compared with it
/// could be reached.
public enum SkipReason: String, CaseIterable, Hashable, Sendable {
    /// The row could not be read: wrong number of fields, broken JSON.
    case badRow = "bad_row"
    /// No selector names it.
    case notMatched = "not_matched"
    /// A condition of `where` does not hold.
    case filtered = "filtered"
    /// Something in `exclude` holds.
    case excluded = "excluded"
    /// The token cell is blank or absent.
    case missingToken = "missing_token"
    /// The token cell holds something that cannot be a token.
    case badToken = "bad_token"
    /// No service of the app reaches the device.
    case noService = "no_service"
    /// On the suppression list: the service said earlier that the token is invalid, or a person put
    /// it there.
    case suppressed = "suppressed"
    /// Another row of the same device counts: it is newer, or equally new and was read later.
    case duplicateToken = "duplicate_token"
    /// The device is not among the most recently active devices of its alias.
    case aliasLimit = "alias_limit"
    /// The device recently got as many pushes as the app or the campaign allows.
    case frequency = "frequency"
    /// Held back for comparison.
    case holdout = "holdout"
    /// A column that the text needs is blank, and the template has no default.
    case renderError = "render_error"
    /// The rendered payload is larger than the service accepts.
    case payloadTooLarge = "payload_too_large"

    /// Whether nobody wished it: something is wrong with the row, the device or the text.
    public var isUnintended: Bool {
        switch self {
        case .badRow, .missingToken, .badToken, .noService, .suppressed, .renderError, .payloadTooLarge: true
        case .notMatched, .filtered, .excluded, .duplicateToken, .aliasLimit, .frequency, .holdout: false
        }
    }

    /// Whether the device takes one of its alias's places: not when it was left out before aliases
    /// are checked.
    public var takesPlaceInAlias: Bool {
        switch self {
        case .aliasLimit, .frequency, .holdout, .renderError, .payloadTooLarge: true
        case .badRow, .notMatched, .filtered, .excluded, .missingToken, .badToken, .noService, .suppressed,
            .duplicateToken:
            false
        }
    }

    /// Whether a user that the row names gets no push of their own instead: the device was left out
    /// on purpose.
    public var standsForUser: Bool {
        switch self {
        case .frequency, .holdout: true
        case .badRow, .notMatched, .filtered, .excluded, .missingToken, .badToken, .noService, .suppressed,
            .duplicateToken, .aliasLimit,
            .renderError, .payloadTooLarge:
            false
        }
    }
}

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

/// What to do with a push after its answer was lost.
public enum UnknownPolicy: String, Hashable, Sendable {
    /// Send it again under the same id.
    case resend
    /// Never send twice: it is reported as unknown.
    case skip
}
