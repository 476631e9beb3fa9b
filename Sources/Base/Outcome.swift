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
